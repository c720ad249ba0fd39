"""volley's histograms, read without a library."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from parsers.common.hdr import TAIL_SHARE, tail_of

VOLLEY = Path(__file__).parents[2] / "fixtures" / "volley"


def latencies() -> dict[str, Any]:
    """Return the latencies of 500 calls as volley wrote them."""
    return dict(json.loads((VOLLEY / "open-loop.json").read_text())["volley"]["latency_ns"])


def test_a_tail_has_the_longest_times_and_their_counts() -> None:
    told = latencies()
    tail = tail_of(told["histogram"], told["max"])
    assert [ns for ns, _ in tail] == sorted((ns for ns, _ in tail), reverse=True)
    assert tail[0] == (told["max"], 1)
    assert sum(count for _, count in tail) >= TAIL_SHARE * told["samples"]
    # One in a hundred is beyond p99, which is in a bucket that the tail may join with others.
    assert tail[-1][0] == pytest.approx(told["p99"], rel=0.01) or tail[-1][0] > told["p99"]


def test_a_tail_reaches_to_p99_of_every_capture() -> None:
    for path in sorted(VOLLEY.glob("*.json")):
        told = json.loads(path.read_text()).get("volley", {}).get("latency_ns") or {}
        if not told.get("histogram"):
            continue
        tail = tail_of(told["histogram"], told["max"])
        beyond = sum(count for ns, count in tail if ns > told["p99"])
        assert TAIL_SHARE * told["samples"] <= sum(count for _, count in tail), path
        # All of a bucket have the highest time of it: also those that are below p99.
        assert beyond <= TAIL_SHARE * told["samples"] + max(count for _, count in tail), path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("?", "is no HdrHistogram"),
        ("AAAA", "is no HdrHistogram"),
        (base64.b64encode(b"\x1c\x84\x93\x14\x00\x00\x00\x04abcd").decode(), "is no HdrHistogram"),
    ],
)
def test_what_is_no_histogram_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tail_of(text, 1)


def test_a_histogram_that_is_cut_short_is_refused_or_shorter() -> None:
    data = base64.b64decode(latencies()["histogram"])
    for length in range(len(data)):
        try:
            tail = tail_of(base64.b64encode(data[:length]).decode(), 1)
        except ValueError:
            continue
        assert all(count > 0 for _, count in tail)
