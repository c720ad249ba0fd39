"""Making proofs: what a validation found becomes a proof of the framework's source."""

from collections.abc import Mapping

from arena.base.progress import Progress
from arena.base.workspace import Workspace
from arena.judge.proofs import CONTRACT, PortProof, Proof, Proofs
from arena.machine import needs
from arena.run.verdicts import Outcome
from arena.what.framework import Framework, framework_names, source_sha256


def is_proven(proofs: Proofs, workspace: Workspace, framework: Framework, runtime: str) -> bool:
    """Return whether its source passed this contract, in a runtime and with this host's tools."""
    source = source_sha256(workspace.framework(framework.name))
    proof = proofs.proof(framework.name, source)
    if proof is None or proof.verdict == "fail" or proof.runtime != runtime:
        return False
    return _releases(proof.toolchain) == _releases(_toolchain(framework, runtime))


def record(workspace: Workspace, framework: Framework, outcome: Outcome, shows: Progress) -> None:
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
    return {need: needs.version(need) for need in native.needs} if native else {}


def _releases(toolchain: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the versions as they are compared: 3.0 for 3.0.19 of a C library."""
    return {
        need: ".".join(version.split(".")[:2])
        if version and need.startswith("pkg-config:")
        else version
        for need, version in toolchain.items()
    }
