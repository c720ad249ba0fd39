"""A night on several racks: each is a server host with generator hosts of its own."""
