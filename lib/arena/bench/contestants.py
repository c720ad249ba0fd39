"""The generators of the bench: how each is told what to do, and what it says it did.

ghz and volley wait for their last calls, so that their counts can be held against the server's.
h2load cannot, and counts a call when its stream closes, whatever its status is.
"""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import parse_ghz
from arena import benchmark_pb2 as pb
from arena.errors import HostError, UsageError
from arena.generators import ghz, ghz_flags, volley, volley_report
from arena.generators.program import Program, ProgramInDocker
from arena.generators.provision import output_of
from arena.progress import Progress
from arena.records import MeasuredProfile
from arena.units import format_duration
from arena.workspace import Workspace

_WAIT = "--duration-stop=wait"

# gRPC's prefix of a message: not compressed, four bytes of length.
_PREFIX_BYTES = 4

_FINISHED = re.compile(r"^finished in ([\d.]+)(us|ms|s), ", re.MULTILINE)
_REQUESTS = re.compile(
    r"^requests: \d+ total, \d+ started, \d+ done, "
    r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$",
    re.MULTILINE,
)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Told:
    """What a generator says it did: units that succeeded, calls that did not, and the seconds."""

    counted: int
    failed: int
    elapsed_s: float


class Contestant(Protocol):
    """One generator of the bench, as a program on this host."""

    name: str
    version: str

    def argv(self, profile: MeasuredProfile, folder: Path) -> list[str]:
        """Return its command line; files it needs go to `folder`."""

    def read(self, raw: Path, profile: MeasuredProfile) -> Told:
        """Read what it printed; ValueError if that is broken."""


class Ghz:
    """ghz without the templates that it would fill in for every call, and with the short report."""

    name = "ghz"

    def __init__(self, program: Program) -> None:
        self._program = program.program
        self.version = program.version

    def argv(self, profile: MeasuredProfile, folder: Path) -> list[str]:
        """Return its command line."""
        del folder
        fair = [_WAIT, "--disable-template-functions", "--disable-template-data"]
        flags = ghz_flags.arguments(profile, profile.duration_s, fair, form="summary")
        return [self._program, *flags]

    def read(self, raw: Path, profile: MeasuredProfile) -> Told:
        """Take its OK calls for the messages they stand for."""
        report = parse_ghz.parse_file(raw)
        failed = sum(report.calls.failed.values()) + report.calls.cut
        return Told(report.calls.ok * profile.messages_per_call, failed, report.elapsed_s)


class Volley:
    """volley with every reply checked."""

    name = "volley"

    def __init__(self, program: Program) -> None:
        self._program = program.program
        self.version = program.version

    def argv(self, profile: MeasuredProfile, folder: Path) -> list[str]:
        """Return its command line."""
        del folder
        return [self._program, *volley.arguments(profile, profile.duration_s, [_WAIT])]

    def read(self, raw: Path, profile: MeasuredProfile) -> Told:
        """Take the messages that it counted."""
        measured = volley_report.measurement(raw, profile)
        failed = sum(measured.calls.failed.values()) + measured.calls.cut
        return Told(measured.messages, failed, measured.elapsed_s)


class H2load:
    """h2load, which sends the same bytes again and again, and looks at no reply."""

    name = "h2load"

    def __init__(self, program: str) -> None:
        self._program = program
        # "h2load nghttp2/1.52.0"
        self.version = output_of([program, "--version"]).strip().rpartition("/")[2]

    def argv(self, profile: MeasuredProfile, folder: Path) -> list[str]:
        """Return its command line; the request it sends goes to a file."""
        message = pb.SumRequest(**profile.request).SerializeToString()
        body = folder / "request.bin"
        body.write_bytes(b"\0" + len(message).to_bytes(_PREFIX_BYTES, "big") + message)
        return [
            self._program,
            "-c", str(profile.connection_count),
            "-m", str(profile.streams_per_connection),
            "-D", format_duration(profile.duration_s),
            "-d", str(body),
            "-H", "content-type: application/grpc",
            "-H", "te: trailers",
            f"http://127.0.0.1:{profile.port}/{profile.call}",
        ]  # fmt: skip

    def read(self, raw: Path, profile: MeasuredProfile) -> Told:
        """Take the requests that succeeded, in its words."""
        del profile
        text = raw.read_text(errors="replace")
        finished, requests = _FINISHED.search(text), _REQUESTS.search(text)
        if not finished or not requests:
            raise ValueError("it is no summary of h2load's")
        elapsed_s = float(finished[1]) * _SECONDS[finished[2]]
        succeeded, *failed = (int(each) for each in requests.groups())
        return Told(succeeded, sum(failed), elapsed_s)


def find(
    workspace: Workspace, environment: Mapping[str, str], progress: Progress
) -> dict[str, Contestant]:
    """Find all of them, by their names; HostError names what is missing.

    As programs of this host only: what a container costs is not measured in the same way.
    """
    local = {key: value for key, value in environment.items() if key != "LOADGEN_DOCKER"}
    h2load = shutil.which("h2load", path=local.get("PATH"))
    if not h2load:
        raise HostError("there is no h2load on PATH; install it (Debian: nghttp2-client)")
    ghz.check(local)
    volley.check(local)
    classic = ghz.resolve(workspace, local, None, progress)
    if classic.name != "ghz":
        raise UsageError(f"GHZ: {classic.program} is {classic.name}, and ghz is to be compared")
    ours = volley.resolve(workspace, local, None, progress)
    for each in (classic, ours):
        if isinstance(each, ProgramInDocker):
            raise HostError(
                f"{each.name} is to be had here in an image only; name a program with "
                f"{each.name.upper()}=/path/to/{each.name}"
            )
    return {each.name: each for each in (Ghz(classic), H2load(h2load), Volley(ours))}
