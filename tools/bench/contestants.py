"""The generators of the bench: how each is told what to do, and what it says it did.

ghz and volley wait for their last calls, so that their counts can be held against the server's.
h2load cannot, and counts a call when its stream closes, whatever its status is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import parse_ghz
import parse_h2load
from arena.base.errors import HostError, UsageError
from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.measure.generators import ghz, ghz_flags, h2load, h2load_flags, volley, volley_report
from arena.measure.generators.h2load_flags import Version
from arena.measure.generators.program import Program, ProgramInDocker
from arena.what.measured import MeasuredProfile

_WAIT = "--duration-stop=wait"


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

    def argv(self, profile: MeasuredProfile) -> list[str]:
        """Return its command line."""

    def read(self, raw: Path, profile: MeasuredProfile) -> Told:
        """Read what it printed; ValueError if that is broken."""


class Ghz:
    """ghz without the templates that it would fill in for every call, and with the short report."""

    name = "ghz"

    def __init__(self, program: Program) -> None:
        self._program = program.program
        self.version = program.version

    def argv(self, profile: MeasuredProfile) -> list[str]:
        """Return its command line."""
        fair = [_WAIT, "--disable-template-functions", "--disable-template-data"]
        flags = ghz_flags.arguments(profile, fair, form="summary")
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

    def argv(self, profile: MeasuredProfile) -> list[str]:
        """Return its command line."""
        return [self._program, *volley.arguments(profile, [_WAIT])]

    def read(self, raw: Path, profile: MeasuredProfile) -> Told:
        """Take the messages that it counted."""
        measured = volley_report.measurement(raw, profile)
        failed = sum(measured.calls.failed.values()) + measured.calls.cut
        return Told(measured.messages, failed, measured.elapsed_s)


class H2load:
    """h2load, which sends the same bytes again and again, and looks at no reply."""

    name = "h2load"

    def __init__(self, program: str, version: Version, workspace: Workspace) -> None:
        self._program = program
        self._version = version
        self._workspace = workspace
        self.version = version.name

    def argv(self, profile: MeasuredProfile) -> list[str]:
        """Return its command line, with the short report."""
        h2load_flags.prepare(profile, self._workspace)
        return [self._program, *h2load_flags.arguments(profile, None, self._version, json=False)]

    def read(self, raw: Path, profile: MeasuredProfile) -> Told:
        """Take its OK calls."""
        del profile
        report = parse_h2load.parse_file(raw)
        return Told(report.calls.ok, sum(report.calls.failed.values()), report.elapsed_s)


def find(
    workspace: Workspace, environment: Mapping[str, str], progress: Progress
) -> dict[str, Contestant]:
    """Find all of them, by their names; HostError names what is missing.

    As programs of this host only: what a container costs is not measured in the same way.
    """
    local = {key: value for key, value in environment.items() if key != "LOADGEN_DOCKER"}
    classic_unary = h2load.on_path(local)
    if not classic_unary:
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
    return {
        each.name: each for each in (Ghz(classic), H2load(*classic_unary, workspace), Volley(ours))
    }
