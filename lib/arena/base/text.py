"""Text for users: paths, printable text, and names close to a mistyped one."""

from collections.abc import Container, Sequence
from functools import cache
from pathlib import Path


def nearest(word: str, known: list[str]) -> str:
    """Return a hint for a mistyped word: ` (did you mean a, b?)`, or all names, or nothing."""
    import difflib

    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if close:
        return f" (did you mean {', '.join(close)}?)"
    return f" (there are: {', '.join(sorted(known))})" if known else ""


@cache
def typing_errors(word: str, meant: str) -> int:
    """Return how many letters were inserted, dropped, changed or swapped with their neighbour.

    The optimal string alignment distance (L. Boytsov, Indexing methods for approximate dictionary
    searching, 2011, section 2.1).
    """
    if not word or not meant:
        return len(word) + len(meant)
    if word[0] == meant[0]:
        return typing_errors(word[1:], meant[1:])
    rests = [(word[1:], meant), (word, meant[1:]), (word[1:], meant[1:])]
    if word[:2] == meant[1::-1]:
        rests.append((word[2:], meant[2:]))
    return 1 + min(typing_errors(*rest) for rest in rests)


def columns(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Return rows as aligned lines; the columns numbered in `right` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def shown(path: Path) -> str:
    """Return the path as a message shows it: relative to the working directory where possible."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def printable(text: str) -> str:
    """Return the text without control characters: a log must not steer the terminal."""
    return "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
