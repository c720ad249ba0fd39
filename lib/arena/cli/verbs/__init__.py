"""The verbs of `arena`: each module is one, by its own name, and holds it as `command`."""
