"""What tests of measuring share: a framework's folder, and fakes of a host that is free."""

from pathlib import Path

import pytest

from arena import contract
from arena.base.workspace import Workspace
from arena.machine import certs, cpus, lock, ports
from arena.run.runner import Runner
from tests.fakes import a_report, still_sentinel


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    folder = workspace.frameworks / "grpc-go"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _servers_settle_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no fake server: it uses CPU with each look."""
    monkeypatch.setattr("arena.run.driver._SETTLE_S", 0.0)


@pytest.fixture
def free_host(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give the checkout a host with four cores and free ports, where every answer is right."""
    monkeypatch.chdir(workspace.root)
    monkeypatch.setattr(cpus, "physical_cores", lambda: [(0,), (1,), (2,), (3,)])
    monkeypatch.setattr(lock, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(ports, "require_free_port", lambda _: None)
    monkeypatch.setattr(certs, "ensure_certificate", lambda _: None)
    monkeypatch.setattr(contract, "wait_ready", lambda *_: None)
    monkeypatch.setattr(contract, "check", lambda *_: a_report())
    monkeypatch.setattr(Runner, "sentinel", still_sentinel())
