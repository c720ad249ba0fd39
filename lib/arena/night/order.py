"""The order of a night of blocks: pure functions of its seed.

Each item has a random number of its own, so a framework or a load that is left out does not
change the order of the others.
"""

import hashlib
import random
import re
from collections.abc import Iterable
from typing import NamedTuple

_HEX = re.compile("[0-9a-f]{64}")


class Slot(NamedTuple):
    """A framework's turn in each block; a twin is the same framework, entered once more."""

    framework: str
    is_twin: bool = False

    def __str__(self) -> str:
        return f"{self.framework} (twin)" if self.is_twin else self.framework


def seed_of(text: str) -> str:
    """Return 64 hex digits: the text itself if it is that already, or its SHA-256."""
    return text if _HEX.fullmatch(text) else hashlib.sha256(text.encode()).hexdigest()


def loads_of(seed: str, block: int, loads: Iterable[str]) -> list[str]:
    """Return the loads in the order of the pass that has the blocks of this number."""
    return sorted(loads, key=lambda load: (_drawn(seed, f"pass/{block}", load), load))


def visits_of(seed: str, load: str, block: int, slots: Iterable[Slot]) -> list[Slot]:
    """Return the visits of one block, in order."""
    return sorted(slots, key=lambda slot: (_drawn(seed, f"block/{load}/{block}", slot), slot))


def twin_of(seed: str, load: str, frameworks: Iterable[str]) -> str:
    """Return the framework that is entered twice under a load."""
    return min(frameworks, key=lambda name: (_drawn(seed, f"twin/{load}", name), name))


def _drawn(seed: str, what: str, item: object) -> float:
    return random.Random(f"{seed}/{what}/{item}").random()  # noqa: S311 - a shuffle, no secret
