"""The nouns of a record, and how one is read."""
