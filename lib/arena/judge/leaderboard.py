"""The leaderboard: derived from records alone, a board for each load, generator and host class.

Production and tuned frameworks are ranked together, engines apart. The newest good record of
a framework is its row; a newer failure is shown on that row and never removes its value. Trials of
each size, and records from before a profile was edited, have boards of their own.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.judge.beside import Beside
from arena.judge.derive import RULES
from arena.judge.entry import DIVISIONS, Division, Entry, by_load, entry_of
from arena.judge.flags import UNPLACED
from arena.judge.headline import is_sure
from arena.judge.host_class import HostClass, host_class_of
from arena.judge.load_key import Key, LoadKey, Place, differences
from arena.judge.nights import LEAST_RANKED, Night, by_division, nights_of, shown_night
from arena.judge.row import Result, Row, row_of, told_apart
from arena.judge.twins import NO_LOOKS, TwinBook, TwinHistory
from arena.judge.verdicts import BoardNight, Verdict, judged, other_nights
from arena.record.record import Record
from arena.what.loads import KINDS, LoadShape
from arena.what.metrics import Metric

# A server with more messages a DATA frame than this packs them, in spite of HttpArena's rule.
_ONE_A_FRAME = 1.01

# The place of a record: its profile, connections and framework.
_PLACE = re.compile(r"([^/]+)/([0-9]{1,7})/([^/]+)/[^/]+")


class Altered(Frozen):
    """A record that does not count because it is not as it was saved, and what is wrong with it."""

    framework: str
    record: str
    problem: str


class Difference(Frozen):
    """A fact in which a load differs from the current one, as JSON: `duration_s`, 1.0, 5.0."""

    fact: str
    here: str
    current: str


class Board(Frozen):
    """The ranked rows of one load, one generator, one class of hosts and one division.

    `is_home` tells whether the class is that of the set's current load, whatever the profile.

    A profile may have records of several loads with these connections, this generator and this
    class. One is current: the newest that is not a trial, or the newest trial if all are trials.
    `load` is this load's name, such as `5s-x-3`; `differences` compares it with the current one.
    Boards of the same load under several generators have the same `load_digest`. With a
    `generator_warm_up`, the generator made load before each window by itself. The `call` of a
    scenario is empty.

    `night` is the fullest recent night of blocks, `twin_history` that of all nights. With `framing`
    `single`, the board has only servers that send one message a DATA frame; it is given if it
    differs from that of all. `altered` records are not as they were saved and do not count. Those
    that cannot be read are on every current board of their profile and connections.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    profile: str
    title: str
    call: str
    tls: bool
    connections: int
    generator: str
    host_class: HostClass
    is_home: bool
    load: str
    load_digest: str
    generator_warm_up: str
    is_current: bool
    is_trial: bool
    differences: tuple[Difference, ...]
    division: Division
    kind: str = "closed"
    metric: Metric
    rows: tuple[Row, ...]
    framing: Literal["all", "single"] = "all"
    night: BoardNight | None = None
    twin_history: TwinHistory | None = None
    altered: tuple[Altered, ...] = ()

    @property
    def shape(self) -> type[LoadShape]:
        """Return the kind of load of its records."""
        return KINDS[self.kind]

    @property
    def place(self) -> Place:
        """Return the part of the key that it shares with its profile's other loads."""
        return self.profile, self.connections, self.generator, self.host_class.id

    @property
    def key(self) -> Key:
        """Return the key that identifies its load."""
        return *self.place, self.load_digest, self.generator_warm_up

    def beside(self, row: Row) -> Mapping[str, Beside]:
        """Return a row's latencies, costs and memory by name: those of its blocks, if any count."""
        shown = row.estimate if self.night else row.result
        return shown.beside if shown else {}

    def steps(self, row: Row) -> Mapping[str, Beside]:
        """Return the p99 latency of each step of a row (ns), from the same runs."""
        if self.night:
            return row.estimate.steps if row.estimate else {}
        return row.result.step_p99s if row.result else {}


