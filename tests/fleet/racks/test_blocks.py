"""A night of blocks on racks: every block is whole or told, and none is made twice in silence."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.base.errors import FrameworkError, HostError
from arena.judge.archive import open_archive
from arena.judge.nights import nights_of
from arena.judge.store import clear_drafts
from arena.machine import ports
from arena.night.diary import Diary
from arena_fleet import rack as archive
from arena_fleet.rack import Asked, Came, DamagedError, SessionEnd, Unpacked
from tests.fleet.racks.conftest import Night, gone
from tests.lib.arena.night.shop import QUICK, SLOW


def test_racks_share_the_blocks_of_one_night_and_each_block_is_whole_on_one_of_them(
    night: Night,
) -> None:
    assert night(blocks=4) == 0
    a, b = (each.blocks() for each in night.racks)
    assert sorted(a + b) == [1, 2, 3, 4]
    assert len(a) == len(b) == 2
    found = night.visits()
    assert len({visit.night for _, visit in found}) == len({visit.seed for _, visit in found}) == 1
    for number in range(1, 5):
        own = [(record, visit) for record, visit in found if visit.block == number]
        assert sorted(record.framework.name for record, _ in own) == ["alpha", "beta"]
        assert {visit.attempt for _, visit in own} == {1}
        assert {len(record.runs) for record, _ in own} == {3 if number == 1 else 1}
    assert {bool(record.contract) for record, visit in found if visit.block in (1, 4)} == {True}
    assert {record.provenance.cpus.policy for record, _ in found} == {"fleet"}
    entries = [*open_archive(night.shop.workspace.results).entries.values()]
    assert [len(each.blocks) for each in nights_of(entries)] == [4]
    assert night.shop.published == 1
    out, err = night.shop.capsys.readouterr()
    assert "4 of 4 blocks" in out
    assert "rack a: block 1 of 4 of stream-grpc" in err


def test_a_block_in_the_hand_of_a_rack_that_is_lost_is_told_and_never_made_again(
    night: Night,
) -> None:
    def die(number: int, _: object) -> SessionEnd | None:
        return gone("KilledWorker") if number == 1 else None

    night.racks[1].fate = die
    assert night(blocks=5) == 3
    [lost] = night.events("lost")
    assert lost["why"] == "rack b: KilledWorker"
    whole = {visit.block for _, visit in night.visits()}
    assert whole | {lost["block"]} == {1, 2, 3, 4, 5}
    assert lost["block"] not in whole
    [a, b] = (each.blocks() for each in night.racks)
    assert sorted(a + b) == [1, 2, 3, 4, 5]
    out, err = night.shop.capsys.readouterr()
    assert f"block {lost['block']} is lost: rack b: KilledWorker" in out
    assert f"error: rack b measures no more tonight: KilledWorker; block {lost['block']}" in err
    assert night(blocks=5, resume=True) == 0
    assert "no night of such blocks was cut short" in night.shop.capsys.readouterr().err


def test_results_that_are_damaged_are_a_block_that_is_lost(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise DamagedError("run-1.json: was damaged on its way")

    monkeypatch.setattr("arena_fleet.rack.Unpacked.records", broken)
    assert night(blocks=2) == 3
    assert night.visits() == []
    assert len(night.events("lost")) == 2


def test_a_block_that_this_host_cannot_save_is_repeated_by_resume(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise HostError("results: cannot be written (No space left on device)")

    with monkeypatch.context() as patch:
        patch.setattr(archive, "adopt", full)
        assert night(blocks=3) == 3
    out, err = night.shop.capsys.readouterr()
    assert "cannot be written (No space left on device): the night ends here (--resume" in err
    assert "measures no more tonight" not in err
    assert "stream-grpc/64: no whole block" in out
    assert night.events("lost") == []
    assert night(blocks=3, resume=True) == 0
    assert {visit.block for _, visit in night.visits()} == {1, 2, 3}


def test_a_diary_that_cannot_be_written_ends_the_night_with_its_table(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, own = Diary.append, night.shop.workspace.nights

    def full(diary: Diary, event: dict[str, object]) -> None:
        if diary.path.parent == own and event["event"] == "done":
            raise HostError("diary: cannot be written (No space left on device)")
        real(diary, event)

    with monkeypatch.context() as patch:
        patch.setattr(Diary, "append", full)
        assert night(blocks=3) == 3
    out, err = night.shop.capsys.readouterr()
    assert "(No space left on device): the night ends here (--resume" in err
    assert "stream-grpc/64, 1 of 3 blocks" in out
    assert night(blocks=3, resume=True) == 0


def test_a_benchmark_in_the_same_checkout_removes_nothing_that_is_unpacked(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Unpacked.records

    def records(unpacked: Unpacked) -> Iterator[Came]:
        clear_drafts(night.shop.workspace.results)
        yield from real(unpacked)

    monkeypatch.setattr(Unpacked, "records", records)
    assert night(blocks=2) == 0
    assert {visit.block for _, visit in night.visits()} == {1, 2}


def test_a_night_that_goes_on_is_not_resumed_by_another(night: Night) -> None:
    seen: list[Asked] = []

    def second(_: int, asked: Asked) -> None:
        if not seen:
            seen.append(asked)
            with pytest.raises(HostError, match="a benchmark is running on racks already"):
                night(blocks=2, resume=True)

    night.racks[0].fate = second
    assert night(blocks=2) == 0
    assert {visit.attempt for _, visit in night.visits()} == {1}


def test_an_ill_rack_takes_no_load_from_the_others(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "extends: stream-grpc\nname: alone\nduration: 1s\nwarmup: 1s\n"
    (night.shop.workspace.profiles / "alone.yaml").write_text(text)
    night.shop.add("gamma", "alone")
    at_work = []
    for rack in night.racks:
        rack.fate = lambda _, __, name=rack.name: at_work.append(name)  # type: ignore[misc]

    def taken(_: int) -> None:
        if at_work[-1] == "a":
            raise HostError("port 8080 is taken")

    monkeypatch.setattr(ports, "require_free_port", taken)
    assert night(blocks=3, profiles=(QUICK, "alone")) == 3
    assert len(night.racks[0].begun) == 3
    assert night.events("dropped") == []
    assert night.events("lost") == []
    made = {(record.profile.name, visit.block) for record, visit in night.visits()}
    assert made == {(name, n) for name in (QUICK, "alone") for n in (1, 2, 3)}
    err = night.shop.capsys.readouterr().err
    assert "error: rack a measures no more tonight: it failed three times in a row" in err


def test_a_generator_that_breaks_costs_its_block_and_no_framework(night: Night) -> None:
    night.shop.on_session(lambda session: "generator 1 of 1 ended" if session == 1 else None)
    assert night(blocks=4) == 3
    assert night.events("dropped") == []
    [lost] = night.events("lost")
    assert "generator 1 of 1 ended" in lost["why"]
    whole = [visit.block for record, visit in night.visits() if record.status == "ok"]
    assert sorted(whole) == sorted([*({1, 2, 3, 4} - {lost["block"]})] * 2)
    assert len(night.visits()) == len(whole)
    assert "measures no more" not in night.shop.capsys.readouterr().err


def test_a_session_that_did_not_begin_leaves_its_block_to_others(night: Night) -> None:
    night.racks[0].fate = lambda number, _: (
        None if number else SessionEnd(3, "it is not there", b"")
    )
    assert night(blocks=3) == 0
    assert {visit.block for _, visit in night.visits()} == {1, 2, 3}
    assert night.events("lost") == []
    assert "rack a: it is not there: block " in night.shop.capsys.readouterr().err


def test_a_rack_that_begins_nothing_three_times_ends_and_others_make_its_blocks(
    night: Night,
) -> None:
    night.racks[0].fate = lambda *_: HostError("a benchmark is running on this host already")
    assert night(blocks=3) == 3
    assert len(night.racks[0].begun) == 3
    assert {visit.block for _, visit in night.visits()} == {1, 2, 3}
    assert night.events("lost") == []
    err = night.shop.capsys.readouterr().err
    assert "error: rack a measures no more tonight: it failed three times in a row" in err


def test_without_racks_the_night_ends_and_is_resumed_where_it_was(night: Night) -> None:
    night.racks[0].fate = lambda number, _: gone("gone") if number else None
    night.racks[1].fate = lambda *_: gone("gone")
    assert night(blocks=4) == 3
    assert "no rack is left: the night ends here (--resume" in night.shop.capsys.readouterr().err
    before = {visit.block for _, visit in night.visits()}
    lost = {each["block"] for each in night.events("lost")}
    assert len(before) == 1
    assert len(lost) == 2
    night.racks.append(type(night.racks[0])("c", night.shop))
    night.racks[:2] = []
    assert night(blocks=4, resume=True) == 0
    assert {visit.block for _, visit in night.visits()} == {1, 2, 3, 4} - lost
    assert len({visit.night for _, visit in night.visits()}) == 1


def test_a_framework_that_failed_on_one_rack_is_visited_by_none_afterwards(night: Night) -> None:
    broken: list[Path] = []

    def build(log: Path) -> None:
        if not broken:
            broken.append(log)
            raise FrameworkError("build", "it does not compile")

    night.shop.runtime.on_build = build
    assert night(blocks=4) == 1
    [dropped] = night.events("dropped")
    visited = [
        visit.block for record, visit in night.visits()
        if record.framework.name == dropped["framework"]
    ]  # fmt: skip
    assert max(visited) <= 2


def test_an_interrupt_ends_the_sessions_of_all_racks_and_resume_repeats_their_blocks(
    night: Night,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for rack in night.racks:
        rack.fate = interrupt
    with pytest.raises(KeyboardInterrupt):
        night(blocks=2)
    assert [each.stopped for each in night.racks] == [1, 1]
    for rack in night.racks:
        rack.fate = lambda *_: None
    assert night(blocks=2, resume=True) == 0
    assert {visit.attempt for _, visit in night.visits()} == {2}


def test_a_budget_counts_for_all_racks(night: Night) -> None:
    # A visit takes 20 s or so, and the builds a minute in all.
    assert night(blocks=8, budget=320.0) == 0
    [path] = night.shop.workspace.nights.glob("*.jsonl")
    planned = Diary.read(path).planned
    assert planned
    assert [load.blocks for load in planned.loads] == [8]


def test_loads_without_blocks_follow_on_the_racks(night: Night) -> None:
    paced = "extends: load-const\nname: paced\nconnections: [8]\n"
    (night.shop.workspace.profiles / "paced.yaml").write_text(paced)
    night.shop.add("alpha", QUICK, "paced")
    assert night(blocks=2, profiles=(QUICK, "paced")) == 0
    classic = [each for each in night.shop.records() if not each.visit]
    assert [each.profile.name for each in classic] == ["paced"]


def test_a_dry_run_shows_the_plan_and_measures_nothing(night: Night) -> None:
    assert night(blocks=3, dry_run=True) == 0
    assert [each.begun for each in night.racks] == [[], []]
    out, err = night.shop.capsys.readouterr()
    assert "3 blocks x 2 visits by volley-fleet" in out
    assert "racks of the night: a, b (" in err


def test_two_loads_may_be_measured_at_the_same_time(night: Night) -> None:
    assert night(blocks=2, profiles=(QUICK, SLOW)) == 0
    found = [(record.profile.name, visit.block) for record, visit in night.visits()]
    assert {(name, block): found.count((name, block)) for name, block in found} == {
        (name, block): 2 for name in (QUICK, SLOW) for block in (1, 2)
    }
