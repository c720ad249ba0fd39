"""A scaffolded framework: not one call of it works yet, but everything around them does."""

import shutil
from pathlib import Path

import pytest

from arena.base.workspace import Workspace
from arena.machine.builds import missing
from arena.what import scaffold
from arena.what.environment import Ports
from arena.what.framework import load_framework
from tests.integration.plumbing import ROOT, Arena, Outcome

pytestmark = pytest.mark.integration


# These tests run beside those that need the host for themselves, so their servers have other ports.
_PORTS = Ports(9080, 9443)


@pytest.fixture
def arena(workspace: Workspace) -> Arena:
    """Return a checkout in which nothing is measured."""
    return Arena(workspace, Path("no ghz"))


def validate(arena: Arena, name: str) -> tuple[Outcome, str]:
    """Return how the validation of a framework ended, and its verdict.

    It runs as a part of a validation: without the lock of the host.
    """
    words = ("validate", name, "--runtime", "native", "--part")
    done = arena.command(*words, **_PORTS.environment)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"{name} ")]
    return done, line.split(maxsplit=1)[1]


# C++, Java, Kotlin, Rust, Scala and Zig would take minutes, and are built like others here. C#'s
# server has fixed ports.
_TRIED = ["go", "node", "python"]


def models(languages: list[str]) -> list[str]:
    """Return those languages whose toolchains are on this machine."""
    natives = {
        each: load_framework(ROOT / "frameworks", scaffold._MODELS[each]).native
        for each in languages
    }
    return [each for each, native in natives.items() if native and not missing(native.needs)]


@pytest.mark.parametrize("language", models(_TRIED))
def test_a_scaffold_fails_by_name_until_its_four_calls_are_filled_in(
    arena: Arena, language: str
) -> None:
    shutil.copytree(ROOT / "scaffold", arena.root / "scaffold")
    model = Path("frameworks") / scaffold._MODELS[language]
    ignored = shutil.ignore_patterns(".build")
    shutil.copytree(ROOT / model, arena.root / model, ignore=ignored)

    done = arena.command("new", "mine", "--language", language)
    assert done.code == 0, done
    assert done.stdout.splitlines()[-1] == "  3. ./scripts/validate.sh mine --runtime native"

    done, verdict = validate(arena, "mine")
    assert done.code == 1
    assert verdict.startswith("FAIL  unary-sum: "), done
    assert "GetSum" in verdict

    overlay = ROOT / "scaffold" / language
    for path in (path.relative_to(overlay) for path in overlay.rglob("*") if path.is_file()):
        filled = (ROOT / model / path).read_text().replace(model.name, "mine")
        (arena.workspace.framework("mine") / path).write_text(filled)
    done, verdict = validate(arena, "mine")
    assert done.code == 0, done
    assert verdict.split()[0] in {"PASS", "WARN"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("mine", "--language", "cobol"),
            "there is no scaffold for `cobol` (there are: cpp, csharp, ",
        ),
        (("Mine!", "--language", "go"), "`Mine!` cannot name a new framework"),
        (("victim", "--language", "go"), "frameworks/victim is there already"),
        (("mine",), "Missing option '--language'"),
    ],
)
def test_what_cannot_be_scaffolded_is_said_in_a_line(
    arena: Arena, words: tuple[str, ...], said: str
) -> None:
    arena.add("victim")
    done = arena.command("new", *words)
    assert done.code == 2
    assert said in done.error
