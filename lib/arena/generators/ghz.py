"""ghz, the classic generator: its flags are the contract, and nothing is added to the load."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import parse_ghz
from arena.cgroups import cgroup_of
from arena.errors import FrameworkError, HostError, UsageError
from arena.files import tail
from arena.generators import Shot
from arena.interrupts import held
from arena.measurement import Calls, Cost, Latency, Measurement
from arena.processes import Child, exit_words, run_bounded
from arena.progress import Progress, Tick
from arena.records import GeneratorInfo, MeasuredProfile
from arena.runtimes import run_build
from arena.units import format_duration
from arena.workspace import Workspace

VERSION = "v0.121.0"
_MODULE = "github.com/bojand/ghz"
_DEFAULT_IMAGE = f"httparena-ghz:{VERSION}"
_CONTAINER = "httparena-ghz-run"

# ghz dials 64 connections before its window and prints its report after it.
_GRACE_S = 30.0

_YES = {"true", "1", "yes"}
_NO = {"false", "0", "no", ""}

_WAYS = (
    "name one with GHZ=/path/to/ghz, put ghz on PATH, install Go so that it can be built, "
    "or start Docker so that it can be run from an image"
)


def resolve(
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
    progress: Progress,
) -> "Ghz":
    """Find ghz: $GHZ, PATH, .tools/bin, `go install`, $GHZ_IMAGE; HostError names these ways."""
    from arena.runtimes.docker import daemon_version

    def local(program: Path, found: str) -> Ghz:
        return Ghz(workspace, cpus, str(program), binary_version(program), found)

    def from_image() -> Ghz:
        image = environment.get("GHZ_IMAGE") or _DEFAULT_IMAGE
        digest = _ensure_image(workspace, image, progress)
        version = f"{VERSION if image == _DEFAULT_IMAGE else image} ({digest[:19]})"
        return GhzInDocker(workspace, cpus, image, version, f"image {image}")

    own = workspace.tools / "bin" / "ghz"
    if _wants_docker(environment):
        return from_image()
    if named := environment.get("GHZ"):
        return local(_checked(named), "$GHZ")
    if found := shutil.which("ghz", path=environment.get("PATH")):
        return local(Path(found), "PATH")
    if own.exists():
        return local(own, ".tools")
    if shutil.which("go"):
        _go_install(own, progress)
        return local(own, "go install")
    if daemon_version()[0]:
        return from_image()
    raise HostError(f"there is no ghz: {_WAYS}")


def check(environment: Mapping[str, str]) -> None:
    """Raise UsageError if $GHZ is to be used and is not ghz."""
    if not _wants_docker(environment) and (named := environment.get("GHZ")):
        _checked(named)


def _wants_docker(environment: Mapping[str, str]) -> bool:
    said = environment.get("LOADGEN_DOCKER", "")
    if said.lower() not in _YES | _NO:
        raise UsageError(f"LOADGEN_DOCKER: write true or false, not {said!r:.40}")
    return said.lower() in _YES


def _checked(named: str) -> Path:
    """Return the program $GHZ names, if it takes ghz's command line."""
    found = shutil.which(named)
    if not found:
        raise UsageError(f"GHZ: {named} is not a program that can be run")
    spoken = _output([found, "--help"])
    if not all(flag in spoken for flag in ("--proto", "--call", "--connections")):
        raise UsageError(f"GHZ: {named} is not ghz (its --help does not name ghz's flags)")
    return Path(found).absolute()


