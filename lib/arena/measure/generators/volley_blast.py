"""`volley blast`: its command line for a profile. `measurements` reads its report."""

from collections.abc import Sequence

from arena.base.durations import format_duration
from arena.measure.generators.ghz_flags import target, what
from arena.what.loads import Blast
from arena.what.measured import MeasuredProfile


def arguments(profile: MeasuredProfile, expected: Sequence[str]) -> list[str]:
    """Return what volley is told; `expected` are the flags that say what the replies must be."""
    load = profile.load_as(Blast)
    return [
        "blast",
        *what(profile),
        *expected,
        "--requests", ",".join(map(str, load.sweep)),
        "--connections", ",".join(map(str, profile.connections)),
        "--repetitions", str(load.repetitions),
        "--seed", str(load.seed),
        "--max-duration", format_duration(load.window_s),
        "-O", "json",
        target(profile),
    ]  # fmt: skip
