"""Lists of CPUs as cpuset(7) and taskset(1) write them."""

import re
from collections.abc import Sequence


def parse_cpus(text: str) -> tuple[int, ...]:
    """Return the CPU numbers in a list like `0-3,8`, as cpuset(7) and taskset write it.

    Raises ValueError for any other text.
    """
    cpus: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part.strip())
        if not match:
            raise ValueError(f"{text!r} is not a CPU list (write 0-3 or 0,2,4)")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"{text!r} is not a CPU list ({part} runs backwards)")
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))


def format_cpus(cpus: Sequence[int]) -> str:
    """Return CPU numbers as a list of ranges: the inverse of parse_cpus."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
