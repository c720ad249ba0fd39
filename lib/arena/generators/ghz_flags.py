"""ghz's command line for a profile, as ghz takes it and every drop-in for ghz too."""

import json
from collections.abc import Sequence

from arena.records import MeasuredProfile
from arena.units import format_duration


def arguments(
    profile: MeasuredProfile, duration_s: float, more: Sequence[str] = (), *, form: str = "json"
) -> list[str]:
    """Return HttpArena's own flags for a profile: they are the load. JSON is how it is told.

    `more` are flags beyond HttpArena's.
    """
    return [
        "--skipTLS" if profile.tls else "--insecure",
        "--proto", "requests/benchmark.proto",
        "--call", profile.call,
        "-d", json.dumps(profile.request, separators=(",", ":")),
        "--connections", str(profile.connection_count),
        "-c", str(profile.concurrency),
        "-z", format_duration(duration_s),
        "-O", form,
        *more,
        f"localhost:{profile.port}",
    ]  # fmt: skip
