"""A session, with fakes of everything that has an effect."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from arena import contract
from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.workspace import Workspace
from arena.contract import AnyScope, ItemScope, Report, Scope
from arena.contract.scope import GHZ
from arena.judge.derive import Derived, derive
from arena.judge.store import Draft
from arena.load.find import Located
from arena.load.generators import Shot
from arena.load.ghz import GHZ as GHZ_PROGRAM
from arena.machine import ports
from arena.machine.cpus import CpuPlan
from arena.record.measurement import Memory
from arena.record.reading import parse_record
from arena.run.plan import Plan
from arena.run.session import Session
from arena.what.profile import MeasuredProfile
from tests.fakes import (
    FAILED,
    ITEMS,
    OFFERS,
    PASSED,
    UNARY,
    WARNED,
    FakeGenerator,
    FakeProgress,
    FakeRuntime,
    FakeServer,
    a_framework,
    a_measurement,
    a_profile,
    a_report,
    still_sentinel,
)

Find = Callable[..., None]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "require_free_port", lambda _: None)
    monkeypatch.setattr(contract, "wait_ready", lambda *_: None)
    monkeypatch.setattr(contract, "check", lambda *_: a_report())
    monkeypatch.setattr(contract, "offers", lambda _: OFFERS)


@pytest.fixture
def find(monkeypatch: pytest.MonkeyPatch) -> Find:
    """Return what sets the contract's reports: the one before the runs, the one after them."""

    def reports(*found: Report) -> None:
        waiting = list(found)
        monkeypatch.setattr(contract, "check", lambda *_: waiting.pop(0))

    return reports


class Outcome:
    """What came of one session, as it was saved."""

    def __init__(
        self,
        workspace: Workspace,
        runtime: FakeRuntime,
        generator: FakeGenerator,
        profile: MeasuredProfile,
    ) -> None:
        folder = workspace.frameworks / "grpc-go"
        folder.mkdir(exist_ok=True)
        plan = Plan(
            a_framework(),
            profile,
            Located(GHZ_PROGRAM, GHZ_PROGRAM),
            CpuPlan("pinned", (0, 1), (2, 3)),
            ready_timeout_s=1,
            overrides={"RUNS": "3"},
        )
        self.progress = FakeProgress()
        self.results = workspace.results
        with Draft(workspace.results) as draft:
            measuring = Session(
                workspace, plan, runtime, generator, self.progress, still_sentinel()
            )
            record, self.error = measuring.run(draft)
            self.record = parse_record(draft.save(record).read_bytes())
        assert self.record == record

    def log(self) -> str:
        assert self.record.failure
        assert self.record.failure.log
        return (self.results / self.record.failure.log).read_text()

    @property
    def derived(self) -> Derived:
        return derive(self.record)

    def last_run(self) -> str:
        return [line for line in self.progress.lines if line.startswith("run 3 of 3: ")][-1]

    def failure(self) -> tuple[str, str, str]:
        assert self.record.failure
        assert self.derived.headline is None
        assert self.error
        return self.record.status, self.record.failure.stage, self.record.failure.reason

    def ended(self) -> tuple[int, str]:
        """Return the exit code, and the last lines of the program that failed."""
        assert self.error
        return self.error.exit_code, self.error.output


Measure = Callable[..., Outcome]


@pytest.fixture
def measure(workspace: Workspace) -> Measure:
    def run(
        runtime: FakeRuntime | None = None,
        generator: FakeGenerator | None = None,
        profile: MeasuredProfile | None = None,
    ) -> Outcome:
        return Outcome(
            workspace,
            runtime or FakeRuntime(),
            generator or FakeGenerator(),
            profile or a_profile(),
        )

    return run


