"""volley against the servers of frameworks: each of their replies is decoded, checked, counted."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena import contract
from arena.machine import certs, lock
from arena.machine.builds import finished
from arena.run.runtimes.native import NativeRuntime
from arena.what.framework import load_framework
from arena.what.profile import load_profile
from tests.fakes import FakeProgress
from tests.integration.plumbing import eventually, listeners
from tests.volley.plumbing import CHECKOUT, Volley

pytestmark = pytest.mark.integration

AB = {"a": 1, "b": 2}
STREAM = {**AB, "count": 100}
MANY: list[dict[str, int]] = [{"a": 1, "b": 2}, {"a": 30, "b": 4}, {"a": -7, "b": 0}]


@contextmanager
def framework(name: str, log: Path) -> Iterator[None]:
    """Run a framework's server natively for the block, alone on this host."""
    with lock.only_benchmark("tests/integration/test_volley_frameworks.py", wait=True):
        eventually(lambda: not listeners(), "the ports are free")
        certs.ensure_certificate(CHECKOUT.certs)
        runtime = NativeRuntime(CHECKOUT)
        entry = load_framework(CHECKOUT.frameworks, name)
        finished(runtime.build(entry, log.with_suffix(".build")), FakeProgress())
        with runtime.start(entry, None, log) as server:
            profile = load_profile(CHECKOUT.profiles, "stream-grpc")
            contract.wait_ready(contract.scope_of(profile), 60, server.ended)
            yield


@pytest.fixture(scope="module", params=["grpc-go", "grpcio-python"])
def peer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a framework's own server on 8080 and 8443."""
    name: str = request.param
    if name == "grpc-go" and not shutil.which("go"):
        pytest.skip("grpc-go needs Go")
    with framework(name, tmp_path_factory.mktemp(name) / "server.log"):
        yield name


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    ("method", "request_", "replies", "rule"),
    [
        ("GetSum", AB, 1, "result = a + b"),
        ("StreamSum", STREAM, 100, "result = a + b + i"),
        ("CollectSum", MANY, 1, "result = sum(a) + sum(b)"),
        ("EchoSum", MANY, 3, "result = a + b"),
    ],
)
def test_every_shape_of_call_is_made_checked_and_counted(
    volley: Volley, peer: str, tls: bool, method: str, request_: Any, replies: int, rule: str
) -> None:
    port, security = (8443, ["--skipTLS"]) if tls else (8080, [])
    done = volley.load(
        method, request_, port, *security, "-n", "200", "-c", "8", "--connections", "2",
        "--expect-replies", str(replies), "--expect", rule,
    )  # fmt: skip
    assert done.code == 0, done
    assert done.calls == (200, {}, 0)
    assert done.own["messages"] == 200 * replies
    assert done.own["checks"]["replies_checked"] == 200 * replies
    assert done.report["count"] == 200


def test_a_certificate_of_nobody_is_refused_unless_told_otherwise(
    volley: Volley, peer: str
) -> None:
    done = volley.run(
        "--proto", "requests/benchmark.proto", "--call", "benchmark.BenchmarkService/GetSum",
        "-d", "{}", "-n", "8", "-c", "2", "-O", "json", "localhost:8443",
    )  # fmt: skip
    assert done.code == 1, done
    assert "certificate" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("replies", "rule", "said"),
    [
        ("99", "result = a + b + i", "99"),
        ("101", "result = a + b + i", "101"),
        ("100", "result = a + b + i + 1", "`result` is 3, expected 4"),
        ("100", "result = a + b", "`result` is 4, expected 3"),
    ],
)
def test_a_reply_that_is_not_as_expected_fails_its_call_and_is_shown(
    volley: Volley, peer: str, replies: str, rule: str, said: str
) -> None:
    done = volley.load(
        "StreamSum", STREAM, 8080, "-n", "20", "-c", "4",
        "--expect-replies", replies, "--expect", rule,
    )  # fmt: skip
    assert done.code == 1
    ok, failed, cut = done.calls
    assert (ok, sum(failed.values()), cut) == (0, 20, 0)
    assert said in json.dumps(done.own["checks"], ensure_ascii=False)
    assert done.report["statusCodeDistribution"] == failed


def test_a_window_ends_when_it_ends_and_open_calls_are_cut_not_failed(
    volley: Volley, peer: str
) -> None:
    done = volley.load(
        "StreamSum", {**AB, "count": 5000}, 8080, "-z", "700ms", "-c", "16", "--connections", "4",
        "--expect-replies", "5000", "--expect", "result = a + b + i",
    )  # fmt: skip
    ok, failed, cut = done.calls
    assert failed == {}
    assert 0 <= cut <= 16
    assert ok + cut == done.report["count"]
    assert done.code == (0 if ok else 1)
    assert done.own["messages"] >= ok * 5000
    assert done.own["messages"] <= (ok + cut) * 5000
    # Never shorter; longer where the host let it wait for a CPU.
    assert round(done.own["window_s"], 3) >= 0.7


def test_a_small_window_is_replenished(volley: Volley, peer: str) -> None:
    done = volley.load(
        "StreamSum", {**AB, "count": 20_000}, 8080, "-n", "8", "-c", "4", "--connections", "1",
        "--window", "1000", "--expect-replies", "20000", "--expect", "result = a + b + i",
    )  # fmt: skip
    assert done.code == 0, done
    assert done.calls == (8, {}, 0)
    assert done.own["messages"] == 160_000
