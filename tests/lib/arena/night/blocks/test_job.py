"""Nights of blocks: what is visited, what counts, what is repeated, and how they end."""

from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.judge.derive import derive
from arena.judge.load_key import digest_of
from arena.machine import facts, ports
from arena.night import night as job
from arena.run.runner import only_here
from arena.run.session import Session
from arena.what.loads import Share
from tests.fakes import FakeGenerator, FakeRuntime, a_measurement, a_provenance
from tests.lib.arena.night.blocks.shop import Blocks
from tests.lib.arena.night.shop import QUICK, SLOW


def test_each_block_visits_every_framework_once_and_counts_what_was_planned(
    blocks: Blocks,
) -> None:
    assert blocks() == 0
    for number in range(1, 4):
        found = [each for each in blocks.records() if each[1].block == number]
        assert {record.framework.name for record, _ in found} == {"alpha", "beta"}
        assert [visit.place for _, visit in found] == [1, 2]
        assert {(visit.blocks, visit.size, visit.attempt) for _, visit in found} == {(3, 2, 1)}
        assert {len(record.runs) for record, _ in found} == {3 if number == 1 else 1}
    assert blocks.shop.generator.fired.count(("warm-up", 10.0)) == 6
    assert len({visit.night for _, visit in blocks.records()}) == 1
    assert {record.profile.runs for record, _ in blocks.records()} == {3}
    assert not any(record.is_trial for record, _ in blocks.records())
    assert blocks.shop.published == 1


def test_the_contract_is_checked_in_the_first_and_the_last_block(blocks: Blocks) -> None:
    blocks()
    checked = {visit.block: bool(record.contract) for record, visit in blocks.records()}
    assert checked == {1: True, 2: False, 3: True}


def test_a_framework_is_built_once_a_night(blocks: Blocks) -> None:
    built: list[Path] = []
    blocks.shop.runtime = FakeRuntime(on_build=built.append)
    blocks(4)
    assert len(built) == 2


def test_a_share_of_a_closed_load_is_set_before_the_first_block(blocks: Blocks) -> None:
    folder = blocks.shop.workspace.profiles
    (folder / "unary.yaml").write_text(
        "extends: stream-grpc\nname: unary\ncall: benchmark.BenchmarkService/GetSum\n"
        "request: {a: 1, b: 2}\nmessages_per_call: 1\nexpect: [result = a + b]\n"
        "metric: requests/s\n"
    )
    (folder / "half.yaml").write_text(
        "extends: unary\nname: half\ngenerator: volley\nkind: share\nshare: 0.5\nof: unary\n"
        "metric: p99 latency\nstreams_per_connection: 4\nconcurrency:\nlike: unary\n"
    )
    blocks.patch.setattr("arena.run.driver._IDLE_S", 0.01)
    blocks.shop.add("alpha", "unary")
    blocks.shop.add("beta", "unary")
    with pytest.raises(UsageError, match="no load of blocks is left"):
        blocks(2, profiles=("half",))
    err = blocks.shop.capsys.readouterr().err
    assert "left out: alpha under half: its rate is a share of what it does under unary" in err
    with pytest.raises(UsageError, match="half: is for blocks"):
        blocks(None, profiles=("half",))
    blocks(2, "alpha", profiles=("unary",))
    (closed,) = {each.runs[0].rate for each, _ in blocks.records()}
    blocks(2, profiles=("half",))
    assert "left out: beta under half" in blocks.shop.capsys.readouterr().err
    half = [each for each, _ in blocks.records() if each.profile.name == "half"]
    assert [each.framework.name for each in half] == ["alpha", "alpha"]
    assert {each.profile.load_as(Share).rate for each in half} == {round(closed / 2)}
    assert blocks.planned()[-1].loads[0].rates == {"alpha": round(closed / 2)}
    other = half[0].profile
    changed = other.changed(load=other.load.changed(rate=7))
    assert digest_of(changed) == digest_of(other)


def test_the_same_seed_gives_the_same_order(blocks: Blocks) -> None:
    for name in ("gamma", "delta"):
        blocks.shop.add(name, QUICK)
    blocks(4, seed="one")
    blocks(4, seed="one")
    blocks(4, seed="two")
    visits = blocks.visits()
    assert visits[:16] == visits[16:32]
    assert visits[32:] != visits[:16]


def test_one_framework_is_entered_twice_unless_told_otherwise(blocks: Blocks) -> None:
    blocks(2, twin=None)
    twins = [record.framework.name for record, visit in blocks.records() if visit.is_twin]
    assert len(twins) == 2
    assert len(set(twins)) == 1
    assert {visit.size for _, visit in blocks.records()} == {3}
    assert {len(record.runs) for record, visit in blocks.records() if visit.is_twin} == {1}


