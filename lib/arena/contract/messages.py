"""gRPC's length-prefixed messages. Source: gRPC over HTTP2, Length-Prefixed-Message."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager

PREFIX = struct.Struct(">BI")  # one flag byte, then the message's length

_LARGEST = 4 << 20  # a reply has a few bytes; servers refuse larger messages too
_SHOWN = 32  # number of wrong bytes that are shown


class WrongError(Exception):
    """The server did something wrong: a sentence, and the bytes that show it."""

    def __init__(self, detail: str, wire: bytes | bytearray = b"") -> None:
        super().__init__(detail)
        self.detail = detail
        self.wire = hexadecimal(wire)


@contextmanager
def named(what: str) -> Iterator[None]:
    """Prefix the message of a WrongError raised in the block with a name."""
    try:
        yield
    except WrongError as error:
        error.detail = f"{what}: {error.detail}"
        raise


@contextmanager
def showing(sent: bytes) -> Iterator[None]:
    """Let a WrongError raised in the block show what was sent, if it shows no bytes."""
    try:
        yield
    except WrongError as error:
        error.wire = error.wire or hexadecimal(sent)
        raise


def is_grpc(content_type: str) -> bool:
    """Return whether a content-type is gRPC's, like `application/grpc+proto`; grpc-web's is not."""
    return content_type.partition(";")[0].partition("+")[0].strip() == "application/grpc"


def hexadecimal(data: bytes | bytearray) -> str:
    """Return bytes as pairs of hex digits, the first 32 of them: `00 00 00 00 02 08 07 …`."""
    more = " …" if len(data) > _SHOWN else ""
    return bytes(data[:_SHOWN]).hex(" ") + more


def frame(message: bytes) -> bytes:
    """Return a message with its prefix, uncompressed."""
    return PREFIX.pack(0, len(message)) + message


def split(data: bytearray) -> list[bytes]:
    """Remove the complete messages from the front of `data`; WrongError on an invalid one."""
    messages = []
    at = 0
    while len(data) - at >= PREFIX.size:
        flag, length = PREFIX.unpack_from(data, at)
        if flag:
            what = (
                "a reply is compressed: none may be" if flag == 1 else f"a reply's flag is {flag}"
            )
            raise WrongError(what, data[at:])
        if length > _LARGEST:
            raise WrongError(f"a reply announces {length} bytes", data[at:])
        end = at + PREFIX.size + length
        if len(data) < end:
            break
        messages.append(bytes(data[at + PREFIX.size : end]))
        at = end
    del data[:at]
    return messages
