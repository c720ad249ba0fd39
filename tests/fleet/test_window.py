"""A load of a fleet is fired at most once; every fault has its words, and leaves nothing behind."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from arena.base.errors import HostError
from arena_fleet import window
from arena_fleet.agent import RefusedError
from arena_fleet.facts import Offset
from arena_fleet.fleet import LostError
from arena_fleet.window import Load, Made, Part, Problem, bound_problem, make
from tests.fleet.conftest import Hosts


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for long."""
    monkeypatch.setattr(window, "COLLECT_S", 1.0)
    monkeypatch.setattr(window, "_START_S", 0.5)
    monkeypatch.setattr(window, "MOST_BOUND_SHARE", 1.0)


def made(
    hosts: Hosts,
    words: dict[int, str] | None = None,
    on_start: Callable[[int], None] = print,
    held: Sequence[str] = (),
) -> Made:
    """Make a load of a tenth of a second; `words` are for the volley of a host.

    Afterwards, all hosts are free but those that are `held`.
    """

    async def work() -> Made:
        parts = [[[words[n]] if words and n in words else []] for n in (1, 2, 3)]
        load = Load(parts, [4, 4, 4], lead_s=0.0, window_s=0.1)
        try:
            return await make(hosts, hosts.members, load, is_counted=True, on_start=on_start)
        finally:
            assert hosts.busy() == list(held)
            for each in hosts.agents.values():
                await each.close()

    return asyncio.run(work())


def failing(hosts: Hosts, name: str, verb: str, error: Exception | None = None) -> None:
    """Let a host fail whenever it is asked for something."""

    def before(asked: str, what: str, _: dict[str, Any]) -> None:
        if (asked, what) == (name, verb):
            raise error or LostError("connection closed")

    hosts.before = before


def test_all_hosts_make_their_share_from_one_moment_on(hosts: Hosts) -> None:
    moments: list[int] = []
    done = made(hosts, on_start=moments.append)
    assert all(isinstance(each, Part) for each in done.parts)
    assert len(moments) == 1
    assert hosts.fired() == 3
    verbs = [verb for name, verb in hosts.asked if name == "g2" and verb != "clock"]
    assert verbs[:3] == ["arm", "open", "fire"]
    assert set(verbs[3:]) == {"collect"}


@pytest.mark.parametrize("verb", ["clock", "arm", "open"])
def test_a_host_that_goes_before_the_start_ends_it_and_nothing_was_fired(
    hosts: Hosts, verb: str
) -> None:
    failing(hosts, "g2", verb)
    with pytest.raises(HostError, match=r"generator 2 of 3: .*no load was made"):
        made(hosts)
    assert hosts.fired() == 0


def test_a_host_that_has_left_the_fleet_ends_it(hosts: Hosts) -> None:
    del hosts.agents["g3"]
    with pytest.raises(HostError, match="generator 3 of 3: it is not in the fleet any more"):
        made(hosts)
    assert hosts.fired() == 0


def test_a_host_that_cannot_connect_ends_it_with_what_volley_said(hosts: Hosts) -> None:
    with pytest.raises(HostError, match=r"generator 3 of 3: is not ready: .*cannot connect"):
        made(hosts, {3: "refused"})
    assert hosts.fired() == 0


def test_a_host_that_is_silent_at_the_barrier_ends_it(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "_OPEN_S", 0.3)
    with pytest.raises(HostError, match="generator 1 of 3: is not ready: no answer"):
        made(hosts, {1: "silent"})
    assert hosts.fired() == 0


def test_a_start_that_one_host_refuses_is_called_back_on_all(hosts: Hosts) -> None:
    failing(hosts, "g2", "fire", RefusedError("the start was made known too late"))
    with pytest.raises(HostError, match="generator 2 of 3: did not confirm the start"):
        made(hosts)


def test_a_start_that_cannot_be_called_back_counts_as_made(hosts: Hosts) -> None:
    def before(name: str, verb: str, _: dict[str, Any]) -> None:
        if name == "g2" and verb in {"fire", "disarm"}:
            raise LostError("connection closed")

    hosts.before = before
    done = made(hosts, held=["g2"])
    assert set(done.parts) == {Problem("generator 2 of 3 did not confirm the start, nor its end")}


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("late", "generator 2 of 3 failed in the window: volley: started too late"),
        ("broken", "generator 2 of 3 failed in the window: volley left no whole report"),
        ("hangs", "generator 2 of 3 did not end in time"),
    ],
)
def test_a_volley_that_fails_in_the_window_spoils_its_part_only(
    hosts: Hosts, word: str, words: str
) -> None:
    first, second, third = made(hosts, {2: word}).parts
    assert isinstance(first, Part)
    assert isinstance(third, Part)
    assert isinstance(second, Problem)
    assert second.words == words
    assert second.detail.startswith("g2")


