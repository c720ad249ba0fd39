"""A runtime that builds each framework once a night, even one that cannot be built."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.base.errors import FrameworkError
from arena.machine.builds import Build
from arena.run.runtimes import Built
from arena.run.runtimes.wrapped import Wrapped
from arena.what.framework import Framework


@dataclass
class BuiltOnce(Wrapped):
    """Another runtime, whose builds are remembered, with their failures."""

    _built: dict[str, Built | FrameworkError] = field(default_factory=dict)

    def build(self, framework: Framework, log: Path) -> Build[Built]:
        """Build it, unless that was done before; FrameworkError if that fails."""
        known = self._built.get(framework.name)
        if isinstance(known, FrameworkError):
            raise known
        if known:
            return known
        try:
            built = yield from self.runtime.build(framework, log)
        except FrameworkError as error:
            self._built[framework.name] = error
            raise
        # Only its first session has waited for what was built ahead.
        self._built[framework.name] = replace(built, ahead_s=0.0)
        return built
