"""A profile as it is run: overrides applied, one connection count."""

from typing import Self

import pydantic

from arena.what.loads.shape import Count
from arena.what.profile import Profile


class MeasuredProfile(Profile):
    """The profile as it was run: overrides applied, one connection count."""

    connection_count: Count

    @pydantic.model_validator(mode="after")
    def _can_be_run(self) -> Self:
        """Refuse a load that never ends or takes days: a record may have any."""
        for key, problem in self.load.problems(self.connections):
            raise ValueError(f"{key}: {problem}")
        return self

    @property
    def label(self) -> str:
        """Its name, with the connection count if several counts have records."""
        count = self.connection_count
        several = len(self.record_connections) > 1 or count not in self.record_connections
        return f"{self.name} at {count} connection{'s' * (count != 1)}" if several else self.name

    @property
    def in_flight(self) -> int:
        """The maximum number of open calls."""
        return self.load.in_flight(self.connection_count)

    def warm_up(self) -> "MeasuredProfile":
        """Return the closed load that warms a server up for this one, without a warm-up itself."""
        load = self.load.warm_up(self.connection_count, self.warmup_s)
        count = min(self.connection_count, load.in_flight(self.connection_count))
        return self.changed(load=load, connection_count=count, warmup_s=0.0)


def measured_profile(profile: Profile, connections: int) -> MeasuredProfile:
    """Return the profile for one of its connection counts."""
    return MeasuredProfile(**dict(profile), connection_count=connections)