def test_a_host_that_comes_back_in_time_hands_over_its_part(hosts: Hosts) -> None:
    tries = 0

    def before(name: str, verb: str, _: dict[str, Any]) -> None:
        nonlocal tries
        if (name, verb) == ("g2", "collect"):
            tries += 1
            if tries < 4:
                raise LostError("connection closed")

    hosts.before = before
    assert all(isinstance(each, Part) for each in made(hosts).parts)
    assert hosts.fired() == 3


def test_a_host_that_does_not_come_back_is_numbered_and_the_others_are_kept(hosts: Hosts) -> None:
    failing(hosts, "g2", "collect", LostError("in <TLS tls://10.0.0.2:1>", "connection lost"))
    first, second, third = made(hosts).parts
    assert isinstance(first, Part)
    assert isinstance(third, Part)
    assert second == Problem(
        "generator 2 of 3 ended in the window, or cannot be reached: connection lost",
        "g2: in <TLS tls://10.0.0.2:1>",
    )


def test_a_host_that_was_cut_off_takes_part_in_the_next_load(hosts: Hosts) -> None:
    def before(name: str, verb: str, _: dict[str, Any]) -> None:
        if name == "g2" and verb in {"collect", "disarm"}:
            raise LostError("cut off")

    async def work() -> None:
        load = Load([[[]]] * 3, [4] * 3, lead_s=0.0, window_s=0.1)
        hosts.before = before
        first = await make(hosts, hosts.members, load, is_counted=True, on_start=print)
        assert [type(each) for each in first.parts] == [Part, Problem, Part]
        assert hosts.busy() == ["g2"]
        hosts.before = lambda *_: None
        second = await make(hosts, hosts.members, load, is_counted=True, on_start=print)
        assert {type(each) for each in second.parts} == {Part}
        for each in hosts.agents.values():
            await each.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    "said",
    [
        None, "done", {}, {"state": "done"}, {"state": "failed", "why": 1, "said": ""},
        {"state": "done", "sha256": "", "content": "text"},
        {"state": "done", "sha256": "", "content": b"no zlib"},
    ],
)  # fmt: skip
def test_an_answer_that_cannot_be_read_spoils_one_part_only(hosts: Hosts, said: Any) -> None:
    hosts.after = lambda name, verb, true: said if (name, verb) == ("g2", "collect") else true
    first, second, third = made(hosts).parts
    assert isinstance(first, Part)
    assert isinstance(third, Part)
    assert isinstance(second, Problem)
    assert second.words == "generator 2 of 3's answer cannot be read"


@pytest.mark.parametrize(
    "field", ["threads", "lateness_ns", "opened_ns", "window_ns", "elapsed_ns", "busiest_thread_s"]
)
def test_a_number_that_no_record_may_have_spoils_one_part_only(hosts: Hosts, field: str) -> None:
    def after(name: str, verb: str, true: Any) -> Any:
        is_it = (name, verb) == ("g2", "collect") and "told" in true
        return {**true, "told": {**true["told"], field: 2**63}} if is_it else true

    hosts.after = after
    assert "generator 2 of 3's answer cannot be read" in str(made(hosts).parts[1])


def test_a_report_beyond_all_measure_is_not_unpacked(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "_MOST_BYTES", 3)
    assert [str(each).count("was damaged on its way") for each in made(hosts).parts] == [1, 1, 1]


def test_a_clock_that_is_no_number_ends_it(hosts: Hosts) -> None:
    hosts.after = lambda name, verb, true: "noon" if (name, verb) == ("g2", "clock") else true
    with pytest.raises(HostError, match="generator 2 of 3: its clock is no number; no load"):
        made(hosts)


def test_a_load_that_is_cancelled_ends_on_all_hosts(hosts: Hosts) -> None:
    async def work() -> None:
        begun = asyncio.Event()
        load = Load([[["hangs"]]] * 3, [4] * 3, lead_s=0.0, window_s=60.0)
        task = asyncio.create_task(
            make(hosts, hosts.members, load, is_counted=True, on_start=lambda _: begun.set())
        )
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert hosts.busy() == []
        for each in hosts.agents.values():
            await each.close()

    asyncio.run(work())


def test_clocks_that_are_not_exact_enough_for_a_window_are_refused_before_it(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "MOST_BOUND_SHARE", 0.001)
    two = [Offset(0, 400_000, 800_000), Offset(0, 200_000, 400_000), Offset(0, 700_000, 1_400_000)]
    assert bound_problem(two, 1.1) == ""
    assert "1.10 ms, and a window of 1 s allows 1.00 ms" in bound_problem(two, 1.0)
    monkeypatch.setattr(window, "MOST_BOUND_SHARE", 0.0)
    with pytest.raises(HostError, match="use a longer window or a faster network"):
        made(hosts)
    assert hosts.fired() == 0
