"""What holds for finding every generator: the refusals, and the ways that are named."""

from pathlib import Path

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.load import generators
from tests.fakes import FakeProgress, a_program
from tests.lib.arena.load.stubs import docker_stub, finder


@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        ("ghz", "echo hello", "is not ghz"),
        ("h2load", "echo nghttp nghttp2/1.52.0", "is not h2load"),
        ("volley", "echo ghz 1", "is not volley"),
        ("volley", "echo volleyball 1", "is not volley"),
        *((name, "exit 1", f"is not {name}") for name in ("ghz", "h2load", "volley")),
        *((name, None, "not a program that can be run") for name in ("ghz", "h2load", "volley")),
    ],
)
def test_a_named_program_that_is_another_one_is_refused_before_any_work(
    bin_: Path, workspace: Workspace, tmp_path: Path, name: str, script: str | None, said: str
) -> None:
    if script:
        a_program(tmp_path / "mine", script)
    variable = name.upper()
    environment = {variable: str(tmp_path / "mine"), f"{variable}_IMAGE": "mine:1"}
    with pytest.raises(UsageError, match=rf"^{variable}: .*{said}"):
        generators.locate(name, workspace, environment)
    # It is not looked at where an image is asked for, or another generator is used.
    generators.locate(name, workspace, {**environment, "LOADGEN_DOCKER": "true"})
    generators.locate("volley" if name == "ghz" else "ghz", workspace, environment)


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("ghz", ["GHZ=/path/to/ghz", "PATH", "Go", "Docker"]),
        ("h2load", ["H2LOAD=/path/to/h2load", "nghttp2-client", "LOADGEN_DOCKER", "H2LOAD_IMAGE"]),
        ("volley", ["VOLLEY=/path/to/volley", "Rust", "cargo", "Docker", "LOADGEN_DOCKER"]),
        ("volley", ["VOLLEY_IMAGE"]),
    ],
)
def test_where_there_is_no_way_all_ways_are_named(
    bin_: Path, workspace: Workspace, name: str, ways: list[str]
) -> None:
    with pytest.raises(HostError) as caught:
        finder(name, bin_, workspace)()
    assert [way for way in ways if way not in str(caught.value)] == []


@pytest.mark.parametrize("name", ["h2load", "volley"])
def test_an_image_of_another_program_is_refused(
    bin_: Path, outside: Path, workspace: Workspace, name: str
) -> None:
    a_program(bin_ / "docker", docker_stub("hello"))
    (outside / "images").write_text("abc")
    image = f"{name.upper()}_IMAGE"
    with pytest.raises(UsageError, match=rf"^{image}: mine:1 is not {name}"):
        finder(name, bin_, workspace)(LOADGEN_DOCKER="yes", **{image: "mine:1"})


@pytest.mark.parametrize("name", ["ghz", "volley"])
def test_without_the_daemon_that_was_asked_for_it_is_said_what_asked_for_it(
    workspace: Workspace, bin_: Path, name: str
) -> None:
    located = generators.locate(
        name, workspace, {"LOADGEN_DOCKER": "yes", f"{name.upper()}_IMAGE": "mine:1"}
    )
    said = (
        r"^LOADGEN_DOCKER: no Docker daemon answers: there is no `docker` command on PATH; "
        r"start Docker here, or .*LOADGEN_DOCKER=false$"
    )
    with pytest.raises(HostError, match=said):
        located.ready(workspace, None, FakeProgress())
