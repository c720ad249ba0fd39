"""Every entry below frameworks/ is complete, pinned and can be built anywhere (docs/rules.md)."""

import re
import shutil
import subprocess
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from arena.judge.proofs import Proofs
from arena.machine.builds import install_lines
from arena.what.framework import Advisories, framework_names, load_framework, source_files
from arena.what.releases import MANIFESTS, libraries

ROOT = Path(__file__).resolve().parents[4]
FRAMEWORKS = ROOT / "frameworks"
PROTOS = ROOT / "requests"
NAMES = framework_names(FRAMEWORKS)

TESTS = [
    "unary-grpc", "unary-grpc-tls", "stream-grpc", "stream-grpc-tls", "client-stream-grpc",
    "bidi-grpc",
    "load-const", "load-step-up", "load-step-down", "load-line-up", "load-line-down",
    "blast-unary", "sustained-unary",
]  # fmt: skip

# The profiles with a .proto of their own, for entries that offer its service.
OFFERED = {"health-grpc"}

# All but those with TLS, for a library whose server has none.
PLAIN = [each for each in TESTS if not each.endswith("-tls")]

# Entries that serve items.
CRUD = ["crud-h2c", "crud-tls", "crud-h1", "crud-paced"]

# Entries whose ports are 8080 and 8443 only.
FIXED = {"aspnet-grpc"}

# The library's package, and the one that brings it.
BROUGHT = {"libghc-warp-dev": "libghc-warp-tls-dev"}

# Files that package managers write, or that tell them where to look.
LOCKS = {".npmrc", "go.mod", "go.sum", "package-lock.json", "pom.xml", "requirements.txt"}

# Addresses that are no registry's, or a mere name for the public one.
PUBLIC = {
    "Cargo.lock": r"registry\+https://github.com/rust-lang/crates.io-index",
    "package-lock.json": r'"funding": \{[^}]*\}',
    "pom.xml": r"http://(maven\.apache\.org|www\.w3\.org)/",
}

# Tags that mean another image next month.
FLOATING = {"latest", "stable", "lts", "current", "edge", "nightly", "slim", "alpine"}


def test_every_folder_is_a_framework() -> None:
    folders = [path.name for path in FRAMEWORKS.iterdir() if source_files(path)]
    assert sorted(folders) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_meta_json_says_all_there_is_to_say(name: str) -> None:
    framework = load_framework(FRAMEWORKS, name)
    for key in ("display_name", "language", "engine", "description", "repo"):
        text = getattr(framework, key)
        assert text not in {"", "unknown"}, key
        assert "TODO" not in text, key
    assert framework.repo.startswith("https://")
    assert [each for each in framework.tests if each not in OFFERED] in (TESTS, PLAIN, CRUD)
    assert framework.ports == "environment" or name in FIXED
    assert framework.native is not None
    # Debian packages all that is needed, except .NET.
    assert framework.native.needs
    unknown = [line for line in install_lines(framework.native.needs) if "apt-get" not in line]
    assert unknown in ([], ["install by hand: dotnet"]), "lib/arena/machine/builds.py: _PACKAGES"
    # The server itself is what is measured and sent signals, and no shell.
    assert framework.native.run.startswith("exec ")


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_has_what_a_reader_and_a_build_need(name: str) -> None:
    folder = FRAMEWORKS / name
    readme = (folder / "README.md").read_text()
    assert readme.startswith(f"# {name}\n")
    assert "TODO" not in readme
    assert ".build" in (folder / ".dockerignore").read_text().splitlines()
    for path in source_files(folder):
        assert not re.search(r"\bTODO\b", path.read_text()), path


