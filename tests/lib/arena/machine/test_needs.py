"""What a build needs, looked for on this host with stub programs."""

from pathlib import Path

import pytest

from arena.machine import needs
from tests.fakes import a_program

pytestmark = pytest.mark.usefixtures("bin_")


def test_a_program_is_looked_for_on_path(bin_: Path) -> None:
    a_program(bin_ / "go", "true")
    assert needs.missing(("go", "zig")) == ("zig",)


@pytest.mark.parametrize(
    ("kind", "program"), [("pkg-config", "pkg-config"), ("gem", "ruby"), ("python", "python3")]
)
def test_a_library_is_looked_for_with_the_program_of_its_kind(
    bin_: Path, kind: str, program: str
) -> None:
    wanted = (f"{kind}:there", f"{kind}:absent")
    assert needs.missing(wanted) == (program, *wanted)
    a_program(bin_ / program, 'for last; do :; done; [ "$last" = there ]')
    assert needs.missing(wanted) == (f"{kind}:absent",)


def test_what_to_install_is_one_line_of_apt_after_what_debian_lacks() -> None:
    assert needs.install_lines(("zig", "g++", "make", "g++", "grpc_cpp_plugin", "dotnet")) == [
        "install dotnet zig",
        "apt-get install g++ make protobuf-compiler-grpc",
    ]
    assert needs.install_lines(()) == []
