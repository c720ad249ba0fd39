"""Those whose streams do not flow, and those that cannot do many things at once."""

from tests.lib.arena.contract import lies
from tests.lib.arena.contract.liar import (
    CONNECTIONS,
    LONG,
    MANY_BYTES,
    NUMBER,
    SOON_S,
    Liar,
)
from tests.lib.arena.contract.lies import at_call, endlessly, on_stream, streaming
from tests.lib.arena.contract.talk import changed, honest

_LONG = f"stream-{LONG}"
_BACK = "backpressure"
_CANCEL = "cancel"
_FOUR = "four-streams"
_MANY = f"connections-{CONNECTIONS}"
_WRONG = f"is {NUMBER}, not {NUMBER}"
_CLOSED = "the server closed the connection in the middle of the call"
_LOST = f"afterwards, GetSum: ({_CLOSED}|.*broke.*)"
_MIB = 1 << 20

_LONG_HANG = {"flow_control._LONG_TIMEOUT_S": SOON_S}
_FLOW_HANG = {"flow_control.TIMEOUT_S": SOON_S}
# For what has to be seen before the contract goes on.
_QUIET = {"flow_control._QUIET_S": SOON_S}
_CROWD_HANG = {"concurrency.TIMEOUT_S": SOON_S}

LONG_STREAM = [
    Liar(_LONG, "the window is ignored", streaming(lies.ignoring_the_window),
         r"the server sent \d+ bytes more than the window allows", MANY_BYTES, alone=False,
         short=_QUIET),
    Liar(_LONG, "nothing before all is made", streaming(lies.hanging, LONG),
         "no first reply: no answer within 0.3 s; is all of it made before any is sent\\?",
         short=_LONG_HANG),
    Liar(_LONG, "all is made and kept before any is sent",
         streaming(lies.buffering(40 * _MIB), LONG),
         "no first reply while its memory grows by 80 MiB: all is made before"),
    Liar(_LONG, "an end at the closed window", streaming(lies.until_closed(lies.failing(0)), LONG),
         rf"the stream ended after \d+ replies, not {LONG}", short=_QUIET),
    Liar(_LONG, "an end after a few", streaming(changed(lies.at_most(100)), LONG),
         f"the stream ended after 100 replies, not {LONG}", short=_QUIET),
    Liar(_LONG, "an error", streaming(lies.until_closed(lies.failing(8, "no memory")), LONG),
         r"grpc-status is 8, not 0 \(no memory\)", short=_QUIET),
    Liar(_LONG, "nothing more once it is open again",
         streaming(lies.until_closed(lies.hanging), LONG), "no answer within 0.3 s",
         short=_LONG_HANG),
    Liar(_LONG, "RST_STREAM at the closed window",
         streaming(lies.until_closed(lies.resetting_now(3)), LONG),
         r"the server reset the stream \(FLOW_CONTROL_ERROR\)"),
    Liar(_LONG, "the last is missing", streaming(changed(lies.without_last), LONG),
         f"{LONG - 1} replies, not {LONG}"),
    Liar(_LONG, "one too many", streaming(changed(lies.with_one_more), LONG),
         f"({LONG + 1} replies, not {LONG}|there are more than {LONG} replies)"),
    Liar(_LONG, "no end", streaming(changed(lies.without_end), LONG),
         f"there are more than {LONG} replies"),
    Liar(_LONG, "two have changed places", streaming(changed(lies.swapped), LONG),
         f"reply 3 {_WRONG}"),
    Liar(_LONG, "the last is one too large", streaming(changed(lies.last_off_by_one), LONG),
         f"reply {LONG - 1} {_WRONG}"),
]  # fmt: skip

