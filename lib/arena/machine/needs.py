"""What a native build needs of this host, and the Debian packages that provide it.

A need is a program on PATH, or `kind:name`: `pkg-config:libnghttp2` is a C library with its
headers, `gem:grpc` a Ruby gem, `python:ensurepip` a Python module.
"""

import shutil
import subprocess
from collections.abc import Iterable

# The command that looks for each kind of need. Its last argument is the name.
_PROBES = {
    "pkg-config": ("pkg-config", "--exists"),
    "gem": ("ruby", "-e", "gem ARGV[0]"),
    "python": ("python3", "-c", "import importlib, sys; importlib.import_module(sys.argv[1])"),
}
_PROBE_TIMEOUT_S = 20.0

_PACKAGES = {
    "cargo": "cargo",
    "cc": "gcc",
    "g++": "g++",
    "gem:grpc": "ruby-grpc",
    "go": "golang-go",
    "grpc_cpp_plugin": "protobuf-compiler-grpc",
    "grpc_ruby_plugin": "protobuf-compiler-grpc",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "make": "make",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "pkg-config": "pkg-config",
    "pkg-config:grpc++": "libgrpc++-dev",
    "pkg-config:libnghttp2": "libnghttp2-dev",
    "pkg-config:openssl": "libssl-dev",
    "pkg-config:protobuf": "libprotobuf-dev",
    "protoc": "protobuf-compiler",
    "python3": "python3",
    "python:ensurepip": "python3-venv",
    "ruby": "ruby",
}


def missing(needs: Iterable[str]) -> tuple[str, ...]:
    """Return the needs that this host does not meet, in order.

    A kind's own program is also a need: without pkg-config, no library can be found.
    """
    kinds = ((need.rpartition(":")[0], need) for need in needs)
    wanted = [part for kind, need in kinds for part in (*_PROBES.get(kind, ())[:1], need)]
    return tuple(need for need in dict.fromkeys(wanted) if not _is_there(need))


def install_lines(needs: Iterable[str]) -> list[str]:
    """Return how to meet missing needs: first those without a known package, then `apt-get …`."""
    wanted = sorted(set(needs))
    unknown = [need for need in wanted if need not in _PACKAGES]
    packages = sorted({_PACKAGES[need] for need in wanted if need in _PACKAGES})
    commands = (("install", unknown), ("apt-get install", packages))
    return [" ".join((command, *names)) for command, names in commands if names]


def _is_there(need: str) -> bool:
    kind, _, name = need.rpartition(":")
    if kind not in _PROBES:
        return shutil.which(need) is not None
    argv = [*_PROBES[kind], name]
    try:
        done = subprocess.run(argv, check=False, capture_output=True, timeout=_PROBE_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
