"""The generator tax: the cost of measuring, compared with the cost of serving."""

from collections.abc import Iterator
from functools import partial

from arena.site.charts.tax import MOST_SERVERS, taxed_loads
from arena.site.edition import Edition, Site
from arena.site.outputs import Output, Page
from arena.site.template import frame, render


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield the page: the same servers under several generators."""
    page = f"{edition.root}tax/index.html"
    key = frame(edition) + edition.digest
    yield Page(page, key, partial(_make, site, edition, page))


def _make(site: Site, edition: Edition, page: str) -> str:
    loads = taxed_loads(edition.boards)
    return render(site, "tax.html.j2", page, edition, loads=loads, most_servers=MOST_SERVERS)
