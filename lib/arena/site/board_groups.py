"""Groups of rows that a board cannot tell apart: each letter is a bar beside its rows."""

from collections.abc import Sequence


def lanes(letters: Sequence[str | None]) -> list[tuple[str, ...]]:
    """Return the letter in each lane of each row; an empty text where the row has none.

    `letters` are those of the rows, in the page's order: `a`, `ab`, or None. A letter stays in one
    lane. Letters share a lane if a row lies between them, so that few lanes are needed and no two
    bars touch.
    """
    spans: dict[str, tuple[int, int]] = {}
    for at, own in enumerate(letters):
        for letter in own or "":
            spans[letter] = (spans.get(letter, (at, at))[0], at)
    free_from: list[int] = []
    lane_of: dict[str, int] = {}
    for letter, (first, last) in sorted(spans.items(), key=lambda each: each[1]):
        lane = next((at for at, free in enumerate(free_from) if free < first), len(free_from))
        free_from[lane : lane + 1] = [last + 1]
        lane_of[letter] = lane
    rows = []
    for own in letters:
        row = [""] * len(free_from)
        for letter in own or "":
            row[lane_of[letter]] = letter
        rows.append(tuple(row))
    return rows


def bars(row: Sequence[str]) -> str:
    """Return the path of a row's bars: each lane is one wide, the row one high."""
    return "".join(f"M{at}.1 0h.8v1h-.8z" for at, letter in enumerate(row) if letter)
