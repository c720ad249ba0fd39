"""volley against servers of others: every reply of theirs is decoded, checked and counted."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.plumbing import eventually
from tests.volley.plumbing import Volley, free_port, listens

pytestmark = pytest.mark.integration

AB = {"a": 1, "b": 2}
STREAM = {**AB, "count": 100}
MANY: list[dict[str, int]] = [{"a": 1, "b": 2}, {"a": 30, "b": 4}, {"a": -7, "b": 0}]


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
    assert 0.7 <= round(done.own["window_s"], 3) < 2


def test_a_small_window_is_replenished(volley: Volley, peer: str) -> None:
    done = volley.load(
        "StreamSum", {**AB, "count": 20_000}, 8080, "-n", "8", "-c", "4", "--connections", "1",
        "--window", "1000", "--expect-replies", "20000", "--expect", "result = a + b + i",
    )  # fmt: skip
    assert done.code == 0, done
    assert done.calls == (8, {}, 0)
    assert done.own["messages"] == 160_000


# ---- servers that are none


@pytest.fixture
def nghttpd(tmp_path: Path) -> Iterator[int]:
    """Run a plain HTTP/2 server, which knows one page; return its port."""
    program = shutil.which("nghttpd")
    if not program:
        pytest.skip("there is no nghttpd (Debian: nghttp2-server)")
    page = tmp_path / "htdocs" / "benchmark.BenchmarkService" / "StreamSum"
    page.parent.mkdir(parents=True)
    page.write_text("hello")
    port = free_port()
    argv = [program, "--no-tls", "-a", "127.0.0.1", "-d", str(tmp_path / "htdocs"), str(port)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            eventually(lambda: listens(port), "nghttpd listens", timeout_s=10)
            yield port
        finally:
            server.terminate()


@pytest.mark.parametrize(
    ("method", "code"),
    [
        # gRPC's http-grpc-status-mapping: 404 is Unimplemented; 200 of no gRPC is Unknown.
        ("GetSum", "Unimplemented"),
        ("StreamSum", "Unknown"),
    ],
)
def test_a_server_that_speaks_no_grpc_fails_every_call_with_the_right_code(
    volley: Volley, nghttpd: int, method: str, code: str
) -> None:
    done = volley.load(method, AB, nghttpd, "-n", "40", "-c", "4", "--connections", "2")
    assert done.code == 1, done
    assert done.calls == (0, {code: 40}, 0)
    assert done.own["messages"] == 0
    assert done.report["statusCodeDistribution"] == {code: 40}


def test_a_port_where_nobody_listens_is_told_and_soon(volley: Volley) -> None:
    port = free_port()
    done = volley.load("GetSum", AB, port, "-z", "1s", "-c", "4", "--connect-timeout", "2s")
    assert done.code == 1, done
    assert str(port) in done.stdout + done.stderr
    assert "refused" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--nonsense"],
        ["--proto", "requests/benchmark.proto", "--call", "benchmark.BenchmarkService/GetSun"],
        ["--proto", "no/such.proto", "--call", "benchmark.BenchmarkService/GetSum"],
    ],
)
def test_bad_usage_is_one_line_and_exit_2_before_any_load(volley: Volley, words: list[str]) -> None:
    done = volley.run("--insecure", *words, "-d", "{}", f"localhost:{free_port()}")
    assert done.code == 2, done
    assert done.stdout == ""
    assert done.stderr.strip()
    assert "panicked" not in done.stderr
