"""One run under valgrind (a stub), and what the figures depend on."""

from pathlib import Path

import pytest

from arena.base.errors import HostError
from tests.fakes import a_program
from tools.bench_instructions.counting import _one, conditions_of, cpu_of, require_valgrind
from tools.bench_instructions.figures import FIGURES

UNARY = FIGURES[1]
# It counts 100 instructions for the start of a load, and 7 for each call; its first thread's too.
VALGRIND = """
[ "$1" = --version ] && { echo valgrind-3.19.0; exit; }
for word; do
    case $word in --callgrind-out-file=*) file=${word#*=} ;; esac
    [ "$before" = -n ] && calls=$word
    before=$word
done
echo "totals: $((9 * calls))" >"$file-01"
echo "totals: 40" >"$file-02"
echo "totals: $((60 + 7 * calls))" >"$file-03"
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_a_figure_is_what_a_longer_run_takes_more(path: Path) -> None:
    a_program(path / "valgrind", VALGRIND)
    assert _one(UNARY, Path("volley"), 4711) == 7.0
    assert require_valgrind() == "3.19.0"


def test_a_run_that_fails_is_named(path: Path) -> None:
    a_program(path / "valgrind", "echo 'failed > 0: 3 of 10'; exit 99")
    with pytest.raises(HostError, match="unary call: exit code 99: failed > 0: 3 of 10"):
        _one(UNARY, Path("volley"), 4711)


def test_a_host_without_valgrind_learns_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=r"no valgrind .*apt-get install valgrind"):
        require_valgrind()


def test_a_program_says_how_it_was_built_and_which_rustc_made_it(tmp_path: Path) -> None:
    script = "echo 'volley 0.1.0 (dist; features: lua)' # rustc version 1.95.0 (59807616e)"
    conditions = conditions_of(a_program(tmp_path / "volley", script), "3.19.0")
    assert (conditions.build, conditions.rustc) == ("dist; features: lua", "1.95.0")
    assert conditions.valgrind == "3.19.0"
    conditions = conditions_of(a_program(tmp_path / "old", "echo volley 0.1.0"), "3.19.0")
    assert (conditions.build, conditions.rustc) == ("unknown", "unknown")


def test_only_features_count_that_valgrind_shows_a_program() -> None:
    cpuinfo = "processor\t: 0\nflags\t\t: fpu avx512f avx2 avx\nbugs\t\t: rdseed\n"
    assert cpu_of("x86_64", cpuinfo) == "x86_64 avx avx2"
    assert cpu_of("aarch64", "Features : asimd\n") == "aarch64"
