"""The contract against `volley serve`: honest it passes, and each of its faults has a name."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.contract import Call, Report, Scope, check, checks, values
from arena.contract.client import Client
from arena.contract.wire import Answer
from arena.machine import certs
from arena.record.measurement import Cost
from arena.record.record import Check

pytestmark = pytest.mark.integration

ALL = frozenset[Call]({"GetSum", "StreamSum", "CollectSum", "EchoSum"})
PROFILE = {"a": 1, "b": 2, "count": 5000}
NUMBER = r"-?\d+"
WRONG = f"is {NUMBER}, not {NUMBER}"

_GRACE_S = 60.0


@dataclass(frozen=True)
class Served:
    """A server that runs: where, and what it has used."""

    port: int
    process: psutil.Process

    def ended(self) -> str | None:
        return None if self.process.is_running() else "it is gone"

    def cost(self) -> Cost:
        used = self.process.cpu_times()
        memory = self.process.memory_info().rss
        return Cost(cpu_s=used.user + used.system, peak_bytes=memory)


@contextmanager
def serving(program: Path, *flags: str) -> Iterator[Served]:
    """Run `volley serve` on a free port for the block."""
    server = subprocess.Popen(
        [program, "serve", "--listen", "127.0.0.1:0", *flags], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout
        line = server.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:"), line
        yield Served(int(line.rpartition(":")[2]), psutil.Process(server.pid))
    finally:
        server.terminate()
        server.communicate(timeout=_GRACE_S)


@pytest.fixture(scope="module")
def calls_before_streams(volley_program: Path) -> int:
    """Count the calls that come before the first of StreamSum; the server counts them all."""
    made: list[int] = []
    with pytest.MonkeyPatch.context() as patch, serving(volley_program) as server:
        call = Client.call

        def counted(*words: Any, **more: Any) -> Answer:
            made.append(1)
            return call(*words, **more)

        patch.setattr(Client, "call", counted)
        for run in (values.unary_sum, values.unary_extremes):
            run(Scope(server.port, tls=False))
    return len(made)


class EnoughError(Exception):
    """The first that failed is all that is asked for."""


def first_failure(port: int) -> Check:
    """Return the first check that fails; those after it are not made."""
    failed: list[Check] = []

    def tell(made: Check) -> None:
        if made.status != "pass":
            failed.append(made)
            raise EnoughError

    with pytest.raises(EnoughError):
        check(Scope(port, tls=False, calls=ALL, requests=(PROFILE,)), None, tell)
    return failed[0]


def assert_found(found: Check, name: str, words: str, wire: str) -> None:
    assert (found.check, found.status) == (name, "fail"), found
    assert re.fullmatch(words, found.detail), found
    assert re.fullmatch(wire, found.wire), found


def names(report: Report, status: str) -> list[str]:
    return [str(each) for each in report.checks if each.status == status]


def test_an_honest_server_passes_the_whole_contract(volley_program: Path) -> None:
    with serving(volley_program) as server:
        scope = Scope(server.port, tls=False, calls=ALL, requests=(PROFILE,))
        report = check(scope, server)
    assert (names(report, "fail"), names(report, "warn")) == ([], [])
    passed = names(report, "pass")
    assert {"stream-100000", "backpressure", "cancel", "connections-64", "half-close"} <= set(
        passed
    )
    assert len(passed) == 21
    assert report.messages_per_data_frame == 1


def test_so_it_does_over_tls(volley_program: Path, tmp_path: Path) -> None:
    certs.ensure_certificate(tmp_path)
    pair = ["--tls-cert", str(tmp_path / "server.crt"), "--tls-key", str(tmp_path / "server.key")]
    with serving(volley_program, *pair) as server:
        report = check(Scope(server.port, tls=True, calls=ALL, light=True), server)
    assert (names(report, "fail"), names(report, "warn")) == ([], [])
    assert names(report, "pass")[-3:] == ["tls-alpn", "tls-version", "tls-downgrade"]


@pytest.mark.parametrize(
    ("fault", "at", "name", "words", "wire"),
    [
        ("--wrong-value-at", 0, "unary-sum", f"reply 0 {WRONG}", ".+"),
        ("--wrong-value-at", 9, "stream-10", f"reply 9 {WRONG}", ".+"),
        ("--wrong-value-at", 4999, "stream-5000", f"reply 4999 {WRONG}", ".+"),
        ("--wrong-value-at", 99_999, "stream-100000", f"reply 99999 {WRONG}", ".+"),
        ("--trailers-only-every", 1, "unary-sum", r"grpc-status is 13, not 0 \(on purpose.*", ""),
        ("--reset-every", 1, "unary-sum",
         r"the server reset the stream \(INTERNAL_ERROR\); then GetSum is not answered .*", ""),
        ("--goaway-after", 3, "unary-sum",
         r"the server (closed the connection|refuses the call: GOAWAY \(NO_ERROR\)).*", ""),
    ],
)  # fmt: skip
def test_a_fault_is_caught_by_name(
    volley_program: Path, fault: str, at: int, name: str, words: str, wire: str
) -> None:
    with serving(volley_program, fault, str(at)) as server:
        assert_found(first_failure(server.port), name, words, wire)


@pytest.mark.parametrize(
    ("fault", "stream", "name", "words", "wire"),
    [
        ("--trailers-only-every", 1, "stream-10", "grpc-status is 13, not 0 .*", ""),
        ("--reset-every", 2, "stream-5000",
         r"the server reset the stream \(INTERNAL_ERROR\)", ""),
        ("--truncate-every", 3, "stream-profile",
         "the last reply is cut off", "00 00 00 00 02 08"),
        ("--garbage-every", 4, "stream-zero",
         "a frame of 16777215 bytes is larger than allowed", "ff ff ff ff ff ff ff ff ff"),
        ("--close-every", 5, "stream-negative",
         "the server closed the connection in the middle of the call", ""),
    ],
)  # fmt: skip
def test_a_fault_in_one_stream_is_caught_by_name(
    volley_program: Path, calls_before_streams: int, fault: str, stream: int, name: str, words: str,
    wire: str,
) -> None:  # fmt: skip
    with serving(volley_program, fault, str(calls_before_streams + stream)) as server:
        assert_found(first_failure(server.port), name, words, wire)


def test_a_server_that_takes_too_long_is_caught(
    volley_program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "TIMEOUT_S", 0.1)
    monkeypatch.setattr(checks, "_PROBE_TIMEOUT_S", 0.1)
    with serving(volley_program, "--delay", "30s") as server:
        report = check(Scope(server.port, tls=False, calls=ALL), None)
    said = "no answer within 0.1 s; then GetSum is not answered (no answer within 0.1 s)"
    assert report.checks == (Check(check="unary-sum", status="fail", detail=said),)
