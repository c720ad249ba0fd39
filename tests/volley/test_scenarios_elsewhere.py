"""Scenarios against servers of others: nginx, nghttpd, Caddy and hypercorn."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from arena.machine.certs import ensure_certificate
from tests.integration.plumbing import eventually
from tests.volley.plumbing import CHECKOUT, free_port, listens
from tests.volley.scenarios import Plan, Scenarios, crud, plan, program

pytestmark = pytest.mark.integration

# An iteration makes two requests. nginx closes a connection after 1000.
ITERATIONS = 2500


def reading(url: str, server: str = "ng", **http: Any) -> Plan:
    """Return the file of a scenario that finds an address in one answer, and goes there."""
    steps = [
        {
            "name": "first",
            "get": "${api}/first.json?n=${number}",
            "expect": {
                "status": 200,
                "json": {"/kind": "first"},
                "headers": {"server": {"starts_with": server}},
            },
            "save": {"next": {"json": "/next"}},
        },
        {
            "name": "second",
            "get": "${api}${next:raw}?n=${number}",
            "expect": {"status": 200, "body": {"contains": "the second"}},
        },
    ]
    data = {"number": {"range": [0, 1_000_000]}}
    return plan(url, steps, [{"users": 32}, {"iterations": ITERATIONS}], data=data, http=http)


def pages(folder: Path) -> Path:
    """Write what such a scenario reads; return the folder."""
    found = folder / "pages"
    found.mkdir()
    (found / "first.json").write_text('{"kind": "first", "next": "/second.txt"}')
    (found / "second.txt").write_text("x" * 100_000 + "the second")
    return found


@contextmanager
def running(argv: list[str], log: Path, *ports: int) -> Iterator[None]:
    """Run a server for the block."""
    with log.open("wb") as out, subprocess.Popen(argv, stdout=out, stderr=out) as server:
        try:
            for port in ports:
                eventually(lambda port=port: listens(port), log.name)  # type: ignore[misc]
            yield
        finally:
            server.terminate()


@dataclass(frozen=True)
class Nginx:
    """A running nginx: its ports, and the file of its requests."""

    plain: int
    h2c: int
    tls: int
    requests: Path

    def answered(self) -> Counter[str]:
        """Return how many requests it has logged, by `PATH STATUS PROTOCOL`."""
        return Counter(self.requests.read_text().splitlines())


CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/pid;
error_log stderr;
events {{ worker_connections 256; }}
http {{
    log_format short '$uri $status $server_protocol';
    access_log {folder}/requests.log short;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    types {{ application/json json; text/plain txt; }}
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{h2c} http2;
        listen 127.0.0.1:{tls} ssl http2;
        ssl_certificate {certs}/server.crt;
        ssl_certificate_key {certs}/server.key;
        keepalive_requests 1000;
        gzip on; gzip_types text/plain;
        root {pages};
    }}
}}
"""


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[Nginx]:
    """Run nginx with a few pages, on ports of its own."""
    found = program("nginx")
    if not found:
        pytest.skip("there is no nginx (Debian: nginx-light)")
    ensure_certificate(CHECKOUT.certs)
    mine = Nginx(free_port(), free_port(), free_port(), tmp_path / "requests.log")
    file = tmp_path / "nginx.conf"
    words = {"folder": tmp_path, "certs": CHECKOUT.certs, "pages": pages(tmp_path)}
    file.write_text(CONFIGURATION.format(plain=mine.plain, h2c=mine.h2c, tls=mine.tls, **words))
    argv = [found, "-p", str(tmp_path), "-e", "stderr", "-c", str(file)]
    with running(argv, tmp_path / "nginx.log", mine.plain, mine.h2c, mine.tls):
        yield mine


@pytest.mark.parametrize(
    ("port_of", "version", "protocol"),
    [
        ("plain", 1, "HTTP/1.1"),
        ("h2c", 2, "HTTP/2.0"),
        ("tls", "auto", "HTTP/2.0"),
        ("tls", 1, "HTTP/1.1"),
    ],
)
def test_nginx_counts_the_same_requests_also_where_it_retires_connections(
    scenarios: Scenarios, nginx: Nginx, port_of: str, version: int | str, protocol: str
) -> None:
    scheme = "https" if port_of == "tls" else "http"
    url = f"{scheme}://127.0.0.1:{getattr(nginx, port_of)}"
    done = scenarios.run(reading(url, version=version), "--threads", "2")
    assert done.code == 0, done
    done.passed_all()
    assert done.ok("first") == done.ok("second") == ITERATIONS
    wanted = {f"{path} 200 {protocol}": ITERATIONS for path in ("/first.json", "/second.txt")}
    # It logs a request once the last byte is sent.
    eventually(lambda: nginx.answered() == wanted, f"nginx has logged {wanted}")


@pytest.mark.parametrize("route", ["targets", "authority"])
def test_a_url_with_another_authority_is_asked_for_there_if_it_is_routed(
    scenarios: Scenarios, nginx: Nginx, tmp_path: Path, route: str
) -> None:
    other = f"http://127.0.0.1:{nginx.h2c}/second.txt"
    first = {"kind": "first", "next": other}
    (tmp_path / "pages" / "first.json").write_text(json.dumps(first))
    made = reading(f"https://127.0.0.1:{nginx.tls}", route=route)
    second = made["scenarios"]["only"]["steps"][1]
    second["get"] = "${next}"
    done = scenarios.run(made, "--threads", "2")
    wanted = {"/first.json 200 HTTP/2.0": ITERATIONS}
    if route == "targets":
        assert done.code == 1, done
        assert done.step("second")["requests"]["unsent"] == ITERATIONS
    else:
        assert done.code == 0, done
        done.passed_all()
        assert done.ok("first") == done.ok("second") == ITERATIONS
        wanted["/second.txt 200 HTTP/2.0"] = ITERATIONS
    eventually(lambda: nginx.answered() == wanted, f"nginx has logged {wanted}")


