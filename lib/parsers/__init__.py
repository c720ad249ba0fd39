"""What generators print, read into numbers; lib/parse_*.py are the fronts. Stdlib only."""
