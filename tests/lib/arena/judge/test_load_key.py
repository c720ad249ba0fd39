"""Which loads are equal: the digest that records of one board share."""

import shutil
from pathlib import Path

import pytest

from arena.base.workspace import Workspace
from arena.judge.load_key import digest_of
from arena.what.profile import MeasuredProfile, load_profile, measured_profile


def measured(folder: Path, name: str) -> MeasuredProfile:
    profile = load_profile(folder, name)
    return measured_profile(profile, profile.connections[0])


@pytest.mark.parametrize(
    ("name", "digest"), [("stream-grpc", "d0b4aa4f653e"), ("blast-unary", "fdd533d7576a")]
)
def test_the_digest_of_a_published_load_never_changes(
    workspace: Workspace, name: str, digest: str
) -> None:
    assert digest_of(measured(workspace.profiles, name)) == digest


def test_the_same_call_of_another_proto_is_another_load(workspace: Workspace) -> None:
    shutil.copy(workspace.requests / "health.proto", workspace.requests / "other.proto")
    (workspace.profiles / "other.yaml").write_text(
        "extends: health-grpc\nname: other\nproto: requests/other.proto\n"
    )
    one, other = (measured(workspace.profiles, name) for name in ("health-grpc", "other"))
    assert digest_of(one) != digest_of(other)
    assert digest_of(one) == digest_of(MeasuredProfile.model_validate_json(one.model_dump_json()))
