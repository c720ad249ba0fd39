"""The verbs of `arena`: each module is named after its verb, which is its `command`."""
