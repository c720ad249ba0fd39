"""A generator that is a separate program: run on this host, or from an image."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import Tick
from arena.base.reading import tail
from arena.base.workspace import Workspace
from arena.load.generators import Description, MayOpen, Shot, Told, WarmUp
from arena.machine.cgroups import Cgroup, cgroup_of
from arena.machine.child import Child, exit_words, run_bounded, whole_command
from arena.machine.interrupts import held
from arena.record.measurement import Cost, Measurement
from arena.record.record import GeneratorInfo
from arena.what.profile import MeasuredProfile

# A generator opens its connections before its window and prints its report after it.
_GRACE_S = 30.0


class Program:
    """A generator as a program on this host."""

    is_away = False

    def __init__(
        self,
        description: Description,
        workspace: Workspace,
        cpus: Sequence[int] | None,
        program: str,
        version: str,
        found: str,
    ) -> None:
        self.name = description.name
        self.checks_replies = description.checks_replies
        self.program = program
        self.version = version
        self._description = description
        self._workspace = workspace
        self._cpus = cpus
        self._found = found

    def info(self, profile: MeasuredProfile, warm_up: WarmUp | None = None) -> GeneratorInfo:
        """Return the program that makes the load, and its exact command line."""
        arguments = (
            self._told(profile).arguments(profile, warm_up) if warm_up else self.arguments(profile)
        )
        return GeneratorInfo(
            name=self.name,
            version=self.version,
            found=self._found,
            argv=tuple(self.command(arguments)),
        )

    def lead_s(self, profile: MeasuredProfile) -> float:
        """Return the seconds of load that `fire` makes before the window opens."""
        return self._description.lead_s(profile)

    def fire(
        self,
        profile: MeasuredProfile,
        stem: Path,
        on_tick: Tick,
        on_open: Callable[[], None] = lambda: None,
    ) -> Shot:
        """Run the load for its window; the raw output goes to `stem` plus a suffix."""
        self._description.prepare(profile, self._workspace)
        way, lead_s = self._description.way(profile), self.lead_s(profile)
        arguments, raw = self.arguments(profile), self.raw(stem)
        if way.lead and lead_s:
            led = _Led(way.lead.opened, raw, on_tick, on_open)
            shot = self.shoot(arguments, raw, lead_s + profile.window_s, led.tick, led)
            cpu_s = max(shot.cost.cpu_s - led.spent_s, 0.0)
            return replace(shot, cost=shot.cost.model_copy(update={"cpu_s": cpu_s}))
        on_open()
        return self.shoot(arguments, raw, profile.window_s, on_tick)

    def away_s(self) -> float | None:
        """Return 0: its CPU time is that of a child of this process."""
        return 0.0

    def tells_window(self, profile: MeasuredProfile) -> bool:
        """Return whether the program opens its window for this profile when it is told."""
        return self._description.way(profile).told is not None

    def fire_told(
        self, profile: MeasuredProfile, warm_up: WarmUp, stem: Path, may_open: MayOpen
    ) -> Shot:
        """Warm up, and open the window when `may_open` says so.

        The cost's CPU time is the window's own, as the program reports it. What it reports is read
        once: the shot has the measurement.
        """
        told = self._told(profile)
        self._description.prepare(profile, self._workspace)
        opener = _Opener(told.warm, may_open)
        arguments = told.arguments(profile, warm_up)
        longest_s = warm_up.seconds + warm_up.wait_s + profile.window_s
        shot = self.shoot(arguments, self.raw(stem), longest_s, opener.tick, opener)
        with suppress(ValueError):
            measured, cpu_s = told.read(shot.raw, profile)
            cost = shot.cost.model_copy(update={"cpu_s": cpu_s})
            shot = replace(shot, cost=cost, measured=measured)
        return shot

    def _told(self, profile: MeasuredProfile) -> Told:
        if told := self._description.way(profile).told:
            return told
        raise RuntimeError(f"{self.name} does not open its window when it is told")

    def shoot(
        self,
        arguments: list[str],
        raw: Path,
        window_s: float,
        on_tick: Tick,
        opening: "_Opener | _Led | None" = None,
    ) -> Shot:
        """Start the program once, with output to `raw`; it is killed some time after its window."""
        errors = raw.with_suffix(".stderr")
        argv = self.command(arguments)

        def start() -> Child:
            child = Child(
                argv, cwd=self._workspace.root, stdout=raw, stderr=errors, is_told=bool(warm)
            )
            if opening:
                opening.attach(child, errors, lambda: self._used_s(child))
            return child

        warm = opening.warm if opening else ""
        grace_s = min(self._description.grace_s, _GRACE_S)
        ended = run_bounded(start, window_s + grace_s, on_tick)
        problem = None
        has_report = ended.code in self._description.report_codes and raw.stat().st_size
        if ended.timed_out:
            problem = f"{self.name} did not end {grace_s:g} s after its window and was killed"
        elif ended.code and not has_report:
            problem = f"{self.name} ended in the middle of it ({exit_words(ended.code)})"
        output = tail(errors)
        log = errors
        if not errors.stat().st_size or (warm and output == warm):
            errors.unlink()
            log = raw
        false_start = self._description.false_start
        is_false = bool(problem and false_start) and false_start in output
        may_repeat = ended.timed_out or is_false
        return Shot(raw, log, ended.cost, problem, output, may_repeat)

    def _used_s(self, child: Child) -> float:
        """Return the CPU seconds that the running program has used."""
        return child.tree_cost().cpu_s

    def parse(self, raw: Path, profile: MeasuredProfile) -> Measurement:
        """Read the program's output; ValueError if it is broken."""
        return self._description.way(profile).read(raw, profile)

    def arguments(self, profile: MeasuredProfile) -> list[str]:
        """Return the program's arguments for a profile."""
        return self._description.way(profile).arguments(profile, self._cpus, self.version)

    def raw(self, stem: Path) -> Path:
        """Return the path of the raw output."""
        return stem.with_suffix(self._description.suffix)

    def command(self, arguments: list[str]) -> list[str]:
        """Return the whole command line; its working directory is the project's root.

        The path of one of the project's own programs is relative, the same in every checkout.
        """
        program = Path(self.program)
        if program.is_relative_to(self._workspace.root):
            own = f"./{program.relative_to(self._workspace.root)}"
            return whole_command([own, *arguments], self._cpus)
        return whole_command([self.program, *arguments], self._cpus)