BACKPRESSURE = [
    Liar(_BACK, "the window is ignored", endlessly(lies.ignoring_the_window, narrow=True),
         r"the server sent \d+ bytes more than the window allows", MANY_BYTES, short=_QUIET),
    Liar(_BACK, "all is made before any is sent", endlessly(lies.buffering(40 * _MIB), narrow=True),
         "no first reply while its memory grows by 80 MiB: all is made before"),
    Liar(_BACK, "all is made before any is sent, unseen", endlessly(lies.hanging, narrow=True),
         "no first reply: no answer within 0.3 s; is all of it made before any is sent\\?",
         short=_FLOW_HANG, watched=False),
    Liar(_BACK, "busy at the closed window", endlessly(lies.working(honest), narrow=True),
         "the server goes on making replies with the window closed: "
         "it uses 10.0 s of CPU and 0 MiB more memory in 10.0 s"),
    Liar(_BACK, "busy and growing", endlessly(lies.working(honest, growth=_MIB // 4), narrow=True),
         "the server goes on making replies with the window closed: "
         r"it uses \d+.\d s of CPU and \d\d MiB more memory in 10.\d s"),
    Liar(_BACK, "growing at the closed window",
         endlessly(lies.working(honest, growth=30 * _MIB), narrow=True),
         "its memory grows with the window closed: by 90 MiB, replies that nobody takes"),
    Liar(_BACK, "a wrong value", endlessly(changed(lies.off_by_one), narrow=True),
         f"reply 0 {_WRONG}"),
    Liar(_BACK, "an end at the closed window",
         endlessly(lies.until_closed(lies.failing(0)), narrow=True),
         r"the stream ended after \d+ replies", short=_QUIET),
    Liar(_BACK, "an end after a few", endlessly(changed(lies.at_most(100)), narrow=True),
         "the stream ended after 100 replies", short=_QUIET),
    Liar(_BACK, "an error", endlessly(lies.until_closed(lies.failing(8)), narrow=True),
         "grpc-status is 8, not 0", short=_QUIET),
    Liar(_BACK, "the connection dies with the cancel",
         endlessly(lies.after_cancel(lies.losing_the_connection), narrow=True), _LOST),
    Liar(_BACK, "it dies at the closed window",
         endlessly(lies.until_closed(lies.dying), narrow=True),
         r"the server ended with the window closed; then the server ended \(signal 11\)",
         alone=False, short={"flow_control._QUIET_S": 30.0}),
]  # fmt: skip

CANCEL = [
    Liar(_CANCEL, "it never stops", endlessly(lies.after_cancel(lies.sending_on), narrow=False),
         "the server still sends 1 s after RST_STREAM",
         short={"flow_control.TIMEOUT_S": 1, "flow_control._SILENT_S": 0.5}),
    Liar(_CANCEL, "the connection dies with it",
         endlessly(lies.after_cancel(lies.losing_the_connection), narrow=False), _LOST),
    Liar(_CANCEL, "an end before it", endlessly(changed(lies.at_most(100)), narrow=False),
         "the stream ended after 100 replies"),
    Liar(_CANCEL, "an error before it", endlessly(lies.refusing(8), narrow=False),
         "grpc-status is 8, not 0"),
    Liar(_CANCEL, "no replies", endlessly(lies.hanging, narrow=False), "no answer within 0.3 s",
         short=_FLOW_HANG),
    Liar(_CANCEL, "busy ever after",
         endlessly(lies.after_cancel(lies.working(lies.hanging)), narrow=False),
         "the server goes on making replies after its stream was cancelled: "
         "it uses 10.0 s of CPU and 0 MiB more memory in 10.0 s"),
    Liar(_CANCEL, "growing ever after",
         endlessly(lies.after_cancel(lies.working(lies.hanging, growth=40 * _MIB)), narrow=False),
         "its memory grows after its stream was cancelled: by 80 MiB, replies that nobody takes"),
]  # fmt: skip

CROWD = [
    Liar(_FOUR, "three of four", streaming(on_stream(4, changed(lies.without_last)), 1000),
         "stream 4 of 4: 999 replies, not 1000"),
    Liar(_FOUR, "each has the first one's replies", streaming(lies.prepared(), 1000),
         f"stream 2 of 4: reply 0 {_WRONG}"),
    Liar(_FOUR, "one is refused", streaming(on_stream(3, lies.resetting(7)), 1000),
         r"the server reset the stream \(REFUSED_STREAM\)"),
    Liar(_FOUR, "one is never answered", streaming(on_stream(2, lies.hanging), 1000),
         "no answer within 0.3 s", short=_CROWD_HANG),
    Liar(_MANY, "one is wrong", streaming(at_call(5, changed(lies.swapped)), 50),
         rf"connection \d of {CONNECTIONS}: reply 3 {_WRONG}"),
    Liar(_MANY, "one is closed", streaming(at_call(5, lies.hanging_up), 50),
         rf"connection \d of {CONNECTIONS}: {_CLOSED}"),
    Liar(_MANY, "one is never answered", streaming(at_call(5, lies.hanging), 50),
         rf"connection \d of {CONNECTIONS}: no answer within 0.3 s", short=_CROWD_HANG),
    Liar(_MANY, "all have the same replies", streaming(lies.constant(3, 4, 5), 50),
         f"connection 1 of {CONNECTIONS}: reply 0 {_WRONG}"),
]  # fmt: skip

FLOW = [*LONG_STREAM, *BACKPRESSURE, *CANCEL, *CROWD]
