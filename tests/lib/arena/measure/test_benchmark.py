"""The main job: what is planned, what is refused, and the exit code."""

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.cli import benchmark as verb
from arena.cli.benchmark import benchmark
from arena.judge import store
from arena.machine import cpus, lock, ports
from arena.machine.child import whole_command
from arena.measure import contract, generators, runner
from arena.measure.plan import Plan, Request, plan_sessions
from arena.record.measurement import Second
from arena.what import selection
from arena.what.loads import Blast, Scheduled
from arena.what.profile import Profile
from tests.fakes import (
    FakeGenerator,
    FakeProgress,
    FakeRuntime,
    a_measurement,
    a_program,
    a_report,
    records_in,
)


def add(workspace: Workspace, name: str, **changes: Any) -> None:
    meta = {"display_name": name, "language": "Go", "type": "tuned", "tests": ["stream-grpc"]}
    folder = workspace.frameworks / name
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps({**meta, **changes}))


@pytest.fixture(autouse=True)
def _shop(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.root)
    monkeypatch.setattr(cpus, "physical_cores", lambda: [(0,), (1,), (2,), (3,)])
    add(workspace, "grpc-go", tests=["stream-grpc", "stream-grpc-tls", "unary-of-httparena"])
    add(workspace, "tonic")
    add(workspace, "retired", enabled=False)


def plans_of(workspace: Workspace, request: Request, environment: dict[str, str]) -> list[Plan]:
    found = selection.frameworks(workspace, request.framework).frameworks
    return plan_sessions(workspace, request, environment, found)


def planned(workspace: Workspace, request: Request, **environment: str) -> list[tuple[str, str]]:
    plans = plans_of(workspace, request, environment)
    return [(each.framework.name, each.profile.name) for each in plans]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (Request("tonic", ("stream-grpc",)), [("tonic", "stream-grpc")]),
        (Request("grpc-go"), [("grpc-go", "stream-grpc"), ("grpc-go", "stream-grpc-tls")]),
        (Request("all", ("stream-grpc",)), [("grpc-go", "stream-grpc"), ("tonic", "stream-grpc")]),
        (Request("all", ("stream-grpc-tls",)), [("grpc-go", "stream-grpc-tls")]),
        (Request("retired", ("stream-grpc",)), [("retired", "stream-grpc")]),
    ],
)
def test_what_is_subscribed_to_is_planned(
    workspace: Workspace, request_: Request, expected: list[tuple[str, str]]
) -> None:
    assert planned(workspace, request_) == expected


SHORTER = Request("odd-jobs", requests=100, duration=0.5)


def test_an_override_is_in_force_only_where_it_means_something(workspace: Workspace) -> None:
    add(workspace, "odd-jobs", tests=["stream-grpc", "load-const", "blast-unary"])
    found = {each.profile.name: each for each in plans_of(workspace, SHORTER, {})}
    closed, scheduled, blast = (
        found[name] for name in ("stream-grpc", "load-const", "blast-unary")
    )
    assert (closed.profile.window_s, dict(closed.overrides)) == (0.5, {"DURATION": "500ms"})
    assert (scheduled.profile.load_as(Scheduled).requests, dict(scheduled.overrides)) == (
        100,
        {"REQUESTS": "100"},
    )
    assert scheduled.profile.window_s == 99 / 200
    assert blast.profile.load_as(Blast).sweep == (1, 2, 5, 10, 20, 50, 100)
    assert dict(blast.overrides) == {"DURATION": "500ms", "REQUESTS": "100"}


def test_a_blast_is_never_shortened_to_nothing(workspace: Workspace) -> None:
    (workspace.profiles / "big.yaml").write_text(
        "extends: blast-unary\nname: big\nconnections: [1]\nsweep: [10, 20]"
    )
    add(workspace, "wide", tests=["big"])
    (one,) = plans_of(workspace, Request("wide", requests=3), {})
    assert one.profile.load_as(Blast).sweep == (3,)


