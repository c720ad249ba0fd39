"""Print what a board of 200 frameworks costs a browser: `./scripts/site.sh bench`.

It asserts nothing: a machine that is busy with something else shows here, and fails no test.
"""

import shutil
import statistics
import tempfile
from collections import Counter
from pathlib import Path

import click
from playwright.sync_api import Browser, CDPSession, Page

from tests.browser import sites
from tests.browser.plumbing import PAINTED, loaded_sizes, required_chromium, served, started_browser

ROWS = 200
LOADS = 7
TURNS = 20
BOARD = sites.KINDS["board"]
BAR_KB, BAR_LOAD_MS, BAR_TURN_MS = 60, 300, 50
# What the browser counts as work from the navigation on.
WORK = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
# One turn, and the layout that follows it.
TIMED = """() => {
  const began = performance.now();
  %s;
  document.body.offsetHeight;
  return performance.now() - began;
}"""


def main() -> None:
    """Build the board, open it, use it, and print the figures beside their bars."""
    program = required_chromium()
    folder = Path(tempfile.mkdtemp(prefix="httparena-site-"))
    try:
        public = sites.a_site(folder, sites.many(ROWS))
        with served(public) as url, started_browser(program) as browser:
            click.echo(f"a board of {ROWS} frameworks, Chromium {browser.version}")
            _sizes(browser, url)
            _loads(browser, url)
            _turns(browser, url)
    finally:
        shutil.rmtree(folder)


def _sizes(browser: Browser, url: str) -> None:
    page = browser.new_page()
    sizes: Counter[str] = Counter()
    for address, size in loaded_sizes(page, url + BOARD).items():
        sizes[Path(address).suffix[1:]] += size
    page.close()
    parts = ", ".join(f"{kind} {size / 1000:.1f}" for kind, size in sorted(sizes.items()))
    total = sizes.total() / 1000
    click.echo(f"{'gzip':<36} {total:6.1f} kB  ({parts})  bar {BAR_KB} kB")


def _loads(browser: Browser, url: str) -> None:
    """Print what it takes until the table can be used, each time in a fresh profile."""
    taken: dict[str, list[float]] = {name: [] for name in WORK}
    for _ in range(LOADS):
        page, session = _opened(browser, url)
        spent = _metrics(session)
        for name in WORK:
            taken[name].append(spent[name])
        page.context.close()
    _say(
        "scripts + style + layout, to usable",
        list(map(sum, zip(*taken.values(), strict=True))),
        BAR_LOAD_MS,
    )
    for name in WORK:
        _say(f"  of it: {name}", taken[name])


def _turns(browser: Browser, url: str) -> None:
    """Print what sorting and filtering take, up to the layout that can be painted.

    Rows that are below the screen follow in the next frame.
    """
    page, session = _opened(browser, url)
    headers, texts = ["value", "p99", "framework", "cpu"], ["framework-1", "go", "7"]
    turns = [("sort", _press(headers[turn // 2 % len(headers)])) for turn in range(TURNS)]
    for turn in range(TURNS):
        turns.append(("filter by text", _type(texts[turn % len(texts)])))
        turns.append(("show all again", _type("")))
    taken: dict[str, list[tuple[float, float, float]]] = {}
    for what, action in turns:
        before = _work(session)
        wall = page.evaluate(TIMED % action)
        between = _work(session)
        page.evaluate(PAINTED)
        page.evaluate("document.body.offsetHeight")
        spent = (between - before, wall, _work(session) - between)
        taken.setdefault(what, []).append(spent)
    for what, found in taken.items():
        first, walls, rest = map(list, zip(*found, strict=True))
        _say(what, first, BAR_TURN_MS)
        _say("  by the clock", walls)
        _say("  in the frame after it", rest)
    page.context.close()


def _opened(browser: Browser, url: str) -> tuple[Page, CDPSession]:
    """Open the board in a fresh profile, and wait until it can be used and has been painted."""
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    # CPU time: the clock runs on while somebody else has the CPU.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(url + BOARD)
    page.get_by_label("Find").wait_for()
    page.evaluate(PAINTED)
    return page, session


def _press(key: str) -> str:
    return f"document.querySelector('#board th[data-key={key}] button').click()"


def _type(text: str) -> str:
    return (
        "const field = document.querySelector('#controls input[type=search]');"
        f"field.value = '{text}'; field.dispatchEvent(new Event('input'))"
    )


def _metrics(session: CDPSession) -> dict[str, float]:
    """Return what the browser has counted so far, times in milliseconds."""
    found = session.send("Performance.getMetrics")["metrics"]
    return {each["name"]: each["value"] * 1e3 for each in found}


def _work(session: CDPSession) -> float:
    spent = _metrics(session)
    return sum(spent[name] for name in WORK)


def _say(what: str, taken_ms: list[float], bar_ms: int | None = None) -> None:
    bar = f"  bar {bar_ms} ms" if bar_ms else ""
    middle, worst = statistics.median(taken_ms), max(taken_ms)
    click.echo(f"{what:<36} {middle:6.1f} ms  worst {worst:.1f} ms{bar}")


if __name__ == "__main__":
    main()
