"""Runtimes: how a framework's server is built, started and stopped."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from arena.base.errors import HostError, UsageError
from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.machine.builds import Build
from arena.machine.cgroups import own_group
from arena.machine.lock import own_mark
from arena.record.measurement import Cost, Memory
from arena.what.environment import STANDARD, Ports
from arena.what.framework import Framework

NAMES = ("auto", "docker", "native")


@dataclass(frozen=True)
class Built:
    """The result of a build: only facts for the record.

    `ahead_s` are the seconds that it took before its session. `image_bytes` is the size of the
    image, with all that it is based on.
    """

    image_digest: str | None = None
    standin: str | None = None
    image_bytes: int | None = None
    ahead_s: float = 0.0


@dataclass(frozen=True)
class Unavailable:
    """Why a runtime cannot run a framework on this host; `missing` are the needs to install."""

    reason: str
    missing: tuple[str, ...] = ()


class Server(Protocol):
    """A running server. Leaving its block stops it and writes its log."""

    argv: tuple[str, ...]
    is_away: bool  # Whether it runs in a container, outside this process's tree.
    began_s: float  # When its program was started, by the monotonic clock.

    def ended(self) -> str | None:
        """Return how the server ended, as text; None while it runs."""

    def terminate(self) -> None:
        """Send SIGTERM; without effect if it has ended."""

    def cost(self) -> Cost:
        """Return its use since it started."""

    def anonymous_bytes(self) -> int | None:
        """Return its anonymous memory now, to be asked for ten times a second; None once ended."""

    def memory(self) -> Memory | None:
        """Return its memory now; None once ended, or where the host does not say."""

    def away_s(self) -> float | None:
        """Return the CPU seconds that it has used outside this process's tree; None once ended."""


class Runtime(Protocol):
    """One way to run a framework."""

    name: str

    def unavailable(self, framework: Framework) -> Unavailable | None:
        """Return why this host cannot run the framework this way; None if it can."""

    def build(self, framework: Framework, log: Path) -> Build[Built]:
        """Build it, with all output to `log`; FrameworkError if that fails."""

    def start(
        self, framework: Framework, cpus: Sequence[int] | None, log: Path
    ) -> AbstractContextManager[Server]:
        """Run its server for the block, with output to `log`, and only on `cpus` if given."""

    def plan(self, framework: Framework, cpus: Sequence[int] | None) -> list[Sequence[str]]:
        """Return the command lines of build and start."""


def require_known(name: str) -> None:
    """Raise UsageError if there is no runtime of that name."""
    if name not in NAMES:
        raise UsageError(
            f"--runtime (RUNTIME): there is no runtime `{name}` (there are: {', '.join(NAMES)})"
        )


def choose(
    name: str,
    workspace: Workspace,
    progress: Progress,
    ports: Ports = STANDARD,
    quota: float | None = None,
) -> Runtime:
    """Return the runtime of that name; `auto` is docker when a daemon answers, else native.

    Its servers are given `ports`, and the time of `quota` CPUs: HostError if that is not to be had.
    """
    runtime = _chosen(name, workspace, progress, ports, quota)
    if quota is not None:
        if runtime.name == "docker":
            from arena.machine.docker import require_quota

            require_quota()
        elif made := own_group(own_mark(), quota):
            made.end()
    return runtime


def _chosen(
    name: str, workspace: Workspace, progress: Progress, ports: Ports, quota: float | None
) -> Runtime:
    from arena.machine.docker import daemon_version, foreign_network
    from arena.run.runtimes.docker import DockerRuntime
    from arena.run.runtimes.native import NativeRuntime

    require_known(name)
    if name == "native":
        return NativeRuntime(workspace, ports, quota)
    version, why = daemon_version()
    problem = f"no Docker daemon answers: {why}"
    if version and (foreign := foreign_network()):
        version, problem = None, f"{foreign}, so its containers are not on this host's network"
    if version:
        if name == "auto":
            progress.say(f"runtime: docker (a daemon answers: {version})")
        return DockerRuntime(workspace, ports, quota)
    if name == "docker":
        raise HostError(
            f"runtime docker: {problem}; start Docker here, "
            "or run without containers: --runtime native"
        )
    progress.say(f"runtime: native ({problem})")
    return NativeRuntime(workspace, ports, quota)