def test_the_twins_can_be_named(blocks: Blocks) -> None:
    blocks(1, twin="beta,alpha")
    names = {record.framework.name for record, visit in blocks.records() if visit.is_twin}
    assert names == {"alpha", "beta"}


def test_a_void_visit_is_kept_and_repeated_at_the_end_of_its_block(blocks: Blocks) -> None:
    blocks.disturb(lambda run, name, before: run == 1 and (name, before) == ("alpha", 1))
    assert blocks(2) == 0
    in_block_2 = [each for each in blocks.visits() if each[0] == 2]
    assert len(in_block_2) == 3
    assert in_block_2[-1] == (2, 1, "alpha", 1)
    assert [derive(record).is_void for record, _ in blocks.records()].count(True) == 1
    out, err = blocks.shop.capsys.readouterr()
    assert "void: alpha: steal 20 % (limit 0.5 %)" in err
    assert "(repeat 1): alpha under stream-grpc" in err
    assert "1 of 5 visits were void" in out


def test_of_the_first_blocks_runs_only_the_first_can_void_the_visit(blocks: Blocks) -> None:
    blocks.disturb(lambda run, *_: run > 1)
    blocks(1)
    assert not any(derive(record).is_void for record, _ in blocks.records())
    assert all("disturbed" in derive(record).flags for record, _ in blocks.records())
    assert {len(record.runs) for record, _ in blocks.records()} == {3}


def test_a_block_whose_visit_is_void_three_times_is_lost_and_the_night_goes_on(
    blocks: Blocks,
) -> None:
    blocks.disturb(lambda run, name, before: run == 1 and name == "beta" and 1 <= before <= 3)
    assert blocks(3) == 0
    assert [each[3] for each in blocks.visits() if each[0] == 2 and each[2] == "beta"] == [0, 1, 2]
    assert len([each for each in blocks.visits() if each[0] == 3]) == 2
    out, err = blocks.shop.capsys.readouterr()
    assert "block 2 of 3 of stream-grpc is lost (not good in 3 visits: beta); " in err
    assert "block 2 is lost: not good in 3 visits: beta" in out


def test_a_framework_that_fails_is_a_record_and_is_not_visited_again(blocks: Blocks) -> None:
    def fire(shot: int) -> str | None:
        name, _ = blocks.shop.generator.fired[-1]
        return "broke" if name == "warm-up" and len(blocks.visits()) == 2 else None

    blocks.shop.generator = FakeGenerator(on_fire=fire)
    assert blocks(3) == 3
    failed = [(record.framework.name, visit.block) for record, visit in blocks.records()
              if record.status == "failed"]  # fmt: skip
    assert [block for _, block in failed] == [2]
    visited = [name for block, _, name, _ in blocks.visits() if block == 3]
    assert visited == ["beta" if failed[0][0] == "alpha" else "alpha"]
    assert f"failed:\n  stream-grpc: {failed[0][0]}\n" in blocks.shop.capsys.readouterr().out


