"""Twins over all nights: how many were tied, and what two misses in a row do."""

from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.judge.entry import entry_of
from arena.judge.leaderboard import Board, rank_entries
from arena.judge.twins import FILE, Look, TwinBook, TwinHistory, load_name, read_book, write_look
from arena.record.record import Record
from tests.fakes import a_record
from tests.lib.arena.judge.visits import blocks, night

TIED = {"a": 1e6, "a~twin": 1.001e6, "b": 2e6}
MISSED = {"a": 1e6, "a~twin": 1.2e6, "b": 2e6}


def nights(*rates: dict[str, float], count: int = 8) -> list[Record]:
    return [each for hour, it in enumerate(rates) for each in blocks(it, count, hour=hour)]


def board_of(records: list[Record], book: TwinBook = TwinBook()) -> Board:  # noqa: B008
    by_path = {each.path: each for each in records}
    (board,) = rank_entries(map(entry_of, records), by_path.__getitem__, book).boards
    return board


def history_of(records: list[Record], book: TwinBook = TwinBook()) -> TwinHistory:  # noqa: B008
    found = board_of(records, book).twin_history
    assert found
    return found


def look(hour: int, **about: object) -> TwinBook:
    return TwinBook(
        (Look.model_validate({"profile": "stream-grpc", "looked_at": night(hour)} | about),)
    )


def test_a_night_says_whether_its_twin_was_tied() -> None:
    for rates, is_tied, ratio in ((TIED, True, 1.001), (MISSED, False, 1.2)):
        found = board_of(nights(rates)).night
        assert found
        (twin,) = found.twins
        assert (twin.framework, twin.is_tied) == ("a", is_tied)
        assert twin.low < ratio < twin.high
        assert twin.ratio == pytest.approx(ratio, rel=0.01)


def test_a_twin_takes_no_rank_and_is_no_row() -> None:
    board = board_of(nights(MISSED))
    assert [(row.framework, row.rank_set) for row in board.rows] == [("b", (1, 1)), ("a", (2, 2))]
    assert board.night
    assert board.night.frameworks == 2


def test_the_history_counts_the_twins_of_all_nights() -> None:
    found = history_of(nights(TIED, MISSED, TIED))
    assert (found.tied, found.of, found.is_suspended) == (2, 3, False)
    assert found.low < 2 / 3 < found.high


def test_a_night_with_too_few_blocks_tells_nothing_of_twins() -> None:
    assert board_of(nights(MISSED, MISSED, count=5)).twin_history is None


def test_two_misses_in_a_row_suspend_the_ranks_of_the_load() -> None:
    board = board_of(nights(TIED, MISSED, MISSED))
    assert board.night
    assert not board.night.is_ranked
    assert board.night.why_not.startswith("Ranks are suspended")
    assert {row.rank_set for row in board.rows} == {None}
    assert [row.rank for row in board.rows] == [1, 2]


def test_they_stay_suspended_after_a_good_night_and_return_when_somebody_has_looked() -> None:
    records = nights(MISSED, MISSED, TIED)
    assert history_of(records).is_suspended
    assert not history_of(records, look(1)).is_suspended
    board = board_of(records, look(1))
    assert board.night
    assert board.night.is_ranked


def test_a_look_covers_only_the_nights_before_it_and_only_its_load() -> None:
    records = nights(MISSED, MISSED)
    assert history_of(nights(MISSED, MISSED, MISSED), look(0)).is_suspended
    assert not history_of(records, look(1, connections=64, generator="ghz")).is_suspended
    for other in ({"profile": "unary-grpc"}, {"connections": 1}, {"generator": "volley"}):
        assert history_of(records, look(1, **other)).is_suspended


def test_misses_with_a_good_night_between_them_suspend_nothing() -> None:
    assert not history_of(nights(MISSED, TIED, MISSED)).is_suspended


def test_a_round_has_the_history_that_it_was_frozen_with() -> None:
    records = nights(TIED)
    board = board_of(records)
    known = TwinHistory(tied=1, of=9, low=0.1, high=0.4, is_suspended=True)
    frozen = board_of(records, TwinBook(known={load_name(board.key): known}))
    assert frozen.twin_history == known
    assert frozen.night
    assert not frozen.night.is_ranked
    assert board_of(records, TwinBook(known={})).twin_history is None


def test_a_load_without_a_night_has_no_history() -> None:
    assert board_of([a_record("a")]).twin_history is None


def test_a_look_is_written_in_place_of_an_older_one(tmp_path: Path) -> None:
    assert read_book(tmp_path) == TwinBook()
    for hour, count in ((1, 64), (2, 64), (3, 256)):
        write_look(tmp_path, look(hour, connections=count).looks[0])
    assert [(each.connections, each.looked_at) for each in read_book(tmp_path).looks] == [
        (64, night(2)),
        (256, night(3)),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1: "),
        ('{"looked": []}', "looked: unknown key (did you mean looks?)"),
        ('{"looks": [{"profile": "a", "looked_at": "today"}]}', "looks.0.looked_at: "),
    ],
)
def test_a_broken_file_is_named_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UsageError, match=FILE) as caught:
        read_book(tmp_path)
    assert said in str(caught.value)
