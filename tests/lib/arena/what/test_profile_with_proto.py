"""Profiles with a .proto of their own: what is read of it, and what is refused."""

import json
from pathlib import Path

import pytest
from google.protobuf.message_factory import GetMessageClass

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.what import protos
from arena.what.profile import Profile, load_profile

OWN = """
syntax = "proto3";
package own;
import "common.proto";
import "google/protobuf/empty.proto";

service Things {
  rpc Get(Ask) returns (Thing);
  rpc List(Ask) returns (stream Thing);
  rpc Put(stream Ask) returns (Thing);
  rpc Chat(stream Ask) returns (stream Thing);
  rpc Nothing(google.protobuf.Empty) returns (google.protobuf.Empty);
}

message Thing {
  int32 count = 1;
  fixed64 large = 2;
  bool found = 3;
  Colour colour = 4;
  string name = 5;
  repeated int32 many = 6;
  enum Colour { GREY = 0; RED = 3; }
}
"""

COMMON = """
syntax = "proto3";
package own;

message Ask {
  int32 from = 1;
  int64 pageSize = 2;
  string name = 3;
  bytes raw = 4;
  Inner inner = 5;
  bool wants = 6;
  message Inner { int32 depth = 1; }
}
"""

BASE = """
name: x
title: x
generator: volley
port: 8080
tls: false
connections: [2]
streams_per_connection: 1
duration: 1s
warmup: 1s
runs: 1
pick: best
metric: messages/s
messages_per_call: 1
"""


