"""The generator tax: what it costs to measure, beside what is measured."""

from collections.abc import Iterator, Sequence
from functools import partial

from arena.publish.charts.tax import MOST_SERVERS, Load, loads
from arena.publish.site.edition import Edition
from arena.publish.site.output import Output, Page
from arena.publish.site.site import Site
from arena.publish.site.template import frame, render


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield the page: the same servers under several generators."""
    found = loads(edition.boards)
    page = f"{edition.root}tax/index.html"
    yield Page(page, repr((frame(edition), found)), partial(_make, site, edition, page, found))


def _make(site: Site, edition: Edition, page: str, found: Sequence[Load]) -> str:
    return render(
        site.templates, "tax.html.j2", page, edition, loads=found, most_servers=MOST_SERVERS
    )
