"""A run of scenarios: its requests step by step, and its iterations."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.common.figures import Calls, Latency, Second, Wrong


@dataclass(frozen=True)
class Step:
    """One request of a scenario, as often as it was sent; `failed` counts by reason.

    The name has that of its scenario before it if there are several: `crud.create`.
    """

    name: str
    calls: Calls
    latency: Latency

    @property
    def count(self) -> int:
        """All requests of the step."""
        return self.calls.ok + sum(self.calls.failed.values()) + self.calls.cut


@dataclass(frozen=True)
class Iterations:
    """How the iterations of all scenarios ended; `dropped` ones were due and never begun.

    Those that are `cut` were still open at the end, or were ended early.
    """

    due: int
    ok: int
    failed: int
    cut: int
    dropped: int


@dataclass(frozen=True)
class ScenarioReport:
    """One run, without setup and teardown. The calls are requests; their sums are over all steps.

    In `seconds`, `intended` and `sent` are iterations that were due and that began, and the
    latencies are those of whole iterations; there are none if several scenarios ran. Each of the
    messages is a request that succeeded.
    """

    elapsed_s: float
    calls: Calls
    reported_calls_per_s: float
    latency: Latency
    iterations: Iterations
    steps: tuple[Step, ...]
    seconds: tuple[Second, ...]
    wrong: Wrong

    @property
    def requests_per_s(self) -> float:
        """Requests that succeeded, per second."""
        return self.calls.ok / self.elapsed_s
