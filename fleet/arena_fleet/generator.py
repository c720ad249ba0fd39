"""volley-fleet: volley on all hosts of a fleet, as one generator."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from arena.base.progress import Progress, Tick
from arena.base.text import printable
from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.load.find import Located
from arena.load.generators import Shot, WarmUp, Way
from arena.load.program import Program
from arena.load.volley import VOLLEY
from arena.machine.cpus import CpuPlan
from arena.record.measurement import Cost, GeneratorHost, Raw
from arena.record.record import GeneratorInfo
from arena.what.environment import FLEET_GENERATOR
from arena.what.loads import Closed, Scheduled
from arena.what.profile import MeasuredProfile
from arena_fleet.facts import HostFacts, boot_id, find_volley, monotonic_ns, server_cpus
from arena_fleet.fleet import Fleet, Member, join
from arena_fleet.window import MOST_APART_NS, Load, Made, Part, Problem, make


def section_of(member: Member, part: Part, raw: Path) -> GeneratorHost:
    """Return a host's section in the record; its report is in the file `raw`."""
    told, after = part.told, part.after
    return GeneratorHost(
        number=member.number,
        cpu=member.facts.words,
        share=str(member.share),
        threads=told.threads,
        offset_ns=part.before.ns,
        offset_bound_ns=part.before.bound_ns,
        offset_after_ns=after and after.ns,
        offset_after_bound_ns=after and after.bound_ns,
        lateness_ns=told.lateness_ns,
        calls=told.calls,
        latency_ns=told.latency_ns,
        cpu_s=told.cost.cpu_s,
        cpus=member.facts.cpus,
        elapsed_s=told.elapsed_ns / 1e9,
        busiest_thread_s=told.busiest_thread_s,
        raw=Raw(path=raw.name, sha256=part.sha256),
    )


def misfits(parts: Sequence[Part], *, close_together: bool) -> Iterator[str]:
    """Yield why the windows are not one: they opened, or closed, at different times.

    The window of a schedule's share closes with its last call, and so at a moment of its own.
    """
    opened = [each.before.here(each.told.opened_ns) for each in parts]
    edges = {"opened": opened}
    if close_together:
        lasted = (each.told.window_ns for each in parts)
        edges["closed"] = [sum(both) for both in zip(opened, lasted, strict=True)]
    for what, moments in edges.items():
        apart_ns = max(moments) - min(moments)
        if apart_ns > MOST_APART_NS:
            yield (
                f"generator {1 + moments.index(max(moments))} of {len(parts)} {what} its window "
                f"{apart_ns / 1e6:.1f} ms after the first (limit {MOST_APART_NS / 1e6:g} ms)"
            )


# A warm-up before the window of a closed load: the window's edge is then a moment in a flow of
# calls, and no host's late awakening can move it. The calls of a schedule have due times anyway.
_LEAD_S = 0.5

# Clocks, arming, connections and the time until the start, as far as a progress bar needs it.
_SET_UP_S = 2.0

# How long a call of a schedule may take, and so how long volley may go on after its window.
_DRAIN_S = 20.0

_TICK_S = 0.1
_MERGE_S = 60.0

# How the driver calls a warm-up, whose window need not be exact.
_WARM_UP = "warm-up"

# Where a record's command line would have the server's address.
_SERVER = "SERVER"

# It makes these loads as volley does.
FLEET = replace(
    VOLLEY,
    name=FLEET_GENERATOR,
    ways={
        kind: Way(VOLLEY.ways[kind].arguments, VOLLEY.ways[kind].read)
        for kind in (Closed, Scheduled)
    },
)


