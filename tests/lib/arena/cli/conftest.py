"""Command lines, run in this process."""

from tests.commandline import line

__all__ = ["line"]
