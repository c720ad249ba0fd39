"""What the hosts handed over, read: their sections in the record, and whether their windows fit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parse_ghz
from arena.record.measurement import SATURATED, Cost, GeneratorHost, Raw
from arena_fleet.members import Member, member_words
from arena_fleet.window import MOST_APART_NS, Part

# A host that used this share of its threads, or of one of them, was at its limit.
SATURATED_SHARE = 0.90


@dataclass(frozen=True)
class Read:
    """A host's section and cost, and when its window opened and closed, by the own clock."""

    section: GeneratorHost
    opened_ns: int
    closed_ns: int
    cost: Cost


def read(member: Member, part: Part, raw: Path) -> Read:
    """Save a host's report to `raw` and read it; ValueError if it is broken."""
    raw.write_bytes(part.content)
    report = parse_ghz.parse_file(raw)
    try:
        run = json.loads(part.content)["volley"]["tally"]["run"]
        opened_ns, lasted_ns = int(run["opened_monotonic_ns"]), int(run["window_ns"])
        threads, cost = int(run["threads"]), run["cost"]
        flags = (SATURATED,) if _is_saturated(member, cost, threads, run["elapsed_ns"]) else ()
        section = GeneratorHost(
            number=member.number,
            cpu=member.facts.words,
            share=str(member.share),
            threads=threads,
            offset_ns=part.before.ns,
            offset_bound_ns=part.before.bound_ns,
            offset_after_ns=part.after and part.after.ns,
            offset_after_bound_ns=part.after and part.after.bound_ns,
            lateness_ns=run["late_ns"],
            calls=report.calls,
            latency_ns=report.latency,
            cpu_s=cost["cpu_s"],
            flags=flags,
            raw=Raw(path=raw.name, sha256=part.sha256),
        )
        own = Cost(cpu_s=section.cpu_s, peak_bytes=cost["peak_bytes"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{raw.name}: not the report of a share ({error})") from error
    opened_ns = part.before.here(opened_ns)
    return Read(section, opened_ns, opened_ns + lasted_ns, own)


def misfits(windows: Sequence[Read], *, close_together: bool) -> Iterator[str]:
    """Yield why the windows are not one: they opened, or closed, at different times.

    The window of a schedule's share closes with its last call, and so at a moment of its own.
    """
    of = len(windows)
    edges = [("opened", [each.opened_ns for each in windows])]
    if close_together:
        edges.append(("closed", [each.closed_ns for each in windows]))
    for what, moments in edges:
        apart_ns = max(moments) - min(moments)
        if apart_ns > MOST_APART_NS:
            last = member_words(1 + moments.index(max(moments)), of)
            yield (
                f"{last} {what} its window {apart_ns / 1e6:.1f} ms after the first (limit "
                f"{MOST_APART_NS / 1e6:g} ms)"
            )


def _is_saturated(member: Member, cost: dict[str, Any], threads: int, elapsed_ns: int) -> bool:
    elapsed_s = elapsed_ns / 1e9
    available_s = min(threads, member.facts.cpus) * elapsed_s
    return bool(
        cost["cpu_s"] >= SATURATED_SHARE * available_s
        or cost["busiest_thread_s"] >= SATURATED_SHARE * elapsed_s
    )