def test_a_good_session_becomes_a_record(measure: Measure) -> None:
    runtime = FakeRuntime()
    generator = FakeGenerator([a_measurement(rate) for rate in (9e6, 1e6, 3e6, 2e6)])
    outcome = measure(runtime, generator)
    record = outcome.record
    assert outcome.error is None
    assert (record.status, record.failure, outcome.derived.flags) == ("ok", None, ())
    assert outcome.derived.headline
    assert (outcome.derived.headline.value, outcome.derived.headline.run) == (3e6, 2)
    assert [run.rate for run in record.runs] == [1e6, 3e6, 2e6]
    assert all(run.watch for run in record.runs)
    assert record.limits == still_sentinel().limits.recorded
    assert record.noted is None
    assert generator.fired == [("warm-up", 2.0), ("run-1", 5.0), ("run-2", 5.0), ("run-3", 5.0)]
    assert runtime.stopped == 1


def test_the_record_says_how_it_came_about(measure: Measure) -> None:
    record = measure().record
    assert record.contract == record.contract_after == (PASSED,)
    assert record.framework.image_digest == "sha256:abc"
    provenance = record.provenance
    assert provenance.runtime
    assert (provenance.runtime.name, provenance.runtime.argv) == ("native", ("./server",))
    assert provenance.generator
    assert provenance.generator.argv == ("ghz", "-z")
    assert provenance.overrides == {"RUNS": "3"}
    assert (provenance.cpus.server, provenance.cpus.generator) == ("0-1", "2-3")
    assert list(provenance.stages_s) == [
        "build",
        "start",
        "contract",
        "warm-up",
        "runs",
        "contract after the runs",
        "stop",
    ]


@pytest.mark.parametrize(
    ("line", "runtime", "standin", "expected"),
    [
        ("", "native", None, None),
        ("grpc-go: {registry: go, package: a.org/b}", "native", None, "b 1.2.3"),
        ("grpc-go: {registry: go, package: a.org/b}", "docker", "golang:1", "b 1.2.3"),
        # Nobody knows which version the host has, or what stands in for the image.
        ("grpc-go: {registry: debian, package: a, version: 1.51.1}", "native", None, None),
        ("grpc-go: {registry: debian, package: a, version: 1.51.1}", "docker", "debian:1", None),
        ("grpc-go: {registry: debian, package: a, version: 1.51.1}", "docker", None, "a 1.51.1"),
    ],
)
def test_the_record_keeps_the_release_that_ran(
    measure: Measure, workspace: Workspace, monkeypatch: pytest.MonkeyPatch,
    line: str, runtime: str, standin: str | None, expected: str | None,
) -> None:  # fmt: skip
    folder = workspace.frameworks / "grpc-go"
    folder.mkdir(exist_ok=True)
    (folder / "go.mod").write_text("require a.org/b v1.2.3\n")
    if line:
        (workspace.frameworks / "releases.yaml").write_text(f"{line}\n")
    monkeypatch.setattr("arena.machine.docker.daemon_version", lambda: (None, None))
    record = measure(FakeRuntime(name=runtime, standin=standin)).record
    assert record.framework.release == expected


def test_a_broken_list_of_releases_ends_a_session_before_it_begins(
    measure: Measure, workspace: Workspace
) -> None:
    (workspace.frameworks / "releases.yaml").write_text("grpc-go: {registry: go}\n")
    with pytest.raises(UsageError, match=r"releases\.yaml: grpc-go\.package: Field required"):
        measure()


def test_each_run_has_its_own_cost_and_its_raw_output(measure: Measure) -> None:
    outcome = measure()
    for number, run in enumerate(outcome.record.runs, 1):
        assert run.server.cpu_s == pytest.approx(1.0)
        assert run.server.peak_bytes == 20 << 20
        held = 8 << 20
        assert run.server.memory == Memory(
            anonymous_bytes=held, highest_bytes=held, idle_bytes=held
        )
        assert run.generator.cpu_s == 0.5
        assert (outcome.results / run.raw.path).read_text() == str(number)
        assert len(run.raw.sha256) == 64


def dies(server: FakeServer, at: int) -> Callable[[int], str | None]:
    def on_fire(number: int) -> None:
        if number == at:
            server.how = "killed by SIGSEGV"

    return on_fire


