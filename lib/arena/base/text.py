"""Words for people: paths, printable text, and names close to a mistyped one."""

from pathlib import Path


def nearest(word: str, known: list[str]) -> str:
    """Offer the names close to a mistyped one: ` (did you mean a, b?)`, or all, or nothing."""
    import difflib

    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if close:
        return f" (did you mean {', '.join(close)}?)"
    return f" (there are: {', '.join(sorted(known))})" if known else ""


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
