"""From what ghz and volley report to a measurement, for every kind of call and of load."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from arena.load import ghz_flags, measurements
from arena.record.measurement import Measurement, Unchecked
from arena.what.profile import MeasuredProfile
from arena.what.schedule import Schedule
from tests.fakes import UNARY, a_profile

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
SERVICE = "benchmark.BenchmarkService"

SCHEDULED: dict[str, Any] = {
    "kind": "scheduled",
    **UNARY,
    "concurrency": 10,
    "connections": (1,),
    "connection_count": 1,
    "requests": 150,
    "schedule": Schedule(shape="line", start=20, step=20, end=60),
    "metric": "p99 latency",
}


def streamed(method: str) -> MeasuredProfile:
    both = method == "EchoSum"
    return a_profile(
        call=f"{SERVICE}/{method}",
        request={"a": 1, "b": 2},
        requests_per_call=1000,
        messages_per_call=2000 if both else 1000,
    )


def by_ghz(name: str, profile: MeasuredProfile) -> Measurement:
    return measurements.of_ghz(FIXTURES / "ghz" / f"ghz-121-{name}.json", profile)


def by_volley(name: str, profile: MeasuredProfile) -> Measurement:
    return measurements.of_volley(FIXTURES / "volley" / f"{name}.json", profile)


@pytest.mark.parametrize("read", [by_ghz, by_volley])
def test_a_client_stream_counts_the_messages_of_the_calls_that_were_answered(read: Any) -> None:
    measured = read("collectsum", streamed("CollectSum"))
    assert measured.calls.cut
    assert measured.messages == measured.calls.ok * 1000
    assert measured.rate == measured.rate_at_least
    assert measured.rate == pytest.approx(measured.messages / measured.elapsed_s)
    every = (measured.calls.ok + measured.calls.cut) * 1000
    assert measured.rate_at_most == pytest.approx(every / measured.elapsed_s)
    assert measured.seconds == ()


def test_an_echo_is_two_messages_and_volley_counts_each() -> None:
    classic = by_ghz("echosum", streamed("EchoSum"))
    assert classic.messages == classic.calls.ok * 2000
    assert classic.rate_at_least < classic.rate_at_most
    counted = by_volley("echosum", streamed("EchoSum"))
    assert counted.messages == 2 * 51_346
    assert counted.rate_at_least == counted.rate_at_most == counted.messages / counted.elapsed_s
    assert sum(each.messages for each in counted.seconds) == counted.messages


def test_who_looked_at_what_is_told() -> None:
    classic = by_ghz("line", a_profile(**SCHEDULED))
    assert classic.unchecked == Unchecked(status=0, replies=150)
    assert by_volley("line", a_profile(**SCHEDULED)).unchecked == Unchecked(status=0, replies=0)
    assert by_volley("echosum", streamed("EchoSum")).unchecked == Unchecked(status=0, replies=0)


@pytest.mark.parametrize(
    ("read", "sent"), [(by_ghz, [19, 40, 60, 31]), (by_volley, [20, 40, 60, 30])]
)
def test_a_scheduled_load_is_held_against_its_schedule(read: Any, sent: list[int]) -> None:
    measured = read("line", a_profile(**SCHEDULED))
    assert [each.intended for each in measured.seconds] == [20, 40, 60, 30]
    assert [each.sent for each in measured.seconds] == sent
    assert [each.length_s for each in measured.seconds[:3]] == [1.0, 1.0, 1.0]
    assert measured.seconds[3].length_s == pytest.approx(0.5, abs=0.02)


def test_what_was_due_after_the_run_had_ended_is_told_as_well() -> None:
    later = {**SCHEDULED, "requests": 300}
    measured = by_volley("line", a_profile(**later))
    assert [each.intended for each in measured.seconds] == [20, 40, 60, 60, 60, 60]
    assert [each.sent for each in measured.seconds] == [20, 40, 60, 30, 0, 0]
    assert {each.length_s for each in measured.seconds[4:]} == {1.0}


@pytest.mark.parametrize("requests", [1, 60, 61, 120, 121, 150])
def test_every_call_is_due_in_some_second(requests: int) -> None:
    const = {**SCHEDULED, "requests": requests, "schedule": Schedule(shape="const", rps=60)}
    seconds = by_volley("line", a_profile(**const)).seconds
    assert sum(each.intended or 0 for each in seconds) == requests


def test_a_schedule_of_streams_is_told_by_the_second_as_well() -> None:
    stream = {**SCHEDULED, "call": f"{SERVICE}/StreamSum", "messages_per_call": 10}
    found = by_ghz("line", a_profile(**stream)).seconds
    assert [each.messages for each in found] == [190, 400, 600, 310]


def test_a_closed_load_has_nothing_due() -> None:
    closed = a_profile(call=f"{SERVICE}/GetSum", messages_per_call=1, request={"a": 1})
    assert {each.intended for each in by_volley("line", closed).seconds} == {None}
    assert {each.intended for each in by_ghz("line", closed).seconds} == {None}


def test_streams_of_who_counts_calls_are_not_told_by_the_second() -> None:
    assert by_ghz("stream", a_profile()).seconds == ()
    assert len(by_volley("stream", a_profile()).seconds) == 2


@pytest.mark.parametrize(
    ("schedule", "flags"),
    [
        (Schedule(shape="const", rps=200), "--rps 200"),
        (
            Schedule(shape="step", start=50, step=10, step_duration_s=5, end=150),
            (
                "--load-schedule=step --load-start=50 --load-step=10 --load-end=150 "
                "--load-step-duration=5s"
            ),
        ),
        (
            Schedule(shape="step", start=200, step=-10, step_duration_s=5, max_duration_s=40),
            (
                "--load-schedule=step --load-start=200 --load-step=-10 --load-step-duration=5s "
                "--load-max-duration=40s"
            ),
        ),
    ],
)
def test_a_schedule_is_told_in_ghzs_flags(schedule: Schedule, flags: str) -> None:
    argv = ghz_flags.scheduled(a_profile(**{**SCHEDULED, "schedule": schedule}))
    assert f" --async {flags} " in shlex.join(argv)
    assert argv[argv.index("-n") + 1] == "150"
    assert argv[argv.index("-c") + 1] == "10"
    assert "-z" not in argv


def test_a_stream_of_requests_is_told_by_its_length() -> None:
    argv = ghz_flags.closed(streamed("EchoSum"))
    assert argv[argv.index("--stream-call-count") + 1] == "1000"
    assert "--stream-call-count" not in ghz_flags.closed(a_profile())
