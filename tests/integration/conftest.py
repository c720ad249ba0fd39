"""What integration tests share: ghz, a good server, and a checkout that must be left clean."""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from arena.base.workspace import Workspace
from arena.base.writing import locked
from arena.load import generators
from tests.fakes import FakeProgress
from tests.integration.plumbing import GOOD_IMAGE, ROOT, Arena, eventually, listeners
from tools.bench import counting_server

# The real profile, made small enough that even a slow server finishes many calls in a blink.
# Warm-up and run are long enough for ghz to begin on busy CPUs.
_QUICK = {
    "extends": "stream-grpc",
    "name": "quick",
    "title": "Quick",
    "request": {"a": 1, "b": 2, "count": 100},
    "messages_per_call": 100,
    "connections": [4],
    "streams_per_connection": 2,
    "warmup": "500ms",
    "duration": "800ms",
    "runs": 1,
}


@pytest.fixture(scope="session")
def ghz() -> Path:
    """Find ghz as the runner does, or build it: once, and outside of any benchmark."""
    checkout = Workspace(ROOT)
    with locked(checkout.tools / "bin"):
        found = generators.locate("ghz", checkout, {"GHZ": os.environ.get("GHZ", "")})
        if not (found.program or shutil.which("go")):
            pytest.skip("there is no ghz, and no Go to build it")
        return Path(found.ready(checkout, None, FakeProgress()).program).absolute()


@pytest.fixture(scope="session")
def grpc_go() -> Path:
    """Build the grpc-go server in its own folder; return its program."""
    if not shutil.which("go"):
        pytest.skip("there is no Go to build grpc-go")
    folder = ROOT / "frameworks" / "grpc-go"
    build = json.loads((folder / "meta.json").read_bytes())["native"]["build"]
    subprocess.run(["/bin/sh", "-c", build], check=True, cwd=folder)
    return folder / ".build" / "server"


@pytest.fixture
def checkout(workspace: Workspace) -> Workspace:
    """Make a checkout with the fast profile."""
    path = workspace.profiles / "stream-grpc.yaml"
    path.write_text(path.read_text().replace("warmup: 2s", "warmup: 300ms"))
    (workspace.profiles / "quick.yaml").write_text(yaml.safe_dump(_QUICK))
    shutil.copytree(ROOT / "docker", workspace.root / "docker")
    return workspace


@pytest.fixture
def bare(checkout: Workspace, ghz: Path) -> Iterator[Arena]:
    """Return a checkout of which the test may leave nothing behind."""
    eventually(lambda: not listeners(), "the ports are free")
    arena = Arena(checkout, ghz)
    arena.keep_first_limits()
    yield arena
    try:
        # The kernel ends the children of a killed runner, but not in the same instant.
        with contextlib.suppress(AssertionError):
            eventually(lambda: not arena.left_behind(), "nothing is left behind")
        assert arena.left_behind() == []
    finally:
        arena.clear()


@pytest.fixture(scope="session")
def good_results(ghz: Path, grpc_go: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Measure `victim` once while it is a good server; return the results folder."""
    root = tmp_path_factory.mktemp("good")
    for name in ("profiles", "requests", "site/templates"):
        shutil.copytree(ROOT / name, root / name)
    (root / "frameworks").mkdir()
    (root / "profiles" / "quick.yaml").write_text(yaml.safe_dump(_QUICK))
    arena = Arena(Workspace(root), ghz)
    arena.keep_first_limits()
    arena.add("victim", native={"run": f"exec {grpc_go}"})
    eventually(lambda: not listeners(), "the ports are free")
    done = arena.run("victim", "quick")
    assert done.code == 0, done
    return arena.results


@pytest.fixture
def arena(bare: Arena, grpc_go: Path, good_results: Path) -> Arena:
    """Return a checkout where `victim` is a good server that has been measured before."""
    shutil.copytree(good_results, bare.results, dirs_exist_ok=True)
    bare.add("victim", native={"run": f"exec {grpc_go}"})
    return bare


@pytest.fixture(scope="session")
def faulty_server() -> str:
    """Build tools/peers/grpc-go/faulty; return what starts it: a fault's name follows it."""
    if not shutil.which("go"):
        pytest.skip("there is no Go to build the faulty server")
    return f"exec {counting_server.build(FakeProgress(), 'faulty')}"


@pytest.fixture(scope="session")
def docker() -> None:
    """Need a Docker daemon."""
    try:
        subprocess.run(["docker", "version"], check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("no Docker daemon answers")


@pytest.fixture(scope="session")
def victim_image(
    docker: None, grpc_go: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Make the image that victim's Dockerfiles are based on: the good server, built natively."""
    folder = tmp_path_factory.mktemp("image")
    shutil.copy(grpc_go, folder / "server")
    (folder / "Dockerfile").write_text(
        'FROM debian:bookworm-slim\nCOPY server /server\nUSER 65534\nCMD ["/server"]\n'
    )
    build = ["docker", "build", "--quiet", "--tag", GOOD_IMAGE, str(folder)]
    done = subprocess.run(build, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the base image debian:bookworm-slim is missing: {done.stderr}")
    yield
    # Not every selection of tests has made both.
    made = ["docker", "image", "rm", "--force", "httparena-victim", GOOD_IMAGE]
    subprocess.run(made, check=False, capture_output=True)
