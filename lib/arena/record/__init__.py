"""The models of a record, and reading records."""