@pytest.mark.parametrize(
    ("schedule", "requests", "said"),
    [
        ("{shape: line, start: 50, step: -5}", 5000, "schedule: never ends: its rate falls to 0"),
        ("{shape: const, rps: 1}", 100_000, "schedule: takes longer than a day"),
    ],
)
def test_a_schedule_that_more_requests_would_make_endless_is_refused(
    workspace: Workspace, schedule: str, requests: int, said: str
) -> None:
    (workspace.profiles / "odd.yaml").write_text(
        f"extends: load-const\nname: odd\nrequests: 10\nschedule: {schedule}"
    )
    add(workspace, "odd-jobs", tests=["odd"])
    with pytest.raises(UsageError, match=f"^odd with {requests} requests: {said}"):
        plans_of(workspace, Request("odd-jobs", requests=requests), {})


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            Request("tonic", requests=9),
            r"^REQUESTS \(--requests\): is for blast and scheduled",
        ),
        (
            Request("timed", duration=9.0),
            r"^DURATION \(--duration\): is for blast and closed",
        ),
    ],
)
def test_an_override_that_means_nothing_here_is_refused(
    workspace: Workspace, request_: Request, said: str
) -> None:
    add(workspace, "timed", tests=["load-const"])
    with pytest.raises(UsageError, match=said):
        plans_of(workspace, request_, {})


def test_several_profiles_and_patterns_can_be_asked_for(workspace: Workspace) -> None:
    add(workspace, "timed", tests=["load-const", "load-line-up", "stream-grpc", "bidi-grpc"])
    found = planned(workspace, Request("timed", ("load-*", "bidi-grpc")))
    assert sorted(name for _, name in found) == ["bidi-grpc", "load-const", "load-line-up"]


def test_each_connection_count_is_a_session_of_its_own(workspace: Workspace) -> None:
    (workspace.profiles / "many.yaml").write_text(
        "extends: stream-grpc\nname: many\nconnections: [1, 64]"
    )
    add(workspace, "wide", tests=["many"])
    plans = plans_of(workspace, Request("wide"), {})
    assert [each.profile.connection_count for each in plans] == [1, 64]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request("grpcgo"), r"no framework `grpcgo` \(did you mean grpc-go"),
        (Request("tonic", ("stream-grp",)), r"no profile `stream-grp` \(did you mean stream-grpc"),
        (Request("all", ("nothing",)), "no profile `nothing`"),
        (Request("tonic", ("stream-grpc-tls",)), "tonic does not subscribe to stream-grpc-tls"),
        (Request("odd"), "odd subscribes to no profile of this runner"),
        (Request("tonic", generator="gzh"), r"--generator: .*did you mean ghz"),
    ],
)
def test_bad_input_is_refused_before_anything_starts(
    workspace: Workspace, request_: Request, said: str
) -> None:
    add(workspace, "odd", tests=["of-another-time"])
    with pytest.raises(UsageError, match=said):
        benchmark(workspace, request_, {}, "run")


@pytest.mark.parametrize(
    ("request_", "environment", "said"),
    [
        (
            Request("tonic", runtime="podman"),
            {},
            r"--runtime \(RUNTIME\): there is no runtime `podman`",
        ),
        (Request("tonic"), {"GHZ": "/no/such/ghz"}, "GHZ: /no/such/ghz is not a program"),
        (Request("tonic"), {"GHZ": "/bin/true"}, "GHZ: /bin/true is not ghz"),
        (Request("tonic"), {"SERVER_CPUS": "x"}, "SERVER_CPUS"),
        (Request("tonic"), {"LOADGEN_DOCKER": "banana"}, "^LOADGEN_DOCKER: write true or false"),
        (Request("tonic"), {"GHZ": "/x/\udcff"}, "^GHZ: is not UTF-8 text$"),
        (Request("tonic"), {"GHZ_IMAGE": "\udcff"}, "^GHZ_IMAGE: is not UTF-8 text$"),
        (Request("tonic"), {"LOADGEN_DOCKER": "\udcff"}, "^LOADGEN_DOCKER: is not UTF-8 text$"),
    ],
)
def test_a_bad_setting_is_refused_before_the_host_is_locked(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    request_: Request,
    environment: dict[str, str],
    said: str,
) -> None:
    monkeypatch.setattr(lock, "only_benchmark", lambda *_, **__: pytest.fail("locked"))
    with pytest.raises(UsageError, match=said):
        benchmark(workspace, request_, environment, "run")


