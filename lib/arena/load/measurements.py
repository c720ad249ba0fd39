"""Measurements, from what lib/parse_*.py read in a generator's raw output.

A broken output is a ValueError of one line.
"""

from dataclasses import asdict, replace
from itertools import zip_longest
from pathlib import Path

import parse_blast
import parse_ghz
import parse_h2load
import parse_scenario
from arena.record.measurement import (
    BlastPoint,
    Calls,
    Latency,
    Measurement,
    Search,
    Second,
    Step,
    Unchecked,
    Wrong,
)
from arena.what.profile import MeasuredProfile
from parse_blast import Point
from parse_ghz import GhzReport
from parsers import find

_NOTHING = Second(sent=0, ok=0, failed=0, messages=0)


def of_ghz(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved output of ghz into a measurement."""
    return of_report(parse_ghz.parse_file(raw), profile)


def of_volley(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved output of volley into a measurement.

    The messages counted are those inside the window, including those of cut calls. So
    there is no error bar. A report without this count is refused: it would be an estimate.
    """
    return of_report(_counted(raw), profile)


def of_told_volley(raw: Path, profile: MeasuredProfile) -> tuple[Measurement, float]:
    """Return the same, and the CPU seconds that volley used inside its window."""
    report = _counted(raw)
    return of_report(report, profile), _own_cpu_s(report, raw)


def of_live(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn volley's saved output of streams that live into a measurement.

    Its calls are messages: those that were due in the window and were answered are OK, and those
    without a reply are cut. Latencies are those of replies, from when their message was due.
    """
    return _of_streams(_counted(raw), raw, profile)


def of_told_live(raw: Path, profile: MeasuredProfile) -> tuple[Measurement, float]:
    """Return the same, and the CPU seconds that volley used inside its window."""
    report = _counted(raw)
    return _of_streams(report, raw, profile), _own_cpu_s(report, raw)


def _own_cpu_s(report: GhzReport, raw: Path) -> float:
    if report.cpu_s is None:
        raise ValueError(f"{raw}: key `volley.cpu_s` is missing")
    return report.cpu_s


def _of_streams(report: GhzReport, raw: Path, profile: MeasuredProfile) -> Measurement:
    if (streams := report.streams) is None:
        raise ValueError(f"{raw}: key `volley.paced_streams` is missing")
    each = profile.messages_per_call
    messages = streams.answered * each
    rate = messages / report.elapsed_s
    return of_report(report, profile).changed(
        calls=Calls(ok=streams.answered, failed={}, cut=streams.unanswered),
        messages=messages,
        rate=rate,
        rate_at_least=rate,
        rate_at_most=rate,
        reported_calls_per_s=None,
        latency_ns=report.reply_latency or Latency(kind="response", samples=0),
        unchecked=_unchecked(report.replies_checked, report.messages or 0, streams.answered),
        # volley's seconds are of calls, of which none ends.
        seconds=(),
        streams=streams,
    )


def _counted(raw: Path) -> GhzReport:
    report = parse_ghz.parse_file(raw)
    if report.messages is None:
        raise ValueError(f"{raw}: key `volley` is missing: not volley's JSON report")
    return report


def of_report(report: GhzReport, profile: MeasuredProfile) -> Measurement:
    """Turn a report of ghz or volley into a measurement.

    ghz counts calls, not messages: every OK call stands for `messages_per_call` of them. The calls
    it cut may have delivered any number, and the error bar covers that range. If replies were
    counted, there is no error bar.
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
        tail=report.tail,
        written_ns=report.written if profile.load.steadies or profile.load.is_start else None,
        unchecked=_unchecked(report.replies_checked, report.messages or 0, report.calls.ok),
        seconds=_seconds(report, profile),
        data_frames=report.data_frames,
        warm_up=tuple(each * messages for messages in report.warm_up) if each else (),
        wrong=report.wrong,
    )


def _messages_per_reply(profile: MeasuredProfile) -> int | None:
    """Return the messages per reply: in a bidirectional stream, a reply also counts its request.

    None where replies do not tell how many messages a cut call delivered: in a client stream, or
    if requests and replies are not paired.
    """
    if profile.method_type == "client-streaming" or profile.messages_per_call % profile.replies:
        return None
    return profile.messages_per_call // profile.replies


def _seconds(report: GhzReport, profile: MeasuredProfile) -> tuple[Second, ...]:
    """Return the run's seconds, with the calls due in each by the profile's schedule.

    A closed load of calls that stream has none, unless its messages were counted: a
    call that ended in one second may have sent most of its messages in others.
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


def of_h2load(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved output of h2load into a measurement.

    After a warm-up, it counts what ends inside its window, so there is no error bar. Without a
    warm-up, it does not report how every call ended. The unreported calls may have been answered or
    not, and the error bar covers both. If no call was OK, those that it may have in flight bound
    the rate, whatever it counted. It checks neither the gRPC status nor the replies.
    """
    report = parse_h2load.parse_file(raw)
    calls, each = report.calls, profile.messages_per_call
    at_most = report.at_most_per_s
    if report.warm_up_s:
        begun = report.counts.started - report.counts.done
        calls = replace(calls, cut=max(profile.in_flight + begun, 0))
        at_most = report.calls_per_s
    if not calls.ok:
        at_most = max(calls.cut, profile.in_flight) / report.elapsed_s
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=calls,
        messages=calls.ok * each,
        rate=report.calls_per_s * each,
        rate_at_least=report.calls_per_s * each,
        rate_at_most=at_most * each,
        reported_calls_per_s=report.reported_per_s,
        latency_ns=report.latency,
        unchecked=Unchecked(status=calls.ok, replies=calls.ok),
    )


