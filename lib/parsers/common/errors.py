"""The one error that the readers raise, and how it quotes what they found."""

from __future__ import annotations

_QUOTED_MAX = 40


class ParseError(ValueError):
    """The input is not a complete, sane report. The message is one line that says what is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def quoted(value: object) -> str:
    """Show a value in ASCII, on one line and shortened; of a list or an object only its type."""
    text = type(value).__name__ if isinstance(value, (list, dict)) else ascii(value)
    return text if len(text) <= _QUOTED_MAX else text[: _QUOTED_MAX - 3] + "..."