@pytest.mark.parametrize(
    ("at", "stage", "runs"), [(0, "warm-up", 0), (1, "run 1 of 3", 0), (3, "run 3 of 3", 2)]
)
def test_a_server_that_dies_fails_at_its_stage_with_its_last_words(
    measure: Measure, at: int, stage: str, runs: int
) -> None:
    runtime = FakeRuntime()
    outcome = measure(runtime, FakeGenerator(on_fire=dies(runtime.server, at)))
    reason = "the server ended in the middle of it (killed by SIGSEGV)"
    assert outcome.failure() == ("failed", stage, reason)
    assert outcome.log() == "listening\nlast words\n"
    assert outcome.ended() == (1, "listening\nlast words")
    assert len(outcome.record.runs) == runs
    assert runtime.stopped == 1


def test_the_log_of_every_call_fills_no_disk(measure: Measure, workspace: Workspace) -> None:
    outcome = measure(FakeRuntime(output="Closed\n" * 1_000_000))
    assert outcome.record.status == "ok"
    [log] = workspace.results.glob("**/server.log")
    assert 2 << 20 < log.stat().st_size < (2 << 20) + 100


def test_a_server_that_dies_between_two_runs_is_noticed(measure: Measure) -> None:
    class Dying(FakeServer):
        def cost(self) -> object:  # type: ignore[override]
            if self.used_s >= 2:
                self.how = "exit code 1"
            return super().cost()

    outcome = measure(FakeRuntime(Dying()))
    assert outcome.failure()[1:] == (
        "run 2 of 3",
        "the server ended in the middle of it (exit code 1)",
    )


@pytest.mark.parametrize(("at", "stage"), [(0, "warm-up"), (2, "run 2 of 3")])
def test_a_broken_generator_is_not_the_frameworks_fault(
    measure: Measure, at: int, stage: str
) -> None:
    generator = FakeGenerator(on_fire=lambda number: "it broke" if number == at else None)
    outcome = measure(generator=generator)
    assert outcome.failure() == ("failed", stage, "it broke")
    assert outcome.log() == "its words\nits last line\n"
    assert outcome.ended() == (3, "its last line")


def test_an_output_that_cannot_be_read_is_the_generators_fault(measure: Measure) -> None:
    generator = FakeGenerator([a_measurement(), ValueError("not JSON")])
    outcome = measure(generator=generator)
    assert outcome.failure()[1:] == ("run 1 of 3", "ghz's output cannot be read: not JSON")
    assert outcome.ended()[0] == 3
    assert outcome.log() == "1"


@pytest.mark.parametrize(
    ("failed", "said"), [({"Internal": 7}, "7 x Internal"), ({}, "none was made")]
)
def test_where_no_call_succeeds_the_framework_failed(
    measure: Measure, failed: dict[str, int], said: str
) -> None:
    outcome = measure(generator=FakeGenerator([a_measurement(0.0, ok=0, failed=failed)]))
    assert outcome.failure() == ("failed", "warm-up", f"no call succeeded ({said})")
    assert outcome.ended()[0] == 1


@pytest.mark.parametrize("at", [0, 2])
def test_a_server_that_fails_more_than_a_call_in_a_hundred_failed(
    measure: Measure, at: int
) -> None:
    # Calls that were cut are no evidence that the others are rare.
    broken = a_measurement(ok=297, failed={"Internal": 3, "Unavailable": 1}, cut=5000)
    outcome = measure(generator=FakeGenerator([*[a_measurement()] * at, broken]))
    stage = "run 2 of 3" if at else "warm-up"
    reason = "4 of 301 calls failed (3 x Internal, 1 x Unavailable)"
    assert outcome.failure() == ("failed", stage, reason)
    assert isinstance(outcome.error, FrameworkError)
    assert outcome.ended()[0] == 1
    assert outcome.log() == str(at)


