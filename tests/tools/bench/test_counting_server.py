"""The counting server as the bench sees it: its lines, and what is said when it goes (stubs)."""

import shutil
from pathlib import Path

import pytest

from arena.base.errors import HostError
from tests.fakes import FakeProgress, a_program
from tools.bench import counting_server
from tools.bench.counting_server import Counts, build, serving

LISTEN = """echo '{"listen": "127.0.0.1:4711"}'"""


def test_its_port_and_its_counts_are_read_once_no_call_is_open(tmp_path: Path) -> None:
    program = a_program(
        tmp_path / "server",
        f"""
        open=2
        answer() {{
            echo "{{\\"calls\\": $((9 - open)), \\"messages\\": 15, \\"open\\": $open}}"
            open=$((open - 1))
        }}
        trap answer USR1
        {LISTEN}
        while :; do sleep 0.01; done
        """,
    )
    with serving(program, tmp_path) as server:
        assert server.port == 4711
        assert server.answered() == 7
        assert server.counts() == Counts(calls=9, messages=15)


def test_a_server_that_never_listens_is_told_with_its_last_words(tmp_path: Path) -> None:
    program = a_program(tmp_path / "server", "echo no such address >&2; exit 3")
    with (
        pytest.raises(HostError, match=r"server ended \(exit code 3\): no such address$"),
        serving(program, tmp_path),
    ):
        pytest.fail("entered")


def test_a_server_that_goes_is_told(tmp_path: Path) -> None:
    program = a_program(tmp_path / "server", f"trap 'exit 4' USR1; {LISTEN}; while :; do :; done")
    with serving(program, tmp_path) as server:
        for _ in range(2):
            with pytest.raises(HostError, match=r"^the counting server ended \(exit code 4\)$"):
                server.counts()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (LISTEN + "; trap : USR1; while :; do sleep 0.01; done", "does not answer"),
        (
            'trap \'echo "{\\"calls\\": 0, \\"open\\": 3}"\' USR1; '
            + LISTEN
            + "; while :; do sleep 0.01; done",
            "still has 3 calls open",
        ),
    ],
)
def test_a_server_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    program = a_program(tmp_path / "server", script)
    with serving(program, tmp_path) as server:
        monkeypatch.setattr(counting_server, "_PATIENCE_S", 0.3)
        with pytest.raises(HostError, match=said):
            server.counts()


def test_without_go_it_cannot_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(HostError, match="Go is needed on PATH"):
        build(FakeProgress())
