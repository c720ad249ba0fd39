"""A board's controls: sorting, filters and favourites, and the URL that holds them."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open, Site
from tests.browser.plumbing import PAINTED
from tests.browser.sites import KINDS

BOARD = KINDS["board"]


@pytest.fixture
def page(visit: Open, everyday: Site) -> Page:
    """Open the board of 12 frameworks, one of which has failed."""
    return visit(everyday).open(BOARD)


def header(page: Page, key: str) -> Locator:
    return page.locator(f"#board th[data-key={key}]")


def sort(page: Page, key: str) -> None:
    header(page, key).get_by_role("button").click()


def shown(page: Page, table: str = "table:is(#board, #failed)") -> list[str]:
    """Return the frameworks whose rows are shown, in order."""
    rows = page.locator(f"{table} tr[data-fw]:visible")
    return [str(each) for each in rows.evaluate_all("rows => rows.map((row) => row.dataset.fw)")]


def keys(page: Page, key: str) -> list[float | None]:
    """Return what a column of the ranked rows is sorted by."""
    at = header(page, key).evaluate("cell => cell.cellIndex")
    found: list[float | None] = page.locator("#board tr[data-fw]").evaluate_all(
        "(rows, at) => rows.map((row) => row.cells[at].dataset.v).map((v) => v ? Number(v) : null)",
        at,
    )
    return found


def order_of(page: Page, key: str) -> str | None:
    return header(page, key).get_attribute("aria-sort")


@pytest.mark.parametrize("key", ["rank", "value", "p99", "cpu", "memory", "packed"])
@pytest.mark.parametrize("press", ["Enter", "Space"])
def test_a_column_is_sorted_by_keyboard_and_says_so(page: Page, key: str, press: str) -> None:
    button = header(page, key).get_by_role("button")
    button.focus()
    for _ in range(2):
        page.keyboard.press(press)
        order = order_of(page, key)
        assert order in ("ascending", "descending")
        found = keys(page, key)
        known = [each for each in found if each is not None]
        assert known == sorted(known, reverse=order == "descending")
        assert found == known + [None] * (len(found) - len(known))
        expect(page.get_by_role("status")).to_contain_text(order)
        assert page.locator('#board th[aria-sort$="scending"]').count() == 1
        expect(button).to_be_focused()


def test_both_directions_come_and_the_best_comes_first(page: Page) -> None:
    for key, order in (("value", "descending"), ("value", "ascending"), ("p99", "ascending")):
        sort(page, key)
        assert order_of(page, key) == order


def test_where_less_is_better_the_least_comes_first(visit: Open, everyday: Site) -> None:
    page = visit(everyday).open(everyday.page(KINDS["board of a schedule"]))
    sort(page, "value")
    assert order_of(page, "value") == "ascending"


def test_text_is_sorted_as_people_do(page: Page) -> None:
    sort(page, "language")
    rows = page.locator("#board tr[data-fw]")
    languages = rows.evaluate_all("rows => rows.map((row) => row.dataset.language)")
    assert languages == sorted(languages, key=str.lower)


def test_filters_hide_rows_and_say_how_many_are_left(page: Page) -> None:
    everyone = shown(page)
    assert "framework-007" in shown(page, "#failed")
    page.get_by_label("Find").fill("WORK-00 go")
    assert shown(page) == ["framework-000"]
    expect(page.get_by_role("status")).to_contain_text(f"1 of {len(everyone)} ")
    page.get_by_label("Find").fill("")
    page.get_by_label("Language").select_option("Rust")
    assert shown(page) == [each for each in everyone if each in ("framework-001", "framework-011")]
    page.get_by_role("combobox", name="Type").select_option("production")
    assert shown(page) == ["framework-011"]
    page.get_by_role("button", name="Clear filters").click()
    assert shown(page) == everyone
    assert "#" not in page.url


def test_what_has_failed_since_is_shown_with_its_row(page: Page) -> None:
    for language, names in {"": ["framework-001"], "Go": [], "Rust": ["framework-001"]}.items():
        page.get_by_label("Language").select_option(language)
        assert shown(page, "#failed-since") == names


def test_enter_in_the_text_field_sends_nothing(page: Page) -> None:
    page.get_by_label("Find").fill("framework-00")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#q=framework-00$"))


def test_favourites_are_kept_in_the_url_and_can_be_shown_alone(page: Page) -> None:
    page.get_by_label("Favourites only").check()
    assert shown(page) == []
    expect(page.get_by_role("status")).to_contain_text("★")
    page.get_by_label("Favourites only").uncheck()
    for name in ("framework-002", "framework-007"):
        page.get_by_role("button", name=f"Favourite: {name}").click()
    assert page.url.endswith("#fav=framework-002,framework-007")
    page.get_by_label("Favourites only").check()
    assert shown(page) == ["framework-002", "framework-007"]
    star = page.get_by_role("button", name="Favourite: framework-002")
    expect(star).to_have_attribute("aria-pressed", "true")
    star.press("Enter")
    assert shown(page) == ["framework-007"]
    # Its row is gone; who used the keyboard is not sent back to the start of the page.
    expect(page.get_by_label("Favourites only")).to_be_focused()


def test_the_state_survives_a_reload_and_is_undone_by_back(page: Page) -> None:
    sort(page, "p99")
    page.get_by_label("Language").select_option("Go")
    page.get_by_label("Find").fill("frame")
    expect(page).to_have_url(re.compile("#sort=p99&dir=asc&language=Go&q=frame$"))
    before = shown(page)
    page.reload()
    assert shown(page) == before
    assert order_of(page, "p99") == "ascending"
    assert page.get_by_label("Language").input_value() == "Go"
    assert page.get_by_label("Find").input_value() == "frame"
    page.go_back()
    expect(page.get_by_label("Language")).to_have_value("")
    assert order_of(page, "p99") == "ascending"
    page.go_back()
    expect(header(page, "rank")).to_have_attribute("aria-sort", "ascending")
    page.go_forward()
    expect(header(page, "p99")).to_have_attribute("aria-sort", "ascending")


def test_an_anchor_leads_there_and_leaves_the_state_in_the_url(page: Page) -> None:
    page.get_by_label("Find").fill("framework-001")
    expect(page).to_have_url(re.compile("#q=framework-001$"))
    before = shown(page)
    page.set_viewport_size({"width": 800, "height": 300})
    page.locator("#board a[href='#since']").first.click()
    expect(page.locator("#since")).to_be_in_viewport()
    expect(page).to_have_url(re.compile("#q=framework-001$"))
    assert shown(page) == before
    page.reload()
    assert shown(page) == before


def test_without_a_state_an_anchor_stays_in_the_url(page: Page) -> None:
    page.locator("#board a[href='#since']").first.click()
    page.evaluate(PAINTED)
    expect(page).to_have_url(re.compile("#since$"))


@pytest.mark.parametrize(
    "state",
    ["sort=nothing&dir=up", "q=%zz%", "language=Klingon", "=&&==&sort", "fav=,,a,a", "only=fav"],
)
def test_a_broken_state_breaks_nothing(visit: Open, everyday: Site, state: str) -> None:
    page = visit(everyday).open(f"{BOARD}#{state}")
    expect(page.get_by_role("status")).to_contain_text("frameworks")
    assert order_of(page, "rank") == "ascending"


def test_the_switches_carry_the_state_along(page: Page) -> None:
    page.get_by_label("Find").fill("framework-00")
    page.get_by_role("button", name="Favourite: framework-002").click()
    page.locator("nav.switches a:not([aria-current])", has_text="volley").first.click()
    state = "#q=framework-00&fav=framework-002$"
    expect(page).to_have_url(re.compile(f"/volley/[^/]+/index.html{state}"))
    assert shown(page) != []
    assert all(name.startswith("framework-00") for name in shown(page))


@pytest.mark.parametrize(
    ("kind", "names"), [("board of engines", ["rapid"]), ("board of failures", ["stalled"])]
)
def test_on_engines_a_type_that_was_chosen_hides_nothing(
    visit: Open, everyday: Site, kind: str, names: list[str]
) -> None:
    page = visit(everyday).open(f"{KINDS[kind]}#type=tuned")
    assert shown(page) == names
    assert page.get_by_role("combobox", name="Type").count() == 0


@pytest.fixture
def night(visit: Open, everyday: Site) -> Page:
    """Open the board of a night of blocks, on a desktop's screen."""
    opened = visit(everyday, viewport={"width": 1280, "height": 900})
    return opened.open(everyday.page(KINDS["board of blocks"]))


