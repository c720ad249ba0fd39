"""The output of the bench: a table for people, JSON for programs."""

import json
import os
from collections import Counter
from collections.abc import Sequence

from arena.base.text import columns
from arena.base.units import format_duration, format_megabytes, format_ns, format_rate
from tools.bench.bars import bars
from tools.bench.turns import Shot, medians

_HEADINGS = ("workload", "generator", "CPU", "rate", "memory", "counted - server's", "failed calls")
_WORDS = 2  # Number of leading columns that hold words.


def to_json(shots: Sequence[Shot]) -> str:
    """Return the medians as one JSON object with a list of rows."""
    rows = [
        {
            "workload": shot.workload.name,
            "generator": shot.generator,
            "version": shot.version,
            "rate": shot.rate,
            "cpu_ns_per_unit": shot.cpu_ns_per_unit,
            "peak_bytes": shot.cost.peak_bytes,
            "counted": shot.counted,
            "server_counted": shot.server_counted,
            "failed_calls": shot.failed,
            "elapsed_s": shot.elapsed_s,
            "delay_p99_ns": shot.delay_p99_ns,
            "waited_s": shot.waited_s,
            "disturbed": [each.model_dump() for each in shot.disturbed],
        }
        for shot in medians(shots)
    ]
    return json.dumps({"rows": rows}, indent=2)


def to_text(shots: Sequence[Shot], rounds: int, duration_s: float) -> str:
    """Return the medians as a table, and below it the bars."""
    table = [_HEADINGS, *(_cells(shot) for shot in medians(shots))]
    verdict = [
        (each.what, each.reached, f"({each.asked})", "met" if each.met else "MISSED")
        for each in bars(shots)
    ]
    of = "median of 1 round" if rounds == 1 else f"medians of {rounds} interleaved rounds"
    head = (
        f"{of} of {format_duration(duration_s)}; "
        f"each generator in turn shares {len(os.sched_getaffinity(0))} CPUs with one grpc-go server"
    )
    figures = range(_WORDS, len(_HEADINGS))
    lines = [head, _of_the_host(shots), "", *columns(table, figures), "", *columns(verdict)]
    return "\n".join(lines).rstrip()


def _of_the_host(shots: Sequence[Shot]) -> str:
    """Return what the bench waited, and what disturbed its runs all the same."""
    waited_s = sum(shot.waited_s for shot in shots)
    disturbed = [shot for shot in shots if shot.disturbed]
    by = Counter(each.signal for shot in disturbed for each in shot.disturbed)
    what = f" ({', '.join(f'{signal} {count}' for signal, count in by.items())})" if by else ""
    return (
        f"waited {waited_s:.0f} s in all for a quiet host; "
        f"{len(disturbed)} of {len(shots)} runs were disturbed{what}"
    )


def _cells(shot: Shot) -> tuple[str, ...]:
    unit, off = shot.workload.unit, shot.counted - shot.server_counted
    return (
        shot.workload.name,
        f"{shot.generator} {shot.version}",
        f"{format_ns(shot.cpu_ns_per_unit)} a {unit}",
        f"{format_rate(shot.rate)} {unit}s/s",
        format_megabytes(shot.cost.peak_bytes),
        f"{off:+,d}" if off else "0",
        f"{shot.failed:,d}",
    )
