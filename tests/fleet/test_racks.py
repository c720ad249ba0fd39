"""The racks of a fleet: which are ready, and what becomes of a session when a link breaks."""

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Self, cast

import pytest

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.night.schedule import PlannedLoad, PlannedNight
from arena.run.request import Request
from arena_fleet import fleet
from arena_fleet import racks as module
from arena_fleet.agent import RefusedError
from arena_fleet.facts import boot_id
from arena_fleet.fleet import LostError, Place, Seen, generators_of
from arena_fleet.rack import CHUNK_BYTES, Asked, AskedBlock, Printed, SessionEnd
from arena_fleet.racks import FleetRack, RequestedFleet, run_session
from tests.fakes import FakeProgress, a_request
from tests.fleet.test_facts import NEAR, host

ASKED = Asked(request=a_request("alpha", ("quick",)), night="night")
PLANNED = PlannedNight(seed="0" * 64, host_class="x", loads=(), left_out={}, sources={})
BLOCK = AskedBlock(number=1, planned=PLANNED)
RESULTS = bytes(range(256)) * 40


@dataclass
class Host:
    """A server host that can be asked. `lasts` is how often it is watched before it ends.

    The first `waits` times, the session waits for another one.
    """

    lasts: int = 3
    part: int = 4096
    task_error: Exception | None = None
    waits: int = 0
    before: Callable[[str, int], None] = lambda *_: None
    asked: list[str] = field(default_factory=list)
    sent: bytes = RESULTS
    change: dict[str, Any] | None = field(default_factory=dict)
    watched: Callable[[Any], Any] = lambda said: said
    fetched: Callable[[bytes], Any] = lambda said: said

    async def names(self) -> list[str]:
        return ["s1"]

    async def task(self, name: str, verb: str, resource: str, **given: Any) -> Any:
        assert (name, verb, resource) == ("s1", "session", "rack:big")
        assert Asked.model_validate(given["asked"]).request.frameworks == ("alpha",)
        while self.asked.count("watch") < self.lasts:  # noqa: ASYNC110
            await asyncio.sleep(0)
        if self.task_error:
            raise self.task_error
        return self.change if self.change is None else {
            "code": 1, "error": "why", "bytes": len(RESULTS), "events": [],
            "sha256": hashlib.sha256(RESULTS).hexdigest(), **self.change,
        }  # fmt: skip

    async def call(self, name: str, verb: str, deadline_s: float, **given: Any) -> Any:
        self.asked.append(verb)
        self.before(verb, self.asked.count(verb))
        if verb == "watch":
            waits = self.asked.count("watch") <= self.waits
            if self.asked.count("watch") > self.lasts:
                return self.watched({"text": "the last\n", "at": 25, "waits": waits})
            text = "" if given["at"] else "block 1\nblock 2\n"
            return self.watched({"text": text, "at": 16, "waits": waits})
        if verb == "fetch":
            return self.fetched(self.sent[given["at"] : given["at"] + self.part])
        return None


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOK_S", 0.01)
    monkeypatch.setattr(module, "_AGAIN_S", 0.0)


def run(calls: Host, lines: "deque[str] | None" = None) -> SessionEnd:
    return asyncio.run(
        run_session(calls, "s1", "rack:big", ASKED, deque() if lines is None else lines)
    )


def test_a_session_is_watched_until_it_ends_and_its_results_come_in_parts() -> None:
    lines: deque[str] = deque()
    calls = Host()
    assert run(calls, lines) == SessionEnd(1, "why", RESULTS)
    assert list(lines) == ["block 1", "block 2", "the last"]
    assert calls.asked.count("fetch") == 3
    assert "end" not in calls.asked


def test_a_part_that_is_lost_is_fetched_again() -> None:
    def before(verb: str, times: int) -> None:
        if (verb, times) == ("fetch", 2):
            raise LostError("connection closed")

    assert run(Host(before=before)).archive == RESULTS


def test_results_that_change_on_their_way_are_no_results() -> None:
    with pytest.raises(LostError, match="damaged on their way"):
        run(Host(sent=RESULTS[::-1]))


