"""Host classes: what makes two hosts one class, and names that are safe everywhere."""

import re
from typing import Any

import pytest

from arena.judge.host_class import HostClass, class_of, host_class_of
from arena.judge.leaderboard import rank
from arena.record.record import Cpus, Host, RuntimeInfo
from tests.fakes import a_provenance, a_record, at

CPU = "AMD EPYC 9000 16-Core Processor"
PINNED = Cpus(policy="pinned", server="0-3", generator="4-7")


def a_class(split: Cpus = PINNED, runtime: str | None = "native", **changes: Any) -> HostClass:
    host = Host(
        cpu=CPU, cpus=8, cores=4, kernel="6.1", memory_bytes=int(15.6 * 2**30), governor=None,
        docker=None, family="AuthenticAMD 25 1 1", virtualisation="kvm",
    )  # fmt: skip
    return class_of(host.model_copy(update=changes), split, runtime)


def test_a_class_says_what_it_is() -> None:
    it = a_class()
    assert it.words == f"{CPU}, 8 CPUs on 4 cores, 16 GiB, kvm, native, pinned 4 + 4"
    assert re.fullmatch(r"amd-epyc-9000-16-core-8-cpus-native-[0-9a-f]{8}", it.id)


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel": "6.2"},
        {"governor": "performance"},
        {"docker": "27.5"},
        {"memory_bytes": int(15.4 * 2**30)},
    ],
)
def test_another_boot_of_one_machine_is_of_the_same_class(changes: dict[str, Any]) -> None:
    assert a_class(**changes) == a_class()


def test_a_servers_quota_is_a_class_and_without_one_nothing_changes() -> None:
    limited, halved = (a_class(PINNED.changed(server_quota=each)) for each in (1.0, 0.5))
    assert len({limited.id, halved.id, a_class().id}) == 3
    assert limited.words == f"{a_class().words}, server limited to 1 CPU"
    assert "server_quota" not in a_class().model_dump()
    assert "server_quota" not in PINNED.model_dump()


def test_cpus_that_are_kept_awake_are_a_class_and_otherwise_nothing_changes() -> None:
    awake = a_class(PINNED.changed(idle="poll"))
    assert awake.id != a_class().id
    assert awake.words == f"{a_class().words}, idle CPUs poll"
    assert "idle" not in a_class().model_dump()
    assert "idle" not in PINNED.model_dump()


@pytest.mark.parametrize(
    "changes",
    [
        {"cpu": "AMD EPYC 9001 16-Core Processor"},
        {"family": "AuthenticAMD 25 1 2"},
        {"family": None},
        {"cpus": 4},
        {"cores": 8},
        {"memory_bytes": int(31.2 * 2**30)},
        {"virtualisation": "none"},
        {"runtime": "docker"},
        {"runtime": None},
        {"cpu": "€"},
    ],
)
def test_another_machine_or_runtime_is_another_class(changes: dict[str, Any]) -> None:
    assert a_class(**changes).id != a_class().id


def test_the_split_of_the_cpus_is_part_of_the_class() -> None:
    splits = [
        Cpus(policy="unpinned", server=None, generator=None),
        PINNED,
        Cpus(policy="pinned", server="0-1", generator="2-7"),
        Cpus(policy="override", server="0-3", generator="4-7"),
        Cpus(policy="override", server="4-7", generator="0-3"),
    ]
    assert len({a_class(split).id for split in splits}) == len(splits)
    # What the runner chose depends on the machine's numbering of its CPUs alone.
    assert a_class(Cpus(policy="pinned", server="0,2,4,6", generator="1,3,5,7")) == a_class()


@pytest.mark.parametrize(
    ("gib", "shown"), [(0.9, "0.9375"), (1.93, "2"), (23.54, "24"), (503, "512")]
)
def test_memory_is_rounded_up_to_the_size_of_modules(gib: float, shown: str) -> None:
    assert f", {shown} GiB," in a_class(memory_bytes=int(gib * 2**30)).words


@pytest.mark.parametrize(
    "cpu", ["", "../..", "Ⅷ € <script>", "a" * 10_000, "Intel(R) Xeon(R) CPU @ 2.20GHz"]
)
def test_an_id_is_safe_in_addresses_and_file_names(cpu: str) -> None:
    it = a_class(cpu=cpu, cpus=10**100, memory_bytes=10**400, runtime="a/b" * 100)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", it.id)
    assert len(it.id) < 100


def test_lists_of_cpus_that_are_none_are_in_no_record() -> None:
    with pytest.raises(ValueError, match="'many' is not a CPU list"):
        Cpus(policy="pinned", server="many", generator="4-7")


def test_an_older_record_has_the_class_that_it_knows() -> None:
    it = host_class_of(a_record())
    assert (it.family, it.virtualisation) == (None, None)
    assert it.words == "a CPU, 4 CPUs on 2 cores, 8 GiB, native, pinned 2 + 2"


def test_no_board_mixes_classes_and_that_of_the_newest_full_record_is_at_home() -> None:
    def on(runtime: str, name: str, minute: int, **more: Any) -> Any:
        info = RuntimeInfo(name=runtime, argv=())
        record = a_record(name, minute=minute, **more)
        return record.model_copy(update={"provenance": a_provenance(runtime=info, **more)})

    boards = rank(
        [
            on("native", "a", 0),
            on("docker", "a", 1),
            on("docker", "b", 2),
            on("native", "c", 3, overrides={"RUNS": "1"}),
        ]
    ).boards
    shown = [
        (each.host_class.runtime, each.is_home, [row.framework for row in each.rows])
        for each in boards
    ]
    assert shown == [("docker", True, ["a", "b"]), ("native", False, ["a", "c"])]
    assert all(board.is_current for board in boards)
    assert boards[0].rows[0].result
    assert boards[0].rows[0].result.started_at == at(1)


def test_a_rack_is_a_class_by_its_generator_hosts_whatever_their_order() -> None:
    alone = Cpus(policy="fleet", server=None, generator=None)
    host = Host(
        cpu=CPU, cpus=8, cores=4, kernel="6.1", memory_bytes=2**34, governor=None, docker=None
    )  # fmt: skip
    big, small = "Big CPU, 64 CPUs", "Small CPU, 8 CPUs"
    rack = class_of(host, alone, "native", (big, small, small))
    assert rack.words.endswith("native, load from 1 x Big CPU, 64 CPUs + 2 x Small CPU, 8 CPUs")
    assert class_of(host, alone, "native", (small, big, small)) == rack
    for others in ((big, small), (big, big, small), ()):
        assert class_of(host, alone, "native", others).id != rack.id
