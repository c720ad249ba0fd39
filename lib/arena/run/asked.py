"""What the user asks of a night of blocks, and what of it makes no sense."""

from collections.abc import Mapping
from dataclasses import dataclass

from arena.base.errors import UsageError
from arena.base.progress import Progress
from arena.judge.ranking import RANKED_BLOCKS

# The word for no twin.
NO_TWIN = "none"

# How long a visit waits for a quiet host, unless told otherwise.
QUIET_WAIT_S = 120.0


@dataclass(frozen=True)
class BlockOptions:
    """The options of `--blocks`; `blocks` is None without it. Times are in seconds.

    `twin` are frameworks with commas between them, or `none`; without it, the seed chooses one.
    `block_warm_up` is for trials only.
    """

    blocks: int | None = None
    seed: str | None = None
    twin: str | None = None
    quiet_wait: float | None = None
    block_warm_up: float | None = None

    @property
    def quiet_wait_s(self) -> float:
        """How long a visit waits for a quiet host, at most."""
        return QUIET_WAIT_S if self.quiet_wait is None else self.quiet_wait

    def require_sense(
        self, others: Mapping[str, object], *, is_trial: bool = False, resumes: bool = False
    ) -> None:
        """Raise UsageError if options contradict each other.

        `others` are those that make no sense with blocks, by name, each with the reason as its
        value if it was given, else with None. A night that `resumes` may be one of blocks.
        """
        if self.blocks is None:
            given = {
                "--seed": self.seed,
                "--twin": self.twin,
                "--quiet-wait": None if resumes else self.quiet_wait,
                "--block-warm-up": self.block_warm_up,
            }
            for name, value in given.items():
                if value is not None:
                    raise UsageError(f"{name}: is for blocks (add --blocks)")
            return
        for name, why in others.items():
            if why:
                raise UsageError(f"{name}: makes no sense with --blocks: {why}")
        if self.block_warm_up is not None and not is_trial:
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


def warn_of_few(blocks: int, shows: Progress) -> None:
    """Tell that there are too few blocks for ranks."""
    if blocks < RANKED_BLOCKS:
        shows.say(f"with fewer than {RANKED_BLOCKS} blocks there are intervals, but no ranks")
