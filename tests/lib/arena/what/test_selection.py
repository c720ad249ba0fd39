"""Which frameworks and profiles the words of a command line select."""

import re

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.what import selection
from tests.fakes import FakeProgress, add_framework

# An entry that subscribes to unary-grpc has these as well.
RATES = ["unary-rate-10000", "unary-rate-2000", "unary-rate-500", "unary-rate-half"]
LIKE_UNARY = [*RATES, "cold-start", "unary-capacity", "idle-connections"]


@pytest.fixture(autouse=True)
def _shop(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.root)
    add_framework(workspace, "grpc-go", "stream-grpc", "of-another-runner", "unary-grpc")
    add_framework(workspace, "odd", "of-another-runner")
    add_framework(workspace, "retired-grpc", enabled=False)
    add_framework(workspace, "zz-broken")
    (workspace.frameworks / "zz-broken" / "meta.json").write_text("{")


def profiles_of(workspace: Workspace, framework: str, *words: str) -> list[str]:
    """Return the profiles of one framework, given by a name or a pattern."""
    found = selection.profiles(workspace, selection.frameworks(workspace, framework), words)
    (profiles,) = found.values()
    return [each.name for each in profiles]


@pytest.mark.parametrize(
    ("words", "found", "named", "broken"),
    [
        ("odd", ["odd"], {"odd"}, []),
        ("odd,grpc-go", ["grpc-go", "odd"], {"odd", "grpc-go"}, []),
        ("all", ["grpc-go", "odd", "retired-grpc"], set(), ["zz-broken"]),
        ("*grpc*", ["grpc-go", "retired-grpc"], set(), []),
        ("od?,*-grpc,grpc-go", ["grpc-go", "odd", "retired-grpc"], {"grpc-go"}, []),
        ("all,odd", ["grpc-go", "odd", "retired-grpc"], {"odd"}, ["zz-broken"]),
    ],
)
def test_frameworks_are_selected_by_names_patterns_commas_or_all(
    workspace: Workspace, words: str, found: list[str], named: set[str], broken: list[str]
) -> None:
    selected = selection.frameworks(workspace, words)
    assert [each.name for each in selected.frameworks] == found
    assert selected.named == named
    assert [each.name for each in selected.broken] == broken
    assert selected.is_one == (words == "odd")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("zz-broken", r"^frameworks/zz-broken/meta\.json: line 1: "),
        ("odd,zz-broken", r"^frameworks/zz-broken/meta\.json: line 1: "),
        ("grpcgo", r"^there is no framework `grpcgo` \(did you mean grpc-go"),
        ("odd,grpcgo*", r"^no framework matches `grpcgo\*` \(did you mean grpc-go"),
        ("stream-grpc", "^`stream-grpc` is a profile: frameworks come first, as in `all stream-"),
    ],
)
def test_a_word_without_a_framework_is_an_error(
    workspace: Workspace, words: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        selection.frameworks(workspace, words)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["stream-grpc", *LIKE_UNARY, "unary-grpc"]),
        (["unary-grpc"], ["unary-grpc"]),
        (["*-grpc"], ["stream-grpc", "unary-grpc"]),
        (
            ["unary-*", "stream-grpc", "unary-grpc"],
            ["stream-grpc", *RATES, "unary-capacity", "unary-grpc"],
        ),
        (["unary-rate-500"], ["unary-rate-500"]),
        (["unary-grpc,stream-*"], ["stream-grpc", "unary-grpc"]),
        (["unary-grp?"], ["unary-grpc"]),
        # What matches beside it is not subscribed to.
        (["stream-grpc*"], ["stream-grpc"]),
    ],
)
@pytest.mark.parametrize("framework", ["grpc-go", "grpc-*"])
def test_profiles_are_selected_by_names_patterns_and_commas_and_come_once(
    workspace: Workspace, framework: str, words: list[str], expected: list[str]
) -> None:
    assert profiles_of(workspace, framework, *words) == expected


