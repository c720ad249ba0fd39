"""The output of the bench: a table for people, JSON for programs."""

import json
import os
from collections.abc import Sequence

from arena.base.text import columns
from arena.base.units import format_megabytes, format_ns, format_rate
from tools.bench_scenarios.bars import bars
from tools.bench_scenarios.inputs import COALESCE
from tools.bench_scenarios.turns import Shot, medians
from tools.bench_scenarios.workloads import CRUD_PACED, WORKLOADS, Part

_HEADINGS = ("workload", "tool", "CPU a request", "rate", "counted", "server", "memory")
_WORDS = 2  # Number of leading columns that hold words.


def to_json(shots: Sequence[Shot]) -> str:
    """Return one JSON object: a list of medians for each part of the bench, and the bars.

    A row of gRPC is of messages, not requests.
    """
    part_of = {each.name: each.part for each in WORKLOADS}
    found: dict[str, list[dict[str, object]]] = {part: [] for part in Part}
    for shot in medians(shots):
        found[part_of[shot.workload]].append(_row(shot))
    verdicts = [
        {"what": each.what, "reached": each.reached, "most": each.most, "met": each.met}
        for each in bars(shots)
    ]
    return json.dumps({**found, "bars": verdicts}, indent=2)


def _row(shot: Shot) -> dict[str, object]:
    return {
        "workload": shot.workload,
        "tool": shot.tool,
        "cpu_ns_per_request": shot.cpu_ns_per_request,
        "rate": shot.rate,
        "counted": shot.told.counted,
        "server_counted": shot.server_counted,
        "peak_bytes": shot.cost.peak_bytes,
    }


def to_text(shots: Sequence[Shot], rounds: int) -> str:
    """Return the medians as a table, and below it the bars."""
    table = [_HEADINGS, *(_cells(shot) for shot in medians(shots))]
    verdict = [
        (each.what, f"{each.reached:.3g}", f"(at most {each.most:.3g})", _word(met=each.met))
        for each in bars(shots)
    ]
    of = "median of 1 round" if rounds == 1 else f"medians of {rounds} interleaved rounds"
    head = f"{of}; each tool in turn shares {len(os.sched_getaffinity(0))} CPUs with the server"
    paced = (
        f"{CRUD_PACED.name}: a thread of volley wakes every {COALESCE} at most, "
        "h2loadrunner's every 10 ms"
    )
    figures = range(_WORDS, len(_HEADINGS))
    return "\n".join([head, paced, "", *columns(table, figures), "", *columns(verdict)]).rstrip()


def _word(*, met: bool) -> str:
    return "met" if met else "MISSED"


def _cells(shot: Shot) -> tuple[str, ...]:
    return (
        shot.workload,
        shot.tool,
        format_ns(shot.cpu_ns_per_request),
        f"{format_rate(shot.rate)}/s",
        f"{shot.told.counted:,d}",
        f"{shot.server_counted:,d}",
        format_megabytes(shot.cost.peak_bytes),
    )
