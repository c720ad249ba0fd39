"""The contract in small: the same checks, of fewer replies and connections, with less waiting."""

import pytest

from arena.measure.contract import checks, concurrency, flow_control, streams

EARNEST = flow_control.LONG, concurrency.CONNECTIONS

# More than the 64 KB of a window hold, at eight bytes or more for a reply.
LONG = 8000
CONNECTIONS = 8

# A profile's own request.
PROFILE = {"a": 1, "b": 2, "count": 300}

# For calls that are never answered.
SOON_S = 0.3


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Make it so for one test."""
    patch.setattr(flow_control, "LONG", LONG)
    patch.setattr(concurrency, "CONNECTIONS", CONNECTIONS)
    patch.setattr(flow_control, "_QUIET_S", 0.02)
    patch.setattr(flow_control, "_SILENT_S", 0.02)
    patch.setattr(streams, "_QUIET_S", 0.02)
    patch.setattr(checks, "_LAST_BREATH_S", 0.05)
