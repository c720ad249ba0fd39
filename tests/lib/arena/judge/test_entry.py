"""What a record comes to in one line."""

import pytest

from arena.judge.entry import entry_of
from arena.record.record import GeneratorInfo, Git
from tests.fakes import a_provenance, a_record, a_run


def test_an_entry_tells_what_a_history_needs() -> None:
    record = a_record("a", runs=[a_run(1e6), a_run(3e6, cut=1000), a_run(2e6)], minute=5)
    maker = GeneratorInfo(name="volley", version="1.2", found="PATH", argv=())
    git = Git(commit="abc", dirty=True)
    record = record.model_copy(update={"provenance": a_provenance(generator=maker, git=git)})
    entry = entry_of(record, "5a")
    assert (entry.path, entry.sha256, entry.started_at) == (record.path, "5a", record.started_at)
    assert (entry.framework, entry.made_by) == ("a", "volley 1.2")
    assert entry.load[:5] == ("stream-grpc", 64, "ghz", "messages/s", "5s-x-3")
    assert (entry.value, entry.low, entry.high) == (3e6, 1e6, 4e6)
    assert (entry.status, entry.failure, entry.commit) == ("ok", None, "abc-dirty")
    assert entry.machine == "a CPU, 4 CPUs"
    assert entry.is_ranked
    assert not entry.is_trial


def test_a_record_that_failed_has_a_reason_and_no_figures() -> None:
    entry = entry_of(a_record("a", failure="broke", status="invalid", runs=[a_run()]))
    assert (entry.status, entry.failure) == ("invalid", "broke")
    assert (entry.value, entry.low, entry.high) == (None, None, None)
    assert not entry.is_ranked


@pytest.mark.parametrize("name", ["RUNS", "DURATION", "REQUESTS"])
def test_another_load_than_the_profiles_is_a_trial(name: str) -> None:
    assert entry_of(a_record("a", overrides={name: "1"})).is_trial
    assert not entry_of(a_record("a", overrides={"SERVER_CPUS": "1"})).is_trial


def test_a_load_that_was_not_the_schedules_is_not_ranked() -> None:
    assert not entry_of(a_record("a", flags=["missed-schedule"])).is_ranked
    assert not entry_of(a_record("a", flags=["cut-short"])).is_ranked
    assert not entry_of(a_record("a", runs=[a_run(0.0, ok=0, mean_ns=None)])).is_ranked
