"""The committed figures, and how those of today compare with them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median

from arena.base.errors import UsageError
from arena.base.reading import read_json
from arena.base.text import shown

COMMITTED = Path("tools/bench_instructions/committed.json")
"""The file of the committed figures, below the root."""
TOLERANCE = 0.02
_SCHEMA = 1
_TOTAL = re.compile(r"^totals: (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Conditions:
    """What figures depend on besides volley's sources: others make or count other code."""

    build: str
    rustc: str
    glibc: str
    valgrind: str
    cpu: str

    def differences(self, committed: "Conditions") -> str:
        """Return in words what differs from those of the committed figures."""
        theirs = asdict(committed)
        pairs = [(name, own, theirs[name]) for name, own in asdict(self).items()]
        return "; ".join(f"{name} {own}, not {other}" for name, own, other in pairs if own != other)


@dataclass(frozen=True)
class Committed:
    """The committed figures: the instructions of each by its name, and their conditions."""

    conditions: Conditions
    instructions: Mapping[str, float]

    @classmethod
    def of(cls, conditions: Conditions, measured: "Sequence[Measured]") -> "Committed":
        """Return figures of today as they are committed, with five digits."""
        return cls(conditions, {each.name: float(f"{each.instructions:.5g}") for each in measured})

    def to_json(self) -> str:
        """Return the content of its file."""
        return json.dumps({"schema": _SCHEMA, **asdict(self)}, indent=2) + "\n"


def read_committed(path: Path, names: Sequence[str]) -> Committed:
    """Return the committed figures; UsageError unless they are exactly those of `names`."""
    found = read_json(path)
    try:
        committed = Committed(Conditions(**found["conditions"]), found["instructions"])
        is_current = found["schema"] == _SCHEMA and set(committed.instructions) == set(names)
    except (KeyError, TypeError):
        is_current = False
    if not is_current:
        raise UsageError(f"{shown(path)}: does not have today's figures; write it with --write")
    return committed


class Verdict(StrEnum):
    """How a figure compares with the committed one."""

    NONE = "not judged"
    SAME = "ok"
    ABOVE = "ABOVE"
    BELOW = "below"


@dataclass(frozen=True)
class Measured:
    """One figure of today: its instructions in each round; those of another volley, if asked."""

    name: str
    rounds: Sequence[float]
    against: Sequence[float] = ()

    @property
    def instructions(self) -> float:
        """The median of its rounds."""
        return median(self.rounds)

    @property
    def against_instructions(self) -> float:
        """The same of the other volley."""
        return median(self.against)

    @property
    def spread(self) -> float:
        """How far the rounds lie apart, as a share of the median."""
        return (max(self.rounds) - min(self.rounds)) / self.instructions


def total(counted: str) -> int:
    """Return the instructions of a thread from callgrind's output; ValueError without them."""
    found = _TOTAL.search(counted)
    if not found:
        raise ValueError("callgrind's output has no totals")
    return int(found[1])


def marginal(totals: tuple[int, int], lengths: tuple[int, int], units: int) -> float:
    """Return the instructions of one unit, from a short and a long run of so many times `units`."""
    (short, long), (few, many) = totals, lengths
    return (long - short) / ((many - few) * units)


@dataclass(frozen=True)
class Outcome:
    """The figures of today beside the committed ones."""

    conditions: Conditions
    measured: Sequence[Measured]
    committed: Committed

    @property
    def differences(self) -> str:
        """Why the figures cannot be compared, in words; empty if they can."""
        return self.conditions.differences(self.committed.conditions)

    def ratio(self, figure: Measured) -> float:
        """Return a figure as a multiple of the committed one."""
        return figure.instructions / self.committed.instructions[figure.name]

    def verdict(self, figure: Measured) -> Verdict:
        """Return how a figure compares with the committed one."""
        if self.differences:
            return Verdict.NONE
        ratio = self.ratio(figure)
        if ratio > 1 + TOLERANCE:
            return Verdict.ABOVE
        return Verdict.BELOW if ratio < 1 - TOLERANCE else Verdict.SAME

    def names(self, verdict: Verdict) -> str:
        """Return the figures with a verdict and how far they are off, as words; empty without."""
        return ", ".join(
            f"{each.name} ({100 * (self.ratio(each) - 1):+.1f} %)"
            for each in self.measured
            if self.verdict(each) is verdict
        )
