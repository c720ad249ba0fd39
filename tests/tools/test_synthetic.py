"""Synthetic records are records: all of them can be read and ranked, and they come out the same."""

from pathlib import Path

from arena.judge.archive import open_archive
from arena.judge.leaderboard import rank_entries
from tools import synthetic


def contents(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*.json")}


def test_every_kind_of_load_is_written_as_good_and_as_failed_records(tmp_path: Path) -> None:
    count = synthetic.write(tmp_path, 8, len(synthetic.LOADS), 8, seed=1, raw=8)
    archive = open_archive(tmp_path)
    assert archive.broken == {}
    assert len(archive.entries) == count == 8 * len(synthetic.LOADS) * 8
    assert {each.status for each in archive.entries.values()} == {"ok", "failed", "invalid"}
    boards = rank_entries(archive.entries.values(), archive.read).boards
    assert {each.kind for each in boards} == {"closed", "scheduled", "blast"}
    assert all(any(row.rank for row in each.rows) for each in boards if each.kind == "closed")
    assert not any(each.problem for each in archive.entries.values())
    assert {each.generator for each in boards} == {"ghz", "h2load", "volley"}


def test_the_same_seed_writes_the_same_bytes_and_another_one_does_not(tmp_path: Path) -> None:
    for name, seed in {"a": 1, "b": 1, "c": 2}.items():
        synthetic.write(tmp_path / name, 2, 3, 2, seed=seed, raw=1)
    a, b, c = (contents(tmp_path / name) for name in "abc")
    assert a == b
    assert a != c


def test_nights_of_blocks_have_whole_blocks_twins_voids_and_two_hosts(tmp_path: Path) -> None:
    count = synthetic.write_blocks(tmp_path, 8, blocks=6, nights=2, seed=1)
    archive = open_archive(tmp_path)
    assert archive.broken == {}
    assert len(archive.entries) == count
    assert not any("unproven" in each.flags or each.problem for each in archive.entries.values())
    records = [archive.read(path) for path in archive.entries]
    visits = [record.visit for record in records if record.visit]
    assert len(visits) == count
    assert len({each.night for each in visits}) == 3
    assert len({record.provenance.host.cpu for record in records}) == 2
    void = {path for path, each in archive.entries.items() if each.turn and each.turn.is_void}
    assert void
    assert any(each.repeat for each in visits)
    for name in ("unary-grpc", "stream-grpc"):
        own = [each for each in records if each.visit and each.profile.name == name]
        nights = {each.visit.night for each in own if each.visit and each.visit.is_twin}
        assert len(nights) == 3
        for record in own:
            visit = record.visit
            assert visit
            assert len(record.runs) == (3 if visit.block == 1 else 1)
            if record.path not in void:
                same = [
                    each
                    for each in own
                    if each.visit
                    and each.path not in void
                    and (each.visit.night, each.visit.block) == (visit.night, visit.block)
                ]
                assert len(same) == visit.size
