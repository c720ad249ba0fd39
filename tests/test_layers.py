"""The layers of lib/arena are enforced: import-linter refuses a wrong import, by its name."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def lint_imports(root: Path) -> "subprocess.CompletedProcess[str]":
    """Run import-linter as scripts/test.sh does, on the packages below a folder."""
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache"], cwd=root, env={"PYTHONPATH": "lib"},
        check=False, capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("arena/judge/wrong.py", "from arena.measure import session"),
        ("arena/base/wrong.py", "import arena.record"),
        ("arena/measure/wrong.py", "from arena.publish import site"),
        ("parsers/wrong.py", "from arena.base import errors"),
    ],
)
def test_an_import_against_the_flow_of_data_is_refused(
    tmp_path: Path, module: str, line: str
) -> None:
    shutil.copytree(ROOT / "lib", tmp_path / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert lint_imports(tmp_path).returncode == 0
    (tmp_path / "lib" / module).write_text(f'"""Wrong."""\n\n{line}\n')
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done
    assert "BROKEN" in done.stdout
    assert module.removesuffix(".py").replace("/", ".") in done.stdout
