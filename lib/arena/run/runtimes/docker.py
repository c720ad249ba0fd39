"""The docker runtime: one container per server, on the host's network, without privileges.

It uses the docker command line, so that recorded commands can be repeated by hand.
"""

import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.base.errors import FrameworkError, HostError
from arena.base.workspace import Workspace
from arena.machine.blame import said
from arena.machine.builds import Build, Command
from arena.machine.cgroups import Cgroup, cgroup_of
from arena.machine.child import whole_command
from arena.machine.docker import (
    CONTROL_TIMEOUT_S,
    PREFIX,
    as_it_is_here,
    bind_mount,
    build_argv,
    docker,
    inspect,
    remove_container,
    sandbox,
)
from arena.machine.interrupts import held
from arena.record.measurement import Cost, Memory
from arena.run.runtimes import Built, Unavailable
from arena.what.environment import STANDARD, Ports
from arena.what.framework import Framework

# Set by scripts/standin-images.sh on images that stand in for official ones.
_STANDIN_LABEL = "httparena.standin.provides"
_RUN = ("docker", "run", "--detach")
_STOP_GRACE_S = 2
_LAST_BREATH_S = 2.0

# HttpArena mounts this into every container: some entries that also serve HTTP do not start
# without it. No gRPC call reads it, so it is empty.
_DATA = Path(__file__).parent / "data"


class Container:
    """A running container.

    Its first process is watched and its control group is read directly: asking the
    daemon ten times a second would itself be a load.
    """

    is_away = True

    def __init__(self, name: str, argv: tuple[str, ...], began_s: float = 0.0) -> None:
        self.name = name
        self.argv = argv
        self.began_s = began_s
        self._cgroup: Cgroup | None = None
        self._handle: int | None = None
        pid = inspect("container", name)["State"]["Pid"]
        if not pid:
            return
        try:
            self._handle = os.pidfd_open(pid)
            self._cgroup = cgroup_of(pid)
        except (OSError, HostError) as error:
            # Either it has just ended, which the daemon reports a moment later, or its processes
            # are hidden from this process.
            try:
                docker("wait", name, timeout_s=_LAST_BREATH_S)
            except HostError:
                self.close()
                raise error from None

    def ended(self) -> str | None:
        """Return how the container ended, as text; None while it runs."""
        if self._handle is not None and not select.select([self._handle], [], [], 0)[0]:
            if self._cgroup:
                with suppress(OSError):
                    self._cgroup.sample()
            return None
        try:
            # The daemon notices the end a moment after this process.
            code = docker("wait", self.name)
            state = inspect("container", self.name)["State"]
        except HostError as error:
            return f"its container is gone: {error}"
        return f"exit code {code}" + (" (out of memory)" if state["OOMKilled"] else "")

    def terminate(self) -> None:
        """Send SIGTERM to its first process."""
        with suppress(HostError):  # it is not there, or has just ended
            docker("kill", "--signal", "TERM", self.name)

    def cost(self) -> Cost:
        """Return the container's use since it started."""
        return self._cgroup.cost() if self._cgroup else Cost(cpu_s=0.0, peak_bytes=0)

    def anonymous_bytes(self) -> int | None:
        """Return the anonymous memory of its control group now."""
        return self._cgroup.anonymous_bytes() if self._cgroup else None

    def memory(self) -> Memory | None:
        """Return the memory of its control group now."""
        return self._cgroup.memory() if self._cgroup else None

    def away_s(self) -> float | None:
        """Return the CPU seconds of its control group; None once that is gone."""
        try:
            return self.cost().cpu_s
        except OSError:
            return None

    def close(self) -> None:
        """Release the process."""
        if self._handle is not None:
            os.close(self._handle)


