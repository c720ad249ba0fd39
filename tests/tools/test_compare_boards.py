"""Comparing sites: each figure that differs is listed, wherever its board lies."""

from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.record.record import Record
from arena.site.build import outputs
from arena.site.outputs import Page
from tests.fakes import a_record
from tests.lib.arena.site.editions import a_round, an_edition, site_of
from tools.compare_boards import boards_of, changes, lines_of


def built(folder: Path, *records: Record) -> Path:
    """Write the site of one round's records."""
    site = site_of(an_edition(), an_edition(*records, of=a_round()))
    for each in outputs(site):
        if isinstance(each, Page) and not each.path.startswith("records/"):
            path = folder / each.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(each.make())
    return folder


RECORDS = (a_record("a", 1e6, 1.2e6, 1.1e6), a_record("b", 2e6, 2.2e6, 2.1e6))


def test_a_figure_that_differs_is_listed_from_every_source(tmp_path: Path) -> None:
    before = built(tmp_path / "1", *RECORDS)
    after = built(tmp_path / "2", a_record("a", 3e6, 3.2e6, 3.1e6), RECORDS[1])
    found = {(it.framework, it.column): (it.before, it.after) for it in changes(before, after)}
    assert found["a", "csv value_messages_per_s"] == ("1200000.0", "3200000.0")
    assert found["a", "json result.value"] == ("1200000.0", "3200000.0")
    assert found["a", "json rank"] == ("2", "1")
    assert found["a", "page place"] == ("2", "1")
    assert found["b", "page Rank"] == ("1", "2")
    one, other = found["(board)", "first page"]
    assert (one[:1], other[:1]) == ("b", "a")
    assert ("b", "csv value_messages_per_s") not in found


def test_a_board_that_only_moves_has_no_change(tmp_path: Path) -> None:
    before, after = (built(tmp_path / each, *RECORDS) for each in "12")
    (board,) = after.glob("rounds/*/boards/*/*/ghz")
    moved = board.rename(board.with_name("elsewhere"))
    assert list(moved.glob("board.json"))
    for home in (after / "index.html", after / "rounds" / "first" / "index.html"):
        home.write_text(home.read_text().replace("/ghz/", "/elsewhere/"))
    assert changes(before, after) == []


def test_changes_are_counted_by_column(tmp_path: Path) -> None:
    before, after = built(tmp_path / "1", RECORDS[0]), built(tmp_path / "2", *RECORDS)
    lines = list(lines_of(changes(before, after), most=1))
    (at,) = (at for at, line in enumerate(lines) if line.startswith("csv cv: "))
    assert lines[at] == "csv cv: 1 differ on 1 boards, 1 new"
    assert lines[at + 1].split()[1:4] == ["b", "–", "→"]


def test_a_folder_without_a_board_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no board below it"):
        boards_of(tmp_path)
