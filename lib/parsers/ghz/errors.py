"""The one error this package raises, and how it quotes what it found."""

from __future__ import annotations

_QUOTED_MAX = 40


class GhzParseError(ValueError):
    """The input is not a complete, sane ghz report. One line that says what is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def quoted(value: object) -> str:
    """Show a value in ASCII, on one line and shortened; of a list or an object only its type."""
    text = type(value).__name__ if isinstance(value, (list, dict)) else ascii(value)
    return text if len(text) <= _QUOTED_MAX else text[: _QUOTED_MAX - 3] + "..."
