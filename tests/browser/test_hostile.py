"""What hostile people wrote into meta.json, or made a server say, does nothing but stand there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from arena.base.model import to_json
from arena.record.measurement import Raw
from arena.site.build import build
from tests.browser import sites
from tests.browser.conftest import Open, Site, visits
from tests.fakes import FakeProgress, a_record, a_run, save
from tests.lib.arena.site.editions import HOST
from tests.lib.arena.site.loads import logged

# What turns the direction of text, or cannot be seen; a page needs none of it.
INVISIBLE = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\0\x1b"
# A page of each kind that shows something of a record.
PAGES = [
    "index.html",
    f"boards/stream-grpc/64/ghz/{HOST}/index.html",
    f"boards/titled/64/ghz/{HOST}/index.html",
    "compare/index.html#fw=hostile,hostile.name__a-b,wide,data,good",
    "frameworks/index.html",
    "frameworks/hostile/index.html",
    "frameworks/refused/index.html",
    "frameworks/wide/index.html",
    "records/stream-grpc/64/hostile/*/index.html",
    "records/stream-grpc/64/refused/*/index.html",
    "methodology/index.html",
    "rounds/index.html",
    "rounds/round-1/index.html",
]


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, browser: Browser, hostile: Site) -> Iterator[Page]:
    """Open a page; that it made no request, dialog or error is checked in the end."""
    pattern, mark, state = request.param.partition("#")
    with visits(browser) as start:
        yield start(hostile).open(hostile.page(pattern) + mark + state)


def test_it_is_only_text(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    assert page.title() != "owned"
    inert = page.evaluate(
        """() => {
          const all = [...document.querySelectorAll('*')];
          return {
            handlers: all.filter((each) => [...each.attributes].some(
              ({name}) => name.startsWith('on'))).map((each) => each.outerHTML),
            links: all.flatMap((each) => ['href', 'src', 'action', 'xlink:href'].map(
              (name) => each.getAttribute(name)?.trim().toLowerCase())).filter(
              (each) => /^(javascript|data|vbscript|file):/.test(each ?? '')),
            images: document.querySelectorAll('img[src=x]').length,
          };
        }"""
    )
    assert inert == {"handlers": [], "links": [], "images": 0}
    text = page.content()
    assert [each for each in INVISIBLE if each in text] == []


def test_what_is_long_does_not_spoil_the_page(page: Page) -> None:
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    lengths = page.evaluate(
        """() => [...document.querySelectorAll('[title]')].map((each) => each.title.length)"""
    )
    assert max(lengths, default=0) <= 1000


def test_the_policy_refuses_what_got_in_all_the_same(visit: Open, hostile: Site) -> None:
    opened = visit(hostile, "Content Security Policy", "example.org", "x:", "base-uri")
    page = opened.page
    bad = (
        "<script>window.owned = 'inline'</script>"
        "<img src='x:' onerror=\"window.owned = 'handler'\">"
        "<script src='https://example.org/x.js'></script>"
        "<base href='https://example.org/'><form id='f' action='https://example.org/'></form>"
    )

    def inject(route: Route) -> None:
        response = route.fetch()
        body = response.text().replace("</main>", f"{bad}</main>", 1)
        route.fulfill(response=response, body=body)

    page.route("**/index.html", inject)
    opened.open(f"boards/stream-grpc/64/ghz/{HOST}/index.html")
    # Scripts of the site itself run all the same.
    expect(page.get_by_label("Find")).to_be_visible()
    page.evaluate(
        """() => {
          window.refused = [];
          addEventListener('securitypolicyviolation', (event) => window.refused.push(
            event.effectiveDirective));
          const script = document.createElement('script');
          script.textContent = "window.owned = 'injected'";
          document.body.append(script);
          document.getElementById('f').submit();
        }"""
    )
    for directive in ("script-src-elem", "form-action"):
        page.wait_for_function(f"window.refused.includes('{directive}')")
    assert page.evaluate("window.owned") is None
    assert page.evaluate("document.baseURI").startswith(hostile.url)
    assert any("Content Security Policy" in each for each in opened.forgave)


def test_every_page_has_the_policy(everyday: Site, hostile: Site) -> None:
    for site in (everyday, hostile):
        pages = site.pages("**/*.html")
        assert pages
        for path in pages:
            text = (site.public / path).read_text()
            head = text[: text.index("</head>")]
            assert 'http-equiv="Content-Security-Policy"' in head, path
            policy = head[head.index("Content-Security-Policy") :]
            assert "default-src &#39;none&#39;" in policy or "default-src 'none'" in policy, path
            assert "unsafe" not in policy, path


def test_a_path_in_a_name_leads_nowhere(tmp_path: Path) -> None:
    """A record that was written by hand may name anything: its name, its outputs and its log."""
    workspace = sites.a_workspace(tmp_path / "checkout")
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    save(workspace.results, a_record("good"))
    run = a_run().model_copy(update={"raw": Raw(path="../../secret.txt", sha256="0" * 64)})
    absolute = a_run().model_copy(update={"raw": Raw(path=str(secret), sha256="0" * 64)})
    for record in (
        a_record("climber", runs=[run]),
        a_record("absolute", runs=[absolute]),
        logged(a_record("fallen", failure="it broke"), "../../secret.txt"),
    ):
        path = workspace.results / record.path
        path.parent.mkdir(parents=True)
        path.write_text(to_json(record))
    path.with_suffix("").mkdir()
    (path.with_suffix("") / "server.log").symlink_to(secret)
    for number, name in enumerate(("../../../escaped", "/escaped", "a/../../b", "..")):
        data = json.loads(to_json(a_record("good", minute=number + 1)))
        data["framework"]["name"] = name
        (path.parent.parent / f"odd-{number}").mkdir()
        (path.parent.parent / f"odd-{number}" / path.name).write_text(json.dumps(data))
    outside = {each for each in tmp_path.rglob("*") if "public" not in each.parts}
    build(workspace, FakeProgress())
    made = {each for each in tmp_path.rglob("*") if "public" not in each.parts} - outside
    assert [each for each in made if "escaped" in each.name] == []
    for each in workspace.public.rglob("*"):
        assert not each.is_symlink()
        assert not each.is_file() or b"the secret" not in each.read_bytes(), each
