"""Compare: a page whose script shows frameworks side by side, and the figures for the script."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.judge.compare import note_of
from arena.judge.leaderboard import Board, can_compare
from arena.judge.nights import Night, compared, nights_of
from arena.judge.row import Row
from arena.site import words
from arena.site.board_columns import estimate_words, headline_words, interval_words
from arena.site.edition import Edition, Site
from arena.site.outputs import Page
from arena.site.template import frame, render
from arena.what.metrics import Metric

# The verdict on B against A (faster, slower, not told apart, or not comparable and why), how many
# times as fast B is, with the ends of the 95 % interval, and the number of blocks. None: they are
# not comparable.
Pair = tuple[str, float | None, float | None, float | None, int]


class ComparedProfile(Frozen):
    """A profile x connections x generator x host class, of the current load: it is comparable.

    The id has these four. `host` names a class that is not the home class in words. `pairs` has the
    verdicts of the load's nights of blocks that boards show, by the names of A and B, A before B in
    the alphabet; it is absent without such a night. `note` is what must be known of these nights,
    in sentences.
    """

    id: str
    title: str
    host_class: str
    host: str = ""
    metric: Metric
    lower_is_better: bool
    href: str
    pairs: dict[str, dict[str, Pair]] | None = None
    note: str = ""


# A value with the ends of its interval, its flags separated by commas, and its record's page;
# then the value and the interval as text, with no finer digits than the interval justifies. The
# last is whether it can be compared at all: several runs made its interval, which has a width,
# and no flag takes its rank.
Figure = tuple[float, float, float, str, str, str, str, bool]


class ComparedFramework(Frozen):
    """A framework's figures, by the number of their profile in the list, from 0.

    `figures` are classic; `estimates` are those of a night of blocks, with their intervals, in
    words.
    """

    name: str
    display_name: str
    language: str
    type: str
    href: str
    figures: dict[str, Figure]
    estimates: dict[str, tuple[str, str]] | None = None


class CompareTable(Frozen):
    """All figures of all frameworks, for the page that compares them.

    Two frameworks with blocks in common have a verdict of their own. Of all others, B is r times as
    fast as A with r between B's low / A's high and B's high / A's low; if their intervals overlap,
    they are not told apart.
    """

    schema_version: Annotated[Literal[2], Field(alias="schema")] = 2
    profiles: tuple[ComparedProfile, ...]
    frameworks: tuple[ComparedFramework, ...]


def outputs(site: Site, edition: Edition) -> Iterator[Page]:
    """Yield the page, which has no figures, and the figures that its script loads."""
    page = f"{edition.root}compare/index.html"
    make = partial(render, site, "compare.html.j2", page, edition)
    yield Page(page, frame(edition), make)
    yield Page(f"{edition.root}compare/compare.json", edition.digest, partial(_comparison, edition))


def _comparison(edition: Edition) -> str:
    """Return the JSON of all figures. A framework's texts are those of its newest record."""
    by_place: dict[str, list[Board]] = defaultdict(list)
    for board in edition.current_boards:
        by_place["/".join(map(str, board.place))].append(board)
    newest: dict[str, tuple[str, Row]] = {}
    figures: dict[str, dict[str, Figure]] = defaultdict(dict)
    estimates: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for place, board in ((str(at), it) for at, own in enumerate(by_place.values()) for it in own):
        for row in board.rows:
            made = ""
            if it := row.estimate:
                shown = estimate_words(board, row), interval_words(board, it)
                estimates[row.framework][place] = shown
                made = board.night.night if board.night else ""
            if result := row.result:
                figures[row.framework][place] = (
                    result.value, result.low, result.high, ",".join(result.flags),
                    edition.relative(edition.record(result.record)),
                    headline_words(board, result), interval_words(board, result),
                    can_compare(result),
                )  # fmt: skip
                made = max(made, result.started_at)
            if newest.get(row.framework, ("",))[0] < made:
                newest[row.framework] = made, row
    frameworks = (
        ComparedFramework(
            **{field: getattr(row, field) for field in ("display_name", "language", "type")},
            name=name,
            href=edition.relative(edition.framework(name)),
            figures=figures.get(name, {}),
            estimates=estimates.get(name),
        )
        for name, (_, row) in sorted(newest.items())
    )
    profiles = (_profile(edition, name, boards) for name, boards in by_place.items())
    # A large file for scripts: no spaces.
    return (
        CompareTable(profiles=tuple(profiles), frameworks=tuple(frameworks)).model_dump_json()
        + "\n"
    )


def _profile(edition: Edition, name: str, boards: Sequence[Board]) -> ComparedProfile:
    """Return a load with the verdicts of the nights that its boards show."""
    first, nights = boards[0], []
    for board in boards:
        if shown := board.night:
            every = nights_of(edition.by_load[board.key])
            nights.append((board, next(each for each in every if each.id == shown.night)))
    return ComparedProfile(
        id=name,
        title=first.title,
        host_class=first.host_class.id,
        host=words.host_note(first),
        metric=first.metric,
        lower_is_better=first.metric.lower_is_better,
        href=edition.relative(edition.board(first)),
        pairs=_pairs_of(nights) if nights else None,
        note=" ".join(dict.fromkeys(filter(None, (note_of(*each) for each in nights)))),
    )


def _pairs_of(shown: Sequence[tuple[Board, Night]]) -> dict[str, dict[str, Pair]]:
    """Return the verdicts by the nights that the boards of a load's divisions show.

    Two frameworks of one board are compared by its night, others by the newest that has both.
    """
    found: dict[str, dict[str, Pair]] = defaultdict(dict)
    in_time = sorted({night.id: night for _, night in shown}.items())
    every = {name: _pairs(night) for name, night in in_time}
    for pairs in every.values():
        for one, others in pairs.items():
            found[one] |= others
    for board, night in shown:
        names = {row.framework for row in board.rows}
        for one in names & every[night.id].keys():
            found[one] |= {it: pair for it, pair in every[night.id][one].items() if it in names}
    return dict(found)


def _pairs(night: Night) -> dict[str, dict[str, Pair]]:
    """Return the verdicts of a night on pairs, of all divisions.

    A framework that still warms up, or cannot keep a fixed rate, cannot be compared.
    """
    unfit = {name: said for name in night.frameworks if (said := night.unfit(name))}
    found: dict[str, dict[str, Pair]] = defaultdict(dict)
    for one, other in combinations(sorted(night.frameworks), 2):
        if not (why := unfit.get(one) or unfit.get(other)):
            it = compared(night, other, one)
            ends = (it.ratio, it.low, it.high)
            ratio, low, high = (each and float(f"{each:.6g}") for each in ends)
            found[one][other] = it.verdict, ratio, low, high, it.blocks
        else:
            found[one][other] = f"not comparable: {why}", None, None, None, len(night.blocks)
    return dict(found)
