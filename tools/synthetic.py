"""Write realistic records of many frameworks, profiles and nights.

    PYTHONPATH=lib:. .venv/bin/python -m tools.synthetic FOLDER
        [--frameworks 300] [--profiles 12] [--nights 30] [--seed 1] [--raw NIGHTS]
        [--blocks 0] [--block-nights 3]

FOLDER becomes a set of records, like results/. The same numbers and seed write the same bytes.
The raw outputs of the newest nights are in their records' folders, of three by default: the
site copies no older ones, and without them records have no rank.

With --blocks, nights of so many blocks follow, on two host classes. Among their frameworks are
equally fast ones, some 30 % apart, one that warms up for longer than it is given, one that joins
only the last night, and void visits that were repeated; each load has a twin.
"""

import argparse
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from arena.base.model import to_json
from arena.judge.store import SUMS
from arena.record.measurement import BlastPoint, Latency, Run, Second, Watch
from arena.record.record import Check, Cpus, Epoch, GeneratorInfo, Git, Host, Record, Visit
from arena.what.profile import MeasuredProfile
from parsers.common.figures import LatencyKind
from tests.fakes import LIMITS, a_profile, a_provenance, a_record, a_run

FIRST_NIGHT = datetime(2026, 1, 1, 1, tzinfo=UTC)
LANGUAGES = (
    "Go", "Rust", "Java", "C#", "C++", "Python", "TypeScript", "Kotlin", "Ruby", "Elixir", "Zig",
    "Swift", "Scala", "PHP",
)  # fmt: skip
SPEED = dict(
    zip(
        LANGUAGES,
        (1.0, 2.5, 0.9, 0.8, 2.0, 0.1, 0.3, 0.85, 0.08, 0.3, 1.8, 0.5, 0.7, 0.05),
        strict=True,
    )
)
CHECKS = (
    "unary-sum", "unary-extremes", "stream-10", "stream-5000", "stream-profile", "stream-zero",
    "stream-negative", "framing", "stream-100000", "backpressure", "cancel", "deadline",
    "content-type", "trailers", "unknown-method", "unimplemented", "ping", "goaway",
    "header-limit", "window-update", "garbage", "truncated", "compressed-flag", "rst-stream",
)  # fmt: skip

# Placeholders for the numbers that differ in each record.
_HOLE = re.compile('"<([0-9]+)>"')

RAW = {
    "warm-up.json": 6300, "run-1.json": 6300, "run-2.json": 6300, "run-3.json": 6300,
    "build.log": 40, "server.log": 120,
}  # fmt: skip


@dataclass(frozen=True)
class Load:
    """A profile, and the generators that alternate for it."""

    profile: dict[str, Any]
    generators: tuple[str, ...]
    level: float


def _closed(name: str, generators: tuple[str, ...], level: float, **changes: Any) -> Load:
    tls = name.endswith("-tls")
    profile = {"name": name, "tls": tls, "port": 8443 if tls else 8080, **changes}
    return Load(profile, generators, level)


_UNARY = {
    "call": "benchmark.BenchmarkService/GetSum",
    "request": {"a": 1, "b": 2},
    "messages_per_call": 1,
    "metric": "requests/s",
    "expect": ["result = a + b"],
}
_SCHEDULED = {
    **_UNARY,
    "kind": "scheduled",
    "metric": "p99 latency",
    "concurrency": 256,
    "requests": 20_000,
}
_CONST = {"shape": "const", "rps": 1000}
_LINE = {"shape": "line", "start": 100, "step": 60}

LOADS = (
    _closed("stream-grpc", ("ghz", "volley"), 1e6, title="Server streaming over h2c"),
    _closed("unary-grpc", ("h2load", "volley"), 3e5, title="Unary over h2c", **_UNARY),
    _closed("stream-grpc-tls", ("ghz",), 8e5, title="Server streaming over TLS"),
    _closed("unary-grpc-tls", ("h2load",), 2e5, title="Unary over TLS", **_UNARY),
    Load(
        {"name": "load-const", "title": "A constant rate", "schedule": _CONST, **_SCHEDULED},
        ("volley", "ghz"),
        2e6,
    ),
    Load(
        {"name": "load-line-up", "title": "A rising rate", "schedule": _LINE, **_SCHEDULED},
        ("ghz",),
        5e6,
    ),
    Load(
        {
            "name": "blast-unary", "title": "N calls at once", "kind": "blast", **_UNARY,
            "connections": (1, 8, 64), "sweep": (64, 256, 1024), "repetitions": 8,
            "duration_s": 60.0,
        },
        ("volley",), 1e5,
    ),
    _closed("sustained-unary", ("volley",), 3e5, title="A minute of unary calls", **_UNARY),
    _closed("client-stream-grpc", ("volley",), 1e6, title="Client streaming"),
    _closed("bidi-grpc", ("volley",), 9e5, title="Both directions"),
    _closed("unary-one", ("volley",), 2e4, title="One call at a time", **_UNARY),
    _closed("stream-small", ("ghz",), 6e5, title="Short streams"),
)  # fmt: skip


