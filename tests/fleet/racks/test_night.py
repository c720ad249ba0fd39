"""A night on racks: who takes what, who may take part, and what is told of the others."""

import json
from collections.abc import Mapping

import pytest

from arena.base.errors import HostError, UsageError
from arena.night.diary import Diary
from arena.record.bundle import Bundle
from arena.record.record import Record
from arena_fleet import rack as archive
from arena_fleet import runner
from arena_fleet.rack import Asked, SessionEnd
from arena_fleet.references import Measured, ReferenceHistory, off_class
from tests.fakes import at
from tests.fleet.racks.conftest import FakeRack, Night, gone, is_reference
from tests.lib.arena.night.shop import QUICK, SLOW


def test_the_sessions_go_to_the_racks_in_order_and_the_records_come_here(night: Night) -> None:
    assert night(profiles=(QUICK, SLOW)) == 0
    assert sorted(night.shop.measured()) == [
        ("alpha", SLOW), ("alpha", QUICK), ("beta", SLOW), ("beta", QUICK),
    ]  # fmt: skip
    assert [len(each.begun) for each in night.racks] == [2, 2]
    [bundle] = night.shop.workspace.nights.glob("*/")
    assert Bundle.open(bundle).manifest.records == 4
    assert night.shop.published == 1
    out, err = night.shop.capsys.readouterr()
    assert "all           4       0        0     0\n" in out
    assert "rack b: " in err
    assert "racks of the night: a, b (" in err
    results = [line for line in out.splitlines() if line.startswith("rack ")]
    assert {line[:8] for line in results} == {"rack a: ", "rack b: "}
    assert len(results) == 4
    assert night(profiles=(QUICK, SLOW), only_changed=True) == 0
    assert len(night.shop.records()) == 4


def test_what_a_lost_rack_had_in_hand_failed_and_its_rest_goes_to_the_others(night: Night) -> None:
    night.shop.add("gamma", QUICK)
    night.racks[0].fate = lambda *_: gone("no answer for 10 s")
    assert night() == 3
    assert len(night.shop.records()) == 2
    [lost] = {"alpha", "beta", "gamma"} - {name for name, _ in night.shop.measured()}
    out, err = night.shop.capsys.readouterr()
    assert f"failed:\n  stream-grpc: {lost}\n" in out
    assert f"no answer for 10 s; {lost} under stream-grpc was in hand, and counts as failed" in err


def test_a_rack_that_fails_three_times_in_a_row_ends_and_the_night_with_the_last(
    night: Night,
) -> None:
    for name in ("gamma", "delta", "epsilon", "zeta", "eta"):
        night.shop.add(name, QUICK)
    del night.racks[1]
    night.racks[0].fate = lambda number, _: HostError("port 8080 is taken") if number else None
    assert night() == 3
    assert len(night.racks[0].begun) == 4
    out, err = night.shop.capsys.readouterr()
    assert "rack a measures no more tonight: it failed three times in a row" in err
    assert "error: no rack is left: the night ends here (--resume continues it)" in err
    assert ["all", "1", "3", "0", "3"] in [line.split() for line in out.splitlines()]


def test_a_session_that_did_not_begin_goes_to_another_rack(night: Night) -> None:
    for name in ("gamma", "delta", "epsilon"):
        night.shop.add(name, QUICK)
    night.racks[1].fate = lambda *_: SessionEnd(3, "another night uses this rack", b"")
    assert night() == 3
    assert len(night.racks[1].begun) == 3
    assert len(night.shop.records()) == 5
    out, err = night.shop.capsys.readouterr()
    assert ["all", "5", "0", "0", "0"] in [line.split() for line in out.splitlines()]
    assert "rack b: another night uses this rack: " in err
    assert "error: rack b measures no more tonight: it failed three times in a row" in err


def test_sessions_that_no_rack_began_are_left_for_resume(night: Night) -> None:
    for rack in night.racks:
        rack.fate = lambda *_: SessionEnd(3, "another night uses this rack", b"")
    assert night() == 3
    out, err = night.shop.capsys.readouterr()
    assert ["all", "0", "0", "0", "2"] in [line.split() for line in out.splitlines()]
    assert "error: no rack is left: the night ends here (--resume continues it)" in err


def test_a_failing_framework_ends_no_rack(night: Night) -> None:
    for name in ("gamma", "delta", "epsilon"):
        night.shop.add(name, QUICK)
    night.shop.on_session(lambda _: "broke")
    assert night() == 3
    assert len(night.shop.records()) == 5
    assert "measures no more" not in night.shop.capsys.readouterr().err


@pytest.mark.parametrize("name", ["beta", "unasked"])
def test_a_rack_with_other_frameworks_is_left_out_with_the_remedy(night: Night, name: str) -> None:
    night.racks[0].sources = {name: "0" * 64}
    assert night() == 0
    assert night.racks[0].begun == []
    err = night.shop.capsys.readouterr().err
    assert (
        f"warning: rack a is left out: {name} is not as in this checkout: use the same commit"
        in err
    )


