"""volley against servers that describe themselves, and against etcd, by its own .proto."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from tests.integration.plumbing import ROOT, eventually
from tests.volley.plumbing import Outcome, Volley, free_port

pytestmark = pytest.mark.integration

PEERS = ROOT / "tools" / "peers"
CHECK = "grpc.health.v1.Health/Check"

# etcd's .proto files, and those that they import.
API = "go.etcd.io/etcd/api/v3@v3.6.16"
GOGO = "github.com/gogo/protobuf@v1.3.2"
GOOGLE = "github.com/grpc-ecosystem/grpc-gateway@v1.16.0"
GATEWAY = "github.com/grpc-ecosystem/grpc-gateway/v2@v2.29.0"


@contextmanager
def started(*words: str | Path) -> Iterator[str]:
    """Run a peer for the block; yield where it says that it listens."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as peer:
        try:
            assert peer.stdout
            where: str = json.loads(peer.stdout.readline())["listen"]
            yield where
        finally:
            peer.terminate()


@pytest.fixture(scope="module")
def grpc_go(counting_program: Path) -> Iterator[str]:
    with started(counting_program) as where:
        yield where


@pytest.fixture(scope="module")
def tonic() -> Iterator[str]:
    if not shutil.which("cargo"):
        pytest.skip("there is no Rust to build the peer")
    folder = PEERS / "tonic-health"
    build = ["cargo", "build", "--quiet", "--locked", "--target-dir", ".build"]
    subprocess.run(build, check=True, cwd=folder)
    with started(folder / ".build" / "debug" / "tonic-health-peer") as where:
        yield where


@pytest.fixture(scope="module")
def grpcio() -> Iterator[str]:
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool)
        health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
        names = [health_pb2.DESCRIPTOR.services_by_name["Health"].full_name]
        reflection.enable_server_reflection([*names, reflection.SERVICE_NAME], server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(grace=None).wait()


@pytest.fixture(scope="module", params=["grpc_go", "grpcio", "tonic"])
def described(request: pytest.FixtureRequest) -> str:
    """Run a server that describes itself."""
    where: str = request.getfixturevalue(request.param)
    return where


def test_its_services_are_listed_and_described(volley: Volley, described: str) -> None:
    listed = volley.run("list", "--insecure", described)
    assert (listed.code, listed.stderr) == (0, "")
    services = [line for line in listed.stdout.splitlines() if not line.startswith(" ")]
    assert "grpc.health.v1.Health" in services
    assert any(name.startswith("grpc.reflection.v1") for name in services)
    types = ("grpc.health.v1.HealthCheckRequest", "grpc.health.v1.HealthCheckResponse")
    rpc = "rpc Check({}) returns ({});".format(*types)
    assert f"  {rpc}" in listed.stdout.splitlines()
    method = volley.run("describe", "--insecure", described, CHECK)
    assert method.code == 0, method
    message = "message HealthCheckRequest {\n  string service = 1;\n}\n"
    assert method.stdout.startswith(f"{rpc}\n\n{message}")


def test_its_health_is_tried_and_loaded_without_a_proto(volley: Volley, described: str) -> None:
    tried = volley.run("try", "--insecure", "--call", CHECK, described)
    assert tried.code == 0, tried
    assert json.loads(tried.stdout)["response"]["replies"] == [{"status": "SERVING"}]
    done = volley.run(
        "--insecure", "--call", CHECK, "-n", "200", "-c", "8", "--expect", "status = 1",
        "-O", "json", described,
    )  # fmt: skip
    assert done.calls == (200, {}, 0)
    assert done.report["options"]["schema"] == "reflection"


# ---- etcd


def module(name: str) -> Path:
    """Return the folder of a Go module; Go downloads it once."""
    words = ["go", "mod", "download", "-json", name]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return Path(json.loads(done.stdout)["Dir"])


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[str]:
    """Run etcd on a port of its own, and wait until it has elected itself."""
    program = shutil.which("etcd")
    if not program:
        pytest.skip("there is no etcd (Debian: etcd-server)")
    client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    words = [
        program, "--name", "one", "--data-dir", str(tmp_path / "data"),
        "--listen-client-urls", client, "--advertise-client-urls", client,
        "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
        "--initial-cluster", f"one={peer}", "--log-level", "error",
    ]  # fmt: skip
    with subprocess.Popen(words) as server:
        try:
            yield client.removeprefix("http://")
        finally:
            server.kill()


@pytest.fixture
def call(volley: Volley, etcd: str, tmp_path: Path) -> Callable[..., Outcome]:
    """Return a run against etcd, by its own .proto files."""
    if not shutil.which("go"):
        pytest.skip("there is no Go to fetch etcd's .proto files")
    (tmp_path / "etcd").mkdir()
    (tmp_path / "etcd" / "api").symlink_to(module(API))
    roots = [tmp_path, module(GOGO), module(GOOGLE) / "third_party" / "googleapis", module(GATEWAY)]

    def run(*words: str) -> Outcome:
        return volley.run(
            *words, "--insecure", "--proto", str(tmp_path / "etcd/api/etcdserverpb/rpc.proto"),
            "-i", ",".join(map(str, roots)), "-O", "json", etcd,
        )  # fmt: skip

    limits = ("-t", "1s", "--connect-timeout", "1s")
    status = ("try", "--call", "etcdserverpb.Maintenance/Status", *limits)
    eventually(lambda: run(*status).code == 0, "etcd answers")
    return run


def test_etcd_is_loaded_with_put_range_and_watch(
    call: Callable[..., Outcome], tmp_path: Path
) -> None:
    load = ("-n", "50", "-c", "5", "--connections", "2")
    pair = '{"key": "a2V5", "value": "dmFsdWU="}'
    put = call("--call", "etcdserverpb.KV/Put", "-d", pair, *load)
    assert put.calls == (50, {}, 0)
    found = call(
        "--call", "etcdserverpb.KV/Range", "-d", '{"key": "a2V5"}', "--expect", "count = 1", *load
    )
    assert found.calls == (50, {}, 0)
    # A watch has no end: those of a second are cut.
    saved = tmp_path / "replies"
    watched = call(
        "--call", "etcdserverpb.Watch/Watch",
        "-d", '{"create_request": {"key": "a2V5", "start_revision": 1}}',
        "--save-replies", str(saved), "-z", "1s", "-c", "5",
    )  # fmt: skip
    assert watched.calls == (0, {}, 5)
    lines: list[dict[str, Any]] = [json.loads(line) for line in saved.read_text().splitlines()]
    assert len(lines) == watched.own["messages"]
    replies = [line["reply"] for line in lines]
    assert sum(reply["created"] for reply in replies) == 5
    events = [event for reply in replies for event in reply["events"]]
    assert {event["kv"]["value"] for event in events} == {"dmFsdWU="}
    assert len(events) == 5 * 50, "each watch sees all that was put"