def test_what_the_host_cannot_measure_is_tried_again_and_then_dropped(
    blocks: Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Session.run

    def run(session: Any, draft: Any) -> Any:
        if session.plan.framework.name == "alpha":
            raise HostError("its log fills the disk")
        return real(session, draft)

    monkeypatch.setattr(Session, "run", run)
    assert blocks(2) == 3
    assert [name for _, _, name, _ in blocks.visits()] == ["beta", "beta"]
    dropped = [each for each in blocks.events() if each.get("event") == "dropped"]
    assert [each["framework"] for each in dropped] == ["alpha"]
    assert [each["event"] for each in blocks.events() if each.get("block") == 1][-1] == "lost"


def test_three_frameworks_in_a_row_that_the_host_cannot_run_end_the_night_which_is_resumed(
    blocks: Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(_: int) -> None:
        raise HostError("port 8080 is taken")

    blocks.shop.add("gamma", QUICK)
    with monkeypatch.context() as patch:
        patch.setattr(ports, "require_free_port", taken)
        assert blocks(2) == 3
    assert blocks.visits() == []
    assert "error: this host cannot measure: the night ends here (--resume continues" in (
        blocks.shop.capsys.readouterr().err
    )
    assert blocks(2, resume=True) == 0
    assert {each[1] for each in blocks.visits() if each[0] == 1} == {2}
    assert len(blocks.visits()) == 6


@pytest.mark.parametrize("names", [("alpha",), ("alpha", "beta")])
def test_a_host_that_can_run_none_of_few_frameworks_ends_the_night_which_is_resumed(
    blocks: Blocks, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    def taken(_: int) -> None:
        raise HostError("port 8080 is taken")

    with monkeypatch.context() as patch:
        patch.setattr(ports, "require_free_port", taken)
        assert blocks(2, *names) == 3
    assert blocks.visits() == []
    assert [each["event"] for each in blocks.events()].count("visit") == 3
    assert blocks(2, *names, resume=True) == 0
    assert len(blocks.visits()) == 2 * len(names)


def test_a_framework_that_changes_in_the_middle_ends_the_night(blocks: Blocks) -> None:
    def change(session: int) -> None:
        if session == 2:
            for name in ("alpha", "beta"):
                blocks.shop.add(name, QUICK, language="Rust")

    blocks.shop.on_session(change)
    assert blocks() == 3
    assert len(blocks.visits()) == 3
    assert "has changed since the night began: the night ends here (--resume" in (
        blocks.shop.capsys.readouterr().err
    )


class KilledError(BaseException):
    """Ends a night as a kill does: nobody catches it."""


def cut_short(blocks: Blocks, session: int, *words: Any, **options: Any) -> None:
    """Run a night that is killed at a visit, counted from 0."""

    def kill(number: int) -> None:
        if number == session:
            raise KilledError

    blocks.shop.on_session(kill)
    with pytest.raises(KilledError):
        blocks(*words, **options)
    blocks.shop.generator = FakeGenerator()


def test_a_night_that_was_killed_repeats_the_block_in_progress_and_keeps_the_others(
    blocks: Blocks,
) -> None:
    cut_short(blocks, 3)
    assert [each[:2] for each in blocks.visits()] == [(1, 1), (1, 1), (2, 1)]
    before = {visit.night for _, visit in blocks.records()}
    assert blocks(resume=True) == 0
    assert [each[:2] for each in blocks.visits()[3:]] == [(2, 2), (2, 2), (3, 1), (3, 1)]
    assert {visit.night for _, visit in blocks.records()} == before
    assert blocks.visits()[3][2:] == blocks.visits()[2][2:]


def test_who_waited_for_another_runner_goes_on_where_that_one_ended(
    blocks: Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_short(blocks, 3)
    real = only_here

    def later(*given: Any) -> Any:
        # Another runner has gone on with the night while this one waited.
        monkeypatch.setattr(job, "only_here", real)
        assert blocks(resume=True) == 0
        return real(*given)

    monkeypatch.setattr(job, "only_here", later)
    assert blocks(resume=True) == 0
    nights = [visit.night for _, visit in blocks.records()]
    assert [nights.count(night) for night in sorted(set(nights))] == [7, 6]
    assert "that night has been finished by another" in blocks.shop.capsys.readouterr().err


def test_a_framework_that_cannot_be_built_is_built_once_a_night(blocks: Blocks) -> None:
    built: list[Path] = []

    def build(log: Path) -> None:
        built.append(log)
        raise FrameworkError("build", "it does not compile")

    blocks.shop.runtime = FakeRuntime(on_build=build)
    assert blocks(2, "alpha", profiles=(QUICK, SLOW)) == 1
    assert len(built) == 1
    assert [each.status for each in blocks.shop.records()] == ["failed", "failed"]


def test_a_night_of_blocks_is_resumed_without_saying_what_it_was(blocks: Blocks) -> None:
    cut_short(blocks, 3)
    assert blocks.shop.night(resume=True, quiet_wait=0.0) == 0
    assert len(blocks.visits()) == 7


@pytest.mark.parametrize("other", [{"seed": "y"}, {"twin": "alpha"}, {"profiles": (SLOW,)}])
def test_other_blocks_are_another_night(blocks: Blocks, other: dict[str, Any]) -> None:
    cut_short(blocks, 3)
    assert blocks(resume=True, **other) == 0
    assert len({visit.night for _, visit in blocks.records()}) == 2
    assert "no night of such blocks was cut short" in blocks.shop.capsys.readouterr().err


def test_another_night_in_between_does_not_hide_one_that_was_cut_short(blocks: Blocks) -> None:
    cut_short(blocks, 3)
    blocks(1, profiles=(SLOW,))
    assert blocks(resume=True) == 0
    assert len({visit.night for _, visit in blocks.records()}) == 2
    assert blocks(resume=True) == 0
    assert len({visit.night for _, visit in blocks.records()}) == 3


def test_a_framework_that_failed_before_the_cut_is_not_visited_after_it(blocks: Blocks) -> None:
    def end(session: int) -> str | None:
        if session == 3:
            raise KilledError
        return "broke" if session == 0 else None

    blocks.shop.on_session(end)
    with pytest.raises(KilledError):
        blocks()
    blocks.shop.generator = FakeGenerator()
    assert blocks(resume=True) == 3
    failed = {record.framework.name for record, _ in blocks.records() if record.status != "ok"}
    assert len(failed) == 1
    assert failed.isdisjoint(name for block, _, name, _ in blocks.visits() if block > 1)


def test_a_night_whose_framework_has_changed_is_not_resumed_and_no_other_begins(
    blocks: Blocks,
) -> None:
    cut_short(blocks, 3)
    made = len(blocks.records())
    blocks.shop.add("alpha", QUICK, language="Rust")
    with pytest.raises(UsageError, match=r"cannot be resumed: alpha has changed since; without"):
        blocks(resume=True)
    assert len(blocks.records()) == made
    assert blocks() == 0
    assert len({visit.night for _, visit in blocks.records()}) == 2


def test_a_host_that_changes_its_class_ends_the_night_and_cannot_resume_it(
    blocks: Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = a_provenance().host.model_copy(update={"cpus": 2, "cores": 1})

    def change(session: int) -> None:
        if session == 2:
            monkeypatch.setattr(facts, "describe", lambda _: other)

    blocks.shop.on_session(change)
    assert blocks() == 3
    assert len(blocks.visits()) == 3
    err = blocks.shop.capsys.readouterr().err
    (line,) = [each for each in err.splitlines() if each.startswith("error:")]
    assert line.startswith("error: this host has changed its class: the night ends here (--resume")
    with pytest.raises(HostError, match="this host is not of the class that the night began with"):
        blocks(resume=True)
    monkeypatch.setattr(facts, "describe", lambda _: a_provenance().host)
    assert blocks(resume=True) == 0
    assert len(blocks.visits()) == 7


def test_loads_take_turns_and_each_has_its_own_twin(blocks: Blocks) -> None:
    blocks(4, twin=None, profiles=())
    loads = [(record.profile.name, visit.block) for record, visit in blocks.records()]
    turns = [loads[at] for at in range(0, len(loads), 3)]
    assert sorted(turns) == [(name, block) for name in (SLOW, QUICK) for block in range(1, 5)]
    assert [block for _, block in turns] == sorted(block for _, block in turns)
    assert all(len(set(loads[at : at + 3])) == 1 for at in range(0, len(loads), 3))


def test_a_load_without_blocks_is_measured_once_after_them(blocks: Blocks) -> None:
    blocks.shop.add("alpha", QUICK, "load-const")
    assert blocks(2, "alpha", profiles=()) == 0
    assert [each.profile.name for each in blocks.shop.records()] == [QUICK, QUICK, "load-const"]
    assert blocks.shop.records()[-1].visit is None
    assert "loads without blocks, measured once after the others: alpha under load-const" in (
        blocks.shop.capsys.readouterr().err
    )


def test_a_load_without_blocks_that_was_measured_is_not_measured_again_after_a_cut(
    blocks: Blocks,
) -> None:
    for name in ("alpha", "beta"):
        blocks.shop.add(name, QUICK, "load-const")
    cut_short(blocks, 3, 1, profiles=())
    assert blocks(1, profiles=(), resume=True) == 0
    assert [each.profile.name for each in blocks.shop.records()].count("load-const") == 2


def test_a_load_without_blocks_that_failed_before_a_cut_fails_the_resumed_night(
    blocks: Blocks,
) -> None:
    for name in ("alpha", "beta"):
        blocks.shop.add(name, QUICK, "load-const")

    def end(session: int) -> str | None:
        if session == 3:
            raise KilledError
        return "broke" if session == 2 else None

    blocks.shop.on_session(end)
    with pytest.raises(KilledError):
        blocks(1, profiles=())
    blocks.shop.generator = FakeGenerator()
    assert blocks(1, profiles=(), resume=True) == 1
    assert [each.profile.name for each in blocks.shop.records()].count("load-const") == 2


def test_what_does_not_fit_the_budget_is_left_out_before_the_night(blocks: Blocks) -> None:
    # Two builds of half a minute, and blocks of 2 x 19 s or 2 x 24 s, the first of them longer.
    assert blocks(6, profiles=(), budget=60 + 6 * 38 + 2 * 10 + 4 * 3) == 0
    assert {record.profile.name for record, _ in blocks.records()} == {QUICK}
    assert len(blocks.visits()) == 12
    assert "no time left for:\n  slow: alpha, beta\n" in blocks.shop.capsys.readouterr().out


def test_a_block_begins_only_if_it_should_end_in_the_budget(blocks: Blocks) -> None:
    def take(session: int) -> None:
        blocks.shop.now_s += 100.0

    blocks.shop.on_session(take)
    assert blocks(3, budget=300.0) == 0
    assert len(blocks.visits()) == 4
    assert "no time left for block 3 of 3 of stream-grpc" in blocks.shop.capsys.readouterr().err
    assert blocks(3, resume=True, budget=1.0) == 0


def test_some_of_the_budget_is_kept_for_loads_without_blocks(blocks: Blocks) -> None:
    blocks.shop.add("alpha", QUICK, "load-const")
    # Eight blocks of 19 s take 168 s, and the build 30 s; a quarter of the budget is kept.
    assert blocks(8, "alpha", profiles=(), budget=240.0) == 0
    profiles = [each.profile.name for each in blocks.shop.records()]
    assert profiles == [*[QUICK] * 7, "load-const"]


def test_void_visits_make_the_next_night_longer(blocks: Blocks) -> None:
    def planned_s() -> int:
        blocks.shop.capsys.readouterr()
        blocks(2, dry_run=True)
        last = blocks.shop.capsys.readouterr().out.splitlines()[-1]
        return int(last.removeprefix("blocks: about ").removesuffix(" s in all"))

    blocks(2)
    before_s = planned_s()
    blocks.disturb(lambda run, name, before: run == 1 and before == 0)
    blocks(2)
    assert planned_s() > before_s


def test_the_plan_is_shown_and_nothing_is_done(blocks: Blocks) -> None:
    assert blocks(8, twin="beta", dry_run=True) == 0
    out, err = blocks.shop.capsys.readouterr()
    assert "stream-grpc: 8 blocks x 3 visits by ghz, 8 minutes" in out
    assert "  beta   warm-up 10s  and its twin\n" in out
    assert "  first block: " in out
    assert "blocks: about 9 minutes in all" in out
    assert "no ranks" not in err
    assert blocks.records() == []
    assert not blocks.shop.workspace.nights.exists()


def test_after_the_last_block_the_terminal_shows_estimates_ranks_and_letters(
    blocks: Blocks,
) -> None:
    # Without any scatter there would be no ranks.
    blocks.shop.generator.measurements = [
        a_measurement(1e6 * (1 + 1e-5 * (7 * shot % 11))) for shot in range(100)
    ]
    assert blocks(6, twin="alpha") == 0
    out = blocks.shop.capsys.readouterr().out
    head, *rows = (line.split() for line in out.splitlines()[:3])
    assert [head, *sorted(rows)] == [
        ["stream-grpc/64,", "6", "of", "6", "blocks", "messages/s", "from", "to", "ranks",
         "letters"],
        ["alpha", "1.00", "M", "1.00", "M", "1.00", "M", "1–2", "a"],
        ["beta", "1.00", "M", "1.00", "M", "1.00", "M", "1–2", "a"],
    ]  # fmt: skip
    assert "alpha and its twin: tied (-0.0% to +0.0%)" in out
    assert "0 of 18 visits were void" in out


def test_with_few_blocks_it_is_said_that_there_will_be_no_ranks(blocks: Blocks) -> None:
    blocks(5, dry_run=True)
    assert "with fewer than 6 blocks there are intervals, but no ranks" in (
        blocks.shop.capsys.readouterr().err
    )


def test_before_each_visit_a_line_says_what_is_left(blocks: Blocks) -> None:
    blocks(2)
    lines = [
        line for line in blocks.shop.capsys.readouterr().err.splitlines()
        if line.startswith("block ")
    ]  # fmt: skip
    assert lines[0].startswith("block 1 of 2, visit 1 of 2: ")
    assert lines[3].startswith("block 2 of 2, visit 2 of 2: ")
    assert all(line.endswith(" left") for line in lines)


def test_an_interrupt_says_how_to_go_on(blocks: Blocks) -> None:
    def interrupt(session: int) -> None:
        if session == 1:
            raise KeyboardInterrupt

    blocks.shop.on_session(interrupt)
    with pytest.raises(KeyboardInterrupt):
        blocks()
    assert "--resume continues the night" in blocks.shop.capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": "x"}, "--seed: is for blocks"),
        ({"blocks": 8, "only_changed": True}, "--only-changed: makes no sense"),
        ({"blocks": 8, "twin": "gamma"}, "--twin: `gamma` is not among"),
        ({"blocks": 8, "block_warm_up": 1.0}, "--block-warm-up: is for trials"),
    ],
)
def test_what_makes_no_sense_is_refused(blocks: Blocks, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        blocks.shop.night(profiles=(QUICK,), **options)
