"""`volley blast`: its command line for a profile. What it reports is read by `blast_report`."""

from collections.abc import Sequence

from arena.base.durations import format_duration
from arena.measure.generators.ghz_flags import target, what
from arena.what.measured import MeasuredProfile


def arguments(profile: MeasuredProfile, expected: Sequence[str]) -> list[str]:
    """Return what volley is told; `expected` are the flags that say what the replies must be."""
    return [
        "blast",
        *what(profile),
        *expected,
        "--requests", ",".join(map(str, profile.sweep)),
        "--connections", ",".join(map(str, profile.connections)),
        "--repetitions", str(profile.repetitions),
        "--seed", str(profile.seed),
        "--max-duration", format_duration(profile.window_s),
        "-O", "json",
        target(profile),
    ]  # fmt: skip
