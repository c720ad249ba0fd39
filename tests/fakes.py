"""Builders of the nouns, and stand-ins for everything with an effect."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from arena.base.progress import Tick
from arena.base.workspace import Workspace
from arena.contract import Report
from arena.judge.archive import open_archive
from arena.judge.store import Draft
from arena.load.generators import MayOpen, Shot, WarmUp
from arena.machine.builds import Build
from arena.machine.sentinel import Calibration, HostFiles, Limits, Sentinel
from arena.record.measurement import (
    Calls,
    Cost,
    GeneratorHost,
    Latency,
    Measurement,
    Memory,
    Raw,
    Run,
    Second,
    Unchecked,
    Watch,
)
from arena.record.reading import parse_record
from arena.record.record import (
    Check,
    Cpus,
    Failure,
    GeneratorInfo,
    Host,
    MeasuredFramework,
    Offers,
    Provenance,
    Record,
    RuntimeInfo,
    Visit,
)
from arena.run.request import Request
from arena.run.runtimes import Built, Unavailable
from arena.what.framework import Framework
from arena.what.loads import KEYS
from arena.what.profile import MeasuredProfile
from parsers.common.figures import LatencyKind

T = TypeVar("T")

# 200 calls a second with 256 in flight: Little's law holds exactly.
MEAN_NS = 1.28e9


# What a load of each kind has, unless told otherwise.
_LOADS: dict[str, dict[str, Any]] = {
    "closed": {"duration_s": 5.0, "streams_per_connection": 4},
    "scheduled": {
        "schedule": {"shape": "const", "rps": 200}, "requests": 1000, "concurrency": 10,
    },
    "capacity": {"limit_s": 0.01, "duration_s": 60.0},
    "paced": {"rate": 2000, "duration_s": 10.0, "streams_per_connection": 100},
    "share": {
        "share": 0.5, "of": "unary-grpc", "duration_s": 10.0, "streams_per_connection": 100,
    },
    "cold": {"rate": 2000, "duration_s": 40.0, "streams_per_connection": 100},
    "live": {"streams": 1000, "rate": 10, "duration_s": 10.0},
    "blast": {"sweep": (1, 20), "repetitions": 10, "duration_s": 60.0},
    "scenario": {
        "scenario": {"file": "requests/crud.yaml", "sha256": "0" * 64},
        "streams_per_connection": 4, "duration_s": 5.0,
    },
}  # fmt: skip


def a_profile(**changes: Any) -> MeasuredProfile:
    """Return stream-grpc as it is run with 64 connections, with changes.

    The keys of its load are written beside the others, as in a profile's file.
    """
    kind = changes.pop("kind", "closed")
    load = _LOADS[kind] | {key: changes.pop(key) for key in sorted(KEYS & changes.keys())}
    if load.get("concurrency") and kind == "closed":
        load.pop("streams_per_connection", None)
    values: dict[str, Any] = {
        "name": "stream-grpc",
        "title": "Server streaming over h2c",
        "generator": "ghz",
        "call": "benchmark.BenchmarkService/StreamSum",
        "request": {"a": 1, "b": 2, "count": 5000},
        "messages_per_call": 5000,
        "port": 8080,
        "tls": False,
        "connections": (64,),
        "load": {"kind": kind, **load},
        "warmup_s": 2.0,
        "runs": 3,
        "pick": "best",
        "metric": "messages/s",
        "connection_count": 64,
    }
    return MeasuredProfile.model_validate({**values, **changes})


# What a profile of unary calls has in place of a stream's, unless it is another load's metric.
UNARY: dict[str, Any] = {
    "call": "benchmark.BenchmarkService/GetSum",
    "request": {"a": 1, "b": 2},
    "messages_per_call": 1,
    "metric": "requests/s",
}


# What a profile of streams that live has in place of a server's streams.
LIVE: dict[str, Any] = {
    "kind": "live",
    "generator": "volley",
    "call": "benchmark.BenchmarkService/EchoSum",
    "request": {"a": 1, "b": 2},
    "messages_per_call": 2,
    "expect": ("result = a + b",),
    "connections": (16,),
    "connection_count": 16,
    "metric": "CPU a message",
}


# What a profile of a scenario has in place of a call.
ITEMS: dict[str, Any] = {
    "name": "crud-h2c",
    "title": "Items over h2c",
    "kind": "scenario",
    "generator": "volley",
    "call": "",
    "request": {},
    "messages_per_call": 1,
    "connections": (4,),
    "connection_count": 4,
    "metric": "requests/s",
}


def a_framework(name: str = "grpc-go", **changes: Any) -> Framework:
    """Return a framework, with changes."""
    values: dict[str, Any] = {
        "name": name,
        "display_name": name,
        "language": "Go",
        "type": "production",
        "tests": ("stream-grpc",),
    }
    return Framework.model_validate({**values, **changes})


def add_framework(workspace: Workspace, name: str, *tests: str, **changes: Any) -> None:
    """Write, or write over, a framework's meta.json."""
    meta = {"display_name": name, "language": "Go", "type": "tuned"}
    path = workspace.framework(name) / "meta.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**meta, "tests": tests or ["stream-grpc"], **changes}))


