"""What one run of h2load amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from parsers.common.figures import Calls, Latency
from parsers.h2load.counts import Counts
from parsers.h2load.latency import Figures


@dataclass(frozen=True)
class H2loadReport:
    """One run as h2load reported it, and what its calls were."""

    form: Literal["json", "text"]
    version: str | None
    """h2load's own; text does not tell."""
    elapsed_s: float
    """From the start to the end of its threads, without the warm-up; never 0.

    With `-D` a little more than was asked for. The connections are opened inside it. In text as
    h2load rounded it.
    """
    reported_per_s: float
    """Its `req/s`: streams that ended properly, whatever their status, by what `-D` asked for."""
    counts: Counts
    calls: Calls
    said: Figures
    latency: Latency

    @property
    def calls_per_s(self) -> float:
        """OK calls / elapsed."""
        return self.calls.ok / self.elapsed_s

    @property
    def at_most_per_s(self) -> float:
        """The same, had every call that was cut been answered in time."""
        return (self.calls.ok + self.calls.cut) / self.elapsed_s
