"""A runtime that builds each framework once a night, even one that cannot be built."""

from dataclasses import dataclass, field
from pathlib import Path

from arena.base.errors import FrameworkError
from arena.measure.builds import Build
from arena.measure.runtimes import Built
from arena.measure.runtimes.wrapped import Wrapped
from arena.what.framework import Framework


@dataclass
class BuiltOnce(Wrapped):
    """Another runtime, whose builds are remembered, with their failures."""

    _built: dict[str, Built | FrameworkError] = field(default_factory=dict)

    def build(self, framework: Framework, log: Path) -> Build[Built]:
        """Build it, unless that was done before; FrameworkError if that fails."""
        if framework.name not in self._built:
            try:
                built = yield from self.runtime.build(framework, log)
                self._built[framework.name] = built
            except FrameworkError as error:
                self._built[framework.name] = error
        known = self._built[framework.name]
        if isinstance(known, FrameworkError):
            raise known
        return known