def a_measurement(
    rate: float = 1e6,
    *,
    ok: int = 1000,
    cut: int = 0,
    failed: dict[str, int] | None = None,
    mean_ns: float | None = MEAN_NS,
    counted: int | None = None,
    kind: LatencyKind = "service",
) -> Measurement:
    """Return five seconds of load without a blemish, unless told otherwise.

    With `counted`, by a generator that counts messages: that many, and no error bar.
    """
    return Measurement(
        elapsed_s=5.0,
        calls=Calls(ok=ok, failed=failed or {}, cut=cut),
        messages=ok * 5000 if counted is None else counted,
        rate=rate,
        rate_at_least=rate,
        rate_at_most=rate + cut * 1000 if counted is None else rate,
        reported_calls_per_s=201.5,
        latency_ns=Latency(kind=kind, mean=mean_ns, p50=1.2e9, p99=2.1e9, samples=ok),
    )


def a_run(
    rate: float = 1e6,
    *,
    server_cpu_s: float = 4.0,
    generator_cpu_s: float = 3.0,
    seen: dict[str, float] | None = None,
    **load: Any,
) -> Run:
    """Return one run; by default the server worked harder than the generator.

    `seen` are the signals that a sentinel saw; without any, it was not watched.
    """
    return Run(
        **a_measurement(rate, **load).model_dump(),
        started_at="2026-01-01T00-00-01.000000Z",
        server=Cost(cpu_s=server_cpu_s, peak_bytes=50 << 20),
        generator=Cost(cpu_s=generator_cpu_s, peak_bytes=300 << 20),
        raw=Raw(path="run-1.json", sha256="0" * 64),
        watch=Watch(elapsed_s=5.0, cpus=2, **seen) if seen else None,
    )


def a_generator(number: int, of: int = 3, **changes: Any) -> GeneratorHost:
    """Return a generator host of a fleet that did its share, and was not at its limit."""
    given: dict[str, Any] = {
        "number": number,
        "cpu": "Some CPU, 8 CPUs",
        "share": f"{number}/{of}",
        "threads": 8,
        "offset_ns": 5_000_000_000,
        "offset_bound_ns": 400_000,
        "lateness_ns": 70_000,
        "calls": Calls(ok=100 * number, failed={}, cut=0),
        "latency_ns": Latency(kind="service", p50=1.1e6, p99=2.2e6, samples=100 * number),
        "cpu_s": 10.0,
        "cpus": 8,
        "elapsed_s": 5.0,
        "busiest_thread_s": 2.0,
        "raw": Raw(path=f"run-1-generator-{number}.json", sha256="0" * 64),
    }
    return GeneratorHost.model_validate({**given, **changes})


# The limits on a virtual machine that has taught nothing yet.
LIMITS = Limits.first("a host", is_virtual=True).recorded

