"""Profiles and what they extend."""

import re
from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.what.loads import Blast, Closed, Scheduled
from arena.what.profile import load_profile, profile_names


@pytest.fixture
def folder(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(workspace.profiles)
    return workspace.profiles


STREAM = "extends: stream-grpc\nname: x"


def without(key: str, text: str) -> list[str]:
    """Return the lines of a profile but that of one key."""
    return [line for line in text.splitlines() if not line.startswith(f"{key}:")]


def refusal(folder: Path, *lines: str) -> str:
    """Return why a profile of these lines is refused."""
    (folder / "x.yaml").write_text("\n".join(lines))
    with pytest.raises(UsageError) as caught:
        load_profile(folder, "x")
    return str(caught.value)


def test_the_classic_profile_is_httparenas_workload(folder: Path) -> None:
    profile = load_profile(folder, "stream-grpc")
    assert profile.call == "benchmark.BenchmarkService/StreamSum"
    assert profile.request == {"a": 1, "b": 2, "count": 5000}
    assert profile.messages_per_call == 5000
    assert profile.connections == (64,)
    assert profile.load == Closed(streams_per_connection=4, duration_s=5.0)
    assert (profile.warmup_s, profile.runs) == (2.0, 3)
    assert profile.expect == ("result = a + b + i",)


def test_the_unary_profile_is_httparenas_workload(folder: Path) -> None:
    profile = load_profile(folder, "unary-grpc")
    assert profile.call == "benchmark.BenchmarkService/GetSum"
    assert profile.request == {"a": 1, "b": 2}
    assert (profile.messages_per_call, profile.metric) == (1, "requests/s")
    assert profile.connections == (256, 1024)
    assert profile.load == Closed(streams_per_connection=100, duration_s=5.0)
    assert (profile.warmup_s, profile.runs) == (2.0, 3)
    assert profile.expect == ("result = a + b",)


@pytest.mark.parametrize("name", ["stream-grpc", "unary-grpc"])
def test_a_tls_twin_differs_only_where_its_file_says_so(folder: Path, name: str) -> None:
    plain = load_profile(folder, name).model_dump()
    twin = load_profile(folder, f"{name}-tls").model_dump()
    assert {key for key in plain if plain[key] != twin[key]} == {"name", "title", "port", "tls"}
    assert (twin["port"], twin["tls"]) == (8443, True)


def test_every_profile_of_the_checkout_can_be_read(folder: Path) -> None:
    names = profile_names(folder)
    assert [load_profile(folder, name).name for name in names] == names
    assert profile_names(folder) == sorted(profile_names(folder))


def test_titles_have_commas_in_their_numbers(folder: Path) -> None:
    titles = [load_profile(folder, name).title for name in profile_names(folder)]
    assert any("10,000 a second" in title for title in titles)
    assert not [title for title in titles if re.search("[0-9]{4}", title)]


def test_a_mistyped_name_is_answered_with_the_nearest(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"no profile `stream-grp` \(did you mean stream-grpc,"):
        load_profile(folder, "stream-grp")


def test_a_name_like_nothing_is_answered_with_all(folder: Path) -> None:
    with pytest.raises(
        UsageError, match=r"\(there are: .*stream-grpc, stream-grpc-tls, .*unary-grpc.*\)"
    ):
        load_profile(folder, "zzz")


@pytest.mark.parametrize("name", ["", "..", "../profiles/stream-grpc", "/etc/passwd", "a\0b"])
def test_a_name_cannot_lead_out_of_the_folder(folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match="there is no profile"):
        load_profile(folder, name)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("duration: 5", "duration: 5 is not a duration"),
        ("warmup: 0s", "warmup: '0s' must be at least 1ms"),
        ("duration_s: 5", "duration_s: unknown key (did you mean duration?)"),
        ("warmup_s: 5", "warmup_s: unknown key (did you mean warmup?)"),
        ("load: {kind: blast}", "load: unknown key"),
        ("messages_per_call: 4999", "messages_per_call: must be 5000, what one Stream"),
        ("request: {a: 1, b: 2}", "messages_per_call: must be 1, what one"),
        ("request: {a: 1, count: 0}", "messages_per_call: must be 1, what one"),
        ("call: benchmark.BenchmarkService/GetSum",
         "request.count: the request of GetSum has only a and b"),
        ("request: {a: 1, cuont: 5000}", "request.cuont"),
        ("runs: 0", "runs: Input should be greater than or equal to 1, not 0"),
        ("runs: 101", "runs: "),
        ("port: 65536", "port: "),
        ("connections: []", "connections: "),
        ("connections: [0]", "connections.0: "),
        ("request: {a: 2147483648}", "request.a: "),
        ("call: GetSum", "call: "),
        ("pick: median", "pick: "),
        ("metric: calls/s", "metric: "),
        ("metric: requests/s", "metric: requests/s is for calls that one message answers"),
        ("expect: result = a + c", "expect: there is no `c`: the request has a and b"),
        ("expect: sum = a", "expect: the reply has no `sum`: write `result = …`"),
        ("call: benchmark.BenchmarkService/GetSumm", "call: there is no benchmark.Bench"),
        ("call: Greeter/SayHello", "call: there is no Greeter/SayHello"),
        ("expect: [result]", "expect.0: "),
        ("expect: [result = ]", "expect.0: "),
        ("expect: ['result = a; b']", "expect.0: "),
        ("expect: ['result = a\\nb = 1']", "expect.0: "),
        ("conections: [1]", "conections: unknown key (did you mean connections"),
        ("name: y", "name: must be `x`, like the file"),
        ("like: stream-gprc", "like: there is no profile `stream-gprc`"),
        ("extends: stream", "extends: there is no profile `stream`"),
        ("extends: x", "extends: goes round in a circle"),
        ("extends: [x]", "extends: there is no profile"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named_with_its_file(folder: Path, line: str, said: str) -> None:
    kept = without(line.partition(":")[0], STREAM)
    assert f"x.yaml: {said}" in refusal(folder, *kept, line)


@pytest.mark.parametrize("key", ["runs", "port", "connections"])
def test_true_is_no_number(folder: Path, key: str) -> None:
    said = refusal(folder, "extends: stream-grpc", "name: x", f"{key}: true")
    assert f"x.yaml: {key}: must not be true or false" in said


@pytest.mark.parametrize("key", ["duration", "warmup"])
def test_a_missing_duration_is_called_as_people_write_it(folder: Path, key: str) -> None:
    text = (folder / "stream-grpc.yaml").read_text().replace("name: stream-grpc", "name: x")
    assert f"x.yaml: {key}: is missing (write 5s" in refusal(folder, *without(key, text))


@pytest.mark.parametrize(
    ("wrong", "offered"), [("duratoin", "duration"), ("warmups", "warmup"), ("zzz", "there are")]
)
def test_only_keys_that_may_be_written_are_offered(folder: Path, wrong: str, offered: str) -> None:
    said = refusal(folder, "extends: stream-grpc", "name: x", f"{wrong}: 5s")
    assert re.search(f"x.yaml: {wrong}: unknown key .*{offered}", said)
    assert "duration_s" not in said
    assert "warmup_s" not in said


def test_one_may_be_written_where_a_list_is_meant(folder: Path) -> None:
    (folder / "x.yaml").write_text(
        "extends: stream-grpc\nname: x\nconnections: 8\nexpect: result = a + b + i\n"
    )
    profile = load_profile(folder, "x")
    assert (profile.connections, profile.expect) == ((8,), ("result = a + b + i",))


@pytest.mark.parametrize("rule", ["result = a + b + i", "result = -(2*a) + sum(b)", "result = 0"])
def test_what_replies_must_hold_can_be_written(folder: Path, rule: str) -> None:
    (folder / "x.yaml").write_text(f"extends: stream-grpc\nname: x\nexpect: ['{rule}']")
    assert load_profile(folder, "x").expect == (rule,)


def test_a_request_without_a_count_is_answered_once(folder: Path) -> None:
    unary = "call: benchmark.BenchmarkService/GetSum\nrequest: {a: 1, b: 2}\nmessages_per_call: 1"
    (folder / "x.yaml").write_text(f"extends: stream-grpc\nname: x\n{unary}")
    assert load_profile(folder, "x").replies == 1


def test_a_circle_of_two_is_found(folder: Path) -> None:
    (folder / "y.yaml").write_text("extends: x\nname: y")
    assert "goes round in a circle" in refusal(folder, "extends: y", "name: x")


def test_a_grandchild_inherits_from_both(folder: Path) -> None:
    (folder / "x.yaml").write_text("extends: stream-grpc-tls\nname: x\nduration: 1s")
    profile = load_profile(folder, "x")
    assert (profile.tls, profile.window_s, profile.runs) == (True, 1.0, 3)


# ---- kinds of load


SCHEDULED = """
generator: ghz
title: x
kind: scheduled
call: benchmark.BenchmarkService/GetSum
request: {a: 1, b: 2}
messages_per_call: 1
port: 8080
tls: false
connections: [1]
concurrency: 10
requests: 1000
schedule: {shape: const, rps: 200}
warmup: 2s
runs: 1
pick: best
metric: p99 latency
name: x
"""

BLAST = "extends: blast-unary\nname: x"


@pytest.mark.parametrize(
    ("name", "schedule", "window_s"),
    [
        ("load-const", {"shape": "const", "rps": 200}, 49.995),
        ("load-step-up",
         {"shape": "step", "start": 50, "end": 150, "step": 10, "step_duration_s": 5.0}, 84.993),
        (
            "load-step-down",
            {
                "shape": "step",
                "start": 200,
                "step": -10,
                "step_duration_s": 5.0,
                "max_duration_s": 40.0,
            },
            68.325,
        ),
        ("load-line-up", {"shape": "line", "start": 5, "step": 5}, 62.743),
        ("load-line-down", {"shape": "line", "start": 200, "step": -2, "end": 100}, 74.49),
    ],
)  # fmt: skip
def test_the_schedules_are_ghzs(
    folder: Path, name: str, schedule: dict[str, object], window_s: float
) -> None:
    profile = load_profile(folder, name)
    load = profile.load_as(Scheduled)
    assert load.schedule.model_dump(exclude_none=True) == schedule
    assert profile.window_s == pytest.approx(window_s, abs=1e-3)
    assert (load.requests, load.concurrency, profile.connections) == (10_000, 10, (1,))
    assert profile.record_connections == (1,)


def test_the_blast_is_one_record_of_three_ways(folder: Path) -> None:
    profile = load_profile(folder, "blast-unary")
    assert (profile.connections, profile.record_connections) == ((1, 8, 1000), (1000,))
    load = profile.load_as(Blast)
    assert (load.sweep[0], load.sweep[-1], load.repetitions) == (1, 10_000, 10)


@pytest.mark.parametrize(
    ("name", "up", "replies", "counted"),
    [
        ("unary-grpc", False, 1, 1),
        ("stream-grpc", False, 5000, 5000),
        ("client-stream-grpc", True, 1, 1000),
        ("bidi-grpc", True, 1000, 2000),
    ],
)
def test_what_a_call_moves(
    folder: Path, name: str, *, up: bool, replies: int, counted: int
) -> None:
    profile = load_profile(folder, name)
    assert (profile.streams_up, profile.replies) == (up, replies)
    assert profile.messages_per_call == profile.counted_per_call == counted


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (SCHEDULED, "duration: 5s", "duration: is not for a scheduled load"),
        (SCHEDULED, "sweep: [1]", "sweep: is not for a scheduled load"),
        (SCHEDULED, "kind: burst", "kind: "),
        (SCHEDULED, "requests:", "requests: "),
        (SCHEDULED, "requests: 0", "requests: "),
        (SCHEDULED, "metric: requests/s",
         "metric: requests/s is not for a scheduled load (write p99 latency)"),
        (SCHEDULED, "connections: [11]", "connections: 11 is more than the 10 calls at a time"),
        (SCHEDULED.replace("requests: 1000", "requests: 5"), "connections: [6]",
         "connections: 6 is more than the 5 requests"),
        (STREAM, "connections: [8, 8]", "connections: names a count twice"),
        (SCHEDULED, "schedule: 5", "schedule: "),
        (SCHEDULED, "schedule: {shape: const}", "schedule.rps: is missing: a const schedule"),
        (SCHEDULED, "schedule: {shape: wave, rps: 5}", "schedule.shape: "),
        (SCHEDULED, "schedule: {shape: const, rps: 0}", "schedule.rps: "),
        (SCHEDULED, "schedule: {shape: const, rsp: 5}", "schedule.rsp: unknown key"),
        (SCHEDULED, "schedule: {shape: line, start: 0, step: 5}", "schedule.start: "),
        (SCHEDULED, "schedule: {shape: line, start: 5, step: 0}", "schedule.step: is 0"),
        (SCHEDULED, "schedule: {shape: line, start: 50, step: 5, end: 10}",
         "schedule.end: is on the wrong side: step 5 does not lead there from start 50"),
        (SCHEDULED, "schedule: {shape: line, start: 20, step: -15}",
         "schedule: never ends: its rate falls to 0 before 1000 requests are due"),
        (SCHEDULED.replace("requests: 1000", "requests: 100000"),
         "schedule: {shape: const, rps: 1}",
         "schedule: takes longer than a day to send 100000 requests"),
        (SCHEDULED, "schedule: {shape: step, start: 5, step: 5, step_duration: 5 parsecs}",
         "schedule.step_duration: '5 parsecs' is not a duration"),
        (SCHEDULED, "schedule: {shape: step, start: 5, step: 5, step_duration: 0s}",
         "schedule.step_duration: '0s' must be at least 1ms"),
        (SCHEDULED, "schedule: {shape: step, start: 5, step: 5, step_duration_s: 5}",
         "schedule.step_duration_s: unknown key (did you mean step_duration?)"),
        (BLAST, "call: benchmark.BenchmarkService/CollectSum",
         "call: a blast load has unary calls only"),
        (BLAST, "connections: [1, 10001]", "connections: 10001 is more than the 10000 calls"),
        (BLAST, "sweep: [1, 5, 5]", "sweep: must rise from each number to the next"),
        (BLAST, "sweep: [0, 5]", "sweep.0: "),
        (BLAST, "repetitions: 0", "repetitions: "),
        (BLAST, "requests: 10", "requests: is not for a blast load"),
        (BLAST, "duration: 0s", "duration: '0s' must be at least 1ms"),
        (STREAM, "concurrency: 10", "streams_per_connection: write eit"),
        (STREAM, "duration: 5 parsecs", "duration: '5 parsecs' is not"),
        (STREAM, "requests_per_call: 2", "requests_per_call: must be 1"),
        ("extends: bidi-grpc\nname: x\n", "requests_per_call: 10", "messages_per_call: must be 20"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_the_kind_is_named_with_its_file(
    folder: Path, text: str, line: str, said: str
) -> None:
    kept = without(line.partition(":")[0], text)
    assert f"x.yaml: {said}" in refusal(folder, *kept, line)


@pytest.mark.parametrize("key", ["schedule", "requests", "concurrency"])
def test_a_scheduled_load_without_one_of_its_keys_is_refused(folder: Path, key: str) -> None:
    said = f"x.yaml: {key}: is missing: a scheduled load needs it"
    assert said in refusal(folder, *without(key, SCHEDULED))


@pytest.mark.parametrize("name", ["host", "nights", "rounds"])
def test_a_name_that_a_folder_of_results_has_is_refused(folder: Path, name: str) -> None:
    (folder / f"{name}.yaml").write_text(f"extends: stream-grpc\nname: {name}\n")
    with pytest.raises(UsageError, match=rf"^{name}\.yaml: name: results/{name}/ is no profile's"):
        load_profile(folder, name)
