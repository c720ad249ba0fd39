"""The metrics that rank a load, each with its unit, its direction and its words."""

from enum import StrEnum

# The lowest and the highest rate that a search for a capacity tries, in calls/s.
LOWEST_RATE, HIGHEST_RATE = 100, 10_000_000


class Metric(StrEnum):
    """What ranks a load. Rates are per second of elapsed time; all others are nanoseconds.

    The CPU a call is all CPU time of the server in the window ÷ the calls that were OK; the CPU a
    message, ÷ the messages of streams that were answered. A capacity is the highest rate at which
    response times keep a limit. The time to the first reply is that from a server's start to its
    first good reply.
    """

    MESSAGES = "messages/s"
    REQUESTS = "requests/s"
    P99 = "p99 latency"
    CPU = "CPU a call"
    CAPACITY = "calls/s within the limit"
    START = "time to first reply"
    CPU_MESSAGE = "CPU a message"

    @property
    def is_cost(self) -> bool:
        """Whether its figures are CPU time of the server, at a load that is given."""
        return self in {Metric.CPU, Metric.CPU_MESSAGE}

    @property
    def is_latency(self) -> bool:
        """Whether its figures are latencies, which are only bounds if too few calls ended."""
        return self is Metric.P99

    @property
    def is_time(self) -> bool:
        """Whether its figures are times, in nanoseconds."""
        return self in {Metric.P99, Metric.START} or self.is_cost

    @property
    def lower_is_better(self) -> bool:
        """Whether the lowest figure ranks first."""
        return self.is_time

    @property
    def unit(self) -> str:
        """The unit that a load of this metric counts: messages or requests."""
        return "messages" if self in {Metric.MESSAGES, Metric.CPU_MESSAGE} else "requests"

    @property
    def column(self) -> str:
        """The name of its column in a CSV file, with the unit."""
        names = {
            Metric.P99: "p99_ns",
            Metric.CPU: "cpu_ns_per_call",
            Metric.CAPACITY: "calls_per_s_within_the_limit",
            Metric.START: "first_reply_ns",
            Metric.CPU_MESSAGE: "cpu_ns_per_message",
        }
        return names.get(self, f"{self.unit}_per_s")

    def of(self, figure: str) -> str:
        """Return a figure with its metric: `1.02 M messages/s`, `p99 latency 1.20 ms`."""
        return f"{self} {figure}" if self.is_time else f"{figure} {self}"
