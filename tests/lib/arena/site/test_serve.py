"""Serving a site: its files with their types, to this machine alone, and nothing beside them."""

import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.site import serve
from arena.site.serve import ADDRESS, server


@pytest.fixture
def public(tmp_path: Path) -> Path:
    folder = tmp_path / "public"
    folder.mkdir()
    (tmp_path / "secret.html").write_text("secret")
    return folder


@pytest.fixture
def port(public: Path) -> Iterator[int]:
    with server(public, 0) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield serving.server_address[1]
        serving.shutdown()
        thread.join()


def get(port: int, path: str) -> tuple[int, str, bytes]:
    """Return the status, the type and the content of what is there."""
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=120)
    connection.putrequest("GET", path)
    connection.endheaders()
    with connection.getresponse() as response:
        found = response.status, response.headers["Content-Type"], response.read()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("index.html", "text/html; charset=utf-8"),
        ("static/board.js", "text/javascript; charset=utf-8"),
        ("static/style.css", "text/css; charset=utf-8"),
        ("board.json", "application/json"),
        ("board.csv", "text/csv; charset=utf-8"),
        ("feed.xml", "application/atom+xml; charset=utf-8"),
        ("favicon.svg", "image/svg+xml"),
        ("other.bin", "application/octet-stream"),
    ],
)
def test_a_file_comes_with_its_type(public: Path, port: int, name: str, kind: str) -> None:
    (public / name).parent.mkdir(exist_ok=True)
    (public / name).write_text("it")
    assert get(port, f"/{name}") == (200, kind, b"it")


def test_a_folder_is_its_page_and_without_one_not_there(public: Path, port: int) -> None:
    (public / "a").mkdir()
    (public / "b").mkdir()
    (public / "a" / "index.html").write_text("it")
    assert get(port, "/a/")[::2] == (200, b"it")
    assert get(port, "/b/")[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.html",
        "/%2e%2e/secret.html",
        "/..%2fsecret.html",
        "/a/../../secret.html",
        "//secret.html",
        "/link.html",
        "/linked/secret.html",
        "/\\..\\secret.html",
        "/nowhere.html",
        "/%00",
    ],
)
def test_nothing_outside_of_the_folder_is_served(public: Path, port: int, path: str) -> None:
    (public / "link.html").symlink_to(public.parent / "secret.html")
    (public / "linked").symlink_to(public.parent)
    status, _, content = get(port, path)
    assert status == 404
    assert b"secret" not in content.replace(path.encode(), b"")


def test_a_browser_that_has_gone_is_not_told_of(
    public: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(public, 0) as serving:
        serving.handle_error(None, (ADDRESS, 1))
    assert capsys.readouterr() == ("", "")


def test_it_listens_on_this_machine_only(port: int) -> None:
    del port
    with server(Path(), 0) as serving:
        assert serving.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_one_line_and_the_next_one_is_tried(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((ADDRESS, 0)) as holder:
        taken = holder.getsockname()[1]
        with pytest.raises(HostError, match=f"^port {taken} is in use: choose another with"):
            server(public, taken)
        monkeypatch.setattr(serve, "FIRST_PORT", taken)
        monkeypatch.setattr(serve, "_PORTS_TRIED", 1)
        with pytest.raises(HostError, match=f"^ports {taken} to {taken} are in use"):
            server(public, None)
        monkeypatch.setattr(serve, "_PORTS_TRIED", 50)
        with server(public, None) as serving:
            assert taken < serving.server_address[1] < taken + 50


def test_a_port_that_is_not_for_us_is_one_line(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(serve, "PageServer", refused)
    with pytest.raises(HostError, match=r"^cannot listen on port 80 \(Permission denied\)$"):
        server(public, 80)