class DockerRuntime:
    """Builds the entry's own Dockerfile and runs it as HttpArena does, but without privileges.

    HttpArena leaves a container its default capabilities and every system call. Here it has
    no capability, can gain none, and runs under the daemon's own seccomp profile. With a `quota`,
    it may use the time of so many CPUs.
    """

    name = "docker"

    def __init__(
        self, workspace: Workspace, ports: Ports = STANDARD, quota: float | None = None
    ) -> None:
        self._workspace = workspace
        self._ports = ports
        self._quota = quota

    def unavailable(self, framework: Framework) -> Unavailable | None:
        """Return a problem if the framework has no Dockerfile."""
        if (self._workspace.framework(framework.name) / "Dockerfile").is_file():
            return None
        return Unavailable(f"{framework.name} has no Dockerfile: use --runtime native")

    def build(self, framework: Framework, log: Path) -> Build[Built]:
        """Build the image from the framework's folder."""
        folder = self._workspace.framework(framework.name)
        own, words = folder / "Dockerfile", f"build {framework.name} (docker)"
        copy = self._workspace.tools / "builds" / f"{framework.name}.Dockerfile"
        file = as_it_is_here(own, copy)
        options = [] if file == own else ["--file", str(file)]
        argv = build_argv(_tag(framework), folder, *options)
        yield Command(argv, folder, log, words, "docker build")
        image = inspect("image", _tag(framework))
        labels = image["Config"].get("Labels") or {}
        standin = labels.get(_STANDIN_LABEL)
        return Built(image_digest=image["Id"], standin=standin, image_bytes=image.get("Size"))

    @contextmanager
    def start(
        self, framework: Framework, cpus: Sequence[int] | None, log: Path
    ) -> Iterator[Container]:
        """Run a container for the block; its output is saved as `log` at the end."""
        argv = self._run_argv(framework, cpus)
        name = _tag(framework)
        container = None
        try:
            with held():
                container = Container(name, tuple(argv), _start_container(argv, name))
            yield container
        finally:
            with held():
                try:
                    if container is not None:
                        container.close()
                        _stop(name, log)
                finally:
                    remove_container(name)

    def plan(self, framework: Framework, cpus: Sequence[int] | None) -> list[Sequence[str]]:
        """Return the command lines of build and start."""
        folder = self._workspace.framework(framework.name)
        build = whole_command(build_argv(_tag(framework), folder))
        return [build, self._run_argv(framework, cpus)]

    def _run_argv(self, framework: Framework, cpus: Sequence[int] | None) -> list[str]:
        ports = self._ports.given_to(framework.ports)
        return [
            *_RUN, *sandbox(_tag(framework), cpus),
            *([] if self._quota is None else ["--cpus", f"{self._quota:g}"]),
            "--log-driver", "json-file",
            "--log-opt", "max-size=50m",
            "--log-opt", "max-file=1",
            *(f"--env={name}={port}" for name, port in ports.environment.items()),
            *bind_mount(self._workspace.certs, "/certs"),
            *bind_mount(_DATA / "dataset.json", "/data/dataset.json"),
            *bind_mount(_DATA / "static", "/data/static"),
            _tag(framework),
        ]  # fmt: skip


def _tag(framework: Framework) -> str:
    """Return the name of a framework's image and of its container."""
    return PREFIX + framework.name.lower()


def _start_container(argv: list[str], name: str) -> float:
    """Do what `docker run --detach` does, in its two steps; return when the second one began."""
    created = ["create", *argv[len(_RUN) :]]
    try:
        docker(*created)
        began_s = time.monotonic()
        docker("start", name)
    except HostError as error:
        raise said("start", str(error)) or FrameworkError("start", str(error)) from error
    return began_s


def _stop(name: str, log: Path) -> None:
    """Stop a container and save its output.

    It is removed in any case. Errors here go to the log, so that they hide no failure
    of the framework.
    """
    with log.open("ab") as file:
        for command in (("stop", "-t", str(_STOP_GRACE_S)), ("logs",)):
            try:
                subprocess.run(
                    ["docker", *command, name],
                    check=True,
                    stdin=subprocess.DEVNULL,
                    stdout=file if command == ("logs",) else subprocess.DEVNULL,
                    stderr=file,
                    timeout=CONTROL_TIMEOUT_S,
                    start_new_session=True,
                )
            except (OSError, subprocess.SubprocessError) as error:
                file.write(f"{error}\n".encode())
                file.flush()
