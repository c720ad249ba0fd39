"""What the real generators send when they connect: a check must look the same."""

import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import hpack
import pytest
from hyperframe.frame import DataFrame, HeadersFrame, SettingsFrame, WindowUpdateFrame

from arena.contract.scope import disguise_of
from arena.contract.wire import PREFACE, Wire
from tests.lib.arena.contract.peer import frames

pytestmark = pytest.mark.integration

PROGRAMS = {"ghz": "ghz", "volley": "volley_program"}
PROTO = Path(__file__).parents[2] / "requests" / "benchmark.proto"
CALL = "benchmark.BenchmarkService/GetSum"
BODY = b"\0\0\0\0\4\x08\1\x10\2"
GREETING = (
    SettingsFrame(0).serialize() + SettingsFrame(0, flags=["ACK"]).serialize()
)  # a server's own, and its acknowledgement


def look(data: bytes, authority: str) -> list[object]:
    """Return what tells clients apart: SETTINGS, windows, fields in their order, the body."""
    assert data.startswith(PREFACE)
    seen: list[object] = []
    for each in frames(data.removeprefix(PREFACE)):
        if isinstance(each, SettingsFrame) and "ACK" not in each.flags:
            seen.append(each.settings)
        elif isinstance(each, WindowUpdateFrame):
            seen.append((each.stream_id, each.window_increment))
        elif isinstance(each, HeadersFrame):
            fields = hpack.Decoder().decode(each.data)
            # A deadline is what is left of it.
            seen.append(
                [
                    (name, "" if str(name) == "grpc-timeout" else str(value))
                    for name, value in fields
                ]
            )
        elif isinstance(each, DataFrame):
            return [*seen, each.data]
    raise AssertionError(f"no call was made: {seen}")


def opening(argv: list[str], listener: socket.socket) -> bytes:
    """Start a program, and return what it sends on its first connection, up to the first DATA."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(30)
                connection.sendall(GREETING)
                data = b""
                while not any(isinstance(it, DataFrame) for it in frames(data[len(PREFACE) :])):
                    part = connection.recv(1 << 16)
                    assert part
                    data += part
                return data
        finally:
            with suppress(ProcessLookupError):
                program.kill()


@pytest.mark.parametrize("name", ["ghz", "volley", "h2load"])
def test_a_check_looks_as_the_generator_does(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    body = tmp_path / "body"
    body.write_bytes(BODY)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        authority = f"localhost:{listener.getsockname()[1]}"
        data = '{"a":1,"b":2}'
        ghzs = ["--insecure", "--proto", str(PROTO), "--call", CALL, "-d", data, "-c", "1"]
        if name == "h2load":
            fields = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
            argv = ["h2load", "-c1", "-n2", f"-d{body}", *fields, f"http://{authority}/{CALL}"]
        else:
            argv = [str(request.getfixturevalue(PROGRAMS[name])), *ghzs, "-n", "2", authority]
        real = look(opening(argv, listener), authority)
    wire = Wire(authority, tls=False, disguise=disguise_of(name))
    wire.request(CALL, BODY)
    assert look(bytes(wire.output), authority) == real