@pytest.mark.parametrize("press", ["Enter", "Space"])
def test_a_board_of_blocks_is_ordered_by_the_estimate_or_the_classic_figure(
    night: Page, press: str
) -> None:
    by_estimate, classic = (
        night.get_by_role("group", name="Order by").get_by_role("button", name=name)
        for name in ("estimate", "best of three")
    )
    first = shown(night)
    assert first[-1] == "framework-005"
    expect(by_estimate).to_have_attribute("aria-pressed", "true")
    classic.focus()
    night.keyboard.press(press)
    expect(classic).to_have_attribute("aria-pressed", "true")
    expect(by_estimate).to_have_attribute("aria-pressed", "false")
    found = keys(night, "classic")
    assert found == sorted(found, key=lambda each: -(each or 0))
    assert shown(night)[0] == "framework-005"
    expect(night).to_have_url(re.compile("#sort=classic&dir=desc$"))
    by_estimate.click()
    assert shown(night) == first
    assert "#" not in night.url


@pytest.mark.parametrize("key", ["p99", "cpu", "memory"])
def test_a_board_of_blocks_is_ordered_by_the_estimate_of_any_ranked_figure(
    night: Page, key: str
) -> None:
    at = header(night, key).evaluate("cell => cell.cellIndex")
    cells = night.locator(f"#board tr[data-fw] td:nth-child({at + 1})").all_inner_texts()
    assert sum("rank " in each for each in cells) >= 4
    for order in ("ascending", "descending"):
        sort(night, key)
        assert order_of(night, key) == order
        found = [each for each in keys(night, key) if each is not None]
        assert len(found) >= 4
        assert found == sorted(found, reverse=order == "descending")


def test_a_board_of_blocks_fits_a_desktop_and_bars_join_rows_that_are_tied(night: Page) -> None:
    board = night.locator("#board")
    width = board.evaluate("table => table.parentElement.scrollWidth")
    assert width <= 1280
    letters = night.locator("#board tr[data-fw] td.g").all_inner_texts()
    assert letters[0] == letters[1] != letters[2]
    boxes = [each.bounding_box() for each in night.locator("#board td.g svg").all()[:2]]
    assert all(boxes)
    one, other = (each for each in boxes if each)
    assert one["x"] == other["x"]
    assert one["y"] + one["height"] >= other["y"]


def test_of_many_rows_all_are_there_in_the_end(visit: Open, wide: Site) -> None:
    """Those below the screen come a frame later."""
    page = visit(wide).open(BOARD)
    rows = page.locator("#board tr[data-fw]:visible")
    expect(rows).to_have_count(198)
    sort(page, "p99")
    for text, count in (("", 198), ("framework-199", 1), ("", 198)):
        page.get_by_label("Find").fill(text)
        expect(rows).to_have_count(count)
