"""Boards: a page, JSON and CSV for each profile x connections x generator x division."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from arena.judge.entry import Entry
from arena.judge.figure_words import rounded_words, value_words
from arena.judge.leaderboard import Board
from arena.judge.row import Result, Row
from arena.judge.verdicts import BlockEstimate
from arena.site import board_columns, words
from arena.site.board_csv import board_csv
from arena.site.charts.picture import MOST
from arena.site.edition import Edition, Site
from arena.site.kinds import SHOWN
from arena.site.outputs import Page
from arena.site.strips import Scale, Strip, scale_of
from arena.site.template import frame, render

# What boards of one profile differ in: its label, its field, and the boards' values in words.
_DIFFERENCES: tuple[tuple[str, str, Callable[[Sequence[Board]], list[str]]], ...] = (
    ("Connections", "connections", lambda all_: [f"{each.connections:,}" for each in all_]),
    ("Generator", "generator", lambda all_: [each.generator for each in all_]),
    ("Type", "division", lambda all_: [words.DIVISIONS[each.division] for each in all_]),
    ("Host", "host_class", lambda all_: words.hosts_apart([each.host_class for each in all_])),
    ("Framing", "framing", lambda all_: [words.FRAMINGS[each.framing] for each in all_]),
    ("Load", "load_digest", lambda all_: list(map(words.load, all_))),
)

# The factor from which the scale of blocks is logarithmic: the intervals are narrow, and those of
# slow frameworks would be too narrow to be seen.
_FAR_OF_BLOCKS = 4

_Value = TypeVar("_Value")


class Switch(NamedTuple):
    """A choice between boards that differ in one thing: label, path, and whether it is active."""

    label: str
    choices: tuple[tuple[str, str, bool], ...]


def view_of(board: Board) -> dict[str, Any]:
    """Return what a board's page shows about all its results together.

    Its `rows` have a figure. Those `without` have only a failure. Those `begun` have nothing yet:
    their visits are void, or in no whole block.
    """
    rows = [row for row in board.rows if row.result or row.estimate]
    results = [row.result for row in rows if row.result]
    estimates = [row.estimate for row in rows if row.estimate]
    if estimates:
        ends = (each for it in estimates for each in (it.low, it.high, *it.rates))
        scale = scale_of(ends, far=_FAR_OF_BLOCKS)
    else:
        scale = scale_of(each for it in results for each in (it.low, it.high))
    least, most = (
        rounded_words(board.metric, each, each, each) if each else "0"
        for each in (scale.least, scale.most)
    )
    has_bounds = board_columns.has_bounds(board, rows)
    return {
        "rows": rows,
        "without": [row for row in board.rows if words.has_only_failed(row)],
        "begun": [row for row in board.rows if not (row.result or row.estimate or row.failure)],
        "is_placed": lambda row: words.is_placed(row, board),
        "leaders": words.leaders(board),
        "first_ranked": words.first_ranked(board),
        "columns": board_columns.columns_of(board, rows),
        "steps": board_columns.step_names(board, rows),
        "groups": lanes([row.letters for row in rows]),
        "bars": bars,
        "scale": scale,
        "scale_words": f"{least} to {most}",
        "is_of_one_run": all(len(each.rates) < 2 for each in results),  # noqa: PLR2004
        "has_unknown": any(len(it.rates) == 1 and it.low == it.high for it in results),
        "strip_of": partial(_strip, scale),
        "interval_of": partial(_interval, board),
        "common": _in_all([it.flags for it in results]),
        "common_overrides": _in_all([sorted(it.overrides.items()) for it in results]),
        "latencies": dict.fromkeys(it.latency_kind for it in results if it.p50_ns is not None),
        "has_estimates": board_columns.has_estimates(board),
        "has_best_of_three": board_columns.has_best_of_three(board),
        "title_of": board_columns.title_of,
        "has_bounds": has_bounds or any("unreached" in it.flags for it in results),
        "generators": list(dict.fromkeys(it.generator for it in results if it.generator)),
    }


def _strip(scale: Scale, it: Result | BlockEstimate) -> Strip:
    """Return an interval with its blocks; or its runs, the headline's run and the median."""
    interval = (it.low, it.high)
    if isinstance(it, BlockEstimate):
        return scale.strip(it.rates, (), interval, it.value)
    middle = it.median if len(it.rates) > 1 else None
    return scale.strip(it.rates, [it.value], interval, middle)