@pytest.mark.parametrize("tls", [False, True])
def test_nghttpd_answers_every_request_as_expected(
    scenarios: Scenarios, tmp_path: Path, *, tls: bool
) -> None:
    found = program("nghttpd")
    if not found:
        pytest.skip("there is no nghttpd (Debian: nghttp2-server)")
    ensure_certificate(CHECKOUT.certs)
    port = free_port()
    pair = [str(CHECKOUT.certs / "server.key"), str(CHECKOUT.certs / "server.crt")]
    words = [str(port), *pair] if tls else ["--no-tls", str(port)]
    argv = [found, "-a", "127.0.0.1", "-d", str(pages(tmp_path)), "--trailer=x-end: yes", *words]
    made = reading(f"{'https' if tls else 'http'}://127.0.0.1:{port}")
    second = made["scenarios"]["only"]["steps"][1]
    second["expect"]["trailers"] = {"x-end": "yes"}
    with running(argv, tmp_path / "nghttpd.log", port):
        done = scenarios.run(made, "--threads", "2")
    assert done.code == 0, done
    done.passed_all()
    assert done.ok("first") == done.ok("second") == ITERATIONS


CADDYFILE = """
{{
    admin off
    auto_https off
    servers {{
        protocols h1 h2 h2c
    }}
}}
(pages) {{
    bind 127.0.0.1
    root * {pages}
    encode gzip
    file_server
    log {{
        output file {folder}/requests.log
    }}
}}
http://:{plain} {{
    import pages
}}
https://:{tls} {{
    import pages
    tls {certs}/server.crt {certs}/server.key
}}
"""


@pytest.mark.parametrize(
    ("scheme", "version", "protocol"),
    [
        ("http", 1, "HTTP/1.1"),
        ("http", 2, "HTTP/2.0"),
        ("https", "auto", "HTTP/2.0"),
        ("https", 1, "HTTP/1.1"),
    ],
)
def test_caddy_counts_the_same_requests(
    scenarios: Scenarios, tmp_path: Path, scheme: str, version: int | str, protocol: str
) -> None:
    found = program("caddy")
    if not found:
        pytest.skip("there is no Caddy (Debian: caddy)")
    ensure_certificate(CHECKOUT.certs)
    plain, tls = free_port(), free_port()
    words = {"folder": tmp_path, "certs": CHECKOUT.certs, "pages": pages(tmp_path)}
    file = tmp_path / "Caddyfile"
    file.write_text(CADDYFILE.format(plain=plain, tls=tls, **words))
    own = [f"XDG_{name}_HOME={tmp_path}" for name in ("CONFIG", "DATA")]
    argv = ["env", *own, found, "run", "--adapter", "caddyfile", "--config", str(file)]
    url = f"{scheme}://127.0.0.1:{tls if scheme == 'https' else plain}"
    with running(argv, tmp_path / "caddy.log", plain, tls):
        done = scenarios.run(reading(url, "Caddy", version=version), "--threads", "2")
        assert done.code == 0, done
        done.passed_all()
        assert done.ok("first") == done.ok("second") == ITERATIONS
        wanted = {f"{path} 200 {protocol}": ITERATIONS for path in ("/first.json", "/second.txt")}

        def answered() -> Counter[str]:
            lines = (tmp_path / "requests.log").read_text().splitlines()
            whole = [json.loads(line) for line in lines if line.endswith("}")]
            asked = [(each["request"], each["status"]) for each in whole]
            return Counter(f"{r['uri'].split('?')[0]} {status} {r['proto']}" for r, status in asked)

        eventually(lambda: answered() == wanted, f"Caddy has logged {wanted}")


@pytest.mark.parametrize(
    ("scheme", "version", "protocol"),
    [
        ("http", 1, "HTTP/1.1"),
        ("http", 2, "HTTP/2"),
        ("https", "auto", "HTTP/2"),
        ("https", 1, "HTTP/1.1"),
    ],
)
def test_hypercorn_counts_the_same_items_and_has_none_left(
    scenarios: Scenarios, tmp_path: Path, scheme: str, version: int | str, protocol: str
) -> None:
    ensure_certificate(CHECKOUT.certs)
    plain, tls, iterations = free_port(), free_port(), 500
    app = Path(__file__).with_name("items_asgi.py")
    argv = [
        sys.executable, "-m", "hypercorn", f"{app}:app",
        "--bind", f"127.0.0.1:{tls}", "--insecure-bind", f"127.0.0.1:{plain}",
        "--certfile", str(CHECKOUT.certs / "server.crt"),
        "--keyfile", str(CHECKOUT.certs / "server.key"),
    ]  # fmt: skip
    url = f"{scheme}://127.0.0.1:{tls if scheme == 'https' else plain}"
    load = [{"users": 16}, {"iterations": iterations}]
    with running(argv, tmp_path / "hypercorn.log", plain, tls):
        done = scenarios.run(crud(url, load, http={"version": version}), "--threads", "2")
        assert done.code == 0, done
        done.passed_all()
        assert {done.ok(name) for name in ("create", "change", "remove")} == {iterations}
        with urlopen(f"http://127.0.0.1:{plain}/counts", timeout=60) as answer:
            counts = json.load(answer)
    assert counts == {
        protocol: 3 * iterations,
        "created": iterations,
        "patched": iterations,
        "deleted": iterations,
        "live": 0,
    }
