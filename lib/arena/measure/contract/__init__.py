"""The contract: a framework is ranked only if its answers are right, frame by frame.

docs/rules.md lists the checks. The client looks at each frame on the wire. It is built on sans-io
libraries (hyperframe, hpack, h11), so it sends nothing by itself.
"""

from arena.measure.contract.checks import Report, check, wait_ready
from arena.measure.contract.disguise import disguise_of
from arena.measure.contract.idle import Watched
from arena.measure.contract.sampling import Sampler
from arena.measure.contract.scope import AnyScope, Call, ItemScope, Scope, scope_of, scopes_of
from arena.measure.contract.sigterm import ending
from arena.measure.contract.standard import offers

__all__ = [
    "AnyScope",
    "Call",
    "ItemScope",
    "Report",
    "Sampler",
    "Scope",
    "Watched",
    "check",
    "disguise_of",
    "ending",
    "offers",
    "scope_of",
    "scopes_of",
    "wait_ready",
]
