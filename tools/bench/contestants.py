"""The generators of the bench: the arguments of each, and the reader of its output.

ghz and volley wait for their last calls, so that their counts can be compared with the server's.
h2load cannot, and counts a call when its stream closes, whatever its status.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import parse_ghz
import parse_h2load
from arena.base.errors import HostError, UsageError
from arena.base.progress import Progress, report_error
from arena.base.workspace import Workspace
from arena.load import generators, ghz_flags, h2load, measurements, volley
from arena.load.program import Program
from arena.what.environment import GENERATORS
from arena.what.profile import MeasuredProfile

_WAIT = "--duration-stop=wait"


@dataclass(frozen=True)
class Told:
    """A generator's own counts: units that succeeded, calls that did not, and the seconds.

    `delay_p99_ns`: the 99th percentile of the time from when a call was due to when it was sent, of
    a generator that says so.
    """

    counted: int
    failed: int
    elapsed_s: float
    delay_p99_ns: float | None = None


@dataclass(frozen=True)
class Contestant:
    """One generator of the bench: a program on this host.

    `arguments` takes a profile, and the calls per second if it is paced; `read` raises ValueError
    if an output is broken.
    """

    program: Program
    arguments: Callable[[MeasuredProfile, int], list[str]]
    read: Callable[[Path, MeasuredProfile], Told]


def contestant(program: Program, workspace: Workspace) -> Contestant:
    """Return a generator in its form for the bench."""
    if program.name == "ghz":
        return Contestant(program, _ghz_arguments, _read_ghz)
    if program.name == "volley":
        return Contestant(program, _volley_arguments, _read_volley)

    def arguments(profile: MeasuredProfile, rps: int) -> list[str]:
        h2load.prepare(profile, workspace)
        # Each of its clients has a connection and a pace of its own.
        pace = [f"--rps={rps / profile.connection_count:g}"] if rps else []
        # The server counts all calls, so h2load must have no warm-up.
        return [*pace, *program.arguments(profile.changed(warmup_s=0.0))]

    return Contestant(program, arguments, _read_h2load)


def _ghz_arguments(profile: MeasuredProfile, rps: int) -> list[str]:
    """Return the arguments for a short report and no templates filled in for each call."""
    fair = [_WAIT, "--disable-template-functions", "--disable-template-data", *_pace(rps)]
    return ghz_flags.closed(profile, fair, form="summary")


def _volley_arguments(profile: MeasuredProfile, rps: int) -> list[str]:
    return volley.closed(profile, [_WAIT, *_pace(rps)])


def _pace(rps: int) -> list[str]:
    return ["--rps", str(rps)] if rps else []


def _read_ghz(raw: Path, profile: MeasuredProfile) -> Told:
    """Count the messages of OK calls."""
    report = parse_ghz.parse_file(raw)
    failed = sum(report.calls.failed.values()) + report.calls.cut
    return Told(report.calls.ok * profile.messages_per_call, failed, report.elapsed_s)


def _read_volley(raw: Path, profile: MeasuredProfile) -> Told:
    """Take its count of messages."""
    measured = measurements.of_volley(raw, profile)
    failed = sum(measured.calls.failed.values()) + measured.calls.cut
    delay = json.loads(raw.read_bytes())["volley"].get("send_delay_ns") or {}
    return Told(measured.messages, failed, measured.elapsed_s, delay.get("p99"))


def _read_h2load(raw: Path, _: MeasuredProfile) -> Told:
    """Count the OK calls."""
    report = parse_h2load.parse_file(raw)
    return Told(report.calls.ok, sum(report.calls.failed.values()), report.elapsed_s)


def find(
    workspace: Workspace, environment: Mapping[str, str], progress: Progress
) -> dict[str, Contestant]:
    """Find the programs on this host, by name; report each that is missing.

    An image cannot take part: the cost of a container is measured in another way. UsageError if
    the environment names another program; HostError if nothing is found.
    """
    local = {key: value for key, value in environment.items() if key != "LOADGEN_DOCKER"}
    found = {}
    missing = []
    for name in GENERATORS:
        located = generators.locate(name, workspace, local)
        asked = located.asked
        if located.description is not asked:
            other = located.description.name
            raise UsageError(f"{asked.variable}: {located.program} is {other}, not {name}")
        if located.is_image_only:
            missing.append(HostError(f"there is no {name}: {asked.install}"))
            continue
        try:
            found[name] = contestant(located.ready(workspace, None, progress), workspace)
        except HostError as error:
            missing.append(error)
    for reason in missing:
        if not found:
            raise reason
        report_error(f"{reason}; the other generators are measured")
    return found
