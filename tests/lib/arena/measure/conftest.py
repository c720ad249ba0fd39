"""What tests of measuring share: the folder of a framework."""

from pathlib import Path

import pytest

from arena.base.workspace import Workspace


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    folder = workspace.frameworks / "grpc-go"
    folder.mkdir()
    return folder