def write(folder: Path, frameworks: int, profiles: int, nights: int, *, seed: int, raw: int) -> int:
    """Write the records below a folder; return their number."""
    written = 0
    for number in range(frameworks):
        name, meta = _framework(number)
        for load in LOADS[:profiles]:
            chance = random.Random(f"{seed} {name} {load.profile['name']}")
            for night, record, text in _history(name, meta, load, nights, chance):
                path = folder / record
                if not night:
                    path.parent.mkdir(parents=True, exist_ok=True)
                written += 1
                if night >= nights - raw:
                    _write_raw(path.with_suffix(""), chance)
                    _write_proven(folder, record, text)
                else:
                    path.write_text(text)
    return written


def _framework(number: int) -> tuple[str, dict[str, Any]]:
    language = LANGUAGES[number % len(LANGUAGES)]
    slug = {"C#": "dotnet", "C++": "cpp"}.get(language, language.lower())
    name = f"{slug}-server-{number // len(LANGUAGES) + 1}"
    kind = "engine" if number % 20 == 19 else "tuned" if number % 3 == 1 else "production"
    return name, {
        "display_name": f"{language} server {number // len(LANGUAGES) + 1}",
        "language": language,
        "type": kind,
        "engine": "hyper" if kind == "engine" else "",
        "description": f"A synthetic server in {language}, as fast as was drawn by lot.",
        "repo": f"https://example.org/{name}",
        "maintainers": ["somebody"],
        "tests": [load.profile["name"] for load in LOADS],
    }


def _history(
    name: str, meta: dict[str, Any], load: Load, nights: int, chance: random.Random
) -> Iterator[tuple[int, str, str]]:
    """Yield (night, path, JSON) of a framework under a profile, the oldest first."""
    speed = SPEED[meta["language"]] * chance.uniform(0.5, 1.5) * load.level
    moulds = [_Mould(name, meta, load, generator, chance) for generator in load.generators]
    broken = _Mould(name, meta, load, load.generators[0], chance, failed=True)
    for night in range(nights):
        minute = timedelta(
            days=night, seconds=chance.randrange(4 * 3600), microseconds=chance.randrange(10**6)
        )
        started_at = _moment(FIRST_NIGHT + minute)
        mould = broken if chance.random() < 0.02 else moulds[night % len(moulds)]
        yield night, f"{mould.key}/{started_at}.json", mould.cast(started_at, speed, chance)
        speed *= chance.uniform(0.99, 1.011)


class _Mould:
    """A record with holes for the numbers that differ from night to night.

    It would take many times as long to make each record from scratch.
    """

    def __init__(
        self,
        name: str,
        meta: dict[str, Any],
        load: Load,
        generator: str,
        chance: random.Random,
        *,
        failed: bool = False,
    ) -> None:
        self._is_latency = load.profile.get("metric") == "p99 latency"
        record = _record(name, meta, load, generator, chance, failed=failed)
        self.key = record.key
        data = json.loads(to_json(record))
        data["started_at"] = "<0>"
        for number, run in enumerate(data["runs"]):
            for at, figure in enumerate(_HOLES):
                place, *keys = figure.split(".")
                _put(run, [place, *keys], f"<{1 + number * len(_HOLES) + at}>")
        self._runs = len(data["runs"])
        self._parts = _HOLE.split(json.dumps(data, indent=2) + "\n")

    def cast(self, started_at: str, speed: float, chance: random.Random) -> str:
        """Return the JSON of a record with a night's numbers."""
        values: list[str] = [f'"{started_at}"']
        for _ in range(self._runs):
            figure = max(speed * chance.gauss(1.0, 0.02), 1000.0)
            rate = 1000.0 if self._is_latency else figure
            p50 = figure / 3 if self._is_latency else 2.56e11 / (3e5 + rate)
            p99 = figure if self._is_latency else p50 * chance.uniform(2.0, 6.0)
            numbers = (
                rate, rate, rate * 1.01, int(rate * 5), int(rate * 5),
                p50, p50 * 1.3, p50 * 1.7, p50 * 1.9, p99, p99 * 1.4, p99 * 2,
                chance.uniform(2, 5), chance.randrange(20 << 20, 900 << 20), chance.uniform(1, 3),
            )  # fmt: skip
            values += [f"{each:.6g}" if isinstance(each, float) else str(each) for each in numbers]
        parts = self._parts
        return "".join(part if at % 2 == 0 else values[int(part)] for at, part in enumerate(parts))


