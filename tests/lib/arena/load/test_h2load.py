"""h2load: its command line, what it refuses, the ways it is found, what is read of it."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.load import h2load, program
from arena.load.generators import Shot
from arena.load.h2load import H2LOAD as DESCRIBED
from arena.load.measurements import of_h2load
from arena.load.program import Program
from arena.what.profile import MeasuredProfile, load_profile, measured_profile
from tests.fakes import UNARY, a_profile, a_program
from tests.lib.arena.load.stubs import Find, argv, docker_stub, finder, lines, preview

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "h2load"
H2LOAD = '[ "$1" = --version ] && echo h2load nghttp2/1.52.0 && exit'
DAEMON = docker_stub("h2load nghttp2/1.70.0")
OLD, DEBIAN_12, NEW = "1.43.0", "1.52.0", "1.69.0"
BODY = ".tools/bodies/000000000408011002.bin"


def unary(**changes: Any) -> MeasuredProfile:
    """Return unary-grpc with 256 connections, with changes."""
    values: dict[str, Any] = {
        "name": "unary-grpc",
        "generator": "h2load",
        **UNARY,
        "connections": (256,),
        "connection_count": 256,
        **({} if changes.keys() & {"kind", "concurrency"} else {"streams_per_connection": 100}),
    }
    return a_profile(**{**values, **changes})


@pytest.fixture
def find(bin_: Path, outside: Path, workspace: Workspace) -> Find:
    """Return what finds h2load."""
    return finder("h2load", bin_, workspace)


def found(generator: Program) -> tuple[str, str]:
    info = generator.info(unary())
    assert info.name == "h2load"
    return info.found, info.version


# ---- its command line


def test_the_flags_are_those_of_the_classic_load() -> None:
    assert h2load.arguments(unary(), range(4), DEBIAN_12) == [
        "-c", "256", "-m", "100", "-t", "4", "-D", "5s", "--warm-up-time=3s", "-d", BODY,
        "-H", "content-type: application/grpc", "-H", "te: trailers",
        "http://localhost:8080/benchmark.BenchmarkService/GetSum",
    ]  # fmt: skip


def value(flag: str, profile: MeasuredProfile, version: str = DEBIAN_12) -> str:
    flags = h2load.arguments(profile, range(4), version)
    return flags[flags.index(flag) + 1]


def test_tls_is_told_by_the_url() -> None:
    flags = h2load.arguments(unary(tls=True, port=8443), None, DEBIAN_12)
    assert flags[-1] == "https://localhost:8443/benchmark.BenchmarkService/GetSum"


def test_calls_in_flight_are_shared_among_the_connections() -> None:
    profile = unary(concurrency=512)
    assert value("-m", profile) == "2"


def test_there_is_a_thread_for_each_cpu_but_none_without_a_connection() -> None:
    assert value("-t", unary(connections=(3,), connection_count=3)) == "3"
    flags = h2load.arguments(unary(), None, DEBIAN_12)
    assert 1 <= int(flags[flags.index("-t") + 1]) <= 256


@pytest.mark.parametrize(
    ("seconds", "new", "old"),
    [(5.0, "5s", "5"), (0.3, "300ms", "1"), (1.5, "1500ms", "2"), (0.0104, "10ms", "1")],
)
def test_a_window_is_told_in_units_that_the_version_reads(
    seconds: float, new: str, old: str
) -> None:
    profile = unary(duration_s=seconds)
    assert value("-D", profile, DEBIAN_12) == value("-D", profile, NEW) == new
    assert value("-D", profile, OLD) == old


@pytest.mark.parametrize(
    ("changes", "new", "old"),
    [
        ({}, "3s", "3"),
        ({"connections": (1024,), "connection_count": 1024}, "6s", "6"),
        ({"warmup_s": 7.5}, "7500ms", "8"),
        ({"warmup_s": 0.0}, None, None),
    ],
)
def test_each_run_has_a_warm_up_in_which_the_first_calls_are_answered(
    changes: dict[str, Any], new: str | None, old: str | None
) -> None:
    for version, told in ((DEBIAN_12, new), (NEW, new), (OLD, old)):
        flags = h2load.arguments(unary(**changes), range(4), version)
        found = [flag for flag in flags if flag.startswith("--warm-up-time")]
        assert found == ([f"--warm-up-time={told}"] if told else [])


def test_the_load_that_warms_up_takes_the_time_that_was_asked_for() -> None:
    assert DESCRIBED.lead_s(unary()) == 3.0
    warm_up = unary().warm_up()
    assert (DESCRIBED.lead_s(warm_up), warm_up.window_s) == (0.0, unary().warmup_s)


def test_json_is_asked_for_where_it_can_be_had() -> None:
    flag = "--output-file=/dev/stdout"
    assert flag in h2load.arguments(unary(), None, NEW)
    assert flag in h2load.arguments(unary(), None, "2.0.0")
    assert flag not in h2load.arguments(unary(), None, "1.68.1")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("h2load nghttp2/1.52.0", "1.52.0"),
        ("h2load nghttp2/1.70.0-DEV", "1.70.0-DEV"),
        ("h2load nghttp2/2.0", "2.0"),
        ("nghttp nghttp2/1.52.0", None),
        ("h2load nghttp2/", None),
        ("", None),
    ],
)
def test_a_version_is_read_from_what_it_prints(
    tmp_path: Path, text: str, version: str | None
) -> None:
    assert h2load.version_of([str(a_program(tmp_path / "it", f"echo {text}"))]) == version


def test_the_request_is_written_as_grpc_frames_it(workspace: Workspace) -> None:
    path = workspace.root / BODY
    h2load.prepare(unary(), workspace)
    assert path.read_bytes() == b"\0\0\0\0\4\x08\1\x10\2"
    path.write_bytes(b"half")
    h2load.prepare(unary(), workspace)
    assert path.read_bytes() == b"\0\0\0\0\4\x08\1\x10\2"


def test_another_request_is_another_file(workspace: Workspace) -> None:
    profile = unary(request={"a": 0, "b": -1})
    h2load.prepare(profile, workspace)
    path = workspace.root / value("-d", profile)
    assert path.read_bytes() == b"\0\0\0\0\x0b\x10" + b"\xff" * 9 + b"\1"
    assert value("-d", profile) != BODY


def test_a_request_that_cannot_be_written_is_told(workspace: Workspace) -> None:
    (workspace.root / ".tools").write_text("")
    with pytest.raises(HostError, match=r"000000000408011002\.bin: cannot be written \("):
        h2load.prepare(unary(), workspace)


def own(workspace: Workspace, request: str) -> MeasuredProfile:
    """Return health-grpc with another request."""
    (workspace.profiles / "own.yaml").write_text(
        f"extends: health-grpc\nname: own\nrequest: {request}\n"
    )
    return measured_profile(load_profile(workspace.profiles, "own"), 64)


@pytest.mark.parametrize(
    ("request_", "name", "body"),
    [
        ("{}", "0000000000", b"\0\0\0\0\0"),
        ("{service: ab}", "00000000040a026162", b"\0\0\0\0\4\x0a\2ab"),
        (
            f"{{service: {'x' * 100}}}",
            hashlib.sha256(b"\0\0\0\0\x66\x0a\x64" + b"x" * 100).hexdigest(),
            b"\0\0\0\0\x66\x0a\x64" + b"x" * 100,
        ),
    ],
)
def test_a_profile_with_its_own_proto_has_its_request_encoded(
    workspace: Workspace, request_: str, name: str, body: bytes
) -> None:
    profile = own(workspace, request_)
    assert DESCRIBED.problem(profile) == ""
    flags = h2load.arguments(profile, range(4), DEBIAN_12)
    path = f".tools/bodies/{name}.bin"
    assert flags[flags.index("-d") + 1] == path
    assert flags[-1] == "http://localhost:8080/grpc.health.v1.Health/Check"
    h2load.prepare(profile, workspace)
    assert (workspace.root / path).read_bytes() == body


# ---- what it refuses


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"concurrency": 512}, ""),
        ({"concurrency": 300}, "300 calls do not fit on 256"),
        ({"concurrency": 300, "connection_count": 100}, ""),
        ({"call": "benchmark.BenchmarkService/StreamSum"}, "it makes unary calls only"),
        ({"call": "benchmark.BenchmarkService/EchoSum"}, "it makes unary calls only"),
        ({"kind": "blast", "sweep": (1,), "repetitions": 1}, "a blast load is not one it knows"),
        ({"kind": "scheduled"}, "a scheduled load is not one it knows"),
    ],
)
def test_what_is_not_a_closed_loop_of_unary_calls_is_refused(
    changes: dict[str, Any], why: str
) -> None:
    said = DESCRIBED.problem(unary(**changes))
    assert why in said
    assert bool(said) == bool(why)


# ---- the ways it is found


def test_h2load_named_by_the_environment_comes_first(
    find: Find, bin_: Path, tmp_path: Path
) -> None:
    a_program(bin_ / "h2load", H2LOAD)
    named = a_program(tmp_path / "mine", "echo h2load nghttp2/1.70.0-DEV")
    generator = find(H2LOAD=str(named))
    assert found(generator) == ("$H2LOAD", "1.70.0-DEV")
    whole = argv(generator, unary())
    assert whole[0] == "./mine"
    assert "--output-file=/dev/stdout" in whole


def test_h2load_on_path_is_used(find: Find, bin_: Path) -> None:
    program = a_program(bin_ / "h2load", H2LOAD)
    generator = find()
    assert found(generator) == ("PATH", "1.52.0")
    whole = argv(generator, unary())
    assert whole[0] == f"./{program.parent.name}/h2load"
    assert "--output-file=/dev/stdout" not in whole


def test_one_on_path_that_does_not_run_is_none(find: Find, bin_: Path) -> None:
    a_program(bin_ / "h2load", "exit 127")
    with pytest.raises(HostError, match="there is no h2load"):
        find()


# ---- in a container


def test_without_a_program_an_image_is_built_and_asked_for_its_version(
    find: Find, bin_: Path, outside: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "docker", DAEMON)
    (workspace.root / "docker").mkdir()
    generator = find()
    assert found(generator) == ("image httparena-h2load:bookworm", "1.70.0 (sha256:0123456789ab)")
    assert found(find())[0] == "image httparena-h2load:bookworm"
    (build,) = [line for line in lines(outside / "docker.calls") if line.startswith("build ")]
    folder = workspace.root / "docker"
    assert f"--file {folder / 'h2load.Dockerfile'} {folder}" in build
    whole = argv(generator, unary())
    assert whole[:3] == ["docker", "run", "--rm"]
    source = workspace.root / ".tools" / "bodies"
    assert f'type=bind,"source={source}",target=/.tools/bodies,readonly' in whole
    assert whole[whole.index("--workdir") + 1] == "/"
    assert "--output-file=/dev/stdout" in whole


def test_in_docker_by_wish_even_with_h2load_named(
    find: Find, bin_: Path, outside: Path, tmp_path: Path, workspace: Workspace
) -> None:
    a_program(bin_ / "docker", DAEMON.replace("1.70.0", "1.52.0"))
    (outside / "images").write_text("abc")
    named = a_program(tmp_path / "mine", H2LOAD)
    environment = {"LOADGEN_DOCKER": "true", "H2LOAD": str(named), "H2LOAD_IMAGE": "mine:1"}
    generator = find(**environment)
    assert found(generator)[0] == "image mine:1"
    whole = argv(generator, unary())
    assert whole[whole.index("--name") + 1] == "httparena-h2load-run"
    assert whole[whole.index("mine:1") + 1 :] == h2load.arguments(unary(), None, DEBIAN_12)
    assert preview(unary(), workspace, environment) == whole


# ---- running it


def fire(find: Find, tmp_path: Path, script: str) -> tuple[Shot, Program]:
    named = a_program(tmp_path / "mine", f"{H2LOAD}\n{script}")
    generator = find(H2LOAD=str(named))
    return generator.fire(unary(duration_s=0.5), tmp_path / "run-1", lambda _: None), generator


def test_a_shot_finds_its_request_and_leaves_its_report(find: Find, tmp_path: Path) -> None:
    saved = FIXTURES / "h2load-152-unary.txt"
    shot, generator = fire(find, tmp_path, f"[ -s {BODY} ] && cat {saved}")
    assert shot.problem is None
    assert shot.raw == tmp_path / "run-1.txt"
    assert generator.parse(shot.raw, unary()).rate == 1880.0


LED = """
echo Warm-up started for thread '#0'.
while [ ! -e "$OUTSIDE/go" ]; do /bin/sleep 0.01; done
echo Main benchmark duration is started for thread '#0'.
while [ ! -e "$OUTSIDE/end" ]; do /bin/sleep 0.01; done
"""


def test_the_window_opens_when_the_program_says_so(
    find: Find, tmp_path: Path, outside: Path
) -> None:
    generator = find(H2LOAD=str(a_program(tmp_path / "mine", f"{H2LOAD}\n{LED}")))
    opened: list[bool] = []
    ticks = 0

    def tick(_: float) -> None:
        nonlocal ticks
        ticks += 1
        if ticks == 3:
            assert not opened
            (outside / "go").touch()
        if opened:
            (outside / "end").touch()

    shot = generator.fire(
        unary(), tmp_path / "run-1", tick, lambda: opened.append((outside / "go").exists())
    )
    assert opened == [True]
    assert shot.problem is None
    assert shot.cost.cpu_s >= 0


def test_one_that_does_not_end_is_killed_and_said_to_hang(
    find: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = find(H2LOAD=str(a_program(tmp_path / "mine", f"{H2LOAD}\nexec /bin/sleep 60")))
    monkeypatch.setattr(program, "_GRACE_S", 0.1)
    profile = unary(duration_s=0.1, warmup_s=0.0)
    shot = generator.fire(profile, tmp_path / "run-1", lambda _: None)
    assert shot.may_repeat
    assert shot.problem == "h2load did not end 0.1 s after its window and was killed"


def test_any_other_end_is_a_problem(find: Find, tmp_path: Path) -> None:
    shot, _ = fire(find, tmp_path, "echo getaddrinfo failed >&2; exit 1")
    assert shot.problem == "h2load ended in the middle of it (exit code 1)"
    assert shot.output == "getaddrinfo failed"


# ---- what is read of it


def test_calls_that_are_open_at_the_end_make_the_error_bar() -> None:
    told = of_h2load(FIXTURES / "h2load-152-half-second.txt", unary())
    assert (told.calls.ok, told.calls.failed, told.calls.cut) == (960, {}, 40)
    assert told.elapsed_s == 0.50141
    assert told.rate == told.rate_at_least == 960 / 0.50141
    assert told.rate_at_most == 1000 / 0.50141
    assert (told.messages, told.reported_calls_per_s) == (960, 1920.0)


def test_after_a_warm_up_what_ended_in_the_window_is_counted() -> None:
    profile = unary(connections=(4,), connection_count=4, streams_per_connection=10)
    for name in ("152-warm-up", "170-warm-up"):
        told = of_h2load(FIXTURES / f"h2load-{name}.txt", profile)
        assert told.elapsed_s == 0.5
        assert told.rate == told.rate_at_least == told.rate_at_most == 1920.0
        assert (told.calls.ok, told.calls.cut, told.reported_calls_per_s) == (960, 40, 1920.0)


def test_if_nothing_ended_after_a_warm_up_the_calls_in_flight_bound_the_rate() -> None:
    told = of_h2load(FIXTURES / "h2load-152-warm-up-none.txt", unary(connection_count=1024))
    assert (told.calls.ok, told.calls.cut, told.elapsed_s) == (0, 102_400, 5.0)
    assert (told.rate, told.rate_at_most) == (0.0, 20_480.0)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        # All that were open when the window opened were reset, and as many are open again.
        ("152-warm-up-none", "1000 total, 0 started, 1000 done, 0 succeeded, 1000 failed, 1000"),
        ("152-half-second", "0 total, 0 started, 0 done, 0 succeeded, 0 failed, 0"),
    ],
)
def test_a_run_without_an_ok_call_is_bounded_by_the_calls_in_flight(
    tmp_path: Path, name: str, counts: str
) -> None:
    text = (FIXTURES / f"h2load-{name}.txt").read_text()
    text = re.sub(r"requests: .* errored", f"requests: {counts} errored", text)
    raw = tmp_path / "raw.txt"
    raw.write_text(re.sub(r"status codes: \d+ 2xx", "status codes: 0 2xx", text))
    profile = unary(connections=(10,), connection_count=10, streams_per_connection=100)
    told = of_h2load(raw, profile)
    assert told.calls.ok == 0
    assert told.rate_at_most == pytest.approx(1000 / told.elapsed_s)


def test_what_h2load_did_not_look_at_is_said() -> None:
    told = of_h2load(FIXTURES / "h2load-152-internal.txt", unary())
    assert told.calls.ok == 2000
    assert told.unchecked
    assert (told.unchecked.status, told.unchecked.replies) == (2000, 2000)


def test_what_h2load_does_not_know_is_absent() -> None:
    latency = of_h2load(FIXTURES / "h2load-152-unary.txt", unary()).latency_ns
    assert (latency.kind, latency.mean, latency.max) == ("service", 20_800_000, 21_590_000)
    assert (latency.p50, latency.p99, latency.p999) == (None, None, None)
    sampled = of_h2load(FIXTURES / "h2load-152-many.txt", unary()).latency_ns
    assert (sampled.mean, sampled.max, sampled.samples) == (10_150_000, None, None)


def test_percentiles_come_from_the_samples_of_new_ones() -> None:
    latency = of_h2load(FIXTURES / "h2load-170-stdout.txt", unary()).latency_ns
    assert (latency.samples, latency.p999) == (1920, 24_110_997)


def test_failures_are_told_by_kind() -> None:
    told = of_h2load(FIXTURES / "h2load-152-mixed.txt", unary())
    assert told.calls.failed == {"HTTP 3xx": 100, "HTTP 4xx": 100, "HTTP 5xx": 100, "errored": 100}
    assert told.rate == told.rate_at_most == 600 / 0.1579


def test_broken_output_is_a_valueerror_of_one_line(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    for text in ("", "starting benchmark...\n", '{"version":'):
        raw.write_text(text)
        with pytest.raises(ValueError, match=f"^{raw}: [^\n]*$"):
            of_h2load(raw, unary())


# ---- the preview


def test_one_that_is_there_is_previewed_as_it_will_be_run(
    workspace: Workspace, bin_: Path, tmp_path: Path
) -> None:
    def shown(**environment: str) -> list[str]:
        return preview(unary(), workspace, {"PATH": str(bin_), **environment})

    assert shown()[0] == "h2load"
    a_program(bin_ / "h2load", H2LOAD)
    assert shown() == ["./bin/h2load", *h2load.arguments(unary(), None, DEBIAN_12)]
    named = a_program(tmp_path / "mine", "echo h2load nghttp2/1.69.0")
    assert shown(H2LOAD=str(named)) == ["./mine", *h2load.arguments(unary(), None, NEW)]
