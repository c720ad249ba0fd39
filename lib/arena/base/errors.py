"""The kinds of error, and the exit code of each.

    ArenaError
    ├── UsageError         2  bad usage or bad input: a flag, an environment variable, a file
    ├── HostError          3  this host cannot do it: no Docker, no ghz, port taken, disk full
    ├── GeneratorError     3  the load generator broke, so nothing is known of the framework
    └── FrameworkError     1  the framework failed at a stage; saved as a record
        └── ContractError  1  it answered wrongly; saved as an `invalid` record

A message is one line: what is wrong, where, and what to do. An interrupt ends with 130, and a
closed output (`arena list | head`) with 141: both are 128 plus the signal's number, as in shells.
"""

from pathlib import Path

EXIT_INTERRUPTED = 130
EXIT_NO_READER = 141


class ArenaError(Exception):
    """The base of all errors; its text is the one line that a user reads."""

    exit_code = 3


class UsageError(ArenaError):
    """Bad usage or bad input; the message names the flag, or the file and the key."""

    exit_code = 2


class HostError(ArenaError):
    """The host cannot do what was asked."""


class StageError(ArenaError):
    """A session ended early at `stage`; it is saved, with `log` next to the record.

    `output` holds the last lines of what the failing program printed.
    """

    status = "failed"

    def __init__(
        self, stage: str, reason: str, *, log: Path | None = None, output: str = ""
    ) -> None:
        super().__init__(f"{stage}: {reason}")
        self.stage = stage
        self.reason = reason
        self.log = log
        self.output = output


class GeneratorError(StageError):
    """The load generator broke or was killed: the host's fault, not the framework's."""


class FrameworkError(StageError):
    """The framework failed to build, start, stay up or answer."""

    exit_code = 1


class ContractError(FrameworkError):
    """The framework answered wrongly before or after the load, so it is not ranked."""

    status = "invalid"
