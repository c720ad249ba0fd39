"""The twins of all nights of a load, and when somebody last looked at them.

Two nights in a row whose twins differ suspend the ranks of their load. They come back when somebody
has looked: results/host/reviewed.json has the times.
"""

import operator
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pydantic import Field

from arena.base.model import Frozen, Number, to_json, validated
from arena.base.reading import read_json
from arena.base.writing import write_atomic
from arena.judge.distributions import share_interval
from arena.judge.entry import TWIN
from arena.judge.figures import bounded
from arena.judge.load_key import Key, LoadKey
from arena.judge.nights import HEADLINE, Night, compared, ranking_of, steady_of
from arena.judge.ranking import Ranking
from arena.record.times import UtcTime
from arena.what.loads import Count
from parsers.common.figures import Whole

FILE = "reviewed.json"


class Twin(Frozen):
    """A framework that was entered twice in a night, and whether its two names were tied.

    They are tied if the board's rank rule cannot tell them apart. `ratio` is that of the twin to
    the original, with the pair's own 95 % interval. Without a `figure`, it is of the headline.
    """

    framework: str
    is_tied: bool
    ratio: Number
    low: Number
    high: Number
    figure: str = Field(default="", exclude_if=operator.not_)

    @property
    def is_equal(self) -> bool:
        """Whether the pair's own test cannot tell the names apart, which errs in 5 % of pairs."""
        return self.low <= 1 <= self.high


class TwinHistory(Frozen):
    """How many twins of all nights of a load were equal, with the share's 95 % interval.

    With `by_pair`, each was judged by the pair's own test. Histories from rules before 3 count
    those that the board's rank rule tied.

    `is_suspended`: two nights in a row had a twin that was not tied by the rank rule, and nobody
    has looked since. This is of the headline; `figures` has the others', by name.
    """

    tied: Whole
    of: Whole
    low: Number
    high: Number
    is_suspended: bool = False
    by_pair: bool = Field(default=False, exclude_if=operator.not_)
    figures: dict[str, "TwinHistory"] = Field(default_factory=dict, exclude_if=operator.not_)

    def suspends(self, figure: str) -> bool:
        """Return whether a figure has no ranks."""
        own = self if figure == HEADLINE else self.figures.get(figure)
        return own is not None and own.is_suspended


def twins_in(night: Night, ranking: Ranking, figure: str = HEADLINE) -> Iterator[Twin]:
    """Yield the twins that a night's ranking by a figure has; none with too few blocks."""
    for name, is_tied in sorted(ranking.twins_tied.items()):
        original = name.removesuffix(TWIN)
        found = compared(night, name, original, figure)
        if found.ratio is not None and found.low is not None and found.high is not None:
            # An open end is no number that a file may have.
            ratio, low, high = (bounded(each) for each in (found.ratio, found.low, found.high))
            yield Twin(
                framework=original,
                is_tied=is_tied,
                ratio=ratio,
                low=low,
                high=high,
                figure=figure,
            )


def twins_of(night: Night, groups: Iterable[Collection[str]]) -> list[Twin]:
    """Return the twins of a night whose groups of frameworks are ranked apart, by every figure.

    There are none if the night has too few blocks to rank.
    """
    if not night.has_enough or not any(name.endswith(TWIN) for name in night.names):
        return []
    return [
        twin
        for group in groups
        for steady in [steady_of(night, group)[1]]
        for figure, samples in night.samples.items()
        if (ranking := ranking_of(samples, steady))
        for twin in twins_in(night, ranking, figure)
    ]


def history_of(twins: Mapping[str, Sequence[Twin]], looked_at: str = "") -> TwinHistory | None:
    """Return the history of the twins of a load's nights, by the night; None without a twin.

    `looked_at` is when somebody last looked: earlier nights suspend nothing.
    """
    by_figure: dict[str, dict[str, list[Twin]]] = defaultdict(lambda: defaultdict(list))
    for night, found in twins.items():
        for twin in found:
            by_figure[twin.figure][night].append(twin)
    histories = {figure: _history(own, looked_at) for figure, own in by_figure.items()}
    if (headline := histories.pop(HEADLINE, None)) is None:
        return None
    return headline.model_copy(update={"figures": histories})


def _history(twins: Mapping[str, Sequence[Twin]], looked_at: str) -> TwinHistory:
    """Return the history of one figure; each night has a twin."""
    every = [twin for night in twins.values() for twin in night]
    equal = sum(twin.is_equal for twin in every)
    low, high = share_interval(equal, len(every))
    missed = [
        not all(twin.is_tied for twin in found)
        for night, found in sorted(twins.items())
        if night > looked_at
    ]
    return TwinHistory(
        tied=equal,
        of=len(every),
        low=low,
        high=high,
        is_suspended=any(a and b for a, b in pairwise(missed)),
        by_pair=True,
    )


class Look(Frozen):
    """Somebody has looked at the twins of a profile; None stands for every count or generator."""

    profile: str
    connections: Count | None = None
    generator: str | None = None
    looked_at: UtcTime

    def covers(self, load: LoadKey) -> bool:
        """Return whether it is about a load."""
        return (
            self.profile == load.profile
            and self.connections in (None, load.connections)
            and self.generator in (None, load.generator)
        )


class Reviewed(Frozen):
    """The content of results/host/reviewed.json."""

    looks: tuple[Look, ...] = ()


def load_name(key: Key) -> str:
    """Return the name of a load in files: the parts of its key, with slashes between them."""
    return "/".join(map(str, key))


@dataclass(frozen=True)
class TwinBook:
    """What is known of twins besides the records.

    `looks` lift suspensions. A set of records may have only some of the nights: a round those that
    its boards show, the current one what is in no round. `known` has the histories of all nights,
    by the loads' names.
    """

    looks: Sequence[Look] = ()
    known: Mapping[str, TwinHistory] | None = None

    def looked_at(self, load: LoadKey) -> str:
        """Return when somebody last looked at a load; empty if never."""
        return max((each.looked_at for each in self.looks if each.covers(load)), default="")

    def history_of(
        self, load: LoadKey, nights: Iterable[Night], groups: Iterable[Collection[str]]
    ) -> TwinHistory | None:
        """Return the history of a load's twins; each group of frameworks is ranked apart."""
        if self.known is not None:
            return self.known.get(load_name(load.key))
        groups = list(groups)
        found = {each.id: twins_of(each, groups) for each in nights}
        return history_of(found, self.looked_at(load))


NO_LOOKS = TwinBook()


def read_book(host: Path) -> TwinBook:
    """Return what a host's file says; UsageError if it is broken."""
    path = host / FILE
    if not path.exists():
        return NO_LOOKS
    found = validated(Reviewed, read_json(path), path, list(Reviewed.model_fields))
    return TwinBook(found.looks)


def write_look(host: Path, look: Look) -> None:
    """Add a look to a host's file, in place of an older one about the same."""
    about = {"profile", "connections", "generator"}
    others = (
        each
        for each in read_book(host).looks
        if each.model_dump(include=about) != look.model_dump(include=about)
    )
    write_atomic(host / FILE, to_json(Reviewed(looks=(*others, look))))
