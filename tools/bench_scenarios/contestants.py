"""The tools of the bench: the arguments of each, and the reader of its output."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import parse_h2load
from arena.base.errors import HostError, UsageError
from arena.base.progress import report_error
from tools.bench_scenarios import inputs
from tools.bench_scenarios.workloads import CHANGE_NOTE, REQUESTS_PER_ITERATION, Workload

NAMES = ("volley", "volley-before", "h2loadrunner", "h2load", "k6")
ERRORS = "stderr"
"""The file of a tool's stderr, in the folder of a job."""
# h2loadrunner prints to stderr: `requests: 30 started, 30 done, 30 succeeded, 0 failed, …`
_SUCCEEDED = re.compile(r"^requests: .*?(\d+) succeeded", re.MULTILINE)


@dataclass(frozen=True)
class Job:
    """One run to make: against a server on `port`, with an item at `item`, files in `folder`."""

    workload: Workload
    port: int
    duration_s: float
    folder: Path
    item: str

    @property
    def url(self) -> str:
        """The server's address."""
        return f"{'https' if self.workload.tls else 'http'}://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class Told:
    """A tool's own count of requests that succeeded; of gRPC, of messages.

    `astray` is the number of iterations that the rate asks for, but that neither began nor were
    counted as dropped.
    """

    counted: int
    astray: int = 0


@dataclass(frozen=True)
class Contestant:
    """One tool: its command line for a job, and the reader of what it has written."""

    name: str
    argv: Callable[[str, Job], list[str]]
    read: Callable[[Path, Job], Told]


def find(environment: Mapping[str, str], volley: Path | None) -> dict[str, str]:
    """Return the programs that are here, by name; report each that is missing.

    `volley` is the one of this checkout. UsageError if a variable names no program; HostError if
    nothing is here.
    """
    found = {}
    for name in NAMES:
        variable = name.upper().replace("-", "_")
        named = environment.get(variable)
        if named:
            if not shutil.which(named):
                raise UsageError(f"{variable}: {named} is not a program")
            found[name] = str(Path(shutil.which(named) or named).resolve())
        elif name == "volley" and volley:
            found[name] = str(volley)
        elif name == "h2load" and (there := shutil.which(name)):
            found[name] = there
        else:
            report_error(f"there is no {name}: name one with {variable}=PROGRAM; the others run")
    if not found:
        raise HostError("there is no tool to measure")
    return found


_CALLS = {
    "GetSum": ({"a": 20, "b": 22}, "result = a + b"),
    "StreamSum": ({"a": 42, "count": 100}, "result = a + b + i"),
}


def _volley_argv(program: str, job: Job) -> list[str]:
    workload = job.workload
    report = ["--threads", "1", "-O", "json", "-o", str(job.folder / "report.json")]
    if workload.scenario:
        plan = job.folder / "scenario.json"
        plan.write_text(inputs.scenario(workload, job.port, job.duration_s))
        return [program, "run", str(plan), *report]
    request, rule = _CALLS[workload.method]
    return [
        program, "--insecure", "--proto", str(inputs.PROTO),
        "--call", f"benchmark.BenchmarkService/{workload.method}", "-d", json.dumps(request),
        "--expect", rule, "--connections", str(workload.connections),
        "-c", str(workload.in_flight), "-z", f"{job.duration_s:g}s", "--duration-stop", "wait",
        *report, f"127.0.0.1:{job.port}",
    ]  # fmt: skip


def _volley_read(_: Path, job: Job) -> Told:
    report = json.loads((job.folder / "report.json").read_text())
    if not job.workload.scenario:
        return Told(int(report["volley"]["messages"]))
    requests, iterations = report["requests"], report["iterations"]
    return Told(int(requests["replies" if job.workload.is_grpc else "ok"]), astray(job, iterations))


def astray(job: Job, iterations: Mapping[str, int]) -> int:
    """Return how many iterations of a rate are missing, or too many, in a report.

    Not of its `due`: that is the sum of what began and what did not.
    """
    if not job.workload.rate:
        return 0
    wanted = round(job.workload.rate / REQUESTS_PER_ITERATION * job.duration_s)
    return abs(wanted - iterations["begun"] - iterations["dropped"])


def _h2loadrunner_argv(program: str, job: Job) -> list[str]:
    config = job.folder / "h2loadrunner.json"
    config.write_text(inputs.h2loadrunner(job.workload, job.port, job.duration_s))
    return [program, f"--config-file={config}"]


def _h2loadrunner_read(_: Path, job: Job) -> Told:
    return Told(succeeded((job.folder / ERRORS).read_text(errors="replace")))


def succeeded(output: str) -> int:
    """Return the last count in what h2loadrunner prints; ValueError if there is none."""
    found = _SUCCEEDED.findall(output)
    if not found:
        raise ValueError("it has no line of its requests")
    return int(found[-1])


def _h2load_argv(program: str, job: Job) -> list[str]:
    """Return the arguments for the same change of one item, over and over: h2load knows no more."""
    change = job.folder / "change.json"
    change.write_text(json.dumps({"state": "paid", "note": CHANGE_NOTE}, separators=(",", ":")))
    return [
        program, *(["--h1"] if job.workload.http == 1 else []),
        f"--clients={job.workload.connections}", f"--max-concurrent-streams={job.workload.streams}",
        "--threads=1", f"--duration={job.duration_s:g}s", "--header=:method: PATCH",
        "--header=content-type: application/json", f"--data={change}", job.url + job.item,
    ]  # fmt: skip


def _h2load_read(raw: Path, _: Job) -> Told:
    return Told(parse_h2load.parse_file(raw).calls.ok)


def _k6_argv(program: str, job: Job) -> list[str]:
    variables = {
        "URL": job.url,
        "USERS": str(job.workload.in_flight),
        "SECONDS": f"{job.duration_s:g}",
    }
    return [
        program, "run", "--quiet", "--no-usage-report",
        f"--summary-export={job.folder / 'summary.json'}",
        *(f"--env={name}={value}" for name, value in variables.items()),
        str(inputs.HERE / "crud.js"),
    ]  # fmt: skip


def _k6_read(_: Path, job: Job) -> Told:
    return Told(requests_of(json.loads((job.folder / "summary.json").read_text())))


def requests_of(summary: object) -> int:
    """Return the requests in k6's summary that succeeded; ValueError if it has no count of them."""
    match summary:
        # A rate counts what is true: here, what failed.
        case {"metrics": {"http_req_failed": {"fails": int(count)}}}:
            return count
    raise ValueError("it has no count of http_req_failed")


CONTESTANTS = {
    each.name: each
    for each in (
        Contestant("volley", _volley_argv, _volley_read),
        Contestant("volley-before", _volley_argv, _volley_read),
        Contestant("h2loadrunner", _h2loadrunner_argv, _h2loadrunner_read),
        Contestant("h2load", _h2load_argv, _h2load_read),
        Contestant("k6", _k6_argv, _k6_read),
    )
}
