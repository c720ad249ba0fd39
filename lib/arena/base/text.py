"""Words for people: paths, printable text, and names close to a mistyped one."""

from collections.abc import Container, Sequence
from pathlib import Path


def nearest(word: str, known: list[str]) -> str:
    """Offer the names close to a mistyped one: ` (did you mean a, b?)`, or all, or nothing."""
    import difflib

    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if close:
        return f" (did you mean {', '.join(close)}?)"
    return f" (there are: {', '.join(sorted(known))})" if known else ""


def typing_errors(word: str, meant: str) -> int:
    """Return how many letters were inserted, dropped, changed or swapped; case does not count.

    The optimal string alignment distance (L. Boytsov, Indexing methods for approximate dictionary
    searching, 2011, section 2.1).
    """
    word, meant = word.lower(), meant.lower()
    rows = [list(range(len(meant) + 1))]
    for at, letter in enumerate(word, 1):
        row = [at]
        for other_at, other in enumerate(meant, 1):
            row.append(
                min(rows[-1][other_at] + 1, row[-1] + 1, rows[-1][other_at - 1] + (letter != other))
            )
            is_swap = at > 1 and other_at > 1 and word[at - 2 : at] == other + meant[other_at - 2]
            if is_swap and letter != other:
                row[-1] = min(row[-1], rows[-2][other_at - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


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
