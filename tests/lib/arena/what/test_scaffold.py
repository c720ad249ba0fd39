"""`arena new`: what a scaffolded folder holds, and what cannot be scaffolded."""

import json
import shutil
from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.what import scaffold
from arena.what.framework import framework_names, load_framework, source_files

ROOT = Path(__file__).resolve().parents[4]
CHECKOUT = Workspace(ROOT)
LANGUAGES = sorted(scaffold._MODELS)


@pytest.fixture
def checkout(workspace: Workspace) -> Workspace:
    """Return a checkout with the entries that scaffolds start from."""
    shutil.copytree(ROOT / "scaffold", workspace.root / "scaffold")
    for model in scaffold._MODELS.values():
        shutil.copytree(
            CHECKOUT.framework(model),
            workspace.framework(model),
            ignore=shutil.ignore_patterns(".build"),
        )
    return workspace


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in source_files(folder)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_scaffold_is_its_model_but_for_its_name_and_its_service(
    checkout: Workspace, language: str
) -> None:
    model = scaffold._MODELS[language]
    scaffold.new(checkout, "zz-mine", language)
    made, taken = texts(checkout.framework("zz-mine")), texts(checkout.framework(model))
    made = {name.replace("zz-mine.", f"{model}."): text for name, text in made.items()}
    services = texts(ROOT / "scaffold" / language)
    assert services
    assert set(made) == {*taken, "README.md"}
    assert set(services) < set(taken)
    other = {"README.md", "meta.json", "Cargo.lock", *services}
    for name in set(made) - other:
        assert made[name].replace("zz-mine", model) == taken[name]
    for name, text in services.items():
        assert text.count("TODO: ") == 4
        assert made[name].replace("zz-mine", model) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_scaffold_is_a_framework_that_says_what_is_left_to_do(
    checkout: Workspace, language: str
) -> None:
    scaffold.new(checkout, "my_own-2", language)
    framework = load_framework(checkout.frameworks, "my_own-2")
    model = load_framework(checkout.frameworks, scaffold._MODELS[language])
    assert framework.display_name == "my_own-2"
    assert (framework.language, framework.tests) == (model.language, model.tests)
    assert (framework.type, framework.maintainers) == ("production", ())
    assert framework.native is not None
    assert model.native is not None
    assert framework.native.needs == model.native.needs
    assert {framework.engine, framework.description, framework.repo} == {"TODO"}
    readme = (checkout.framework("my_own-2") / "README.md").read_text()
    assert readme.startswith("# my_own-2\n\nTODO: ")
    assert f"`frameworks/{model.name}`" in readme


def test_programs_stay_programs_and_build_output_is_left_behind(checkout: Workspace) -> None:
    (checkout.framework("grpcio-python") / ".build").mkdir()
    scaffold.new(checkout, "mine", "python")
    folder = checkout.framework("mine")
    assert (folder / "build.sh").stat().st_mode & 0o111
    assert not (folder / ".build").exists()
    assert folder.stat().st_mode & 0o055 == 0o055


def test_only_whole_words_become_the_new_name(checkout: Workspace) -> None:
    model = checkout.framework("grpc-go")
    (model / "words").write_text("x/grpc-go/y 'grpc-go'; grpc-gopher my-grpc-go grpc-go2")
    for name in ("my-grpc-go.x", "grpc-go.x"):
        (model / name).touch()
    scaffold.new(checkout, "mine", "go")
    assert {path.name for path in checkout.framework("mine").glob("*.x")} == {
        "my-grpc-go.x",
        "mine.x",
    }
    words = (checkout.framework("mine") / "words").read_text()
    assert words == "x/mine/y 'mine'; grpc-gopher my-grpc-go grpc-go2"


@pytest.mark.parametrize("name", ["a-first", "zz-last"])
def test_a_cargo_lock_keeps_its_order_under_any_name(checkout: Workspace, name: str) -> None:
    scaffold.new(checkout, name, "rust")
    lock = (checkout.framework(name) / "Cargo.lock").read_text()
    names = [block.split('"')[1] for block in lock.split("[[package]]\n")[1:]]
    assert name in names
    assert names == sorted(names)
    original = (checkout.framework("tonic-grpc") / "Cargo.lock").read_text()
    assert sorted(lock.replace(name, "tonic-grpc").splitlines()) == sorted(original.splitlines())


def test_the_next_steps_name_the_service_and_the_check(checkout: Workspace) -> None:
    lines = "\n".join(scaffold.new(checkout, "mine", "java"))
    assert "src/main/java/benchmark/BenchmarkService.java" in lines
    assert "./scripts/validate.sh mine" in lines


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "Mine",
        "1st",
        "a b",
        "a.b",
        "-a",
        "a-",
        "a--b",
        "all",
        "x" * 65,
    ],
)
def test_a_name_that_some_tool_would_refuse_is_refused(checkout: Workspace, name: str) -> None:
    before = sorted(checkout.frameworks.rglob("*"))
    with pytest.raises(UsageError, match=r"cannot name a new framework: a-z and 0-9 can"):
        scaffold.new(checkout, name, "go")
    assert sorted(checkout.frameworks.rglob("*")) == before


def test_an_unknown_language_is_answered_with_those_there_are(checkout: Workspace) -> None:
    with pytest.raises(UsageError, match=r"no scaffold for `cobol` \(there are: cpp, csharp, "):
        scaffold.new(checkout, "mine", "cobol")
    with pytest.raises(UsageError, match=r"no scaffold for `pyton` \(did you mean python\?\)"):
        scaffold.new(checkout, "mine", "pyton")


def test_what_is_there_is_never_touched(checkout: Workspace) -> None:
    folder = checkout.framework("mine")
    folder.mkdir()
    with pytest.raises(UsageError, match="frameworks/mine is there already"):
        scaffold.new(checkout, "mine", "go")
    assert list(folder.iterdir()) == []


def test_a_scaffold_that_breaks_off_leaves_nothing(checkout: Workspace) -> None:
    (checkout.framework("grpc-go") / "meta.json").write_text("{")
    names = framework_names(checkout.frameworks)
    with pytest.raises(UsageError, match=r"meta\.json: line 1"):
        scaffold.new(checkout, "mine", "go")
    assert framework_names(checkout.frameworks) == names
    assert [path.name for path in checkout.frameworks.iterdir() if path.name[0] == "."] == []


def test_without_its_model_a_language_cannot_be_started(checkout: Workspace) -> None:
    shutil.rmtree(checkout.framework("grpc-go"))
    with pytest.raises(UsageError, match=r"go starts from .*grpc-go, which is not there"):
        scaffold.new(checkout, "mine", "go")


def test_meta_json_is_written_to_be_read(checkout: Workspace) -> None:
    scaffold.new(checkout, "mine", "go")
    text = (checkout.framework("mine") / "meta.json").read_text()
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