@pytest.mark.parametrize(
    ("ok", "failed"),
    [(990, {"Internal": 10}), (990, {"Internal": 7, "Unavailable": 3}), (1000, {"Internal": 1})],
)
def test_up_to_a_call_in_a_hundred_may_fail_and_is_flagged(
    measure: Measure, ok: int, failed: dict[str, int]
) -> None:
    outcome = measure(generator=FakeGenerator([a_measurement(ok=ok, failed=failed)]))
    assert outcome.error is None
    assert (outcome.record.status, outcome.derived.flags) == ("ok", ("failed-calls",))
    said = "".join(f"; calls failed: {n} x {code}" for code, n in failed.items())
    assert outcome.progress.lines[-2].endswith(said)


SLOW = a_measurement(0.0, ok=0, cut=256, mean_ns=None)


def test_a_busy_server_that_finishes_no_call_is_only_slow(measure: Measure) -> None:
    outcome = measure(generator=FakeGenerator([SLOW]))
    assert outcome.record.status == "ok"
    assert outcome.derived.flags == ("cut-calls", "none-finished")
    assert outcome.derived.headline
    assert (outcome.derived.headline.value, outcome.derived.headline.high) == (0.0, 256_000.0)


def test_messages_that_were_counted_are_a_rate_though_no_call_finished(measure: Measure) -> None:
    drip = a_measurement(1e3, ok=0, cut=256, counted=5000, mean_ns=None)
    outcome = measure(FakeRuntime(FakeServer(busy_s=0.001)), FakeGenerator([drip]))
    assert outcome.error is None
    assert outcome.derived.flags == ("none-finished",)
    assert outcome.derived.headline
    assert outcome.derived.headline.value == 1e3
    assert outcome.progress.lines[-2].startswith("run 3 of 3: 1.00 k messages/s; ")


@pytest.mark.parametrize(("busy_s", "status"), [(0.049, "failed"), (0.051, "ok")])
def test_an_idle_server_that_finishes_no_call_is_stuck(
    measure: Measure, busy_s: float, status: str
) -> None:
    outcome = measure(FakeRuntime(FakeServer(busy_s=busy_s)), FakeGenerator([SLOW]))
    assert outcome.record.status == status
    if outcome.record.failure:
        assert "the server did nothing (0.05 s of CPU)" in outcome.record.failure.reason


def test_a_wrong_answer_is_an_invalid_record_and_no_load_is_put_on(
    measure: Measure, find: Find
) -> None:
    find(a_report(PASSED, FAILED))
    generator = FakeGenerator()
    outcome = measure(generator=generator)
    assert outcome.failure() == ("invalid", "contract", str(FAILED))
    assert outcome.record.contract == (PASSED, FAILED)
    assert outcome.record.contract_after == ()
    assert (outcome.record.runs, outcome.record.limits) == ((), None)
    assert outcome.log() == "listening\nlast words\n"
    assert generator.fired == []


def test_a_server_that_is_wrong_after_the_runs_is_invalid_and_keeps_them(
    measure: Measure, find: Find
) -> None:
    find(a_report(PASSED), a_report(PASSED, FAILED))
    outcome = measure()
    assert outcome.failure() == ("invalid", "contract after the runs", str(FAILED))
    assert outcome.record.contract == (PASSED,)
    assert outcome.record.contract_after == (PASSED, FAILED)
    assert len(outcome.record.runs) == 3
    assert outcome.derived.headline is None


def test_a_server_of_items_is_not_asked_for_the_services_of_grpc(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[object] = []
    monkeypatch.setattr(contract, "offers", lambda _: pytest.fail("asked"))

    def check(scope: AnyScope, _: object) -> Report:
        checked.append(scope)
        return a_report()

    monkeypatch.setattr(contract, "check", check)
    record = measure(profile=a_profile(**ITEMS)).record
    assert (record.status, record.offers) == ("ok", None)
    expected = ItemScope(8080, tls=False, versions=("h2",), disguise=GHZ)
    assert checked == [expected] * 2


def test_what_the_contract_found_is_in_the_record(measure: Measure, find: Find) -> None:
    find(a_report(PASSED, WARNED, packed=2.5), a_report(PASSED, packed=9.0))
    record = measure().record
    assert record.status == "ok"
    assert record.contract == (PASSED, WARNED)
    assert record.contract_after == (PASSED,)
    assert record.messages_per_data_frame == 2.5
    assert {"contract", "contract after the runs"} <= set(record.provenance.stages_s)


def test_both_times_the_profiles_own_port_and_call_are_checked(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Scope, object]] = []

    def check(scope: Scope, server: object) -> Report:
        asked.append((scope, server))
        return a_report()

    monkeypatch.setattr(contract, "check", check)
    runtime = FakeRuntime()
    profile = a_profile(port=8443, tls=True)
    measure(runtime, profile=profile)
    expected = replace(contract.scope_of(profile), disguise=GHZ)
    assert asked == [(expected, runtime.server)] * 2


