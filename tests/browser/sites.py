"""Sites to look at: records by script, built into pages in a workspace of their own."""

import json
import random
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from arena.base.model import to_json
from arena.base.workspace import Workspace
from arena.judge.archive import open_archive
from arena.judge.leaderboard import rank_entries
from arena.judge.packing import pack
from arena.judge.rounds import DerivedBoards, Round
from arena.record.measurement import Latency, Run
from arena.record.record import Record
from arena.site.build import build
from tests.fakes import FAILED, PASSED, WARNED, FakeProgress, a_record, a_run, at, save
from tests.lib.arena.judge.visits import blocks
from tests.lib.arena.site.editions import HOST
from tests.lib.arena.site.loads import a_second, blast, items, lasting, scheduled

Records = Iterable[Record]

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("Go", "Rust", "Java", "C++", "Python", "C#", "Ruby", "Node.js", "Kotlin", "Zig")
TYPES = ("production", "tuned", "production")
# Frameworks of one language and library, and what they are built on.
VARIANTS = {"framework-000": "Engine 9", "framework-010": "Engine 10"}
# What takes no other host class.
FLAGS = ("client-bound", "cut-calls", "littles-law", "approximate")
# One page of each kind, by where it lies in the site.
KINDS = {
    "home": "index.html",
    "board": f"boards/stream-grpc/64/ghz/{HOST}/index.html",
    "board of engines": f"boards/stream-grpc/64/ghz/{HOST}/engines/index.html",
    "board of failures": f"boards/stream-grpc/64/volley/{HOST}/engines/index.html",
    "board of blocks": f"boards/nightly/64/*/{HOST}/index.html",
    "board of a schedule": f"boards/steady/1/*/{HOST}/index.html",
    "board of a blast": f"boards/bang/8/*/{HOST}/index.html",
    "board of a scenario": f"boards/crud-h2c/4/*/{HOST}/index.html",
    "board of a sustained load": f"boards/lasting/8/*/{HOST}/index.html",
    "compare": "compare/index.html",
    "frameworks": "frameworks/index.html",
    "framework": "frameworks/framework-001/index.html",
    "record": "records/stream-grpc/64/framework-000/*/index.html",
    "record that failed": "records/stream-grpc/64/framework-007/*/index.html",
    "record that is invalid": "records/stream-grpc/64/framework-001/2026-01-04*/index.html",
    "record of a schedule": "records/steady/1/framework-002/*/index.html",
    "record of a blast": "records/bang/8/framework-000/*/index.html",
    "record of a scenario": "records/crud-h2c/4/framework-000/*/index.html",
    "record of a sustained load": "records/lasting/8/framework-000/*/index.html",
    "methodology": "methodology/index.html",
    "glossary": "glossary/index.html",
    "rounds": "rounds/index.html",
    "a round's home": "rounds/round-1/index.html",
    "a round's board": "rounds/round-2/boards/stream-grpc/64/ghz/index.html",
    "a round's compare": "rounds/round-1/compare/index.html",
}

# On a record's page: the command that shows the record, with its path.
_RECORD = re.compile(r"arena\.sh raw ([^ <]+)\.json")


def pages(public: Path, pattern: str) -> list[str]:
    """Return the paths of a site's pages that match a pattern, sorted.

    A record's page is found by the path of its record: `records/<profile>/…/index.html`.
    """
    if not pattern.startswith("records/"):
        return sorted(path.relative_to(public).as_posix() for path in public.glob(pattern))
    found = {}
    for path in public.glob("records/*/index.html"):
        if shown := _RECORD.search(path.read_text()):
            found[f"records/{shown[1]}/index.html"] = path.relative_to(public).as_posix()
    return [found[name] for name in sorted(found) if fnmatch(name, pattern)]


# What somebody may write into meta.json, or make a server say.
SCRIPT = "<script>document.title='owned';alert('owned')</script>"
MARKUP = "</td></table><img src=x onerror=alert('owned')><svg onload=alert('owned')>\"'`"
BIDI = "\u202egnp.exe\u202c \u2066isolated\u2069 \u200e\u200f\u061c"


