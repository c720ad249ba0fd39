"""What h2load's counts say of each call, and which counts cannot be."""

import pytest

from parsers.common.values import ParseError

from .reports import counts


def test_failed_includes_errored_and_nothing_is_counted_twice() -> None:
    calls = counts(
        total=100, started=100, done=100, succeeded=60, failed=40, errored=10,
        client_errors=12, server_errors=8,
    ).calls()  # fmt: skip
    assert calls.ok == 60
    assert calls.failed == {"HTTP 4xx": 12, "HTTP 5xx": 8, "failed": 10, "errored": 10}


def test_responses_whose_streams_were_reset_later_do_not_make_more_failures_than_there_are() -> (
    None
):
    calls = counts(
        total=10, started=10, done=10, succeeded=0, failed=10, errored=6,
        client_errors=7, server_errors=3,
    ).calls()  # fmt: skip
    assert calls.failed == {"HTTP 4xx": 4, "errored": 6}


def test_a_redirect_is_no_ok_call() -> None:
    calls = counts(total=10, started=10, done=10, succeeded=10, redirects=4).calls()
    assert (calls.ok, calls.failed) == (6, {"HTTP 3xx": 4})


def test_timeouts_are_part_of_errored_where_calls_were_lost() -> None:
    """Seen: `-n 500000 -N 300ms` at a server that stands still."""
    calls = counts(
        total=500_000, started=33_910, done=33_870, succeeded=33_870, failed=466_130,
        errored=466_130, timeout=40,
    ).calls()  # fmt: skip
    assert calls.failed == {"errored": 466_090, "timeout": 40}
    assert calls.cut == 0


def test_in_a_timed_run_timeouts_are_neither_errored_nor_cut() -> None:
    calls = counts(total=90, started=100, done=90, succeeded=90, timeout=4).calls()
    assert (calls.failed, calls.cut) == ({"timeout": 4}, 6)


def test_calls_begun_in_the_warm_up_make_no_negative_count() -> None:
    assert counts(total=50, started=40, done=50, succeeded=50).calls().cut == 0


@pytest.mark.parametrize(
    "impossible",
    [
        {"total": 9, "done": 10, "succeeded": 10},
        {"total": 10, "done": 10, "succeeded": 8, "failed": 2, "errored": 3},
        {"total": 10, "done": 7, "succeeded": 8, "failed": 2, "errored": 2},
        {"total": 10, "done": 11, "succeeded": 8, "failed": 2, "errored": 1},
    ],
)
def test_counts_that_contradict_one_another_are_refused(impossible: dict[str, int]) -> None:
    with pytest.raises(ParseError, match="do not add up"):
        counts(**impossible).calls()
