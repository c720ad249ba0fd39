"""volley's counts against those of a server that counts for itself (tools/peers)."""

import json

import pytest

from tests.volley.plumbing import Outcome, Volley
from tools.bench.counting_server import CountingServer

pytestmark = pytest.mark.integration

STREAM = {"a": 1, "b": 2, "count": 5000}
CHECKED = ("--expect-replies", "5000", "--expect", "result = a + b + i")
WAIT = ("-z", "1s", "--duration-stop", "wait")


def check_equal(done: Outcome, server: CountingServer) -> None:
    counts = server.counts()
    ok, failed, cut = done.calls
    assert done.code == 0, done
    assert (failed, cut) == ({}, 0)
    assert ok == counts.calls > 0
    assert done.own["messages"] == counts.messages > 0
    assert sum(done.own["series"]["messages"]) == counts.messages


@pytest.mark.parametrize(
    "flags",
    [
        ("-c", "256", "--connections", "64"),
        ("-c", "256", "--connections", "64", "--threads", "1"),
        ("-c", "7", "--connections", "3", "--threads", "2"),
        ("-c", "1", "--connections", "1", "--window", "70000"),
    ],
)
def test_when_the_last_streams_are_waited_for_the_counts_are_equal_to_the_message(
    volley: Volley, counting: CountingServer, flags: tuple[str, ...]
) -> None:
    done = volley.load("StreamSum", STREAM, counting.port, *flags, *WAIT, *CHECKED)
    check_equal(done, counting)
    assert done.own["checks"]["replies_checked"] == done.own["messages"]


def test_unary_calls_are_counted_one_by_one(volley: Volley, counting: CountingServer) -> None:
    flags = ("-c", "640", "--connections", "64", *WAIT, "--expect", "result = a + b")
    check_equal(volley.load("GetSum", {"a": 1, "b": 2}, counting.port, *flags), counting)


def test_a_number_of_calls_is_that_number_of_calls(
    volley: Volley, counting: CountingServer
) -> None:
    flags = ("-n", "1003", "-c", "10", "--connections", "4")
    done = volley.load("GetSum", {"a": 1, "b": 2}, counting.port, *flags)
    assert (done.code, done.calls) == (0, (1003, {}, 0))
    assert counting.counts().calls == 1003


def test_when_the_window_closes_on_open_streams_no_message_is_counted_that_was_not_sent(
    volley: Volley, counting: CountingServer
) -> None:
    flags = ("-c", "256", "--connections", "64", "-z", "1s", *CHECKED)
    done = volley.load("StreamSum", STREAM, counting.port, *flags)
    ok, failed, cut = done.calls
    assert failed == {}
    assert 0 < cut <= 256
    counts = counting.counts()
    assert ok * 5000 <= done.own["messages"] <= counts.messages
    assert ok <= counts.calls <= ok + cut


def test_warming_up_counts_for_nothing(volley: Volley, counting: CountingServer) -> None:
    flags = ("-c", "8", "--connections", "2", *WAIT, "--warmup", "500ms")
    done = volley.load("GetSum", {"a": 1, "b": 2}, counting.port, *flags)
    ok, failed, cut = done.calls
    assert (done.code, failed, cut) == (0, {}, 0)
    assert 0 < ok < counting.counts().calls


def test_a_config_file_says_the_same_as_flags(
    volley: Volley, counting: CountingServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = {
        "proto": "requests/benchmark.proto",
        "call": "benchmark.BenchmarkService.GetSum",
        "data": {"a": 1, "b": 2},
        "insecure": True,
        "total": 50,
        "concurrency": 5,
        "format": "json",
        "host": f"localhost:{counting.port}",
    }
    path = tmp_path_factory.mktemp("config") / "load.json"
    path.write_text(json.dumps(config))
    done = volley.run("--config", str(path))
    assert (done.code, done.calls) == (0, (50, {}, 0)), done
    assert counting.counts().calls == 50