@pytest.fixture
def folder(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Path:
    (workspace.requests / "own").mkdir()
    (workspace.requests / "own" / "own.proto").write_text(OWN)
    (workspace.requests / "own" / "common.proto").write_text(COMMON)
    monkeypatch.chdir(workspace.profiles)
    return workspace.profiles


def written(
    folder: Path, *, proto: str = "requests/own/own.proto", method: str = "Get", more: str = ""
) -> Profile:
    """Return a profile of these lines; keys of `more` replace those of the base."""
    lines = [*BASE.splitlines(), f"proto: {proto}", f"call: own.Things/{method}", "request: {}"]
    keys = {line.partition(":")[0] for line in more.splitlines()}
    kept = [line for line in lines if line.partition(":")[0] not in keys]
    (folder / "x.yaml").write_text("\n".join([*kept, more]))
    return load_profile(folder, "x")


def refusal(folder: Path, **lines: str) -> str:
    with pytest.raises(UsageError) as caught:
        written(folder, **lines)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_the_health_profile_is_a_unary_call_of_the_standard_service(workspace: Workspace) -> None:
    profile = load_profile(workspace.profiles, "health-grpc")
    assert profile.proto_file == "requests/health.proto"
    assert (profile.method_type, profile.replies) == ("unary", 1)
    assert profile.call_words == "Health/Check"
    assert profile.service == "grpc.health.v1.Health"


@pytest.mark.parametrize(
    ("method", "more", "method_type", "replies"),
    [
        ("Get", "", "unary", 1),
        ("List", "messages_per_call: 7", "server-streaming", 7),
        ("Put", "messages_per_call: 4\nrequests_per_call: 4", "client-streaming", 1),
        ("Chat", "messages_per_call: 7\nrequests_per_call: 4", "bidirectional-streaming", 3),
        ("Nothing", "", "unary", 1),
    ],
)
def test_a_call_of_each_type_says_what_it_counts_as(
    folder: Path, method: str, more: str, method_type: str, replies: int
) -> None:
    profile = written(folder, method=method, more=more)
    assert (profile.method_type, profile.replies) == (method_type, replies)
    assert profile.counted_per_call == profile.messages_per_call


def test_naming_the_benchmarks_own_proto_changes_nothing(folder: Path) -> None:
    (folder / "x.yaml").write_text(
        "extends: unary-grpc\nname: x\nproto: requests/benchmark.proto\n"
    )
    assert load_profile(folder, "x").proto is None


def test_a_child_inherits_the_proto_and_can_remove_it(folder: Path) -> None:
    (folder / "x.yaml").write_text("extends: health-grpc\nname: x\nport: 9090\n")
    assert load_profile(folder, "x").proto_file == "requests/health.proto"
    lines = "call: benchmark.BenchmarkService/GetSum\nexpect: [result = 0]\nproto:\n"
    (folder / "x.yaml").write_text(f"extends: health-grpc\nname: x\n{lines}")
    assert load_profile(folder, "x").proto_file == "requests/benchmark.proto"


@pytest.mark.parametrize(
    ("proto", "said"),
    [
        ("requests/helth.proto",
         "proto: there is no requests/helth.proto (did you mean requests/h"),
        ("requests/none.proto", "proto: there is no requests/none.proto"),
        ("../health.proto", "proto: `../health.proto` is not below requests/: write a path such"),
        ("/etc/health.proto", "proto: `/etc/health.proto` is not below requests/"),
        ("requests/../profiles/a.proto", "proto: `requests/../profiles/a.proto` is not below"),
        ("requests/../requests/health.proto", "proto: `requests/../requests/health.proto` is not"),
        ('"requests/a\\0.proto"', "proto: names no .proto file"),
        (f"requests/{'a' * 300}.proto", "proto: names no .proto file"),
        ("requests", "proto: names no .proto file: write a path such as requests/health.proto"),
        ("5", "proto: names no .proto file"),
        ("[requests/health.proto]", "proto: names no .proto file"),
        ("requests/health.proto", "call: there is no own.Things/Get (there are: grpc.health.v1.H"),
    ],
)  # fmt: skip
def test_a_proto_that_cannot_be_used_is_refused_with_its_file(
    folder: Path, proto: str, said: str
) -> None:
    assert f"x.yaml: {said}" in refusal(folder, proto=proto)


def test_a_link_cannot_lead_out_of_the_checkout(folder: Path) -> None:
    outside = folder.parent.parent / f"{folder.parent.name}-outside.proto"
    outside.write_text(OWN)
    (folder.parent / "requests" / "link.proto").symlink_to(outside)
    assert "proto: `requests/link.proto` is not below requests/" in refusal(
        folder, proto="requests/link.proto"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no proto\n", "cannot be compiled: requests/broken.proto:1:1: Expected top-level"),
        ('syntax = "proto3"; import "absent.proto";', "absent.proto: File not found."),
        ("", "call: there is no own.Things/Get"),
    ],
)  # fmt: skip
def test_a_proto_that_does_not_compile_is_refused_with_protocs_reason(
    folder: Path, text: str, said: str
) -> None:
    (folder.parent / "requests" / "broken.proto").write_text(text)
    assert said in refusal(folder, proto="requests/broken.proto")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("call: own.Things/Got", "call: there is no own.Things/Got (did you mean own.Things/Get"),
        ("call: own.Thing/Get", "call: there is no own.Thing/Get"),
        ("request: {nmae: x}", "request.nmae: the request of Get has only from and inner and name"),
        ("request: {from: '5'}", "request.from: must be a whole number, not '5'"),
        ("request: {from: true}", "request.from: must be a whole number, not True"),
        ("request: {from: 2147483648}", "request.from: does not fit: "),
        ("request: {inner: {deep: 1}}", "request.inner: does not fit: "),
        ("request: {name: 5}", "request.name: does not fit: "),
        ("request: {name: 'a{{.RequestNumber}}'}", "request.name: is a template: each call"),
        (f"request: {{name: '{'x' * 70_000}'}}", "request: has 70004 bytes: more than 65536"),
        ("request: [1]", "request: "),
        ("expect: coount = 1", "expect: the reply has no `coount`: write `colour = …` or `count"),
        ("expect: name = 1", "expect: a rule cannot compare `name`: write `colour"),
        ("expect: many = 1", "expect: a rule cannot compare `many`"),
        ("expect: count = size", "expect: there is no `size`: the request has from and pageSize"),
        ("expect: count = name", "expect: there is no `name`: the request has"),
        ("expect: count = RED", "expect: there is no `RED`"),
        ("expect: colour = GREEN", "expect: there is no `GREEN`"),
        ("expect: count = sum(i)", "expect: there is no `i`"),
        ("expect: count = (1", "expect: `(1` is not a sum or a product of numbers and names"),
        ("expect: count = 2 ** 3", "expect: `2 ** 3` is not a sum"),
        ("expect: count = from()", "expect: `from()` is not a sum"),
        ("messages_per_call: 2", "messages_per_call: must be 1, what one Get moves here"),
        ("requests_per_call: 2", "requests_per_call: must be 1"),
        ("call: own.Things/Put\nrequests_per_call: 3",
         "messages_per_call: must be 3, what one Put moves here"),
        ("call: own.Things/Chat\nrequests_per_call: 3",
         "messages_per_call: must be 4, what one Chat moves here"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_proto_is_named_with_its_key(
    folder: Path, more: str, said: str
) -> None:
    assert f"x.yaml: {said}" in refusal(folder, more=more)


def test_a_call_without_fields_says_so(folder: Path) -> None:
    said = refusal(folder, method="Nothing", more="request: {a: 1}")
    assert "request.a: the request of Nothing has no fields" in said
    assert "the reply has no `a`: it has no number" in refusal(
        folder, method="Nothing", more="expect: a = 1"
    )


def test_a_blast_of_streams_is_refused(folder: Path) -> None:
    said = refusal(
        folder,
        method="List",
        more="kind: blast\nsweep: [2]\nrepetitions: 1\nstreams_per_connection:",
    )
    assert "call: a blast load has unary calls only, and List streams" in said


@pytest.mark.parametrize(
    ("rule", "reply", "wrong"),
    [
        ("count = from + i", {"count": 12}, False),
        ("count = from", {"count": 12}, True),
        ("count = 2 * (from - 1) + sum(pageSize)", {"count": 29}, False),
        ("count = -from", {"count": -10}, False),
        ("count = 4294967297", {"count": 1}, False),
        ("large = -1", {"large": 2**64 - 1}, False),
        ("large = 4294967297", {"large": 1}, True),
        ("found = from", {"found": True}, False),
        ("found = true", {}, True),
        ("found = wants", {"found": True}, False),
        ("colour = RED", {"colour": 3}, False),
        ("colour = 3", {"colour": 3}, False),
        ("colour = GREY", {"colour": 3}, True),
        ("colour = GREY", {}, False),
    ],
)
def test_a_rule_means_what_it_means_to_volley(
    folder: Path, rule: str, reply: dict[str, object], wrong: bool
) -> None:
    more = f"request: {{from: 10, pageSize: 4, wants: true}}\nexpect: {rule}"
    profile = written(folder, more=more)
    method = protos.method_of(profile.proto, profile.call)
    request = protos.request_of(method, profile.request)
    thing = GetMessageClass(method.output_type)(**reply)
    said = protos.wrong(rule, request, 3, thing, 2)
    # Sums are over all three requests: 2 * 9 + 12 is 30.
    if "sum" in rule:
        assert said == f"its count is 29, and the rule is `{rule}`"
    else:
        assert bool(said) == wrong, said


def test_a_record_has_the_type_of_the_call_but_not_the_compiled_proto(folder: Path) -> None:
    profile = written(folder, method="List", more="messages_per_call: 7")
    text = profile.model_dump_json()
    proto = json.loads(text)["proto"]
    assert proto.keys() == {"file", "method_type", "sha256"}
    assert (proto["file"], proto["method_type"]) == ("requests/own/own.proto", "server-streaming")
    read = Profile.model_validate_json(text)
    assert (read.method_type, read.replies) == ("server-streaming", 7)
