"""The one error this package raises."""

from __future__ import annotations


class H2loadParseError(ValueError):
    """The input is not a complete, sane report of h2load. One line that says what is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
