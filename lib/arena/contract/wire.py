"""The client's side of an HTTP/2 connection, without its socket: bytes in, bytes out.

It checks servers and never loads them: it looks at every frame, and sends nothing by itself.
Anything a server must not do is a WrongError. Source: RFC 9113.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hpack
from hyperframe import frame
from hyperframe.exceptions import HyperframeError

from arena.contract.messages import WrongError, is_grpc, split
from arena.contract.scope import DEFAULT_WINDOW, Disguise, disguise_of

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
LARGEST_WINDOW = 2**31 - 1

_FRAME_HEAD = struct.Struct(">BHBBI")  # the length in two parts, then type, flags and stream
_STREAM = 2**31 - 1  # without the reserved bit
_DATA, _END, _PADDED = 0x0, 0x1, 0x8
_LARGEST_FRAME = 16_384
_LARGEST_BODY = 1 << 20
_LARGEST_BLOCK = 1 << 16  # a header block, as it comes
_MOST_REPLIES = 64 << 20  # bytes of all messages on a connection, which are kept
_CANCEL = 8
_LARGEST_TABLE = 4096  # HPACK's, unless the server wants a smaller one (RFC 9113, 6.5.2)

# Names of error codes (RFC 9113, section 7), by number.
_CODES = (
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
    "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
    "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
)  # fmt: skip


def code_name(number: int) -> str:
    """Return the name of an HTTP/2 error code; an unknown code stays a number."""
    return _CODES[number] if number < len(_CODES) else str(number)


@dataclass
class Answer:
    """The response on one stream.

    `received` counts the bytes of DATA as flow control does; `data_frames` counts non-empty
    frames. `pending` is the beginning of an incomplete message; `body` is what is not gRPC, its
    first megabyte. A `bare` answer ended with its headers, which are also its trailers (gRPC:
    Trailers-Only). If it `is_grpc`, its body holds messages; otherwise it is text. One that
    `ended_twice` has trailers after its end. `accepts` is the compression that its request offered.
    """

    stream: int
    window: int
    headers: dict[str, str] | None = None
    is_grpc: bool = False
    trailers: dict[str, str] | None = None
    messages: list[bytes] = field(default_factory=list)
    pending: bytearray = field(default_factory=bytearray)
    body: bytearray = field(default_factory=bytearray)
    received: int = 0
    data_frames: int = 0
    bare: bool = False
    ended: bool = False
    ended_twice: bool = False
    accepts: str = ""
    reset: int | None = None
    cancelled: bool = False

    @property
    def over(self) -> bool:
        """Return whether nothing more can come."""
        return self.ended or self.reset is not None

    @property
    def messages_began(self) -> bool:
        """Return whether the first bytes of a gRPC body have come, right or wrong."""
        return self.is_grpc and self.data_frames > 0

    @property
    def status(self) -> str | None:
        """The grpc-status that ended the call; None if there was none."""
        last = self.headers if self.bare else self.trailers
        return (last or {}).get("grpc-status")


@dataclass
class _Sending:
    """The unsent part of a request, and how much of it the server accepts now."""

    window: int
    body: bytearray = field(default_factory=bytearray)
    end: bool = False


class Wire:
    """One connection: the caller sends `output` and gives received bytes to `take`.

    It looks like a load generator: like `disguise`, or like any. With a `window`, a stream has that
    many bytes; without, the streams and the connection have what the generator has. Windows are
    refilled as bytes arrive unless they are `held`. With a `window`, or if it is `held`, the
    connection's own window is a limit only if it is `tight`. `timeout_s` is the deadline that calls
    announce. `greeted`: the server's SETTINGS have arrived; `most_streams` is the limit they set.
    """

    def __init__(
        self,
        authority: str,
        *,
        tls: bool,
        disguise: Disguise | None = None,
        window: int | None = None,
        held: bool = False,
        tight: bool = False,
        timeout_s: float = 20.0,
    ) -> None:
        self.output = bytearray(PREFACE)
        self.answers: dict[int, Answer] = {}
        self.goaway: int | None = None
        self.held = held
        self.greeted = False
        self.most_streams: int | None = None
        self._authority = authority
        self._scheme = "https" if tls else "http"
        # A server must not be able to distinguish a check from a load.
        self._look = disguise or disguise_of()
        self._timeout_us = round(timeout_s * 1e6)
        self._window = self._look.window if window is None else window
        self._next_stream = 1
        self._encoder = hpack.Encoder()
        self._decoder = hpack.Decoder()
        self._partial = bytearray()
        self._block: tuple[int, bool, bytearray] | None = None
        self._kept = 0
        self._left = DEFAULT_WINDOW
        self._sending: dict[int, _Sending] = {}
        self._server_window = DEFAULT_WINDOW
        self._server_left = DEFAULT_WINDOW
        self._handlers: Mapping[type[frame.Frame], Callable[[Any], None]] = {
            frame.DataFrame: self._data,
            frame.HeadersFrame: self._headers,
            frame.ContinuationFrame: self._continuation,
            frame.RstStreamFrame: self._reset,
            frame.SettingsFrame: self._settings,
            frame.PingFrame: self._ping,
            frame.GoAwayFrame: self._goaway,
            frame.PushPromiseFrame: self._push,
            frame.WindowUpdateFrame: self._window_update,
        }
        settings = dict(self._look.settings)
        if self._window != self._look.window:
            settings[frame.SettingsFrame.INITIAL_WINDOW_SIZE] = self._window
        self._send(frame.SettingsFrame(0, settings=settings))
        is_usual = window is None and not held
        self._connection = self._look.connection if is_usual else LARGEST_WINDOW
        if not tight and self._connection > DEFAULT_WINDOW:
            self.open_connection(self._connection - DEFAULT_WINDOW)
        self._refills = is_usual and not tight

    def request(
        self, path: str, body: bytes, *, end: bool = True, content_type: str = "application/grpc"
    ) -> Answer:
        """Open a gRPC call with the first bytes of its body."""
        values = {
            "scheme": self._scheme, "path": f"/{path}", "authority": self._authority,
            "type": content_type, "length": str(len(body)),
            "timeout": f"{self._look.announced_us(self._timeout_us)}u",
        }  # fmt: skip
        fields = [
            (name, value.format_map(values))
            for name, value in self._look.fields
            if end or name != "content-length"
        ]
        answer = self._opened(fields)
        answer.accepts = self._look.accepts
        if body or end:
            self.send(answer, body, end=end)
        return answer

    def open(
        self, method: str, path: str, fields: Iterable[tuple[str, str]] = (), *, end: bool = False
    ) -> Answer:
        """Open a stream with the head of a request, which may be all of it."""
        start = [(":method", method), (":scheme", self._scheme), (":path", path)]
        agent = ("user-agent", self._look.agent)
        return self._opened([*start, (":authority", self._authority), *fields, agent], end=end)

    def _opened(self, fields: Sequence[tuple[str, str]], *, end: bool = False) -> Answer:
        answer = Answer(self._next_stream, self._window)
        self._next_stream += 2
        self.answers[answer.stream] = answer
        block = self._encoder.encode(fields)
        flags = ["END_HEADERS", "END_STREAM"] if end else ["END_HEADERS"]
        self._send(frame.HeadersFrame(answer.stream, block, flags=flags))
        return answer

    def send(self, answer: Answer, body: bytes, *, end: bool = False) -> None:
        """Send more of a request's body, as the server's windows allow."""
        sending = self._sending.setdefault(answer.stream, _Sending(self._server_window))
        sending.body += body
        sending.end = sending.end or end
        self._send_on(answer.stream, sending)

    def cancel(self, answer: Answer) -> None:
        """Reset a stream: bytes that still arrive on it are counted and dropped."""
        answer.cancelled = True
        self._sending.pop(answer.stream, None)
        self._send(frame.RstStreamFrame(answer.stream, error_code=_CANCEL))

    def open_window(self, answer: Answer, increment: int) -> None:
        """Let the server send `increment` more bytes on a stream."""
        answer.window += increment
        self._send(frame.WindowUpdateFrame(answer.stream, window_increment=increment))

    def open_connection(self, increment: int) -> None:
        """Let the server send `increment` more bytes on all streams combined."""
        self._left += increment
        self._send(frame.WindowUpdateFrame(0, window_increment=increment))

    def take(self, data: bytes) -> None:
        """Take bytes from the server; WrongError if they are not HTTP/2, or not allowed."""
        partial = self._partial
        partial += data
        at = 0
        while len(partial) - at >= _FRAME_HEAD.size:
            high, low, kind, flags, stream = _FRAME_HEAD.unpack_from(partial, at)
            length = high << 16 | low
            stream &= _STREAM
            start = at + _FRAME_HEAD.size
            if not self.greeted and kind != frame.SettingsFrame.type:
                raise WrongError("the server does not speak HTTP/2", partial[at:])
            if length > _LARGEST_FRAME:
                message = f"a frame of {length} bytes is larger than allowed"
                raise WrongError(message, partial[at:start])
            if len(partial) < start + length:
                break
            body = bytes(partial[start : start + length])
            # Almost all frames are like this one, so it takes the short way.
            if kind == _DATA and not flags & _PADDED and stream and self._block is None:
                self._content(stream, body, length, ends=bool(flags & _END))
            else:
                self._frame(_parsed(bytes(partial[at:start]), body))
            at = start + length
        del partial[:at]

    def _send(self, sent: frame.Frame) -> None:
        self.output += sent.serialize()

    def _frame(self, seen: frame.Frame) -> None:
        if self._block is not None and not isinstance(seen, frame.ContinuationFrame):
            raise WrongError("a header block is interrupted by another frame")
        # PRIORITY and unknown frame types do not matter here.
        if handle := self._handlers.get(type(seen)):
            handle(seen)

    def _headers(self, seen: frame.HeadersFrame) -> None:
        self._block = (seen.stream_id, "END_STREAM" in seen.flags, bytearray())
        self._continuation(seen)

    def _continuation(self, seen: frame.HeadersFrame | frame.ContinuationFrame) -> None:
        if self._block is None or self._block[0] != seen.stream_id:
            raise WrongError("a CONTINUATION follows no HEADERS")
        stream, ends, block = self._block
        block += seen.data
        if len(block) > _LARGEST_BLOCK:
            raise WrongError(f"a header block has more than {_LARGEST_BLOCK:,} bytes")
        if "END_HEADERS" not in seen.flags:
            return
        self._block = None
        try:
            decoded = self._decoder.decode(bytes(block), raw=True)
        except hpack.HPACKError as error:
            raise WrongError(f"a header block is broken: {error}", block) from error
        answer = self._answer(stream)
        if not answer.cancelled:
            _take_fields(answer, decoded, ends=ends)

    def _reset(self, seen: frame.RstStreamFrame) -> None:
        answer = self._answer(seen.stream_id)
        self._sending.pop(answer.stream, None)
        if not answer.over:
            answer.reset = seen.error_code

    def _settings(self, seen: frame.SettingsFrame) -> None:
        self.greeted = True
        if "ACK" in seen.flags:
            return
        settings = seen.settings
        table = settings.get(frame.SettingsFrame.HEADER_TABLE_SIZE, _LARGEST_TABLE)
        self._encoder.header_table_size = min(table, _LARGEST_TABLE)
        most = settings.get(frame.SettingsFrame.MAX_CONCURRENT_STREAMS)
        self.most_streams = self.most_streams if most is None else most
        self._send(frame.SettingsFrame(0, flags=["ACK"]))
        window = settings.get(frame.SettingsFrame.INITIAL_WINDOW_SIZE, self._server_window)
        for sending in self._sending.values():
            sending.window += window - self._server_window
        self._server_window = window
        self._send_all_on()

    def _window_update(self, seen: frame.WindowUpdateFrame) -> None:
        if seen.stream_id == 0:
            self._server_left += seen.window_increment
        elif sending := self._sending.get(seen.stream_id):
            sending.window += seen.window_increment
        self._send_all_on()

    def _send_all_on(self) -> None:
        for stream, sending in list(self._sending.items()):
            self._send_on(stream, sending)

    def _send_on(self, stream: int, sending: _Sending) -> None:
        """Send what the server's windows allow; END_STREAM goes with the last byte."""
        while sending.body or sending.end:
            room = min(sending.window, self._server_left, _LARGEST_FRAME)
            part = bytes(sending.body[: max(room, 0)])
            if sending.body and not part:
                return
            del sending.body[: len(part)]
            sending.window -= len(part)
            self._server_left -= len(part)
            last = sending.end and not sending.body
            self._send(frame.DataFrame(stream, part, flags=["END_STREAM"] if last else []))
            if last:
                del self._sending[stream]
                return

    def _ping(self, seen: frame.PingFrame) -> None:
        if "ACK" not in seen.flags:
            self._send(frame.PingFrame(0, seen.opaque_data, flags=["ACK"]))

    def _goaway(self, seen: frame.GoAwayFrame) -> None:
        self.goaway = seen.error_code
        if any(e.stream > seen.last_stream_id and not e.over for e in self.answers.values()):
            raise WrongError(f"the server refuses the call: GOAWAY ({code_name(seen.error_code)})")

    def _push(self, _: frame.PushPromiseFrame) -> None:
        raise WrongError("the server pushes, though that was turned off")

    def _answer(self, stream: int) -> Answer:
        try:
            return self.answers[stream]
        except KeyError:
            raise WrongError(f"a frame came on stream {stream}, which was not opened") from None

    def _data(self, seen: frame.DataFrame) -> None:
        size, ends = seen.flow_controlled_length, "END_STREAM" in seen.flags
        self._content(seen.stream_id, seen.data, size, ends=ends)

    def _content(self, stream: int, data: bytes, size: int, *, ends: bool) -> None:
        """Take the content of a DATA frame; `size` is what flow control counts."""
        answer = self._answer(stream)
        answer.received += size
        self._left -= size
        _require_room(self._left, data)
        if self._refills and self._left < self._connection // 2:
            self.open_connection(self._connection - self._left)
        if answer.cancelled:
            return
        if answer.ended:
            raise WrongError("DATA follows the end of its stream", data)
        if answer.headers is None:
            raise WrongError("DATA comes before the headers", data)
        answer.window -= size
        _require_room(answer.window, data)
        if data:
            answer.data_frames += 1
        if answer.is_grpc:
            self._kept += size
            if self._kept > _MOST_REPLIES:
                message = f"more than {_MOST_REPLIES >> 20} MiB of messages came on a connection"
                raise WrongError(message)
            answer.pending += data
            answer.messages += split(answer.pending)
        else:
            answer.body += data[: _LARGEST_BODY - len(answer.body)]
        if ends:
            answer.ended = True
        elif not self.held and answer.window < self._window // 2:
            self.open_window(answer, self._window - answer.window)


