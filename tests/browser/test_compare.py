"""Frameworks side by side: picked, compared with the first, and kept in the URL."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Site

PAGE = "compare/index.html"
PROFILES = [
    {"id": id_, "title": title, "metric": metric, "lower_is_better": lower_is_better,
     "href": f"boards/{id_}/index.html"}
    for id_, title, metric, lower_is_better in (
        ("stream-grpc/64/ghz", "Streaming", "messages/s", False),
        ("steady/1/volley", "Steady", "p99 latency", True),
        ("unmeasured/1/volley", "Nobody", "requests/s", False),
    )
]  # fmt: skip


def framework(name: str, **figures: list[Any]) -> dict[str, Any]:
    return {
        "name": name,
        "display_name": name.upper(),
        "language": "Go",
        "type": "production",
        "href": f"frameworks/{name}/index.html",
        "figures": {at.removeprefix("at"): figure for at, figure in figures.items()},
    }


def rate(value: float, low: float, high: float, flags: str = "") -> list[Any]:
    words, interval = f"{value:g} in words", f"{low:g} to {high:g}"
    return [value, low, high, flags, "records/x/index.html", words, interval, flags != "cut-short"]


BOUND = rate(1e6, 1e6, 1e6, "client-bound")


@pytest.fixture
def compare(visit: Open, everyday: Site) -> Any:
    """Return what opens the page with these frameworks' figures in place of the real ones."""

    def start(*frameworks: dict[str, Any], profiles: Any = PROFILES) -> Page:
        page = visit(everyday).page
        body = json.dumps({"schema": 2, "profiles": profiles, "frameworks": frameworks})
        page.route("**/compare.json", lambda route: route.fulfill(body=body))
        names = ",".join(each["name"] for each in frameworks)
        page.goto(f"{everyday.url}{PAGE}#fw={names}")
        return page

    return start


PAIRS = {
    "a": {"b": ["faster", 1.05, 1.02, 1.08, 8], "c": ["not told apart", 1.001, 0.985, 1.017, 8]},
    "b": {"c": ["not comparable: still warming up", None, None, None, 8]},
}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("ab", "× 1.050 (1.020 – 1.080), better, by 8 blocks"),
        # The other way round, the verdict is turned.
        ("ba", "× 0.952 (0.926 – 0.980), worse, by 8 blocks"),
        ("ac", "not told apart (0.985–1.017 ×), by 8 blocks"),
        ("ca", "not told apart (0.983–1.015 ×), by 8 blocks"),
        ("bc", "not comparable: still warming up"),
        # Without blocks in common, the classic figures are compared, and that is said.
        ("ad", "best of three: × 2.00, better"),
    ],
)
def test_pairs_of_a_night_have_its_verdict(compare: Any, names: str, said: str) -> None:
    figure = {"a": rate(1e6, 1e6, 1e6), "d": rate(2e6, 2e6, 2e6)}
    shown = [framework(each, at0=figure.get(each, figure["a"])) for each in names]
    shown[0]["estimates"] = {"0": ["1.23 M", "1.20 M to 1.26 M"]}
    page = compare(*shown, profiles=[{**PROFILES[0], "pairs": PAIRS}])
    row = page.get_by_role("row").filter(has_text="Streaming")
    expect(row.locator("td").nth(1).locator(".ratio")).to_have_text(said)
    expect(row.locator("td").first).to_contain_text("1.23 M1.20 M to 1.26 M")


def test_a_lead_over_a_server_that_the_generator_limited_is_not_certain(compare: Any) -> None:
    shown = framework("a", at0=BOUND), framework("b", at0=rate(2e6, 2e6, 2e6))
    page = compare(*shown, profiles=[{**PROFILES[0], "pairs": PAIRS}])
    expect(page.locator(".ratio")).to_contain_text("limited by the generator, by 8 blocks")


@pytest.mark.parametrize(
    ("first", "other", "compared"),
    [
        (rate(1e6, 9e5, 1.1e6), rate(1.05e6, 1e6, 1.2e6), "not told apart (0.91–1.33 ×)"),
        (rate(1e6, 0, 1.1e6), rate(1e6, 1e6, 1.1e6), "not told apart (from 0.91 ×)"),
        (rate(1e6, 1e6, 1e6), rate(2e6, 2e6, 2e6), "× 2.00, better"),
        (rate(1e6, 8e5, 1e6), rate(2e6, 2e6, 3e6), "× 2.00 (2.00 – 3.75), better"),
        (rate(1e6, 9e5, 1e6), rate(5e5, 4e5, 6e5), "× 0.50 (0.40 – 0.67), worse"),
        (rate(1e6, 1e6, 1e6), BOUND, "not told apart, limited by the generator"),
        (rate(1e6, 1e6, 1e6), rate(2e6, 2e6, 2e6, "client-bound"), "≥ × 2.00, better"),
        (BOUND, rate(2e6, 2e6, 2e6), "≤ × 2.00, limited by the generator"),
        (rate(2e6, 2e6, 2e6), BOUND, "≥ × 0.50, limited by the generator"),
        (rate(2e6, 2e6, 2e6, "client-bound"), rate(1e6, 1e6, 1e6, "client-bound,cut-calls"),
         "× 0.50, limited by the generator"),
        (rate(5e5, 0, 5e5), rate(1e6, 1e6, 1e6), "× 2.00 (from 2.00), better"),
        (rate(1e6, 1e6, 1e6), rate(3456, 3456, 3456), "× 0.0035, worse"),
        (rate(0, 0, 1e5, "none-finished"), rate(2e6, 1e6, 2e6), "over × 10.0, better"),
        (rate(1e6, 1e6, 1e6), rate(0, 0, 1e5, "none-finished"), "under × 0.10, worse"),
        (rate(1e6, 1e6, 1e6), rate(2e6, 2e6, 2e6, "cut-short"), "not comparable"),
    ],
)  # fmt: skip
def test_the_ratio_is_said_with_its_interval(
    compare: Any, first: list[Any], other: list[Any], compared: str
) -> None:
    page = compare(framework("a", at0=first), framework("b", at0=other))
    cell = page.get_by_role("table").locator("tbody td").nth(1)
    expect(cell.locator("b")).to_have_text(other[5])
    expect(cell).to_contain_text(other[6])
    expect(cell.locator(".ratio")).to_have_text(compared)
    for flag in filter(None, other[3].split(",")):
        expect(cell).to_contain_text(flag)


