"""Whose fault an error is: this host's, the framework's, or the runner's own.

Every stage asks here. An error of a system call is judged by its errno and the stage (`whose`), a
program that failed by what the host's own tools print (`said`). What a server says of itself never
counts: `machine/ports.py` asks the host instead.
"""

import errno
import os
import re
import socket
import ssl
from pathlib import Path
from typing import Literal

from arena.base.errors import HostError
from arena.base.reading import end_of
from arena.base.text import printable, shown

Stage = Literal["build", "start", "probe", "contract", "generator"]
Whose = Literal["host", "framework", "us"]

_FILES = "raise the limit of open files: ulimit -n"

# What runs out, or is broken, whoever asks for it.
_OUT = {
    errno.EMFILE: _FILES,
    errno.ENFILE: "raise the limit of the whole host: sysctl fs.file-max",
    errno.ENOMEM: "free memory",
    errno.ENOBUFS: "free memory",
    errno.ENOSPC: "free space on the disk",
    errno.EDQUOT: "free space on the disk",
    errno.EROFS: "",
    errno.EIO: "",
}
# Starting a program.
_PROGRAMS = {
    errno.EAGAIN: "raise the limit of processes: ulimit -u", errno.ENOENT: "", errno.ENOTDIR: "",
    errno.ELOOP: "", errno.EACCES: "", errno.EPERM: "", errno.ENOEXEC: "", errno.ETXTBSY: "",
    errno.E2BIG: "",
}  # fmt: skip
LOOPBACK = "bring the loopback interface up: ip link set lo up"
_FIREWALL = "is there a firewall?"
# Reaching a server on localhost.
_SOCKETS = {
    errno.EADDRNOTAVAIL: "free local ports, or have more: sysctl net.ipv4.ip_local_port_range",
    errno.EADDRINUSE: "free local ports, or have more: sysctl net.ipv4.ip_local_port_range",
    errno.ENETDOWN: LOOPBACK,
    errno.ENETUNREACH: LOOPBACK,
    errno.EHOSTDOWN: LOOPBACK,
    errno.EHOSTUNREACH: _FIREWALL,
    errno.EACCES: _FIREWALL,
    errno.EPERM: _FIREWALL,
    errno.EAFNOSUPPORT: "",
}
_REMEDIES: dict[Stage, dict[int, str]] = {
    "build": {**_OUT, **_PROGRAMS},
    "start": {**_OUT, **_PROGRAMS},
    "generator": {**_OUT, **_PROGRAMS},
    "probe": {**_OUT, **_SOCKETS},
    "contract": {**_OUT, **_SOCKETS},
}
# How a server that is reached fails a client.
_SERVERS = frozenset({
    errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE, errno.ETIMEDOUT,
    errno.ENOTCONN, errno.ESHUTDOWN, errno.EPROTO,
})  # fmt: skip
_NO_LOCALHOST = "write `127.0.0.1 localhost` into /etc/hosts"

# What the host's tools print when they fail, with the remedy: first what runs out, at any stage.
_ALL = {
    r"(?i)no space left on device|disk quota exceeded": "free space on the disk",
    r"(?i)too many open files": _FILES,
    r"(?i)cannot fork|unable to fork|fork: (retry|resource temporarily)": "end some processes",
    r"(?i)cannot allocate memory": "free memory",
}
_NO_PACKAGES = (
    "no image or package can be had; is there a network, or a proxy? For Docker, use "
    "--runtime native, or make the base images with ./scripts/standin-images.sh"
)
_SAID: dict[Stage, dict[str, str]] = {
    "build": {
        **_ALL,
        r"BuildKit is enabled but the buildx component is missing": (
            "install docker-buildx, or build without it: DOCKER_BUILDKIT=0"
        ),
        # Docker and BuildKit; then Go, curl (Cargo), pip, npm and Maven.
        r"(?i)TLS handshake timeout|Client\.Timeout exceeded|toomanyrequests"
        r"|failed to resolve source metadata(?!.*not found)|context deadline exceeded": (
            _NO_PACKAGES
        ),
        r"(?i)no such host|name resolution|connection refused|network is unreachable"
        r"|i/o timeout|could(n't| not) resolve host|ENOTFOUND|EAI_AGAIN|unknown host ": (
            _NO_PACKAGES
        ),
    },
    "start": {
        **_ALL,
        r"(?i)cannot connect to the docker daemon|did not answer within": "is Docker running?",
        r"(?i)requested CPUs are not available": "choose others: SERVER_CPUS",
    },
    "generator": {
        **_ALL,
        r"(?i)cannot assign requested address": _SOCKETS[errno.EADDRNOTAVAIL],
        r"(?i)network is unreachable": LOOPBACK,
        r"(?i)lookup localhost.*no such host|name resolution": _NO_LOCALHOST,
    },
}
_LONGEST = 200


def whose(error: OSError, stage: Stage) -> Whose:
    """Return whose fault an error of a system call of ours is."""
    if isinstance(error, socket.gaierror):
        return "host"
    if isinstance(error, ssl.SSLError | TimeoutError):  # An SSLError's number is no errno.
        return "framework"
    if error.errno in _REMEDIES[stage]:
        return "host"
    if stage in {"probe", "contract"} and (error.errno in _SERVERS or error.errno is None):
        return "framework"
    return "us"


def cannot(what: str, remedy: str = "") -> HostError:
    """Return the error of a host that cannot do something, with what to do."""
    return HostError(f"this host cannot: {what}" + (f"; {remedy}" if remedy else ""))


def of_host(error: OSError, stage: Stage, what: str) -> HostError:
    """Return the error of a host at fault: what it cannot do, why, and the remedy."""
    found = _NO_LOCALHOST if isinstance(error, socket.gaierror) else ""
    remedy = found or _REMEDIES[stage].get(error.errno or 0, "")
    name = f" {os.fsdecode(error.filename)}" if error.filename else ""
    return cannot(f"{what}: {error.strerror or error}{printable(name)}", remedy)


def judged(error: OSError, stage: Stage, what: str) -> Exception | None:
    """Return what to raise for an error of ours at a stage; None if it is the framework's fault."""
    fault = whose(error, stage)
    if fault == "host":
        return of_host(error, stage, what)
    return RuntimeError(f"{what}: {error}") if fault == "us" else None


def words(error: OSError) -> str:
    """Return what an error of no particular stage says: a full disk can be met anywhere."""
    what = f"use {shown(Path(os.fsdecode(error.filename)))}" if error.filename else "go on"
    return f"this host cannot: {what}: {error.strerror or error}"


def said(stage: Stage, output: str, log: Path | None = None) -> HostError | None:
    """Return what the host cannot do, by what its tools printed; None if it can.

    `output` are the last lines. What runs out is looked for in the last 64 KiB of the `log`, too.
    """
    end = end_of(log).decode(errors="replace") if log else ""
    for text, table in ((output, _SAID[stage]), (end, _ALL)):
        for line in reversed(text.splitlines()):
            for pattern, remedy in table.items():
                if re.search(pattern, line):
                    return cannot(f"{stage}: {printable(line.strip())[:_LONGEST]}", remedy)
    return None
