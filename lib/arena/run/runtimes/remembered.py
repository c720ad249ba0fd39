"""Runtimes around another one that remember builds: one made ahead, or each for a whole night."""

import shutil
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.base.errors import FrameworkError, HostError
from arena.base.workspace import Workspace
from arena.machine.builds import Build
from arena.run.runtimes import Built, Runtime, Server, Unavailable
from arena.what.framework import Framework, source_sha256


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


@dataclass(frozen=True)
class _Ahead:
    """A build that no session has used yet: of which source, its log, and what came of it."""

    source: str
    log: Path
    outcome: Built | FrameworkError


@dataclass
class BuiltAhead(Wrapped):
    """Another runtime: what was built ahead serves the framework's next session, once.

    If the framework's source has changed since, it is built again.
    """

    workspace: Workspace
    _ahead: dict[str, _Ahead] = field(default_factory=dict)

    def ahead(self, framework: Framework) -> Build[None]:
        """Build it for its next session. That session reports a failure.

        If this host cannot build it now, the session tries again.
        """
        log, began = self.workspace.tools / "builds" / f"{framework.name}.log", time.monotonic()
        outcome: Built | FrameworkError
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_bytes(b"")
            source = self._source(framework)
            built = yield from self.runtime.build(framework, log)
            outcome = replace(built, ahead_s=time.monotonic() - began)
        except FrameworkError as error:
            outcome = error
        except (HostError, OSError):
            return
        self._ahead[framework.name] = _Ahead(source, log, outcome)

    def build(self, framework: Framework, log: Path) -> Build[Built]:
        """Build it, unless that was done ahead; FrameworkError if that fails."""
        ahead = self._ahead.pop(framework.name, None)
        if ahead is None or ahead.source != self._source(framework):
            return (yield from self.runtime.build(framework, log))
        shutil.copyfile(ahead.log, log)
        if isinstance(ahead.outcome, Built):
            return ahead.outcome
        error = ahead.outcome
        raise FrameworkError(error.stage, error.reason, log=log, output=error.output)

    def _source(self, framework: Framework) -> str:
        return source_sha256(self.workspace.framework(framework.name))


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
