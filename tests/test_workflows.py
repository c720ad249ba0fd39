"""The workflows: what may start them, what their tokens may do, and whose code they run."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    # As YAML 1.1 has it, `on` is a truth value; here it is a word.
    text = re.sub(r"^on:", '"on":', path.read_text(), flags=re.MULTILINE)
    data: dict[str, Any] = yaml.safe_load(text)
    return data


@pytest.fixture(params=WORKFLOWS, ids=[path.stem for path in WORKFLOWS])
def workflow(request: pytest.FixtureRequest) -> dict[str, Any]:
    return read(request.param)


def jobs(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return list(workflow["jobs"].values())


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in jobs(workflow) for step in job["steps"]]


def test_they_are_there() -> None:
    assert {path.stem for path in WORKFLOWS} >= {"nightly", "pages", "pull-request"}


def test_what_a_pull_request_brings_never_runs_on_our_own_runner(workflow: dict[str, Any]) -> None:
    started_by_others = [name for name in workflow["on"] if name.startswith("pull_request")]
    ours = [job for job in jobs(workflow) if "self-hosted" in job["runs-on"]]
    assert not (started_by_others and ours)


def test_a_pull_request_is_tested_by_a_token_that_can_only_read_and_without_secrets() -> None:
    path = ROOT / ".github/workflows/pull-request.yml"
    assert list(read(path)["on"]) == ["pull_request"]
    (job,) = jobs(read(path))
    assert job["permissions"] == {"contents": "read"}
    assert job["steps"][0]["with"]["persist-credentials"] is False
    assert "secrets." not in path.read_text()
    assert job["steps"][-1]["run"] == "./scripts/test.sh"
    assert job["steps"][-1]["env"] == {"ARENA_NO_SKIPS": 1}


def test_our_own_runner_takes_main_only_and_in_its_environment() -> None:
    measure, push = jobs(read(ROOT / ".github/workflows/nightly.yml"))
    assert "self-hosted" in measure["runs-on"]
    assert "self-hosted" not in push["runs-on"]
    assert measure["if"] == "github.ref == 'refs/heads/main'"
    assert measure["environment"] == "nightly"


def test_a_token_may_nothing_but_what_its_job_names(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {}
    for job in jobs(workflow):
        assert job["permissions"]
        assert "write-all" not in job["permissions"]


def test_no_token_that_may_write_is_where_servers_are_measured(workflow: dict[str, Any]) -> None:
    for job in jobs(workflow):
        if "self-hosted" in job["runs-on"]:
            assert job["permissions"] == {"contents": "read"}
            assert job["steps"][0]["with"]["persist-credentials"] is False
            assert "token" not in str(job["steps"])


def test_what_is_typed_into_a_form_is_no_code(workflow: dict[str, Any]) -> None:
    assert not [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")]


def test_actions_are_pinned_by_commit(workflow: dict[str, Any]) -> None:
    for step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])


def test_records_are_handed_on_and_pushed_whatever_failed() -> None:
    measuring, pushing = jobs(read(ROOT / ".github/workflows/nightly.yml"))
    measure, pack, upload, report = measuring["steps"][-4:]
    assert "./scripts/nightly.sh --resume" in measure["run"]
    assert "|| code=$?" in measure["run"]
    assert pack["run"].startswith("./scripts/push-results.sh --pack ")
    assert (pack["if"], upload["if"]) == ("always()", "always()")
    assert report["run"] == 'exit "$CODE"'
    assert pushing["needs"] == "measure"
    assert pushing["if"].startswith("always()")
    checkout, _, taking, push = pushing["steps"]
    assert checkout["with"]["persist-credentials"] is False
    assert taking["run"].startswith("./scripts/push-results.sh --unpack ")
    assert "env" not in taking
    assert push["run"].split()[-1] == "./scripts/push-results.sh"


def test_a_night_or_a_deployment_is_never_cut_short_but_a_test_of_old_code_is(
    workflow: dict[str, Any],
) -> None:
    assert workflow["concurrency"]["cancel-in-progress"] is ("pull_request" in workflow["on"])


def test_every_script_that_is_called_is_there(workflow: dict[str, Any]) -> None:
    called = [
        name
        for step in steps(workflow)
        for name in re.findall(r"\./(scripts/[\w.-]+)", step.get("run", ""))
    ]
    assert called
    assert [name for name in called if not (ROOT / name).is_file()] == []


TEMPLATES = ROOT / ".github" / "ISSUE_TEMPLATE"
_BODY = {"markdown", "input", "textarea", "dropdown", "checkboxes"}


@pytest.mark.parametrize("name", sorted(path.name for path in TEMPLATES.glob("*.yml")))
def test_a_form_for_issues_has_what_github_asks_for(name: str) -> None:
    form = yaml.safe_load((TEMPLATES / name).read_text())
    if name == "config.yml":
        assert form == {"blank_issues_enabled": True}
        return
    assert form["name"]
    assert form["description"]
    assert {part["type"] for part in form["body"]} <= _BODY
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked)
    assert all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)
