"""The tally of a night: how each session ended, and a table of the counts."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Literal

from arena.base.errors import FrameworkError
from arena.base.text import columns

Fate = Literal["measured", "failed", "earlier", "unchanged", "skipped", "left"]

# The table's columns in order, and whether a column is shown when it is empty.
_ALWAYS: dict[Fate, bool] = {
    "measured": True,
    "failed": True,
    "earlier": False,
    "unchanged": False,
    "skipped": True,
    "left": True,
}

# The fates whose sessions are listed, and their headings.
_NOTED: dict[Fate, str] = {
    "failed": "failed",
    "unchanged": "unchanged",
    "left": "no time left for",
}

_ALL = "all"


@dataclass
class Tally:
    """Counts sessions by framework and fate, and keeps the worst exit code."""

    code: int = 0
    _counts: dict[str, Counter[Fate]] = field(default_factory=lambda: defaultdict(Counter))
    _named: dict[Fate, dict[str, list[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, framework: str, under: str, fate: Fate, code: int = 0) -> None:
        """Count a session of a framework `under` a profile's label."""
        self._counts[framework][fate] += 1
        self._named[fate][under].append(framework)
        self.code = max(self.code, code)

    def add_earlier(self, framework: str, under: str, *, is_good: bool) -> None:
        """Count a session that was made before the night was cut short."""
        if is_good:
            self.add(framework, under, "earlier")
        else:
            self.add(framework, under, "failed", FrameworkError.exit_code)

    def table(self) -> list[str]:
        """Return a line for each framework, sorted by name, and a total."""
        total = sum(self._counts.values(), Counter[Fate]())
        shown = [fate for fate, always in _ALWAYS.items() if always or total[fate]]
        rows = [
            [name, *(str(counts[fate]) for fate in shown)]
            for name, counts in (*sorted(self._counts.items()), (_ALL, total))
        ]
        return columns([["", *shown], *rows], right=range(1, len(shown) + 1))

    def notes(self) -> list[str]:
        """Return the sessions that failed, were unchanged or were left: one line per profile."""
        lines = []
        for fate, what in _NOTED.items():
            if profiles := self._named[fate]:
                lines.append(f"{what}:")
            lines += [f"  {under}: {', '.join(names)}" for under, names in profiles.items()]
        return lines
