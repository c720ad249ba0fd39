"""Compare: a page whose script shows frameworks side by side, and the figures for the script."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from arena.judge.flags import UNRANKED
from arena.publish.site.board_columns import headline_words, interval_words
from arena.publish.site.edition import Edition, Site
from arena.publish.site.outputs import Output, Page
from arena.publish.site.schemas import ComparedFramework, ComparedProfile, Comparison, Figure
from arena.publish.site.template import frame, render


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
    frameworks: dict[str, ComparedFramework] = {}
    figures: dict[str, dict[str, Figure]] = defaultdict(dict)
    when: dict[str, str] = {}
    for board in edition.current_boards:
        host = "" if board.is_home else f"/{board.host_class.id}"
        name = f"{board.profile}/{board.connections}/{board.generator}{host}"
        place = places.setdefault(name, len(profiles))
        if place == len(profiles):
            profiles.append(
                ComparedProfile(
                    id=name,
                    title=board.title,
                    host_class=board.host_class.id,
                    metric=board.metric,
                    lower_is_better=board.metric.lower_is_better,
                    href=edition.below(edition.board(board)),
                )
            )
        for row in board.rows:
            result = row.result
            if result is None:
                continue
            figures[row.framework][str(place)] = (
                result.value, result.low, result.high, ",".join(result.flags),
                edition.below(edition.record(result.record)),
                headline_words(board, result), interval_words(board, result),
                UNRANKED.isdisjoint(result.flags),
            )  # fmt: skip
            if when.get(row.framework, "") < result.started_at:
                when[row.framework] = result.started_at
                frameworks[row.framework] = ComparedFramework(
                    name=row.framework,
                    display_name=row.display_name,
                    language=row.language,
                    type=row.type,
                    href=edition.below(edition.framework(row.framework)),
                    figures={},
                )
    found = [
        frameworks[name].model_copy(update={"figures": figures[name]}) for name in sorted(figures)
    ]
    # A large file for scripts: no spaces.
    return Comparison(profiles=tuple(profiles), frameworks=tuple(found)).model_dump_json() + "\n"
