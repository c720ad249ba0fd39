"""Tries a fleet on one machine: network namespaces play its hosts, each with a clock of its own."""
