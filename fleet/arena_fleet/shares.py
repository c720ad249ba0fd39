"""How a load is divided among generator hosts.

volley deals out calls and connections in turn to N equal parts. A host with more CPUs takes several
of them, each with a process of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# A host takes at most so many parts by its CPUs; each part is a process.
_MOST_PARTS = 8


@dataclass(frozen=True)
class Share:
    """The parts `first` to `first + count - 1` of `of`, from 1."""

    first: int
    count: int
    of: int

    @property
    def parts(self) -> list[str]:
        """Each part, as volley's --share takes it."""
        return [f"{number}/{self.of}" for number in range(self.first, self.first + self.count)]

    def __str__(self) -> str:
        last = self.first + self.count - 1
        numbers = str(self.first) if self.count == 1 else f"{self.first}-{last}"
        return f"{numbers}/{self.of}"


def divide(cpus: Sequence[float], told: Sequence[int | None]) -> list[Share]:
    """Return the share of each host, by its CPUs, or by the parts that it was told to take.

    If any host was told, a host that was not takes one part. A single host takes two at least:
    volley's report of the whole load is not one that can be merged and checked.
    """
    if any(told):
        counts = [each or 1 for each in told]
    else:
        fewest = min(cpus)
        counts = [min(round(each / fewest), _MOST_PARTS) for each in cpus]
    if sum(counts) == 1:
        counts = [2]
    shares, first = [], 1
    for count in counts:
        shares.append(Share(first, count, sum(counts)))
        first += count
    return shares