def test_a_rack_of_another_class_is_left_out(night: Night) -> None:
    night.racks.append(FakeRack("c", night.shop, memory_bytes=1 << 40))
    night.racks[0], night.racks[2] = night.racks[2], night.racks[0]
    assert night() == 0
    assert [len(each.begun) for each in night.racks if each.name == "c"] == [0]
    err = night.shop.capsys.readouterr().err
    assert "warning: rack c is left out: it is " in err
    assert "1024 GiB" in err


def test_a_rack_with_another_volley_is_left_out(night: Night) -> None:
    night.racks.append(FakeRack("c", night.shop, volley="volley v1 (bbbbbbbbbbbb)"))
    assert night() == 0
    assert night.racks[2].begun == []
    err = night.shop.capsys.readouterr().err
    assert "warning: rack c is left out: it is " in err
    assert "volley v1 (bbbbbbbbbbbb), and others" in err


def test_two_racks_of_two_classes_make_no_night(night: Night) -> None:
    night.racks[0].memory_bytes = 1 << 40
    with pytest.raises(HostError, match=r"no class has most of them \(a: .*1024 GiB.* and b: "):
        night()
    assert [each.begun for each in night.racks] == [[], []]


def test_a_full_disk_here_is_no_fault_of_a_rack(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise HostError("results: cannot be written (No space left on device)")

    night.shop.add("gamma", QUICK)
    with monkeypatch.context() as patch:
        patch.setattr(archive, "adopt", full)
        assert night() == 3
    assert [each.stopped for each in night.racks] == [0, 1]
    assert night.shop.published == 1
    out, err = night.shop.capsys.readouterr()
    assert "measures no more tonight" not in err
    assert "(No space left on device): the night ends here (--resume continues it)" in err
    assert ["all", "0", "0", "0", "3"] in [line.split() for line in out.splitlines()]
    assert night(resume=True) == 0
    assert len(night.shop.records()) == 3


def test_where_nothing_can_be_saved_the_error_names_no_option_of_benchmarks(night: Night) -> None:
    night.shop.workspace.nights.parent.mkdir(parents=True, exist_ok=True)
    night.shop.workspace.nights.write_text("a file")
    with pytest.raises(HostError, match=r"; make it a writable folder$"):
        night()


def test_a_diary_that_cannot_be_written_ends_the_night_with_its_table(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise HostError("diary: cannot be written (No space left on device)")

    monkeypatch.setattr(Diary, "begin", full)
    assert night() == 3
    out, err = night.shop.capsys.readouterr()
    assert "(No space left on device): the night ends here (--resume continues it)" in err
    assert ["all", "0", "0", "0", "2"] in [line.split() for line in out.splitlines()]


def test_a_second_night_is_refused_and_the_lock_is_free_afterwards(night: Night) -> None:
    def second(*_: object) -> None:
        night.racks[0].fate = lambda *_: None
        with pytest.raises(HostError, match="a benchmark is running on racks already"):
            night(resume=True)

    night.racks[0].fate = second
    assert night() == 0
    assert night() == 0
    assert len(night.shop.records()) == 4


def test_a_framework_that_one_rack_cannot_run_is_skipped(night: Night) -> None:
    night.racks[1].unavailable = {"beta": "beta needs java"}
    assert night() == 0
    assert night.shop.measured() == [("alpha", QUICK)]
    assert "skipped beta: rack b: beta needs java" in night.shop.capsys.readouterr().err


RATES = {"a": 100.0, "b": 100.0, "c": 100.0}


@pytest.fixture
def rates(night: Night, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, float]:
    """Let racks measure references that nobody has; the test may change their rates."""
    found = dict(RATES)

    def rate(_: object, end: SessionEnd) -> tuple[float | None, str]:
        return (None, end.why) if end.is_lost else (found[end.error], "its words")

    def fate(name: str) -> object:
        return lambda _, asked: SessionEnd(0, name, b"") if is_reference(asked) else None

    night.racks.append(FakeRack("c", night.shop))
    for rack in night.racks:
        rack.fate = fate(rack.name)  # type: ignore[assignment]
    monkeypatch.setattr(runner.RackRunner, "_reference_rate", rate)
    return found


def references(asked: list[Asked]) -> list[str]:
    return [each.request.frameworks[0] for each in asked if is_reference(each)]


def test_a_rack_off_its_class_is_quarantined_for_this_night(
    night: Night, rates: dict[str, float]
) -> None:
    rates["b"] = 97.0
    night.shop.add("grpc-go", QUICK)
    assert night("alpha", "beta", quarantine=2.0) == 0
    for rack in night.racks:
        assert references(rack.begun) == ["volley-serve", "grpc-go"]
    assert len(night.racks[1].begun) == 2
    assert len(night.shop.records()) == 2
    err = night.shop.capsys.readouterr().err
    assert (
        "warning: rack b is quarantined tonight: volley-serve is 3.0 % below its class "
        "(97/s against 100/s; limit 2 %)"
    ) in err
    kept = json.loads((night.shop.workspace.host / "racks.json").read_bytes())["measured"]
    assert sorted({each["rack"] for each in kept}) == ["a", "c"]


def test_of_two_racks_that_differ_the_one_that_left_its_past_is_quarantined(
    night: Night, rates: dict[str, float]
) -> None:
    del night.racks[2]
    assert night(quarantine=2.0) == 0
    rates["a"] = 110.0
    assert night(quarantine=2.0) == 0
    err = night.shop.capsys.readouterr().err
    assert "rack a is quarantined tonight: volley-serve is 10.0 % above its past" in err
    assert "rack b is quarantined" not in err


def test_two_racks_that_differ_and_have_no_past_measure_nothing(
    night: Night, rates: dict[str, float]
) -> None:
    del night.racks[2]
    rates["a"] = 103.0
    for _ in range(2):
        with pytest.raises(HostError, match="no rack is left"):
            night(quarantine=2.0)
        assert night.shop.capsys.readouterr().err.count("is quarantined tonight") == 2
    assert night.shop.records() == []


def test_two_racks_that_always_differed_measure_nothing(
    night: Night, rates: dict[str, float]
) -> None:
    del night.racks[2]
    rates["a"] = 110.0
    assert night(quarantine=15.0) == 0
    with pytest.raises(HostError, match="no rack is left"):
        night(quarantine=2.0)


def test_a_broken_history_is_found_before_anything_is_measured(
    night: Night, rates: dict[str, float]
) -> None:
    night.shop.workspace.host.mkdir(parents=True, exist_ok=True)
    (night.shop.workspace.host / "racks.json").write_text("{")
    with pytest.raises(UsageError, match=r"racks\.json"):
        night(quarantine=2.0)
    assert [each.begun for each in night.racks] == [[], [], []]


def test_references_wait_for_a_benchmark_if_the_night_does(
    night: Night, rates: dict[str, float]
) -> None:
    assert night(quarantine=2.0, wait=True) == 0
    assert all(asked.request.wait for rack in night.racks for asked in rack.begun)


def test_a_rack_in_quarantine_skips_nothing(night: Night, rates: dict[str, float]) -> None:
    rates["c"] = 90.0
    night.racks[2].unavailable = {"beta": "beta needs java"}
    assert night(quarantine=2.0) == 0
    assert sorted(night.shop.measured()) == [("alpha", QUICK), ("beta", QUICK)]


def test_a_single_rack_is_compared_with_its_past(night: Night, rates: dict[str, float]) -> None:
    del night.racks[1:]
    assert night(quarantine=2.0) == 0
    rates["a"] = 98.5
    assert night(quarantine=2.0) == 0
    rates["a"] = 90.0
    with pytest.raises(HostError, match="no rack is left"):
        night(quarantine=2.0)
    assert "volley-serve is 9.3 % below its past" in night.shop.capsys.readouterr().err


def test_of_two_racks_with_grpc_go_among_three_the_one_that_left_its_past_is_off() -> None:
    def measured(hour: int, **rates: float) -> list[Measured]:
        return [
            Measured(
                night=at(hour), host_class="x", rack=rack[0], rate=rate,
                reference="grpc-go" if rack.endswith("go") else "volley-serve",
            )
            for rack, rate in rates.items()
        ]  # fmt: skip

    usual = {"a": 9.0, "b": 9.0, "c": 9.0}
    history = ReferenceHistory(measured=tuple(measured(0, **usual, a_go=100.0, b_go=100.0)))
    tonight = measured(1, **usual, a_go=100.0, b_go=90.0)
    assert off_class(tonight, history, 0.02) == {
        "b": "grpc-go is 10.0 % below its past (90/s against 100/s; limit 2 %)"
    }
    assert off_class(tonight, ReferenceHistory(), 0.02).keys() == {"a", "b"}


def test_a_rack_whose_reference_fails_takes_no_part(night: Night, rates: dict[str, float]) -> None:
    night.racks[2].fate = lambda *_: gone("gone")
    assert night(quarantine=2.0) == 3
    assert len(night.shop.records()) == 2
    err = night.shop.capsys.readouterr().err
    assert "rack c measures no more tonight: its reference volley-serve failed: gone" in err


def test_the_references_themselves_are_no_records(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Record] = []

    def rate_of(record: Record) -> float:
        found.append(record)
        return 100.0

    monkeypatch.setattr(runner, "rate_of", rate_of)
    assert night("alpha", quarantine=2.0) == 0
    assert {each.framework.name for each in found} == {"volley-serve"}
    assert all(each.is_trial and len(each.runs) == 5 for each in found)
    assert night.shop.measured() == [("alpha", QUICK)]
