"""volley blast's counts against those of a server that counts for itself (tools/peers)."""

import pytest

from tests.volley.plumbing import SERVICE, Outcome, Volley
from tools.bench.counting_server import CountingServer

pytestmark = pytest.mark.integration

REQUESTS = (1, 2, 5, 50, 1000)
CONNECTIONS = (1, 8, 100)
REPETITIONS = 3


def blast(volley: Volley, port: int, *flags: str) -> Outcome:
    return volley.run(
        "blast", "--insecure", "--proto", "requests/benchmark.proto", "--call", f"{SERVICE}/GetSum",
        "-d", '{"a": 1, "b": 2}', "--expect", "result = a + b", "-O", "json",
        "--requests", ",".join(map(str, REQUESTS)),
        "--connections", ",".join(map(str, CONNECTIONS)),
        "--repetitions", str(REPETITIONS), *flags, f"localhost:{port}",
    )  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
def test_every_call_of_a_sweep_is_counted_once_by_both_sides(
    volley: Volley, counting: CountingServer, threads: int
) -> None:
    done = blast(volley, counting.port, "--threads", str(threads))
    assert (done.code, done.stderr) == (0, ""), done
    report = done.report
    assert [(point["connections"], point["requests"]) for point in report["points"]] == [
        (connections, requests) for connections in CONNECTIONS for requests in REQUESTS
    ]
    for point in report["points"]:
        assert (point["ok"], point["failed"]) == (REPETITIONS * point["requests"], {})
        assert point["latency_ns"]["samples"] == point["ok"]
        rates = sorted(shot["ok"] / shot["span_ns"] * 1e9 for shot in point["shots"])
        assert list(point["rate"].values()) == pytest.approx([rates[1], rates[0], rates[2]])
    calls = REPETITIONS * len(CONNECTIONS) * sum(REQUESTS)
    assert counting.counts().calls == report["checks"]["replies_checked"] == calls
    assert (report["reconnects"], report["warnings"]) == (0, [])


def test_a_seed_gives_the_same_order_again(volley: Volley, counting: CountingServer) -> None:
    def order(seed: int) -> list[list[int]]:
        points = blast(volley, counting.port, "--seed", str(seed)).report["points"]
        return [[shot["order"] for shot in point["shots"]] for point in points]

    assert order(7) == order(7) != order(8)
