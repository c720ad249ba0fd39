"""A scaffolded framework: not one call of it works yet, but everything around them does."""

import shutil
from pathlib import Path

import pytest

from arena.machine.needs import missing
from arena.what import scaffold
from arena.what.framework import load_framework
from tests.integration.plumbing import ROOT, Arena, Outcome

pytestmark = pytest.mark.integration


def validate(arena: Arena, name: str) -> tuple[Outcome, str]:
    """Return how the validation of a framework ended, and its verdict."""
    done = arena.command("validate", name, "--runtime", "native", "--wait")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"{name} ")]
    return done, line.split(maxsplit=1)[1]


# C++, Java, Rust and Zig would take minutes, and are built like others here.
_TRIED = ["csharp", "go", "kotlin", "node", "python", "scala"]


def models(languages: list[str]) -> list[str]:
    """Return those languages whose toolchains are on this machine."""
    natives = {
        each: load_framework(ROOT / "frameworks", scaffold._MODELS[each]).native
        for each in languages
    }
    return [each for each, native in natives.items() if native and not missing(native.needs)]


@pytest.mark.parametrize("language", models(_TRIED))
def test_a_scaffold_fails_by_name_until_its_four_calls_are_filled_in(
    bare: Arena, language: str
) -> None:
    shutil.copytree(ROOT / "scaffold", bare.root / "scaffold")
    model = Path("frameworks") / scaffold._MODELS[language]
    ignored = shutil.ignore_patterns(".build")
    shutil.copytree(ROOT / model, bare.root / model, ignore=ignored)

    done = bare.command("new", "mine", "--language", language)
    assert done.code == 0, done
    assert done.stdout.splitlines()[-1] == "  3. ./scripts/validate.sh mine --runtime native"

    done, verdict = validate(bare, "mine")
    assert done.code == 1
    assert verdict.startswith("FAIL  unary-sum: "), done
    assert "GetSum" in verdict

    overlay = ROOT / "scaffold" / language
    for path in (path.relative_to(overlay) for path in overlay.rglob("*") if path.is_file()):
        filled = (ROOT / model / path).read_text().replace(model.name, "mine")
        (bare.workspace.framework("mine") / path).write_text(filled)
    done, verdict = validate(bare, "mine")
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
    bare: Arena, words: tuple[str, ...], said: str
) -> None:
    bare.add("victim")
    done = bare.command("new", *words)
    assert done.code == 2
    assert said in done.error