def of_blast(raw: Path) -> Measurement:
    """Turn a saved sweep of blasts into a measurement.

    The rate and the latency are those of the fastest point. If no blast was fired to its
    end, or no call succeeded, the rate is 0.
    """
    report = parse_blast.parse_file(raw)
    points = tuple(map(_point, report.points))
    fastest = _point(report.fastest) if report.fastest else None
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=Calls(ok=report.ok, failed=report.failed, cut=0),
        messages=report.ok,
        rate=fastest.rate if fastest else 0.0,
        rate_at_least=fastest.rate_at_least if fastest else 0.0,
        rate_at_most=fastest.rate_at_most if fastest else 0.0,
        reported_calls_per_s=None,
        latency_ns=fastest.latency_ns if fastest else Latency(kind="response", samples=0),
        unchecked=_unchecked(report.replies_checked, report.ok, report.ok),
        points=points,
        wrong=report.wrong,
    )


def of_find(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn a saved search for a capacity into a measurement: its rate is the one that was found."""
    report = find.parse_file(raw)
    calls, failed = (
        sum(getattr(each, name) for each in report.windows) for name in ("calls", "failed")
    )
    each, wrong = profile.messages_per_call, sum(window.wrong for window in report.windows)
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=Calls(ok=calls - failed, failed={"not OK": failed} if failed else {}, cut=0),
        messages=(calls - failed) * each,
        rate=report.rate,
        rate_at_least=report.at_least,
        rate_at_most=report.at_most,
        reported_calls_per_s=report.rate,
        latency_ns=Latency(kind="response", samples=0),
        search=Search.model_validate(
            {"answer": report.answer, "windows": [_seen(each) for each in report.windows]}
        ),
        wrong=Wrong(wrong, "volley's report has their number only" if wrong else ""),
    )


def _seen(window: find.Window) -> dict[str, object]:
    return {name: value for name, value in asdict(window).items() if name != "wrong"}


def of_scenario(raw: Path, profile: MeasuredProfile) -> Measurement:
    """Turn volley's saved report of scenarios into a measurement.

    Calls and messages are requests, and were counted, so there is no error bar. What a response
    must be is in the scenario file.
    """
    report, is_paced = parse_scenario.parse_file(raw), profile.load.follows_schedule
    return Measurement(
        elapsed_s=report.elapsed_s,
        calls=report.calls,
        messages=report.calls.ok,
        rate=report.requests_per_s,
        rate_at_least=report.requests_per_s,
        rate_at_most=report.requests_per_s,
        reported_calls_per_s=report.reported_calls_per_s,
        latency_ns=report.latency,
        seconds=tuple(
            each if is_paced else replace(each, intended=None) for each in report.seconds
        ),
        steps=tuple(
            Step(
                name=step.name,
                count=step.count,
                ok=step.calls.ok,
                failed=step.calls.failed,
                latency_ns=step.latency,
            )
            for step in report.steps
        ),
        wrong=report.wrong,
    )


def _point(point: Point) -> BlastPoint:
    rate = point.rate
    return BlastPoint(
        connections=point.connections,
        requests=point.requests,
        repetitions=len(point.shots),
        rate=rate.median,
        rate_at_least=rate.at_least,
        rate_at_most=rate.at_most,
        latency_ns=point.latency,
        ok=point.ok,
        failed=point.failed,
    )


def _unchecked(checked: int | None, replies: int, ok: int) -> Unchecked:
    """Return the OK calls whose replies were not compared; every call's status was read."""
    return Unchecked(status=0, replies=0 if checked is not None and checked >= replies else ok)