# The numbers of a run that differ, in the order of `cast`.
_HOLES = (
    "rate", "rate_at_least", "rate_at_most", "messages", "calls.ok",
    "latency_ns.p50", "latency_ns.p75", "latency_ns.p90",
    "latency_ns.p95", "latency_ns.p99", "latency_ns.p999", "latency_ns.max",
    "server.cpu_s", "server.peak_bytes", "generator.cpu_s",
)  # fmt: skip


def _put(data: Any, keys: Sequence[str], value: str) -> None:
    for key in keys[:-1]:
        data = data[key]
    data[keys[-1]] = value


def _record(
    name: str,
    meta: dict[str, Any],
    load: Load,
    generator: str,
    chance: random.Random,
    *,
    failed: bool,
) -> Record:
    profile = a_profile(**load.profile, generator=generator, connection_count=64)
    possible = ("client-bound", "cut-calls", "unpinned")
    flags = [flag for flag in possible if chance.random() < 0.3]
    checks = [Check(check=each, status="pass") for each in CHECKS]
    if chance.random() < 0.1:
        checks[12] = Check(check=CHECKS[12], status="warn", detail="it is answered with 200")
    status = chance.choice(("failed", "invalid"))
    record = a_record(
        name,
        runs=[] if failed else [_run(profile, chance) for _ in range(3)],
        failure="the server ended with exit code 137 (killed)" if failed else None,
        status=status,
        profile=profile.model_dump(),
        contract=checks,
        contract_after=() if failed else checks[:6],
        packed=None if profile.is_unary else 11.5,
        flags=() if failed else flags,
        **meta,
    )
    return record.model_copy(update={"provenance": _provenance(generator)})


def _provenance(generator: str) -> Any:
    argv = (generator, "--connections", "64", "--duration", "5s", "127.0.0.1:8080")
    stages = {"build": 12.1, "start": 0.4, "contract": 3.2, "warm-up": 2.1, "runs": 15, "stop": 0.1}
    return a_provenance(
        git=Git(commit="0123456789abcdef0123456789abcdef01234567", dirty=False),
        generator=GeneratorInfo(name=generator, version="1.2.3", found="PATH", argv=argv),
        host=Host(
            cpu="Example 9000 at 3.2 GHz", cpus=16, cores=8, kernel="6.12.0-amd64",
            memory_bytes=64 << 30, governor="performance", docker="27.5.1",
            family="ExampleVendor 25 1 1", virtualisation="none",
        ),
        cpus=Cpus(policy="pinned", server="0-7", generator="8-15"),
        epoch=Epoch(
            kernel="6.12.0-amd64 #1 SMP", microcode="0x1", mitigations={"mds": "Not affected"},
            governor="performance", boost="on", toolchains={"go": "go1.26"},
            locks={"requirements.lock": "0" * 64}, sysctls={"net.core.somaxconn": "4096"},
        ),
        stages_s=stages,
    )  # fmt: skip


def _run(profile: MeasuredProfile, chance: random.Random) -> Run:
    """Return a run with everything that its kind has; its own figures are filled in later."""
    run = a_run(profile.messages_per_call * 200.0)
    update: dict[str, Any] = {}
    scheduled = profile.load.follows_schedule
    kind: LatencyKind = "response" if scheduled and profile.generator == "volley" else "service"
    update["latency_ns"] = Latency(
        kind=kind, mean=1e6, p50=1e6, p75=1e6, p90=1e6, p95=1e6, p99=1e6, p999=1e6, max=1e6,
        samples=100_000,
    )  # fmt: skip
    if scheduled or profile.name.startswith("sustained"):
        seconds = 20 if scheduled else 30
        update["seconds"] = tuple(_second(profile, chance) for _ in range(seconds))
    if points := profile.load.points(profile.connections):
        update["points"] = tuple(_point(*point, chance) for point in points)
    return run.model_copy(update=update)


