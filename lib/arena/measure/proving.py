"""Making proofs: what a validation found becomes a proof of the framework's source."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from arena.base.workspace import Workspace
from arena.judge.proofs import CONTRACT, PortProof, Proof, Proofs
from arena.machine import needs
from arena.measure.verdicts import Outcome
from arena.what.framework import Framework, framework_names, source_sha256


def is_proven(workspace: Workspace, framework: Framework) -> bool:
    """Return whether there is a proof of its source, this contract and this host's toolchain."""
    source = source_sha256(workspace.framework(framework.name))
    proof = Proofs.read(workspace.frameworks).proof(framework.name, source)
    if proof is None:
        return False
    return proof.runtime != "native" or proof.toolchain == _toolchain(framework)


@contextmanager
def recorded(
    workspace: Workspace, frameworks: Sequence[Framework], outcomes: Sequence[Outcome]
) -> Iterator[None]:
    """Save the outcomes as proofs when the block is left, also after an interrupt."""
    proofs = Proofs.read(workspace.frameworks)
    known = {each.name: each for each in frameworks}
    try:
        yield
    finally:
        found = {
            each.framework: Proof(
                source=each.source,
                contract=CONTRACT,
                runtime=each.runtime,
                toolchain=_toolchain(known[each.framework]) if each.runtime == "native" else {},
                verdict=each.verdict,
                reason=each.reason,
                ports=tuple(PortProof.of(port.checks, tls=port.tls) for port in each.ports),
            )
            for each in outcomes
            if each.runtime and each.source and each.verdict != "skip"
        }
        proofs.write(workspace.frameworks, found, framework_names(workspace.frameworks))


def _toolchain(framework: Framework) -> dict[str, str | None]:
    native = framework.native
    return {need: needs.version(need) for need in native.needs} if native else {}
