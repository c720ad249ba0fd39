"""The server of the first session is built beside the generators, and only once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from arena.base.errors import FrameworkError, HostError
from arena.base.workspace import Workspace
from arena.load import generators
from arena.load.find import Located
from arena.load.generators import Generator
from arena.machine.builds import Build, Command, finished
from arena.run.plan import Plan, plan_sessions
from arena.run.runner import Runner
from arena.run.runtimes import Built, remembered
from arena.run.runtimes.remembered import BuiltAhead, BuiltOnce
from arena.what.framework import Framework
from arena.what.selection import frameworks
from tests.fakes import (
    FakeGenerator,
    FakeProgress,
    FakeRuntime,
    a_build,
    a_program,
    a_request,
    add_framework,
)


@dataclass
class Shop:
    """Finds the generators of two frameworks in a checkout; both have to be built."""

    workspace: Workspace
    built: list[str] = field(default_factory=list)
    problem: Exception | None = None
    missing: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.runtime = BuiltAhead(
            FakeRuntime(on_build=self._build, missing=self.missing), self.workspace
        )

    def _build(self, log: Path) -> None:
        self.built.append(log.name)
        log.write_text("what the compiler said\n")
        if self.problem:
            raise self.problem

    def plans(self) -> Sequence[Plan]:
        request = a_request("all", ("stream-grpc",))
        chosen = frameworks(self.workspace, "all")
        return plan_sessions(self.workspace, request, {"PATH": "", **self.environment}, chosen)

    def find(self) -> Mapping[Located, Generator]:
        runner = Runner(self.workspace, a_request("all"), self.runtime, FakeProgress())
        return runner.find_generators(self.plans())

    def session(self, log: Path) -> Built:
        first: Framework = self.plans()[0].framework
        return finished(self.runtime.build(first, log), FakeProgress())


@pytest.fixture
def shop(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for name in ("first", "second"):
        add_framework(workspace, name, "stream-grpc")
    monkeypatch.setattr(generators, "build", lambda *_: a_build(FakeGenerator()))
    return Shop(workspace)


def test_the_first_session_takes_what_was_built_ahead_and_the_next_one_builds(
    shop: Shop, tmp_path: Path
) -> None:
    shop.find()
    assert shop.built == ["first.log"]
    made = shop.session(tmp_path / "1.log")
    assert made.image_digest == "sha256:abc"
    assert made.ahead_s > 0
    assert (tmp_path / "1.log").read_text() == "what the compiler said\n"
    assert shop.session(tmp_path / "2.log").ahead_s == 0
    assert shop.built == ["first.log", "2.log"]


def test_a_source_that_has_changed_since_is_built_again(shop: Shop, tmp_path: Path) -> None:
    shop.find()
    (shop.workspace.framework("first") / "main.go").write_text("package later")
    assert shop.session(tmp_path / "1.log").ahead_s == 0
    assert shop.built == ["first.log", "1.log"]


def test_a_server_that_does_not_build_is_the_failure_of_its_session(
    shop: Shop, tmp_path: Path
) -> None:
    shop.problem = FrameworkError("build", "`make` failed", output="what the compiler said")
    shop.find()
    shop.problem = None
    with pytest.raises(FrameworkError, match="`make` failed") as caught:
        shop.session(tmp_path / "1.log")
    assert caught.value.log == tmp_path / "1.log"
    assert caught.value.output == "what the compiler said"
    assert (tmp_path / "1.log").read_text() == "what the compiler said\n"
    assert shop.built == ["first.log"]


@pytest.mark.parametrize(
    "problem", [HostError("no Docker daemon answers"), PermissionError(13, "Permission denied")]
)
def test_what_the_host_could_not_build_is_built_by_its_session(
    shop: Shop, tmp_path: Path, problem: Exception
) -> None:
    shop.problem = problem
    assert len(shop.find()) == 1
    with pytest.raises(type(problem)):
        shop.session(tmp_path / "1.log")
    shop.problem = None
    assert shop.session(tmp_path / "2.log").ahead_s == 0
    assert shop.built == ["first.log", "1.log", "2.log"]


def test_a_source_that_cannot_be_read_is_its_sessions(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(remembered, "source_sha256", unreadable)
    assert len(shop.find()) == 1
    assert shop.built == []


def test_in_a_night_of_blocks_it_counts_for_the_first_visit_only(
    shop: Shop, tmp_path: Path
) -> None:
    shop.find()
    once = BuiltOnce(shop.runtime)
    first = shop.plans()[0].framework
    visits = [finished(once.build(first, tmp_path / "log"), FakeProgress()) for _ in range(3)]
    assert visits[0].ahead_s > 0
    assert visits[1:] == [replace(visits[0], ahead_s=0.0)] * 2
    assert shop.built == ["first.log"]


def test_what_this_host_cannot_run_is_not_built(shop: Shop) -> None:
    shop.missing["first"] = "first needs zig"
    shop.find()
    assert shop.built == []


def test_where_no_generator_is_built_the_session_builds(shop: Shop, tmp_path: Path) -> None:
    ghz = a_program(tmp_path / "ghz", "echo --proto --call --connections")
    shop.environment["GHZ"] = str(ghz)
    shop.find()
    assert shop.built == []
    shop.environment["LOADGEN_DOCKER"] = "true"
    shop.find()
    assert shop.built == []


def test_without_any_generator_the_build_of_the_server_is_given_up(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up: list[str] = []

    def command(script: str, log: Path) -> Command:
        return Command(["/bin/sh", "-c", script], tmp_path, log, "build it")

    def endless(framework: Framework, log: Path) -> Build[Built]:
        try:
            yield command("touch begun; exec sleep 60", log)
        finally:
            given_up.append(framework.name)
        return Built()

    def missing(*_: object) -> Build[FakeGenerator]:
        yield command("until [ -e begun ]; do :; done", tmp_path / "log")
        raise HostError("ghz: `go install` failed")

    monkeypatch.setattr(FakeRuntime, "build", lambda _, framework, log: endless(framework, log))
    monkeypatch.setattr(generators, "build", missing)
    with pytest.raises(HostError, match="go install"):
        shop.find()
    assert given_up == ["first"]
