"""Running volley under valgrind, against a server outside of it."""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from arena.base.errors import HostError
from arena.base.progress import Progress
from arena.base.reading import tail
from arena.base.workspace import Workspace
from arena.load import generators
from arena.load.find import output_of
from arena.load.volley import version_of
from arena.machine.certs import ensure_certificate
from arena.machine.child import Child, adopt_orphans, exit_words, run_bounded, whole_command
from tools.bench_instructions.figures import FIGURES, Figure
from tools.bench_instructions.judging import Conditions, Measured, marginal, total
from tools.bench_scenarios.servers import serving

_AT_MOST_S = 300.0
# Its profile and its features, as in `0.1.0 (release; features: none)`.
_BUILD = re.compile(r"\((.+)\)")
_RUSTC = re.compile(rb"rustc version (\d[\w.-]*)")
# valgrind shows a program a CPU of its own, which has these if the host has them (Valgrind's
# VEX/priv/guest_amd64_helpers.c). ring and memchr choose their code by them.
_FEATURES = ("cx16", "abm", "avx", "bmi1", "avx2", "rdtscp", "rdrand", "f16c", "rdseed")


def require_valgrind() -> str:
    """Return valgrind's version; HostError without it."""
    if not shutil.which("valgrind"):
        raise HostError("there is no valgrind (Debian: apt-get install valgrind)")
    return output_of(["valgrind", "--version"]).strip().removeprefix("valgrind-")


def conditions_of(volley: Path, valgrind: str) -> Conditions:
    """Return what a program's figures depend on here, besides its sources."""
    rustc = _RUSTC.search(volley.read_bytes())
    build = _BUILD.search(version_of([str(volley)]) or "")
    return Conditions(
        build=build[1] if build else "unknown",
        rustc=rustc[1].decode() if rustc else "unknown",
        glibc=platform.libc_ver()[1],
        valgrind=valgrind,
        cpu=cpu_of(platform.machine(), Path("/proc/cpuinfo").read_text()),
    )


def cpu_of(machine: str, cpuinfo: str) -> str:
    """Return the CPU as programs below valgrind see it: `x86_64 cx16 avx …`."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    offered = flags[1].split() if flags else []
    return " ".join([machine, *(each for each in _FEATURES if each in offered)])


def volley_of(workspace: Workspace, environment: Mapping[str, str], shows: Progress) -> Path:
    """Return the volley that the runner uses; it is built if need be."""
    located = generators.locate("volley", workspace, environment)
    return Path(located.ready(workspace, None, shows).program)


def take_turns() -> None:
    """Keep this process and its children on one CPU, so that client and server work in turns.

    How many replies one read finds would otherwise depend more on what else the host does.
    """
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure(
    workspace: Workspace, volley: Path, against: Path | None, rounds: int, shows: Progress
) -> list[Measured]:
    """Return every figure of volley, and of another one. HostError if a run fails."""
    adopt_orphans()
    ensure_certificate(workspace.certs)
    take_turns()
    own: dict[str, list[float]] = {each.name: [] for each in FIGURES}
    others: dict[str, list[float]] = {each.name: [] for each in FIGURES}
    for number in range(1, rounds + 1):
        with (
            shows.waiting(f"round {number} of {rounds}"),
            servers(volley, workspace.certs) as ports,
        ):
            for figure in FIGURES:
                own[figure.name].append(_one(figure, volley, ports[figure.tls]))
                if against:
                    others[figure.name].append(_one(figure, against, ports[figure.tls]))
    return [Measured(each.name, own[each.name], others[each.name]) for each in FIGURES]


@contextmanager
def servers(volley: Path, certificates: Path) -> Iterator[dict[bool, int]]:
    """Run a server in plaintext and one over TLS; yield their ports, by whether it is TLS."""
    pair = [f"--tls-cert={certificates / 'server.crt'}", f"--tls-key={certificates / 'server.key'}"]
    plain = [str(volley), "serve", "--listen=127.0.0.1:0", "--threads=1"]
    with ExitStack() as stack:
        ports = {}
        for tls in (False, True):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="volley-count-")))
            argv = [*plain, *(pair if tls else [])]
            ports[tls] = stack.enter_context(serving(argv, folder)).port
        yield ports


def _one(figure: Figure, volley: Path, port: int) -> float:
    """Return the instructions of one unit of a figure."""
    short, long = (_count(figure, volley, port, length) for length in figure.lengths)
    return marginal((short, long), figure.lengths, figure.units)


def _count(figure: Figure, volley: Path, port: int, length: int) -> int:
    """Return the instructions of one run; HostError if it fails.

    Those of the first thread are left out: it starts and reports, the longer the more, and the
    others make the load.
    """
    with tempfile.TemporaryDirectory(prefix="volley-count-") as temporary:
        folder = Path(temporary)
        output = folder / "output"
        argv = whole_command(
            [
                # Its threads take the CPU in turn: one that waits for another spins less.
                "valgrind", "--quiet", "--vgdb=no", "--fair-sched=yes", "--tool=callgrind",
                "--separate-threads=yes", f"--callgrind-out-file={folder / 'thread'}", "--",
                *figure.argv(str(volley), port, length, folder),
            ]
        )  # fmt: skip
        ended = run_bounded(
            lambda: Child(argv, cwd=folder, stdout=output, stderr=output), _AT_MOST_S
        )
        if ended.timed_out or ended.code:
            reason = "it did not end" if ended.timed_out else exit_words(ended.code)
            raise HostError(f"{figure.name}: {reason}: {tail(output, 1)}".rstrip(": "))
        _, *others = sorted(folder.glob("thread-*"))
        return sum(total(each.read_text()) for each in others)