def _parsed(head: bytes, body: bytes) -> frame.Frame:
    try:
        parsed, _ = frame.Frame.parse_frame_header(memoryview(head))
        parsed.parse_body(memoryview(body))
    except HyperframeError as error:
        raise WrongError(f"a frame is broken: {error}", head + body) from error
    return parsed


def _require_room(left: int, data: bytes) -> None:
    if left < 0:
        raise WrongError(f"the server sent {-left} bytes more than the window allows", data)


def _take_fields(
    answer: Answer, decoded: Iterable[tuple[bytes | str, bytes | str]], *, ends: bool
) -> None:
    """Store a header block: the first is the headers, the one that ends the stream the trailers."""
    fields = {_text(name): _text(value) for name, value in decoded}
    if answer.headers is None:
        if fields.get(":status", "").startswith("1") and not ends:
            return
        answer.headers = fields
        answer.is_grpc = fields.get(":status") == "200" and is_grpc(fields.get("content-type", ""))
        answer.bare = ends
    elif not ends:
        raise WrongError("headers come in the middle of a stream")
    elif answer.ended:
        answer.ended_twice = True
        raise WrongError("trailers follow the end of their stream")
    else:
        answer.trailers = fields
    answer.ended = answer.ended or ends


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode(errors="replace")
