"""The kinds of load, each a frozen model that describes itself.

A new kind is a module here and a member of `Load`; CONTRIBUTING.md lists what else it touches.
"""

from typing import Annotated, get_args

from pydantic import Field

from arena.what.loads.blast import Blast
from arena.what.loads.closed import Closed
from arena.what.loads.scenario import Scenario
from arena.what.loads.scheduled import Scheduled
from arena.what.loads.shape import LoadShape

__all__ = ["KEYS", "KINDS", "Blast", "Closed", "Load", "LoadShape", "Scenario", "Scheduled"]

Load = Annotated[Closed | Scheduled | Blast | Scenario, Field(discriminator="kind")]

# The kinds by name, in listing order.
KINDS: dict[str, type[LoadShape]] = {each.name(): each for each in get_args(get_args(Load)[0])}

# The keys that only a load has.
KEYS = frozenset(key for each in KINDS.values() for key in each.model_fields) - {"kind"}