def _go_install(target: Path, progress: Progress) -> None:
    """Build the pinned version into place, in one step at the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        progress.waiting(f"building ghz {VERSION} with go install (once)"),
        tempfile.TemporaryDirectory(dir=target.parent, prefix=".ghz-") as folder,
    ):
        argv = ["env", f"GOBIN={folder}", "go", "install", f"{_MODULE}/cmd/ghz@{VERSION}"]
        _build(argv, target.parent, target.parent.parent, "go install")
        Path(folder, "ghz").replace(target)


def _build(argv: Sequence[str], folder: Path, tools: Path, called: str) -> None:
    """Run a build of ghz in `folder`; HostError names the log and the other ways to have ghz."""
    log = tools / "ghz-build.log"
    log.unlink(missing_ok=True)
    try:
        run_build(argv, folder, log, called)
    except FrameworkError as error:
        raise HostError(f"ghz: {error.reason}, see {log}; or {_WAYS}") from error


def _ensure_image(workspace: Workspace, image: str, progress: Progress) -> str:
    """Build the image from docker/ghz.Dockerfile unless it is there; return its digest."""
    from arena.runtimes.docker import build_argv, docker, inspect

    if not docker("images", "--quiet", image):
        folder = workspace.root / "docker"
        workspace.tools.mkdir(exist_ok=True)
        options = (
            "--file",
            str(folder / "ghz.Dockerfile"),
            "--build-arg",
            f"GHZ_VERSION={VERSION.removeprefix('v')}",
        )
        with progress.waiting(f"building the image {image} (once)"):
            argv = build_argv(image, folder, *options)
            _build(argv, folder, workspace.tools, "docker build")
    digest: str = inspect("image", image)["Id"]
    return digest


def binary_version(program: Path) -> str:
    """Return ghz's module version: what `go version -m` reads from the binary.

    `ghz --version` prints `dev` for one that go installed, so it is only asked where there is
    no Go, or where the binary was not built from a released module.
    """
    if shutil.which("go"):
        for line in _output(["go", "version", "-m", str(program)]).splitlines():
            fields = line.split()
            if fields[:2] == ["mod", _MODULE] and fields[2] != "(devel)":
                return fields[2]
    return _output([str(program), "--version"]).strip().partition("\n")[0] or "unknown"


def _output(argv: list[str]) -> str:
    """Return all that a short command prints; nothing if it cannot be run or hangs."""
    try:
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, timeout=20,
            stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


class Ghz:
    """ghz as a program on this host."""

    name = "ghz"

    def __init__(
        self,
        workspace: Workspace,
        cpus: Sequence[int] | None,
        program: str,
        version: str,
        found: str,
    ) -> None:
        self._workspace = workspace
        self._cpus = cpus
        self._program = program
        self._version = version
        self._found = found

    def info(self, profile: MeasuredProfile) -> GeneratorInfo:
        """Return which ghz makes the load, and its exact command line."""
        argv = self.command(profile, profile.duration_s)
        return GeneratorInfo(
            name=self.name, version=self._version, found=self._found, argv=tuple(argv)
        )

    def fire(self, profile: MeasuredProfile, duration_s: float, raw: Path, on_tick: Tick) -> Shot:
        """Put the load on for a window, its JSON going to `raw`."""
        errors = raw.with_suffix(".stderr")
        argv = self.command(profile, duration_s)
        ended = run_bounded(lambda: self._child(argv, raw, errors), duration_s + _GRACE_S, on_tick)
        problem = None
        if ended.timed_out:
            problem = f"ghz did not end {_GRACE_S:g} s after its window and was killed"
        elif ended.code:
            problem = f"ghz ended in the middle of it ({exit_words(ended.code)})"
        output = tail(errors)
        log = errors
        if not errors.stat().st_size:
            errors.unlink()
            log = raw
        return Shot(raw=raw, log=log, cost=ended.cost, problem=problem, output=output)

    def parse(self, raw: Path, profile: MeasuredProfile) -> Measurement:
        """Read ghz's JSON; ValueError if it is broken."""
        return measurement(raw, profile)

    def command(self, profile: MeasuredProfile, duration_s: float) -> list[str]:
        """Return the command line for a window."""
        return [self._program, *arguments(profile, duration_s)]

    def _child(self, argv: list[str], raw: Path, errors: Path) -> Child:
        return Child(argv, cwd=self._workspace.root, stdout=raw, stderr=errors, cpus=self._cpus)


