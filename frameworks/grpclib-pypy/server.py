"""benchmark.BenchmarkService on grpclib and PyPy: h2c on port 8080, TLS on port 8443.

One process per CPU, each with its own event loop and its own listening sockets. The kernel
spreads the connections over them (SO_REUSEPORT).
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from grpclib.server import Server
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
        # PyPy's load_cert_chain does not say that a file is missing.
        for file in (chain, key):
            Path(file).read_bytes()
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
    stopped = asyncio.Event()
    for signal_number in STOP_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(signal_number, stopped.set)

    # Without a host, asyncio listens on all IPv4 addresses and on all IPv6 addresses.
    async with Server([BenchmarkService()]) as h2c, Server([BenchmarkService()]) as tls:
        await h2c.start(port=H2C_PORT, reuse_port=True)
        await tls.start(port=TLS_PORT, reuse_port=True, ssl=certificate)

        # The parent blocked them, so none was lost before there was a handler.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        await stopped.wait()


def work(certificate: ssl.SSLContext) -> None:
    try:
        asyncio.run(serve(certificate))
    except OSError as error:
        fail(error)


def main() -> None:
    try:
        certificate = load_certificate()
        check_port_is_free(H2C_PORT)
        check_port_is_free(TLS_PORT)
    except OSError as error:
        fail(error)

    # A reply to a client that has just gone is no news, but asyncio warns of each.
    logging.getLogger("asyncio").setLevel(logging.ERROR)

    # PyPy does not tell which CPUs this process may use; coreutils tell how many.
    cpus = int(subprocess.check_output(["nproc"]))

    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS | {signal.SIGCHLD})
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=work, args=(certificate,)) for _ in range(cpus)]
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
    sys.exit(f"grpclib-pypy: {reason}")


if __name__ == "__main__":
    main()
