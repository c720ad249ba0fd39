"""The night: what is measured in which order, what fits, and how it ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError, UsageError
from arena.machine import facts, lock, ports
from arena.night import benchmark
from arena.night.night import night
from arena.run.request import Request
from arena.run.session import Session
from tests.fakes import FakeGenerator, FakeRuntime, a_measurement, a_provenance, a_request
from tests.lib.arena.night.shop import QUICK, SLOW, Shop


def test_each_framework_has_a_turn_before_any_has_another_and_the_short_ones_come_first(
    shop: Shop,
) -> None:
    assert shop.night() == 0
    assert shop.measured() == [
        ("alpha", QUICK), ("beta", QUICK), ("alpha", SLOW), ("beta", SLOW),
    ]  # fmt: skip
    assert shop.published == 1


def test_what_was_measured_longest_ago_comes_first_and_what_never_was_before_it(shop: Shop) -> None:
    shop.night("beta", profiles=(SLOW,))
    shop.night("alpha", profiles=(QUICK,))
    shop.add("gamma", QUICK)
    shop.night()
    assert shop.measured(since=2) == [
        ("gamma", QUICK), ("alpha", SLOW), ("beta", QUICK), ("beta", SLOW), ("alpha", QUICK),
    ]  # fmt: skip


def test_an_uncertain_figure_is_measured_again_before_an_older_one_that_is_sure(shop: Shop) -> None:
    shop.night("alpha", profiles=(SLOW,))
    rates = (1e6, 1e6, 1.5e6, 2e6)
    shop.generator = FakeGenerator([a_measurement(rate) for rate in rates])
    shop.night("beta", profiles=(SLOW,))
    shop.generator = FakeGenerator()
    shop.night(profiles=(SLOW,))
    assert shop.measured(since=2) == [("beta", SLOW), ("alpha", SLOW)]


def test_of_equally_long_ones_that_were_never_measured_the_subscription_tells_the_order(
    shop: Shop,
) -> None:
    tests = ["stream-grpc-tls", "stream-grpc", "client-stream-grpc"]
    shop.add("alpha", *tests)
    shop.night("alpha")
    assert [name for _, name in shop.measured()] == tests


def test_trials_and_other_machines_do_not_count_as_measured(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = a_request("alpha", (QUICK,), runs=1)
    benchmark.benchmark(shop.workspace, trial, {"PATH": ""}, "run", lambda *_: Path("page"))
    other = a_provenance().host.model_copy(update={"cpu": "another CPU"})
    with monkeypatch.context() as patch:
        patch.setattr(facts, "describe", lambda _: other)
        shop.night("alpha", profiles=(QUICK,))
    shop.night("alpha", only_changed=True)
    assert shop.measured(since=2) == [("alpha", QUICK), ("alpha", SLOW)]


def test_a_session_begins_only_if_it_should_end_in_time_and_a_shorter_one_may_still_fit(
    shop: Shop,
) -> None:
    shop.night("alpha", profiles=(SLOW,))  # From now on known to take no time at all.

    def take(seconds: float) -> None:
        shop.now_s += seconds

    shop.on_session(lambda _: take(47.0))
    shop.capsys.readouterr()
    assert shop.night(budget=100.0) == 0
    assert shop.measured(since=1) == [("beta", QUICK), ("alpha", QUICK), ("alpha", SLOW)]
    out = shop.capsys.readouterr().out
    assert "no time left for:\n  slow: beta\n" in out
    assert shop.published == 2


def test_the_budget_does_not_cut_a_session_short(shop: Shop) -> None:
    def take(seconds: float) -> None:
        shop.now_s += seconds

    shop.on_session(lambda _: take(1000.0))
    assert shop.night(budget=50.0) == 0
    assert [(each.framework.name, each.status) for each in shop.records()] == [("alpha", "ok")]


def test_a_budget_that_nothing_fits_into_measures_nothing_and_says_so(shop: Shop) -> None:
    assert shop.night(budget=46.0) == 0
    assert shop.measured() == []
    assert shop.capsys.readouterr().out.splitlines()[-4:] == [
        "no time left for:",
        "  stream-grpc: alpha, beta",
        "  slow: alpha, beta",
        "page: site/public/index.html",
    ]


def test_a_failing_framework_does_not_stop_the_night(shop: Shop) -> None:
    def on_build(log: Path) -> None:
        if len(shop.records()) == 1:
            raise HostError("docker: the daemon has a cold")

    shop.runtime = FakeRuntime(on_build=on_build)
    shop.on_session(lambda session: "broke" if session == 0 else None)
    assert shop.night(profiles=(QUICK,)) == 3
    assert [(each.framework.name, each.status) for each in shop.records()] == [("alpha", "failed")]
    out, err = shop.capsys.readouterr()
    assert "error: beta under stream-grpc: docker: the daemon has a cold\n" in err
    assert out.splitlines()[-7:-1] == [
        "       measured  failed  skipped  left",
        "alpha         0       1        0     0",
        "beta          0       1        0     0",
        "all           0       2        0     0",
        "failed:",
        "  stream-grpc: alpha, beta",
    ]


def test_a_host_that_fails_three_frameworks_in_a_row_ends_the_night_which_can_be_gone_on_with(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(_: int) -> None:
        if len(shop.records()) > 1:
            raise HostError("port 8080 is taken")

    shop.add("gamma", SLOW, QUICK)
    with monkeypatch.context() as patch:
        patch.setattr(ports, "require_free_port", taken)
        assert shop.night() == 3
    assert shop.measured() == [("alpha", QUICK), ("beta", QUICK)]
    out, err = shop.capsys.readouterr()
    assert err.count("port 8080 is taken\n") == 3
    assert "error: this host cannot measure: the night ends here (--resume continues it)" in err
    assert "all           2       3        0     1\n" in out
    assert shop.published == 1
    assert shop.night(resume=True) == 0
    assert "resuming the night of 20" in shop.capsys.readouterr().err
    assert sorted(shop.measured(since=2)) == [
        ("alpha", SLOW), ("beta", SLOW), ("gamma", SLOW), ("gamma", QUICK),
    ]  # fmt: skip


def test_one_framework_that_the_host_cannot_measure_does_not_end_the_night(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.add("gamma", QUICK, SLOW, "stream-grpc-tls", "bidi-grpc", "client-stream-grpc")
    real = Session.run

    def run(session: Any, draft: Any) -> Any:
        if session.plan.framework.name == "gamma":
            raise HostError("its log fills the disk")
        return real(session, draft)

    monkeypatch.setattr(Session, "run", run)
    assert shop.night() == 3
    assert shop.night(resume=True) == 3
    assert len(shop.records()) == 8


def test_bugs_in_a_row_do_not_end_the_night(shop: Shop) -> None:
    def surprise(session: int) -> None:
        if session < 4:
            raise RuntimeError("surprise")

    shop.add("gamma", SLOW, QUICK)
    shop.on_session(surprise)
    assert shop.night() == 3
    assert len(shop.records()) == 2


def test_a_bug_that_one_session_runs_into_does_not_stop_the_night(shop: Shop) -> None:
    def surprise(session: int) -> None:
        if session == 0:
            raise RuntimeError("surprise\x1b[2J")

    shop.on_session(surprise)
    assert shop.night(profiles=(QUICK,)) == 3
    assert shop.measured() == [("beta", QUICK)]
    assert "error: alpha under stream-grpc: RuntimeError: surprise\ufffd[2J\n" in (
        shop.capsys.readouterr().err
    )


def test_an_interrupt_does_stop_it(shop: Shop) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    shop.on_session(interrupt)
    with pytest.raises(KeyboardInterrupt):
        shop.night()
    assert shop.measured() == []


def test_a_broken_meta_json_fails_and_the_others_are_measured(shop: Shop) -> None:
    (shop.workspace.frameworks / "alpha" / "meta.json").write_text("{")
    assert shop.night(profiles=(QUICK,)) == 1
    assert shop.measured() == [("beta", QUICK)]
    out, err = shop.capsys.readouterr()
    assert "error: frameworks/alpha/meta.json: line 1" in err
    assert "\nfailed:\n  meta.json: alpha\n" in out


def test_what_cannot_be_run_here_is_skipped_and_said(shop: Shop) -> None:
    shop.runtime = FakeRuntime(missing={"alpha": "needs go"})
    assert shop.night("alpha", "beta") == 0
    out, err = shop.capsys.readouterr()
    assert err.count("skipped alpha: needs go") == 1
    assert "alpha         0       0        2     0\n" in out
    shop.runtime = FakeRuntime(missing={"alpha": "needs go", "beta": "needs go"})
    with pytest.raises(HostError, match="no framework can be run here"):
        shop.night()


def test_a_framework_that_is_not_enabled_is_not_measured_even_if_named(shop: Shop) -> None:
    assert shop.night("alpha", "retired", profiles=(QUICK,)) == 0
    assert shop.measured() == [("alpha", QUICK)]
    assert "skipped retired: its meta.json says `enabled`: false" in shop.capsys.readouterr().err


def test_a_framework_that_is_named_and_has_no_profile_of_the_night_is_said(shop: Shop) -> None:
    shop.add("crud", "paced")
    assert shop.night("crud", "alpha", profiles=(QUICK,)) == 0
    assert f"skipped crud: it does not subscribe to {QUICK}\n" in shop.capsys.readouterr().err
    assert shop.night("*", profiles=(QUICK,)) == 0
    assert "skipped crud" not in shop.capsys.readouterr().err


@pytest.mark.parametrize(
    ("request_", "environment", "said"),
    [
        (Request(frameworks=("alhpa",)), {}, r"no framework `alhpa` \(did you mean alpha"),
        (Request(profiles=("nothing-*",)), {}, "no profile matches"),
        (Request(generator="gzh"), {}, "--generator: "),
        (Request(runtime="podman"), {}, r"--runtime \(RUNTIME\): "),
        (Request(frameworks=("retired",)), {}, "no enabled framework subscribes to any profile"),
        (Request(host_class="big"), {}, "--class: is for a fleet with racks"),
        (Request(quarantine=0.0), {}, "--quarantine: is for a fleet with racks"),
        (Request(), {"RUNS": "1"}, "RUNS: makes trials"),
        (Request(), {"REQUESTS": "10"}, "REQUESTS: makes trials"),
        (
            Request(connections=(7,)),
            {},
            "--connections: no profile that is left has such a count",
        ),
    ],
)
def test_bad_input_is_refused_before_the_host_is_locked(
    shop: Shop,
    monkeypatch: pytest.MonkeyPatch,
    request_: Request,
    environment: dict[str, str],
    said: str,
) -> None:
    monkeypatch.setattr(lock, "only_benchmark", lambda *_, **__: pytest.fail("locked"))
    with pytest.raises(UsageError, match=said):
        night(shop.workspace, request_, environment, "night", shop.publish)


def test_frameworks_are_selected_by_patterns_and_sessions_by_connection_counts(shop: Shop) -> None:
    shop.add("alpine", QUICK, "unary-grpc")
    assert shop.night("al*", connections=(64, 1024)) == 0
    assert sorted(shop.measured()) == [
        ("alpha", SLOW), ("alpha", QUICK), ("alpine", QUICK), ("alpine", "unary-grpc"),
    ]  # fmt: skip
    assert {each.profile.connection_count for each in shop.records()} == {64, 1024}
    assert not any(each.provenance.overrides for each in shop.records())


def test_a_name_beside_all_leaves_no_other_out(shop: Shop) -> None:
    shop.night("all", "alpha", profiles=(QUICK,))
    assert shop.measured() == [("alpha", QUICK), ("beta", QUICK)]


# ---- only what has changed


def test_what_has_not_changed_is_not_measured_again(shop: Shop) -> None:
    shop.night()
    assert shop.night(only_changed=True) == 0
    assert len(shop.records()) == 4
    assert "unchanged" in shop.capsys.readouterr().out
    shop.night()
    assert len(shop.records()) == 8


def change_the_source(shop: Shop) -> None:
    (shop.workspace.frameworks / "alpha" / "main.go").write_text("package main")


def change_the_profile(shop: Shop) -> None:
    path = shop.workspace.profiles / f"{QUICK}.yaml"
    path.write_text(path.read_text().replace("duration: 5s", "duration: 6s"))


def change_the_generator(shop: Shop) -> None:
    class Newer(FakeGenerator):
        def info(self, *args: Any) -> Any:
            return super().info(*args).model_copy(update={"version": "v2"})

    shop.generator = Newer()


def change_the_runtime(shop: Shop) -> None:
    shop.runtime = FakeRuntime(name="docker")


@pytest.mark.parametrize(
    "change", [change_the_source, change_the_profile, change_the_generator, change_the_runtime]
)
def test_what_has_changed_is_measured_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, change: Callable[[Shop], None]
) -> None:
    from arena.machine import docker

    monkeypatch.setattr(docker, "remove_leftovers", list)
    monkeypatch.setattr(docker, "daemon_version", lambda: ("1", ""))
    shop.night("alpha", profiles=(QUICK,))
    change(shop)
    shop.night("alpha", profiles=(QUICK,), only_changed=True)
    assert len(shop.records()) == 2


def test_what_has_failed_since_is_measured_again(shop: Shop) -> None:
    shop.night("alpha", profiles=(QUICK,))
    shop.on_session(lambda _: "broke")
    shop.night("alpha", profiles=(QUICK,))
    shop.generator = FakeGenerator()
    shop.night("alpha", profiles=(QUICK,), only_changed=True)
    assert [each.status for each in shop.records()] == ["ok", "failed", "ok"]


# ---- nothing done


def test_a_dry_run_tells_the_order_and_the_time_and_does_nothing(
    shop: Shop, tmp_path: Path
) -> None:
    assert shop.night(budget=110.0, dry_run=True) == 0
    assert shop.capsys.readouterr().out.splitlines() == [
        "alpha under stream-grpc: about 47s",
        "beta under stream-grpc: about 47s",
        "no time left for:",
        "  slow: alpha, beta",
        "about 2 minutes",
    ]
    assert shop.generator.fired == []
    assert list(shop.workspace.results.iterdir()) == []
    assert not (tmp_path / "lock").exists()
    assert shop.published == 0
