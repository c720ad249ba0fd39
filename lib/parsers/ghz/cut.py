"""Which calls were cut when the window closed: neither OK nor failed.

With `--duration-stop=close`, the default, ghz stops handing out calls when the window closes, then
closes its connections one after another; calls still open end with an error of grpc-go's own
making. A call is cut when all of these hold:

1. Its error, the whole of it, is one that closing makes:

   - Canceled, "grpc: the client connection is closing": streams, and calls that wait for a
     connection.
   - Unavailable, "error reading from server: ... use of closed network connection": v0.121 read
     a socket it had closed itself.
   - Unavailable, "transport is closing": v0.93's wording of the same; v0.121 in a race.
   - Unavailable, "error reading from server: EOF" or "... connection reset by peer": v0.121 over
     TLS, where the server may answer close_notify before the socket is closed.

   The last two are also what a dying server looks like. They count only if nothing else in the
   report says that the server went away: any other Unavailable (connection refused, draining)
   rules them out.
2. The run was stopped (`endReason` timeout or cancel). A run that used up its `-n` closed nothing
   early.
3. No ordinary call (one with any other outcome) was begun long after it ended: after the stop
   ghz begins none, but on a starved host a worker may be late to begin the one it already had,
   0.71 s late once. The words that only ghz can cause have 2 s, the doubtful ones 0.1 s. This
   unmasks a server that died, or a proxy that hands on such words, in mid-window. `-z` cannot
   serve as the edge: its timer starts before the connections are opened, 1.4 s before with 1024
   TLS connections on two cores.
4. At most `concurrency` calls are cut, the last ones to end: a worker has one call open (unless
   `--async`).

Text has only rule 1, with EOF and reset counted only beside an unmistakable cut. JSON without
complete details has rules 1 and 2; rule 2 is applied by `json_report`. With `--duration-stop=wait`
nothing is cut; with `ignore` ghz hides the cut calls, and `at_most` is then too low.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from parsers.ghz.details import Detail

CERTAIN_SLACK_US = 2_000_000
DOUBTFUL_SLACK_US = 100_000

_UNAVAILABLE = "rpc error: code = Unavailable desc = "
_READING = _UNAVAILABLE + "error reading from server: "
_CERTAIN = re.compile(
    r"rpc error: code = Canceled desc = grpc: the client connection is closing"
    rf"|{_READING}[^\n]*use of closed (network )?connection"
)
_TRANSPORT_CLOSING = _UNAVAILABLE + "transport is closing"
_HUNG_UP = re.compile(rf"{_READING}((unexpected )?EOF|[^\n]*connection reset by peer)")


def by_text(errors: Mapping[str, int], statuses: Mapping[str, int]) -> dict[str, int]:
    """Cut calls by code, from error texts alone; never more than the status counts allow."""
    certain = any(_CERTAIN.fullmatch(error) for error in errors)
    cut: Counter[str] = Counter()
    for error, code in _closing_codes(errors).items():
        if certain or not _HUNG_UP.fullmatch(error):
            cut[code] += errors[error]
    return {code: min(count, statuses.get(code, 0)) for code, count in cut.items()}


def by_time(details: Sequence[Detail], most_open: int | None) -> list[Detail]:
    """Cut calls, from each call's error and clock (rules 1, 3 and 4)."""
    codes = _closing_codes({detail.error for detail in details})
    closing = [detail for detail in details if codes.get(detail.error) == detail.status]
    last_us = max(
        (detail.begin_us for detail in details if codes.get(detail.error) != detail.status),
        default=None,
    )
    if last_us is not None:
        closing = [detail for detail in closing if detail.end_us >= last_us - _slack_us(detail)]
    closing.sort(key=lambda detail: detail.end_us, reverse=True)
    return closing[:most_open]


def _slack_us(detail: Detail) -> int:
    return CERTAIN_SLACK_US if _CERTAIN.fullmatch(detail.error) else DOUBTFUL_SLACK_US


def _closing_codes(errors: Iterable[str]) -> dict[str, str]:
    """Pick the errors that closing made (rule 1), each with its status code."""
    closing: dict[str, str] = {}
    doubtful: dict[str, str] = {}
    server_left = False
    for error in errors:
        code = "Unavailable" if error.startswith(_UNAVAILABLE) else "Canceled"
        if _CERTAIN.fullmatch(error):
            closing[error] = code
        elif error == _TRANSPORT_CLOSING or _HUNG_UP.fullmatch(error):
            doubtful[error] = code
        elif code == "Unavailable":
            server_left = True
    return closing if server_left else closing | doubtful
