"""How h2load counts its calls (its src/h2load.cc, 1.52 and 1.70), and what that says of each.

- `2xx` and its like count responses whose HEADERS came, `succeeded` counts streams that ended
  without an error after a 2xx or 3xx. A stream that was reset after its headers is a `2xx`, and
  no success: so OK calls are those that `succeeded`, less all that had a 3xx.
- `failed` includes `errored`: what is not in it ended properly, with a 4xx or 5xx, or no status.
- `errored` are the streams that were reset. With `-n` also the calls that were lost with their
  connection, or never sent; `timeout` calls (`-T`, `-N`) are some of these.
- With `-D` h2load reports nothing about a call that was open at the end, or when its connection
  was lost: the call was `started` and is not `done`. Both are called cut here, since they look the
  same. So a server that dies, or closes its connections, causes no failure, only a lower rate.
- After `--warm-up-time`, all counts are of the main duration alone: `done` are the calls that ended
  in it, also those that began before, and `started` those that began in it. Nothing is reported
  about the calls that are open at its start or at its end.
- h2load does not read the trailers, where the gRPC status is.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.common.errors import ParseError
from parsers.common.figures import Calls


@dataclass(frozen=True)
class Counts:
    """The counts of one run, in h2load's words."""

    total: int
    started: int
    done: int
    succeeded: int
    failed: int
    errored: int
    timeout: int
    redirects: int
    """HTTP 3xx, as the following two."""
    client_errors: int
    server_errors: int

    @property
    def timed(self) -> int:
        """Streams that ended properly, whatever their status: those whose time was taken."""
        return self.succeeded + self.failed - self.errored

    def calls(self) -> Calls:
        """Sort the calls out. Raises ParseError for counts that contradict one another."""
        reset = self.done - self.timed
        lost = self.errored - reset
        if (
            self.errored > self.failed
            or self.succeeded + self.failed != self.total
            or min(reset, lost) < 0
        ):
            raise ParseError(
                "the counts of `requests` do not add up: edited, or h2load lost count of them"
            )
        redirected = min(self.redirects, self.succeeded)
        refused = self.failed - self.errored
        client_errors = min(self.client_errors, refused)
        server_errors = min(self.server_errors, refused - client_errors)
        timed_out_inside = self.timeout if self.timeout <= lost else 0
        failed = {
            "HTTP 3xx": redirected,
            "HTTP 4xx": client_errors,
            "HTTP 5xx": server_errors,
            "failed": refused - client_errors - server_errors,
            "errored": self.errored - timed_out_inside,
            "timeout": self.timeout,
        }
        untold = self.started - self.done - lost - (self.timeout - timed_out_inside)
        return Calls(
            ok=self.succeeded - redirected,
            failed={kind: calls for kind, calls in failed.items() if calls},
            cut=max(untold, 0),
        )
