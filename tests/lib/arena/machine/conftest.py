"""Children for tests of the machine."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from arena.machine.child import Child, whole_command


@pytest.fixture
def sh(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Start a shell script; whatever it leaves behind is killed after the test."""
    children = []

    def start(script: str, *, cpus: Sequence[int] | None = None, **options: object) -> Child:
        child = Child(
            whole_command(["/bin/sh", "-c", script], cpus),
            cwd=tmp_path,
            stdout=tmp_path / "out",
            stderr=tmp_path / "err",
            **options,  # type: ignore[arg-type]
        )
        children.append(child)
        return child

    yield start
    for child in children:
        child.stop()