class FleetProgram(Program):
    """The generator of a fleet. `program` is this host's volley, which merges the reports."""

    def __init__(self, fleet: Fleet, workspace: Workspace, program: str, version: str) -> None:
        count = len(fleet.members)
        found = f"{count} generator host{'s' * (count != 1)}"
        super().__init__(FLEET, workspace, None, program, version, found)
        self.fleet = fleet

    def info(self, profile: MeasuredProfile, warm_up: WarmUp | None = None) -> GeneratorInfo:
        """Return the version, and the command line of the first share, without an address."""
        del warm_up
        arguments = self._part(profile, self.fleet.members[0], 1, _SERVER)
        return GeneratorInfo(
            name=self.name, version=self.version, found=self._found, argv=("volley", *arguments)
        )

    def lead_s(self, profile: MeasuredProfile) -> float:
        """Return the seconds before the window opens."""
        return _SET_UP_S + _lead_s(profile)

    def tells_window(self, profile: MeasuredProfile) -> bool:
        """Return false: the window opens at a moment that all hosts know before."""
        del profile
        return False

    def away_s(self) -> float:
        """Return the CPU seconds of local hosts; those of other machines are not this one's."""
        return sum(_tree_s(each.facts.pid) for each in self.fleet.members if each.facts.is_local)

    def fire(
        self,
        profile: MeasuredProfile,
        stem: Path,
        on_tick: Tick,
        on_open: Callable[[], None] = lambda: None,
    ) -> Shot:
        """Make the load once; HostError if it was not fired, so that nothing is known."""
        at_ns, done, began = list[int](), False, time.monotonic()  # when the window opens
        members, is_counted = self.fleet.members, stem.name != _WARM_UP
        load, link = self._load(profile), self.fleet.link
        work = make(link, members, load, is_counted=is_counted, on_start=at_ns.append)
        with closing(link.begin(work)) as doing:
            while not done:
                left_s = (max(0.0, (each - monotonic_ns()) / 1e9) for each in at_ns)
                done = doing.wait(min([_TICK_S, *left_s]))
                if at_ns and at_ns[0] <= monotonic_ns():
                    at_ns.clear()
                    on_open()
                on_tick(time.monotonic() - began)
            made = doing.result()
        return self._shot(made, profile, stem)

    def _shot(self, made: Made, profile: MeasuredProfile, stem: Path) -> Shot:
        """Save what the hosts handed over, and merge it."""
        raw, parts, sections = self.raw(stem), list[Part](), list[GeneratorHost]()
        problems = [each for each in made.parts if isinstance(each, Problem)]
        for member, part in zip(self.fleet.members, made.parts, strict=True):
            if isinstance(part, Part):
                own = stem.with_name(f"{stem.name}-generator-{member.number}.json")
                own.write_bytes(part.content)
                parts.append(part)
                sections.append(section_of(member, part, own))
        if not problems and stem.name != _WARM_UP:
            close_together = not profile.load.follows_schedule
            problems += map(Problem, misfits(parts, close_together=close_together))
        if not problems:
            problems += self._merge([stem.with_name(each.raw.path) for each in sections], raw)
        return Shot(
            raw=raw,
            log=raw,
            cost=Cost(
                cpu_s=sum(each.told.cost.cpu_s for each in parts),
                peak_bytes=sum(each.told.cost.peak_bytes for each in parts),
            ),
            problem=problems[0].words if problems else None,
            output="\n".join(each.detail for each in problems if each.detail),
            generators=tuple(sections),
        )

    def _merge(self, raws: Sequence[Path], merged: Path) -> list[Problem]:
        """Merge the reports of all shares into one; return why not."""
        try:
            done = subprocess.run(
                [self.program, "merge", "-O", "json", "-o", str(merged), *map(str, raws)],
                check=False, capture_output=True, text=True, errors="replace", timeout=_MERGE_S,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            detail = str(error)
        else:
            if merged.exists() and merged.stat().st_size:
                return []
            detail = " ".join(done.stderr.split())[-300:]
        return [Problem("the reports cannot be merged", printable(detail))]

    def _load(self, profile: MeasuredProfile) -> Load:
        """Divide a profile's load among the hosts."""
        members, count, server = self.fleet.members, profile.connection_count, self.fleet.server
        return Load(
            parts=[
                [self._part(profile, each, number, server) for number in each.share.numbers]
                for each in members
            ],
            connections=[
                sum(_own(count, number, each.share.of) for number in each.share.numbers)
                for each in members
            ],
            lead_s=_lead_s(profile),
            window_s=profile.window_s,
            drain_s=_DRAIN_S if profile.load.follows_schedule else 0.0,
        )

    def _part(self, profile: MeasuredProfile, host: Member, number: int, server: str) -> list[str]:
        """Return volley's arguments for one part of a host's share."""
        *arguments, _ = self.arguments(profile)
        own = _own(profile.connection_count, number, host.share.of)
        lead = ["--warmup", format_duration(_LEAD_S)] if _lead_s(profile) else []
        at = f"[{server}]" if ":" in server else server
        return [
            *arguments,
            "--share", f"{number}/{host.share.of}",
            "--threads", str(min(host.threads, own)),
            "--start-at", "stdin",
            *lead,
            f"{at}:{profile.port}",
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class LocatedFleet(Located):
    """A joined fleet, in the place of a program."""

    fleet: Fleet | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """The CPUs of each generator host in words."""
        return tuple(each.facts.words for each in self.fleet.members) if self.fleet else ()

    def preview(self, workspace: Workspace, cpus: Sequence[int] | None) -> FleetProgram:
        """Return the fleet's generator."""
        del cpus
        if self.fleet is None:
            raise RuntimeError("a fleet that was not joined")
        return FleetProgram(self.fleet, workspace, self.program, self.version)


def joined(
    workspace: Workspace,
    address: str,
    environment: Mapping[str, str],
    shows: Progress,
    rack: str | None = None,
) -> tuple[LocatedFleet, CpuPlan]:
    """Join a fleet, or one rack of it; return its generator, and the CPUs of the server: all here.

    HostError if it does not answer, or if a host is not ready: then nothing is measured.
    """
    program, version = find_volley(workspace, environment, shows)
    fleet = join(workspace, address, rack)
    for each in fleet.members:
        if why := _misplaced(each.facts, version):
            raise each.not_ready(f"{each.facts.name} {why}")
    return located(fleet, str(program), version)


def located(fleet: Fleet, program: str, version: str) -> tuple[LocatedFleet, CpuPlan]:
    """Return the generator of a fleet, and the CPUs of its server: all of the server host."""
    of = fleet.members[0].share.of
    description = replace(FLEET, refuses=lambda profile: _too_few(profile, of))
    found = LocatedFleet(description, description, "fleet", program, version, fleet=fleet)
    return found, server_cpus(is_local=fleet.is_local)


def _too_few(profile: MeasuredProfile, of: int) -> str:
    """Return why a load cannot be divided into so many parts; empty if it can."""
    count = profile.connection_count
    if count >= of:
        return ""
    return (
        f"this fleet divides a load into {of} parts, each part needs a connection, and there "
        f"{'is 1' if count == 1 else f'are {count}'} (benchmark.sh --connections {of} makes a "
        "trial that has enough)"
    )


def _misplaced(facts: HostFacts, version: str) -> str:
    """Return why a host cannot make load for this one; empty if it can."""
    is_here = facts.boot_id == boot_id()
    if facts.is_local and not is_here:
        return "is one that `up local` plays on another machine, to try a fleet there"
    if is_here and not facts.is_local:
        return "is this machine, which runs the server (load comes from other machines)"
    if facts.volley_version != version:
        return f"has volley {facts.volley_version}, and this host has {version}"
    return ""


def _lead_s(profile: MeasuredProfile) -> float:
    return 0.0 if profile.load.follows_schedule else _LEAD_S


def _own(connections: int, number: int, of: int) -> int:
    """Return how many connections part `number` of `of` has: they are dealt out in turn."""
    return -(-(connections - number + 1) // of)


def _tree_s(pid: int) -> float:
    """Return the CPU seconds of a process, its children, and those that have ended."""
    total = 0.0
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])
    return total
