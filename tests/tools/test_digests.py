"""Digests in FROM lines: a registry on the loopback interface, and Dockerfiles of the test."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner, Result

from arena.base.errors import FrameworkError, HostError, UsageError
from tools import digests

MANIFESTS = {
    "/v2/library/golang/manifests/1.99-bookworm": b'{"schemaVersion": 2, "manifests": [1]}',
    "/v2/dotnet/sdk/manifests/12.0": b'{"schemaVersion": 2}',
    "/v2/library/debian/manifests/trixie": b"{}",
}


def sha(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


class Registry(ThreadingHTTPServer):
    """Asks for a token, like the hub; `lies` is the digest that it says all manifests have."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.realm = f"{self.url}/token"
        self.lies = ""
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        self.server.asked.append(self.path)
        if path == "/token":
            assert query == "service=hub&scope=pull"
            self._answer(200, json.dumps({"token": "t1"}).encode())
        elif self.headers.get("Authorization") != "Bearer t1":
            words = f'Bearer realm="{self.server.realm}",service="hub",scope="pull"'
            self._answer(401, b"", {"WWW-Authenticate": words})
        elif path in MANIFESTS:
            assert "manifest.list" in self.headers["Accept"]
            said = self.server.lies or sha(MANIFESTS[path])
            self._answer(200, MANIFESTS[path], {"Docker-Content-Digest": said})
        else:
            self._answer(404, b"")

    def _answer(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Registry() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "frameworks" / "own").mkdir(parents=True)
    (tmp_path / "docker").mkdir()
    (tmp_path / "frameworks" / "own" / "Dockerfile").write_text(
        "# FROM nothing:1\nFROM --platform=linux/amd64 golang:1.99-bookworm AS build\n"
        "RUN make # FROM golang:1.99-bookworm\nFROM Build AS again\nFROM scratch\n"
        "from mcr.example.com/dotnet/sdk:12.0\nCOPY --from=build /a /a\n"
    )
    (tmp_path / "docker" / "gen.Dockerfile").write_text("FROM golang:1.99-bookworm\nUSER 1\n")
    return tmp_path


Run = Callable[..., Result]


@pytest.fixture
def run(files: Path) -> Run:
    def command(*words: str) -> Result:
        return CliRunner().invoke(digests.command, ["--root", str(files), *words])

    return command


def test_a_check_lists_each_line_without_a_digest_and_changes_none(files: Path, run: Run) -> None:
    before = (files / "docker" / "gen.Dockerfile").read_text()
    result = run("--check")
    assert isinstance(result.exception, FrameworkError)
    assert str(result.exception) == "digests: 3 FROM lines have no digest"
    listed = [re.sub(r".*/(\w+/\S+:\d+: )", r"\1", line) for line in result.output.splitlines()]
    assert listed == [
        "docker/gen.Dockerfile:1: golang:1.99-bookworm",
        "own/Dockerfile:2: golang:1.99-bookworm",
        "own/Dockerfile:6: mcr.example.com/dotnet/sdk:12.0",
    ]
    assert (files / "docker" / "gen.Dockerfile").read_text() == before


def test_the_registrys_digests_are_written_behind_the_tags(
    files: Path, run: Run, registry: Registry
) -> None:
    assert run("--registry", registry.url).output == "3 FROM lines changed\n"
    golang, sdk = list(map(sha, MANIFESTS.values()))[:2]
    assert (files / "frameworks" / "own" / "Dockerfile").read_text() == (
        "# FROM nothing:1\n"
        f"FROM --platform=linux/amd64 golang:1.99-bookworm@{golang} AS build\n"
        "RUN make # FROM golang:1.99-bookworm\nFROM Build AS again\nFROM scratch\n"
        f"from mcr.example.com/dotnet/sdk:12.0@{sdk}\nCOPY --from=build /a /a\n"
    )
    pinned = f"FROM golang:1.99-bookworm@{golang}\nUSER 1\n"
    assert (files / "docker" / "gen.Dockerfile").read_text() == pinned
    asked = len(registry.asked)
    for words in (["--check"], ["--registry", registry.url]):
        result = run(*words)
        assert (result.exit_code, result.output) == (0, "every FROM line has a digest\n")
    assert len(registry.asked) == asked


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lies": sha(b"other")}, "its digest is sha256:.*, and the registry says sha256:"),
        ({"realm": "http://elsewhere.example/token"}, "asks for a token from http://elsewhere"),
        ({"realm": "file:///etc/passwd"}, "asks for a token from file:"),
    ],
)
def test_a_registry_that_lies_is_refused_and_nothing_is_written(
    files: Path, run: Run, registry: Registry, change: dict[str, str], said: str
) -> None:
    for name, value in change.items():
        setattr(registry, name, value)
    result = run("--registry", registry.url)
    assert isinstance(result.exception, HostError)
    assert re.search(said, str(result.exception))
    assert "sha256" not in (files / "docker" / "gen.Dockerfile").read_text()


def test_a_tag_that_is_not_there_and_a_registry_that_is_not_there_are_said(
    registry: Registry,
) -> None:
    with pytest.raises(HostError, match=r"^this host cannot: ask http://.* for golang:0: .*404"):
        digests.digest_of("golang:0", registry.url)
    with pytest.raises(HostError, match=r"^this host cannot: ask http://127.0.0.1:1 for golang:1"):
        digests.digest_of("golang:1", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("golang:1", ("registry-1.docker.io", "library/golang", "1")),
        ("grafana/k6:1.0", ("registry-1.docker.io", "grafana/k6", "1.0")),
        ("localhost:5000/a/b:c", ("localhost:5000", "a/b", "c")),
        ("mcr.microsoft.com/dotnet/sdk:10.0", ("mcr.microsoft.com", "dotnet/sdk", "10.0")),
    ],
)
def test_an_images_name_says_where_it_is(image: str, parts: tuple[str, str, str]) -> None:
    assert digests._parts(image) == parts


@pytest.mark.parametrize("image", ["golang", "${BASE}:1", "a/../b:1", "a:b c", "golang:", "A:1"])
def test_what_is_no_name_with_a_tag_is_refused(image: str) -> None:
    with pytest.raises(UsageError, match="is no name of an image with a tag"):
        digests.digest_of(image, "http://127.0.0.1:1")