def a_site(folder: Path, records: Records, *frozen: Records) -> Path:
    """Build the site of these records, and of rounds with those; return the folder it is in."""
    workspace = a_workspace(folder)
    for number, each in enumerate(frozen, 1):
        freeze(workspace, f"round-{number}", each)
    save(workspace.results, *records)
    build(workspace, FakeProgress())
    return workspace.public


def a_workspace(folder: Path) -> Workspace:
    """Return a checkout that has what a site is made of, two variants of a library, no record."""
    for name in ("site/templates", "site/static", "docs", "profiles"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "results").mkdir()
    for name, engine in VARIANTS.items():
        (folder / "frameworks" / name).mkdir(parents=True)
        meta = {"tests": [], "engine": engine, "repo": "https://github.com/example/library"}
        (folder / "frameworks" / name / "meta.json").write_text(json.dumps(meta))
    return Workspace(folder)


def freeze(workspace: Workspace, name: str, records: Records) -> None:
    """Save records as a frozen round of all of them, in a month of its own."""
    month = f"2025-{len(list(workspace.rounds.glob('*'))) + 1:02}-"
    older = (
        each.model_copy(update={"started_at": each.started_at.replace("2026-01-", month)})
        for each in records
    )
    paths = [record.path for record in save(workspace.results, *older)]
    archive = open_archive(workspace.results)
    pack(archive, paths)
    archive = open_archive(workspace.results)
    names = {path: archive.entries[path].sha256 for path in paths}
    own = archive.only(names)
    boards = rank_entries(own.entries.values(), own.read)
    found = Round(
        name=name,
        frozen_at=at(60),
        note="Made by script",
        records=names,
        bundles={it.folder.name: it.sha256 for it in map(own.bundles.__getitem__, paths)},
        judged=(DerivedBoards(derived_at=at(60), leaderboard=boards),),
    )
    workspace.rounds.mkdir(exist_ok=True)
    (workspace.rounds / f"{name}.json").write_text(to_json(found))


def on(night: int, record: Record) -> Record:
    """Return a record as if it were of another night of the month."""
    started_at = record.started_at.replace("-01T", f"-{night:02}T")
    return record.model_copy(update={"started_at": started_at})


def slower(times: float, record: Record) -> Record:
    """Return a record of a scheduled load with latencies so many times as long."""
    (run,) = record.runs
    longer = replace(run.latency_ns, p50=1e6 * times, p99=2e6 * times)
    runs = (run.model_copy(update={"latency_ns": longer}),)
    return record.model_copy(update={"runs": runs})


def some_runs(dice: random.Random, rate: float, count: int = 3) -> list[Run]:
    """Return runs about a rate, with all percentiles."""
    runs = []
    for _ in range(count):
        got = rate * dice.uniform(0.97, 1.03)
        spent = 4e6 / rate * dice.uniform(0.9, 1.1)
        run = a_run(got, server_cpu_s=spent, generator_cpu_s=3.0, cut=dice.choice((0, 0, 20)))
        p50 = 256 / rate * 5000 * 1e9
        latency = Latency(
            kind="service", samples=1000, at_least=(),
            **{name: p50 * times for name, times in _TIMES.items()},
        )  # fmt: skip
        runs.append(run.model_copy(update={"latency_ns": latency}))
    return runs


# Latencies of a run, times its median.
_TIMES = {
    "mean": 1.05, "p50": 1.0, "p75": 1.3, "p90": 1.7, "p95": 2.2, "p99": 3.1, "p999": 5.4, "max": 7,
}  # fmt: skip


def many(
    count: int, *, name: Callable[[int], str] = "framework-{:03}".format, **record: Any
) -> Iterator[Record]:
    """Yield records of so many frameworks on one board: two of them failed, some with flags."""
    dice = random.Random(count)
    for number in range(count):
        who: dict[str, Any] = {
            "language": LANGUAGES[number % len(LANGUAGES)],
            "type": TYPES[number % len(TYPES)],
            "minute": number % 60,
            **record,
        }
        if number % 100 == 7:
            yield a_record(name(number), failure="the server died: signal 11", **who)
            continue
        yield a_record(
            name(number),
            runs=some_runs(dice, 2e6 / (1 + number / 8)),
            flags=[each for each in FLAGS if dice.random() < 0.3],
            contract=[PASSED, WARNED] if number % 9 == 0 else [PASSED],
            packed=dice.choice((None, 1.0, 12.5, 812.0)),
            **who,
        )


