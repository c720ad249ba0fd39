"""lib/parse_ghz.py reads volley's reports as it reads ghz's, and gets volley's own numbers."""

import pytest

import parse_ghz
from tests.volley.plumbing import Outcome, Volley
from tools.bench.counting_server import CountingServer

pytestmark = pytest.mark.integration

STREAM = {"a": 1, "b": 2, "count": 5000}
LOADS = {
    "all OK": ("-n", "300", "-c", "8", "--connections", "2"),
    "cut at the end": ("-z", "1s", "-c", "64", "--connections", "16"),
    "some kept": ("-n", "300", "-c", "8", "--details", "1000"),
    "all failed": ("-n", "30", "-c", "3", "--expect-replies", "7"),
}


def load(volley: Volley, server: CountingServer, flags: tuple[str, ...], form: str) -> Outcome:
    return volley.load("StreamSum", STREAM, server.port, *flags, form=form)


@pytest.mark.parametrize("flags", LOADS.values(), ids=LOADS)
@pytest.mark.parametrize("form", ["json", "pretty"])
def test_json_is_read_to_the_nanosecond(
    volley: Volley, counting: CountingServer, flags: tuple[str, ...], form: str
) -> None:
    done = load(volley, counting, flags, form)
    parsed, own = parse_ghz.parse(done.stdout), done.own
    ok, failed, cut = done.calls
    assert (parsed.calls.ok, dict(parsed.calls.failed), parsed.calls.cut) == (ok, failed, cut)
    assert parsed.count == ok + sum(failed.values()) + cut
    assert parsed.elapsed_s == pytest.approx(own["window_s"], abs=1e-9)
    latency = own["latency_ns"]
    assert parsed.latency.samples == latency["samples"] == ok
    assert parsed.reported_calls_per_s == pytest.approx(
        (ok + sum(failed.values())) / parsed.elapsed_s
    )
    assert parsed.messages == own["messages"]
    rate = parsed.rate(5000)
    assert rate.at_least == rate.at_most == own["messages"] / parsed.elapsed_s
    for name in ("mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"):
        assert getattr(parsed.latency, name) == latency[name]


@pytest.mark.parametrize("flags", LOADS.values(), ids=LOADS)
def test_text_is_read_as_far_as_it_is_printed(
    volley: Volley, counting: CountingServer, flags: tuple[str, ...]
) -> None:
    done = load(volley, counting, flags, "summary")
    parsed = parse_ghz.parse(done.stdout)
    counts = counting.counts()
    calls = parsed.calls
    assert parsed.form == "text"
    assert parsed.count == calls.ok + sum(calls.failed.values()) + calls.cut
    if "-z" in flags:
        assert calls.ok <= counts.calls <= parsed.count
    elif "--expect-replies" in flags:
        assert (calls.ok, sum(calls.failed.values()), calls.cut) == (0, 30, 0)
    else:
        assert (calls.ok, dict(calls.failed), calls.cut) == (counts.calls, {}, 0)
        assert parsed.latency.p99
        assert parsed.latency.samples == calls.ok
