"""What the terminal shows of a load after its last block."""

from pathlib import Path

import pytest

from arena.judge.archive import open_archive
from arena.judge.leaderboard import rank_entries
from arena.judge.twins import NO_LOOKS, Look, TwinBook
from arena.judge.verdicts import Verdict
from arena.night.schedule import PlannedLoad
from arena.night.table import verdicts_of
from arena.record.record import Record
from tests.fakes import save
from tests.lib.arena.judge.visits import blocks, night

TIED = {"a": 1e6, "a~twin": 1.001e6, "b": 2e6}
MISSED = {"a": 1e6, "a~twin": 1.2e6, "b": 2e6}


def verdicts(folder: Path, records: list[Record], book: TwinBook) -> list[Verdict]:
    """Return what the terminal says of the second night, which must be what the board says."""
    save(folder, *records)
    archive = open_archive(folder)
    first = next(iter(archive.entries.values())).load
    load = PlannedLoad(
        load="stream-grpc/64", exactly=first.text, blocks=8, frameworks=("a", "b"), twins=("a",),
        warm_ups_s={},
    )  # fmt: skip
    boards = rank_entries(archive.entries.values(), archive.read, book).boards
    found = verdicts_of(archive, book, night(1), load, first.host_class)
    assert [each.summary for each in found] == [each.night for each in boards]
    return found


@pytest.mark.parametrize(
    ("before", "book", "ranks"),
    [
        (TIED, NO_LOOKS, {"a": (2, 2), "b": (1, 1)}),
        (MISSED, NO_LOOKS, {}),
        (
            MISSED,
            TwinBook((Look(profile="stream-grpc", looked_at=night(1)),)),
            {"a": (2, 2), "b": (1, 1)},
        ),
    ],
)
def test_two_misses_in_a_row_suspend_the_ranks_here_too(
    tmp_path: Path, before: dict[str, float], book: TwinBook, ranks: dict[str, tuple[int, int]]
) -> None:
    (found,) = verdicts(tmp_path, [*blocks(before), *blocks(MISSED, hour=1)], book)
    assert found.rank_sets == ranks
    assert found.summary.why_not.startswith("Ranks are suspended" if not ranks else "")
    assert found.estimates.keys() == {"a", "b"}


def test_frameworks_and_engines_have_ranks_of_their_own(tmp_path: Path) -> None:
    engines = blocks({"x": 3e6, "y": 4e6}, hour=1, type="engine", size=5)
    found = verdicts(tmp_path, [*engines, *blocks(TIED, hour=1, size=5)], NO_LOOKS)
    assert [dict(each.rank_sets) for each in found] == [
        {"a": (2, 2), "b": (1, 1)},
        {"x": (2, 2), "y": (1, 1)},
    ]
