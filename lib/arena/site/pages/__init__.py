"""The kinds of pages. Each module yields the outputs of one kind, for a whole edition."""
