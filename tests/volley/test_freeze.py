"""An open loop sees a stall: the calls that were due in it waited, sent or not."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.integration.plumbing import eventually
from tests.volley.plumbing import Volley
from tools.bench.counting_server import CountingServer

pytestmark = pytest.mark.integration

RPS = 1000
# So long that a busy host does not move the freeze out of it.
WINDOW_S = 10
FREEZE_S = 1.0


@contextmanager
def frozen_in_mid_window(server: CountingServer) -> Iterator[list[float]]:
    """Stop the server's process for a while once load has begun; the list gets for how long."""
    took: list[float] = []

    def freeze() -> None:
        eventually(lambda: server.answered() > RPS, "a second of load")
        began = time.monotonic()
        os.kill(server.pid, signal.SIGSTOP)
        try:
            time.sleep(FREEZE_S)
        finally:
            took.append(time.monotonic() - began)
            os.kill(server.pid, signal.SIGCONT)

    thread = threading.Thread(target=freeze)
    thread.start()
    try:
        yield took
    finally:
        thread.join()


def test_a_second_of_silence_is_in_the_latencies(volley: Volley, counting: CountingServer) -> None:
    with frozen_in_mid_window(counting) as took:
        done = volley.load(
            "GetSum", {"a": 1, "b": 2}, counting.port,
            "--rps", str(RPS), "-z", f"{WINDOW_S}s", "-c", "50", "--connections", "4",
            "--duration-stop", "wait", "--expect", "result = a + b",
        )  # fmt: skip
    assert done.code == 0, done
    own, latency = done.own, done.own["latency_ns"]

    # All that were meant to be sent are accounted for.
    ok, failed, cut = done.calls
    assert own["sent"] + own["missed"] == RPS * WINDOW_S
    assert (ok, failed, cut) == (own["sent"], {}, 0)
    assert ok == counting.counts().calls

    # A call that was due t seconds before the thaw waited for t: RPS x freeze of them, for half
    # of it on average. A busy host adds to that, and how much is nobody's promise.
    least_ns = RPS * took[0] ** 2 / 2 / (RPS * WINDOW_S) * 1e9
    assert latency["kind"] == "response"
    assert latency["mean"] >= 0.9 * least_ns
    assert latency["p99"] > 800e6
    # What a closed loop would have told of it: only those that were on their way did wait.
    assert own["service_latency_ns"]["mean"] < latency["mean"] / 2
