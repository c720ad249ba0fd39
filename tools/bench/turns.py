"""Running the bench: every generator under every workload, in turn, round after round."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.reading import tail
from arena.base.workspace import Workspace
from arena.machine import lock
from arena.machine.certs import ensure_certificate
from arena.machine.child import adopt_orphans, allow_open_files
from arena.machine.sentinel import Sentinel, judged
from arena.record.measurement import Cost, Disturbance
from arena.run.limits import limits_here
from tools.bench.contestants import Contestant, find
from tools.bench.counting_server import build, serving
from tools.bench.workloads import WORKLOADS, Workload
from tools.quiet import until_quiet


@dataclass(frozen=True)
class Shot:
    """One run of one generator under one workload, with the generator's and the server's counts.

    `delay_p99_ns` is as in Told. Before it, the bench waited `waited_s` until the host was quiet;
    `disturbed` says what the host did during the run.
    """

    workload: Workload
    generator: str
    version: str
    counted: int
    failed: int
    elapsed_s: float
    server_counted: int
    cost: Cost
    delay_p99_ns: float | None = None
    waited_s: float = 0.0
    disturbed: tuple[Disturbance, ...] = ()

    @property
    def rate(self) -> float:
        """Units per second."""
        return self.counted / self.elapsed_s

    @property
    def cpu_ns_per_unit(self) -> float:
        """CPU time of the generator per unit, from its start to its end."""
        return self.cost.cpu_s / self.counted * 1e9


@dataclass(frozen=True)
class Watched:
    """The watch over the host, how long to wait for a quiet one, and where to say so."""

    sentinel: Sentinel
    quiet_wait_s: float
    progress: Progress


def run(
    workspace: Workspace,
    environment: Mapping[str, str],
    progress: Progress,
    *,
    command: str,
    rounds: int,
    duration_s: float,
    wait: bool,
    quiet_wait_s: float,
) -> list[Shot]:
    """Hold the host's lock and return every shot, in order.

    HostError if no generator is found, or one breaks.
    """
    adopt_orphans()
    with lock.only_benchmark(command, wait=wait, say=progress.say):
        contestants = find(workspace, environment, progress)
        server = build(progress)
        allow_open_files()
        ensure_certificate(workspace.certs)
        sentinel = Sentinel(limits_here(workspace, progress, is_kept=False))
        watched = Watched(sentinel, quiet_wait_s, progress)
        return [
            _shot(server, workspace.certs, workload, contestants[name], duration_s, watched, number)
            for number in range(1, rounds + 1)
            for workload in WORKLOADS
            for name in workload.generators
            if name in contestants
        ]


def _shot(
    server: Path,
    certificates: Path,
    workload: Workload,
    contestant: Contestant,
    duration_s: float,
    watched: Watched,
    number: int,
) -> Shot:
    """Run one generator once, on a quiet host and against a fresh server.

    A server with TLS has its certificate from the folder `certificates`.
    """
    waited_s = until_quiet(watched.sentinel, watched.quiet_wait_s, watched.progress)
    program = contestant.program
    name = f"{program.name}, {workload.name}"
    with tempfile.TemporaryDirectory(prefix="httparena-bench-") as temporary:
        folder = Path(temporary)
        with serving(server, folder, certificates if workload.tls else None) as peer:
            profile = workload.profile(peer.port, duration_s)
            arguments = workload.rendered(contestant.arguments(profile, workload.rps), program.name)
            window = watched.sentinel.window(lambda: 0.0)
            with watched.progress.window(f"round {number}: {name}", duration_s) as tick:
                fired = program.shoot(arguments, folder / "raw", duration_s, tick)
            window.close()
            counts = peer.counts()
        if fired.problem:
            last = fired.output.rpartition("\n")[2] or tail(fired.raw, 1)
            raise HostError(f"{name}: {fired.problem}: {last}".rstrip(": "))
        try:
            told = contestant.read(fired.raw, profile)
        except ValueError as error:
            raise HostError(f"{name}: its output cannot be read: {error}") from error
    if not told.counted:
        raise HostError(f"{name}: no call succeeded")
    return Shot(
        workload=workload,
        generator=program.name,
        version=program.version,
        counted=told.counted,
        failed=told.failed,
        elapsed_s=told.elapsed_s,
        server_counted=counts.messages,
        cost=fired.cost,
        delay_p99_ns=told.delay_p99_ns,
        waited_s=waited_s,
        disturbed=judged(watch, watched.sentinel.limits) if (watch := window.watch()) else (),
    )


def medians(shots: Sequence[Shot]) -> list[Shot]:
    """Return the shot with the median rate of each generator under each workload.

    With an even number of shots, it is the slower of the middle two.
    """
    groups: dict[tuple[str, str], list[Shot]] = {}
    for shot in shots:
        groups.setdefault((shot.workload.name, shot.generator), []).append(shot)
    return [
        sorted(group, key=lambda shot: shot.rate)[(len(group) - 1) // 2]
        for group in groups.values()
    ]
