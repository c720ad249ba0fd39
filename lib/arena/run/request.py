"""What a command line asks for, from the options of a verb to the plans of its sessions."""

from collections.abc import Mapping

from arena.base.errors import UsageError
from arena.base.model import Frozen
from arena.what.environment import FLEET_GENERATOR
from arena.what.selection import ALL

# The word for no twin.
NO_TWIN = "none"

# How long a visit waits for a quiet host, unless told otherwise.
QUIET_WAIT_S = 120.0


class Request(Frozen):
    """A request; None leaves a choice to the profile, the host or the seed. Times are in seconds.

    `frameworks` and `profiles` are names and patterns, with or without commas; without any of them,
    it asks for all. `connections` select among a profile's counts in a night, and override them
    otherwise. `twin` are frameworks with commas between them, or `none`. `quarantine` is how far a
    rack may be off its class, in percent. `server_quota` is how many CPUs' time a server may use.
    """

    frameworks: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    connections: tuple[int, ...] | None = None
    runs: int | None = None
    duration: float | None = None
    requests: int | None = None
    runtime: str = "auto"
    generator: str | None = None
    fleet: str | None = None
    rack: str | None = None
    host_class: str | None = None
    quarantine: float | None = None
    server_quota: float | None = None
    ready_timeout: float = 60.0
    wait: bool = False
    dry_run: bool = False
    no_save: bool = False
    resume: bool = False
    only_changed: bool = False
    budget: float | None = None
    blocks: int | None = None
    seed: str | None = None
    twin: str | None = None
    quiet_wait: float | None = None
    block_warm_up: float | None = None

    @property
    def selected(self) -> str:
        """The frameworks as one list, or `all`."""
        return ",".join(self.frameworks) if self.frameworks else ALL

    @property
    def made_by(self) -> str | None:
        """The generator of all loads, if the user has chosen one."""
        return FLEET_GENERATOR if self.fleet else self.generator

    @property
    def quiet_wait_s(self) -> float:
        """How long a visit waits for a quiet host, at most."""
        return QUIET_WAIT_S if self.quiet_wait is None else self.quiet_wait

    def require_sense(self) -> None:
        """Raise UsageError if options contradict each other."""
        if self.rack and not self.fleet:
            raise UsageError("--rack: is for a fleet (add --fleet ADDRESS)")
        if self.blocks is None:
            of_blocks = {
                "--seed": self.seed,
                "--twin": self.twin,
                # What is resumed may be a night of blocks.
                "--quiet-wait": None if self.resume else self.quiet_wait,
                "--block-warm-up": self.block_warm_up,
            }
            for name, value in of_blocks.items():
                if value is not None:
                    raise UsageError(f"{name}: is for blocks (add --blocks)")
            return
        unfit = {
            "--runs": self.runs
            and "a visit makes one run; in the first block, it makes the profile's",
            "--no-save": self.no_save and "blocks are made of records",
            "--only-changed": self.only_changed and "a block measures all frameworks",
        }
        for name, why in unfit.items():
            if why:
                raise UsageError(f"{name}: makes no sense with --blocks: {why}")
        if self.block_warm_up is not None and self.duration is None:
            raise UsageError("--block-warm-up: is for trials (add --duration)")

    def twins_of(self, frameworks: Mapping[str, object]) -> tuple[str, ...] | None:
        """Return the twins that were named; None if the seed chooses.

        UsageError if one is not among the frameworks.
        """
        if self.twin is None:
            return None
        named = () if self.twin == NO_TWIN else tuple(dict.fromkeys(self.twin.split(",")))
        for name in named:
            if name not in frameworks:
                raise UsageError(f"--twin: `{name}` is not among the measured frameworks")
        return named