def test_a_rack_that_ends_is_lost_at_once() -> None:
    calls = Host(task_error=LostError("KilledWorker"))
    with pytest.raises(LostError, match="KilledWorker"):
        run(calls)


def test_a_session_that_was_begun_before_is_refused() -> None:
    with pytest.raises(RefusedError, match="never made twice"):
        run(Host(task_error=RefusedError("this session was begun before, and is never made twice")))


def test_a_rack_that_is_silent_for_long_is_lost_and_a_short_silence_is_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def silent(verb: str, times: int) -> None:
        if verb == "watch" and times > 1:
            raise LostError("no answer within 3.0 s")

    assert run(Host(lasts=4, before=silent)).code == 1
    monkeypatch.setattr(module, "SILENT_S", 0.05)
    calls = Host(lasts=10**9, before=silent)
    with pytest.raises(LostError, match=r"no answer for 0.05 s \(no answer within 3.0 s\)"):
        run(calls)
    assert calls.asked[-1] == "end"


def test_a_worker_that_starts_again_gets_its_session_when_it_is_back() -> None:
    def before(verb: str, times: int) -> None:
        if verb == "facts" and times < 3:
            raise LostError("it is not in the fleet")

    assert run(Host(before=before)).code == 1


def test_a_session_of_a_worker_that_is_not_back_does_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def before(verb: str, _: int) -> None:
        if verb == "facts":
            raise LostError("it is not in the fleet")

    monkeypatch.setattr(module, "SILENT_S", 0.05)
    calls = Host(before=before)
    assert run(calls) == SessionEnd(3, "it is not in the fleet", b"")
    assert set(calls.asked) == {"facts"}


def test_a_session_waits_for_a_night_that_ends_and_says_so_once() -> None:
    lines: deque[str] = deque()
    assert run(Host(waits=2), lines).code == 1
    assert [each for each in lines if "it waits for another session" in each] == [lines[2]]


def test_a_session_does_not_wait_for_another_night_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_OTHER_S", 0.05)
    calls = Host(lasts=10**9, waits=10**9)
    ended = run(calls)
    assert (ended.code, ended.archive) == (3, b"")
    assert "another night uses this rack" in ended.error
    assert calls.asked[-1] == "end"
    calls = Host(lasts=20, waits=20)
    asked = ASKED.changed(request=ASKED.request.changed(wait=True))
    ended = asyncio.run(run_session(calls, "s1", "rack:big", asked, deque()))
    assert (ended.code, ended.archive) == (1, RESULTS)


def test_results_that_are_too_large_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    calls = Host()
    with pytest.raises(LostError, match="at most 100 are taken"):
        run(calls)
    assert "fetch" not in calls.asked


DONE = {"event": "done", "load": "quick/4", "block": 1, "attempt": 1}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (None, "cannot be read"),
        ({"code": "x"}, "cannot be read"),
        ({"bytes": -1}, "cannot be read"),
        ({"sha256": "x"}, "cannot be read"),
        ({"events": [{"event": "done"}]}, "cannot be read"),
        ({"events": [{**DONE, "block": 10**30}]}, "a block that it was not asked for"),
        ({"events": [{**DONE, "load": "other/4"}]}, "a block that it was not asked for"),
        ({"events": [{**DONE, "framework": "beta"}]}, "a block that it was not asked for"),
        ({"events": [DONE]}, ""),
    ],
)
def test_an_answer_that_is_not_that_of_the_session_is_lost(change: Any, why: str) -> None:
    load = PlannedLoad(
        load="quick/4", exactly="x", blocks=2, frameworks=("alpha",), twins=(), warm_ups_s={}
    )
    block = BLOCK.changed(planned=PLANNED.changed(loads=(load,)))
    calls, asked = Host(change=change), ASKED.changed(block=block)
    with pytest.raises(LostError, match=why) if why else nullcontext():
        asyncio.run(run_session(calls, "s1", "rack:big", asked, deque()))
    assert "end" not in calls.asked
    if not why:  # A session without blocks has no events.
        with pytest.raises(LostError, match="a block that it was not asked for"):
            run(Host(change=change))


@pytest.mark.parametrize("part", ["text", None, [1000]])
def test_results_that_are_no_bytes_are_lost(part: Any) -> None:
    with pytest.raises(LostError, match="its results cannot be fetched"):
        run(Host(fetched=lambda _: part))