def _second(profile: MeasuredProfile, chance: random.Random) -> Second:
    scheduled = profile.load.follows_schedule
    p50 = chance.uniform(2e5, 4e5)
    return Second(
        intended=1000 if scheduled else None, sent=1000, ok=1000, failed=0, messages=1000,
        p50_ns=p50, p99_ns=p50 * 4, max_ns=p50 * 9,
    )  # fmt: skip


def _point(connections: int, requests: int, chance: random.Random) -> BlastPoint:
    rate = chance.uniform(2e4, 2e5)
    latency = Latency(kind="service", mean=1e6, p50=1e6, p99=3e6, max=5e6, samples=8 * requests)
    return BlastPoint(
        connections=connections, requests=requests, repetitions=8,
        rate=rate, rate_at_least=rate * 0.9, rate_at_most=rate * 1.1,
        latency_ns=latency, ok=8 * requests, failed={},
    )  # fmt: skip


# What nights of blocks measure: the profiles that volley makes, and how many frameworks at most.
BLOCKED = ("stream-grpc", "unary-grpc")
_MOST_IN_BLOCKS = 24
# The framework that is faster in the second half of each run, and the one of the last night only.
_WARMING, _LATE = 4, 6
_VOID_SHARE = 0.02

# The steal that made a visit void.
_STEAL = Watch(elapsed_s=5.0, steal=0.12, foreign=0.001, softirq=0.02, io=0.0, memory=0.0, cpu=0.4)
_QUIET = _STEAL.model_copy(update={"steal": 0.001})
# The raw output of every run, and the words of a run without one.
_PROOF = b'{"synthetic": true}\n'.ljust(RAW["run-1.json"])
_PROOF_SHA256 = hashlib.sha256(_PROOF).hexdigest()
_UNPROVEN = re.compile(r'\{\s*"path":\s*"run-1\.json",\s*"sha256":\s*"0{64}"\s*\}')


def write_blocks(folder: Path, frameworks: int, blocks: int, nights: int, *, seed: int) -> int:
    """Write nights of blocks below a folder; return the number of records.

    Before them comes one night on another host.
    """
    written = 0
    for number in range(nights + 1):
        is_other = not number
        begun = FIRST_NIGHT + timedelta(days=40 + number)
        chance = random.Random(f"{seed} night {number}")
        for at, load in enumerate(each for each in LOADS if each.profile["name"] in BLOCKED):
            names = [each for each in range(min(frameworks, _MOST_IN_BLOCKS)) if _is_in(each)]
            names = [each for each in names if each != _LATE or number == nights]
            night = _Night(begun, begun + timedelta(hours=3 * at), load, names, blocks, is_other)
            for record in _night(night, chance):
                _write_proven(folder, record.path, to_json(record))
                written += 1
    return written


@dataclass(frozen=True)
class _Night:
    """One load in a night: when the night began and this load in it, and who takes part."""

    begun: datetime
    load_begun: datetime
    load: Load
    frameworks: Sequence[int]
    blocks: int
    is_other_host: bool


def _is_in(number: int) -> bool:
    """Return whether a framework takes part: no engines, and one that was never in a night."""
    return number % 20 not in (13, 19)


def _night(night: _Night, chance: random.Random) -> Iterator[Record]:
    """Yield the records of one load in a night, in the order of their visits."""
    twin = chance.choice(night.frameworks)
    visits = [(number, False) for number in night.frameworks] + [(twin, True)]
    clock = night.load_begun
    for block in range(1, night.blocks + 1):
        drift = chance.gauss(1.0, 0.02)
        chance.shuffle(visits)
        waiting = [(number, is_twin, 0) for number, is_twin in visits]
        for place, (number, is_twin, repeat) in enumerate(waiting, 1):
            is_void = repeat < 2 and chance.random() < _VOID_SHARE
            visit = Visit(
                night=_moment(night.begun),
                seed=hashlib.sha256(_moment(night.begun).encode()).hexdigest(),
                block=block, blocks=night.blocks, place=place, size=len(visits), repeat=repeat,
                is_twin=is_twin, warm_up_s=10.0,
                waited_s=chance.choice((0.0, 0.0, 0.0, 3.5, 21.0)),
            )  # fmt: skip
            yield _visited(night, number, visit, drift, clock, chance, is_void=is_void)
            clock += timedelta(seconds=19)
            if is_void:
                waiting.append((number, is_twin, repeat + 1))


