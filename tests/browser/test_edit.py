"""The page of `volley edit`: the real program, a real browser, and files on a disk."""

import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.plumbing import axe_violations
from tests.integration.plumbing import ROOT
from tests.volley.plumbing import Volley
from tools.bench_scenarios.servers import Running, serving

Edit = Callable[..., Page]

SHOP = (ROOT / "volley" / "examples" / "shop.yaml").read_text()
# What a file may say without doing anything.
HOSTILE = """\
targets: {api: "http://127.0.0.1:9/<img src=x onerror=alert(1)>"}
scenarios:
  "<img src=x onerror=alert(2)>":
    steps:
      - {name: "<script>alert(3)</script>", get: "${api}/", text: "<b>a</b> & \\"b\\""}
  __proto__: {steps: [{name: a, get: "${api}/"}]}
  constructor: {steps: [{name: b, get: "${api}/"}]}
tags: {note: "<i>x</i>"}
"""
# Each kind of field, and a mistake.
EVERY_SHAPE = """\
targets: {a: http://127.0.0.1:9, b: [http://127.0.0.1:9, http://127.0.0.1:10], c: {hosts: http://127.0.0.1:9}}
data: {sku: {range: [0, 10], width: 8, order: random}}
scenarios:
  first:
    weight: many
    cookies: true
    steps:
      - name: create
        post: ${a}/v1/items
        json: {sku: "${sku}"}
        expect: {status: [200, 201], headers: {location: {starts_with: /}, etag: a}}
        save: {url: {header: location}, all: body}
        think: [50ms, 150ms]
      - {think: 1s}
load: [{users: 0..2, for: 1s}, {users: 2, iterations: 5}]
on_failure: continue
thresholds: [failed < 1%, {that: dropped < 1%, abort_after: 1s}]
"""
# Bodies, and a condition whose type counts.
BODY = """\
targets: {api: http://127.0.0.1:9}
scenarios:
  s:
    steps:
      - {name: a, post: "${api}/a", json: {owner: ann}}
      - name: b
        post: ${api}/b
        text: t
        expect: {json: {/rev: "1"}}
"""


@pytest.fixture(scope="module")
def page_script() -> None:
    """Skip where the page cannot be made; the program of the tests has it otherwise."""
    if not shutil.which("npm"):
        pytest.skip("there is no npm")


