"""Proofs: what is kept of validations, and of which source."""

import json
from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.judge.proofs import CONTRACT, FILE, PortProof, Proof, Proofs
from arena.record.record import Check

CHECKS = (
    Check(check="unary-sum", status="pass"),
    Check(check="content-type", status="warn", detail="text/plain is answered"),
)


def a_proof(source: str = "1" * 64, contract: int = CONTRACT) -> Proof:
    ports = (PortProof.of(CHECKS, tls=False),)
    return Proof(source=source, contract=contract, runtime="docker", verdict="warn", ports=ports)


def test_without_a_file_nothing_is_proven(tmp_path: Path) -> None:
    assert Proofs.read(tmp_path).proof("grpc-go", "1" * 64) is None


def test_what_was_written_is_read_and_others_are_kept_while_they_exist(tmp_path: Path) -> None:
    Proofs().write(tmp_path, {"b": a_proof(), "gone": a_proof()}, ["a", "b", "gone"])
    Proofs.read(tmp_path).write(tmp_path, {"a": a_proof()}, ["a", "b"])
    assert list(json.loads((tmp_path / FILE).read_bytes())["frameworks"]) == ["a", "b"]
    (port,) = Proofs.read(tmp_path).frameworks["b"].ports
    assert port.checks == {"unary-sum": "pass", "content-type": "warn"}
    assert port.seen == {"content-type": "text/plain is answered"}


def test_a_proof_is_of_one_source_and_of_this_contract() -> None:
    proofs = Proofs(frameworks={"a": a_proof(), "b": a_proof(contract=CONTRACT - 1)})
    assert proofs.proof("a", "1" * 64) == a_proof()
    assert proofs.proof("a", "2" * 64) is None
    assert proofs.proof("b", "1" * 64) is None


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"schema": 1, "framework": {}}')
    with pytest.raises(UsageError, match=r"validated\.json: framework: unknown key"):
        Proofs.read(tmp_path)
