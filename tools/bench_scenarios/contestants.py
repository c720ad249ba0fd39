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
from tools.bench_scenarios.workloads import CHANGE_NOTE, GRPC_PLAIN, Workload

NAMES = ("volley", "h2loadrunner", "h2load", "k6")
# h2load derivatives print: `requests: 30 total, 30 started, 30 done, 30 succeeded, 0 failed, …`
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
class Contestant:
    """One tool: its command line for a job, and its own count in what it has written."""

    name: str
    argv: Callable[[str, Job], list[str]]
    counted: Callable[[Path, Job], int | None]


def find(environment: Mapping[str, str], volley: Path | None) -> dict[str, str]:
    """Return the programs that are here, by name; report each that is missing.

    `volley` is the one of this checkout. UsageError if a variable names no program; HostError if
    nothing is here.
    """
    found = {}
    for name in NAMES:
        variable = name.upper()
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


def _volley_argv(program: str, job: Job) -> list[str]:
    report = job.folder / "report.json"
    if job.workload is GRPC_PLAIN:
        return [
            program, "--insecure", "--proto", str(inputs.PROTO),
            "--call", "benchmark.BenchmarkService/StreamSum", "-d", '{"a":42,"count":100}',
            "--expect", "result = a + b + i", "--connections", str(job.workload.connections),
            "-c", str(job.workload.in_flight), "-z", f"{job.duration_s:g}s",
            "--duration-stop", "wait", "-O", "json", "-o", str(report), f"127.0.0.1:{job.port}",
        ]  # fmt: skip
    plan = job.folder / "scenario.json"
    plan.write_text(inputs.scenario(job.workload, job.port, job.duration_s))
    return [program, "run", str(plan), "-O", "json", "-o", str(report)]


def _volley_counted(raw: Path, job: Job) -> int | None:
    """Return the messages that it counted; None: the report of a scenario is not read yet."""
    del raw
    if job.workload is GRPC_PLAIN:
        report = json.loads((job.folder / "report.json").read_text())
        return int(report["volley"]["messages"])
    return None


def _h2loadrunner_argv(program: str, job: Job) -> list[str]:
    config = job.folder / "h2loadrunner.json"
    config.write_text(inputs.h2loadrunner(job.workload, job.port, job.duration_s))
    return [program, f"--config-file={config}"]


def _h2loadrunner_counted(raw: Path, _: Job) -> int:
    return succeeded(raw.read_text(errors="replace"))


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


def _h2load_counted(raw: Path, _: Job) -> int:
    return parse_h2load.parse_file(raw).calls.ok


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


def _k6_counted(_: Path, job: Job) -> int:
    return requests_of(json.loads((job.folder / "summary.json").read_text()))


def requests_of(summary: object) -> int:
    """Return the requests in k6's summary; ValueError if it has none."""
    match summary:
        case {"metrics": {"http_reqs": {"count": int(count)}}}:
            return count
    raise ValueError("it has no count of http_reqs")


CONTESTANTS = {
    each.name: each
    for each in (
        Contestant("volley", _volley_argv, _volley_counted),
        Contestant("h2loadrunner", _h2loadrunner_argv, _h2loadrunner_counted),
        Contestant("h2load", _h2load_argv, _h2load_counted),
        Contestant("k6", _k6_argv, _k6_counted),
    )
}