# What of any run gives it a flag.
FLAGGED: dict[str, Callable[[Run], dict[str, Any]]] = {
    "client-bound": lambda run: {"generator": run.generator.changed(cpu_s=20.0)},
    "cut-calls": lambda run: {"calls": replace(run.calls, cut=1), "rate_at_most": run.rate * 1.001},
    "failed-calls": lambda run: {"calls": replace(run.calls, failed={"Internal": 1})},
    "status-unchecked": lambda run: {"unchecked": Unchecked(status=9, replies=9)},
    "approximate": lambda _: {"approximate": True},
    "disturbed": lambda _: {"watch": Watch(elapsed_s=5.0, cpus=2, steal=0.031)},
    "stalled": lambda run: {"seconds": (*run.seconds, Second(ok=0, failed=0, messages=0))},
    "cost-unknown": lambda run: {"server": run.server.changed(cpu_s=0.0)},
}

_SHARED = Cpus(policy="unpinned", server=None, generator=None)
_PINNED = Cpus(policy="pinned", server="0-1", generator="2-3")


def at(minute: int) -> str:
    """Return the moment so many minutes into a certain day, as records name it."""
    return f"2026-01-01T{minute // 60:02}-{minute % 60:02}-00.000000Z"


def a_record(
    name: str = "grpc-go",
    *rates: float,
    minute: int = 0,
    failure: str | None = None,
    status: str = "failed",
    flags: Sequence[str] = (),
    contract: Sequence[Check] = (),
    contract_after: Sequence[Check] = (),
    packed: float | None = None,
    overrides: dict[str, str] | None = None,
    profile: dict[str, Any] | None = None,
    runs: Sequence[Run] | None = None,
    visit: Visit | None = None,
    **framework: Any,
) -> Record:
    """Return a good record of the given rates, or one that failed for a reason.

    A single rate is that of the best of as many runs as the profile has, which scatter by little.
    Its runs are such that it has the `flags`.
    """
    measured = a_profile(**(profile or {}))
    if runs is None:
        rates = rates or (1e6,)
        if len(rates) == 1:
            rates = tuple(rates[0] * (1 - 1e-5 * number) for number in range(measured.runs))
        runs = [] if failure else [a_run(rate) for rate in rates]
    for each in flags:
        runs = [run.changed(**FLAGGED[each](run)) for run in runs] if each in FLAGGED else runs
    cpus = _SHARED if "unpinned" in flags else _PINNED
    return Record.model_validate(
        {
            "status": status if failure else "ok",
            "started_at": at(minute),
            "failure": Failure(stage="run 1 of 3", reason=failure) if failure else None,
            "framework": MeasuredFramework(
                **a_framework(name, **framework).model_dump(), source_sha256="1" * 64
            ),
            "profile": measured,
            "runs": tuple(runs),
            "limits": LIMITS if any(run.watch for run in runs) else None,
            "contract": tuple(contract),
            "contract_after": tuple(contract_after),
            "messages_per_data_frame": packed,
            "visit": visit,
            "provenance": a_provenance(overrides=overrides or {}, cpus=cpus),
        }
    )


def a_visit(block: int = 1, **changes: Any) -> Visit:
    """Return a turn in a night of eight blocks of two visits, with changes."""
    values: dict[str, Any] = {
        "night": at(0), "seed": "0" * 64, "blocks": 8, "place": 1, "size": 2, "warm_up_s": 10.0,
    }  # fmt: skip
    return Visit.model_validate({**values, "block": block, **changes})


def a_trial(name: str, rate: float, *, runs: int = 1, **more: Any) -> Record:
    """Return the record of a session with $RUNS."""
    return a_record(name, rate, overrides={"RUNS": f"{runs}"}, profile={"runs": runs}, **more)