def test_of_latencies_the_lower_is_better(compare: Any) -> None:
    figures = [rate(each, each, each) for each in (1e6, 2e6, 5e5)]
    page = compare(*(framework(name, at1=each) for name, each in zip("abc", figures, strict=True)))
    cells = page.get_by_role("table").locator("tbody td")
    expect(page.get_by_role("table")).to_contain_text("lower is better")
    expect(cells.nth(1).locator(".ratio")).to_contain_text("worse")
    expect(cells.nth(2).locator(".ratio")).to_contain_text("better")


def test_what_was_not_measured_is_a_dash_and_a_profile_nobody_has_is_left_out(compare: Any) -> None:
    page = compare(framework("a", at0=rate(1, 1, 1)), framework("b", at1=rate(1, 1, 1)))
    rows = page.get_by_role("table").locator("tbody tr")
    expect(rows.first.locator("td").last).to_have_text("–")
    assert rows.count() == 2
    # There is nothing to compare with.
    assert page.locator(".ratio").count() == 0


def test_frameworks_are_picked_by_keyboard_and_removed_again(visit: Open, everyday: Site) -> None:
    page = visit(everyday).open(PAGE)
    field = page.get_by_label("Framework", exact=True)
    status = page.get_by_role("status")
    expect(status).to_contain_text("Choose 2 to 5")
    for name in ("framework-000", "Framework-001", "rapid"):
        field.fill(name)
        field.press("Enter")
        expect(field).to_have_value("")
    assert page.url.endswith("#fw=framework-000,framework-001,rapid")
    expect(page.get_by_role("columnheader")).to_have_count(1 + 3)
    page.reload()
    expect(page.get_by_role("columnheader")).to_have_count(1 + 3)
    page.get_by_role("button", name="Remove framework-000").press("Enter")
    expect(field).to_be_focused()
    assert page.url.endswith("#fw=framework-001,rapid")
    page.get_by_role("button", name="Remove rapid").click()
    expect(status).to_contain_text("Choose 2 to 5")
    expect(page.get_by_role("table")).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("columnheader")).to_have_count(1 + 2)


def test_a_name_with_capitals_is_found(compare: Any) -> None:
    upper = {**framework("Upper", at0=rate(1, 1, 1)), "display_name": "Another"}
    page = compare(upper, framework("b", at0=rate(1, 1, 1)))
    page.get_by_role("button", name="Remove Upper").click()
    page.get_by_label("Framework", exact=True).fill("Upper")
    page.keyboard.press("Enter")
    expect(page.get_by_role("columnheader")).to_have_count(1 + 2)


def test_no_more_than_five_are_compared(visit: Open, everyday: Site) -> None:
    names = [f"framework-00{number}" for number in range(6)]
    page = visit(everyday).open(f"{PAGE}#fw={','.join(names)}")
    expect(page.get_by_role("status")).to_contain_text("Left out: framework-005")
    expect(page.get_by_role("columnheader")).to_have_count(1 + 5)
    expect(page.get_by_role("button", name="Add")).to_be_disabled()


def test_what_is_not_known_is_said(visit: Open, everyday: Site) -> None:
    page = visit(everyday).open(f"{PAGE}#fw=framework-000,<b>nobody</b>,framework-001")
    status = page.get_by_role("status")
    expect(status).to_contain_text("Unknown: <b>nobody</b>.")
    expect(page.get_by_role("columnheader")).to_have_count(1 + 2)
    page.get_by_label("Framework", exact=True).fill("somebody")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("No framework is called “somebody”.")


@pytest.mark.parametrize("answer", [{"status": 404}, {"body": "{"}, {"body": "{}"}])
def test_that_the_figures_cannot_be_loaded_is_said(
    visit: Open, everyday: Site, answer: dict[str, Any]
) -> None:
    # A 404 is the browser's to report.
    opened = visit(everyday, "404", "compare.json")
    opened.page.route("**/compare.json", lambda route: route.fulfill(**answer))
    page = opened.open(PAGE)
    expect(page.get_by_role("alert")).to_contain_text("could not be loaded")


def test_every_link_leads_to_a_page(visit: Open, everyday: Site) -> None:
    page = visit(everyday).open(f"{PAGE}#fw=framework-000,framework-001,rapid")
    page.get_by_role("table").wait_for()
    links = page.locator("#compare a").evaluate_all("all => all.map((each) => each.href)")
    assert len(links) > 10
    for link in set(links):
        assert (everyday.public / link.removeprefix(everyday.url)).is_file(), link


def test_a_name_of_markup_is_only_text(compare: Any) -> None:
    first = {**framework("a", at0=rate(1, 1, 1)), "display_name": "<img src=x onerror=alert(1)>"}
    page = compare(first, framework("b", at0=rate(1, 1, 1)))
    expect(page.get_by_role("columnheader").nth(1)).to_contain_text("<img src=x")
    assert page.locator("#compare img").count() == 0