def _interval(board: Board, it: Result | BlockEstimate) -> str:
    """Return an interval as text, with the number of void visits."""
    text = board_columns.interval_words(board, it)
    if isinstance(it, BlockEstimate):
        return text + (f" · {it.voids} void" if it.voids else "")
    return text or ("one run" if len(it.rates) == 1 else "")


def _in_all(values: Sequence[Sequence[_Value]]) -> list[_Value]:
    """Return what all have, if there are several."""
    first, *others = values or ((),)
    return [each for each in first if others and all(each in other for other in others)]


def outputs(site: Site, edition: Edition) -> Iterator[Page]:
    """Yield every board as a page, as JSON and as CSV; and those that older rules make another."""
    others = [_paths(each) for each in (edition, *edition.older)]
    for by in (edition, *edition.older):
        for board in by.leaderboard.boards:
            if all(each is not by for each, _ in _by_each(edition, board)):
                continue
            folder, digest = by.board_folder(board), by.board_digest(board)
            key = _key(by, board, others)
            yield Page(by.board(board), key, partial(_make, site, by, edition, board))
            yield Page(f"{folder}/board.json", digest, partial(_json, board))
            yield Page(f"{folder}/board.csv", digest, partial(board_csv, board, by))


def _json(board: Board) -> str:
    # For scripts: no spaces.
    return board.model_dump_json() + "\n"


def _paths(edition: Edition) -> str:
    return repr(
        (frame(edition), [(edition.board(each), each.load) for each in edition.leaderboard.boards])
    )


def _key(edition: Edition, board: Board, others: Sequence[str]) -> str:
    # Pictures may show figures of other boards.
    beside = SHOWN[board.shape].beside(board, edition.current_boards)
    return "\n".join([*map(edition.board_digest, [board, *beside]), *others])


def _same(edition: Edition, board: Board) -> Board | None:
    """Return the board of the same load, division and framing in an edition."""
    found = (
        each
        for each in edition.leaderboard.boards
        if (each.key, each.division, each.framing) == (board.key, board.division, board.framing)
    )
    return next(found, None)


def _make(site: Site, edition: Edition, newest: Edition, board: Board) -> str:
    view = view_of(board)
    first = newest.older[0] if newest.older and edition is newest else None
    frozen = first and _same(first, board)
    # Older rules have a page only of those boards of which they make another one.
    of, beside = (edition, board) if edition is newest else (newest, _same(newest, board))
    return render(
        site,
        "board.html.j2",
        edition.board(board),
        edition,
        board=board,
        view=view,
        visits=visits_of(edition, board, [*view["rows"], *view["without"], *view["begun"]]),
        switches=[
            *(switches(edition, board) if edition is newest else ()),
            *_by_rules(edition, newest, board),
        ],
        rules=edition.leaderboard.rules,
        frozen=first.leaderboard.rules if first else None,
        is_as_frozen=frozen == board,
        changes=changes(frozen, board) if frozen else [],
        current=of.board(of.current_of(beside or board)),
        pictures=SHOWN[board.shape].of_board(board, edition.current_boards),
        most_pictures=MOST,
        names={row.framework: row.display_name for row in board.rows},
    )


def _by_rules(edition: Edition, newest: Edition, board: Board) -> list[Switch]:
    """Return the choice of the same board by other rules, if they make another board of it."""
    choices = tuple(
        (
            f"{each.leaderboard.rules}" + ", as frozen" * (each in newest.older[:1]),
            each.board(same),
            each is edition,
        )
        for each, same in _by_each(newest, board)
    )
    return [Switch("Rules", choices)] if len(choices) > 1 else []


def _by_each(newest: Edition, board: Board) -> list[tuple[Edition, Board]]:
    """Return the same board by all rules, the oldest first, each that is none of the others.

    Of equal ones, it is that by the newest rules, or else by the oldest.
    """
    shown = _same(newest, board)
    found: list[tuple[Edition, Board]] = []
    for each in newest.older:
        same = _same(each, board)
        if same and same not in (shown, *(known for _, known in found)):
            found.append((each, same))
    return [*found, (newest, shown)] if shown else found


