"""A local preview of the site."""

import errno
import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from arena.base.errors import HostError

ADDRESS = "127.0.0.1"
FIRST_PORT = 8000
_PORTS_TRIED = 20

_TYPES = {
    "": "application/octet-stream",
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/atom+xml; charset=utf-8",
}


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of one folder, without a log line for each."""

    extensions_map = _TYPES

    def end_headers(self) -> None:
        """Make browsers ask again each time: the next build changes the files."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def send_head(self):  # type: ignore[no-untyped-def]  # noqa: ANN201 - as the library has it
        """Answer a request, unless a link in the folder leads out of it."""
        path, folder = Path(self.translate_path(self.path)), Path(self.directory)
        # No file name contains a NUL.
        if "\0" in str(path) or not path.resolve().is_relative_to(folder.resolve()):
            return self.send_error(404)
        return super().send_head()

    def list_directory(self, path: object) -> None:
        """Refuse to list a folder without a page."""
        del path
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Print nothing: the terminal shows only the address."""


class PageServer(ThreadingHTTPServer):
    """Ignores a browser that disconnects before the end of a reply."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: the terminal shows only the address."""
        if os.environ.get("ARENA_DEBUG"):
            super().handle_error(request, client_address)


def server(folder: Path, port: int | None) -> PageServer:
    """Return a server for a folder on a port, by default the first free one from 8000 on.

    HostError if no port is free.
    """
    handler = partial(Handler, directory=str(folder))
    ports = [port] if port is not None else range(FIRST_PORT, FIRST_PORT + _PORTS_TRIED)
    for each in ports:
        try:
            return PageServer((ADDRESS, each), handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise HostError(f"cannot listen on port {each} ({error.strerror})") from error
    taken = f"port {port} is" if port is not None else f"ports {ports[0]} to {ports[-1]} are"
    raise HostError(f"{taken} in use: choose another with --port")
