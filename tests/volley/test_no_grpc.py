"""volley where no gRPC is to be had: a server of something else, none at all, bad usage."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.plumbing import eventually
from tests.volley.plumbing import Volley, free_port, listens

pytestmark = pytest.mark.integration

AB = {"a": 1, "b": 2}


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
            eventually(lambda: listens(port), "nghttpd listens")
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
