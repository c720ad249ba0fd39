"""What lib/parse_ghz.py reads of ghz's output or volley's, as a measurement."""

from dataclasses import replace
from itertools import zip_longest

from arena.record.measurement import Measurement, Second, Unchecked
from arena.what.measured import MeasuredProfile
from parse_ghz import GhzReport

_NOTHING = Second(sent=0, ok=0, failed=0, messages=0)


def measurement_of(report: GhzReport, profile: MeasuredProfile) -> Measurement:
    """Turn a report into a measurement.

    ghz counts calls, not messages: every OK call stands for `messages_per_call` of them, and
    the calls it cut may have delivered any number, which is what the error bar spans. Where
    replies were counted, there is no error bar.
    """
    each = _messages_per_reply(profile)
    counted = None if report.messages is None or each is None else report.messages * each
    rate = replace(report, messages=counted).rate(profile.messages_per_call)
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=report.calls,
        messages=report.calls.ok * profile.messages_per_call if counted is None else counted,
        rate=rate.messages_per_s,
        rate_at_least=rate.at_least,
        rate_at_most=rate.at_most,
        reported_calls_per_s=report.reported_calls_per_s,
        latency_ns=report.latency,
        unchecked=_unchecked(report),
        seconds=_seconds(report, profile),
    )


def _messages_per_reply(profile: MeasuredProfile) -> int | None:
    """Return how many messages a reply stands for: in EchoSum the request too that it answers.

    None in CollectSum: its one reply says nothing of the messages of the calls that were cut.
    """
    if profile.method == "CollectSum":
        return None
    return profile.messages_per_call // profile.replies


def _unchecked(report: GhzReport) -> Unchecked:
    """Return whose replies nobody compared; the status of every call has been read."""
    every = report.replies_checked is not None and report.replies_checked >= (report.messages or 0)
    return Unchecked(status=0, replies=0 if every else report.calls.ok)


def _seconds(report: GhzReport, profile: MeasuredProfile) -> tuple[Second, ...]:
    """Return the run's seconds, with what was due in each by the profile's schedule.

    Of a closed load of calls that stream there are none, unless their messages were counted: a
    call that ended in one second had most of its messages in others.
    """
    each = None if report.messages is None else _messages_per_reply(profile)
    due = profile.load.due()
    if not report.seconds or not (each or profile.is_unary or due):
        return ()
    return tuple(
        replace(
            told,
            length_s=min(report.elapsed_s - place, 1.0) if place < report.elapsed_s else 1.0,
            intended=(intended or 0) if due else None,
            messages=told.messages * each if each else told.ok * profile.messages_per_call,
        )
        for place, (found, intended) in enumerate(zip_longest(report.seconds, due))
        for told in [found or _NOTHING]
    )
