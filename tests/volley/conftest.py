"""What the tests of volley share: the servers. The program itself is in tests/conftest.py."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.volley.plumbing import Volley, framework
from tests.volley.scenarios import Scenarios
from tools.bench.counting_server import CountingServer, serving


@pytest.fixture
def volley(volley_program: Path) -> Volley:
    return Volley(volley_program)


@pytest.fixture
def scenarios(volley: Volley, tmp_path: Path) -> Scenarios:
    return Scenarios(volley, tmp_path)


@pytest.fixture
def counting(counting_program: Path, tmp_path: Path) -> Iterator[CountingServer]:
    """Run one, on a port of its own."""
    with serving(counting_program, tmp_path) as server:
        yield server


@pytest.fixture(scope="module", params=["grpc-go", "grpcio-python"])
def peer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a framework's own server on 8080 and 8443."""
    name: str = request.param
    if name == "grpc-go" and not shutil.which("go"):
        pytest.skip("grpc-go needs Go")
    with framework(name, tmp_path_factory.mktemp(name) / "server.log"):
        yield name