def test_a_profile_with_an_unknown_generator_is_named(workspace: Workspace) -> None:
    (workspace.profiles / "odd.yaml").write_text("extends: stream-grpc\nname: odd\ngenerator: wrk")
    add(workspace, "odd", tests=["odd"])
    with pytest.raises(UsageError, match=r"^profiles/odd\.yaml: generator: there is no .* `wrk`"):
        plans_of(workspace, Request("odd"), {})


def test_overrides_change_the_profile_and_are_recorded(
    workspace: Workspace, tmp_path: Path
) -> None:
    named = str(a_program(tmp_path / "x" / "ghz", "echo --proto --call --connections"))
    request = Request("tonic", runs=1, duration=0.5, runtime="native", generator="ghz")
    environment = {"SERVER_CPUS": "0", "GHZ": named, "LOADGEN_DOCKER": "", "HOME": "/root"}
    (one,) = plans_of(workspace, request, environment)
    assert (one.profile.runs, one.profile.window_s) == (1, 0.5)
    assert (one.cpus.server, one.cpus.generator) == ((0,), (1, 2, 3))
    assert dict(one.overrides) == {
        "SERVER_CPUS": "0",
        "GHZ": named,
        "RUNS": "1",
        "DURATION": "500ms",
        "RUNTIME": "native",
        "GENERATOR": "ghz",
    }


def test_without_overrides_the_profile_stands_and_none_is_recorded(workspace: Workspace) -> None:
    (one,) = plans_of(workspace, Request("tonic"), {"RUNS": ""})
    assert (one.profile.runs, one.profile.window_s, dict(one.overrides)) == (3, 5.0, {})


Measure = Callable[..., int]


