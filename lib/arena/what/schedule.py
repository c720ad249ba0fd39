"""Load schedules: how many calls are due at which time. Keys and shapes are those of ghz.

All shapes are stairs: `step` is added at the end of each `step_duration`. A line has steps of one
second, as in ghz's manual and its pacer. Times are exact, in whole nanoseconds.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from arena.base.model import Frozen
from arena.base.units import format_duration

SECOND_NS = 1_000_000_000
# No load lasts longer than a day.
DAY_S = 24 * 3600

Rps = Annotated[int, Field(ge=1, le=1_000_000)]
Step = Annotated[float, Field(ge=0.001, le=DAY_S)]


class Schedule(Frozen):
    """Calls per second over time.

    A `const` holds `rps`. A `step` or `line` begins at `start` and adds `step`, which may be
    negative, until the rate reaches `end` or `max_duration_s` have passed; then the rate is held.
    Without either, a falling rate goes down to 0, after which no calls are due.
    """

    shape: Literal["const", "step", "line"]
    rps: Rps | None = None
    start: Rps | None = None
    step: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] | None = None
    end: Rps | None = None
    step_duration_s: Step | None = None
    max_duration_s: Step | None = None

    def due_before(self, moments_ns: Iterable[int]) -> Iterator[int]:
        """Yield how many calls are due before each moment, in ns; moments must not decrease."""
        stairs = pairwise(self._stairs())
        (begin, rate), (end, _) = next(stairs)
        area = 0
        for moment_ns in moments_ns:
            while end < moment_ns:
                area += rate * (end - begin)
                (begin, rate), (end, _) = next(stairs)
            yield -(-(area + rate * max(moment_ns - begin, 0)) // SECOND_NS)

    def length_ns(self, calls: int) -> int | None:
        """Return when the last of `calls` calls is due, in ns; None if it never is."""
        area = (calls - 1) * SECOND_NS
        for (begin, rate), (end, _) in pairwise(self._stairs()):
            step = rate * (end - begin)
            if rate and area < step:
                return begin + area // rate
            area -= step
        return None

    @property
    def words(self) -> str:
        """The calls per second over time, in words."""
        if self.shape == "const":
            return f"{self.rps} a second"
        every = "each second"
        if self.shape == "step":
            every = f"every {format_duration(self.step_duration_s or 1)}"
        words = f"from {self.start} a second, {self.step:+} {every}"
        if self.end:
            words += f", to {self.end}"
        if self.max_duration_s:
            words += f", for {format_duration(self.max_duration_s)}"
        return words + (", then held" if self.end or self.max_duration_s else "")

    def problem(self) -> tuple[str, str] | None:
        """Return the key that is wrong, and why; None if the schedule is valid."""
        keys = {
            "const": {"rps"},
            "line": {"start", "step", "end", "max_duration"},
            "step": {"start", "step", "end", "max_duration", "step_duration"},
        }[self.shape]
        given = {
            name.removesuffix("_s")
            for name in self.model_fields_set - {"shape"}
            if getattr(self, name) is not None
        }
        if strange := sorted(given - keys):
            return strange[0], f"is not for a {self.shape} schedule ({', '.join(sorted(keys))})"
        if missing := sorted(keys - given - {"end", "max_duration"}):
            return missing[0], f"is missing: a {self.shape} schedule needs it"
        if {"end", "max_duration"} <= given:
            return "max_duration", "write either this or end: ghz looks at no end beside it"
        if self.step == 0:
            return "step", "is 0, so the rate never changes (write shape: const)"
        if self.step and self.start and self.end and (self.end - self.start) * self.step <= 0:
            away = f"step {self.step} does not lead there from start {self.start}"
            return "end", f"is on the wrong side: {away}"
        return None

    def _stairs(self) -> Iterator[tuple[int, int]]:
        """Yield each rate change as (ns from the start, calls/s); the last one is never reached."""
        never = 1 << 80
        if self.rps is not None:
            yield from ((0, self.rps), (never, 0))
            return
        rate, step = self.start or 0, self.step or 0
        each = round((self.step_duration_s or 1.0) * SECOND_NS)
        most = round(self.max_duration_s * SECOND_NS) if self.max_duration_s else never
        bound = self.end or (0 if step < 0 else never)
        now, held = 0, rate
        while now < most and rate != bound:
            yield now, rate
            now, held = now + each, rate
            rate = min(rate + step, bound) if step > 0 else max(rate + step, bound)
        if now > most:
            rate = held
        now = min(most, now)
        yield from ((now, rate), (never, 0))