def changes(before: Board, after: Board) -> list[str]:
    """Return what other rules make of the rows of a board, as sentences without a full stop.

    They are about what ranks the board, not about the figures beside it.
    """
    old = {row.framework: row for row in before.rows}
    found = []
    for row in after.rows:
        one, other = old.get(row.framework), row
        if one is None or _headline(one) == _headline(other):
            continue
        ranks = [words.rank(each, of) or "none" for each, of in ((one, before), (other, after))]
        flags = [set(each.result.flags if each.result else ()) for each in (one, other)]
        parts = [f"rank {ranks[0]} is now {ranks[1]}"] * (ranks[0] != ranks[1])
        parts += [f"the flag {name} is new" for name in sorted(flags[1] - flags[0])]
        parts += [f"the flag {name} is gone" for name in sorted(flags[0] - flags[1])]
        found.append(f"{row.display_name}: {', '.join(parts) or 'a figure is another'}")
    return found


def _headline(row: Row) -> Row:
    """Return a row without the figures beside its headline."""
    if row.estimate is None:
        return row
    estimate = row.estimate.model_copy(update={"beside": {}, "steps": {}})
    return row.model_copy(update={"estimate": estimate})


def switches(edition: Edition, board: Board) -> list[Switch]:
    """Return the choices on a board: other connections, generators, types, hosts, framings, loads.

    Each leads to the board that differs least in everything else.
    """
    found = []
    for label, field, names in _DIFFERENCES:
        rest = [each for _, each, _ in _DIFFERENCES if each != field]
        # Of equal loads, one may have a warm-up by its generator.
        choice = "load" if field == "load_digest" else field
        groups: dict[object, list[Board]] = defaultdict(list)
        for each in edition.leaderboard.boards:
            # The choice of a load keeps the connections, the generator and the host.
            is_like = each.place == board.place or field != "load_digest"
            if each.profile == board.profile and is_like:
                groups[getattr(each, choice)].append(each)
        if len(groups) > 1:
            best = [max(own, key=partial(_likeness, board, rest)) for own in groups.values()]
            every = zip(names(best), best, strict=True)
            choices = ((shown, edition.board(each), each is board) for shown, each in every)
            found.append(Switch(label, tuple(choices)))
    return found


def _likeness(board: Board, fields: Sequence[str], other: Board) -> tuple[bool, ...]:
    same = (getattr(board, each) == getattr(other, each) for each in fields)
    return (board is other, *same)


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


def visits_of(edition: Edition, board: Board, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Return the visits of the night that a board shows, in the order of the rows.

    Void ones and failures are there too: the numbers of the `blocks`; the `rows` of frameworks and
    their twins, each with its name, whether it is a twin, and what the visits of each block gave,
    in words and a path; and the `count` of their records.
    """
    found: dict[tuple[str, bool], dict[int, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in edition.by_load.get(board.key, ()):
        if entry.turn and board.night and entry.turn.night == board.night.night:
            found[entry.framework, entry.turn.is_twin][entry.turn.block].append(entry)
    blocks = sorted({block for own in found.values() for block in own})
    visited = [
        (row.display_name, is_twin, [own[block] for block in blocks])
        for row in rows
        for is_twin in (False, True)
        if (own := found.get((row.framework, is_twin)))
    ]
    shown = [
        (
            name,
            is_twin,
            [[(_gave(it), edition.page_or_json(it.path)) for it in own] for own in each],
        )
        for name, is_twin, each in visited
    ]
    count = sum(len(own) for *_, each in visited for own in each)
    return {"blocks": blocks, "rows": shown, "count": count} if visited else None


def _gave(entry: Entry) -> str:
    """Return a visit's figure, or why it has none that counts."""
    if entry.problem:
        return "altered"
    if entry.turn is None or entry.turn.figure is None:
        return entry.status
    if entry.turn.is_void:
        return "void"
    return value_words(entry.load.metric, entry.turn.figure.value, 0)
