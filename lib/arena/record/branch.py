"""The branch that holds results: push-results.sh and fetch-results.sh call this.

The branch has each bundle, and each loose record with the files beside it, but no rounds and
nothing that is generated. Its files are never changed or deleted. A bundle is taken only if its
parts are those of its manifest. This needs git and no package: it also runs where a token is at
hand, and nothing is set up.
"""

import argparse
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from arena.base.errors import EXIT_INTERRUPTED, ArenaError, HostError, UsageError
from arena.base.reading import sha256_of
from arena.base.text import printable
from arena.base.writing import DRAFT, put_new, sync_tree
from arena.record.arrivals import MOST_BYTES, MOST_FILES, owner_of, record_of, unpack
from arena.record.bundle import MANIFEST, RAW, Bundle, name_of

# A commit needs an author, even where git has no user.
_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "nightly"), ("EMAIL", "nightly@localhost"))
}


class Branch:
    """A branch of a remote, and its newest commit `tip`, which is empty if there is none."""

    def __init__(self, root: Path, remote: str, name: str, scratch: Path) -> None:
        self._root, self.remote, self.name = root, remote, name
        self._environment = os.environ | {"GIT_INDEX_FILE": str(scratch / "index")}
        if not self._git("config", "user.email", may_fail=True):
            self._environment |= _AUTHOR
        self.tip = ""

    def fetch(self) -> None:
        """Fetch the branch, and set its tip; HostError if that cannot be."""
        ref = f"refs/heads/{self.name}"
        found = self._git("ls-remote", "--heads", self.remote, ref,
                          error=f"{self.remote} cannot be reached")  # fmt: skip
        self.tip = found.decode().partition("\t")[0]
        if self.tip:
            self._git("fetch", "--quiet", "--no-tags", self.remote, ref,
                      error=f"{self.name} cannot be fetched from {self.remote}")  # fmt: skip
            self.tip = self._git("rev-parse", "FETCH_HEAD").decode().strip()

    def files(self) -> dict[str, str]:
        """Return the records' plain files, as the blob of each path."""
        listed = self._git("ls-tree", "-rz", "--long", self.tip) if self.tip else b""
        found, size = {}, 0
        for line in filter(None, listed.split(b"\0")):
            facts, _, name = line.partition(b"\t")
            mode, _, blob, length = facts.split()
            path = name.decode(errors="replace")  # What is not UTF-8 is no record's.
            if mode == b"100644" and owner_of(path):
                found[path] = blob.decode()
                size += int(length)
        if len(found) > MOST_FILES * 20 or size > MOST_BYTES * 4:
            raise HostError(f"{self.name} has more files or bytes than records can have")
        return found

    def contents(self, blobs: Sequence[str]) -> Iterator[bytes]:
        """Yield the content of each blob, byte for byte: no attribute of a file changes it."""
        with subprocess.Popen(
            ["git", "-C", self._root, "cat-file", "--batch"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment,
        ) as git:  # fmt: skip
            assert git.stdin  # noqa: S101
            assert git.stdout  # noqa: S101
            for blob in blobs:
                git.stdin.write(f"{blob}\n".encode())
                git.stdin.flush()
                _, kind, size = git.stdout.readline().split()
                content = git.stdout.read(int(size) + 1)[:-1]
                if kind != b"blob" or len(content) != int(size):
                    raise HostError(f"{self.name}: git cannot read {blob}")
                yield content
            git.stdin.close()

    def commit(self, paths: Sequence[str]) -> tuple[str, str]:
        """Add the new ones of the files below results/; return the commit, and what it adds.

        There is none if nothing is new. UsageError if a file differs from the branch's.
        """
        there = self.files()
        lines = "".join(f"results/{path}\n" for path in paths)
        hashed = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", given=lines)
        ours = dict(zip(paths, hashed.decode().split(), strict=True))
        for path, blob in ours.items():
            if there.get(path, blob) != blob:
                raise UsageError(f"results/{path}: differs from {self.name} on {self.remote}, "
                                 "and records are never changed")  # fmt: skip
        new = {path: blob for path, blob in ours.items() if path not in there}
        if not new:
            return "", ""
        self._git("read-tree", self.tip or "--empty")
        entries = "".join(f"100644 {blob}\t{path}\0" for path, blob in new.items())
        self._git("update-index", "-z", "--add", "--index-info", given=entries)
        tree = self._git("write-tree").decode().strip()
        owners = [path for path in new if path == owner_of(path)]
        bundles = sum(path.endswith(f"/{MANIFEST}") for path in owners)
        count = " and ".join(
            f"{number} new {what}"
            for number, what in ((len(owners) - bundles, "records"), (bundles, "bundles"))
            if number or (what == "records" and not bundles)
        )
        parent = ["-p", self.tip] if self.tip else []
        made = self._git("commit-tree", tree, *parent, "-m", count)
        return made.decode().strip(), count

    def push(self, commit: str) -> str:
        """Push a commit; return why it was refused, or nothing."""
        try:
            self._git("push", "--quiet", self.remote, f"{commit}:refs/heads/{self.name}", error="")
        except HostError as error:
            return str(error)
        return ""

    def _git(
        self, *words: str, given: str = "", error: str | None = None, may_fail: bool = False
    ) -> bytes:
        """Return what git prints; HostError, whose text begins with `error`, if it fails."""
        done = subprocess.run(
            ["git", "-C", self._root, *words],
            check=False, capture_output=True, input=given.encode(), env=self._environment,
        )  # fmt: skip
        if done.returncode and not may_fail:
            said = done.stderr.decode(errors="replace").splitlines()
            said = [line for line in said if line and not line.startswith("hint:")]
            why = printable(said[-1]) if said else f"exit status {done.returncode}"
            start = f"git {words[0]}" if error is None else error
            raise HostError(f"{start}: {why}" if start else why)
        return done.stdout


def local_files(results: Path) -> list[str]:
    """Return all records below results/ and the plain files beside them.

    What is half-written has no record yet, and is left out.
    """
    found = set()
    for folder, folders, names in os.walk(results):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for name in names:
            path = Path(folder, name)
            below = path.relative_to(results).as_posix()
            if owner_of(below) and path.is_file() and not path.is_symlink():
                found.add(below)
    return sorted(path for path in found if owner_of(path) in found)


@contextmanager
def _draft(results: Path) -> Iterator[Path]:
    """Make a hidden folder in results/; if this is killed, a later start removes it."""
    with tempfile.TemporaryDirectory(None, DRAFT, results, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _damaged(folders: Sequence[Path], paths: Iterable[str]) -> dict[str, str]:
    """Return the manifests whose bundles are not what they say, and why.

    Of each path, the first folder that has it counts: a manifest may be here already.
    """
    found: dict[str, str] = {}
    for path in paths:
        owner = owner_of(path) or ""
        if not owner.endswith(f"/{MANIFEST}") or owner in found:
            continue
        there = next((it for it in folders if (it / owner).is_file()), folders[0])
        try:
            bundle = Bundle.open((there / owner).parent)
        except ValueError as error:
            found[owner] = f"{owner.removesuffix(MANIFEST)}{error}"
            continue
        part = bundle.manifest.parts.get(path.rpartition("/")[2])
        if part and sha256_of(folders[0] / path) != part.sha256:
            found[owner] = f"{path}: is not what its manifest names"
    return found


def _wanted(
    draft: Path,
    results: Path,
    paths: Collection[str],
    there: Container[str],
    bad: Container[str] = (),
) -> list[str]:
    """Return what to take of a draft's files, which come from what is `there`; remove the others.

    These are the `bad` bundles, and loose records that a bundle has, here or in the draft. If the
    bundle's raw outputs are neither here nor there, a loose record may be all that has its own.
    """
    left = {owner for owner in map(owner_of, paths) if owner in bad}
    names = {
        path: name_of((draft / path).read_bytes()) for path in paths if path == record_of(path)
    }
    # Bundles are unpacked only if a loose record may be in one.
    for folder in (results, draft) if names else ():
        for manifest in folder.glob(f"nights/[0-9]*/{MANIFEST}"):
            owner = manifest.relative_to(folder)
            is_bad = owner.as_posix() in bad
            has_raw = owner.with_name(RAW).as_posix() in there and not is_bad
            with suppress(ValueError, OSError):
                bundle = Bundle.open(manifest.parent)
                if (folder == draft and is_bad) or not (has_raw or bundle.has_raw):
                    continue
                bundled = {name for name, _ in bundle.named_lines()}
                left |= {path for path, name in names.items() if name in bundled}
    for path in (each for each in paths if owner_of(each) in left):
        (draft / path).unlink()
    return [path for path in paths if owner_of(path) not in left]


def _place(draft: Path, results: Path, paths: Iterable[str]) -> int:
    """Move files to their places, each in one step, records after the files beside them.

    Nothing that is there is overwritten. Returns the number of files that were not there.
    """
    count = 0
    for path in sorted(paths, key=lambda path: path == owner_of(path)):
        place = results / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(results.resolve()):
            raise HostError(f"results/{path}: a link leads out of results/")
        try:
            put_new(draft / path, place)
        except FileExistsError:
            continue
        count += 1
    return count


def fetch(branch: Branch, results: Path) -> str:
    """Add the branch's files that are missing here.

    Loose records that a bundle has are left out, and raw outputs that were removed from a bundle.
    """
    branch.fetch()
    if not branch.tip:
        return f"{branch.remote} has no branch {branch.name} yet"
    there = branch.files()
    missing = {
        path: blob
        for path, blob in there.items()
        if not os.path.lexists(results / path)
        and not (path.endswith(f"/{RAW}") and (results / path).with_name(MANIFEST).exists())
    }
    with _draft(results) as draft:
        contents = branch.contents(list(missing.values()))
        for path, content in zip(missing, contents, strict=True):
            place = draft / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                file.write(content)
        bad = _damaged([draft, results], missing)
        wanted = _wanted(draft, results, missing, there, bad)
        sync_tree(draft)
        count = _place(draft, results, wanted)
    if bad:
        raise HostError(f"{branch.name}: left out {'; '.join(bad.values())}")
    return f"{count} new files from {branch.name}"


def push(branch: Branch, results: Path) -> str:
    """Add the files to the branch that it lacks."""
    paths, before = local_files(results), None
    if bad := _damaged([results], paths):
        raise UsageError(f"results/{'; '.join(bad.values())}")
    branch.fetch()
    refused = ""
    while branch.tip != before:
        commit, count = branch.commit(paths)
        if not commit:
            return f"nothing new for {branch.name}"
        refused = branch.push(commit)
        if not refused:
            return f"{count} in {branch.name}"
        # A new tip means that somebody else was faster.
        before = branch.tip
        branch.fetch()
    raise HostError(f"{branch.remote} refuses {branch.name}: {refused}")


def pack(branch: Branch, results: Path, file: Path) -> str:
    """Write the files that the branch lacks into a tar file."""
    branch.fetch()
    there = branch.files()
    new = [path for path in local_files(results) if path not in there]
    try:
        with tarfile.open(file, "w") as archive:
            for path in new:
                archive.add(results / path, path)
    except OSError as error:
        raise HostError(f"{file}: cannot be written ({error.strerror})") from error
    return f"{len(new)} new files in {file}"


def take(results: Path, file: Path) -> str:
    """Add the records of a tar file that are missing here."""
    try:
        with file.open("rb") as archive, _draft(results) as draft:
            names = unpack(archive, draft, owner_of)
            if bad := _damaged([draft, results], names):
                raise UsageError(f"{file}: {'; '.join(bad.values())}")
            count = _place(draft, results, _wanted(draft, results, names, names))
    except ValueError as error:
        raise UsageError(f"{file}: cannot be unpacked: {error}") from error
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    return f"{count} new files from {file}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see --help")


def _main(root: Path, words: Sequence[str]) -> str:
    """Do what is asked, and return a line about it."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("verb", choices=["fetch", "push"])
    parser.add_argument("remote", nargs="?", default="origin", metavar="REMOTE")
    parser.add_argument("branch", nargs="?", default="results", metavar="BRANCH")
    parser.add_argument("--pack", type=lambda value: Path(value).absolute(), metavar="FILE")
    parser.add_argument("--unpack", type=lambda value: Path(value).absolute(), metavar="FILE")
    asked = parser.parse_args(words)
    results = root / "results"
    if not results.is_dir():
        raise UsageError(f"there is no results/ in {root}")
    if asked.verb == "fetch" and (asked.pack or asked.unpack):
        raise UsageError("--pack and --unpack belong to push-results.sh")
    if asked.unpack:
        return take(results, asked.unpack)
    check = ["git", "check-ref-format", "--branch", asked.branch]
    if subprocess.run(check, check=False, capture_output=True).returncode:
        raise UsageError(f"{asked.branch} is not a valid name for a branch")
    with tempfile.TemporaryDirectory(prefix=DRAFT) as scratch:
        branch = Branch(root, asked.remote, asked.branch, Path(scratch))
        if asked.pack:
            return pack(branch, results, asked.pack)
        return (push if asked.verb == "push" else fetch)(branch, results)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        line = _main(Path(sys.argv[2]), [sys.argv[1], *sys.argv[3:]])
        sys.stdout.write(f"{line}\n")
    except ArenaError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
