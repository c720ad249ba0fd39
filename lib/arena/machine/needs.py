"""What a native build needs of this host: whether it is there, its version, and where to get it.

A need is a program on PATH, or `kind:name`: `pkg-config:libnghttp2` is a C library with its
headers, `gem:grpc` a Ruby gem, `ghc-pkg:warp-tls` a Haskell package, `luajit:http.server` a module
of Lua for LuaJIT, `python:ensurepip` a Python module.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache

from arena.base.text import printable

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
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

_PACKAGES = {
    "cargo": "cargo",
    "cc": "gcc",
    "g++": "g++",
    "gem:grpc": "ruby-grpc",
    "ghc": "ghc",
    "ghc-pkg": "ghc",
    "ghc-pkg:warp-tls": "libghc-warp-tls-dev",
    "go": "golang-go",
    "grpc_cpp_plugin": "protobuf-compiler-grpc",
    "grpc_ruby_plugin": "protobuf-compiler-grpc",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "luajit": "luajit",
    "luajit:http.server": "lua-http",
    "luajit:posix": "lua-posix",
    "make": "make",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "pkg-config": "pkg-config",
    "pkg-config:grpc": "libgrpc-dev",
    "pkg-config:grpc++": "libgrpc++-dev",
    "pkg-config:libnghttp2": "libnghttp2-dev",
    "pkg-config:libprotobuf-c": "libprotobuf-c-dev",
    "pkg-config:openssl": "libssl-dev",
    "pkg-config:protobuf": "libprotobuf-dev",
    "protoc": "protobuf-compiler",
    "protoc-c": "protobuf-c-compiler",
    "pypy3": "pypy3-venv",
    "python3": "python3",
    "python:ensurepip": "python3-venv",
    "ruby": "ruby",
}


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
    line = _COLOURS.sub("", text.partition("\n")[0])
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
            argv,
            check=False,
            capture_output=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            # No project's folder, which might ask for another version of the program.
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError):
        return None