def save(results: Path, *records: Record) -> list[Record]:
    """Save records as sessions do, with a log and each run's raw output; return what is there."""
    saved = []
    for record in records:
        beside = record.path.removesuffix(".json")
        with Draft(results) as draft:
            (draft.folder / "server.log").write_bytes(b"listening \xff <b>&\r\nlast words\n")
            runs = []
            for number, run in enumerate(record.runs, 1):
                content = f'{{"run": {number}, "of": "{beside}"}}\n'.encode()
                (draft.folder / f"run-{number}.json").write_bytes(content)
                sha256 = hashlib.sha256(content).hexdigest()
                raw = Raw(path=f"{beside}/run-{number}.json", sha256=sha256)
                runs.append(run.model_copy(update={"raw": raw}))
            whole = record.model_copy(update={"runs": tuple(runs)})
            if record.failure and record.failure.log is None:
                failure = record.failure.model_copy(update={"log": f"{beside}/server.log"})
                whole = whole.model_copy(update={"failure": failure})
            draft.save(whole)
            saved.append(whole)
    return saved


def records_in(folder: Path) -> list[Record]:
    """Return every record below a folder, by path, as it is; none of them is broken."""
    archive = open_archive(folder)
    assert not archive.broken
    return [parse_record(archive.text(path).encode()) for path in archive.entries]


def a_provenance(**changes: Any) -> Provenance:
    """Return how a number came about, on a machine nobody owns."""
    host = Host(
        cpu="a CPU", cpus=4, cores=2, kernel="6", memory_bytes=1 << 33, governor=None, docker=None
    )
    values: dict[str, Any] = {
        "git": None,
        "generator": GeneratorInfo(name="ghz", version="v1", found="PATH", argv=("ghz",)),
        "host": host,
        "cpus": _PINNED,
        "runtime": RuntimeInfo(name="native", argv=("./server",)),
        "overrides": {},
        "stages_s": {"build": 0.1},
    }
    return Provenance.model_validate({**values, **changes})


OFFERS = Offers(reflection="v1", lists_service=True, health="serving")
PASSED = Check(check="unary-sum", status="pass")
WARNED = Check(check="content-type", status="warn", detail="it is answered with 200, not 415")
FAILED = Check(check="stream-10", status="fail", detail="9 replies, not 10", wire="00 00")


def a_report(*checks: Check, packed: float | None = 1.0) -> Report:
    """Return what the contract found: nothing wrong, unless told otherwise."""
    return Report(checks or (PASSED,), packed)


