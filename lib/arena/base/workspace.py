"""Where everything lives below one root folder (CONTRIBUTING.md has the layout)."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Workspace:
    """The folders of one checkout. Tests make one of their own."""

    root: Path

    @property
    def profiles(self) -> Path:
        """One YAML a profile."""
        return self.root / "profiles"

    @property
    def frameworks(self) -> Path:
        """One folder a framework."""
        return self.root / "frameworks"

    def framework(self, name: str) -> Path:
        """Return the folder of one framework."""
        return self.frameworks / name

    @property
    def requests(self) -> Path:
        """The service's .proto."""
        return self.root / "requests"

    @property
    def volley(self) -> Path:
        """The sources of our own generator."""
        return self.root / "volley"

    @property
    def results(self) -> Path:
        """Records, and the leaderboard derived from them."""
        return self.root / "results"

    @property
    def rounds(self) -> Path:
        """Frozen sets of records, one folder each."""
        return self.results / "rounds"

    @property
    def nights(self) -> Path:
        """The diaries of nights, which go on from them when they were cut short."""
        return self.results / "nights"

    @property
    def site(self) -> Path:
        """Templates, scripts and styles of the pages."""
        return self.root / "site"

    @property
    def public(self) -> Path:
        """The site that is built of them, and of the records."""
        return self.site / "public"

    @property
    def certs(self) -> Path:
        """The test certificate, mounted as /certs."""
        return self.root / ".certs"

    @property
    def tools(self) -> Path:
        """Programs built for this checkout, like ghz."""
        return self.root / ".tools"
