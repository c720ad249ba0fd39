"""Boards: a page, JSON and CSV for each profile x connections x generator x division."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from arena.judge.figure_words import rounded_words
from arena.judge.leaderboard import Board, Result, Row
from arena.judge.nights import BlockEstimate
from arena.site import board_columns, words
from arena.site.board_csv import board_csv
from arena.site.board_groups import bars, lanes
from arena.site.board_visits import visits_of
from arena.site.charts.picture import MOST
from arena.site.edition import Edition, Site
from arena.site.kinds import SHOWN
from arena.site.outputs import Output, Page
from arena.site.strips import Scale, Strip, scale_of
from arena.site.template import frame, render

# What boards of one profile differ in: its label, its field, and a board's own value in words.
_DIFFERENCES: tuple[tuple[str, str, Callable[[Board], str]], ...] = (
    ("Connections", "connections", lambda each: f"{each.connections:,}"),
    ("Generator", "generator", lambda each: each.generator),
    ("Type", "division", lambda each: words.DIVISIONS[each.division]),
    ("Host", "host_class", lambda each: each.host_class.words),
    ("Framing", "framing", lambda each: words.FRAMINGS[each.framing]),
    ("Load", "load_digest", words.load),
)

# The factor from which the scale of blocks is logarithmic: the intervals are narrow, and those of
# slow frameworks would be too narrow to be seen.
_FAR_OF_BLOCKS = 4

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Switch:
    """A choice between boards that differ in one thing: label, path, and whether it is active."""

    label: str
    choices: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class BoardView:
    """What a board's page shows about all results together."""

    board: Board

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The rows with a figure, in the board's order."""
        return [row for row in self.board.rows if row.result or row.estimate]

    def is_placed(self, row: Row) -> bool:
        """Whether a row stands where its figure puts it."""
        return words.is_placed(row, self.board)

    @cached_property
    def leaders(self) -> Sequence[Row]:
        """The first row, or all that may be the first."""
        return words.leaders(self.board)

    @cached_property
    def first_ranked(self) -> Sequence[Row]:
        """The first rows with a rank."""
        return words.first_ranked(self.board)

    @property
    def without(self) -> Sequence[Row]:
        """The rows that have only a failure."""
        return [row for row in self.board.rows if words.has_only_failed(row)]

    @property
    def begun(self) -> Sequence[Row]:
        """The rows that have nothing yet: their visits are void, or in no whole block."""
        return [row for row in self.board.rows if not (row.result or row.estimate or row.failure)]

    @cached_property
    def results(self) -> Sequence[Result]:
        """The results of the rows that have one, in the order of the rows."""
        return [row.result for row in self.rows if row.result]

    @cached_property
    def columns(self) -> Sequence[board_columns.Column]:
        """The numbers, starting with the figure that orders the rows."""
        return board_columns.columns_of(self.board, self.rows)

    @cached_property
    def steps(self) -> Sequence[str]:
        """The names of a scenario's steps: each has a column."""
        return board_columns.step_names(self.board, self.rows)

    @cached_property
    def estimates(self) -> Sequence[BlockEstimate]:
        """The estimates of a night of blocks, the best first."""
        return [row.estimate for row in self.rows if row.estimate]

    @cached_property
    def groups(self) -> Sequence[tuple[str, ...]]:
        """The letters of each row, by lane; empty if the board has none."""
        return lanes([row.letters for row in self.rows])

    def bars(self, at: int) -> str:
        """Return the path of the bars of a row's letters."""
        return bars(self.groups[at])

    @cached_property
    def scale(self) -> Scale:
        """The common scale of all strips: of the estimates if there are any, with all blocks."""
        if self.estimates:
            shown = (each for it in self.estimates for each in (it.low, it.high, *it.rates))
            return scale_of(shown, far=_FAR_OF_BLOCKS)
        return scale_of(each for it in self.results for each in (it.low, it.high))

    @property
    def scale_words(self) -> str:
        """The ends of the scale."""
        least, most = (
            rounded_words(self.board.metric, each, each, each) if each else "0"
            for each in (self.scale.least, self.scale.most)
        )
        return f"{least} to {most}"

    @property
    def is_of_one_run(self) -> bool:
        """Whether no row has several runs."""
        return all(len(each.rates) < 2 for each in self.results)  # noqa: PLR2004

    @property
    def has_unknown(self) -> bool:
        """Whether some row has only one run and no error bar: nothing bounds its true value."""
        return any(len(each.rates) == 1 and each.low == each.high for each in self.results)

    def block_strip(self, it: BlockEstimate) -> Strip:
        """Return an estimate, its interval and its blocks."""
        return self.scale.strip(it.rates, (), (it.low, it.high), it.value)

    def block_words(self, it: BlockEstimate) -> str:
        """Return an estimate's interval and void visits as text."""
        voids = f" · {it.voids} void" if it.voids else ""
        return board_columns.interval_words(self.board, it) + voids

    def strip(self, result: Result) -> Strip:
        """Return a result's interval, its runs, the headline's run and the median."""
        middle = result.median if len(result.rates) > 1 else None
        interval = (result.low, result.high)
        return self.scale.strip(result.rates, [result.value], interval, middle)

    def interval(self, result: Result) -> str:
        """Return a result's interval as text."""
        alone = "one run" if len(result.rates) == 1 else ""
        return board_columns.interval_words(self.board, result) or alone

    @cached_property
    def common(self) -> Sequence[str]:
        """The flags that all rows have, if there are several rows; they are shown once."""
        return self._in_all(lambda each: each.flags)

    @cached_property
    def common_overrides(self) -> Sequence[tuple[str, str]]:
        """The overrides that all rows have."""
        return self._in_all(lambda each: sorted(each.overrides.items()))

    @property
    def latencies(self) -> Iterable[str]:
        """The start point of the latencies, if there are any."""
        return dict.fromkeys(it.latency_kind for it in self.results if it.p50_ns is not None)

    @property
    def has_bounds(self) -> bool:
        """Whether some latency is only a lower bound."""
        unreached = any("unreached" in it.flags for it in self.results)
        return unreached or board_columns.has_bounds(self.board, self.rows)

    def values(self, field: str) -> list[str]:
        """Return the distinct values of a field of the results, the best row's first."""
        return list(dict.fromkeys(filter(None, (getattr(it, field) for it in self.results))))

    def _in_all(self, of: Callable[[Result], Sequence[_Value]]) -> list[_Value]:
        """Return what all results share, if there are several."""
        first, *others = map(of, self.results) if self.results else ((),)
        return [each for each in first if others and all(each in other for other in others)]


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield every board as a page, as JSON and as CSV; and those that older rules make another."""
    others = [_paths(each) for each in (edition, *edition.older)]
    for board in edition.every_board:
        key = _key(edition, board, others)
        yield Page(edition.board(board), key, partial(_make, site, edition, edition, board))
        folder, digest = edition.board_folder(board), edition.board_digest(board)
        yield Page(f"{folder}/board.json", digest, partial(_json, board))
        yield Page(f"{folder}/board.csv", digest, partial(board_csv, board, edition))
    for older in edition.older:
        for board in older.every_board:
            if _same(edition, board) != board:
                key = _key(older, board, others)
                yield Page(older.board(board), key, partial(_make, site, older, edition, board))


def _json(board: Board) -> str:
    # For scripts: no spaces.
    return board.model_dump_json() + "\n"


def _paths(edition: Edition) -> str:
    return repr(
        (frame(edition), [(edition.board(each), each.load) for each in edition.every_board])
    )


def _key(edition: Edition, board: Board, others: Sequence[str]) -> str:
    # Pictures may show figures of other boards.
    beside = SHOWN[board.shape].beside(board, edition.current_boards)
    return "\n".join([*map(edition.board_digest, [board, *beside]), *others])


def _same(edition: Edition, board: Board) -> Board | None:
    """Return the board of the same load, division and framing in an edition."""
    found = (
        each
        for each in edition.every_board
        if (each.key, each.division, each.framing) == (board.key, board.division, board.framing)
    )
    return next(found, None)


def _make(site: Site, edition: Edition, newest: Edition, board: Board) -> str:
    view = BoardView(board)
    first = newest.older[0] if newest.older and edition is newest else None
    frozen = first and _same(first, board)
    return render(
        site,
        "board.html.j2",
        edition.board(board),
        edition,
        board=board,
        view=view,
        visits=visits_of(edition, board, [*view.rows, *view.without, *view.begun]),
        switches=[*switches(edition, board), *_by_rules(edition, newest, board)],
        rules=edition.leaderboard.rules,
        frozen=first.leaderboard.rules if first else None,
        is_as_frozen=frozen == board,
        changes=changes(frozen, board) if frozen else [],
        current=edition.board(edition.current_of(board)),
        pictures=SHOWN[board.shape].of_board(board, edition.current_boards),
        most_pictures=MOST,
        names={row.framework: row.display_name for row in board.rows},
    )


def _by_rules(edition: Edition, newest: Edition, board: Board) -> list[Switch]:
    """Return the choice of the same board by other rules, if they make another board of it."""
    shown = _same(newest, board)
    found = [
        (f"{each.leaderboard.rules}" + ", as frozen" * (each in newest.older[:1]), each, same)
        for each in (*newest.older, newest)
        if (same := _same(each, board)) and (each is newest or same != shown)
    ]
    choices = tuple((label, each.board(same), each is edition) for label, each, same in found)
    return [Switch("Rules", choices)] if len(choices) > 1 else []


def changes(before: Board, after: Board) -> list[str]:
    """Return what other rules make of the rows of a board, as sentences without a full stop."""
    old = {row.framework: row for row in before.rows}
    found = []
    for row in after.rows:
        one, other = old.get(row.framework), row
        if one is None or one == other:
            continue
        ranks = [words.rank(each, of) or "none" for each, of in ((one, before), (other, after))]
        flags = [set(each.result.flags if each.result else ()) for each in (one, other)]
        parts = [f"rank {ranks[0]} is now {ranks[1]}"] * (ranks[0] != ranks[1])
        parts += [f"the flag {name} is new" for name in sorted(flags[1] - flags[0])]
        parts += [f"the flag {name} is gone" for name in sorted(flags[0] - flags[1])]
        found.append(f"{row.display_name}: {', '.join(parts) or 'a figure is another'}")
    return found


def switches(edition: Edition, board: Board) -> list[Switch]:
    """Return the choices on a board: other connections, generators, types, hosts, framings, loads.

    Each leads to the board that differs least in everything else.
    """
    found = []
    for label, field, name in _DIFFERENCES:
        rest = [each for _, each, _ in _DIFFERENCES if each != field]
        # Of equal loads, one may have a warm-up by its generator.
        choice = "load" if field == "load_digest" else field
        best: dict[object, Board] = {}
        for each in edition.every_board:
            # The choice of a load keeps the connections, the generator and the host.
            is_like = each.place == board.place or field != "load_digest"
            if each.profile == board.profile and is_like:
                known = best.setdefault(getattr(each, choice), each)
                if _likeness(each, board, rest) > _likeness(known, board, rest):
                    best[getattr(each, choice)] = each
        best[getattr(board, choice)] = board
        if len(best) > 1:
            # Long names of hosts differ in little.
            names = words.apart([name(each) for each in best.values()])
            pages = [(edition.board(each), each is board) for each in best.values()]
            choices = [(shown, *page) for shown, page in zip(names, pages, strict=True)]
            found.append(Switch(label, tuple(choices)))
    return found


def _likeness(one: Board, other: Board, fields: Sequence[str]) -> tuple[bool, ...]:
    return tuple(getattr(one, each) == getattr(other, each) for each in fields)