def a_program(path: Path, script: str) -> Path:
    """Write an executable shell script, as a stand-in for a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def still_sentinel() -> Sentinel:
    """Return a sentinel of a host that tells nothing, so that nothing is disturbed."""
    nowhere = Path("/nonexistent")
    files = HostFiles(nowhere, nowhere, frozenset({0, 1}))
    return Sentinel(Limits.first("a host", is_virtual=False), files, Calibration)


class FakeProgress:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        self.lines.append(text)
        yield

    @contextmanager
    def window(self, text: str, seconds: float, *, at_most: bool = False) -> Iterator[Tick]:
        self.lines.append(f"{text} for {seconds:g} s")
        yield lambda _: None


def a_build(thing: T) -> Build[T]:
    """Return a build of something that runs no command."""
    yield from ()
    return thing


@dataclass
class FakeServer:
    """Uses a second of CPU between two looks, until somebody says how it ended."""

    argv: tuple[str, ...] = ("./server",)
    how: str | None = None
    busy_s: float = 1.0
    is_away: bool = False
    used_s: float = 0.0
    began_s: float = field(default_factory=time.monotonic)
    anonymous: int = 8 << 20

    def ended(self) -> str | None:
        return self.how

    def terminate(self) -> None:
        pass

    def cost(self) -> Cost:
        if self.how:
            raise FileNotFoundError(2, "No such file or directory")
        self.used_s += self.busy_s
        return Cost(cpu_s=self.used_s, peak_bytes=20 << 20)

    def anonymous_bytes(self) -> int | None:
        return None if self.how else self.anonymous

    def memory(self) -> Memory | None:
        if self.how:
            return None
        return Memory(anonymous_bytes=self.anonymous, highest_bytes=self.anonymous)

    def away_s(self) -> float:
        return 0.0


@dataclass
class FakeRuntime:
    """Starts the one server it was given; `missing` maps a framework to why it cannot run."""

    server: FakeServer = field(default_factory=FakeServer)
    name: str = "native"
    missing: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    on_build: Callable[[Path], None] = lambda _: None
    output: str = "listening\nlast words\n"
    standin: str | None = None
    stopped: int = 0

    def unavailable(self, framework: Framework) -> Unavailable | None:
        reason = self.missing.get(framework.name)
        return Unavailable(reason, self.needs) if reason else None

    def build(self, framework: Framework, log: Path) -> Build[Built]:
        yield from ()
        self.on_build(log)
        return Built(image_digest="sha256:abc", standin=self.standin)

    @contextmanager
    def start(
        self, framework: Framework, cpus: Sequence[int] | None, log: Path
    ) -> Iterator[FakeServer]:
        try:
            yield self.server
        finally:
            self.stopped += 1
            log.write_text(self.output)

    def plan(self, framework: Framework, cpus: Sequence[int] | None) -> list[Sequence[str]]:
        return [("build", framework.name), ("start", framework.name)]


@dataclass
class FakeGenerator:
    """Hands out the measurements it was given, warm-up first; the last one repeats.

    `on_fire` is called with the number of the shot, from 0, and may return its problem. Its window
    opens when it is told if `is_told`; its seconds then pass at once.
    """

    measurements: Sequence[Measurement | ValueError] = field(
        default_factory=lambda: [a_measurement()]
    )
    on_fire: Callable[[int], str | None] = lambda _: None
    name: str = "ghz"
    is_told: bool = False
    is_away: bool = False
    checks_replies: bool = True
    fired: list[tuple[str, float]] = field(default_factory=list)

    def info(self, profile: MeasuredProfile, warm_up: WarmUp | None = None) -> GeneratorInfo:
        return GeneratorInfo(name=self.name, version="v1", found="PATH", argv=("ghz", "-z"))

    def lead_s(self, profile: MeasuredProfile) -> float:
        return 0.0

    def fire(
        self,
        profile: MeasuredProfile,
        stem: Path,
        on_tick: Tick,
        on_open: Callable[[], None] = lambda: None,
    ) -> Shot:
        on_open()
        number = len(self.fired)
        self.fired.append((stem.name, profile.window_s))
        raw = stem.with_suffix(".json")
        raw.write_text(f"{number}")
        problem = self.on_fire(number)
        on_tick(0.1)
        cost = Cost(cpu_s=0.5, peak_bytes=1 << 20)
        if not problem:
            return Shot(raw=raw, log=raw, cost=cost)
        log = raw.with_suffix(".stderr")
        log.write_text("its words\nits last line\n")
        return Shot(raw=raw, log=log, cost=cost, problem=problem, output="its last line")

    def away_s(self) -> float:
        return 0.0

    def tells_window(self, profile: MeasuredProfile) -> bool:
        return self.is_told

    def fire_told(
        self, profile: MeasuredProfile, warm_up: WarmUp, stem: Path, may_open: MayOpen
    ) -> Shot:
        def tick(elapsed: float) -> None:
            for tenth in range(1 + int(10 * (warm_up.seconds + warm_up.wait_s))):
                now = tenth / 10
                if may_open(now, now >= warm_up.seconds):
                    may_open(now + profile.window_s, True)
                    return
            raise AssertionError("it was never told to open the window")

        return self.fire(profile, stem, tick)

    def parse(self, raw: Path, profile: MeasuredProfile) -> Measurement:
        number = min(int(raw.read_text()), len(self.measurements) - 1)
        found = self.measurements[number]
        if isinstance(found, ValueError):
            raise found
        return found


def a_request(frameworks: str = "all", profiles: tuple[str, ...] = (), **given: Any) -> Request:
    """Return the request of a command line with these words."""
    return Request(frameworks=(frameworks,), profiles=profiles, **given)