@pytest.mark.parametrize("said", [None, {}, {"text": "x", "at": -1, "waits": False}])
def test_a_watch_that_cannot_be_read_is_a_silence(
    monkeypatch: pytest.MonkeyPatch, said: Any
) -> None:
    monkeypatch.setattr(module, "SILENT_S", 0.05)
    with pytest.raises(LostError, match=r"no answer for 0.05 s \(its answer cannot be read"):
        run(Host(lasts=10**9, watched=lambda _: said))


def test_a_chunk_of_a_log_is_shown_whole() -> None:
    text = "x" * CHUNK_BYTES
    assert Printed(text=text, at=1, waits=False).text == text


@pytest.mark.parametrize("said", [None, {}, {"host_class": "x", "words": 1}])
def test_an_offer_that_cannot_be_read_is_one_line(said: Any) -> None:
    link = SimpleNamespace(call=lambda *_, **__: None, wait=lambda _: said)
    generator = SimpleNamespace(facts=host())
    around = cast("Any", SimpleNamespace(members=[generator]))
    rack = FleetRack("a", "s1", "big", around, cast("Any", link), FakeProgress())
    with pytest.raises(HostError, match=r"its answer cannot be read: use the same checkout"):
        rack.offer("native", ["alpha"])


class Idle:
    """A link whose work never ends."""

    def begin(self, work: Any) -> Self:
        work.close()
        return self

    def done(self) -> bool:
        return False


@pytest.mark.parametrize(("block", "shown"), [(None, 2), (BLOCK, 3)])
def test_the_error_of_a_single_session_is_left_to_its_end(
    block: AskedBlock | None, shown: int
) -> None:
    shows = FakeProgress()
    rack = FleetRack("a", "s1", "big", cast("Any", None), cast("Any", Idle()), shows)
    rack.begin(ASKED.changed(block=block))
    ends = "error: port 8080 is taken: the night ends here (--resume continues the night)"
    rack._lines.extend(["block 1", "built", "warning: x", "error: port 8080 is taken", ends])
    assert rack.poll() is None
    lines = ["block 1", "warning: x", "error: port 8080 is taken"][:shown]
    assert shows.lines == [f"rack a: {each}" for each in lines]


def test_a_session_that_is_cancelled_ends_on_the_rack() -> None:
    calls = Host(lasts=10**9)

    async def work() -> None:
        doing = asyncio.ensure_future(run_session(calls, "s1", "rack:big", ASKED, deque()))
        while "watch" not in calls.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)

    asyncio.run(work())
    assert calls.asked[-1] == "end"


def seen(
    name: str, rack: str, *, serves: bool = False, is_there: bool = True, **facts: Any
) -> Seen:
    known = host(name=name, **facts) if is_there else None
    why = "" if is_there else "no answer"
    return Seen(name, known, NEAR, why, Place(rack, serves))


RACKS = [
    seen("g1", "a"), seen("s1", "a", serves=True),
    seen("g2", "b"), seen("s2", "b", serves=True, host_class="big"),
]  # fmt: skip


def found(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    hosts: list[Seen],
    wanted: str | None,
    shows: FakeProgress | None = None,
) -> Any:
    around = (cast("Any", None), hosts, "10.0.0.9")
    monkeypatch.setattr(module, "look_around", lambda _, address: {"tls://h:1": around}[address])
    request = Request(fleet="tls://h:1", host_class=wanted)
    return RequestedFleet(workspace, request, {}, shows or FakeProgress()).racks()


