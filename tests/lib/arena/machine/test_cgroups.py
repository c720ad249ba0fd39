"""A container's cost, from control groups of both versions (fake /proc trees)."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.base.errors import HostError
from arena.machine import cgroups
from arena.machine.cgroups import OwnGroup, _home, by_quota_s, cgroup_of, own_group
from arena.record.measurement import Cost

GROUP = "/docker/abc"


class Kernel:
    """A /proc and its mounted control groups below one folder."""

    def __init__(self, root: Path) -> None:
        self.proc = root / "proc"
        self.root = root
        self._mounts: list[str] = ["22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw"]
        self._groups: list[str] = []
        for pid in ("self", "42"):
            (self.proc / pid).mkdir(parents=True)

    def mount(self, name: str, kind: str, options: str, root: str = "/") -> Path:
        point = self.root / name
        self._mounts.append(
            f"30 24 0:27 {root} {point} rw,nosuid shared:9 - {kind} {name} {options}"
        )
        return point

    def member(self, line: str) -> None:
        self._groups.append(line)

    def write(self, folder: Path, **files: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)
        return folder

    def ready(self) -> Path:
        (self.proc / "self" / "mountinfo").write_text("\n".join(self._mounts) + "\n")
        (self.proc / "42" / "cgroup").write_text("\n".join(self._groups) + "\n")
        return self.proc


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path)


def a_cost(cpu_s: float, peak_bytes: int) -> Cost:
    return Cost(cpu_s=cpu_s, peak_bytes=peak_bytes, source="control-group")


def version_1(kernel: Kernel, root: str = "/", path: str = GROUP) -> None:
    cpu = kernel.mount("cpu,cpuacct", "cgroup", "rw,cpu,cpuacct", root)
    memory = kernel.mount("memory", "cgroup", "rw,memory", root)
    kernel.mount("cpuset", "cgroup", "rw,cpuset", root)
    kernel.member(f"12:cpuset:{path}")
    kernel.member(f"4:cpu,cpuacct:{path}")
    kernel.member(f"3:memory:{path}")
    kernel.member(f"1:name=systemd:{path}")
    below = path if root == "/" else path.removeprefix(root)
    kernel.write(Path(f"{cpu}{below}"), cpuacct__usage="2500000000\n")
    kernel.write(
        Path(f"{memory}{below}"),
        memory__max_usage_in_bytes="7000\n",
        memory__usage_in_bytes="5000\n",
    )


def version_2(kernel: Kernel, *, peak: bool = True) -> Path:
    folder = Path(f"{kernel.mount('unified', 'cgroup2', 'rw,nsdelegate')}{GROUP}")
    kernel.member(f"0::{GROUP}")
    kernel.write(
        folder,
        cpu__stat="usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n",
        memory__current="600\n",
    )
    if peak:
        kernel.write(folder, memory__peak="900\n")
    return folder


def test_version_1_counts_nanoseconds_and_keeps_a_peak(kernel: Kernel) -> None:
    version_1(kernel)
    assert cgroup_of(42, kernel.ready()).cost() == a_cost(2.5, 7000)


def test_version_2_counts_microseconds_and_keeps_a_peak(kernel: Kernel) -> None:
    version_2(kernel)
    assert cgroup_of(42, kernel.ready()).cost() == a_cost(1.5, 900)


@pytest.mark.parametrize("version", [version_1, version_2])
def test_a_process_on_its_way_into_its_container_is_not_in_its_group(
    kernel: Kernel, version: Callable[[Kernel], object]
) -> None:
    version(kernel)
    own = GROUP.rpartition("/")[2]
    assert cgroup_of(42, kernel.ready(), container=own).cost()
    with pytest.raises(HostError, match="process 42 is not yet in the control group"):
        cgroup_of(42, kernel.ready(), container="another")


def test_without_a_peak_the_largest_sample_stands(kernel: Kernel) -> None:
    folder = version_2(kernel, peak=False)
    group = cgroup_of(42, kernel.ready())
    seen = []
    for now in ("600", "800", "700"):
        (folder / "memory.current").write_text(now)
        seen.append(group.cost().peak_bytes)
    assert seen == [600, 800, 800]


def test_without_a_peak_every_look_in_between_counts(kernel: Kernel) -> None:
    folder = version_2(kernel, peak=False)
    group = cgroup_of(42, kernel.ready())
    for now in ("600", "9000", "700"):
        (folder / "memory.current").write_text(now)
        group.sample()
    assert group.cost().peak_bytes == 9000


def test_where_the_kernel_keeps_a_peak_a_look_changes_nothing(kernel: Kernel) -> None:
    folder = version_2(kernel)
    group = cgroup_of(42, kernel.ready())
    (folder / "memory.current").unlink()
    group.sample()
    assert group.cost().peak_bytes == 900


def test_a_look_at_a_group_that_is_gone_is_an_oserror(kernel: Kernel) -> None:
    folder = version_2(kernel, peak=False)
    group = cgroup_of(42, kernel.ready())
    (folder / "memory.current").unlink()
    with pytest.raises(FileNotFoundError):
        group.sample()


def test_on_a_hybrid_host_version_1_holds_the_controllers(kernel: Kernel) -> None:
    version_2(kernel)
    version_1(kernel)
    assert cgroup_of(42, kernel.ready()).cost().cpu_s == 2.5


def test_a_hybrid_host_may_leave_version_1_only_what_we_do_not_need(kernel: Kernel) -> None:
    version_2(kernel)
    kernel.mount("cpuset", "cgroup", "rw,cpuset")
    kernel.member(f"12:cpuset:{GROUP}")
    assert cgroup_of(42, kernel.ready()).cost().cpu_s == 1.5


def test_a_mount_that_shows_only_a_part_is_followed_from_there(kernel: Kernel) -> None:
    version_1(kernel, root="/docker/outer", path="/docker/outer/docker/abc")
    assert cgroup_of(42, kernel.ready()).cost().cpu_s == 2.5


@pytest.mark.parametrize("path", ["/docker/other/abc", "/docker/outer2/abc", "/"])
def test_a_group_outside_of_what_the_mount_shows_is_not_guessed(kernel: Kernel, path: str) -> None:
    version_1(kernel, root="/docker/outer", path=path)
    with pytest.raises(HostError, match="accounts neither"):
        cgroup_of(42, kernel.ready())


def test_the_whole_of_a_mount_that_shows_only_a_part_is_found(kernel: Kernel) -> None:
    version_1(kernel, root="/docker/abc", path="/docker/abc")
    assert cgroup_of(42, kernel.ready()).cost().cpu_s == 2.5


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_version_1_group_that_does_not_exist_is_not_taken(kernel: Kernel, hybrid: bool) -> None:
    if hybrid:
        version_2(kernel)
    version_1(kernel)
    shutil.rmtree(kernel.root / "cpu,cpuacct" / "docker")
    if hybrid:
        assert cgroup_of(42, kernel.ready()).cost().cpu_s == 1.5
    else:
        with pytest.raises(HostError, match="accounts neither"):
            cgroup_of(42, kernel.ready())


def test_a_group_that_is_gone_is_an_oserror(kernel: Kernel) -> None:
    folder = version_2(kernel)
    group = cgroup_of(42, kernel.ready())
    for file in folder.iterdir():
        file.unlink()
    with pytest.raises(FileNotFoundError):
        group.cost()


def test_a_process_we_cannot_see_means_the_daemon_is_elsewhere(kernel: Kernel) -> None:
    with pytest.raises(HostError, match=r"process 43 cannot be seen.*must run on this very host"):
        cgroup_of(43, kernel.ready())


def test_a_host_without_accounting_is_refused(kernel: Kernel) -> None:
    kernel.member("1:name=systemd:/")
    with pytest.raises(HostError, match="accounts neither"):
        cgroup_of(42, kernel.ready())


def test_a_group_is_made_where_it_does_not_change_how_cpus_are_shared(kernel: Kernel) -> None:
    (kernel.proc / "self" / "cgroup").write_text("4:cpu,cpuacct:/a\n5:freezer:/a\n0::/b\n")
    kernel.mount("cpu,cpuacct", "cgroup", "rw,cpu,cpuacct")
    kernel.mount("freezer", "cgroup", "rw,freezer")
    unified = kernel.mount("unified", "cgroup2", "rw")
    assert _home(kernel.ready()) == ()
    kernel.write(unified / "b")
    assert _home(kernel.ready()) == (unified / "b",)


@pytest.mark.parametrize("freezes", [True, False])
def test_in_version_1_a_group_counts_and_freezes_if_it_can(
    kernel: Kernel, *, freezes: bool
) -> None:
    (kernel.proc / "self" / "cgroup").write_text("4:cpuacct:/a\n5:freezer:/c\n0::/b\n")
    accounts = kernel.write(kernel.mount("cpuacct", "cgroup", "rw,cpuacct") / "a")
    freezer = kernel.mount("freezer", "cgroup", "rw,freezer") / "c"
    if freezes:
        kernel.write(freezer)
    assert _home(kernel.ready()) == ((accounts, freezer) if freezes else (accounts,))


def test_a_group_with_a_quota_is_in_the_hierarchy_that_shares_the_cpus(kernel: Kernel) -> None:
    (kernel.proc / "self" / "cgroup").write_text("4:cpuacct:/a\n5:freezer:/c\n6:cpu:/d\n0::/b\n")
    accounts = kernel.write(kernel.mount("cpuacct", "cgroup", "rw,cpuacct") / "a")
    freezer = kernel.write(kernel.mount("freezer", "cgroup", "rw,freezer") / "c")
    shares = kernel.write(kernel.mount("cpu", "cgroup", "rw,cpu") / "d")
    assert _home(kernel.ready()) == (accounts, freezer)
    assert _home(kernel.ready(), is_limited=True) == (accounts, freezer, shares)


def test_a_group_with_a_quota_may_change_how_cpus_are_shared(kernel: Kernel) -> None:
    (kernel.proc / "self" / "cgroup").write_text("4:cpu,cpuacct:/a\n0::/b\n")
    both = kernel.write(kernel.mount("cpu,cpuacct", "cgroup", "rw,cpu,cpuacct") / "a")
    unified = kernel.write(kernel.mount("unified", "cgroup2", "rw") / "b")
    assert _home(kernel.ready()) == (unified,)
    assert _home(kernel.ready(), is_limited=True) == (both,)


def test_a_quota_of_version_2_borrows_the_controller_until_the_last_group_ends(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "httparena-1-1", tmp_path / "httparena-1-2"
    for folder in (first, second):
        folder.mkdir()
    groups = [OwnGroup((tmp_path,), (folder,)) for folder in (first, second)]
    for group in groups:
        group.limit(1.5)
    assert (first / "cpu.max").read_text() == "150000 100000"
    given = tmp_path / "cgroup.subtree_control"
    assert given.read_text() == "+cpu"
    for group, folder, left in zip(groups, (first, second), ("+cpu", "-cpu"), strict=True):
        (folder / "cpu.max").unlink()
        group.end()
        assert given.read_text() == left


@pytest.mark.parametrize(
    ("files", "held_s"),
    [
        (
            {"cpu__max": "50000 100000\n", "cpu__stat": "usage_usec 9\nthrottled_usec 2500000\n"},
            2.5,
        ),
        ({"cpu__max": "max 100000\n", "cpu__stat": "usage_usec 9\nthrottled_usec 2500000\n"}, None),
        ({"cpu__cfs_quota_us": "50000\n", "cpu__stat": "throttled_time 2500000000\n"}, 2.5),
        ({"cpu__cfs_quota_us": "-1\n", "cpu__stat": "throttled_time 2500000000\n"}, None),
        ({}, None),
    ],
)
def test_only_a_quota_throttles(
    kernel: Kernel, files: dict[str, str], held_s: float | None
) -> None:
    assert (
        by_quota_s([kernel.root / "none", kernel.write(kernel.root / "group", **files)]) == held_s
    )


@pytest.mark.parametrize("version", [version_1, version_2])
def test_a_container_with_a_quota_says_how_long_it_was_throttled(
    kernel: Kernel, version: Callable[[Kernel], object]
) -> None:
    version(kernel)
    name = "unified" if version is version_2 else "cpu,cpuacct"
    limit = {"cpu__max": "100000 100000"} if version is version_2 else {"cpu__cfs_quota_us": "1000"}
    stat = "usage_usec 1500000\nthrottled_usec 2000000\n"
    kernel.write(kernel.root / name / GROUP[1:], **limit, cpu__stat=stat)
    cost = cgroup_of(42, kernel.ready()).cost()
    assert cost.throttled_s == 2.0
    assert "throttled_s" not in a_cost(1.0, 1).model_dump()


def test_a_quota_that_no_group_can_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "_home", lambda **_: ())
    assert own_group("0-0-0") is None
    with pytest.raises(HostError, match="--server-quota: this host has no control group with a CP"):
        own_group("0-0-0", 1.0)


def test_a_host_without_quotas_is_refused_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # No kernel makes the files of this folder: it is one of an ordinary file system.
    monkeypatch.setattr(cgroups, "_home", lambda **_: (tmp_path / "home",))
    with pytest.raises(HostError, match="no control group with a CPU quota: No such file"):
        own_group("0-0-0", 1.0)
    assert not (tmp_path / "home").exists()
