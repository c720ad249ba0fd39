"""What everything stands on: errors, models, reading and writing, words and numbers."""
