"""Real entries of three languages, each built and run from its own Dockerfile, keep the contract.

The others are validated natively; these are those that build fastest.
"""

import shutil

import pytest

from tests.integration.plumbing import ROOT, Arena, need_base_images

pytestmark = [
    pytest.mark.integration,
    pytest.mark.docker,
    pytest.mark.usefixtures("docker"),
]


@pytest.mark.parametrize("name", ["grpc-go", "grpcio-python", "grpc-node"])
def test_a_framework_keeps_the_contract_in_a_container(bare: Arena, name: str) -> None:
    shutil.copytree(
        ROOT / "frameworks" / name,
        bare.workspace.frameworks / name,
        ignore=shutil.ignore_patterns(".build", "__pycache__"),
    )
    need_base_images(bare.workspace.framework(name))
    done = bare.command("validate", name, "--runtime", "docker", "--wait")
    assert done.code == 0, done
    assert bare.left_behind() == []
