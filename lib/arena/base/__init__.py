"""The base of all packages: errors, models, reading and writing, words and numbers."""
