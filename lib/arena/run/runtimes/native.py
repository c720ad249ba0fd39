"""The native runtime: the commands of meta.json's `native`, in a process group of their own."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.machine import builds
from arena.machine.builds import Build, Command
from arena.machine.child import Child, exit_words, whole_command
from arena.machine.interrupts import held
from arena.record.measurement import Cost, Memory
from arena.run.runtimes import Built, Unavailable
from arena.what.environment import STANDARD, Ports
from arena.what.framework import Framework, Native

# A server gets only these environment variables, so that no run depends on the shell.
_KEPT = ("PATH", "HOME", "LANG")

# A build has the network: it also gets the way to it, in either case, whom to trust there, and what
# tells compilers and package managers where they and their caches are. No variable with a token or
# a password of its own is among them.
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_BUILDS = (
    *_KEPT, *_PROXIES, *map(str.upper, _PROXIES),
    "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN",
    "CARGO_HOME", "CARGO_NET_OFFLINE", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTUP_DIST_SERVER",
    "PIP_INDEX_URL", "PIP_CERT", "PIP_CACHE_DIR", "PIP_CONFIG_FILE", "PIP_NO_INDEX",
    "NPM_CONFIG_REGISTRY", "npm_config_registry", "NPM_CONFIG_CACHE", "npm_config_cache",
    "JAVA_HOME", "M2_HOME", "MAVEN_HOME", "MAVEN_OPTS", "MAVEN_ARGS",
    "DOTNET_ROOT", "DOTNET_CLI_HOME", "NUGET_PACKAGES",
    "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "DENO_DIR", "PKG_CONFIG_PATH",
)  # fmt: skip


class NativeServer:
    """A server in its own process group."""

    is_away = False

    def __init__(self, child: Child, argv: tuple[str, ...]) -> None:
        self.argv = argv
        self.began_s = child.began_s
        self._child = child

    def ended(self) -> str | None:
        """Return how the server ended, as text; None while it runs."""
        code = self._child.poll()
        return None if code is None else exit_words(code)

    def terminate(self) -> None:
        """Send SIGTERM to its process group."""
        self._child.terminate()

    def cost(self) -> Cost:
        """Return the use of the process tree since it started."""
        return self._child.tree_cost()

    def anonymous_bytes(self) -> int | None:
        """Return the resident anonymous memory of the process tree now."""
        return self._child.anonymous_bytes()

    def memory(self) -> Memory | None:
        """Return the anonymous memory of the process tree now, shared pages once."""
        return self._child.tree_memory()

    def away_s(self) -> float:
        """Return what no process below this one shows of its CPU time: 0, unless it hides some."""
        return self._child.hidden_s()


class NativeRuntime:
    """Builds and runs on the host itself, without isolation: for trusted entries.

    With a `quota`, its servers may use the time of so many CPUs.
    """

    name = "native"

    def __init__(
        self, workspace: Workspace, ports: Ports = STANDARD, quota: float | None = None
    ) -> None:
        self._workspace = workspace
        self._ports = ports
        self._quota = quota

    def unavailable(self, framework: Framework) -> Unavailable | None:
        """Return what is missing: a `native` section, or some of its needs."""
        if framework.native is None:
            return Unavailable(
                f"{framework.name} has no `native` section in its meta.json: use --runtime docker"
            )
        missing = builds.missing(framework.native.needs)
        if not missing:
            return None
        install = "; ".join(builds.install_lines(missing))
        return Unavailable(
            f"{framework.name} needs {', '.join(missing)} to run natively: "
            f"use --runtime docker, or {install}",
            missing,
        )

    def build(self, framework: Framework, log: Path) -> Build[Built]:
        """Run the build command in a small environment: paths, proxies and package managers'."""
        if command := _commands(framework).build:
            folder = self._workspace.framework(framework.name)
            words, environment = f"build {framework.name} (native)", _kept(_BUILDS)
            yield Command(_shell(command), folder, log, words, environment=environment)
        return Built()

    @contextmanager
    def start(
        self, framework: Framework, cpus: Sequence[int] | None, log: Path
    ) -> Iterator[NativeServer]:
        """Run the run command for the block, in a small fixed environment."""
        argv = whole_command(_shell(_commands(framework).run), cpus)
        environment = _kept(_KEPT)
        environment.update(self._ports.given_to(framework.ports).environment)
        environment["TLS_CERT"] = str(self._workspace.certs / "server.crt")
        environment["TLS_KEY"] = str(self._workspace.certs / "server.key")
        child = None
        try:
            with held():
                child = Child(
                    argv,
                    cwd=self._workspace.framework(framework.name),
                    stdout=log,
                    stderr=log,
                    environment=environment,
                    is_contained=True,
                    quota=self._quota,
                )
            yield NativeServer(child, tuple(argv))
        finally:
            if child is not None:
                with held():
                    child.stop()

    def plan(self, framework: Framework, cpus: Sequence[int] | None) -> list[Sequence[str]]:
        """Return the command lines of build and start."""
        native = _commands(framework)
        build = [whole_command(_shell(native.build))] if native.build else []
        return [*build, whole_command(_shell(native.run), cpus)]


def _kept(names: Sequence[str]) -> dict[str, str]:
    return {name: os.environ[name] for name in names if name in os.environ}


def _shell(command: str) -> list[str]:
    return ["/bin/sh", "-c", command]


def _commands(framework: Framework) -> Native:
    if framework.native is None:
        raise HostError(f"{framework.name} has no `native` section in its meta.json")
    return framework.native