class ProgramInDocker(Program):
    """A generator in a container on the host's network; its cost is read from its control group.

    Its `program` is an image.
    """

    is_away = True
    _group: Cgroup | None = None
    _past_s = 0.0

    def away_s(self) -> float | None:
        """Return the CPU seconds of all its containers so far; None while none can be read."""
        try:
            return self._past_s + self._group.cost().cpu_s if self._group else None
        except OSError:
            return None

    def shoot(
        self,
        arguments: list[str],
        raw: Path,
        window_s: float,
        on_tick: Tick,
        opening: "_Opener | _Led | None" = None,
    ) -> Shot:
        """Start the program once; the container is removed before this returns or raises."""
        from arena.machine.docker import inspect, remove_container

        container = _container(self.name)
        remove_container(container)
        used = Cost(cpu_s=0.0, peak_bytes=0)
        is_seen = False

        def watch(elapsed: float) -> None:
            nonlocal used, is_seen
            on_tick(elapsed)
            try:
                if self._group is None:
                    seen = inspect("container", container)
                    self._group = cgroup_of(seen["State"]["Pid"], container=seen["Id"])
                used = self._group.cost()
                is_seen = True
            except (OSError, HostError):
                # Not started yet, or over: keep the last sample, which is at most a tick old.
                return

        try:
            shot = super().shoot(arguments, raw, window_s, watch, opening)
        finally:
            self._group = None
            self._past_s += used.cpu_s
            with held():
                remove_container(container)
        problem = shot.problem
        if not is_seen and problem is None:
            problem = f"the control group of {self.name}'s container could not be read"
        return replace(shot, cost=used, problem=problem)

    def _used_s(self, child: Child) -> float:
        """Return the CPU seconds that the running container has used."""
        del child
        return (self.away_s() or self._past_s) - self._past_s

    def command(self, arguments: list[str]) -> list[str]:
        """Return the whole command line."""
        from arena.machine.docker import bind_mount, sandbox

        folders = [
            option
            for folder in self._description.folders
            for option in bind_mount(self._workspace.root / folder, f"/{folder}")
        ]
        return whole_command([
            "docker", "run", "--rm", "--interactive", *sandbox(_container(self.name), self._cpus),
            *folders, "--workdir", "/", self.program, *arguments,
        ])  # fmt: skip


class _Opener:
    """Tells a program to open its window: `tick` asks `may_open` until it says so."""

    def __init__(self, warm: str, may_open: MayOpen) -> None:
        self.warm = warm
        self._is_open = False
        self._may_open = may_open
        self._is_warm = False

    def attach(self, child: Child, errors: Path, _: Callable[[], float]) -> None:
        self._child = child
        self._errors = errors

    def tick(self, elapsed: float) -> None:
        self._is_warm = self._is_warm or self.warm in self._errors.read_text(errors="replace")
        if self._may_open(elapsed, self._is_warm) and not self._is_open:
            self._child.tell("open")
            self._is_open = True


class _Led:
    """Sees in a program's raw output that its window has opened."""

    warm = ""

    def __init__(self, opened: str, raw: Path, on_tick: Tick, on_open: Callable[[], None]) -> None:
        self.spent_s = 0.0
        self._opened = opened
        self._raw = raw
        self._on_tick = on_tick
        self._on_open = on_open
        self._is_open = False

    def attach(self, _child: Child, _errors: Path, used_s: Callable[[], float]) -> None:
        self._used_s = used_s

    def tick(self, elapsed: float) -> None:
        self._on_tick(elapsed)
        if not self._is_open and self._opened in self._raw.read_text(errors="replace"):
            self._is_open = True
            self._on_open()
            self.spent_s = self._used_s()


def _container(name: str) -> str:
    return f"httparena-{name}-run"
