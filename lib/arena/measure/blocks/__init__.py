"""Blocks: all frameworks of a load within minutes of each other, again and again, shuffled."""
