"""A real server of items, go-http, keeps their contract on both of its ports."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.contract import ItemScope, check, wait_ready
from arena.machine import certs
from tests.integration.plumbing import ROOT

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("go") is None, reason="needs go"),
]

_ENTRY = ROOT / "frameworks" / "go-http"


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in held]


@pytest.fixture(scope="module")
def scopes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ItemScope]]:
    """Run the server for the module; it ends on SIGTERM, and says that all went well."""
    folder: Path = tmp_path_factory.mktemp("go-http")
    certs.ensure_certificate(folder)
    build = ["go", "build", "-buildvcs=false", "-o", str(folder / "server"), "."]
    subprocess.run(build, cwd=_ENTRY, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    plain, secure = free_ports(2)
    environment = {
        "PORT_H2C": str(plain),
        "PORT_TLS": str(secure),
        "TLS_CERT": str(folder / "server.crt"),
        "TLS_KEY": str(folder / "server.key"),
    }
    with subprocess.Popen([str(folder / "server")], env=environment) as server:
        try:
            yield [
                ItemScope(plain, tls=False, versions=("h1", "h2")),
                ItemScope(secure, tls=True, versions=("h1", "h2")),
            ]
        finally:
            server.terminate()
            assert server.wait(timeout=60) == 0


@pytest.mark.parametrize("number", [0, 1])
def test_a_real_server_keeps_the_contract(scopes: list[ItemScope], number: int) -> None:
    wait_ready(scopes[number], 10, lambda: None)
    report = check(scopes[number], None)
    odd = {
        (each.check, each.status, each.detail) for each in report.checks if each.status != "pass"
    }
    # encoding/json replaces such bytes.
    lenient = "bytes that are not UTF-8 are taken for JSON"
    assert odd == {(f"{each}-malformed-json", "warn", lenient) for each in ("h1", "h2")}
