"""A runtime that builds each framework once a night, even one that cannot be built."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from arena.base.errors import FrameworkError
from arena.measure.builds import Build
from arena.measure.runtimes import Built, Runtime, Server, Unavailable
from arena.what.framework import Framework


@dataclass
class BuiltOnce:
    """Another runtime, whose builds are remembered, with their failures."""

    runtime: Runtime
    name: str = field(init=False)
    _built: dict[str, Built | FrameworkError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name = self.runtime.name

    def unavailable(self, framework: Framework) -> Unavailable | None:
        """Return why this host cannot run the framework this way; None if it can."""
        return self.runtime.unavailable(framework)

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

    def start(
        self, framework: Framework, cpus: Sequence[int] | None, log: Path
    ) -> AbstractContextManager[Server]:
        """Run its server for the block, with output to `log`, and only on `cpus` if given."""
        return self.runtime.start(framework, cpus, log)

    def plan(self, framework: Framework, cpus: Sequence[int] | None) -> list[Sequence[str]]:
        """Return the command lines of build and start."""
        return self.runtime.plan(framework, cpus)
