"""Compare what h2loadrunner and an imported scenario send first, request by request.

scripts/compare-h2loadrunner.sh calls it. Each case is a configuration whose faults volley repeats
with `--as-run`. Both programs run against a server that notes every request, over one connection
with one stream, so that their orders are the same.
"""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded

from arena.base.progress import progress
from arena.base.workspace import Workspace
from arena.cli.entry import start
from arena.load.find import locate
from arena.load.volley import WHOLE

COMPARED = 1000
AT_MOST_S = 60.0

# volley names itself over HTTP/2, and leaves out the length, which frames say.
IGNORED = ("user-agent", "content-length")

Head = list[tuple[str, str]]
Request = tuple[Head, str]


def _uri(text: str, action: str = "input") -> dict[str, str]:
    return {"typeOfAction": action, "input": text}


def _case(requests: list[dict[str, Any]], **scenario: Any) -> dict[str, Any]:
    """Return a configuration with one scenario; `_` stands for `-` in its keys."""
    keys = {key.replace("_", "-"): value for key, value in scenario.items()}
    return {
        "schema": "http",
        "host": "127.0.0.1",
        "clients": 1,
        "total-requests": COMPARED,
        "Scenarios": [{"name": "s", "Requests": requests, **keys}],
    }


def _range(name: str, start: int, end: int) -> dict[str, Any]:
    return {
        "variable-name": name,
        "variable-range-start": start,
        "variable-range-end": end,
    }


def _pick(place: str, source: str, name: str, regexp: str = ".*") -> dict[str, str]:
    return {
        "where-to-pickup-from": place,
        "source": source,
        "regexp": regexp,
        "save-to-variable": name,
    }


_RESPONSE = "Json-Pointer-In-Response-Payload"

CASES: dict[str, dict[str, Any]] = {
    "crud": _case(
        [
            {
                "uri": _uri("/v1/items?sku=${sku}"),
                "method": "POST",
                "payload": '{"sku": "${sku}", "user": "u${user}"}',
                "additonalHeaders": ["content-type:application/json", "x-user:${user}"],
                "value-pickers": [
                    _pick(_RESPONSE, "/item/rev", "rev", "[0-9]+"),
                    _pick(_RESPONSE, "/item/tags", "tags"),
                    _pick(_RESPONSE, "/item/none", "none"),
                    _pick("Response-Header", ":status", "status"),
                    _pick("Request-Header", "x-user", "sent"),
                    _pick("Request-Header", ":path", "path"),
                    _pick("Json-Pointer-In-Request-Payload", "/item/id", "id"),
                ],
            },
            {
                "uri": _uri("location", "fromResponseHeader"),
                "method": "PATCH",
                "payload": "${rev} ${tags} ${none} ${status} ${sent} ${path} ${id} $$ ${",
                "additonalHeaders": ["if-match:${rev}"],
            },
            {"uri": _uri("", "sameWithLastOne"), "method": "DELETE"},
        ],
        range_based_variables=[_range("sku", 0, 300), _range("user", 97, 100)],
    ),
    "files": _case(
        [
            {"uri": _uri("/${name}/${id}"), "method": "GET", "additonalHeaders": ["X-Key:${key}"]},
            {"uri": _uri("/b/${id}?${name}"), "method": "QUERY"},
            {"uri": _uri("/c/${id}"), "method": "PUT", "payload": "plain ${key}"},
        ],
        user_variables_input_file="users.csv",
        two_dimensional_variables=[{"variable-name": "id", "file-name": "ids.csv"}],
    ),
    "old-variable": _case(
        [
            {"uri": _uri("/u/USER"), "method": "POST", "payload": "body.txt"},
            {"uri": _uri("/missing/USER"), "method": "GET"},
            {"uri": _uri("http://other.example/a"), "method": "HEAD"},
        ],
        user_id_variable_in_path_and_data="USER",
        user_id_range_start=8,
        user_id_range_end=40,
    ),
    "parallel": _case(
        [{"uri": _uri(path), "method": "GET"} for path in ("/a", "/b", "/c")],
        run_requests_in_parallel=True,
    ),
    "old-list": _case(
        [{"uri": _uri("/u/USER"), "method": "GET"}, {"uri": _uri("/v/USER"), "method": "GET"}],
        user_id_variable_in_path_and_data="USER",
        user_id_list_file="ids.csv",
    ),
}