@pytest.fixture
def shop(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Measure:
    """Return the main job with fakes of the host, the runtime and the generator."""
    monkeypatch.setattr(lock, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(ports, "require_free_port", lambda _: None)
    monkeypatch.setattr(contract, "wait_ready", lambda *_: None)
    monkeypatch.setattr(contract, "check", lambda *_: a_report())

    def run(
        request: Request,
        runtime: FakeRuntime | None = None,
        generator: FakeGenerator | None = None,
        **environment: str,
    ) -> int:
        for room in (runner, verb):
            monkeypatch.setattr(room, "choose", lambda *_: runtime or FakeRuntime())
        monkeypatch.setattr(generators, "resolve", lambda *_: generator or FakeGenerator())
        # Not the ghz that may be on this host's PATH.
        return benchmark(workspace, request, {"PATH": "", **environment}, "run it")

    return run


def test_a_good_benchmark_ends_with_its_headline_its_record_and_the_page(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shop(Request("tonic")) == 0
    (record,) = records_in(workspace.results)
    headline, where, page = capsys.readouterr().out.splitlines()
    assert headline == (
        "tonic stream-grpc: 1.00 M messages/s (best of 3 runs; counted; median 1.00 M)"
    )
    assert where == f"record: results/{record.path}"
    assert page == "page: site/public/index.html"
    assert "1.00 M" in (workspace.site / "public" / "index.html").read_text()


FAILING = [a_measurement(0.0, ok=0, failed={"Internal": 3})]


def test_a_failed_framework_is_a_record_and_exit_code_1(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shop(Request("tonic"), generator=FakeGenerator(FAILING)) == 1
    (record,) = records_in(workspace.results)
    out, err = capsys.readouterr()
    assert record.failure
    assert f"log: results/{record.failure.log}" in out
    assert "error: tonic: warm-up: no call succeeded (3 x Internal)\n" in err
    board = workspace.public / "boards" / "stream-grpc" / "64" / "ghz" / "index.html"
    assert "no call succeeded" in board.read_text()


def test_all_goes_on_after_a_failure_and_ends_with_the_worst_code(
    shop: Measure, workspace: Workspace
) -> None:
    breaks = FakeGenerator(on_fire=lambda number: "broke" if number == 0 else None)
    assert shop(Request("all", ("stream-grpc",)), generator=breaks) == 3
    assert {each.framework.name: each.status for each in records_in(workspace.results)} == {
        "grpc-go": "failed",
        "tonic": "ok",
    }


def breaks_at(*shots: int) -> FakeGenerator:
    return FakeGenerator(on_fire=lambda number: "broke" if number in shots else None)


@pytest.mark.parametrize(
    ("shots", "last"),
    [
        ((), "3 measured, 0 failed"),
        ((0,), "2 measured, 1 failed: grpc-go under stream-grpc"),
        ((0, 1), "1 measured, 2 failed: grpc-go under stream-grpc, grpc-go under stream-grpc-tls"),
        ((8,), "2 measured, 1 failed: tonic under stream-grpc"),
    ],
)
def test_all_ends_with_how_many_were_measured_and_which_failed(
    shop: Measure, capsys: pytest.CaptureFixture[str], shots: tuple[int, ...], last: str
) -> None:
    shop(Request("all"), generator=breaks_at(*shots))
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_of_several_connection_counts_each_one_counts(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace.profiles / "many.yaml").write_text(
        "extends: stream-grpc\nname: many\nconnections: [1, 64]"
    )
    add(workspace, "wide", tests=["many"])
    assert shop(Request("wide"), generator=breaks_at(0)) == 3
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "1 measured, 1 failed: wide under many at 1 connection"


def test_a_drop_in_for_ghz_has_a_board_of_its_own(shop: Measure, workspace: Workspace) -> None:
    assert shop(Request("tonic")) == 0
    assert shop(Request("tonic"), generator=FakeGenerator(name="volley")) == 0
    assert shop(Request("tonic"), generator=FakeGenerator(FAILING, name="volley")) == 1
    assert [each.profile.generator for each in records_in(workspace.results)] == [
        "ghz",
        "volley",
        "volley",
    ]
    boards = json.loads((workspace.results / "leaderboard.json").read_bytes())["boards"]
    assert [each["generator"] for each in boards] == ["ghz", "volley"]
    assert [each["rows"][0]["failure"] is None for each in boards] == [True, False]


def test_where_no_call_finished_the_median_is_unknown(
    shop: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = a_measurement(0.0, ok=0, cut=256, mean_ns=None)
    assert shop(Request("tonic"), generator=FakeGenerator([slow])) == 0
    assert capsys.readouterr().out.startswith(
        "tonic stream-grpc: < 256 k messages/s (best of 3 runs; 0 to 256 k; "
        "median unknown; cut-calls, none-finished)\n"
    )


@pytest.mark.parametrize(
    ("tests", "warnings"),
    [
        (
            ["stream-grpc", "stream-grcp-tls"],
            ["no profile `stream-grcp-tls` (did you mean stream-grpc-tls?)"],
        ),
        (["stream-grpc", "steam-grpc"], ["no profile `steam-grpc` (did you mean stream-grpc?)"]),
        (
            ["stream-grpc", "unary-grpc", "unary-grcp"],
            ["no profile `unary-grcp` (did you mean unary-grpc?)"],
        ),
        (["stream-grpc", "stream-grpc-tls", "bidi-grpc", "baseline", "pipelined"], []),
    ],
)
def test_a_subscription_that_looks_misspelt_is_warned_of_and_no_other(
    shop: Measure,
    workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
    tests: list[str],
    warnings: list[str],
) -> None:
    add(workspace, "typist", tests=tests)
    assert shop(Request("typist", ("stream-grpc",), dry_run=True)) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert said == [f"warning: frameworks/typist/meta.json: tests: {each}" for each in warnings]


def test_all_skips_what_cannot_be_run_here_and_says_so(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = FakeRuntime(missing={"grpc-go": "needs go"})
    assert shop(Request("all", ("stream-grpc",)), runtime) == 0
    assert [each.framework.name for each in records_in(workspace.results)] == ["tonic"]
    assert "skipped grpc-go: needs go" in capsys.readouterr().err


def broken(workspace: Workspace, name: str) -> None:
    """Add a framework whose meta.json cannot be read."""
    add(workspace, name)
    (workspace.frameworks / name / "meta.json").write_text('{"display_name": \n')


@pytest.mark.parametrize("dry_run", [False, True])
def test_all_goes_on_after_a_broken_meta_json_and_ends_with_1(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str], *, dry_run: bool
) -> None:
    broken(workspace, "odd")
    assert shop(Request("all", ("stream-grpc",), dry_run=dry_run)) == 1
    out, err = capsys.readouterr()
    assert err.count("error: ") == 1
    assert "error: frameworks/odd/meta.json: line 2: Expecting value\n" in err
    if dry_run:
        assert "grpc-go under stream-grpc: " in out
        assert "tonic under stream-grpc: " in out
    else:
        assert [each.framework.name for each in records_in(workspace.results)] == [
            "grpc-go",
            "tonic",
        ]
        assert out.splitlines()[-1] == "2 measured, 1 failed: odd"


def test_a_broken_meta_json_that_was_named_is_bad_input(
    shop: Measure, workspace: Workspace
) -> None:
    broken(workspace, "odd")
    with pytest.raises(UsageError, match=r"^frameworks/odd/meta\.json: line 2"):
        shop(Request("odd"))
    assert shop(Request("tonic")) == 0


def test_where_nothing_is_subscribed_to_there_is_nothing_to_do(
    shop: Measure, workspace: Workspace
) -> None:
    for name in ("grpc-go", "tonic"):
        (workspace.frameworks / name / "meta.json").unlink()
    add(workspace, "odd", tests=["of-another-time"])
    with pytest.raises(UsageError, match=r"^no enabled framework subscribes to any profile$"):
        shop(Request("all"))


def test_unary_calls_are_requests(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    add(workspace, "unary", tests=["unary-grpc"])
    assert shop(Request("unary")) == 0
    counts = {each.profile.connection_count for each in records_in(workspace.results)}
    assert counts == {256, 1024}
    assert capsys.readouterr().out.startswith(
        "unary unary-grpc at 256 connections: 1.00 M requests/s (best of 3 runs; "
    )


def test_a_schedule_that_was_missed_is_said_to_have_no_rank(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    add(workspace, "timed", tests=["load-const"])
    good = Second(intended=200, sent=200, ok=200, failed=0, messages=200)
    bad = replace(good, sent=100)
    measured = a_measurement().model_copy(update={"seconds": (good, bad, good)})
    assert shop(Request("timed"), generator=FakeGenerator([measured])) == 0
    said = capsys.readouterr()
    assert "missed-schedule" in said.out
    assert "note: 1 of 3 seconds had other calls than were due" in said.err


def test_without_one_of_the_generators_the_others_are_used_and_it_is_said(
    shop: Measure,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    add(workspace, "both", tests=["stream-grpc", "load-const"])
    profile = workspace.profiles / "load-const.yaml"
    profile.write_text(profile.read_text().replace("generator: ghz", "generator: volley"))

    def resolve(profile: Profile, *_: object) -> FakeGenerator:
        if profile.generator == "volley":
            raise HostError("there is no volley: build it")
        return FakeGenerator()

    def run(*profiles: str) -> int:
        with monkeypatch.context() as patch:
            patch.setattr(runner, "choose", lambda *_: FakeRuntime())
            patch.setattr(generators, "resolve", resolve)
            return benchmark(workspace, Request("both", profiles), {"PATH": ""}, "run it")

    assert run() == 3
    said = capsys.readouterr()
    assert "error: there is no volley: build it" in said.err
    assert said.out.endswith("1 measured, 1 failed: both under load-const\n")
    assert [each.profile.name for each in records_in(workspace.results)] == ["stream-grpc"]
    with pytest.raises(HostError, match="there is no volley"):
        run("load-const")


def test_what_was_named_and_cannot_be_run_is_the_hosts_fault(shop: Measure) -> None:
    runtime = FakeRuntime(missing={"grpc-go": "needs go", "tonic": "needs cargo"})
    with pytest.raises(HostError, match="needs cargo"):
        shop(Request("tonic"), runtime)
    with pytest.raises(HostError, match="no framework can be run here"):
        shop(Request("all"), runtime)


def test_without_saving_nothing_is_kept(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    drafts = tmp_path / "drafts"
    # Of another checkout, whose benchmark is not ours to clear up after.
    others = drafts / f"{store._DRAFT}of-another"
    others.mkdir(parents=True)
    (workspace.results / others.name).mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(drafts))
    assert shop(Request("tonic", no_save=True)) == 0
    assert list(workspace.results.iterdir()) == []
    assert list(drafts.iterdir()) == [others]
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_dry_run_shows_the_commands_and_does_nothing(
    shop: Measure, workspace: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    generator = FakeGenerator()
    assert shop(Request("tonic", dry_run=True), generator=generator) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("tonic under stream-grpc: runs: 3 x 5s, after 2s of warm-up")
    assert lines[1:3] == ["  build tonic", "  start tonic"]
    assert lines[3].startswith("  ghz --insecure --proto requests/benchmark.proto")
    assert generator.fired == []
    assert list(workspace.results.iterdir()) == []
    assert not (tmp_path / "lock").exists()


def test_a_dry_run_shows_the_ghz_that_would_be_used(
    shop: Measure, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def load(**environment: str) -> str:
        shop(Request("tonic", dry_run=True), **environment)
        return capsys.readouterr().out.splitlines()[-1]

    named = str(a_program(tmp_path / "my ghz", "echo --proto --call --connections"))
    assert load(GHZ=named).startswith(f"  '{named}' --insecure --proto requests/benchmark.proto")
    contained = load(GHZ=named, LOADGEN_DOCKER="true", GHZ_IMAGE="mine:1")
    assert contained.startswith("  docker run --rm ")
    assert " mine:1 --insecure --proto requests/benchmark.proto" in contained
    assert named not in contained
    assert load(LOADGEN_DOCKER="false").startswith("  ghz --insecure ")


def test_a_dry_run_of_all_skips_what_cannot_be_run_here(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    add(workspace, "here", native={"run": "exec ./server"})
    request = Request("all", ("stream-grpc",), runtime="native", dry_run=True)
    assert benchmark(workspace, request, {}, "run it") == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == ["here"]
    command = shlex.join(whole_command(["/bin/sh", "-c", "exec ./server"], [0, 1]))
    assert f"  {command}" in out.splitlines()
    assert "skipped grpc-go: grpc-go has no `native` section" in err
    assert "skipped tonic: " in err


def test_a_dry_run_shows_a_command_that_steers_the_terminal_without_harm(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    add(workspace, "sly", native={"run": "true \x1b]0;title\x07 \u202e; ./server"})
    request = Request("sly", runtime="native", dry_run=True)
    assert benchmark(workspace, request, {}, "run it") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("/bin/sh -c 'true \ufffd]0;title\ufffd \ufffd; ./server'" in line for line in lines)
    assert all(line.isprintable() for line in lines)


def test_what_a_killed_benchmark_left_running_is_said(leftovers: list[str]) -> None:
    leftovers += ["process 7: a-server --port 8080", "process 8: " + "x" * 1000]
    shows = FakeProgress()
    runner.remove_leftovers(FakeRuntime(), shows)
    assert shows.lines[0] == (
        "ended process 7: a-server --port 8080, left behind by a benchmark that was killed"
    )
    assert len(shows.lines[1]) < 200
