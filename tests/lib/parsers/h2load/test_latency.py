"""When h2load's latencies are good for more than a mean."""

from dataclasses import replace

from parsers.common.figures import Latency
from parsers.h2load import Figures, as_printed, as_sampled

SAID = Figures(min_ns=1, max_ns=100, mean_ns=50, p50_ns=49, p95_ns=95, p99_ns=99)
PRINTED = Latency(kind="service", samples=10, mean=50, p50=49, p95=95, p99=99, max=100)
NONE = Latency(kind="service", samples=None)
ONLY_MEAN = Latency(kind="service", samples=None, mean=50)


def test_each_thread_keeps_its_share_of_a_million_samples() -> None:
    assert as_printed(SAID, 10, 10, threads=1) == PRINTED
    assert as_printed(SAID, 500_000, 500_000, threads=2).max == 100
    assert as_printed(SAID, 500_001, 500_001, threads=2) == ONLY_MEAN
    assert as_printed(SAID, 256, 256, threads=1_000_000).samples == 256
    assert as_printed(SAID, 257, 257, threads=1_000_000).samples is None


def test_without_the_number_of_threads_the_maximum_may_be_a_samples() -> None:
    assert as_printed(SAID, 10, 10, threads=0) == ONLY_MEAN


def test_latencies_of_calls_that_were_not_ok_are_no_latencies_of_ok_calls() -> None:
    assert as_printed(SAID, 10, 9, threads=1) == NONE
    assert as_sampled(SAID, [1] * 10, 10, 9) == NONE
    assert as_printed(SAID, 0, 0, threads=1) == as_sampled(SAID, [], 0, 0) == NONE


def test_samples_give_exact_percentiles_if_all_are_there() -> None:
    told = as_sampled(SAID, range(1, 1001), 1000, 1000)
    assert (told.samples, told.p50, told.p90, told.p999) == (1000, 500, 900, 999)
    assert (told.max, told.mean) == (1000, 500)
    assert as_sampled(SAID, range(999), 1000, 1000) == replace(ONLY_MEAN, samples=999)
