"""A generator that is a program of its own: run on this host, or from an image."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena.cgroups import cgroup_of
from arena.errors import HostError
from arena.files import tail
from arena.generators import Shot
from arena.interrupts import held
from arena.measurement import Cost, Measurement
from arena.processes import Child, exit_words, run_bounded
from arena.progress import Tick
from arena.records import GeneratorInfo, MeasuredProfile
from arena.workspace import Workspace

# A generator dials its connections before its window and prints its report after it.
_GRACE_S = 30.0


@dataclass(frozen=True)
class Dialect:
    """What one kind of program has to itself: its name, its command line and its output.

    `report_codes` are the exit codes that come with a whole report.
    """

    name: str
    arguments: Callable[[MeasuredProfile, float], list[str]]
    measurement: Callable[[Path, MeasuredProfile], Measurement]
    report_codes: frozenset[int] = frozenset({0})


class Program:
    """A generator as a program on this host."""

    def __init__(
        self,
        dialect: Dialect,
        workspace: Workspace,
        cpus: Sequence[int] | None,
        program: str,
        version: str,
        found: str,
    ) -> None:
        self.name = dialect.name
        self.program = program
        self.version = version
        self._dialect = dialect
        self._workspace = workspace
        self._cpus = cpus
        self._found = found

    def info(self, profile: MeasuredProfile) -> GeneratorInfo:
        """Return which program makes the load, and its exact command line."""
        argv = self.command(profile, profile.duration_s)
        return GeneratorInfo(
            name=self.name, version=self.version, found=self._found, argv=tuple(argv)
        )

    def fire(self, profile: MeasuredProfile, duration_s: float, raw: Path, on_tick: Tick) -> Shot:
        """Put the load on for a window, its JSON going to `raw`."""
        errors = raw.with_suffix(".stderr")
        argv = self.command(profile, duration_s)
        ended = run_bounded(lambda: self._child(argv, raw, errors), duration_s + _GRACE_S, on_tick)
        problem = None
        if ended.timed_out:
            problem = f"{self.name} did not end {_GRACE_S:g} s after its window and was killed"
        elif ended.code and not (ended.code in self._dialect.report_codes and raw.stat().st_size):
            problem = f"{self.name} ended in the middle of it ({exit_words(ended.code)})"
        output = tail(errors)
        log = errors
        if not errors.stat().st_size:
            errors.unlink()
            log = raw
        return Shot(raw=raw, log=log, cost=ended.cost, problem=problem, output=output)

    def parse(self, raw: Path, profile: MeasuredProfile) -> Measurement:
        """Read the program's JSON; ValueError if it is broken."""
        return self._dialect.measurement(raw, profile)

    def command(self, profile: MeasuredProfile, duration_s: float) -> list[str]:
        """Return the command line for a window."""
        return [self.program, *self._dialect.arguments(profile, duration_s)]

    def _child(self, argv: list[str], raw: Path, errors: Path) -> Child:
        return Child(argv, cwd=self._workspace.root, stdout=raw, stderr=errors, cpus=self._cpus)


class ProgramInDocker(Program):
    """A generator in a container on the host's network; its cost is its control group's.

    The program it runs is an image.
    """

    def fire(self, profile: MeasuredProfile, duration_s: float, raw: Path, on_tick: Tick) -> Shot:
        """Put the load on; the container is gone when this returns or raises."""
        from arena.runtimes.docker import inspect, remove_container

        container = _container(self.name)
        remove_container(container)
        used = Cost(cpu_s=0.0, peak_bytes=0)
        group = None

        def watch(elapsed: float) -> None:
            nonlocal used, group
            on_tick(elapsed)
            try:
                if group is None:
                    group = cgroup_of(inspect("container", container)["State"]["Pid"])
                used = group.cost()
            except (OSError, HostError):
                # Not started yet, or over: the last sample, at most a tick old, stands.
                return

        try:
            shot = super().fire(profile, duration_s, raw, watch)
        finally:
            with held():
                remove_container(container)
        problem = shot.problem
        if group is None and problem is None:
            problem = f"the control group of {self.name}'s container could not be read"
        return replace(shot, cost=used, problem=problem)

    def command(self, profile: MeasuredProfile, duration_s: float) -> list[str]:
        """Return the command line for a window."""
        from arena.runtimes.docker import bind_mount, sandbox

        return [
            "docker", "run", "--rm", *sandbox(_container(self.name), self._cpus),
            *bind_mount(self._workspace.requests, "/requests"), "--workdir", "/", self.program,
            *self._dialect.arguments(profile, duration_s),
        ]  # fmt: skip

    def _child(self, argv: list[str], raw: Path, errors: Path) -> Child:
        return Child(argv, cwd=self._workspace.root, stdout=raw, stderr=errors)


def _container(name: str) -> str:
    return f"httparena-{name}-run"
