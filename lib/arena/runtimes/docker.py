"""The docker runtime: one container a server, on the host's network, with no privileges.

Talks to the docker command line, so that what is recorded can be repeated by hand.
"""

import json
import os
import resource
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena.cgroups import Cgroup, cgroup_of
from arena.errors import FrameworkError, HostError
from arena.frameworks import Framework
from arena.interrupts import held
from arena.limits import most_open_files
from arena.measurement import Cost
from arena.runtimes import Built, run_build
from arena.units import format_cpus, format_duration
from arena.workspace import Workspace

# Every container and image of ours is named with this, and containers are labelled with it.
PREFIX = "httparena-"
LABEL = "httparena"

# Set by scripts/standin-images.sh on images that stand in for official ones.
_STANDIN_LABEL = "httparena.standin.provides"

_CONTROL_TIMEOUT_S = 60.0
_STOP_GRACE_S = 2
_LAST_BREATH_S = 2.0
_PIDS_LIMIT = 4096

# What HttpArena mounts into every container: some entries that also serve HTTP do not start
# without it. No gRPC call reads it, so nothing is in it.
_DATA = Path(__file__).parent / "data"


def docker(*arguments: str, timeout_s: float = _CONTROL_TIMEOUT_S) -> str:
    """Run one short docker command; return its output, HostError if it fails.

    In a session of its own: a Ctrl-C in the terminal must not cut it in half.
    """
    try:
        done = subprocess.run(
            ["docker", *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise HostError("there is no `docker` command on PATH") from error
    except subprocess.TimeoutExpired as error:
        raise HostError(
            f"docker {arguments[0]} did not answer within {format_duration(timeout_s)}"
        ) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise HostError(f"docker {arguments[0]}: {lines[0]}")
    return done.stdout.strip()


def daemon_version() -> tuple[str | None, str]:
    """Return the version of the Docker daemon that answers, or None and why there is none."""
    try:
        return docker("version", "--format", "{{.Server.Version}}", timeout_s=10), ""
    except HostError as error:
        return None, str(error)


def foreign_network() -> str | None:
    """Say why the daemon's host network is not this host's; None if it is."""
    try:
        answer = docker("info", "--format", "{{.OperatingSystem}}\n{{.SecurityOptions}}")
    except HostError as error:
        return str(error)
    system, _, security = answer.partition("\n")
    if "name=rootless" in security:
        return "the Docker daemon is rootless"
    return f"{system} runs in a virtual machine" if "Docker Desktop" in system else None


def remove_container(name: str) -> None:
    """Remove a container, running or not; nothing happens if there is none."""
    try:
        docker("rm", "--force", "--volumes", name)
    except HostError as error:
        # Clients differ in whether this is an error at all.
        if "No such container" not in str(error):
            raise


def remove_leftovers() -> list[str]:
    """Remove the containers a killed benchmark left; call it only with the host's lock held."""
    names = docker(
        "ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}"
    ).splitlines()
    for name in names:
        remove_container(name)
    return names


def sandbox(name: str, cpus: Sequence[int] | None) -> list[str]:
    """Return the options every container of ours runs under.

    Open files, and the memory that io_uring may lock, are raised to our own hard limits: a
    daemon without CAP_SYS_RESOURCE, started under the same ones, could not go further.
    """
    open_files = most_open_files()
    _, locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    options = [
        "--name", name,
        "--label", LABEL,
        "--network", "host",
        "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges",
        "--pids-limit", str(_PIDS_LIMIT),
        "--ulimit", f"nofile={open_files}:{open_files}",
        "--ulimit", f"memlock={locked}:{locked}",
    ]  # fmt: skip
    if cpus is not None:
        options += ["--cpuset-cpus", format_cpus(cpus)]
    return options


def build_argv(tag: str, folder: Path, *options: str) -> list[str]:
    """Return the command that builds a folder's Dockerfile, leaving nothing else behind."""
    return ["docker", "build", "--force-rm", "--tag", tag, *options, str(folder)]


def inspect(kind: str, name: str) -> dict[str, Any]:
    """Return what docker knows of a container or an image."""
    found: dict[str, Any] = json.loads(docker("inspect", "--type", kind, name))[0]
    return found


class Container:
    """A running container.

    Its first process is watched and its control group read directly, because asking the
    daemon ten times a second would be a load of its own.
    """

    def __init__(self, name: str, argv: tuple[str, ...]) -> None:
        self.name = name
        self.argv = argv
        self._cgroup: Cgroup | None = None
        self._handle: int | None = None
        pid = inspect("container", name)["State"]["Pid"]
        if not pid:
            return
        try:
            self._handle = os.pidfd_open(pid)
            self._cgroup = cgroup_of(pid)
        except (OSError, HostError) as error:
            # Either it has just ended, which the daemon learns a moment later, or its processes
            # are hidden from us.
            try:
                docker("wait", name, timeout_s=_LAST_BREATH_S)
            except HostError:
                self.close()
                raise error from None

    def ended(self) -> str | None:
        """Say in words how the container ended; None while it runs."""
        if self._handle is not None and not select.select([self._handle], [], [], 0)[0]:
            if self._cgroup:
                with suppress(OSError):
                    self._cgroup.sample()
            return None
        try:
            # The daemon learns of the end a moment after we did.
            code = docker("wait", self.name)
            state = inspect("container", self.name)["State"]
        except HostError as error:
            return f"its container is gone: {error}"
        return f"exit code {code}" + (" (out of memory)" if state["OOMKilled"] else "")

    def cost(self) -> Cost:
        """Return what the container has used since it started."""
        if self._cgroup is None:
            return Cost(cpu_s=0.0, peak_bytes=0)
        return self._cgroup.cost()

    def close(self) -> None:
        """Let go of the process."""
        if self._handle is not None:
            os.close(self._handle)


class DockerRuntime:
    """Builds the entry's own Dockerfile and runs it as HttpArena does, but without privileges.

    HttpArena leaves a container its default capabilities and every system call. Here it has
    no capability, may gain none, and is held to the daemon's own seccomp profile.
    """

    name = "docker"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def unavailable(self, framework: Framework) -> str | None:
        """Say so if the framework has no Dockerfile."""
        if (self._workspace.framework(framework.name) / "Dockerfile").is_file():
            return None
        return f"{framework.name} has no Dockerfile: it runs natively only (--runtime native)"

    def build(self, framework: Framework, log: Path) -> Built:
        """Build the image from the framework's folder."""
        folder = self._workspace.framework(framework.name)
        run_build(build_argv(_tag(framework), folder), folder, log, "docker build")
        image = inspect("image", _tag(framework))
        labels = image["Config"].get("Labels") or {}
        return Built(image_digest=image["Id"], standin=labels.get(_STANDIN_LABEL))

    @contextmanager
    def start(
        self, framework: Framework, cpus: Sequence[int] | None, log: Path
    ) -> Iterator[Container]:
        """Run a container for the block; its output becomes `log` when it ends."""
        argv = self._run_argv(framework, cpus)
        name = _tag(framework)
        container = None
        try:
            with held():
                _start_container(argv)
                container = Container(name, tuple(argv))
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
        """Return the command lines that build and start would use."""
        folder = self._workspace.framework(framework.name)
        return [build_argv(_tag(framework), folder), self._run_argv(framework, cpus)]

    def _run_argv(self, framework: Framework, cpus: Sequence[int] | None) -> list[str]:
        return [
            "docker", "run", "--detach", *sandbox(_tag(framework), cpus),
            "--log-driver", "json-file",
            "--log-opt", "max-size=50m",
            "--log-opt", "max-file=1",
            *bind_mount(self._workspace.certs, "/certs"),
            *bind_mount(_DATA / "dataset.json", "/data/dataset.json"),
            *bind_mount(_DATA / "static", "/data/static"),
            _tag(framework),
        ]  # fmt: skip


def _tag(framework: Framework) -> str:
    """Return the name of a framework's image, and of its container."""
    return PREFIX + framework.name.lower()


def _start_container(argv: list[str]) -> None:
    try:
        docker(*argv[1:])
    except HostError as error:
        raise FrameworkError("start", str(error)) from error


def _stop(name: str, log: Path) -> None:
    """Stop a container and save what it printed.

    It is removed in any case: what goes wrong here stands in the log, and hides no failure
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
                    timeout=_CONTROL_TIMEOUT_S,
                    start_new_session=True,
                )
            except (OSError, subprocess.SubprocessError) as error:
                file.write(f"{error}\n".encode())
                file.flush()


def bind_mount(source: Path, target: str) -> list[str]:
    """Return the option that shows a file or folder read-only to a container."""
    path = str(source).replace('"', '""')
    return ["--mount", f'type=bind,"source={path}",target={target},readonly']
