"""`arena new`: the folder of a new framework, complete except for its four calls.

Everything else is copied from an entry that is measured here: ports, TLS, signals, errors, build
and image exist once, so a fix to the entry also fixes the scaffold. The files of
scaffold/<language>/ replace those of the copy: the service, with calls to fill in.
"""

import json
import re
import shutil
import tempfile
from pathlib import Path

from arena.base.errors import UsageError
from arena.base.reading import read_input, read_json
from arena.base.text import nearest, shown
from arena.base.workspace import Workspace
from arena.base.writing import DRAFT
from arena.what import selection
from arena.what.framework import is_framework_name, source_files

# Which entry each language starts from.
_MODELS = {
    "cpp": "grpc-cpp", "csharp": "aspnet-grpc", "go": "grpc-go", "java": "grpc-java",
    "kotlin": "grpc-kotlin", "node": "grpc-node", "python": "grpcio-python", "rust": "tonic-grpc",
    "scala": "scalapb-grpc", "zig": "zig-grpc",
}  # fmt: skip

# The package names that Go, npm, Cargo and Maven all accept.
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")


def new(workspace: Workspace, name: str, language: str) -> list[str]:
    """Make frameworks/<name>; return the next steps as lines. UsageError if it cannot be made."""
    folder = workspace.framework(name)
    if not (is_framework_name(name) and _NAME.fullmatch(name)) or name == selection.ALL:
        raise UsageError(
            f"`{name}` cannot name a new framework: a-z and 0-9 can, a letter first, "
            f"with single - or _ between, up to 64 in all, and not `{selection.ALL}`"
        )
    if language not in _MODELS:
        raise UsageError(
            f"--language: there is no scaffold for `{language}`{nearest(language, list(_MODELS))}"
        )
    if folder.exists():
        raise UsageError(f"{shown(folder)} is there already")
    services = _build(workspace, folder, language)
    return [
        f"{shown(folder)}: a copy of {_MODELS[language]} without its four RPC methods. Next:",
        f"  1. write the four methods in {', '.join(services)}",
        "  2. replace each TODO in meta.json and README.md; docs/rules.md has the rules",
        f"  3. ./scripts/validate.sh {name} --runtime native",
    ]


def _build(workspace: Workspace, folder: Path, language: str) -> list[str]:
    """Build the folder next to its place, then move it there; return the service's files."""
    model = workspace.framework(_MODELS[language])
    if not model.is_dir():
        raise UsageError(f"--language: {language} starts from {shown(model)}, which is not there")
    overlay = workspace.root / "scaffold" / language
    services = sorted(path.relative_to(overlay).as_posix() for path in source_files(overlay))
    with tempfile.TemporaryDirectory(dir=workspace.frameworks, prefix=DRAFT) as temporary:
        draft = Path(temporary) / folder.name
        for source in (model, overlay):
            _copy(source, draft, model.name)
        _write_meta(draft)
        _write_readme(workspace, draft, model.name, services)
        draft.rename(folder)
    return services


def _copy(source: Path, target: Path, model: str) -> None:
    """Copy a folder's sources; replace the model's name, as a whole word, by the new one.

    Files named after the model, such as a .csproj, get the new name.
    """
    word = re.compile(rb"(?<![\w-])" + re.escape(model.encode()) + rb"(?![\w-])")
    for path in source_files(source):
        is_named = path.name.startswith(f"{model}.")
        own = target.name + path.name.removeprefix(model) if is_named else path.name
        copy = target / path.relative_to(source).with_name(own)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
        content = word.sub(target.name.encode(), path.read_bytes())
        copy.write_bytes(_in_order(content) if path.name == "Cargo.lock" else content)


def _in_order(lock: bytes) -> bytes:
    """Sort a Cargo.lock's packages by name: with --locked, Cargo accepts no other order."""
    head, *packages = lock.split(b"[[package]]\n")
    blocks = [b"[[package]]\n" + each.rstrip(b"\n") for each in packages]
    # `name = "..."` is a block's first key. Several versions of a package stay in order.
    blocks.sort(key=lambda block: block.split(b'"')[1])
    return head + b"\n\n".join(blocks) + b"\n"


def _write_meta(draft: Path) -> None:
    """Keep the parts of the model's meta.json that hold for the new framework."""
    meta = read_json(draft / "meta.json") | {
        "display_name": draft.name,
        "engine": "TODO",
        "type": "production",
        "description": "TODO",
        "repo": "TODO",
        "maintainers": [],
    }
    (draft / "meta.json").write_text(json.dumps(meta, indent=2, ensure_ascii=False) + "\n")


def _write_readme(workspace: Workspace, draft: Path, model: str, services: list[str]) -> None:
    import jinja2

    template = read_input(workspace.root / "scaffold" / "README.md.j2")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - it is no web page
    )
    text = environment.from_string(template).render(name=draft.name, model=model, services=services)
    (draft / "README.md").write_text(text)
