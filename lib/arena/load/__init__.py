"""Load: the generators that make it, and the readers of their output."""
