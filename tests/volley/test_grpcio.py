"""volley against grpc-core where it asks for more: client certificates, and compressed messages."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc  # type: ignore[import-untyped]
import pytest

from arena.machine import certs
from tests.volley.plumbing import Outcome, Volley

pytestmark = pytest.mark.integration

PROTO = """
syntax = "proto3";
package echo;
service Echo { rpc Say(Text) returns (Text); }
message Text { string text = 1; }
"""


@contextmanager
def echo(
    credentials: grpc.ServerCredentials | None = None,
    compression: grpc.Compression = grpc.Compression.NoCompression,
) -> Iterator[str]:
    """Serve echo.Echo, which answers with the bytes it got; yield where."""
    handler = grpc.unary_unary_rpc_method_handler(lambda request, _: request)
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool, compression=compression)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("echo.Echo", {"Say": handler}),)
        )
        anywhere = "127.0.0.1:0"
        port = (
            server.add_secure_port(anywhere, credentials)
            if credentials
            else server.add_insecure_port(anywhere)
        )
        server.start()
        try:
            yield f"localhost:{port}"
        finally:
            server.stop(grace=None).wait()


def say(volley: Volley, folder: Path, address: str, *flags: str) -> Outcome:
    proto = folder / "echo.proto"
    proto.write_text(PROTO)
    text = "a" * 10_000
    return volley.run(
        "--proto", str(proto), "--call", "echo.Echo/Say", "-d", f'{{"text": "{text}"}}',
        "-n", "20", "-c", "4", "--connections", "2", "-O", "json", *flags, address,
    )  # fmt: skip


def test_a_server_that_asks_for_a_certificate_is_shown_one(volley: Volley, tmp_path: Path) -> None:
    certs.ensure_certificate(tmp_path / "server")
    certs.ensure_certificate(tmp_path / "client")
    server_chain, server_key = tmp_path / "server/server.crt", tmp_path / "server/server.key"
    client_chain, client_key = tmp_path / "client/server.crt", tmp_path / "client/server.key"
    credentials = grpc.ssl_server_credentials(
        [(server_key.read_bytes(), server_chain.read_bytes())],
        root_certificates=client_chain.read_bytes(),
        require_client_auth=True,
    )
    with echo(credentials) as address:
        known = say(
            volley, tmp_path, address, "--cacert", str(server_chain),
            "--cert", str(client_chain), "--key", str(client_key),
        )  # fmt: skip
        assert known.code == 0, known
        assert known.calls == (20, {}, 0)

        stranger = say(volley, tmp_path, address, "--cacert", str(server_chain))
        assert stranger.code == 1
        assert not stranger.stdout or stranger.calls[0] == 0


def test_compressed_requests_are_understood_and_compressed_replies_inflated(
    volley: Volley, tmp_path: Path
) -> None:
    with echo(compression=grpc.Compression.Gzip) as address:
        done = say(volley, tmp_path, address, "--insecure", "-e")
        assert done.code == 0, done
        assert done.calls == (20, {}, 0)

        # A limit between a reply's length on the wire and its real one: it did come compressed.
        strict = say(
            volley, tmp_path, address, "--insecure", "-e", "--max-recv-message-size", "5000"
        )
        assert strict.calls == (0, {"ResourceExhausted": 20}, 0)
        assert "after decompression" in strict.stdout
