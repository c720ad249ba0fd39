"""ghz's command line for a profile: volley takes the same one."""

import json
from collections.abc import Sequence

from arena.base.units import format_duration
from arena.what.loads import CallsAtRate, Closed, Live, Scheduled
from arena.what.profile import MeasuredProfile

# ghz and volley give a call up after this time.
CALL_TIMEOUT_S = 20.0

# At a fixed rate, a call that is due in the window is answered so long after it at the latest.
DRAIN_S = 1.0
_END = ("--duration-stop", "wait", "--drain-timeout", format_duration(DRAIN_S))


def closed(profile: MeasuredProfile, more: Sequence[str] = (), *, form: str = "json") -> list[str]:
    """Return HttpArena's own flags for a closed load, plus `more` flags."""
    length = ["-z", format_duration(profile.load_as(Closed).duration_s)]
    return _arguments(profile, length, form, more)


def scheduled(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return HttpArena's own flags for a scheduled load, plus `more` flags."""
    load = profile.load_as(Scheduled)
    schedule = load.schedule
    flags = {
        "--load-schedule": schedule.shape,
        "--load-start": schedule.start,
        "--load-step": schedule.step,
        "--load-end": schedule.end,
        "--load-step-duration": _duration(schedule.step_duration_s),
        "--load-max-duration": _duration(schedule.max_duration_s),
    }
    when = [f"{flag}={value}" for flag, value in flags.items() if value is not None]
    if schedule.rps is not None:
        when = ["--rps", str(schedule.rps)]
    return _arguments(profile, ["-n", str(load.requests), "--async", *when], "json", more)


def paced(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return the flags for calls at a fixed rate; those that are open at the end may end."""
    load = profile.load_as(CallsAtRate)
    length = ["-z", format_duration(load.duration_s), "--rps", str(load.rate), "--async"]
    return _arguments(profile, [*length, *_END], "json", more)


def live(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return volley's flags for streams that live; replies may come a moment after the window."""
    load = profile.load_as(Live)
    length = ["-z", format_duration(load.duration_s), "--stream-rate", str(load.rate)]
    return _arguments(profile, [*length, *_END], "json", more)


def _arguments(
    profile: MeasuredProfile, load: Sequence[str], form: str, more: Sequence[str]
) -> list[str]:
    return [
        *request(profile),
        "--connections", str(profile.connection_count),
        "-c", str(profile.in_flight),
        *load,
        "-O", form,
        *more,
        target(profile),
    ]  # fmt: skip


def request(profile: MeasuredProfile) -> list[str]:
    """Return the flags for the method that is called."""
    # Streams that live have no last message.
    counts = profile.streams_up and not profile.load.answers_messages
    return [
        "--skipTLS" if profile.tls else "--insecure",
        "--proto", profile.proto_file,
        "--call", profile.call,
        "-d", json.dumps(profile.request, separators=(",", ":")),
        *(["--stream-call-count", str(profile.requests_per_call)] if counts else []),
    ]  # fmt: skip


def target(profile: MeasuredProfile) -> str:
    """Return the server's address."""
    return f"localhost:{profile.port}"


def _duration(seconds: float | None) -> str | None:
    return None if seconds is None else format_duration(seconds)