class Leaderboard(Frozen):
    """All boards, by profile, connections and generator; the home class comes first, then others.

    Within a class, the current load comes first. `rules` is the version of those that judged them.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    rules: Annotated[int, Field(ge=1, le=1000)]
    boards: tuple[Board, ...]


def shown_records(boards: Iterable[Board]) -> list[str]:
    """Return the sorted paths of the records of all results and newer failures.

    The visits of a night are not among them: a board shows them as one estimate.
    """
    rows = [row for board in boards for row in board.rows]
    return sorted({part.record for row in rows for part in (row.result, row.failure) if part})


def named_records(boards: Sequence[Board]) -> Iterator[str]:
    """Yield the path of every record that boards name: also the visits of a night."""
    yield from shown_records(boards)
    for board in boards:
        yield from (each.record for each in board.altered)
        yield from (path for row in board.rows if row.estimate for path in row.estimate.records)


def night_records(boards: Iterable[Board], entries: Iterable[Entry]) -> list[str]:
    """Return the paths of all visits of the nights that boards show: twins and voids too."""
    nights = {(board.key, board.night.night) for board in boards if board.night}
    return [
        each.path for each in entries if each.turn and (each.load.key, each.turn.night) in nights
    ]


def rank(records: Iterable[Record]) -> Leaderboard:
    """Derive the leaderboard from records; their order does not matter."""
    by_path = {record.path: record for record in records}
    return rank_entries(map(entry_of, by_path.values()), by_path.__getitem__)


def rank_entries(
    entries: Iterable[Entry],
    read: Callable[[str], Record],
    twins: TwinBook = NO_LOOKS,
    broken: Mapping[str, str] = MappingProxyType({}),
) -> Leaderboard:
    """Derive the leaderboard from entries; `read` returns the record of a path.

    `twins` says when somebody looked at the twins of a load, or what they were in a round. `broken`
    says what is wrong with records that cannot be read, by path.
    """
    unreadable = _unreadable(broken)
    places: dict[Place, list[list[Entry]]] = defaultdict(list)
    in_time = sorted(entries, key=lambda each: (each.started_at, each.path))
    home = max(in_time, key=_claim).load.host_class if in_time else ""
    for own in by_load(in_time).values():
        places[own[0].load.place].append(own)

    def order(place: Place) -> tuple[object, ...]:
        *rest, host_class = place
        return *rest, host_class != home, host_class

    boards = [
        board
        for place in sorted(places, key=order)
        for board in _boards(places[place], home, read, twins, unreadable[place[:2]])
    ]
    return Leaderboard(rules=RULES, boards=tuple(boards))


def _boards(
    loads: list[list[Entry]],
    home: str,
    read: Callable[[str], Record],
    twins: TwinBook,
    unreadable: Sequence[Altered],
) -> Iterator[Board]:
    """Yield the boards of one place, the current load's first.

    Each load is the list of its entries, oldest first. `home` is the id of the home class.
    """
    loads = sorted(loads, key=lambda own: max(map(_claim, own)), reverse=True)
    sizes = Counter(own[0].load.size for own in loads)
    newest = read(loads[0][-1].path)
    host_class = host_class_of(newest)
    for own in loads:
        load, last = own[0].load, read(own[-1].path)
        profile = last.profile
        is_current = own is loads[0]
        is_plain = is_current or sizes[load.size] == 1
        histories: dict[str, list[Entry]] = defaultdict(list)
        for entry in own:
            histories[entry.framework].append(entry)
        rows = told_apart([row_of(history, read) for history in histories.values()])
        groups: dict[Division, list[Row]] = {"framework": [], "engine": []}
        for row in rows:
            groups[DIVISIONS[row.type]].append(row)
        nights = nights_of(own)
        history = twins.history_of(load, nights, by_division(own).values())
        for division, group in groups.items():
            if not group:
                continue
            names = _names(group)
            board = Board(
                profile=profile.name,
                title=profile.title,
                call=profile.call,
                tls=profile.tls,
                connections=load.connections,
                generator=load.generator,
                host_class=host_class,
                is_home=host_class.id == home,
                load=load.size if is_plain else f"{load.size}-{_mark(load)}",
                load_digest=load.digest,
                generator_warm_up=load.generator_warm_up,
                is_current=is_current,
                is_trial=all(entry.is_trial for entry in own),
                differences=tuple(
                    Difference(fact=fact, here=here, current=there)
                    for fact, (here, there) in differences(last, newest).items()
                ),
                division=division,
                kind=profile.load.kind,
                metric=profile.metric,
                rows=(),
                twin_history=history,
                altered=(
                    *(
                        Altered(framework=each.framework, record=each.path, problem=each.problem)
                        for each in own
                        if each.problem and each.framework in names
                    ),
                    *(unreadable if is_current else ()),
                ),
            )
            night = shown_night(nights, names)
            full = _with_rows(board, group, nights, night)
            yield full
            if profile.replies > 1:
                single = [row for row in full.rows if _is_single(row)]
                if single and any(_packing(row) for row in full.rows if row not in single):
                    single_board = full.model_copy(update={"framing": "single"})
                    yield _with_rows(single_board, single, nights, night)


def _unreadable(broken: Mapping[str, str]) -> Mapping[tuple[str, int], list[Altered]]:
    """Return the records that cannot be read, by profile and connections, as their paths say."""
    found: dict[tuple[str, int], list[Altered]] = defaultdict(list)
    for path, problem in sorted(broken.items()):
        if path.isprintable() and (place := _PLACE.fullmatch(path)):
            profile, connections, framework = place.groups()
            said = f"it cannot be read: {problem}"
            altered = Altered(framework=framework, record=path, problem=said)
            found[profile, int(connections)].append(altered)
    return found


def _with_rows(
    board: Board, rows: Sequence[Row], nights: Sequence[Night], night: Night | None
) -> Board:
    """Return a board of these rows: ranked in the classic way, and as the night's blocks say."""
    ranked = _ranked(rows, board.metric)
    names = _names(rows)
    shown = None
    if night and not night.frameworks.isdisjoint(names):
        verdict = judged(night, names, board.twin_history)
        ranked = tuple(_estimated(row, verdict) for row in ranked)
        ranked = tuple(sorted(ranked, key=partial(by_estimate, board.metric)))
        shown = verdict.summary.model_copy(update=other_nights(nights, night, names))
    return board.model_copy(update={"rows": ranked, "night": shown})