def test_a_warning_is_said_once_and_is_no_hindrance(measure: Measure, find: Find) -> None:
    later = WARNED.model_copy(update={"check": "cancel", "detail": "it took a second"})
    find(a_report(WARNED), a_report(WARNED, later))
    outcome = measure()
    assert outcome.record.status == "ok"
    assert [line for line in outcome.progress.lines if line.startswith("warning: ")] == [
        f"warning: {WARNED}",
        "warning: cancel: it took a second",
    ]


def test_a_server_that_a_check_has_ended_is_invalid_by_the_name_of_that_check(
    measure: Measure, find: Find
) -> None:
    """The contract's own report says that it ended."""
    find(a_report(PASSED, FAILED))
    outcome = measure(FakeRuntime(FakeServer(how="killed by SIGSEGV")))
    assert outcome.failure() == ("invalid", "contract", str(FAILED))
    assert outcome.record.contract == (PASSED, FAILED)
    assert outcome.log() == "listening\nlast words\n"


def test_a_server_that_ends_during_the_contract_after_the_runs_failed(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though nothing was found wrong: it ended with the last of its answers."""
    runtime = FakeRuntime()
    checked: list[None] = []

    def check(*_: object) -> Report:
        checked.append(None)
        runtime.server.how = "exit code 0" if len(checked) == 2 else None
        return a_report()

    monkeypatch.setattr(contract, "check", check)
    outcome = measure(runtime)
    reason = "the server ended in the middle of it (exit code 0)"
    assert outcome.failure() == ("failed", "contract after the runs", reason)
    assert len(outcome.record.runs) == 3


@pytest.mark.parametrize(("port", "asked"), [(8080, [8080, 8443]), (9090, [8080, 8443, 9090])])
def test_every_port_of_the_server_must_be_free(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, port: int, asked: list[int]
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(ports, "require_free_port", seen.append)
    measure(profile=a_profile(port=port))
    assert sorted(seen) == asked


def test_a_build_that_fails_is_a_record_with_its_log(measure: Measure) -> None:
    def fail(log: Path) -> None:
        log.write_text("syntax error\n")
        raise FrameworkError("build", "`make` failed", log=log, output="syntax error")

    runtime = FakeRuntime(on_build=fail)
    outcome = measure(runtime)
    assert outcome.failure() == ("failed", "build", "`make` failed")
    assert outcome.log() == "syntax error\n"
    assert outcome.record.provenance.runtime
    assert outcome.record.provenance.runtime.argv == ()
    assert runtime.stopped == 0


def test_a_server_that_is_never_ready_fails_at_the_start(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object) -> None:
        raise FrameworkError("start", "not ready")

    monkeypatch.setattr(contract, "wait_ready", late)
    outcome = measure()
    assert outcome.failure() == ("failed", "start", "not ready")
    assert outcome.log() == "listening\nlast words\n"


@pytest.mark.parametrize("raised", [HostError("port 8080 is taken"), KeyboardInterrupt()])
def test_what_is_no_failure_of_the_framework_leaves_no_record(
    measure: Measure, workspace: Workspace, raised: BaseException
) -> None:
    def on_fire(_: int) -> None:
        raise raised

    runtime = FakeRuntime()
    with pytest.raises(type(raised)):
        measure(runtime, FakeGenerator(on_fire=on_fire))
    assert runtime.stopped == 1
    assert list(workspace.results.iterdir()) == []


def test_a_person_reads_a_line_for_each_run(measure: Measure) -> None:
    lines = measure(generator=FakeGenerator([a_measurement(1.5e6, cut=3)])).progress.lines
    assert (
        "run 2 of 3: 1.50 M messages/s; p99 2.10 s; CPU server 1.0 s, generator 0.5 s; calls cut: 3"
    ) in lines


@pytest.mark.parametrize("why", ["port 8080 is taken by process 1", "find localhost"])
def test_a_start_that_fails_as_the_host_does_is_no_failure_of_the_framework(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """The host is asked before the session, and again after the failure."""
    at_fault: list[bool] = []

    def require_free_port(_: int) -> None:
        if at_fault and "port" in why:
            raise HostError(why)

    def require_able(*_: object, **__: object) -> None:
        if at_fault:
            raise HostError(why)

    def fail(*_: object) -> None:
        at_fault.append(True)
        raise FrameworkError("start", "the server ended before it was ready (exit code 1)")

    monkeypatch.setattr(ports, "require_free_port", require_free_port)
    monkeypatch.setattr(ports, "require_able", require_able)
    monkeypatch.setattr(contract, "wait_ready", fail)
    with pytest.raises(HostError, match=why):
        measure()


def test_a_generator_without_descriptors_leaves_no_record(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = FakeGenerator(on_fire=lambda number: "ghz ended in the middle" * (number == 1))
    fire = generator.fire

    def broken(*arguments: Any) -> Shot:
        shot = fire(*arguments)
        return replace(shot, output="socket: too many open files") if shot.problem else shot

    monkeypatch.setattr(generator, "fire", broken)
    with pytest.raises(HostError, match=r"^this host cannot: generator: .*files; .*: ulimit -n$"):
        measure(generator=generator)


def a_cold_profile() -> MeasuredProfile:
    return a_profile(kind="cold", warmup_s=0.0, runs=1, **UNARY | {"metric": "time to first reply"})


class Seen:
    """A lookout that sees the server listen 1 s after its start, and reply after 2 s."""

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.began_s = time.monotonic()

    def __call__(self, _: Scope) -> Self:
        self.is_inside = False
        return self

    def __enter__(self) -> Self:
        self.is_inside = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_inside = False

    def wait(self, timeout_s: float, ended: Callable[[], str | None]) -> tuple[float, float]:
        assert self.is_inside
        assert (timeout_s, ended()) == (1, None)
        return self.server.began_s + 1.0, self.server.began_s + 2.0


def test_a_start_is_measured_after_one_that_fills_the_page_cache(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = FakeServer()
    monkeypatch.setattr(contract, "Lookout", Seen(server))
    runtime, generator = FakeRuntime(server), FakeGenerator()
    outcome = measure(runtime, generator, a_cold_profile())
    record = outcome.record
    assert outcome.error is None, outcome.error
    assert runtime.stopped == 2
    assert generator.fired == [("run-1", 40.0)]
    assert (record.contract, record.contract_after, record.offers) == ((), (PASSED,), None)
    (run,) = record.runs
    assert run.started
    assert run.started.listens_s == pytest.approx(1)
    assert run.started.first_reply_s == pytest.approx(2)
    assert run.watch
    assert outcome.derived.headline
    assert outcome.derived.headline.value == pytest.approx(2e9)
    assert [line for line in outcome.progress.lines if "time to first reply 2.00 s" in line]
    stages = ["build", "start", "stop", "warm-up", "runs", "contract after the runs"]
    assert list(record.provenance.stages_s) == stages


def test_a_server_that_never_starts_has_no_second_start(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object) -> None:
        raise FrameworkError("start", "the server was not ready")

    monkeypatch.setattr(contract, "wait_ready", late)
    runtime = FakeRuntime()
    outcome = measure(runtime, profile=a_cold_profile())
    assert outcome.failure() == ("failed", "start", "the server was not ready")
    assert outcome.log() == "listening\nlast words\n"
    assert runtime.stopped == 1