@contextmanager
def served(volley: Path, file: Path) -> Iterator[str]:
    """Run `volley edit`; give the page's address. Ctrl-C must end it well."""
    process = subprocess.Popen(
        [volley, "edit", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def edit(page_script: None, volley_program: Path, visit: Open, tmp_path: Path) -> Iterator[Edit]:
    """Return what opens a file of the test's folder, with a text if there is one."""
    with ExitStack() as stack:

        def start(name: str, text: str | bytes | None = None, *forgiven: str) -> Page:
            file = tmp_path / name
            if text is not None:
                file.write_bytes(text.encode() if isinstance(text, str) else text)
            address, _, token = stack.enter_context(served(volley_program, file)).partition("#")
            page = visit(address, *forgiven, viewport={"width": 1400, "height": 900}).open(
                f"#{token}"
            )
            stack.callback(page.close)  # before its server ends
            expect(page.locator("#name")).to_have_text(name)
            checked(page)
            return page

        yield start


@pytest.fixture
def server(volley_program: Path, tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path / "server"
    folder.mkdir()
    with serving([str(volley_program), "serve", "--listen=127.0.0.1:0"], folder) as running:
        yield running


def checked(page: Page) -> None:
    """Wait until the last change has been checked."""
    expect(page.locator("#verdict")).to_have_text(re.compile("mistake"))


def at(page: Page, path: str) -> Locator:
    """Return the row of a key, and open all that it is in."""
    keys = path.split("/")
    for length in range(1, len(keys)):
        details = row(page, keys[:length]).locator("details").first
        if details.get_attribute("open") is None:
            details.locator("summary").first.click()
    return row(page, keys)


def row(page: Page, keys: list[str]) -> Locator:
    return page.locator(f'[data-schemapath="{".".join(["root", *keys])}"]').first


def field(page: Page, path: str) -> Locator:
    return at(page, path).locator(".field > :is(input, textarea, select)").first


def add(page: Page, path: str, key: str) -> None:
    """Add a key, with the controls at the end of its map."""
    at(page, f"{path}/x")  # opens it
    controls = row(page, path.split("/")).locator(".add").last
    if controls.locator("select").count():
        controls.locator("select").select_option(key)
        controls.get_by_role("button").click()
    else:
        controls.locator("input").fill(key)
        controls.locator("input").press("Enter")


def saved(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#state")).to_have_text("saved")


def test_a_scenario_is_made_from_nothing_checked_run_once_saved_and_run(
    edit: Edit, server: Running, volley_program: Path, tmp_path: Path
) -> None:
    page = edit("new.yaml")
    expect(page.locator("#state")).to_have_text("new, not saved yet")
    field(page, "targets/api").fill(f"http://127.0.0.1:{server.port}")
    steps = "scenarios/first/steps"
    row(page, f"{steps}/0".split("/")).get_by_role("button", name="Remove steps 1").click()
    row(page, steps.split("/")).get_by_role("button", name="Add to steps").click()
    add(page, f"{steps}/0", "name")
    field(page, f"{steps}/0/name").fill("create")
    add(page, f"{steps}/0", "post")
    # The focus is there already.
    page.keyboard.type("${apo}/v1/items")
    expect(page.locator("#verdict")).to_have_text("1 mistake")
    post = at(page, f"{steps}/0/post")
    expect(post.locator(".mistake")).to_contain_text("apo")
    expect(field(page, f"{steps}/0/post")).to_have_attribute("aria-invalid", "true")
    (mistake,) = page.locator("#mistakes button").all()
    page.locator("summary").first.focus()
    mistake.click()
    expect(field(page, f"{steps}/0/post")).to_be_focused()
    field(page, f"{steps}/0/post").fill("${api}/v1/items")
    expect(page.locator("#verdict")).to_contain_text("No mistakes")
    expect(post.locator(".mistake")).to_have_count(0)
    add(page, f"{steps}/0", "json")
    field(page, f"{steps}/0/json").fill('owner: ann\nsku: "00000001"')
    add(page, f"{steps}/0", "expect")
    add(page, f"{steps}/0/expect", "status")
    field(page, f"{steps}/0/expect/status").fill("201")
    add(page, f"{steps}/0", "save")
    add(page, f"{steps}/0/save", "url")
    at(page, f"{steps}/0/save/url").get_by_label("Shape of url").select_option(
        "a part of the response"
    )
    add(page, f"{steps}/0/save/url", "header")
    page.keyboard.type("location")
    page.get_by_role("button", name="Run once").click()
    expect(page.locator("#outcome")).to_have_text("All steps are good.")
    expect(page.locator("#pages")).to_contain_text("< 201")
    field(page, "load/0/for").fill("300ms")
    expect(page.locator("#verdict")).to_contain_text("No mistakes")
    saved(page)
    text = (tmp_path / "new.yaml").read_text()
    assert text.startswith("# A scenario: "), text
    assert "status: 201\n" in text
    assert 'sku: "00000001"\n' in text
    done = Volley(volley_program).run("run", str(tmp_path / "new.yaml"), "-O", "json", "--quiet")
    assert done.code == 0, done
    assert server.counts()["created"] > 1


def test_a_change_in_the_form_keeps_all_comments_and_every_other_line(
    edit: Edit, tmp_path: Path
) -> None:
    for file in (ROOT / "volley" / "examples").iterdir():
        shutil.copy(file, tmp_path)
    (tmp_path / "shop.yaml").chmod(0o640)
    page = edit("shop.yaml")
    expect(page.locator("#state")).to_have_text("saved")
    field(page, "scenarios/crud/weight").fill("70")
    at(page, "scenarios/crud/steps/2").get_by_role("button", name="Move steps 3 up").click()
    at(page, "data/user").get_by_role("button", name="Rename user").click()
    page.keyboard.type("buyer")
    page.keyboard.press("Enter")
    expect(page.locator("#verdict")).to_contain_text("mistakes")
    page.keyboard.press("Control+s")
    expect(page.locator("#state")).to_have_text("saved")
    text = (tmp_path / "shop.yaml").read_text()
    old, new = SHOP.splitlines(), text.splitlines()
    assert [line for line in old if line not in new] == [
        "  user: {csv: users.csv, order: unique, at_end: stop}", "    weight: 80",
    ]  # fmt: skip
    assert [line for line in new if line not in old] == [
        "  buyer: {csv: users.csv, order: unique, at_end: stop}", "    weight: 70",
    ]  # fmt: skip
    assert text.index("name: remove") < text.index("name: change")
    assert (tmp_path / "shop.yaml").stat().st_mode & 0o777 == 0o640


def test_a_file_that_something_else_has_changed_is_not_overwritten_unless_the_user_says_so(
    edit: Edit, tmp_path: Path
) -> None:
    page = edit("a.yaml", SHOP, "412", "/v1/file")
    file = tmp_path / "a.yaml"
    for button, expected in (("Load it from disk", "first"), ("Save this over it", "127.0.0.1:1")):
        theirs = f"control: {'first' if expected == 'first' else 'second'}\n"
        file.write_text(theirs)
        field(page, "control").fill("127.0.0.1:1")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#alert")).to_contain_text("Nothing was saved")
        assert file.read_text() == theirs
        page.get_by_role("button", name=button).click()
        expect(page.locator("#alert")).to_be_empty()
        expect(page.locator("#state")).to_have_text("saved")
        expect(field(page, "control")).to_have_value(expected)
    assert "control: 127.0.0.1:1\n" in file.read_text()


def test_a_file_that_something_else_has_removed_is_not_dropped_from_the_page(
    edit: Edit, tmp_path: Path
) -> None:
    page = edit("a.yaml", SHOP, "412", "/v1/file")
    page.set_viewport_size({"width": 1400, "height": 400})
    (tmp_path / "a.yaml").unlink()
    field(page, "control").fill("127.0.0.1:1")
    page.keyboard.press("Control+s")
    # Wherever the user is on the page.
    expect(page.locator("#alert")).to_contain_text("was removed")
    expect(page.locator("#alert")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") > 0
    expect(page.get_by_role("button", name="Load it from disk")).to_have_count(0)
    page.get_by_role("button", name="Save this again").click()
    expect(page.locator("#state")).to_have_text("saved")
    assert "control: 127.0.0.1:1\n" in (tmp_path / "a.yaml").read_text()


def test_a_text_that_cannot_be_read_is_a_mistake_and_nothing_is_done_without_it(
    edit: Edit, tmp_path: Path
) -> None:
    page = edit("a.yaml", BODY)
    body = field(page, "scenarios/s/steps/0/json")
    body.fill('{"owner": "bob", "note": "x"')
    expect(page.locator("#verdict")).to_have_text("1 mistake")
    expect(page.locator("#count")).to_have_text("1 mistake")
    expect(page.locator("#state")).to_have_text("not saved")
    mistake = at(page, "scenarios/s/steps/0/json").locator(".mistake")
    expect(mistake).to_have_text(re.compile(r"^JSON or YAML is expected, .* Line 1: .*[^:]\.$"))
    expect(page.locator("#mistakes button")).to_contain_text("scenarios.s.steps[0].json")
    for button, refusal in (
        ("Save", "Nothing was saved"),
        ("Run once", "Nothing was run"),
        ("Text", "The form stays"),
    ):
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.locator("#alert")).to_contain_text(f"{refusal}: the text of")
        expect(body).to_be_focused()
    assert (tmp_path / "a.yaml").read_text() == BODY
    # It moves along with its step.
    at(page, "scenarios/s/steps/0").get_by_role("button", name="Move steps 1 down").click()
    moved = field(page, "scenarios/s/steps/1/json")
    expect(moved).to_have_value('{"owner": "bob", "note": "x"')
    moved.fill('{"owner": "bob"}')
    expect(page.locator("#verdict")).to_contain_text("No mistakes")
    saved(page)
    steps = yaml.safe_load((tmp_path / "a.yaml").read_text())["scenarios"]["s"]["steps"]
    assert steps[1]["json"] == {"owner": "bob"}


def test_another_shape_keeps_the_value_and_every_change_can_be_taken_back(
    edit: Edit, tmp_path: Path
) -> None:
    page = edit("a.yaml", EVERY_SHAPE.replace("many", "1"))
    status = "scenarios/first/steps/0/expect/status"
    for path, shape, expected in (
        ("targets/a", "with options", "a: {hosts: http://127.0.0.1:9}, b:"),
        ("targets/a", "several addresses", "a: [http://127.0.0.1:9], b:"),
        ("targets/a", "one address", "a: http://127.0.0.1:9, b:"),
        ("load", "one", "users: 0..2\n"),
        ("load", "several", "iterations: 5\n"),
        (status, "one", "status: 200,"),
        (status, "several", "status: [200, 201],"),
    ):
        shapes = at(page, path).locator(":scope > .buttons > .shape")
        shapes.select_option(shape)
        saved(page)
        assert expected in (tmp_path / "a.yaml").read_text()
    row(page, ["scenarios"]).get_by_role("button", name="Remove scenarios", exact=True).click()
    expect(row(page, ["scenarios"])).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(field(page, "scenarios/first/steps/0/name")).to_have_value("create")
    undo = page.get_by_role("button", name="Undo")
    for _ in range(7):
        undo.click()
    expect(undo).to_be_disabled()
    saved(page)
    assert (tmp_path / "a.yaml").read_text() == EVERY_SHAPE.replace("many", "1")


def test_the_type_of_a_condition_is_shown_and_quotes_choose_it(edit: Edit, tmp_path: Path) -> None:
    page = edit("a.yaml", BODY)
    conditions = "scenarios/s/steps/1/expect/json"
    at(page, f"{conditions}/x")  # opens it
    condition = row(page, [*conditions.split("/"), "/rev"])
    rev = condition.locator("textarea")
    expect(rev).to_have_value('"1"')
    expect(condition).to_contain_text("Compared as a text. Without the quotes, it is a number.")
    for typed, kind, written in (
        ("2", "a number", "/rev: 2}"),
        ('"2"', "a text", '/rev: "2"}'),
        ("true", "true or false", "/rev: true}"),
        ("abc", "a text", "/rev: abc}"),
    ):
        rev.fill(typed)
        expect(condition).to_contain_text(f"Compared as {kind}.")
        saved(page)
        assert written in (tmp_path / "a.yaml").read_text()


def test_a_name_that_cannot_be_is_said_to_be_wrong(edit: Edit) -> None:
    page = edit("a.yaml", BODY)
    for name, problem in (("api", "api is there already."), ("", "A name is needed.")):
        add(page, "targets", name)
        complaint = row(page, ["targets"]).get_by_role("alert")
        expect(complaint).to_have_text(problem)
        at(page, "targets/api").get_by_role("button", name="Rename api").click()
        page.keyboard.press("Control+a")
        page.keyboard.type(name or " ")
        page.keyboard.press("Enter")
        if name != "api":
            expect(row(page, ["targets", "api"]).get_by_role("alert")).to_have_text(problem)


def test_only_texts_that_may_have_lines_take_them(edit: Edit, tmp_path: Path) -> None:
    page = edit("a.yaml", BODY)
    name = field(page, "scenarios/s/steps/0/name")
    name.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type(" x")
    expect(name).to_have_value("a x")
    # What is pasted.
    name.fill("one\ntwo\n")
    expect(name).to_have_value("one two")
    text = field(page, "scenarios/s/steps/1/text")
    text.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("y")
    saved(page)
    written = (tmp_path / "a.yaml").read_text()
    assert "name: one two," in written
    assert "        text: |-\n          t\n          y\n" in written


def test_a_text_that_the_form_cannot_keep_is_edited_as_text(edit: Edit, tmp_path: Path) -> None:
    text = "targets: &t {api: http://127.0.0.1:9}\nscenarios: {}\n"
    page = edit("a.yaml", text)
    expect(page.locator("#why")).to_contain_text("an anchor (line 1)")
    editor = page.locator("#editor")
    expect(editor).to_have_value(text)
    editor.fill("targets: {api: http://127.0.0.1:9}\nscenarios:\n\ts: [\n")
    page.get_by_role("button", name="Form").click()
    expect(page.locator("#why")).to_contain_text("Line 3")
    expect(page.locator("#verdict")).to_have_text("1 mistake")
    page.locator("#mistakes button").click()
    expect(editor).to_be_focused()
    line = "ed => ed.value.slice(ed.selectionStart, ed.selectionEnd)"
    assert editor.evaluate(line) == "\ts: ["
    # Work that is not done yet is saved, too.
    saved(page)
    assert (tmp_path / "a.yaml").read_text().endswith("\ts: [\n")
    editor.fill('targets: {api: http://127.0.0.1:9}\nscenarios: {s: {steps: [{get: "${api}/"}]}}\n')
    page.get_by_role("button", name="Form").click()
    expect(field(page, "scenarios/s/steps/0/get")).to_have_value("${api}/")


def test_nothing_in_a_file_becomes_html_or_gets_lost(edit: Edit, tmp_path: Path) -> None:
    page = edit("a.yaml", b"\xef\xbb\xbf" + HOSTILE.replace("\n", "\r\n").encode())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert page.locator("#form :is(img, script, b, i)").count() == 0
    expect(field(page, "tags/note")).to_have_value("<i>x</i>")
    expect(field(page, "scenarios/__proto__/steps/0/name")).to_have_value("a")
    field(page, "scenarios/constructor/steps/0/name").fill("<u>")
    saved(page)
    expected = HOSTILE.replace("name: b", "name: <u>").replace("\n", "\r\n")
    assert (tmp_path / "a.yaml").read_bytes().decode() == "\ufeff" + expected


def test_a_text_of_several_lines_keeps_them(edit: Edit, tmp_path: Path) -> None:
    text = (
        "targets: {api: http://127.0.0.1:9}\nscenarios:\n  s:\n    steps:\n      - get: ${api}/\n"
        "        lua: |\n          -- note\n          function response(res) end\n"
    )
    page = edit("a.yaml", text)
    field(page, "scenarios/s/steps/0/lua").press("Control+Home")
    page.keyboard.type("-- first")
    page.keyboard.press("Enter")
    saved(page)
    expected = text.replace("-- note", "-- first\n          -- note")
    assert (tmp_path / "a.yaml").read_text() == expected


def test_json_stays_json(edit: Edit, tmp_path: Path) -> None:
    page = edit("a.json")
    field(page, "load/0/users").fill("0..20")
    add(page, "scenarios/first/steps/0", "timeout")
    page.keyboard.type("2s")
    saved(page)
    text = (tmp_path / "a.json").read_text()
    assert '"load": [{"users": "0..20", "for": "10s"}],\n' in text
    assert '{"name": "read", "get": "${api}/", "timeout": "2s"}\n' in text


def test_a_json_file_that_is_no_json_any_more_is_named(edit: Edit, tmp_path: Path) -> None:
    page = edit("a.json")
    page.get_by_role("button", name="Text").click()
    page.locator("#editor").fill("targets: {}\n")
    saved(page)
    expect(page.locator("#alert")).to_contain_text("no JSON")
    assert (tmp_path / "a.json").read_text() == "targets: {}\n"


def test_keys_that_are_unknown_are_shown_and_stay(edit: Edit, tmp_path: Path) -> None:
    page = edit("a.yaml", SHOP.replace("http: {version: 2,", "http: {version: 2, pots: 4,"))
    row(page, ["http"]).locator("summary").click()
    expect(row(page, ["http"]).locator(".mistake")).to_contain_text("unknown key pots")
    field(page, "http/streams").fill("64")
    saved(page)
    assert (
        "http: {version: 2, pots: 4, connections: 4, streams: 64"
        in (tmp_path / "a.yaml").read_text()
    )


def test_an_iteration_that_hangs_is_stopped(edit: Edit) -> None:
    with ExitStack() as stack:
        # A port that takes connections, and never answers.
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        page = edit("a.yaml", None, "ERR_ABORTED")
        field(page, "targets/api").fill(f"http://127.0.0.1:{listener.getsockname()[1]}")
        page.get_by_role("button", name="Run once").click()
        stack.enter_context(listener.accept()[0])
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#outcome")).to_have_text("Stopped.")
        expect(page.get_by_role("button", name="Run once")).to_be_enabled()


def test_the_page_without_its_token_says_so(edit: Edit) -> None:
    page = edit("a.yaml", None, "401", "/v1/schema")
    page.goto(page.url.partition("#")[0] + "?again#wrong")
    expect(page.locator("#alert")).to_contain_text("the token is missing or wrong")


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_axe_finds_nothing_and_no_page_scrolls_sideways(edit: Edit, axe: str, width: int) -> None:
    page = edit("a.yaml", EVERY_SHAPE)
    page.set_viewport_size({"width": width, "height": 844})
    for view in ("Text", "Form"):
        page.get_by_role("button", name=view).click()
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true })")
        expect(page.locator("#verdict")).to_have_text("1 mistake")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert axe_violations(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1400])
def test_the_buttons_of_a_value_are_beside_its_name(edit: Edit, width: int) -> None:
    page = edit("a.yaml", EVERY_SHAPE)
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true })")
    rows = page.locator("#form .row:has(> .buttons > *)")
    assert rows.count() > 20
    for each in rows.all():
        buttons = each.locator(":scope > .buttons").bounding_box()
        name = each.locator("summary code, label code").first.bounding_box()
        assert buttons is not None
        assert name is not None
        path = each.get_attribute("data-schemapath")
        assert abs(buttons["y"] - name["y"]) < 10, path
        assert name["x"] + name["width"] <= buttons["x"], path


def test_everything_is_reached_and_done_with_the_keyboard(edit: Edit, tmp_path: Path) -> None:
    page = edit("a.yaml")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the file")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(row(page, ["targets"]).locator("summary").first).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Name of a new entry of targets")).to_be_focused()
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    page.keyboard.type("http://127.0.0.1:2")
    page.keyboard.press("Control+s")
    expect(page.locator("#state")).to_have_text("saved")
    assert "  two: http://127.0.0.1:2\n" in (tmp_path / "a.yaml").read_text()
