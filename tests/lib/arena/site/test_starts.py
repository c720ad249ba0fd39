"""Pages of starts that are measured: who answers first, when it is steady, and who is slow."""

import csv
import re

import pytest

from arena.site.pages import boards, frameworks, records
from tests.lib.arena.judge.starts import a_cold_run, cold_night
from tests.lib.arena.site.editions import HOST, a_site, an_edition, page, pages_of, site_of, text_of

PATH = f"boards/cold-start/64/volley/{HOST}/index.html"


def board(starts: dict[str, float], count: int = 8) -> str:
    return pages_of(site_of(an_edition(*cold_night(starts, count))), boards)[PATH]


def heads(html: str) -> list[str]:
    return [text_of(each) for each in re.findall(r"<th scope=\"col\".*?</th>", html, re.DOTALL)]


def test_a_board_of_starts_shows_when_they_are_steady_and_what_that_cost() -> None:
    text = board({"java": 1.2, "go": 0.02})
    shown = heads(text)
    assert {
        "time to first reply estimate", "Listens after ms", "Steady after s of load",
        "CPU until steady s", "Peak memory until steady MiB",
    } <= set(shown)  # fmt: skip
    assert not any("Best of three" in each for each in shown)
    assert "it was started once before" in text.lower()
    assert "page cache" in text
    assert "Best of three" not in text
    (row,) = re.findall('<tr data-fw="go".*?</tr>', text, re.DOTALL)
    cells = [text_of(each) for each in re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.DOTALL)]
    # The interval has its own cell beside the estimate.
    assert cells[shown.index("Steady after s of load")] == "3"
    assert cells[shown.index("CPU until steady s")] == "2.30"


def test_seven_starts_are_too_few_for_a_second() -> None:
    shown = heads(board({"java": 1.2, "go": 0.02}, count=7))
    assert "Listens after ms" in shown
    assert not any("teady" in each for each in shown)


def test_the_csv_of_starts_has_the_same() -> None:
    site = site_of(an_edition(*cold_night({"java": 1.2, "go": 0.02})))
    text = page(site, PATH.replace("index.html", "board.csv"))
    first, _ = csv.DictReader(text.splitlines())
    assert first["framework"] == "go"
    assert float(first["estimate_first_reply_ns"]) == pytest.approx(2e7, rel=0.01)
    assert (first["steady_after_s"], first["steady_after_low_s"], first["steady_starts"]) == (
        "3", "3", "8",
    )  # fmt: skip


@pytest.mark.parametrize("count", [1, 8])
def test_a_slow_starter_is_said_in_a_line_on_its_page(count: int) -> None:
    starts = {"slow": 40.0, "quick": 0.02}
    found = pages_of(site_of(an_edition(*cold_night(starts, count))), frameworks)
    said = r"<b>slow takes 40(\.[0-9]+)? s to start</b>: so long after its start came its first"
    assert re.search(said, found["frameworks/slow/index.html"])
    assert "to start</b>" not in found["frameworks/quick/index.html"]
    assert "slow-start" in board(starts, count)


def test_the_page_of_a_record_says_when_the_server_listened_and_replied() -> None:
    (record, *_) = cold_night({"go": 0.5}, 1)
    run = a_cold_run(0.5)
    (text,) = (
        each
        for path, each in pages_of(a_site(record.changed(runs=(run,))), records).items()
        if path.endswith("index.html") and path.startswith("records")
    )
    assert "the server listened in 490 ms, and its first good reply came in 500 ms" in text
