"""Serves items (requests/crud.openapi.yaml) on two ports.

One has HTTP/1.1 and h2c, the other HTTP/1.1 and HTTP/2 over TLS.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import ssl
import sys

from hypercorn.asyncio import serve
from hypercorn.config import Config
from items import app

# Requests still open this long after a stop signal are broken off.
STOP_GRACE_S = 1


H2C_PORT = os.environ.get("PORT_H2C") or "8080"
TLS_PORT = os.environ.get("PORT_TLS") or "8443"


def config() -> Config:
    """Returns what Hypercorn needs; OSError if a file is missing or they are not a pair."""
    chain = os.environ.get("TLS_CERT") or "/certs/server.crt"
    key = os.environ.get("TLS_KEY") or "/certs/server.key"
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(chain, key)
    except OSError as error:
        reason = error.strerror or error
        raise OSError(
            f"cannot load the certificate {chain} with the key {key}: {reason}"
        ) from error
    made = Config()
    made.certfile, made.keyfile = chain, key
    made.bind = [f"[::]:{TLS_PORT}"]
    made.insecure_bind = [f"[::]:{H2C_PORT}"]
    made.h2_max_concurrent_streams = 128
    # Hypercorn ends a connection of HTTP/2 with an error after so many requests, 1,000 by default.
    made.keep_alive_max_requests = sys.maxsize
    made.graceful_timeout = STOP_GRACE_S
    made.loglevel = "WARNING"
    return made


async def main(wanted: Config) -> None:
    """Serves until a stop signal comes."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        stopped.set()
        # An idle client of TLS would keep asyncio waiting for half a minute.
        loop.call_later(STOP_GRACE_S + 0.5, os._exit, 0)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await serve(app, wanted, shutdown_trigger=stopped.wait)
    except OSError as error:
        ports = f"{H2C_PORT} or {TLS_PORT}"
        raise OSError(f"cannot listen on port {ports}: {error.strerror or error}") from error


if __name__ == "__main__":
    # A client that has gone in the middle of a request is no news, but asyncio reports it.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        asyncio.run(main(config()))
    except OSError as error:
        sys.exit(f"hypercorn-starlette: {error}")
