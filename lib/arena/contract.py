"""The contract: a framework is measured only after it answered rightly."""

import random
import time
from collections.abc import Callable
from functools import partial

from google.protobuf.message import DecodeError

from arena import grpc_client
from arena.benchmark_pb2 import StreamRequest, SumReply, SumRequest
from arena.errors import ContractError, FrameworkError
from arena.grpc_client import CallError
from arena.profiles import Profile
from arena.records import Check

_SERVICE = "benchmark.BenchmarkService"
_POLL_S = 0.05
_PROBE_TIMEOUT_S = 2.0
_CHECK_TIMEOUT_S = 20.0

# What streams are asked for, beside the profile's own request; below one means one.
STREAM_COUNTS = (10, 5000, 0)

# Kept away from the int32 edges, where languages may differ in good faith.
_LARGEST_OPERAND = 1 << 29


def wait_ready(profile: Profile, timeout_s: float, ended: Callable[[], str | None]) -> None:
    """Poll with a real GetSum every 50 ms until it is answered; FrameworkError when it is not.

    Any gRPC answer will do here: whether it is right is the contract's business.
    """
    deadline = time.monotonic() + timeout_s
    problem = "nothing listens"
    while True:
        if how := ended():
            raise FrameworkError("start", f"the server ended before it was ready ({how})")
        began = time.monotonic()
        try:
            _get_sum(profile, 1, 2, timeout_s=_PROBE_TIMEOUT_S)
        except CallError as error:
            problem = str(error)
        else:
            return
        if time.monotonic() >= deadline:
            raise FrameworkError(
                "start",
                f"the server was not ready on port {profile.port} within {timeout_s:g} s "
                f"({problem})",
            )
        time.sleep(max(0.0, _POLL_S - (time.monotonic() - began)))


def check(profile: Profile) -> list[Check]:
    """Run the checks the profile's call needs, with random operands; ContractError if one fails.

    The error carries the checks made so far as `checks`.
    """
    checks: list[tuple[str, Callable[[], str]]] = [("GetSum", lambda: _check_get_sum(profile))]
    if profile.call.endswith("/StreamSum"):
        checks += [
            (f"StreamSum({count})", partial(_check_stream, profile, _random_request(count)))
            for count in STREAM_COUNTS
        ]
        # What the load will ask for, to the letter: the generators count on its length.
        exact = ", ".join(f"{key}={value}" for key, value in profile.request.items())
        load = StreamRequest(**profile.request)
        checks.append((f"StreamSum({exact})", partial(_check_stream, profile, load)))
    done: list[Check] = []
    for name, run in checks:
        try:
            problem = run()
        except CallError as error:
            problem = str(error)
        except DecodeError:
            problem = "a reply is not a SumReply"
        done.append(Check(check=name, status="fail" if problem else "pass", detail=problem))
        if problem:
            raise ContractError("contract", f"{name}: {problem}", checks=done)
    return done


def _operands() -> tuple[int, int]:
    return (
        random.randint(-_LARGEST_OPERAND, _LARGEST_OPERAND),  # noqa: S311 - not a secret
        random.randint(-_LARGEST_OPERAND, _LARGEST_OPERAND),  # noqa: S311
    )


def _get_sum(profile: Profile, a: int, b: int, timeout_s: float) -> grpc_client.Reply:
    request = SumRequest(a=a, b=b).SerializeToString()
    return grpc_client.call(
        profile.port,
        f"{_SERVICE}/GetSum",
        [request],
        tls=profile.tls,
        timeout_s=timeout_s,
        most_replies=2,
    )


def _check_get_sum(profile: Profile) -> str:
    a, b = _operands()
    reply = _get_sum(profile, a, b, _CHECK_TIMEOUT_S)
    return _difference(reply, [a + b])


def _int32(value: int) -> int:
    """Wrap a sum around as the .proto says."""
    return (value + 2**31) % 2**32 - 2**31


def _random_request(count: int) -> StreamRequest:
    a, b = _operands()
    return StreamRequest(a=a, b=b, count=count)


def _check_stream(profile: Profile, request: StreamRequest) -> str:
    expected = [_int32(request.a + request.b + i) for i in range(max(request.count, 1))]
    reply = grpc_client.call(
        profile.port,
        f"{_SERVICE}/StreamSum",
        [request.SerializeToString()],
        tls=profile.tls,
        timeout_s=_CHECK_TIMEOUT_S,
        most_replies=len(expected) + 1,
    )
    return _difference(reply, expected)


def _difference(reply: grpc_client.Reply, expected: list[int]) -> str:
    """Say in what a reply differs from what it must be; empty if in nothing."""
    if reply.status != "0":
        said = f" ({reply.status_message:.100})" if reply.status_message else ""
        return f"grpc-status is {reply.status!s:.20}, not 0{said}"
    if len(reply.messages) != len(expected):
        return f"{len(reply.messages)} replies, not {len(expected)}"
    for index, (message, value) in enumerate(zip(reply.messages, expected, strict=True)):
        result = SumReply.FromString(message).result
        if result != value:
            return f"reply {index} is {result}, not {value}"
    return ""
