"""The picture of searches for a capacity: p99 against the rate, several frameworks in one."""

from arena.judge.leaderboard import rank
from arena.record.measurement import Search, SearchWindow
from arena.record.record import Record
from arena.site.charts import capacity
from tests.fakes import a_record, a_run

PROFILE = {
    "name": "unary-capacity", "kind": "capacity", "metric": "calls/s within the limit",
    "messages_per_call": 1, "generator": "volley", "runs": 1,
}  # fmt: skip


def window(rate: int, p99_ns: float | None, *, late: bool = False) -> SearchWindow:
    kept = p99_ns is not None and p99_ns <= 10e6
    return SearchWindow(
        rate=rate, calls=rate, over=0 if kept else rate, failed=0, p99_ns=p99_ns, late=late,
        kept=kept,
    )  # fmt: skip


def searched(name: str, *windows: SearchWindow) -> Record:
    run = a_run(500.0).changed(search=Search(answer="found", windows=windows))
    return a_record(name, runs=[run], profile=PROFILE)


GO = searched("go", window(100, 1e6), window(200, 3e6), window(200, 5e6), window(400, 20e6))
SLOW = searched("slow", window(100, 30e6, late=True), window(200, None))


def test_a_board_has_one_picture_with_a_curve_for_each_framework() -> None:
    [board] = rank([GO, SLOW]).boards
    [picture] = capacity.of_board(board, [board])
    assert picture.words == (
        "go: the limit was kept up to 200 calls/s, broken from 400 on.",
        "slow: the limit was never kept, broken from 100 on, some windows sent late.",
    )
    assert [row[:2] for row in picture.table.rows] == [
        ("go", "100"), ("go", "200"), ("go", "200"), ("go", "400"),
        ("slow", "100"), ("slow", "200"),
    ]  # fmt: skip
    assert picture.table.rows[-1][-2:] == ("–", "no")
    for part in ('class="line"', ">go<", ">slow<", 'class="cross"'):
        assert part in picture.svg


def test_a_record_has_the_picture_of_its_run_and_none_without_a_search() -> None:
    picture = capacity.of_run("p99", GO, GO.runs[0])
    assert picture
    assert picture.title == "p99"
    assert capacity.of_run("p99", a_record(), a_record().runs[0]) is None
