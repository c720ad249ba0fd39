"""Compare: the page whose script sets frameworks side by side, of compare.json."""

from collections.abc import Iterator
from functools import partial

from arena.publish.site.edition import Edition
from arena.publish.site.output import Output, Page
from arena.publish.site.site import Site
from arena.publish.site.template import frame, render


def outputs(site: Site, edition: Edition) -> Iterator[Output]:
    """Yield the page. It has no figures in it; without its script it leads to the boards."""
    page = f"{edition.root}compare/index.html"
    make = partial(render, site.templates, "compare.html.j2", page, edition)
    yield Page(page, frame(edition), make)
