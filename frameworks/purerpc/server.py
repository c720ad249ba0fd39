"""benchmark.BenchmarkService on purerpc: h2c on port 8080, TLS on port 8443.

One process per CPU, each with its own event loop and its own listening sockets. The kernel
spreads the connections over them (SO_REUSEPORT).
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import ssl
import sys
from typing import NoReturn

import anyio
import purerpc
from service import BenchmarkService

H2C_PORT = int(os.environ.get("PORT_H2C") or 8080)
TLS_PORT = int(os.environ.get("PORT_TLS") or 8443)
STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}


def load_certificate() -> ssl.SSLContext:
    """Returns what the TLS port needs; OSError if a file is missing or they are not a pair."""
    chain = os.environ.get("TLS_CERT") or "/certs/server.crt"
    key = os.environ.get("TLS_KEY") or "/certs/server.key"
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["h2"])
    try:
        context.load_cert_chain(chain, key)
    except OSError as error:
        reason = error.strerror or error
        raise OSError(
            f"cannot load the certificate {chain} with the key {key}: {reason}"
        ) from error
    return context


def check_port_is_free(port: int) -> None:
    """Raises OSError if another program listens on `port`.

    The workers cannot find that out: SO_REUSEPORT would let them share the port with a
    server that set it too, and half of the connections would never arrive here.
    """
    dual_stack = socket.has_dualstack_ipv6()
    with socket.socket(socket.AF_INET6 if dual_stack else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if dual_stack:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        try:
            probe.bind(("", port))
        except OSError as error:
            raise OSError(f"cannot listen on port {port}: {error.strerror}") from error


async def serve(certificate: ssl.SSLContext) -> None:
    """Answers calls until this process gets a stop signal, which breaks off those still open."""
    async with anyio.create_task_group() as servers:
        for port, tls in ((H2C_PORT, None), (TLS_PORT, certificate)):
            server = purerpc.Server(port, ssl_context=tls)
            server.add_service(BenchmarkService().service)
            await servers.start(server.serve_async)

        with anyio.open_signal_receiver(*STOP_SIGNALS) as received:
            # The parent blocked them, so none was lost before there was a handler.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            async for _ in received:
                break
            # A signal to the process group comes twice: the parent passes on its own.
            signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        servers.cancel_scope.cancel()


def main() -> None:
    try:
        certificate = load_certificate()
        check_port_is_free(H2C_PORT)
        check_port_is_free(TLS_PORT)
    except OSError as error:
        fail(error)

    # A client that has just gone is no news, but these report each.
    for name in ("anyio", "asyncio", "purerpc"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS | {signal.SIGCHLD})
    fork = multiprocessing.get_context("fork")
    cpus = os.sched_getaffinity(0)
    workers = [fork.Process(target=anyio.run, args=(serve, certificate)) for _ in cpus]
    for worker in workers:
        worker.start()

    received = signal.sigwait(STOP_SIGNALS | {signal.SIGCHLD})
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join()
    if received == signal.SIGCHLD or any(worker.exitcode for worker in workers):
        codes = ", ".join(str(worker.exitcode) for worker in workers)
        fail(f"a worker ended unasked; exit codes: {codes}")


def fail(reason: object) -> NoReturn:
    sys.exit(f"purerpc: {reason}")


if __name__ == "__main__":
    main()