def test_a_fleet_without_server_hosts_has_no_racks(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found(workspace, monkeypatch, [seen("g1", "")], None) is None


def test_the_racks_of_one_class_are_found_with_their_own_generators(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"--class: .* choose big or default"):
        found(workspace, monkeypatch, RACKS, None)
    [rack] = found(workspace, monkeypatch, RACKS, "big").racks
    assert (rack.name, rack.server) == ("b", "s2")
    assert [each.facts.name for each in rack.fleet.members] == ["g2"]
    with pytest.raises(HostError, match="no rack of the class small is ready"):
        found(workspace, monkeypatch, RACKS, "small")


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ([seen("s3", "c", serves=True)], "it has no generator hosts (start workers with --rack c)"),
        ([seen("g3", "c")], "it has no server host (start its worker with --rack c --serves)"),
        ([seen("g3", "c", is_there=False), seen("s3", "c", serves=True)], "no answer"),
        ([seen("g3", "c"), seen("s3", "c", serves=True, is_there=False)], "no answer"),
        (
            [seen("g3", "c"), *(seen(n, "c", serves=True) for n in ("s3", "s4"))],
            "it has 2 server hosts, and needs one",
        ),
        (
            [seen("g3", "c", boot_id="x"), seen("s3", "c", serves=True, boot_id="x")],
            "it is the machine of s3, which runs the server",
        ),
    ],
)
def test_a_rack_that_is_not_ready_is_left_out_for_the_reason_that_the_status_has(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    hosts: list[Seen],
    words: str,
) -> None:
    hosts, shows = [*RACKS[:2], *hosts], FakeProgress()
    ready = found(workspace, monkeypatch, hosts, None, shows).racks
    assert [each.name for each in ready] == ["a"]
    [line] = shows.lines
    assert line.startswith("warning: rack c is left out: ")
    assert line.endswith(words)
    monkeypatch.setattr(fleet, "look_around", lambda *_: (None, hosts, "10.0.0.9"))
    assert fleet.show(workspace, "tls://h:1") == 3
    assert f": not ready: {words}\n" in capsys.readouterr().out


def test_a_rack_that_is_played_on_one_machine_is_ready(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = seen("g1", "a", boot_id="x", is_local=True)
    hosts = [generator, seen("s1", "a", serves=True, boot_id="x", is_local=True)]
    assert len(found(workspace, monkeypatch, hosts, None).racks) == 1


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ([seen("g1", "")], "ready"),
        ([seen("g1", "", is_busy=True)], "busy"),
        (
            [seen("g1", "", boot_id=boot_id())],
            "ready for servers on other machines (it is this machine)",
        ),
        ([seen("g1", "", boot_id=boot_id(), is_local=True)], "ready"),
    ],
)
def test_the_status_says_what_a_host_is_ready_for(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    hosts: list[Seen],
    words: str,
) -> None:
    monkeypatch.setattr(fleet, "look_around", lambda *_: (None, hosts, "10.0.0.9"))
    assert fleet.show(workspace, "tls://h:1") == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.partition("± 0.100: ")[2] == words


def test_the_status_compares_the_generators_of_a_rack_with_each_other(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = seen("g2", "b", volley_sha256="b" * 64)
    hosts = [*RACKS[:2], other, RACKS[3]]
    monkeypatch.setattr(fleet, "look_around", lambda *_: (None, hosts, "10.0.0.9"))
    assert fleet.show(workspace, "tls://h:1") == 0
    hosts.append(seen("g3", "b"))
    assert fleet.show(workspace, "tls://h:1") == 3
    assert capsys.readouterr().out.count("is not that of generator 1") == 1


def test_a_benchmark_uses_the_generators_of_its_own_rack() -> None:
    hosts = [*RACKS[:3], seen("s2", "b", serves=True, boot_id=boot_id())]
    assert [each.name for each in generators_of(hosts, None)] == ["g2"]
    assert [each.name for each in generators_of(hosts, "a")] == ["g1"]
    assert [each.name for each in generators_of([seen("g9", "")], None)] == ["g9"]
    with pytest.raises(HostError, match=r"serves no rack \(racks: a, b\)"):
        generators_of(RACKS, None)
    with pytest.raises(HostError, match="rack x has no generator hosts"):
        generators_of(RACKS, "x")


def test_a_worker_declares_its_place_as_resources() -> None:
    for place in (Place(), Place("a"), Place("a", serves=True)):
        assert Place.read(place.resources("big")) == place
    assert Place("a", serves=True).resources("big") == {"rack:big": 1, "in:a": 1}
    assert Place().resources("big") == {"generator:big": 1}


def test_a_rack_without_a_fleet_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="--rack: is for a fleet"):
        a_request("alpha", rack="a").require_sense()
