"""benchmark.BenchmarkService on grpcio's threads: h2c on port 8080, TLS on port 8443.

One process per CPU, each with its own pool of threads and its own listening sockets. The kernel
spreads the connections over them (SO_REUSEPORT), which is how gRPC's documentation scales
a Python server past the interpreter lock.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import NamedTuple, NoReturn

import grpc
from benchmark_pb2_grpc import add_BenchmarkServiceServicer_to_server
from grpc_health.v1.health import HealthServicer
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server
from service import BenchmarkService

H2C_PORT = int(os.environ.get("PORT_H2C") or 8080)
TLS_PORT = int(os.environ.get("PORT_TLS") or 8443)
OPTIONS = [
    ("grpc.so_reuseport", 1),
    # By default, C-core rejects some calls if more than 1,000 wait for Python, and all above 3,000.
    ("grpc.server.max_pending_requests", 1 << 20),
    ("grpc.server.max_pending_requests_hard_limit", 1 << 20),
]
THREADS = 32
STOP_GRACE_S = 1.0
STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}


class Certificate(NamedTuple):
    """A certificate chain and its private key, both PEM."""

    chain: bytes
    key: bytes


def load_certificate() -> Certificate:
    """Reads the certificate; OSError if it is missing, unreadable or not a matching pair."""
    chain = Path(os.environ.get("TLS_CERT") or "/certs/server.crt")
    key = Path(os.environ.get("TLS_KEY") or "/certs/server.key")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(chain, key)
        return Certificate(chain.read_bytes(), key.read_bytes())
    except OSError as error:
        reason = error.strerror or error
        raise OSError(
            f"cannot load the certificate {chain} with the key {key}: {reason}"
        ) from error


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


def work(certificate: Certificate) -> None:
    """Answers calls until this process gets a stop signal."""
    server = grpc.server(ThreadPoolExecutor(max_workers=THREADS), options=OPTIONS)
    add_BenchmarkServiceServicer_to_server(BenchmarkService(), server)
    add_HealthServicer_to_server(HealthServicer(), server)
    try:
        server.add_insecure_port(f"[::]:{H2C_PORT}")
        credentials = grpc.ssl_server_credentials([(certificate.key, certificate.chain)])
        server.add_secure_port(f"[::]:{TLS_PORT}", credentials)
    except RuntimeError as error:
        fail(error)
    server.start()

    # The parent blocked them, so none was lost before this.
    signal.sigwait(STOP_SIGNALS)
    # Threads whose clients do not read can hold up the stop, and would hold up the process's end.
    Timer(STOP_GRACE_S, os._exit, [0]).start()
    server.stop(STOP_GRACE_S).wait()
    os._exit(0)


def main() -> None:
    try:
        certificate = load_certificate()
        check_port_is_free(H2C_PORT)
        check_port_is_free(TLS_PORT)
    except OSError as error:
        fail(error)

    # gRPC must not be in use before a fork: no grpc object exists in this process.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS | {signal.SIGCHLD})
    fork = multiprocessing.get_context("fork")
    cpus = os.sched_getaffinity(0)
    workers = [fork.Process(target=work, args=(certificate,)) for _ in cpus]
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
    sys.exit(f"grpcio-python-threads: {reason}")


if __name__ == "__main__":
    main()
