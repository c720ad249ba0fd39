"""The benchmark: what is measured and printed, how it ends, and when the site is built."""

import json
import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.base.writing import DRAFT
from arena.judge.archive import open_archive
from arena.load import generators
from arena.load.find import Located
from arena.load.volley import VOLLEY
from arena.machine.builds import Build
from arena.machine.child import whole_command
from arena.night import benchmark as job
from arena.record.measurement import Second
from arena.record.record import Record
from arena.run import runner
from arena.run.request import Request
from arena.site.build import build
from tests.fakes import (
    FakeGenerator,
    FakeProgress,
    FakeRuntime,
    a_build,
    a_measurement,
    a_program,
    a_request,
    add_framework,
    records_in,
)


@pytest.fixture(autouse=True)
def _shop(workspace: Workspace, free_host: None) -> None:
    add_framework(workspace, "grpc-go", "stream-grpc", "stream-grpc-tls", "unary-of-httparena")
    add_framework(workspace, "tonic")
    add_framework(workspace, "retired", enabled=False)


@dataclass(frozen=True)
class Shop:
    """Runs the benchmark with fakes of the runtime and the generator."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def __call__(
        self,
        request: Request,
        runtime: FakeRuntime | None = None,
        generator: FakeGenerator | None = None,
        **environment: str,
    ) -> int:
        for room in (runner, job):
            self.patch.setattr(room, "choose", lambda *_, **__: runtime or FakeRuntime())
        self.patch.setattr(generators, "build", lambda *_: a_build(generator or FakeGenerator()))
        # Not the ghz that may be on this host's PATH.
        return job.benchmark(self.workspace, request, {"PATH": "", **environment}, "run it", build)

    def records(self) -> list[Record]:
        return records_in(self.workspace.results)


@pytest.fixture
def shop(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shop:
    return Shop(workspace, capsys, monkeypatch)


def test_a_good_benchmark_ends_with_its_headline_its_record_and_the_page(shop: Shop) -> None:
    assert shop(a_request("tonic")) == 0
    (record,) = shop.records()
    headline, where, page = shop.capsys.readouterr().out.splitlines()
    assert headline == (
        "tonic stream-grpc: 1.00 M messages/s (best of 3 runs; counted; median 1.00 M)"
    )
    assert where == f"record: results/{record.path}"
    assert page == "page: site/public/index.html"
    assert "1.00 M" in (shop.workspace.site / "public" / "index.html").read_text()


def test_a_trial_is_called_one_in_the_terminal_and_on_the_first_page(shop: Shop) -> None:
    assert shop(a_request("tonic", runs=1)) == 0
    assert "(one run; counted; a trial)" in shop.capsys.readouterr().out
    assert "64 · ghz · trials" in (shop.workspace.public / "index.html").read_text()


FAILING = [a_measurement(0.0, ok=0, failed={"Internal": 3})]


def test_a_failed_framework_is_a_record_and_exit_code_1(shop: Shop) -> None:
    assert shop(a_request("tonic"), generator=FakeGenerator(FAILING)) == 1
    (record,) = shop.records()
    out, err = shop.capsys.readouterr()
    assert record.failure
    assert f"log: results/{record.failure.log}" in out
    assert "error: tonic: warm-up: no call succeeded (3 x Internal)\n" in err
    (board,) = shop.workspace.public.glob("boards/stream-grpc/64/ghz/*/index.html")
    assert "no call succeeded" in board.read_text()


def test_all_goes_on_after_a_failure_and_ends_with_the_worst_code(shop: Shop) -> None:
    breaks = FakeGenerator(on_fire=lambda number: "broke" if number == 0 else None)
    assert shop(a_request("all", ("stream-grpc",)), generator=breaks) == 3
    assert {each.framework.name: each.status for each in shop.records()} == {
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
    shop: Shop, shots: tuple[int, ...], last: str
) -> None:
    shop(a_request("all"), generator=breaks_at(*shots))
    assert shop.capsys.readouterr().out.splitlines()[-1] == last


def test_all_builds_the_site_once_at_the_end_however_many_sessions_there_are(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []

    def count(workspace: Workspace, _: object) -> Path:
        built.append(len(shop.records()))
        return shop.workspace.public

    monkeypatch.setattr(f"{__name__}.build", count)
    assert shop(a_request("all")) == 0
    assert built == [3]
    last = shop.capsys.readouterr().out.splitlines()[-2:]
    assert last == ["page: site/public", "3 measured, 0 failed"]


def test_of_several_connection_counts_each_one_counts(shop: Shop) -> None:
    (shop.workspace.profiles / "many.yaml").write_text(
        "extends: stream-grpc\nname: many\nconnections: [1, 64]"
    )
    add_framework(shop.workspace, "wide", "many")
    assert shop(a_request("wide"), generator=breaks_at(0)) == 3
    last = shop.capsys.readouterr().out.splitlines()[-1]
    assert last == "1 measured, 1 failed: wide under many at 1 connection"


def test_a_drop_in_for_ghz_has_a_board_of_its_own(shop: Shop, tmp_path: Path) -> None:
    named = str(a_program(tmp_path / "mine", "echo volley 0.1.0"))
    assert shop(a_request("tonic")) == 0
    assert shop(a_request("tonic"), GHZ=named) == 0
    assert shop(a_request("tonic"), generator=FakeGenerator(FAILING), GHZ=named) == 1
    assert [each.profile.generator for each in shop.records()] == [
        "ghz",
        "volley",
        "volley",
    ]
    boards = json.loads((shop.workspace.results / "leaderboard.json").read_bytes())["boards"]
    assert [each["generator"] for each in boards] == ["ghz", "volley"]
    assert [each["rows"][0]["failure"] is None for each in boards] == [True, False]


def test_another_connection_count_is_a_trial(shop: Shop) -> None:
    assert shop(a_request("tonic", connections=(7, 64))) == 0
    entries = open_archive(shop.workspace.results).entries.values()
    assert {each.load.connections: each.is_trial for each in entries} == {7: True, 64: False}


def test_where_no_call_finished_the_median_is_unknown(shop: Shop) -> None:
    slow = a_measurement(0.0, ok=0, cut=256, mean_ns=None)
    assert shop(a_request("tonic"), generator=FakeGenerator([slow])) == 0
    assert shop.capsys.readouterr().out.startswith(
        "tonic stream-grpc: < 256 k messages/s (best of 3 runs; the run's error bar 0 to 256 k; "
        "median unknown; cut-calls, none-finished)\n"
    )


def test_all_skips_what_cannot_be_run_here_and_says_so(shop: Shop) -> None:
    runtime = FakeRuntime(missing={"grpc-go": "needs go"})
    assert shop(a_request("all", ("stream-grpc",)), runtime) == 0
    assert [each.framework.name for each in shop.records()] == ["tonic"]
    assert "skipped grpc-go: needs go" in shop.capsys.readouterr().err


def broken(workspace: Workspace, name: str) -> None:
    """Add a framework whose meta.json cannot be read."""
    add_framework(workspace, name)
    (workspace.frameworks / name / "meta.json").write_text('{"display_name": \n')


@pytest.mark.parametrize("dry_run", [False, True])
def test_all_goes_on_after_a_broken_meta_json_and_ends_with_1(shop: Shop, *, dry_run: bool) -> None:
    broken(shop.workspace, "odd")
    assert shop(a_request("all", ("stream-grpc",), dry_run=dry_run)) == 1
    out, err = shop.capsys.readouterr()
    assert err.count("error: ") == 1
    assert "error: frameworks/odd/meta.json: line 2: Expecting value\n" in err
    if dry_run:
        assert "grpc-go under stream-grpc: " in out
        assert "tonic under stream-grpc: " in out
    else:
        assert [each.framework.name for each in shop.records()] == [
            "grpc-go",
            "tonic",
        ]
        assert out.splitlines()[-1] == "2 measured, 1 failed: odd"


def test_where_nothing_is_subscribed_to_there_is_nothing_to_do(shop: Shop) -> None:
    for name in ("grpc-go", "tonic"):
        (shop.workspace.frameworks / name / "meta.json").unlink()
    add_framework(shop.workspace, "odd", "of-another-time")
    with pytest.raises(UsageError, match=r"^no enabled framework subscribes to any profile$"):
        shop(a_request("all"))


def test_unary_calls_are_requests(shop: Shop) -> None:
    add_framework(shop.workspace, "unary", "unary-grpc")
    assert shop(a_request("unary", ("unary-grpc",))) == 0
    counts = {each.profile.connection_count for each in shop.records()}
    assert counts == {256, 1024}
    assert shop.capsys.readouterr().out.startswith(
        "unary unary-grpc at 256 connections: 1.00 M requests/s (best of 3 runs; "
    )


def test_a_schedule_that_was_missed_is_said_to_have_no_rank(shop: Shop) -> None:
    add_framework(shop.workspace, "timed", "load-const")
    good = Second(intended=200, sent=200, ok=200, failed=0, messages=200)
    bad = replace(good, sent=100)
    measured = a_measurement().model_copy(update={"seconds": (good, bad, good)})
    assert shop(a_request("timed"), generator=FakeGenerator([measured])) == 0
    out, err = shop.capsys.readouterr()
    assert "missed-schedule" in out
    assert "note: 1 of 3 seconds did not have the calls that were due" in err


def test_without_one_of_the_generators_the_others_are_used_and_it_is_said(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_framework(shop.workspace, "both", "stream-grpc", "load-const")
    profile = shop.workspace.profiles / "load-const.yaml"
    profile.write_text(profile.read_text().replace("generator: ghz", "generator: volley"))

    def missing(located: Located, *_: object) -> Build[FakeGenerator]:
        if located.asked is VOLLEY:
            raise HostError("there is no volley: build it")
        return (yield from a_build(FakeGenerator()))

    def run(*profiles: str) -> int:
        with monkeypatch.context() as patch:
            patch.setattr(runner, "choose", lambda *_, **__: FakeRuntime())
            patch.setattr(generators, "build", missing)
            return job.benchmark(
                shop.workspace, a_request("both", profiles), {"PATH": ""}, "run it", build
            )

    assert run() == 3
    out, err = shop.capsys.readouterr()
    assert "error: there is no volley: build it" in err
    assert out.endswith("1 measured, 1 failed: both under load-const\n")
    assert [each.profile.name for each in shop.records()] == ["stream-grpc"]
    with pytest.raises(HostError, match="there is no volley"):
        run("load-const")


def test_what_was_named_and_cannot_be_run_is_the_hosts_fault(shop: Shop) -> None:
    runtime = FakeRuntime(missing={"grpc-go": "needs go", "tonic": "needs cargo"})
    with pytest.raises(HostError, match="needs cargo"):
        shop(a_request("tonic"), runtime)
    with pytest.raises(HostError, match="no framework can be run here"):
        shop(a_request("all"), runtime)


def test_where_nothing_can_be_saved_the_error_names_the_way_out(shop: Shop) -> None:
    shop.workspace.results.rmdir()
    shop.workspace.results.write_text("a file")
    with pytest.raises(HostError, match="or try without saving: --no-save"):
        shop(a_request("tonic"))


def test_without_saving_nothing_is_kept(
    shop: Shop, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    drafts = tmp_path / "drafts"
    # Of another checkout, whose benchmark is not ours to clear up after.
    others = drafts / f"{DRAFT}of-another"
    others.mkdir(parents=True)
    (shop.workspace.results / others.name).mkdir()
    # Of a benchmark that was killed long ago.
    old = drafts / f"{DRAFT}old"
    old.mkdir()
    os.utime(old, (1e9, 1e9))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(drafts))
    assert shop(a_request("tonic", no_save=True)) == 0
    assert list(shop.workspace.results.iterdir()) == []
    assert list(drafts.iterdir()) == [others]
    assert len(shop.capsys.readouterr().out.splitlines()) == 1


def test_a_dry_run_shows_the_commands_and_does_nothing(shop: Shop, tmp_path: Path) -> None:
    generator = FakeGenerator()
    assert shop(a_request("tonic", dry_run=True), generator=generator) == 0
    lines = shop.capsys.readouterr().out.splitlines()
    assert lines[0].startswith("tonic under stream-grpc: runs: 3 x 5s, after 2s of warm-up")
    assert lines[1:3] == ["  build tonic", "  start tonic"]
    bound = shlex.join(whole_command(["ghz"], [2, 3]))
    assert lines[3].startswith(f"  {bound} --insecure --proto requests/benchmark.proto")
    assert generator.fired == []
    assert list(shop.workspace.results.iterdir()) == []
    assert not (tmp_path / "lock").exists()


def test_a_port_in_the_environment_is_said_to_be_ignored(shop: Shop) -> None:
    assert shop(a_request("tonic", dry_run=True), PORT_TLS="7443") == 0
    assert "note: PORT_TLS is ignored" in shop.capsys.readouterr().err


def test_a_dry_run_shows_the_ghz_that_would_be_used(shop: Shop, tmp_path: Path) -> None:
    def load(**environment: str) -> str:
        shop(a_request("tonic", dry_run=True), None, None, **environment)
        return shop.capsys.readouterr().out.splitlines()[-1]

    named = str(a_program(tmp_path / "my ghz", "echo --proto --call --connections"))
    bound = shlex.join(whole_command([], [2, 3]))
    assert load(GHZ=named).startswith(f"  {bound} './my ghz' --insecure --proto requests/")
    contained = load(GHZ=named, LOADGEN_DOCKER="true", GHZ_IMAGE="mine:1")
    assert contained.startswith(f"  {shlex.join(whole_command(['docker', 'run', '--rm']))} ")
    assert " mine:1 --insecure --proto requests/benchmark.proto" in contained
    assert named not in contained
    assert load(LOADGEN_DOCKER="false").startswith(f"  {bound} ghz --insecure ")


def test_a_dry_run_of_all_skips_what_cannot_be_run_here(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    add_framework(workspace, "here", native={"run": "exec ./server"})
    request = a_request("all", ("stream-grpc",), runtime="native", dry_run=True)
    assert job.benchmark(workspace, request, {}, "run it", build) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == ["here"]
    command = shlex.join(whole_command(["/bin/sh", "-c", "exec ./server"], [0, 1]))
    assert f"  {command}" in out.splitlines()
    assert "skipped grpc-go: grpc-go has no `native` section" in err
    assert "skipped tonic: " in err


def test_a_dry_run_shows_a_command_that_steers_the_terminal_without_harm(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    add_framework(workspace, "sly", native={"run": "true \x1b]0;title\x07 \u202e; ./server"})
    request = a_request("sly", runtime="native", dry_run=True)
    assert job.benchmark(workspace, request, {}, "run it", build) == 0
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


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (a_request("tonic", resume=True), "--resume: is for blocks"),
        (a_request("tonic", runs=2, blocks=8), "--runs: makes no sense"),
        (a_request("tonic", no_save=True, blocks=8), "--no-save: makes no sense"),
        (a_request("tonic", blocks=8, block_warm_up=1.0), "is for trials"),
    ],
)
def test_what_makes_no_sense_with_blocks_is_refused(
    shop: Shop, request_: Request, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        shop(request_)
    assert shop.records() == []
