"""The contract: a framework is ranked only if it answers rightly, frame by frame.

docs/rules.md lists the checks. What is on the wire is seen by a client on sans-io libraries
(hyperframe, hpack), which does nothing it was not told to.
"""

from arena.measure.contract.checks import Report, check, wait_ready
from arena.measure.contract.idle import Watched
from arena.measure.contract.scope import Call, Scope, scope_of, scopes_of

__all__ = [
    "Call",
    "Report",
    "Scope",
    "Watched",
    "check",
    "scope_of",
    "scopes_of",
    "wait_ready",
]
