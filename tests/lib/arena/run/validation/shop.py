"""Validations with fakes of everything that has an effect."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from arena import contract
from arena.base.workspace import Workspace
from arena.contract import AnyScope, Report
from arena.record.record import Check
from arena.run import validate as validating
from arena.run.validate import ValidateOptions, validate
from tests.fakes import OFFERS, FakeRuntime, a_report, add_framework

Tell = Callable[[Check], None]


@dataclass
class Shop:
    """A workspace with two frameworks, and what the contract finds on each port."""

    workspace: Workspace
    capsys: pytest.CaptureFixture[str]
    runtime: FakeRuntime
    found: dict[int, Report]
    asked: list[tuple[Any, object]]
    ready: list[tuple[int, float]]
    ending: Check
    interrupted_at: int | None = None  # the check at which the user interrupts, from 1

    def run(self, frameworks: str, *profiles: str, **options: Any) -> int:
        wanted = ValidateOptions(frameworks, profiles, **options)
        return validate(self.workspace, wanted, command="validate it")

    def logs(self) -> list[str]:
        return sorted(path.name for path in self.workspace.tools.glob("validate/*"))

    def printed(self) -> tuple[list[str], list[str]]:
        out, err = self.capsys.readouterr()
        return out.splitlines(), err.splitlines()


@pytest.fixture
def shop(
    workspace: Workspace,
    free_host: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shop:
    made = Shop(workspace, capsys, FakeRuntime(), {}, [], [], Check(check="sigterm", status="pass"))

    def check(scope: AnyScope, server: object, tell: Tell) -> Report:
        made.asked.append((scope, server))
        if len(made.asked) == made.interrupted_at:
            raise KeyboardInterrupt
        report = made.found.get(scope.port, a_report())
        for each in report.checks:
            tell(each)
        return report

    monkeypatch.setattr(contract, "check", check)
    monkeypatch.setattr(contract, "offers", lambda _: OFFERS)
    monkeypatch.setattr(contract, "ending", lambda *_: made.ending)
    monkeypatch.setattr(
        contract, "wait_ready", lambda scope, wait_s, _: made.ready.append((scope.port, wait_s))
    )
    monkeypatch.setattr(validating, "choose", lambda *_: made.runtime)
    add_framework(workspace, "grpc-go", "stream-grpc", "stream-grpc-tls")
    add_framework(workspace, "tonic", "unary-grpc")
    return made
