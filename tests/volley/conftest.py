"""What the tests of volley share: the servers. The program itself is in tests/conftest.py."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.volley.plumbing import Volley
from tests.volley.scenarios import Scenarios
from tools.bench.counting_server import CountingServer, serving


@pytest.fixture
def scenarios(volley: Volley, tmp_path: Path) -> Scenarios:
    return Scenarios(volley, tmp_path)


@pytest.fixture
def counting(counting_program: Path, tmp_path: Path) -> Iterator[CountingServer]:
    """Run one, on a port of its own."""
    with serving(counting_program, tmp_path) as server:
        yield server
