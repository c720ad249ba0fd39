"""A runtime around another one."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from arena.run.runtimes import Runtime, Server, Unavailable
from arena.what.framework import Framework


@dataclass
class Wrapped:
    """What a runtime with a build of its own takes from another one: all but the build."""

    runtime: Runtime
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.runtime.name

    def unavailable(self, framework: Framework) -> Unavailable | None:
        """Return why this host cannot run the framework this way; None if it can."""
        return self.runtime.unavailable(framework)

    def start(
        self, framework: Framework, cpus: Sequence[int] | None, log: Path
    ) -> AbstractContextManager[Server]:
        """Run its server for the block, with output to `log`, and only on `cpus` if given."""
        return self.runtime.start(framework, cpus, log)

    def plan(self, framework: Framework, cpus: Sequence[int] | None) -> list[Sequence[str]]:
        """Return the command lines of build and start."""
        return self.runtime.plan(framework, cpus)
