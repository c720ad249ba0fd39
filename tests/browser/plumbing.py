"""The site's own server, Debian's browser, npm's tools, and what a visit to a page must not do."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from playwright.sync_api import Browser, Page, Playwright, Request, Response, sync_playwright

from arena.base.writing import locked
from arena.site.serve import ADDRESS, server

ROOT = Path(__file__).resolve().parents[2]
# The site is served from below a path, as on GitHub Pages: no link may begin with a slash.
BELOW = "some/where"
# No page of ours takes nearly as long.
PATIENCE_MS = 15_000
# An interaction is over when the picture that follows it has been painted.
PAINTED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on 127.0.0.1; give its address, which ends with a slash."""
    with server(folder, 0) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        try:
            yield f"http://{ADDRESS}:{serving.server_port}/"
        finally:
            serving.shutdown()
            thread.join()


def chromium_program() -> str | None:
    """Return Debian's browser; another one can be named by $CHROMIUM."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium")


def required_chromium() -> str:
    """Return the browser, for a program that is of no use without it: it ends with code 3."""
    program = chromium_program()
    if not program:
        click.echo("error: there is no chromium (Debian: apt-get install chromium)", err=True)
        sys.exit(3)
    return program


@contextmanager
def started_browser(program: str) -> Iterator[Browser]:
    """Start a browser without a window; root needs it without a sandbox."""
    play: Playwright
    with sync_playwright() as play:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = play.chromium.launch(executable_path=program, args=options)
        try:
            yield browser
        finally:
            browser.close()


def npm_packages() -> Path:
    """Install what package-lock.json names into .tools/, once; return the packages' folder."""
    folder = ROOT / ".tools" / "browser"
    wanted = (Path(__file__).parent / "package-lock.json").read_text()
    marker = folder / "installed.json"
    with locked(folder):
        if not marker.exists() or marker.read_text() != wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(Path(__file__).parent / name, folder)
            install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(install, cwd=folder, check=True)
            marker.write_text(wanted)
    return folder / "node_modules"


@dataclass
class Visit:
    """A page, and all that it did which it should not have done.

    What has one of the `forgiven` words in it is what the test has brought about itself.
    """

    page: Page
    origin: str
    forgiven: tuple[str, ...] = ()
    forgave: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Note errors, dialogs, and requests that leave the origin."""
        page = self.page
        page.on("console", lambda said: self._note("console", said.text, said.type == "error"))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.on("dialog", self._dismiss)
        page.on("request", lambda asked: self._note("request", asked.url, self._leaves(asked.url)))
        page.on("requestfailed", self._failed)
        page.on("response", lambda got: self._note("missing", got.url, got.status >= 400))

    def _note(self, what: str, text: str, is_fault: bool = True) -> None:
        if is_fault:
            line = f"{what}: {text}"
            is_forgiven = any(word in line for word in self.forgiven)
            (self.forgave if is_forgiven else self.faults).append(line)

    def _failed(self, asked: Request) -> None:
        # A page that is left takes along what it was still loading, such as its icon.
        was_left = asked.failure == "net::ERR_ABORTED"
        self._note("failed request", asked.url, not was_left)

    def _dismiss(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _leaves(self, url: str) -> bool:
        return not url.startswith((self.origin, "data:"))

    def open(self, path: str = "") -> Page:
        """Open a page below the site's root, and wait for its scripts."""
        self.page.goto(self.origin + path)
        return self.page


def loaded_sizes(page: Page, url: str) -> dict[str, int]:
    """Open a page; return all that it loads, by address, in bytes as gzip makes them."""
    responses: list[Response] = []
    page.on("response", lambda got: responses.append(got))  # noqa: PLW0108 - it cannot be builtin
    page.goto(url)
    page.wait_for_load_state("networkidle")
    return {each.url: len(gzip.compress(each.body(), 6)) for each in responses}


def axe_violations(page: Page, axe: str) -> list[str]:
    """Run axe-core with all its rules; return a line for each violation."""
    # What comes by way of the debugger is not subject to the page's policy.
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


# To the validator, a file is not of the same origin as the file beside it.
_FROM_A_DISK = "violates Content Security Policy (meta tag): external"


def html_errors(packages: Path, pages: Sequence[Path]) -> list[str]:
    """Check pages with the Nu validator; return a line for each error or warning."""
    jar = packages / "vnu-jar" / "build" / "dist" / "vnu.jar"
    options = ["--exit-zero-always", "--no-langdetect"]
    command = ["java", "-jar", str(jar), *options, "--format", "json", "--stdout"]
    done = subprocess.run([*command, *map(str, pages)], check=True, capture_output=True, text=True)
    return [
        f"{each.get('url')}:{each.get('lastLine')}: {each['message']} {each.get('extract')}"
        for each in json.loads(done.stdout)["messages"]
        if each["type"] != "info" or each.get("subType") == "warning"
        if _FROM_A_DISK not in each["message"]
    ]
