"""Builds: what they need of this host, and their commands, of several at the same time.

A need is a program on PATH, or `kind:name`: `pkg-config:libnghttp2` is a C library with its
headers, `gem:grpc` a Ruby gem, `ghc-pkg:warp-tls` a Haskell package, `luajit:http.server` a module
of Lua for LuaJIT, `python:ensurepip` a Python module.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from arena.base.errors import ArenaError, FrameworkError, HostError
from arena.base.progress import Progress
from arena.base.reading import COLOUR, tail
from arena.base.text import printable, shown
from arena.base.units import format_duration
from arena.base.writing import shorten
from arena.machine.blame import cannot, said
from arena.machine.child import TICK_S, Child, exit_words, whole_command
from arena.machine.interrupts import held

# The command that looks for each kind of need. Its last argument is the name.
PROBES = {
    "pkg-config": ("pkg-config", "--exists"),
    "gem": ("ruby", "-e", "gem ARGV[0]"),
    "ghc-pkg": ("ghc-pkg", "latest"),
    "luajit": ("luajit", "-l"),
    "python": ("python3", "-c", "import importlib, sys; importlib.import_module(sys.argv[1])"),
}
_PROBE_TIMEOUT_S = 20.0

# The command that asks the version of each kind of need, and of programs without `--version`. The
# name of the need follows a kind's command; that of its package, if it is a module of Lua. A module
# of Python has the version of Python.
_ASKED = {
    "pkg-config": ("pkg-config", "--modversion"),
    "gem": ("ruby", "-e", "puts Gem::Specification.find_by_name(ARGV[0]).version"),
    "ghc-pkg": ("ghc-pkg", "latest"),
    "luajit": ("dpkg-query", "--show", "--showformat", "${Package} ${Version}"),
}
_ASKED_PROGRAMS = {
    "go": ("go", "version"),
    "java": ("java", "-version"),
    "javac": ("javac", "-version"),
    "luajit": ("luajit", "-v"),
}
_ANSWER_TIMEOUT_S = 10.0
_LONGEST_VERSION = 200

_PACKAGES = {
    "cargo": "cargo", "cc": "gcc", "g++": "g++", "gem:grpc": "ruby-grpc", "ghc": "ghc",
    "ghc-pkg": "ghc", "ghc-pkg:warp-tls": "libghc-warp-tls-dev", "go": "golang-go",
    "grpc_cpp_plugin": "protobuf-compiler-grpc", "grpc_ruby_plugin": "protobuf-compiler-grpc",
    "java": "default-jdk-headless", "javac": "default-jdk-headless", "luajit": "luajit",
    "luajit:http.server": "lua-http", "luajit:posix": "lua-posix", "make": "make", "mvn": "maven",
    "node": "nodejs", "npm": "npm", "pkg-config": "pkg-config", "pkg-config:grpc": "libgrpc-dev",
    "pkg-config:grpc++": "libgrpc++-dev", "pkg-config:libnghttp2": "libnghttp2-dev",
    "pkg-config:libprotobuf-c": "libprotobuf-c-dev", "pkg-config:openssl": "libssl-dev",
    "pkg-config:protobuf": "libprotobuf-dev", "protoc": "protobuf-compiler",
    "protoc-c": "protobuf-c-compiler", "pypy3": "pypy3-venv", "python3": "python3",
    "python:ensurepip": "python3-venv", "ruby": "ruby",
}  # fmt: skip


def missing(needs: Iterable[str]) -> tuple[str, ...]:
    """Return the needs that this host does not meet, in order.

    A kind's own program is also a need: without pkg-config, no library can be found.
    """
    kinds = ((need.rpartition(":")[0], need) for need in needs)
    wanted = [part for kind, need in kinds for part in (*PROBES.get(kind, ())[:1], need)]
    return tuple(need for need in dict.fromkeys(wanted) if not _is_there(need))


@cache
def version(need: str) -> str | None:
    """Return the first line with which a need states its version; None if it does not in time.

    A need is asked once per process.
    """
    kind, _, name = need.rpartition(":")
    if kind == "luajit":
        name = _PACKAGES.get(need, name)
    asked = (*_ASKED[kind], name) if kind in _ASKED else _ASKED_PROGRAMS.get(need)
    done = _done(asked or ("python3" if kind == "python" else need, "--version"), _ANSWER_TIMEOUT_S)
    if done is None or done.returncode:
        return None
    # Java prints its version to stderr.
    text = (done.stdout.strip() or done.stderr.strip()).decode(errors="replace")
    line = COLOUR.sub("", text.partition("\n")[0])
    return printable(line)[:_LONGEST_VERSION].strip() or None


def install_lines(needs: Iterable[str]) -> list[str]:
    """Return how to meet missing needs: first those without a known package, then `apt-get …`."""
    wanted = sorted(set(needs))
    unknown = [need for need in wanted if need not in _PACKAGES]
    packages = sorted({_PACKAGES[need] for need in wanted if need in _PACKAGES})
    commands = (("install by hand:", unknown), ("apt-get install", packages))
    return [" ".join((command, *names)) for command, names in commands if names]


def _is_there(need: str) -> bool:
    kind, _, name = need.rpartition(":")
    if kind not in PROBES:
        return shutil.which(need) is not None
    done = _done([*PROBES[kind], name], _PROBE_TIMEOUT_S)
    return done is not None and done.returncode == 0


def _done(argv: Sequence[str], timeout_s: float) -> "subprocess.CompletedProcess[bytes] | None":
    """Return how a command ended; None if it cannot be run or takes too long."""
    try:
        return subprocess.run(
            argv, check=False, capture_output=True, timeout=timeout_s, stdin=subprocess.DEVNULL,
            # No project's folder, which might ask for another version of the program.
            cwd="/",
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None


# A command that takes longer is considered hung.
TIMEOUT_S = 1800.0

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True)
class Command:
    """A command of a build, run in `folder` with all its output to `log`.

    `words` say what it does. An error names it as `called`, by default as its last word. Without an
    `environment`, it has the caller's.
    """

    argv: Sequence[str]
    folder: Path
    log: Path
    words: str
    called: str = ""
    environment: Mapping[str, str] | None = None


# A build yields its commands, each after the end of the one before, and returns what it made. The
# FrameworkError of a command that failed is raised where the build yielded it.
Build = Generator[Command, None, T]


def beside(
    builds: Mapping[K, Build[T]], shows: Progress
) -> Generator[tuple[K, Callable[[], T]], None, None]:
    """Run builds at the same time; yield each that has ended, and what returns its result.

    That raises the build's error. Whoever closes this generator ends the builds that still run.
    """
    running = {key: _steps(build, shows) for key, build in builds.items()}
    try:
        while running:
            for key, steps in list(running.items()):
                made: Future[T] = Future()
                try:
                    next(steps)
                    continue
                except StopIteration as end:
                    made.set_result(end.value)
                except (ArenaError, OSError) as error:  # It is of this build alone.
                    made.set_exception(error)
                del running[key]
                yield key, made.result
            if running:
                time.sleep(TICK_S)
    finally:
        with held(), ExitStack() as stack:
            for steps in running.values():
                stack.callback(steps.close)


def finished(build: Build[T], shows: Progress) -> T:
    """Run one build, and return its result."""
    with closing(beside({"": build}, shows)) as ended:
        _, result = next(ended)
    return result()


def run(command: Command, shows: Progress) -> None:
    """Run one command; FrameworkError if it fails."""
    finished((each for each in (command,)), shows)


def _steps(build: Build[T], shows: Progress) -> Generator[None, None, T]:
    """Run a build; yield while a command runs."""
    failed: FrameworkError | None = None
    with closing(build):
        while True:
            try:
                command = build.throw(failed) if failed else next(build)
            except StopIteration as end:
                made: T = end.value
                return made
            try:
                yield from _run(command, shows)
                failed = None
            except FrameworkError as error:
                failed = error


def _run(command: Command, shows: Progress) -> Generator[None, None, None]:
    """Run a command; yield while it runs. FrameworkError if it fails, HostError by this host."""
    argv, log = whole_command(command.argv), command.log
    began, child, code = time.monotonic(), None, None
    with shows.waiting(command.words):
        try:
            with held():
                child = Child(
                    argv, cwd=command.folder, stdout=log, stderr=log,
                    environment=command.environment,
                )  # fmt: skip
            while (code := child.poll()) is None and time.monotonic() - began < TIMEOUT_S:
                yield
        finally:
            if child is not None:
                with held():
                    child.stop()
                shorten(log)
        if code is None:
            why = f"took longer than {format_duration(TIMEOUT_S)}"
        elif code:
            why = f"failed ({exit_words(code)})"
        else:
            return
        called, output = command.called or command.argv[-1], tail(log)
        if fault := said("build", output, log) or _homeless():
            raise fault
        raise FrameworkError("build", f"`{called}` {why}", log=log, output=output)


def _homeless() -> HostError | None:
    """Return the error of a host whose HOME is no folder: most builds need one."""
    home = os.environ.get("HOME", "")
    if Path(home).is_absolute() and os.access(home, os.W_OK | os.X_OK):
        return None
    what = f"{shown(Path(home))}, which is no folder to write in" if home else "not set"
    return cannot(f"build: HOME is {what}", "set it to a folder")
