"""The contract: a framework is ranked only if its answers are right, frame by frame.

docs/rules.md lists the checks. The client looks at each frame on the wire. It is built on sans-io
libraries (hyperframe, hpack, h11), so it sends nothing by itself.
"""

from arena.contract.checks import Report, check, wait_ready
from arena.contract.flow_control import Watched, ending
from arena.contract.sampling import Sampler
from arena.contract.scope import (
    AnyScope,
    Call,
    ItemScope,
    Scope,
    disguise_of,
    scope_of,
    scopes_of,
)  # fmt: skip
from arena.contract.standard import offers
from arena.contract.starting import Lookout

__all__ = [
    "AnyScope",
    "Call",
    "ItemScope",
    "Lookout",
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
