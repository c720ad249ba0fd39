"""ghz's command line for a profile, as ghz takes it and every drop-in for ghz too."""

import json
from collections.abc import Sequence

from arena.base.durations import format_duration
from arena.what.loads import Scheduled
from arena.what.loads.schedule import Schedule
from arena.what.measured import MeasuredProfile


def arguments(
    profile: MeasuredProfile, more: Sequence[str] = (), *, form: str = "json"
) -> list[str]:
    """Return HttpArena's own flags for a profile: they are the load. JSON is how it is told.

    `more` are flags beyond HttpArena's.
    """
    return [
        *what(profile),
        "--connections", str(profile.connection_count),
        "-c", str(profile.in_flight),
        *_how_long(profile),
        "-O", form,
        *more,
        target(profile),
    ]  # fmt: skip


def what(profile: MeasuredProfile) -> list[str]:
    """Return the flags that say what is called."""
    return [
        "--skipTLS" if profile.tls else "--insecure",
        "--proto", "requests/benchmark.proto",
        "--call", profile.call,
        "-d", json.dumps(profile.request, separators=(",", ":")),
        *(["--stream-call-count", str(profile.requests_per_call)] if profile.streams_up else []),
    ]  # fmt: skip


def target(profile: MeasuredProfile) -> str:
    """Return where the server is."""
    return f"localhost:{profile.port}"


def _how_long(profile: MeasuredProfile) -> list[str]:
    load = profile.load
    if isinstance(load, Scheduled):
        return ["-n", str(load.requests), "--async", *_schedule(load.schedule)]
    return ["-z", format_duration(load.window_s)]


def _schedule(schedule: Schedule) -> list[str]:
    if schedule.shape == "const":
        return ["--rps", str(schedule.rps)]
    flags = {
        "--load-schedule": schedule.shape,
        "--load-start": schedule.start,
        "--load-step": schedule.step,
        "--load-end": schedule.end,
        "--load-step-duration": _duration(schedule.step_duration_s),
        "--load-max-duration": _duration(schedule.max_duration_s),
    }
    return [f"{flag}={value}" for flag, value in flags.items() if value is not None]


def _duration(seconds: float | None) -> str | None:
    return None if seconds is None else format_duration(seconds)