class GhzInDocker(Ghz):
    """ghz in a container on the host's network; its cost is its control group's.

    The program it runs is an image.
    """

    def fire(self, profile: MeasuredProfile, duration_s: float, raw: Path, on_tick: Tick) -> Shot:
        """Put the load on; the container is gone when this returns or raises."""
        from arena.runtimes.docker import inspect, remove_container

        remove_container(_CONTAINER)
        used = Cost(cpu_s=0.0, peak_bytes=0)
        group = None

        def watch(elapsed: float) -> None:
            nonlocal used, group
            on_tick(elapsed)
            try:
                if group is None:
                    group = cgroup_of(inspect("container", _CONTAINER)["State"]["Pid"])
                used = group.cost()
            except (OSError, HostError):
                # Not started yet, or over: the last sample, at most a tick old, stands.
                return

        try:
            shot = super().fire(profile, duration_s, raw, watch)
        finally:
            with held():
                remove_container(_CONTAINER)
        problem = shot.problem
        if group is None and problem is None:
            problem = "the control group of ghz's container could not be read"
        return replace(shot, cost=used, problem=problem)

    def command(self, profile: MeasuredProfile, duration_s: float) -> list[str]:
        """Return the command line for a window."""
        from arena.runtimes.docker import bind_mount, sandbox

        return [
            "docker", "run", "--rm", *sandbox(_CONTAINER, self._cpus),
            *bind_mount(self._workspace.requests, "/requests"), "--workdir", "/", self._program,
            *arguments(profile, duration_s),
        ]  # fmt: skip

    def _child(self, argv: list[str], raw: Path, errors: Path) -> Child:
        return Child(argv, cwd=self._workspace.root, stdout=raw, stderr=errors)


def arguments(profile: MeasuredProfile, duration_s: float) -> list[str]:
    """Return HttpArena's own flags for a profile: they are the load. JSON is how it is told."""
    return [
        "--skipTLS" if profile.tls else "--insecure",
        "--proto", "requests/benchmark.proto",
        "--call", profile.call,
        "-d", json.dumps(profile.request, separators=(",", ":")),
        "--connections", str(profile.connection_count),
        "-c", str(profile.concurrency),
        "-z", format_duration(duration_s),
        "-O", "json",
        f"localhost:{profile.port}",
    ]  # fmt: skip


def preview(
    profile: MeasuredProfile,
    workspace: Workspace,
    environment: Mapping[str, str],
    cpus: Sequence[int] | None,
) -> list[str]:
    """Return the command line; a ghz that is yet to be built is just called ghz."""
    if _wants_docker(environment):
        image = environment.get("GHZ_IMAGE") or _DEFAULT_IMAGE
        return GhzInDocker(workspace, cpus, image, "", "").command(profile, profile.duration_s)
    own = workspace.tools / "bin" / "ghz"
    found = environment.get("GHZ") or shutil.which("ghz", path=environment.get("PATH"))
    return [found or str(own if own.exists() else "ghz"), *arguments(profile, profile.duration_s)]


def measurement(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved ghz output into a measurement; ValueError if it is broken.

    ghz counts calls, not messages: every OK call stands for `messages_per_call` of them, and
    the calls it cut may have delivered any number, which is what the error bar spans.
    """
    report = parse_ghz.parse_file(raw)
    rate = report.rate(profile.messages_per_call)
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=Calls(ok=report.calls.ok, failed=dict(report.calls.failed), cut=report.calls.cut),
        messages=report.calls.ok * profile.messages_per_call,
        rate=rate.messages_per_s,
        rate_low=rate.low,
        rate_high=rate.high,
        reported_calls_per_s=report.reported_calls_per_s,
        latency_ns=Latency.model_validate(report.latency.as_dict()),
    )