@pytest.mark.parametrize(
    ("framework", "words", "said"),
    [
        ("odd", [], "^odd subscribes to no profile of this runner"),
        ("odd", ["stream-grpc"], "^odd does not subscribe to stream-grpc: .* of-another-runner"),
        ("odd", ["load-*"], r"^odd does not subscribe to load-\*: "),
    ],
)
def test_a_missing_subscription_is_an_error_only_for_a_framework_that_was_named(
    workspace: Workspace, framework: str, words: list[str], said: str
) -> None:
    assert profiles_of(workspace, f"{framework}*", *words) == []
    with pytest.raises(UsageError, match=said):
        profiles_of(workspace, framework, *words)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("stream-grp", r"^there is no profile `stream-grp` \(did you mean stream-grpc"),
        ("x*", r"^no profile matches `x\*` \(there are: .*stream-grpc"),
        ("unary-grpc,x*", r"^no profile matches `x\*`"),
        ("odd", "^`odd` is a framework: separate frameworks by commas, without spaces$"),
    ],
)
@pytest.mark.parametrize("framework", ["grpc-go", "grpc-*"])
def test_a_word_without_a_profile_is_always_an_error(
    workspace: Workspace, framework: str, word: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        profiles_of(workspace, framework, "stream-grpc", word)


def test_the_lightest_profiles_come_first(workspace: Workspace) -> None:
    tests = ("unary-grpc", "blast-unary", "stream-grpc", "load-const")
    add_framework(workspace, "all-round", *tests)
    expected = [
        "load-const", "stream-grpc", *LIKE_UNARY, "blast-unary", "unary-grpc",
    ]  # fmt: skip
    assert profiles_of(workspace, "all-round") == expected


@pytest.mark.parametrize(
    ("words", "frameworks", "profiles"),
    [
        ([], [], []),
        (["grpc-go", "odd"], ["grpc-go", "odd"], []),
        (["grpc-go,odd", "stream-*"], ["grpc-go", "odd"], ["stream-*"]),
        (["stream-grpc,load-*"], [], ["stream-grpc", "load-*"]),
        (["all", "unary-grpc"], ["all"], ["unary-grpc"]),
        (["*-grpc", "*-grpc"], ["*-grpc"], ["*-grpc"]),
        (["odd", "grpc-*", "*-grpc"], ["odd", "grpc-*"], ["*-grpc"]),
    ],
)
def test_words_of_either_kind_are_told_apart_by_what_they_match_and_then_by_their_place(
    workspace: Workspace, words: list[str], frameworks: list[str], profiles: list[str]
) -> None:
    assert selection.by_kind(workspace, words) == (frameworks, profiles)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["odf"], r"^there is no framework or profile `odf` \(did you mean odd"),
        (["odd", "xyz*"], r"^no framework or profile matches `xyz\*` \(there are: "),
        (["odd,stream-grpc"], "^`odd,stream-grpc`: write the frameworks first, then the profiles"),
        (["*-grpc"], r"^`\*-grpc` matches both .*: write `'\*-grpc' '\*'` .* or `all '\*-grpc'`"),
    ],
)
def test_a_word_of_both_kinds_alone_or_of_neither_is_an_error(
    workspace: Workspace, words: list[str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        selection.by_kind(workspace, words)


# HttpArena's other tests, and names in its style.
OTHERS = (
    "baseline", "baseline-h2", "baseline-h3", "pipelined", "limited-conn", "json", "json-comp",
    "json-tls", "upload", "static", "static-h2", "static-h3", "async-db", "crud", "echo-ws",
    "api-4", "api-16", "assets-4", "gateway-64", "gateway-h3", "production-stack", "mixed",
    "stream", "unary", "unary-grpc-web", "bidi-grpc-tls", "load-sine", "x", "long" * 1000,
)  # fmt: skip


@pytest.mark.parametrize(
    ("test", "meant"),
    [
        ("stream-grcp", "stream-grpc"),
        ("stream-grcp-tls", "stream-grpc-tls"),
        ("steam-grpc", "stream-grpc"),
        ("bidi-grcp", "bidi-grpc"),
        ("Unary_gRPC", "unary-grpc"),
        ("load-setp-pu", "load-step-up"),
    ],
)
def test_a_misspelt_subscription_is_warned_of_and_no_other_runners(
    workspace: Workspace, test: str, meant: str
) -> None:
    add_framework(workspace, "typist", "unary-grpc-tls", test, *OTHERS)
    shows = FakeProgress()
    selection.warn_of_typos(workspace, selection.frameworks(workspace, "typist").frameworks, shows)
    assert shows.lines == [
        f"warning: frameworks/typist/meta.json: tests: no profile `{test}` (did you mean {meant}?)"
    ]


def test_a_folder_named_all_is_refused_and_the_others_are_there(workspace: Workspace) -> None:
    add_framework(workspace, "all", "stream-grpc")
    why = r"^frameworks/all: `all` stands for all frameworks: rename the folder$"
    for words in ("all", "*", "al?,odd"):
        selected = selection.frameworks(workspace, words)
        (broken,) = (each for each in selected.broken if each.name == "all")
        assert re.search(why, str(broken.error))
        assert "odd" in [each.name for each in selected.frameworks]


def test_a_display_name_of_two_frameworks_is_warned_of(workspace: Workspace) -> None:
    add_framework(workspace, "same-a", "stream-grpc", display_name="Same")
    add_framework(workspace, "same-b", "stream-grpc", display_name="sAME")
    shows = FakeProgress()
    selection.warn_of_typos(workspace, selection.frameworks(workspace, "same*").frameworks, shows)
    assert shows.lines == [
        "warning: frameworks/same-b/meta.json: display_name: same-a is called `sAME`, too"
    ]
