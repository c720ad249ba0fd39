"""What validating came to: a verdict for each framework, as lines for people or as JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.base.text import columns, printable
from arena.measure.contract import Report, Scope
from arena.record.record import Check

Verdict = Literal["pass", "warn", "fail", "skip"]

_COUNTED: dict[Verdict, str] = {
    "pass": "passed",
    "warn": "warned",
    "fail": "failed",
    "skip": "skipped",
}


class PortChecks(Frozen):
    """Every check that was made on one port, in order."""

    port: int
    tls: bool
    verdict: Literal["pass", "warn", "fail"]
    messages_per_data_frame: float | None
    checks: tuple[Check, ...]


class Outcome(Frozen):
    """One framework's verdict; `reason` says in a sentence what was wrong, or why it was skipped.

    `log` is what its build or its server printed; `missing` is what to install so that it can run.
    """

    framework: str
    verdict: Verdict
    reason: str = ""
    log: str | None = None
    missing: tuple[str, ...] = ()
    ports: tuple[PortChecks, ...] = ()


class Validation(Frozen):
    """All of them, as `arena validate --json` prints them."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    frameworks: tuple[Outcome, ...]


def port_checks(scope: Scope, report: Report) -> PortChecks:
    """Return what the contract found on a port."""
    return PortChecks(
        port=scope.port,
        tls=scope.tls,
        verdict=report.verdict,
        messages_per_data_frame=report.messages_per_data_frame,
        checks=report.checks,
    )


def judged(
    framework: str, ports: Sequence[PortChecks], problem: str, log: str | None = None
) -> Outcome:
    """Return the verdict on a framework: FAIL with a problem, else as its checks came out."""
    warned = _found("warn", ports)
    return Outcome(
        framework=framework,
        verdict="fail" if problem else "warn" if warned else "pass",
        reason=problem or warned,
        log=log,
        ports=tuple(ports),
    )


def problem_of(ports: Sequence[PortChecks]) -> str:
    """Return which checks failed, the first of them in full; empty if none did."""
    return _found("fail", ports)


def _found(status: str, ports: Sequence[PortChecks]) -> str:
    """Return the first check that came out so, its port if that is not the first, and a count."""
    found = [
        f"port {port.port}: {check}" if port is not ports[0] else str(check)
        for port in ports
        for check in port.checks
        if check.status == status
    ]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else ""


def check_line(check: Check) -> str:
    """Return a check as a line: `  ok   stream-10`; what was seen follows, and the bytes of it."""
    word = "ok" if check.status == "pass" else check.status.upper()
    seen = [part for part in (check.detail, check.wire and f"bytes: {check.wire}") if part]
    return "  ".join([f"  {word:<4} {check.check}", *seen])


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line for each: its name, the verdict, and what was wrong, in columns."""
    rows = [(each.framework, each.verdict.upper(), each.reason) for each in outcomes]
    return [printable(line) for line in columns(rows)]


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return how many came out how: `3 passed, 0 warned, 1 failed, 1 skipped`."""
    counts = Counter(each.verdict for each in outcomes)
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in _COUNTED.items())
