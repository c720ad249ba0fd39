"""The loads of the figures, made by volley itself."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.base.workspace import Workspace
from arena.machine.certs import ensure_certificate
from tools.bench_instructions.counting import servers
from tools.bench_instructions.figures import FIGURES, Figure

pytestmark = pytest.mark.builds


@pytest.fixture(scope="module")
def ports(
    volley_program: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[bool, int]]:
    certificates = Workspace(tmp_path_factory.mktemp("root")).certs
    ensure_certificate(certificates)
    with servers(volley_program, certificates) as ports:
        yield ports


@pytest.mark.parametrize("figure", FIGURES, ids=lambda each: each.name)
def test_every_figure_is_a_load_in_which_nothing_fails(
    figure: Figure, ports: dict[bool, int], volley_program: Path, tmp_path: Path
) -> None:
    argv = figure.argv(str(volley_program), ports[figure.tls], 7, tmp_path)
    subprocess.run(argv, check=True, timeout=60)
    assert "7" in (tmp_path / "report").read_text().split()
