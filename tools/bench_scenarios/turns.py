"""Running the bench: every tool under every workload, in turn, round after round."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import Progress, Tick, report_error
from arena.base.reading import tail
from arena.base.workspace import Workspace
from arena.load.find import locate
from arena.load.volley import WHOLE
from arena.machine import lock
from arena.machine.certs import ensure_certificate
from arena.machine.child import (
    Child,
    adopt_orphans,
    allow_open_files,
    exit_words,
    run_bounded,
    whole_command,
)
from arena.machine.sentinel import Sentinel
from arena.record.measurement import Cost
from arena.run.limits import limits_here
from tools.bench_scenarios import servers
from tools.bench_scenarios.contestants import CONTESTANTS, ERRORS, Job, Told, find
from tools.bench_scenarios.workloads import WORKLOADS, Workload
from tools.quiet import until_quiet

# A tool opens its connections before its load and prints its report after it.
_GRACE_S = 30.0


@dataclass(frozen=True)
class Shot:
    """One run of one tool under one workload, and what it told."""

    workload: str
    tool: str
    told: Told
    server_counted: int
    elapsed_s: float
    cost: Cost

    @property
    def rate(self) -> float:
        """Requests per second of load, by the server's count."""
        return self.server_counted / self.elapsed_s

    @property
    def cpu_ns_per_request(self) -> float:
        """CPU time of the tool per request, by the server's count."""
        return self.cost.cpu_s / self.server_counted * 1e9


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
    """Hold the host's lock and return every shot, in order. HostError if volley breaks.

    Another tool that breaks under a workload is reported, and has no shot of it.
    """
    adopt_orphans()
    with lock.only_benchmark(command, wait=wait, say=progress.say):
        volley = _volley(workspace, environment, progress)
        tools = find(environment, volley)
        programs = servers.Programs(volley, servers.build(progress))
        allow_open_files()
        ensure_certificate(workspace.certs)
        sentinel = Sentinel(limits_here(workspace, progress, is_kept=False))
        shots = []
        for number in range(1, rounds + 1):
            for workload in WORKLOADS:
                argv = servers.arguments(programs, workload, workspace.certs)
                length_s = workload.duration_s or duration_s
                for tool in workload.tools:
                    if tool not in tools:
                        continue
                    until_quiet(sentinel, quiet_wait_s, progress)
                    name = f"round {number}: {tool}, {workload.name}"
                    try:
                        with progress.window(name, length_s) as tick:
                            shots.append(shoot(argv, workload, tool, tools[tool], length_s, tick))
                    except HostError as error:
                        if tool == "volley":
                            raise
                        report_error(f"{error}; the others run")
        return shots


def _volley(workspace: Workspace, environment: Mapping[str, str], progress: Progress) -> Path:
    """Return the volley that serves, and runs: the one named, or the one of this checkout."""
    located = locate(WHOLE, workspace, environment)
    return Path(located.ready(workspace, None, progress).program)


def shoot(
    server: Sequence[str],
    workload: Workload,
    tool: str,
    program: str,
    duration_s: float,
    tick: Tick = lambda _: None,
) -> Shot:
    """Run one tool once, against a fresh server. HostError if either breaks."""
    contestant = CONTESTANTS[tool]
    name = f"{tool}, {workload.name}"
    with tempfile.TemporaryDirectory(prefix="httparena-bench-") as temporary:
        folder = Path(temporary)
        raw, errors = folder / "raw", folder / ERRORS
        with servers.serving(list(server), folder) as running:
            job = Job(workload, running.port, duration_s, folder, "")
            if tool == "h2load":
                job = Job(workload, running.port, duration_s, folder, servers.first_item(job.url))
            before = running.counts()
            argv = whole_command(contestant.argv(program, job))
            ended = run_bounded(
                lambda: Child(argv, cwd=folder, stdout=raw, stderr=errors),
                duration_s + _GRACE_S,
                tick,
            )
            after = running.counts()
        if ended.timed_out or ended.code:
            reason = "it did not end" if ended.timed_out else exit_words(ended.code)
            last = tail(errors, 1) or tail(raw, 1)
            raise HostError(f"{name}: {reason}: {last}".rstrip(": "))
        try:
            told = contestant.read(raw, job)
        except (ValueError, KeyError, OSError) as error:
            raise HostError(f"{name}: its output cannot be read: {error}") from error
    server_counted = servers.answered(before, after, is_grpc=workload.is_grpc)
    if not server_counted:
        raise HostError(f"{name}: no request came to the server")
    return Shot(workload.name, tool, told, server_counted, duration_s, ended.cost)


def medians(shots: Sequence[Shot]) -> list[Shot]:
    """Return the shot with the median CPU per request of each tool under each workload.

    With an even number of shots, it is the cheaper of the middle two.
    """
    groups: dict[tuple[str, str], list[Shot]] = {}
    for shot in shots:
        groups.setdefault((shot.workload, shot.tool), []).append(shot)
    return [
        sorted(group, key=lambda shot: shot.cpu_ns_per_request)[(len(group) - 1) // 2]
        for group in groups.values()
    ]
