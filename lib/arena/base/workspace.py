"""The folders below the root of a checkout (CONTRIBUTING.md has the layout)."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType


class Workspace:
    """The folders of one checkout. Tests make their own.

    Its results may be elsewhere; what was learned about the host stays. `besides` has the folders
    of frameworks that are not below `frameworks`, by name.
    """

    def __init__(
        self,
        root: Path,
        results: Path | None = None,
        besides: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self.root = root
        self.besides = besides
        # One YAML file per profile, one folder per framework, and the .proto files.
        self.profiles = root / "profiles"
        self.frameworks = root / "frameworks"
        self.requests = root / "requests"
        # The sources of our own generator.
        self.volley = root / "volley"
        # Records, and the leaderboard derived from them.
        self.results = results or root / "results"
        # Frozen sets of records, one file each.
        self.rounds = self.results / "rounds"
        # The diaries of nights, from which they resume, and the bundles of those that have ended.
        self.nights = self.results / "nights"
        # What was learned about this host, and what somebody decided about its results.
        self.host = root / "results" / "host"
        # Templates, scripts and styles of the pages, and the site built from them.
        self.site = root / "site"
        self.public = self.site / "public"
        # What was derived from the records, so that they need not be read again.
        self.cache = self.site / ".build" / "cache.sqlite"
        # The test certificate, mounted as /certs.
        self.certs = root / ".certs"
        # Programs built for this checkout, such as ghz.
        self.tools = root / ".tools"

    def framework(self, name: str) -> Path:
        """Return the folder of one framework."""
        return self.besides.get(name, self.frameworks / name)
