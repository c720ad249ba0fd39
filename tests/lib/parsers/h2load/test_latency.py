"""When h2load's latencies are good for more than a mean."""

from parsers.ghz.report import Latency
from parsers.h2load.latency import Figures, as_printed, as_sampled

SAID = Figures(min_ns=1, max_ns=100, mean_ns=50, p50_ns=49, p95_ns=95, p99_ns=99)
PRINTED = Latency(samples=10, mean_ns=50, p50_ns=49, p95_ns=95, p99_ns=99, max_ns=100)


def test_each_thread_keeps_its_share_of_a_million_samples() -> None:
    assert as_printed(SAID, 10, 10, threads=1) == PRINTED
    assert as_printed(SAID, 500_000, 500_000, threads=2).max_ns == 100
    assert as_printed(SAID, 500_001, 500_001, threads=2) == Latency(samples=None, mean_ns=50)
    assert as_printed(SAID, 256, 256, threads=1_000_000).samples == 256
    assert as_printed(SAID, 257, 257, threads=1_000_000).samples is None


def test_without_the_number_of_threads_the_maximum_may_be_a_samples() -> None:
    assert as_printed(SAID, 10, 10, threads=0) == Latency(samples=None, mean_ns=50)


def test_latencies_of_calls_that_were_not_ok_are_no_latencies_of_ok_calls() -> None:
    assert as_printed(SAID, 10, 9, threads=1) == Latency(samples=None)
    assert as_sampled(SAID, [1] * 10, 10, 9) == Latency(samples=None)
    assert as_printed(SAID, 0, 0, threads=1) == as_sampled(SAID, [], 0, 0) == Latency(samples=None)


def test_samples_give_exact_percentiles_if_all_are_there() -> None:
    told = as_sampled(SAID, range(1, 1001), 1000, 1000)
    assert (told.samples, told.p50_ns, told.p90_ns, told.p999_ns) == (1000, 500, 900, 999)
    assert (told.max_ns, told.mean_ns) == (1000, 500)
    assert as_sampled(SAID, range(999), 1000, 1000) == Latency(samples=999, mean_ns=50)
