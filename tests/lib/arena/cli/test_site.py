"""The site, built and served by the command line."""

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from arena.base.workspace import Workspace
from tests.commandline import Line

ROOT = Path(__file__).resolve().parents[4]


def test_the_page_can_be_published_from_nothing(line: Line, workspace: Workspace) -> None:
    outcome = line("publish")
    assert (outcome.code, outcome.out) == (0, "page: site/public/index.html\n")
    assert "Nothing has been measured" in (workspace.site / "public/index.html").read_text()


def test_the_site_is_served_until_ctrl_c_which_ends_it_quietly(line: Line) -> None:
    root = f"--root={line.workspace.root}"
    with subprocess.Popen(
        [sys.executable, str(ROOT / "lib"), root, "site", "serve"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stdout
        assert serving.stderr
        try:
            address = serving.stdout.readline().split()[1]
            with urllib.request.urlopen(address, timeout=120) as answer:
                assert b"HttpArena" in answer.read()
        finally:
            serving.send_signal(signal.SIGINT)
        assert serving.wait(60) == 0
        assert serving.stderr.read() == ""
    assert address.startswith("http://127.0.0.1:")


def test_a_taken_port_is_one_line(line: Line) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])
        outcome = line("site", "serve", "--port", port)
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err == f"error: port {port} is in use: choose another with --port\n"