FILES = {
    "users.csv": "name, key\n" + "".join(f"n{row},k{row}\n" for row in range(7)),
    "ids.csv": "first,second\n" + "".join(f"{row}a,{row}b\n" for row in range(5)),
    "body.txt": "I am USER, and USER again.\n",
}


@dataclass
class Notes:
    """What a server has received."""

    requests: list[Request] = field(default_factory=list)

    def answer(self, head: Head, body: bytes) -> tuple[Head, bytes]:
        """Note a request; return the head and the body of its response."""
        noted = sorted(entry for entry in head if entry[0] not in IGNORED)
        self.requests.append((noted, body.decode("latin-1")))
        number = len(self.requests)
        values = dict(head)
        path = values[":path"].split("?")[0]
        status = "404" if "missing" in path else "200"
        if values[":method"] != "POST":
            return [(":status", status)], b""
        item = {"id": str(number), "rev": number, "tags": {"a": [1]}}
        location = f"{path}/{number}"
        text = json.dumps({"item": item}, separators=(",", ":"))
        return [(":status", "201"), ("location", location)], text.encode()


async def _serve(notes: Notes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    config = H2Configuration(client_side=False, header_encoding="latin-1")
    connection = H2Connection(config)
    connection.initiate_connection()
    open_requests: dict[int, tuple[Head, bytes]] = {}
    while True:
        writer.write(connection.data_to_send())
        received = await reader.read(1 << 16)
        if not received:
            writer.close()
            return
        for event in connection.receive_data(received):
            if isinstance(event, RequestReceived):
                head = [(str(name), str(value)) for name, value in event.headers]
                open_requests[event.stream_id] = (head, b"")
            elif isinstance(event, DataReceived):
                head, body = open_requests[event.stream_id]
                open_requests[event.stream_id] = (head, body + event.data)
                length = event.flow_controlled_length
                connection.acknowledge_received_data(length, event.stream_id)
            elif isinstance(event, StreamEnded):
                head, body = notes.answer(*open_requests.pop(event.stream_id))
                connection.send_headers(event.stream_id, head, end_stream=not body)
                if body:
                    connection.send_data(event.stream_id, body, end_stream=True)


@asynccontextmanager
async def _server(port: int) -> AsyncIterator[tuple[Notes, int]]:
    notes = Notes()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _serve(notes, reader, writer)
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        yield notes, server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _run(command: list[str], folder: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        await asyncio.wait_for(process.wait(), AT_MOST_S)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _compare(case: dict[str, Any], programs: tuple[str, str], folder: Path) -> str | None:
    """Return how the requests differ; None if they are the same."""
    h2loadrunner, volley = programs
    for name, text in FILES.items():
        (folder / name).write_text(text)
    port = 0
    sent: list[list[Request]] = []
    for command in (
        [h2loadrunner, "--config-file=old.json"],
        [volley, "run", "--threads", "1", "new.yaml"],
    ):
        async with _server(port) as (notes, own):
            if not sent:
                # The second server has the port of the first, so that the authorities are the same.
                port = own
                (folder / "old.json").write_text(json.dumps({**case, "port": port}))
                make = ["import", "h2loadrunner", "old.json", "--as-run", "-o", "new.yaml"]
                await _run([volley, *make], folder)
            await _run(command, folder)
            sent.append(notes.requests)
    old, new = (requests[:COMPARED] for requests in sent)
    if len(old) < COMPARED or len(new) < COMPARED:
        return f"{len(old)} and {len(new)} requests"
    differs = (
        f"request {number}:\n  h2loadrunner {before}\n  volley       {after}"
        for number, (before, after) in enumerate(zip(old, new, strict=True))
        if before != after
    )
    return next(differs, None)


@click.command()
def main() -> int:
    """Compare the first 1,000 requests of $H2LOADRUNNER and volley in each case."""
    h2loadrunner = os.environ.get("H2LOADRUNNER")
    if not h2loadrunner:
        raise click.UsageError("there is no h2loadrunner: name one with H2LOADRUNNER=PROGRAM")
    workspace = Workspace(Path(__file__).resolve().parents[1])
    located = locate(WHOLE, workspace, os.environ)
    volley = located.ready(workspace, None, progress()).program
    programs = (h2loadrunner, volley)
    failed = False
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory(prefix="httparena-bench-") as folder:
            differs = asyncio.run(_compare(case, programs, Path(folder)))
        click.echo(f"{name}: {differs or f'the first {COMPARED} requests are the same'}")
        failed = failed or differs is not None
    return 1 if failed else 0


if __name__ == "__main__":
    start(main, "compare-h2loadrunner.sh")