def _names(rows: Iterable[Row]) -> frozenset[str]:
    return frozenset(row.framework for row in rows)


def _estimated(row: Row, verdict: Verdict) -> Row:
    name = row.framework
    return row.model_copy(
        update={
            "estimate": verdict.estimates.get(name),
            "rank_set": verdict.rank_sets.get(name),
            "letters": verdict.letters.get(name),
        }
    )


def by_estimate(metric: Metric, row: Row) -> tuple[bool, bool, float]:
    """Return the sort key of a row by its estimate, whether it has a rank or not.

    Rows that have none come last, and keep their order.
    """
    return row.estimate is None, *(row.estimate.order(metric) if row.estimate else (False, 0.0))


def _packing(row: Row) -> float | None:
    """Return how many messages a DATA frame has: under load, or else without load."""
    if row.estimate and row.estimate.messages_per_data_frame:
        return row.estimate.messages_per_data_frame
    if row.result is None:
        return None
    return row.result.messages_per_data_frame_under_load or row.result.messages_per_data_frame


def _is_single(row: Row) -> bool:
    packing = _packing(row)
    return packing is not None and packing <= _ONE_A_FRAME


def _mark(load: LoadKey) -> str:
    """Return what tells a load from others of the same size and place, as part of a URL."""
    return load.digest[:6] + (load.generator_warm_up and f"-{load.generator_warm_up}")


def _claim(entry: Entry) -> tuple[bool, bool, str, str]:
    """Return the sort key that picks what is current: no trial, then good, then newest."""
    return not entry.is_trial, entry.is_good, entry.started_at, entry.path


def _ranked(rows: Iterable[Row], metric: Metric) -> tuple[Row, ...]:
    """Order by value, the best first; a row whose interval overlaps the leader's shares its rank.

    The leader of a rank is its best row. The next rank counts all ranked rows above it. A row that
    cannot have a rank stands by its value; it is behind all others if its load was not the
    profile's, or if its value is 0: no call finished, so only the upper bound `high` is known.
    With fewer than two rows that can have a rank, none has.
    """
    sign = 1 if metric.lower_is_better else -1

    def order(row: Row) -> tuple[int, float, str]:
        if row.result is None:
            return 2, 0.0, row.framework
        return not has_place(row.result), sign * row.result.value, row.framework

    ordered = sorted(rows, key=order)
    ranks: dict[str, int] = {}
    rank, leader = 0, None
    for row in ordered:
        if (it := row.result) and can_rank(it):
            if leader is None or leader.low > it.high or it.low > leader.high:
                rank, leader = len(ranks) + 1, it
            ranks[row.framework] = rank
    if len(ranks) < LEAST_RANKED:
        ranks = {}
    return tuple(row.model_copy(update={"rank": ranks.get(row.framework)}) for row in ordered)


def can_rank(result: Result) -> bool:
    """Return whether a result can have a rank at all."""
    return bool(result.value) and can_compare(result)


def can_compare(result: Result) -> bool:
    """Return whether a result's interval says how far it is from others."""
    return is_sure(result.low, result.high, len(result.rates), result.points, result.flags)


def has_place(result: Result) -> bool:
    """Return whether a result's figure is one of the profile's load, and so has a place."""
    return bool(result.value) and UNPLACED.isdisjoint(result.flags)