def everyday() -> Iterator[Record]:
    """Yield what a benchmark of some nights leaves: every kind of page has something to show."""
    for night in range(1, 4):
        yield from (on(night, each) for each in many(12))
    volley = {"generator": "volley"}
    yield from (on(5, each) for each in many(6, profile=volley))
    yield from many(2, profile={"connection_count": 256})
    yield from a_night()
    yield a_record("rapid", runs=some_runs(random.Random(1), 4e6), language="C", type="engine")
    yield a_record("stalled", failure="no reply", profile=volley, language="C", type="engine")
    wrong: dict[str, Any] = {"failure": "reply 3 is 4, not 5", "contract": [PASSED, FAILED]}
    wrong |= {"status": "invalid", "language": "Rust", "type": "tuned"}
    yield on(4, a_record("framework-001", **wrong))
    for number, name in enumerate(("framework-000", "framework-001", "framework-002")):
        who: dict[str, Any] = {"language": LANGUAGES[number], "type": TYPES[number]}
        missed = [a_second(80 if number == 2 else 100)] * 5
        steady, bang, lasts = ({"title": each} for each in ("Steady load", "Blast", "Sustained"))
        yield slower(number + 1, scheduled(name, [a_second()] * 5 + missed, profile=steady, **who))
        yield blast(name, profile=bang, **who)
        yield items(name, **who)
        yield lasting(name, 1000.0 * (number + 1), profile=lasts, **who)
        yield lasting(name, 1500.0 * (number + 1), connections=64, profile=lasts, **who)


def a_night() -> Iterator[Record]:
    """Yield six blocks of five frameworks and a twin; two pairs of them are equally fast."""
    rates = {"framework-000": 2e6, "framework-001": 2e6, "framework-002": 1.5e6}
    rates |= {"framework-003": 9e5, "framework-004": 9e5, "framework-002~twin": 1.5e6}
    profile = {"name": "nightly", "title": "A night of blocks", "generator": "volley"}
    dice = random.Random(6)
    for record in blocks(rates, 6, profile=profile):
        yield scattered(record, dice.gauss(1, 0.01))
    yield a_record("framework-005", 9e6, profile=profile)


def scattered(record: Record, factor: float) -> Record:
    """Return a record whose p99 and memory are so many times as large."""
    runs = tuple(
        run.model_copy(
            update={
                "latency_ns": replace(run.latency_ns, p99=factor * (run.latency_ns.p99 or 0)),
                "server": run.server.changed(peak_bytes=round(factor * run.server.peak_bytes)),
            }
        )
        for run in record.runs
    )
    return record.model_copy(update={"runs": runs})


def hostile() -> Iterator[Record]:
    """Yield records whose meta.json, figures and failures were written by somebody who means it."""
    dice = random.Random(1)
    bad: dict[str, Any] = {
        "display_name": SCRIPT,
        "language": MARKUP,
        "description": "<b>x" + "y" * 10_000 + BIDI,
        "repo": "javascript:alert('owned')",
        "maintainers": ["<img src=x onerror=alert(1)>", "x" * 500],
        "engine": MARKUP,
    }
    yield a_record("good", runs=some_runs(dice, 1e6))
    yield a_record("hostile", runs=some_runs(dice, 2e6), **bad)
    yield a_record("hostile.name__a-b", runs=some_runs(dice, 3e6), display_name=BIDI + MARKUP)
    yield a_record("data", runs=some_runs(dice, 3e6), repo="data:text/html," + SCRIPT)
    yield a_record("wide", runs=some_runs(dice, 5e5), display_name="W" * 2_000, language="L" * 500)
    yield a_record(
        "refused",
        failure=MARKUP + SCRIPT + BIDI + "z" * 5_000,
        contract=[FAILED.model_copy(update={"detail": SCRIPT + MARKUP, "wire": MARKUP})],
        **bad,
    )
    title = {"name": "titled", "title": SCRIPT + "<img src=x>"}
    yield a_record("hostile", runs=some_runs(dice, 2e6), profile=title, **bad)
    yield a_record("good", runs=some_runs(dice, 1e6), profile=title)
