"""A profile as it is run: overrides applied, one connection count."""

from arena.what.profile import Profile

# The most calls in flight that warm a server up for a load that is not a closed one.
_WARM_UP_CALLS = 100


class MeasuredProfile(Profile):
    """The profile as it was run: overrides applied, one connection count."""

    connection_count: int

    @property
    def label(self) -> str:
        """Its name, with the connections where it has records of several counts."""
        count = self.connection_count
        several = len(self.record_connections) > 1
        return f"{self.name} at {count} connection{'s' * (count != 1)}" if several else self.name

    @property
    def in_flight(self) -> int:
        """Calls that are open at any time; in a scheduled load, and in a blast, at most."""
        if self.sweep:
            return self.sweep[-1]
        return self.concurrency or self.connection_count * (self.streams_per_connection or 1)

    def warm_up(self) -> "MeasuredProfile":
        """Return the closed load that warms a server up for this one."""
        changes: dict[str, object] = {"duration_s": self.warmup_s}
        if self.kind != "closed":
            in_flight = min(self.in_flight, _WARM_UP_CALLS)
            changes |= {
                "kind": "closed",
                "schedule": None,
                "requests": None,
                "sweep": (),
                "repetitions": None,
                "concurrency": in_flight,
                "connection_count": min(self.connection_count, in_flight),
            }
        return self.model_copy(update=changes)


def measured_profile(profile: Profile, connections: int) -> MeasuredProfile:
    """Return the profile for one of its connection counts."""
    return MeasuredProfile(**profile.model_dump(), connection_count=connections)
