"""h2load, the classic generator of unary calls: an HTTP/2 client without support for gRPC.

Its versions differ in their options: 1.43 reads `-D 500ms` as 500 seconds, and 1.69 and later can
write JSON. By itself it opens its connections, and sends the first requests on all of them, inside
the window: with 1,024 on two cores, that rush is longer than the window of some servers. So each
run has a warm-up of its own.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from math import ceil

from arena.base.errors import HostError
from arena.base.text import shown
from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.load import measurements
from arena.load.find import output_of
from arena.load.generators import Description, Image, Lead, Way
from arena.what import protos
from arena.what.loads import Closed
from arena.what.profile import MeasuredProfile, Profile

BODIES = ".tools/bodies"

# gRPC's message prefix: not compressed, four bytes of length.
_LENGTH_BYTES = 4

# File systems take no longer names; a longer request goes by its hash.
_LONGEST_STEM = 200

_PRINTED = re.compile(r"h2load nghttp2/(\d{1,4}\.\d{1,4}\S*)\s*")
_NUMBERS = re.compile(r"(\d+)\.(\d+)")

# Debian 12's version, as docker/h2load.Dockerfile installs it: the default if none was read.
_USUAL = (1, 52)
# The oldest version known to read the unit of `-D`.
_UNITS_SINCE = (1, 52)
_JSON_SINCE = (1, 69)

# The least warm-up of a run. With many calls in flight it is longer: the first of them, all sent at
# once, must be answered before the window opens, at this rate or a higher one.
_LEAST_WARM_UP_S = 3.0
_ANSWERED_PER_S = 20_000

# What it prints when the window of its first thread opens.
_OPENED = "Main benchmark duration is started for thread #0."

# It stops its clients within a second. Once it was seen not to end at all.
_GRACE_S = 15.0

_INSTALL = (
    "name one with H2LOAD=/path/to/h2load, install it so that it is on PATH (Debian and Ubuntu: "
    "nghttp2-client), or start Docker so that it can be run from an image (LOADGEN_DOCKER=true, "
    "H2LOAD_IMAGE)"
)


def version_of(command: Sequence[str]) -> str | None:
    """Return the version of the h2load that a command starts; None if it is not h2load."""
    match = _PRINTED.fullmatch(output_of([*command, "--version"]))
    return match[1] if match else None


def _numbers(version: str) -> tuple[int, int]:
    """Return the version's numbers, on which its options depend."""
    match = _NUMBERS.match(version)
    return (int(match[1]), int(match[2])) if match else _USUAL


def arguments(profile: MeasuredProfile, cpus: Sequence[int] | None, version: str) -> list[str]:
    """Return the flags for a profile, with a thread per CPU but no thread without a connection.

    Its JSON goes to stdout, before its text.
    """
    threads = len(os.sched_getaffinity(0) if cpus is None else cpus)
    scheme = "https" if profile.tls else "http"
    lead_s = warm_up_s(profile)
    return [
        "-c", str(profile.connection_count),
        "-m", str(profile.in_flight // profile.connection_count),
        "-t", str(min(threads, profile.connection_count)),
        "-D", _duration(profile.window_s, version),
        *([f"--warm-up-time={_duration(lead_s, version)}"] if lead_s else []),
        "-d", _body_file(_body(profile)),
        "-H", "content-type: application/grpc",
        "-H", "te: trailers",
        *(["--output-file=/dev/stdout"] if _numbers(version) >= _JSON_SINCE else []),
        f"{scheme}://localhost:{profile.port}/{profile.call}",
    ]  # fmt: skip


def warm_up_s(profile: MeasuredProfile) -> float:
    """Return the seconds of a run's own warm-up; 0 if the profile has no warm-up."""
    if not profile.warmup_s:
        return 0.0
    first_s = ceil(profile.in_flight / _ANSWERED_PER_S)
    return max(profile.warmup_s, _LEAST_WARM_UP_S, first_s)


def _duration(seconds: float, version: str) -> str:
    """Return a time in milliseconds, or in whole seconds for versions that need them."""
    if _numbers(version) >= _UNITS_SINCE:
        return format_duration(round(seconds, 3))
    return str(ceil(seconds))


def prepare(profile: MeasuredProfile, workspace: Workspace) -> None:
    """Write the request to a file named by its content; HostError if that fails."""
    body = _body(profile)
    path = workspace.root / _body_file(body)
    try:
        if not path.exists() or path.read_bytes() != body:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
    except OSError as error:
        raise HostError(f"{shown(path)}: cannot be written ({error.strerror})") from error


def _body(profile: Profile) -> bytes:
    """Return the request as it is on the wire: gRPC's prefix and the message."""
    method = protos.method_of(profile.proto, profile.call)
    message = protos.request_of(method, profile.request).SerializeToString(deterministic=True)
    return b"\0" + len(message).to_bytes(_LENGTH_BYTES, "big") + message


def _body_file(body: bytes) -> str:
    """Return the path of a request's file, below the root."""
    stem = body.hex()
    if len(stem) > _LONGEST_STEM:
        stem = hashlib.sha256(body).hexdigest()
    return f"{BODIES}/{stem}.bin"


def _refuses(profile: MeasuredProfile) -> str:
    """Return why h2load cannot make a closed load; empty if it can."""
    load = profile.load_as(Closed)
    if not profile.is_unary:
        return "it makes unary calls only: it sends one message and counts no replies"
    if load.concurrency and load.concurrency % profile.connection_count:
        return (
            "it opens equally many calls on every connection, so concurrency must be a multiple of "
            f"the connections: {load.concurrency} calls do not fit on {profile.connection_count}"
        )
    return ""


def _image(workspace: Workspace, named: str | None) -> Image:
    folder = workspace.root / "docker"
    name = named or "httparena-h2load:bookworm"
    return Image(name, folder, ("--file", str(folder / "h2load.Dockerfile")))


H2LOAD = Description(
    name="h2load",
    ways={Closed: Way(arguments, measurements.of_h2load, lead=Lead(warm_up_s, _OPENED))},
    version_of=version_of,
    install=_INSTALL,
    image=_image,
    refuses=_refuses,
    prepare=prepare,
    folders=(BODIES,),
    suffix=".txt",
    grace_s=_GRACE_S,
)
