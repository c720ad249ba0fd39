"""What a server does that no service should: one plain line each on the page of its framework."""

from collections.abc import Iterable
from typing import Any

import pytest

from arena.record.measurement import Second
from arena.record.record import Record
from arena.site.pages import frameworks
from parsers.common.figures import Streams
from tests.fakes import a_run
from tests.lib.arena.judge.visits import paced, visited
from tests.lib.arena.site.editions import an_edition, pages_of, site_of, text_of


def lines(records: Iterable[Record], name: str) -> str:
    html = pages_of(site_of(an_edition(*records)), frameworks)[f"frameworks/{name}/index.html"]
    return text_of(html)


def night_of(name: str, **more: Any) -> list[Record]:
    """Return eight visits of a framework at 2,000 calls a second, beside those of a good one."""
    found = []
    for block in range(1, 9):
        found.append(paced("good", 50, block, 2 * block))
        found.append(paced(name, 60, block, 2 * block + 1, **more))
    return found


def test_a_server_that_cannot_keep_the_rate_is_said() -> None:
    records = night_of("slow", ok=9_000)
    assert "slow cannot keep the rate : less than 99% of what was due was answered" in lines(
        records, "slow"
    )
    assert "cannot keep" not in lines(records, "good")


@pytest.mark.parametrize(("sent", "stalls"), [(2000, True), (0, False)])
def test_a_server_that_answers_nothing_for_a_second_is_said(sent: int, stalls: bool) -> None:
    records = night_of("frozen")
    second = Second(ok=0, failed=0, messages=0, intended=2000, sent=sent)
    records = [
        each.model_copy(update={"runs": tuple(run.changed(seconds=(second,)) for run in each.runs)})
        if each.framework.name == "frozen"
        else each
        for each in records
    ]
    said = "frozen stalls : for a whole second or longer, it answered none of the open calls"
    assert (said in lines(records, "frozen")) == stalls
    assert "stalls" not in lines(records, "good")


def test_a_server_that_loses_streams_is_said_with_how_many() -> None:
    profile = {
        "name": "stream-live", "kind": "live", "generator": "volley", "metric": "CPU a message",
        "call": "benchmark.BenchmarkService/EchoSum", "request": {"a": 1, "b": 2},
        "messages_per_call": 2, "streams": 1000, "rate": 1, "duration_s": 5.0,
    }  # fmt: skip
    kept = Streams(
        connections=16, wanted=1000, open_first=1000, open_last=1000, broken=0, refused=0,
        due=5000, sent=5000, late=0, answered=5000, unanswered=0,
    )  # fmt: skip
    leaky = Streams(**{**vars(kept), "open_last": 990, "broken": 30})
    records = [
        visited(
            name, 1000, block, minute=2 * block + place, profile=profile,
            runs=[a_run(1000, ok=5000).changed(streams=streams)],
        )
        for block in range(1, 9)
        for place, (name, streams) in enumerate((("good", kept), ("leaky", leaky)))
    ]  # fmt: skip
    assert "leaky loses 40 streams : so many broke, were refused, or were not open" in lines(
        records, "leaky"
    )
    assert "loses" not in lines(records, "good")
