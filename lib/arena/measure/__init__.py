"""Measuring: plans, sessions, runtimes, generators, the contract, and nights."""
