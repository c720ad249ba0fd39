"""h2load's command line for a profile, and the request that it sends again and again.

What its versions take differs: 1.43 reads `-D 500ms` as 500 seconds, and from 1.69 on it can
write JSON. Its connections are opened inside the window: of 1,024 the last ones come a second
late or more, on two cores, and so a window must be longer than that.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from arena.base.durations import format_duration
from arena.base.errors import HostError
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.what import benchmark_pb2 as pb
from arena.what.loads import Closed
from arena.what.measured import MeasuredProfile
from arena.what.profile import Profile

BODIES = ".tools/bodies"

# gRPC's prefix of a message: not compressed, four bytes of length.
_LENGTH_BYTES = 4

_VERSION = re.compile(r"h2load nghttp2/((\d{1,4})\.(\d{1,4})\S*)\s*")

# The oldest one that was seen to read the unit of `-D`.
_UNITS_SINCE = (1, 52)
_JSON_SINCE = (1, 69)


@dataclass(frozen=True)
class Version:
    """A version of h2load, by its name and by the numbers that its options go by."""

    name: str
    numbers: tuple[int, int]

    @classmethod
    def told(cls, text: str) -> "Version | None":
        """Read what `h2load --version` prints; None if that is something else."""
        match = _VERSION.fullmatch(text)
        return cls(match[1], (int(match[2]), int(match[3]))) if match else None

    @property
    def reads_units(self) -> bool:
        """Whether `-D` may be other than whole seconds."""
        return self.numbers >= _UNITS_SINCE

    @property
    def writes_json(self) -> bool:
        """Whether it has `--output-file`."""
        return self.numbers >= _JSON_SINCE


def arguments(profile: MeasuredProfile, cpus: Sequence[int] | None, version: Version) -> list[str]:
    """Return the flags for a profile, with a thread for each CPU but none without a connection.

    What it writes as JSON goes to its stdout, before its text.
    """
    threads = len(os.sched_getaffinity(0) if cpus is None else cpus)
    scheme = "https" if profile.tls else "http"
    return [
        "-c", str(profile.connection_count),
        "-m", str(profile.in_flight // profile.connection_count),
        "-t", str(min(threads, profile.connection_count)),
        "-D", _duration(profile.window_s, version),
        "-d", f"{BODIES}/{_body(profile).hex()}.bin",
        "-H", "content-type: application/grpc",
        "-H", "te: trailers",
        *(["--output-file=/dev/stdout"] if version.writes_json else []),
        f"{scheme}://localhost:{profile.port}/{profile.call}",
    ]  # fmt: skip


def _duration(seconds: float, version: Version) -> str:
    """Return the window in whole milliseconds, or, where these are not read, whole seconds."""
    if version.reads_units:
        return format_duration(round(seconds, 3))
    return str(ceil(seconds))


def prepare(profile: MeasuredProfile, workspace: Workspace) -> None:
    """Write the request to its file, which is named by what is in it; HostError if that fails."""
    body = _body(profile)
    path = workspace.root / BODIES / f"{body.hex()}.bin"
    try:
        if not path.exists() or path.read_bytes() != body:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
    except OSError as error:
        raise HostError(f"{shown(path)}: cannot be written ({error.strerror})") from error


def _body(profile: Profile) -> bytes:
    """Return the request as it is on the wire: gRPC's prefix, and the message."""
    message = pb.SumRequest(**profile.request).SerializeToString()
    return b"\0" + len(message).to_bytes(_LENGTH_BYTES, "big") + message


def refuses(profile: Profile) -> str:
    """Return why h2load cannot make a load; empty if it can."""
    load = profile.load
    if not isinstance(load, Closed):
        return f"it keeps calls in flight, a {load.kind} load is not one it knows"
    if not profile.is_unary:
        return "it sends the same single message in every call, so the call must be GetSum"
    if "count" in profile.request:
        return "its request is a SumRequest, which has no `count`"
    for connections in profile.connections:
        if load.concurrency and load.concurrency % connections:
            return (
                "it has as many calls open on every connection, so concurrency must be a multiple "
                f"of connections, and {load.concurrency} is none of {connections}"
            )
    return ""
