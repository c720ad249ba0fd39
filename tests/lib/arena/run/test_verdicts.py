"""What validating came to, in lines and in JSON."""

import json

from arena.base.model import to_json
from arena.contract import Scope
from arena.record.record import Check
from arena.run.verdicts import (
    FrameworkVerdict,
    PortChecks,
    Validation,
    check_line,
    judged,
    port_checks,
    problem_of,
    summary,
    table,
)
from tests.fakes import FAILED, OFFERS, PASSED, WARNED, a_report


def h2c(*checks: Check) -> PortChecks:
    return port_checks(Scope(8080, tls=False), a_report(*checks, packed=2.0), OFFERS)


def tls(*checks: Check) -> PortChecks:
    return port_checks(Scope(8443, tls=True), a_report(*checks, packed=None))


def test_a_check_is_a_line_with_what_was_seen_and_its_bytes() -> None:
    assert check_line(PASSED) == "  ok   unary-sum"
    assert check_line(WARNED) == "  WARN content-type  it is answered with 200, not 415"
    assert check_line(FAILED) == "  FAIL stream-10  9 replies, not 10  bytes: 00 00"


def test_what_was_wrong_is_the_first_failure_and_how_many_more_there_are() -> None:
    assert problem_of([h2c(PASSED, WARNED), tls(PASSED)]) == ""
    assert problem_of([]) == ""
    assert problem_of([h2c(FAILED), tls(PASSED)]) == "stream-10: 9 replies, not 10"
    assert problem_of([h2c(PASSED), tls(FAILED)]) == "port 8443: stream-10: 9 replies, not 10"
    both = problem_of([h2c(PASSED, FAILED), tls(FAILED)])
    assert both == "stream-10: 9 replies, not 10 (and 1 more)"


def test_a_verdict_is_that_of_the_worst_check() -> None:
    assert judged("a", [h2c(PASSED), tls(PASSED)], "").verdict == "pass"
    warned = judged("a", [h2c(PASSED), tls(WARNED, WARNED)], "")
    said = "port 8443: content-type: it is answered with 200, not 415 (and 1 more)"
    assert (warned.verdict, warned.reason) == ("warn", said)
    failed = judged("a", [h2c(WARNED)], "build: it broke", "/tmp/log")
    assert (failed.verdict, failed.reason, failed.log) == ("fail", "build: it broke", "/tmp/log")


OUTCOMES = [
    FrameworkVerdict(framework="a", verdict="pass"),
    FrameworkVerdict(framework="grpc-go", verdict="fail", reason="x\x1b[2J"),
    FrameworkVerdict(framework="b", verdict="skip", reason="needs zig"),
]


def test_a_framework_is_a_line_in_columns_that_steers_no_terminal() -> None:
    assert table(OUTCOMES) == [
        "a        PASS",
        "grpc-go  FAIL  x\ufffd[2J",
        "b        SKIP  needs zig",
    ]
    assert table([]) == []


def test_the_summary_counts_every_verdict() -> None:
    assert summary(OUTCOMES) == "1 passed, 0 warned, 1 failed, 1 skipped"


def test_as_json_every_check_of_every_port_is_there() -> None:
    outcome = judged("a", [h2c(PASSED, FAILED)], "stream-10: 9 replies, not 10")
    assert json.loads(to_json(Validation(frameworks=(outcome,)))) == {
        "schema": 1,
        "frameworks": [
            {
                "framework": "a",
                "verdict": "fail",
                "reason": "stream-10: 9 replies, not 10",
                "log": None,
                "missing": [],
                "ports": [
                    {
                        "port": 8080,
                        "tls": False,
                        "verdict": "fail",
                        "messages_per_data_frame": 2.0,
                        "checks": [PASSED.model_dump(), FAILED.model_dump()],
                        "offers": OFFERS.model_dump(),
                    }
                ],
                "runtime": None,
                "source": None,
            }
        ],
    }
