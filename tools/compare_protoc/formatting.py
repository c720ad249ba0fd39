"""The same tokens, oddly set."""

import re
from random import Random

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[0-9.]+[eE][+-][0-9]+"""
    r"""|[0-9A-Za-z_]+(?:\.[0-9A-Za-z_]*)*|\.[0-9]+[0-9eE]*|\S""",
    re.DOTALL,
)
_GAPS = (" ", " ", " ", "\n", "\t", "  ", "\r\n", "\n\n", " /* odd */ ", " // to the end\n", "/**/",
         "\v", "\f")  # fmt: skip


def tokens(text: str) -> list[str]:
    """Return the tokens of a .proto file, without comments."""
    return [each for each in _TOKEN.findall(text) if not each.startswith(("//", "/*"))]


def oddly(lot: Random, text: str) -> str:
    """Return the same file, with other white space and comments."""
    set_text = "".join(each + ("" if each == "/" else lot.choice(_GAPS)) for each in tokens(text))
    if lot.random() < 0.3:
        set_text = set_text.rstrip() + lot.choice(["", " // no end of line", "\n\n\n"])
    return set_text
