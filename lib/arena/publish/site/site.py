"""The whole site: every edition, and where its sources are."""

from dataclasses import dataclass
from pathlib import Path

from arena.publish.site.edition import Edition


@dataclass(frozen=True)
class Site:
    """The editions, the current one first, then the rounds, the newest first.

    `templates`, `static` and `docs` are folders: what pages are made of beside the records.
    """

    editions: tuple[Edition, ...]
    templates: Path
    static: Path
    docs: Path

    @property
    def current(self) -> Edition:
        """Return what is measured here now."""
        return self.editions[0]

    @property
    def rounds(self) -> tuple[Edition, ...]:
        """Return the frozen rounds, the newest first."""
        return self.editions[1:]

    @property
    def front(self) -> Edition:
        """Return what people meet first: the newest round, if there is no current record."""
        return self.current if self.current.entries or not self.rounds else self.rounds[0]
