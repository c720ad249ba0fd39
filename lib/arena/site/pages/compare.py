"""Compare: a page whose script shows frameworks side by side, and the figures for the script."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

from arena.judge.compare import note_of
from arena.judge.leaderboard import Board, can_compare
from arena.judge.nights import Night, compared, is_warming, nights_of
from arena.site import words
from arena.site.board_columns import estimate_words, headline_words, interval_words
from arena.site.edition import Edition, Site
from arena.site.outputs import Output, Page
from arena.site.schemas import (
    ComparedFramework,
    ComparedProfile,
    Comparison,
    Figure,
    Pair,
)
from arena.site.template import frame, render


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield the page, which has no figures, and the figures that its script loads."""
    page = f"{edition.root}compare/index.html"
    make = partial(render, site, "compare.html.j2", page, edition)
    yield Page(page, frame(edition), make)
    yield Page(f"{edition.root}compare/compare.json", edition.digest, partial(_comparison, edition))


def _comparison(edition: Edition) -> str:
    """Return the JSON of all figures. A framework's texts are those of its newest record."""
    places: dict[str, int] = {}
    profiles: list[ComparedProfile] = []
    nights: dict[int, list[tuple[Board, Night]]] = defaultdict(list)
    frameworks: dict[str, ComparedFramework] = {}
    figures: dict[str, dict[str, Figure]] = defaultdict(dict)
    when: dict[str, str] = {}
    estimates: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for board in edition.current_boards:
        name = "/".join(map(str, board.place))
        place = places.setdefault(name, len(profiles))
        if place == len(profiles):
            profiles.append(
                ComparedProfile(
                    id=name,
                    title=board.title,
                    host_class=board.host_class.id,
                    host=words.host_note(board),
                    metric=board.metric,
                    lower_is_better=board.metric.lower_is_better,
                    href=edition.relative(edition.board(board)),
                )
            )
        if board.night:
            night = _night(edition, board, board.night.night)
            nights[place].append((board, night))
        for row in board.rows:
            made = [row.result.started_at] if row.result else []
            if row.estimate:
                shown = estimate_words(board, row), interval_words(board, row.estimate)
                estimates[row.framework][str(place)] = shown
                made += [board.night.night] if board.night else []
            if result := row.result:
                figures[row.framework][str(place)] = (
                    result.value, result.low, result.high, ",".join(result.flags),
                    edition.relative(edition.record(result.record)),
                    headline_words(board, result), interval_words(board, result),
                    can_compare(result),
                )  # fmt: skip
            if made and when.get(row.framework, "") < max(made):
                when[row.framework] = max(made)
                frameworks[row.framework] = ComparedFramework(
                    name=row.framework,
                    display_name=row.display_name,
                    language=row.language,
                    type=row.type,
                    href=edition.relative(edition.framework(row.framework)),
                    figures={},
                )
    for place, own in nights.items():
        notes = " ".join(dict.fromkeys(filter(None, (note_of(*each) for each in own))))
        profiles[place] = profiles[place].changed(pairs=_pairs_of(own), note=notes)
    found = [
        frameworks[name].model_copy(
            update={"figures": figures.get(name, {}), "estimates": estimates.get(name)}
        )
        for name in sorted(frameworks)
    ]
    # A large file for scripts: no spaces.
    return Comparison(profiles=tuple(profiles), frameworks=tuple(found)).model_dump_json() + "\n"


def _night(edition: Edition, board: Board, name: str) -> Night:
    """Return a night of a board's load."""
    return next(each for each in nights_of(edition.by_load[board.key]) if each.id == name)


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

    A framework that still warms up cannot be compared.
    """
    warming = {name for name in night.frameworks if is_warming(night.drift(name))}
    found: dict[str, dict[str, Pair]] = defaultdict(dict)
    for one, other in combinations(sorted(night.frameworks), 2):
        if warming.isdisjoint((one, other)):
            it = compared(night, other, one)
            ends = (it.ratio, it.low, it.high)
            ratio, low, high = (each and float(f"{each:.6g}") for each in ends)
            found[one][other] = it.verdict, ratio, low, high, it.blocks
        else:
            why = "not comparable: still warming up"
            found[one][other] = why, None, None, None, len(night.blocks)
    return dict(found)
