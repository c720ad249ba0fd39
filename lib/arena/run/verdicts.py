"""The results of a validation: verdicts as lines for people or as JSON, and as proofs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from arena.base.model import Frozen
from arena.base.progress import Progress
from arena.base.text import columns, printable
from arena.base.workspace import Workspace
from arena.contract import AnyScope, Report
from arena.judge.proofs import CONTRACT, PortProof, Proof, Proofs
from arena.machine import builds
from arena.record.record import Check, Offers
from arena.what.framework import Framework, framework_names, source_sha256

Verdict = Literal["pass", "warn", "fail", "skip"]

# What is said of a framework with a verdict.
WORDS: dict[Verdict, str] = {
    "pass": "passed", "warn": "warned", "fail": "failed", "skip": "skipped",
}  # fmt: skip


class PortChecks(Frozen):
    """All checks that ran on one port, in order.

    A port that is checked lightly, or that has items, has no `offers`.
    """

    port: int
    tls: bool
    verdict: Literal["pass", "warn", "fail"]
    messages_per_data_frame: float | None
    checks: tuple[Check, ...]
    offers: Offers | None = None

    def and_also(self, check: Check) -> Self:
        """Return the checks of this port, and one more."""
        checks = (*self.checks, check)
        return self.changed(checks=checks, verdict=Report(checks).verdict)


class FrameworkVerdict(Frozen):
    """One framework's verdict; `reason` is a sentence on what was wrong, or why it was skipped.

    `log` is the output of its build or server; `missing` is what to install so that it can run. If
    it was started, `runtime` says how, and `source` is the SHA-256 of its source.
    """

    framework: str
    verdict: Verdict
    reason: str = ""
    log: str | None = None
    missing: tuple[str, ...] = ()
    ports: tuple[PortChecks, ...] = ()
    runtime: str | None = None
    source: str | None = None


class Validation(Frozen):
    """All verdicts, as `arena validate --json` prints them."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    frameworks: tuple[FrameworkVerdict, ...]


def port_checks(scope: AnyScope, report: Report, offers: Offers | None = None) -> PortChecks:
    """Return the contract's results for a port."""
    return PortChecks(
        port=scope.port,
        tls=scope.tls,
        verdict=report.verdict,
        messages_per_data_frame=report.messages_per_data_frame,
        checks=report.checks,
        offers=offers,
    )


def judged(
    framework: str, ports: Sequence[PortChecks], problem: str, log: str | None = None
) -> FrameworkVerdict:
    """Return the verdict on a framework: FAIL if there is a problem, else its worst check."""
    warned = _found("warn", ports)
    return FrameworkVerdict(
        framework=framework,
        verdict="fail" if problem else "warn" if warned else "pass",
        reason=problem or warned,
        log=log,
        ports=tuple(ports),
    )


def problem_of(ports: Sequence[PortChecks]) -> str:
    """Return the failed checks, the first of them in full; empty if none failed."""
    return _found("fail", ports)


def _found(status: str, ports: Sequence[PortChecks]) -> str:
    """Return the first check with this status, its port unless that is the first, and a count."""
    found = [
        f"port {port.port}: {check}" if port is not ports[0] else str(check)
        for port in ports
        for check in port.checks
        if check.status == status
    ]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else ""


def check_line(check: Check) -> str:
    """Return a check as a line: `  ok   stream-10`, then what was seen and its bytes."""
    word = "ok" if check.status == "pass" else check.status.upper()
    seen = [part for part in (check.detail, check.wire and f"bytes: {check.wire}") if part]
    return "  ".join([f"  {word:<4} {check.check}", *seen])


def table(outcomes: Sequence[FrameworkVerdict]) -> list[str]:
    """Return a line per framework: its name, the verdict, and what was wrong, in columns."""
    rows = [(each.framework, each.verdict.upper(), each.reason) for each in outcomes]
    return [printable(line) for line in columns(rows)]


def summary(outcomes: Sequence[FrameworkVerdict]) -> str:
    """Return the counts by verdict: `3 passed, 0 warned, 1 failed, 1 skipped`."""
    counts = Counter(each.verdict for each in outcomes)
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in WORDS.items())


def is_proven(proofs: Proofs, workspace: Workspace, framework: Framework, runtime: str) -> bool:
    """Return whether its source passed this contract, in a runtime and with this host's tools."""
    source = source_sha256(workspace.framework(framework.name))
    proof = proofs.proof(framework.name, source)
    if proof is None or proof.verdict == "fail" or proof.runtime != runtime:
        return False
    return _releases(proof.toolchain) == _releases(_toolchain(framework, runtime))


def save_proof(
    workspace: Workspace, framework: Framework, outcome: FrameworkVerdict, shows: Progress
) -> None:
    """Save an outcome as the framework's proof; note the needs that state no version.

    An outcome without ports is not saved: no server was asked. A build fails for the host's reasons
    too, such as a network that is down.
    """
    if not (outcome.ports and outcome.source and outcome.runtime) or outcome.verdict == "skip":
        return
    toolchain = _toolchain(framework, outcome.runtime)
    proof = Proof(
        source=outcome.source,
        contract=CONTRACT,
        runtime=outcome.runtime,
        toolchain=toolchain,
        verdict=outcome.verdict,
        ports=tuple(PortProof.of(port.checks, tls=port.tls) for port in outcome.ports),
    )
    folder = workspace.frameworks
    Proofs.read(folder).write(folder, {framework.name: proof}, framework_names(folder))
    for need, version in toolchain.items():
        if version is None:
            shows.say(f"note: {need} states no version, so the proof names none")


def _toolchain(framework: Framework, runtime: str) -> dict[str, str | None]:
    native = framework.native if runtime == "native" else None
    return {need: builds.version(need) for need in native.needs} if native else {}


def _releases(toolchain: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the versions as they are compared: 3.0 for 3.0.19 of a C library."""
    return {
        need: ".".join(version.split(".")[:2])
        if version and need.startswith("pkg-config:")
        else version
        for need, version in toolchain.items()
    }