def _visited(
    night: _Night,
    number: int,
    visit: Visit,
    drift: float,
    clock: datetime,
    chance: random.Random,
    *,
    is_void: bool,
) -> Record:
    """Return the record of one visit."""
    name, meta = _framework(number)
    scatter = 0.05 if number % 7 == 5 else 0.012
    # Pairs of one language and the next are equally fast; after them comes a gap.
    speed = night.load.level * 1.3 ** -(number // 2 % 6) * (0.97 if number % 6 == 1 else 1.0)
    speed *= 0.8 if night.is_other_host else 1.0
    profile = a_profile(**night.load.profile, generator="volley", connection_count=64)
    runs = []
    for _ in range(3 if visit.block == 1 else 1):
        rate = max(speed * drift * chance.gauss(1.0, scatter), 1000.0)
        rate *= 0.85 if is_void else 1.0
        runs.append(_block_run(profile, rate, chance, number, is_void=is_void))
    record = _record(name, meta, night.load, "volley", chance, failed=False)
    other = {"cpu": "Other 7000 at 2.4 GHz", "family": "Maker, 6, 85, 7", "virtualisation": "kvm"}
    host = record.provenance.host.model_copy(update=other if night.is_other_host else {})
    return record.model_copy(
        update={
            "started_at": _moment(clock),
            "runs": tuple(runs),
            "limits": LIMITS,
            "visit": visit,
            "contract": record.contract if visit.block in (1, visit.blocks) else (),
            "contract_after": record.contract_after if visit.block in (1, visit.blocks) else (),
            "provenance": record.provenance.model_copy(update={"host": host}),
        }
    )


def _block_run(
    profile: MeasuredProfile, rate: float, chance: random.Random, number: int, *, is_void: bool
) -> Run:
    """Return a run of a visit, with its seconds, its DATA frames and what the sentinel saw."""
    p50 = 2.56e11 / (3e5 + rate)
    latency = {"mean": p50, "p50": p50, "p99": p50 * chance.uniform(2, 6), "p999": p50 * 9}
    per_frame = 1.0 if profile.is_unary or number % 3 else 11.5
    seconds = []
    for second in range(5):
        messages = int(
            rate * (0.85 + 0.075 * second if number == _WARMING else chance.gauss(1, 0.005))
        )
        seconds.append(
            Second(
                intended=None, sent=messages, ok=messages, failed=0, messages=messages,
                p50_ns=p50, p99_ns=p50 * 4, max_ns=p50 * 9,
            )
        )  # fmt: skip
    run = a_run(rate, server_cpu_s=chance.uniform(2, 5))
    return run.model_copy(
        update={
            "latency_ns": Latency(
                kind="service", max=p50 * 12, samples=100_000, at_least=(), **latency
            ),
            "seconds": tuple(seconds),
            "data_frames": int(run.messages / per_frame),
            "warm_up": tuple(int(rate * share) for share in (0.3, 0.8, 0.9, *([1.0] * 7))),
            "watch": _STEAL if is_void else _QUIET,
        }
    )


def _moment(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H-%M-%S.%fZ")


def _write_raw(folder: Path, chance: random.Random) -> None:
    folder.mkdir(exist_ok=True)
    for name, size in RAW.items():
        (folder / name).write_text(f'{{"synthetic": {chance.random()}}}\n'.ljust(size, " "))


def _write_proven(folder: Path, name: str, text: str) -> None:
    """Write a record and its proof: the sum of its file, and one raw output for all runs."""
    beside = folder / name.removesuffix(".json")
    beside.mkdir(parents=True, exist_ok=True)
    raw = {"path": f"{name.removesuffix('.json')}/run-1.json", "sha256": _PROOF_SHA256}
    text = _UNPROVEN.sub(json.dumps(raw), text)
    (folder / name).write_text(text)
    (beside / "run-1.json").write_bytes(_PROOF)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    (beside / SUMS).write_text(f"{sha256}  ../{beside.name}.json\n")


def main() -> None:
    """Write the requested records, and print their number."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--frameworks", type=int, default=300)
    parser.add_argument(
        "--profiles", type=int, default=len(LOADS), choices=range(1, len(LOADS) + 1)
    )
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--raw", type=int, default=3, metavar="NIGHTS")
    parser.add_argument("--blocks", type=int, default=0)
    parser.add_argument("--block-nights", type=int, default=3)
    given = parser.parse_args()
    count = write(
        given.folder, given.frameworks, given.profiles, given.nights, seed=given.seed, raw=given.raw
    )
    if given.blocks:
        count += write_blocks(
            given.folder, given.frameworks, given.blocks, given.block_nights, seed=given.seed
        )
    click.echo(f"{count:,} records in {given.folder}")


if __name__ == "__main__":
    main()
