"""Frameworks: their meta.json, and the hash of their source."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import UsageError
from arena.what.framework import framework_names, load_framework, source_sha256

ROOT = Path(__file__).resolve().parents[4]

META = {
    "display_name": "Tonic",
    "language": "Rust",
    "engine": "hyper",
    "type": "tuned",
    "description": "…",
    "repo": "https://example.org",
    "enabled": True,
    "tests": ["unary-grpc", "stream-grpc"],
    "maintainers": ["someone"],
}


def write(folder: Path, name: str, /, **changes: Any) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "meta.json").write_text(json.dumps({**META, **changes}))


def test_an_httparena_entry_is_read_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "tonic")
    framework = load_framework(tmp_path, "tonic")
    assert framework.name == "tonic"
    assert framework.model_dump(mode="json", exclude={"name", "native"}) == META
    assert framework.native is None


# As HttpArena's documentation describes it in 2026, every key of it.
THEIRS = {
    "display_name": "Tonic + proxy (níma)",
    "language": "Rust",
    "engine": "hyper",
    "type": "flagship",
    "mode": "standard",
    "completeness": {"routing": True, "middleware": False},
    "tls_check": True,
    "description": "…",
    "repo": "https://example.org",
    "enabled": True,
    "tests": ["unary-grpc", "baseline-h2"],
    "maintainers": ["someone"],
}


@pytest.mark.parametrize(
    ("type_", "mode", "rules"),
    [
        ("flagship", "standard", "production"),
        ("flagship", "tuned", "tuned"),
        ("emerging", None, "production"),
        ("emerging", "tuned", "tuned"),
        ("experimental", "standard", "production"),
        (None, None, "production"),
        (None, "tuned", "tuned"),
        ("engine", None, "engine"),
        ("engine", "tuned", "engine"),
        ("infrastructure", None, "engine"),
        ("production", None, "production"),
        ("production", "tuned", "tuned"),
        ("tuned", "standard", "tuned"),
    ],
)
def test_httparenas_type_and_mode_say_which_rules_an_entry_follows(
    tmp_path: Path, type_: str | None, mode: str | None, rules: str
) -> None:
    write(tmp_path, "x", **THEIRS | {"type": type_, "mode": mode})
    assert load_framework(tmp_path, "x").type == rules


def test_what_is_httparenas_alone_leaves_no_trace(tmp_path: Path) -> None:
    write(tmp_path, "x", **THEIRS)
    kept = load_framework(tmp_path, "x").model_dump(mode="json", exclude={"name", "native"})
    own = {key: THEIRS[key] for key in kept}
    assert kept == own | {"type": "production"}
    assert set(THEIRS) - set(kept) == {"mode", "completeness", "tls_check"}


def test_tests_are_all_that_an_entry_must_say(tmp_path: Path) -> None:
    (tmp_path / "wtx").mkdir()
    (tmp_path / "wtx" / "meta.json").write_text('{"tests": ["unary-grpc-tls"]}')
    framework = load_framework(tmp_path, "wtx")
    assert (framework.display_name, framework.language) == ("wtx", "unknown")
    assert (framework.type, framework.enabled, framework.native) == ("production", True, None)


def test_null_is_as_good_as_absent(tmp_path: Path) -> None:
    write(tmp_path, "x", **dict.fromkeys([*THEIRS, "native"]) | {"tests": []})
    assert load_framework(tmp_path, "x") == load_framework(write_least(tmp_path), "x")


def write_least(folder: Path) -> Path:
    write(folder / "least", "x")
    (folder / "least" / "x" / "meta.json").write_text('{"tests": []}')
    return folder / "least"


def test_every_framework_of_the_checkout_can_be_read() -> None:
    folder = ROOT / "frameworks"
    names = framework_names(folder)
    assert names
    assert [load_framework(folder, name).name for name in names] == names


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "fast"}, "meta.json: type: "),
        ({"type": ["engine"]}, "meta.json: type: "),
        ({"mode": "turbo"}, "meta.json: mode: must be standard or tuned, not 'turbo'"),
        ({"mode": ["tuned"]}, "meta.json: mode: must be standard or tuned"),
        ({"completness": {}}, r"completness: unknown key \(did you mean completeness"),
        ({"moode": "tuned"}, r"moode: unknown key \(did you mean mode"),
        ({"tests": None}, "meta.json: tests: Field required"),
        ({"tests": "stream-grpc"}, "meta.json: tests: "),
        ({"display_name": ""}, "meta.json: display_name: "),
        ({"name": "other"}, "meta.json: name: unknown key"),
        ({"langauge": "Go"}, r"meta.json: langauge: unknown key \(did you mean language"),
        # The folder's name is the name: that key is none that may be written.
        ({"nane": "x"}, r"meta.json: nane: unknown key (?!.*[ (]name[,?)])"),
        ({"native": {"build": "make"}}, "meta.json: native.run: Field required"),
        ({"native": {"run": ""}}, "meta.json: native.run: "),
        ({"native": {"run": "x", "needs": ["brew:zig"]}}, "native.needs.0: no kind 'brew'; the"),
        ({"native": {"run": "x", "needs": ["gem:"]}}, "needs.0: must be a program, or kind:name"),
        ({"native": {"run": "x", "needs": [":x"]}}, "needs.0: must be a program, or kind:name"),
        ({"native": {"run": "x", "needs": ["a b"]}}, "needs.0: must be a program, or kind:name"),
        ({"enabled": "perhaps"}, "meta.json: enabled: "),
    ],
)
def test_a_wrong_key_is_named_with_its_file(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    write(tmp_path, "x", **changes)
    with pytest.raises(UsageError, match=said):
        load_framework(tmp_path, "x")


def test_a_mistyped_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "grpc-go")
    with pytest.raises(UsageError, match=r"no framework `grpcgo` \(did you mean grpc-go\?\)"):
        load_framework(tmp_path, "grpcgo")


def test_a_folder_that_cannot_name_a_container_is_no_framework(tmp_path: Path) -> None:
    good = ["A", "a-b_c.d", "aspnet_caddy", "b--c__d", "x" * 64]
    bad = ["-bad", "bad-", "bad name", "a..b", "a.-b", "a___b", "_a", "bäd", "x" * 65]
    for name in good + bad:
        write(tmp_path, name)
    (tmp_path / "without-meta").mkdir()
    assert framework_names(tmp_path) == good


def test_names_that_differ_only_in_case_are_refused_together(tmp_path: Path) -> None:
    for name in ("grpc-go", "gRPC-go", "tonic"):
        write(tmp_path, name)
    for name in ("grpc-go", "gRPC-go"):
        with pytest.raises(UsageError, match="the frameworks gRPC-go and grpc-go differ only in"):
            load_framework(tmp_path, name)
    assert load_framework(tmp_path, "tonic").name == "tonic"


def hash_after(folder: Path, path: str, content: str) -> str:
    before = source_sha256(folder)
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return "same" if source_sha256(folder) == before else "other"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("main.go", "other"),
        ("new.go", "other"),
        ("deep/er/file", "other"),
        (".dockerignore", "other"),
        (".build/server", "same"),
        (".git/HEAD", "same"),
        ("deep/__pycache__/x.pyc", "same"),
    ],
)
def test_the_source_hash_follows_the_source_and_nothing_else(
    tmp_path: Path, path: str, expected: str
) -> None:
    (tmp_path / "main.go").write_text("package main")
    assert hash_after(tmp_path, path, "changed") == expected


def test_the_source_hash_tells_names_and_contents_apart(tmp_path: Path) -> None:
    for folder, (name, content) in {"1": ("ab", "c"), "2": ("a", "bc")}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)
    assert source_sha256(tmp_path / "1") != source_sha256(tmp_path / "2")


def test_a_link_counts_as_where_it_points_even_if_nothing_is_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    before = source_sha256(tmp_path)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("elsewhere")
    assert source_sha256(tmp_path) != before


def test_a_name_or_a_target_need_not_be_utf_8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).write_text("x")
    before = source_sha256(tmp_path)
    (tmp_path / "link").symlink_to(os.fsdecode(b"\xff"))
    assert source_sha256(tmp_path) != before


def test_a_link_to_a_folder_above_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "up").symlink_to(tmp_path)
    assert len(source_sha256(tmp_path)) == 64
