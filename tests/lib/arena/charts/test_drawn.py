"""Drawings that the last page keeps are not drawn again."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lib.arena.charts.loads import POINTS, a_point, blast

from arena.charts import Drawn, Picture, draw, drawn, pictures_of
from arena.leaderboard import rank

LIB = Path(draw.__file__).parents[2]
HOSTILE = '"><script>alert(\'1\')</script><svg data-drawing="0123456789abcdef" viewBox="x">no</svg>'


def picture(name: str = "a", rate: float = 100.0) -> Picture:
    points = [*POINTS, a_point(1, 1000, rate)]
    (found,) = pictures_of(rank([blast("a", points, display_name=name)]).boards[0], ())
    return found


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Stand in for the drawing: it says how often it was asked."""
    asked: list[object] = []

    def count(drawing: object) -> str:
        asked.append(drawing)
        return f'viewBox="0 0 1 1"><path d="{len(asked)}"/></svg>'

    monkeypatch.setattr(draw, "draw", count)
    return asked


def test_the_same_numbers_are_drawn_once(drawings: list[object]) -> None:
    first = Drawn()
    page = f"<p>{first.svg(picture())}</p>\n{first.svg(picture())}"
    assert len(drawings) == 1
    again = Drawn(page)
    assert again.svg(picture()) == first.svg(picture())
    assert len(drawings) == 1


def test_other_numbers_are_drawn_anew(drawings: list[object]) -> None:
    page = Drawn().svg(picture())
    assert Drawn(page).svg(picture(rate=101.0)) != page
    assert len(drawings) == 2


def test_another_name_needs_no_other_drawing(drawings: list[object]) -> None:
    page = Drawn().svg(picture())
    renamed = Drawn(page).svg(picture("b"))
    assert len(drawings) == 1
    assert renamed == str(page).replace('aria-label="a:', 'aria-label="b:')


@pytest.mark.parametrize(
    ("what", "other"), [("_LIBRARIES", ("altair", "pydantic")), ("_SOURCES", (drawn.__file__,))]
)
def test_other_code_or_libraries_draw_anew(
    drawings: list[object], monkeypatch: pytest.MonkeyPatch, what: str, other: tuple[str, ...]
) -> None:
    page = Drawn().svg(picture())
    monkeypatch.setattr(drawn, what, other)
    monkeypatch.setattr(drawn, "_code", drawn._code.__wrapped__)
    Drawn(page).svg(picture())
    assert len(drawings) == 2


def test_all_that_a_drawing_is_made_by_counts_as_its_code() -> None:
    names = {Path(each).name for each in drawn._SOURCES}
    assert {"draw.py", "draw_blast.py", "draw_seconds.py", "marks.py", "scales.py"} <= names
    assert {"figures.py", "units.py"} <= names


def test_a_hostile_name_is_only_a_label_and_puts_nothing_into_later_pages(
    drawings: list[object],
) -> None:
    page = Drawn().svg(picture(HOSTILE))
    assert "<script" not in page
    assert page.count("<svg") == page.count("</svg>") == 1
    assert re.search(r'aria-label="&#34;&gt;&lt;script&gt;', page)
    assert list(Drawn(page)._kept) == re.findall(r' data-drawing="(\w{16})" v', page)


def test_a_page_of_something_else_keeps_nothing(drawings: list[object]) -> None:
    broken = (
        '<svg data-drawing="12"><p>\x00 <svg role="img" data-drawing="0123456789abcdef" viewBox="'
    )
    Drawn(broken).svg(picture())
    assert len(drawings) == 1


CODE = """
import sys
from arena.charts import Drawn, pictures_of
from arena.leaderboard import Leaderboard
from arena.site import render
print(sorted({"altair", "vl_convert", "jsonschema"} & set(sys.modules)))
"""


def test_the_drawing_libraries_are_loaded_when_there_is_something_to_draw() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], env={"PYTHONPATH": str(LIB)},
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "[]\n"
