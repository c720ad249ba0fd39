"""What the load of an older record was made of: the files that its commit had.

Records say by a hash which .proto or scenario they were made with. Older ones have none of their
.proto, and one of their scenario that leaves out the folders of its imports.
"""

from functools import cache
from pathlib import Path

from arena.machine.facts import folder_at
from arena.record.record import Record
from arena.what.loads import Scenario
from arena.what.protos import FOLDER, UNKNOWN, ProtoError, proto_of
from arena.what.scenarios import scenario_of


def with_origin(record: Record, folder: Path) -> Record:
    """Return a record of a set with the hashes that it would have today.

    They are those of the checkout around the set's folder at the record's commit. A record of no
    known commit, or of changed files, stays as it is: its load is one of its own.
    """
    git, profile = record.provenance.git, record.profile
    if git is None or git.dirty:
        return record
    proto, load = profile.proto, profile.load
    if proto and proto.sha256 == UNKNOWN:
        sha256 = _proto_sha256(folder, git.commit, proto.file, profile.call)
        changes: dict[str, object] = {"proto": proto.model_copy(update={"sha256": sha256})}
    elif isinstance(load, Scenario):
        before, now = _scenario_sha256s(folder, git.commit, load.scenario.file)
        if before == now or load.scenario.sha256 != before:
            return record
        file = load.scenario.model_copy(update={"sha256": now})
        changes = {"load": load.model_copy(update={"scenario": file})}
    else:
        return record
    return record.model_copy(update={"profile": profile.model_copy(update=changes)})


def may_change(record: Record, folder: Path) -> bool:
    """Return whether the hashes of a record wait for its commit, which may be fetched some day."""
    git, proto, load = record.provenance.git, record.profile.proto, record.profile.load
    if proto and proto.sha256 == UNKNOWN:
        return True
    if git is None or git.dirty or not isinstance(load, Scenario):
        return False
    return _scenario_sha256s(folder, git.commit, load.scenario.file) == ("", "")


@cache
def _proto_sha256(folder: Path, commit: str, file: str, call: str) -> str:
    with folder_at(folder, commit, FOLDER) as root:
        try:
            proto = proto_of(root, file, call) if root else None
        except ProtoError:
            proto = None
    return proto.sha256 if proto else UNKNOWN


@cache
def _scenario_sha256s(folder: Path, commit: str, file: str) -> tuple[str, str]:
    """Return the hash that older records have of a scenario, and that of today."""
    with folder_at(folder, commit, FOLDER) as root:
        if root is None:
            return "", ""
        try:
            before = scenario_of(root, file, whole=False)
            return before.sha256, scenario_of(root, file).sha256
        except ValueError:
            return "", ""