def test_every_entry_has_a_line_of_its_library_and_they_are_sorted() -> None:
    assert list(libraries(FRAMEWORKS)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_version_of_a_library_stands_once_where_a_build_takes_it_from(
    name: str, tmp_path: Path
) -> None:
    """If one of the places with the same text is changed, the version is another one there."""
    library = libraries(FRAMEWORKS)[name]
    version = library.release(FRAMEWORKS / name).version
    if library.registry == "debian":
        package = BROUGHT.get(library.package, library.package)
        dockerfile = (FRAMEWORKS / name / "Dockerfile").read_text()
        assert re.search(rf"\s{re.escape(package)}(={version}-\*)?\s", dockerfile)
        return
    (manifest,) = (FRAMEWORKS / name).glob(MANIFESTS[library.registry][0])
    file, text = manifest.name, manifest.read_text()
    folder = tmp_path / name
    folder.mkdir()
    found = []
    for place in re.finditer(rf"(?<![\d.]){re.escape(version)}(?![\w.])", text):
        (folder / file).write_text(f"{text[: place.start()]}0.0.7{text[place.end() :]}")
        found.append(library.release(folder).version)
    assert found.count("0.0.7") == 1
    assert set(found) <= {version, "0.0.7"}


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_has_the_version_of_the_manifest(name: str) -> None:
    it = libraries(FRAMEWORKS)[name].release(FRAMEWORKS / name)
    locks = {
        "cargo": ("Cargo.lock", f'name = "{it.package}"\nversion = "{it.version}"\n'),
        "go": ("go.sum", f"{it.package} v{it.version} h1:"),
        "npm": (
            "package-lock.json",
            f'"node_modules/{it.package}": {{\n      "version": "{it.version}"',
        ),
        "pypi": ("requirements.txt", f"\n{it.package}=={it.version} "),
    }
    if it.registry in locks:
        file, line = locks[it.registry]
        assert (FRAMEWORKS / name / file).read_text().count(line) == 1


def test_every_proof_is_of_an_entry_and_none_of_a_failure() -> None:
    found = Proofs.read(FRAMEWORKS).frameworks
    assert set(found) <= set(NAMES)
    assert [name for name, proof in found.items() if proof.verdict == "fail"] == []


def is_grpc(name: str) -> bool:
    return load_framework(FRAMEWORKS, name).tests != tuple(CRUD)


@pytest.mark.parametrize("name", [name for name in NAMES if is_grpc(name)])
def test_an_entry_has_the_proto_or_what_was_generated_from_it(name: str) -> None:
    files = source_files(FRAMEWORKS / name)
    copies = [path for path in files if path.suffix == ".proto"]
    # Some generators need an option in it.
    kept = [re.sub(r"\n// [^\n]*\noption [^\n]*\n", "", path.read_text()) for path in copies]
    assert kept == [(PROTOS / path.name).read_text() for path in copies]
    if not copies:
        assert any("BenchmarkService" in path.read_text() for path in files)


@pytest.mark.parametrize("name", NAMES)
def test_no_lock_file_says_which_registry_it_came_from(name: str) -> None:
    for path in source_files(FRAMEWORKS / name):
        if path.name not in LOCKS and path.suffix != ".lock":
            continue
        text = re.sub(PUBLIC.get(path.name, r"\0"), "", path.read_text())
        assert "://" not in text, path
        assert '"resolved"' not in text, path
        assert not re.search(r"(?m)^\s*(--(extra-)?index-url|--find-links|registry\s*=)", text)


@pytest.mark.parametrize("name", NAMES)
def test_what_pip_and_npm_install_is_pinned_by_hash(name: str) -> None:
    folder = FRAMEWORKS / name
    if (folder / "requirements.txt").exists():
        lines = (folder / "requirements.txt").read_text().replace("\\\n", "").splitlines()
        pins = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
        assert pins
        assert [line for line in pins if not re.match(r"\S+==\S+\s.*--hash=sha256:", line)] == []
    if (folder / "package.json").exists():
        assert (folder / "package-lock.json").read_text().count('"integrity": "sha512-') > 0
    if (folder / "Cargo.toml").exists():
        assert "checksum = " in (folder / "Cargo.lock").read_text()
    if (folder / "go.mod").exists() and "require" in (folder / "go.mod").read_text():
        assert (folder / "go.sum").read_text()


def base_images(dockerfile: Path) -> list[str]:
    """Return what its FROM lines name, as standin-images.sh reads them."""
    program = ROOT / "scripts" / "standin" / "from-lines.awk"
    words = ["awk", "-f", str(program), str(dockerfile)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("name", NAMES)
def test_a_dockerfile_is_pinned_and_needs_no_new_builder(name: str) -> None:
    dockerfile = FRAMEWORKS / name / "Dockerfile"
    images = base_images(dockerfile)
    assert images
    for image in images:
        tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
        assert tag, f"{image} has no tag"
        assert set(tag.split("-")) - FLOATING, f"{image} is another one next month"
    text = dockerfile.read_text()
    has_tls = any(each.endswith("-tls") for each in load_framework(FRAMEWORKS, name).tests)
    assert ("EXPOSE 8080 8443" if has_tls else "EXPOSE 8080\n") in text
    # The classic builder is all that some hosts have.
    assert not re.search(r"(?m)^\s*(RUN\s+(--mount|<<)|COPY\s+(--link|<<)|#\s*syntax=)", text)
    # The server itself is process 1 and gets the signals.
    assert re.search(r"(?m)^(ENTRYPOINT|CMD) \[", text)


MAVEN = [name for name in NAMES if (FRAMEWORKS / name / "pom.xml").exists()]


@pytest.mark.parametrize("name", MAVEN)
def test_maven_takes_no_file_whose_checksum_differs(name: str) -> None:
    """Maven has no lock: it warns only, unless it is told. The build is made again if that goes."""
    config = FRAMEWORKS / name / ".mvn" / "maven.config"
    assert config.read_text().split() == ["--strict-checksums"]
    assert ".mvn/maven.config" in (FRAMEWORKS / name / "build.sh").read_text()
    ignored = (FRAMEWORKS / name / ".dockerignore").read_text().split()
    assert ".mvn" not in ignored


class Repository(SimpleHTTPRequestHandler):
    """Files of a Maven repository, in silence."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.skipif(not shutil.which("mvn"), reason="there is no Maven")
@pytest.mark.parametrize("is_strict", [True, False])
def test_mavens_own_file_of_a_checksum_is_obeyed(tmp_path: Path, *, is_strict: bool) -> None:
    """A parent from a repository that says another SHA-1 of it: only strictness refuses it."""
    head = '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    place = tmp_path / "repository" / "a" / "parent" / "7"
    place.mkdir(parents=True)
    names = "<groupId>a</groupId><artifactId>parent</artifactId><version>7</version>"
    parent = f"{head}{names}<packaging>pom</packaging></project>"
    (place / "parent-7.pom").write_text(parent)
    (place / "parent-7.pom.sha1").write_text("0" * 40)
    folder = tmp_path / "own"
    (folder / ".mvn").mkdir(parents=True)
    if is_strict:
        shutil.copy(FRAMEWORKS / MAVEN[0] / ".mvn" / "maven.config", folder / ".mvn")
    handler = partial(Repository, directory=str(tmp_path / "repository"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        (folder / "pom.xml").write_text(
            f"{head}<parent>{names}<relativePath/></parent><artifactId>own</artifactId>"
            "<packaging>pom</packaging><repositories><repository><id>loopback</id>"
            f"<url>{url}</url></repository></repositories></project>"
        )
        argv = ["mvn", "--batch-mode", f"-Dmaven.repo.local={tmp_path / 'local'}", "validate"]
        done = subprocess.run(argv, check=False, cwd=folder, capture_output=True, text=True)
        server.shutdown()
    assert (done.returncode != 0) == is_strict, done.stdout
    assert "hecksum validation failed" in done.stdout


def test_an_advisory_is_of_a_package_that_an_entry_still_has() -> None:
    told = Advisories.read(FRAMEWORKS).frameworks
    assert {each.id for each in told["volo-grpc"]} == {"RUSTSEC-2026-0118", "RUSTSEC-2026-0119"}
    for name, found in told.items():
        locks = [path for path in source_files(FRAMEWORKS / name) if path.suffix == ".lock"]
        text = "".join(path.read_text() for path in locks)
        for each in found:
            assert f'name = "{each.package}"\nversion = "{each.version}"' in text, each.id
