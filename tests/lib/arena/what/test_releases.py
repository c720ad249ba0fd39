"""Releases: the version that an entry's manifest has of its library."""

from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.base.workspace import Workspace
from arena.what.releases import Release, release_of, releases

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><groupId>g</groupId><artifactId>parent</artifactId><version>4.1</version></parent>
  <version>1</version>
  <properties><a.version>7.1</a.version><b.version>7.2</b.version></properties>
  <dependencies>
    <dependency><groupId>g</groupId><artifactId>a</artifactId><version>${a.version}</version></dependency>
    <dependency><groupId>g</groupId><artifactId>b</artifactId></dependency>
    <dependency><groupId>g</groupId><artifactId>c</artifactId><version>${c.version}</version></dependency>
    <dependency><groupId>g</groupId><artifactId>d</artifactId><version>[1,2)</version></dependency>
  </dependencies>
</project>
"""


def workspace(root: Path, line: str, file: str = "", text: str = "") -> Workspace:
    """Return a checkout whose entry `mine` has this line and this manifest."""
    folder = root / "frameworks" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "releases.yaml").write_text(f"mine: {{{line}}}\n")
    if file:
        (folder / file).write_text(text)
    return Workspace(root)


def words(it: Workspace) -> str:
    found = release_of(it, "mine")
    assert found
    return found.words


@pytest.mark.parametrize(
    ("line", "file", "text", "expected"),
    [
        ("registry: go, package: a.org/b/grpc, name: b-go", "go.mod",
         "require (\n\ta.org/b/grpc v1.2.3\n\ta.org/b/grpc/x v9.9.9\n)\n", "b-go 1.2.3"),
        ("registry: go, package: a.org/b", "go.mod", "require a.org/b v1.2-rc.1\n", "b 1.2-rc.1"),
        ("registry: cargo, package: tonic", "Cargo.toml",
         '[dependencies]\ntonic = "0.14.9"\n[build-dependencies]\ntonic = "7"\n', "tonic 0.14.9"),
        ("registry: cargo, package: tonic", "Cargo.toml",
         '[dependencies.tonic]\nversion = "0.14.9"\n', "tonic 0.14.9"),
        ("registry: npm, package: '@a/b'", "package.json", '{"dependencies": {"@a/b": "1.2.3"}}',
         "b 1.2.3"),
        ("registry: pypi, package: a", "requirements.in", "# a==1\na-b==2\na[x,y]==3.0\n", "a 3.0"),
        ("registry: maven, package: 'g:a'", "pom.xml", POM, "a 7.1"),
        ("registry: maven, package: 'g:parent'", "pom.xml", POM, "parent 4.1"),
        ("registry: nuget, package: A.B", "whose.csproj",
         '<Project><I><PackageReference Include="A.B" Version="2.8"/></I></Project>',
         "A.B 2.8"),
        ("registry: docker, package: node", "Dockerfile", "FROM node:20-slim\n", "node 20"),
        ("registry: debian, package: liba-dev, version: 1.51.1", "", "", "liba-dev 1.51.1"),
    ],
)  # fmt: skip
def test_a_release_is_read_from_the_manifest(
    tmp_path: Path, line: str, file: str, text: str, expected: str
) -> None:
    assert words(workspace(tmp_path, line, file, text)) == expected


def test_a_release_has_all_that_its_line_says(tmp_path: Path) -> None:
    line = "registry: debian, package: liba-dev, name: a, version: '0.4', released: 2022-11"
    it = workspace(tmp_path, line)
    found = Release("debian", "liba-dev", "0.4", "2022-11", "a", of_image=True)
    assert release_of(it, "mine") == found
    assert releases(it.frameworks) == {"mine": found}


def test_an_entry_that_nobody_listed_has_no_release(tmp_path: Path) -> None:
    assert release_of(Workspace(tmp_path), "mine") is None
    assert releases(tmp_path) == {}
    it = workspace(tmp_path, "registry: docker, package: node")
    assert release_of(it, "other") is None


def test_a_line_without_its_entry_is_no_release(tmp_path: Path) -> None:
    it = workspace(tmp_path, "registry: go, package: a")
    it.framework("mine").rmdir()
    assert releases(it.frameworks) == {}


@pytest.mark.parametrize(
    ("line", "file", "text", "expected"),
    [
        ("registry: pip, package: a", "", "", "releases.yaml: mine.registry: Input should be"),
        ("registry: go", "", "", "releases.yaml: mine.package: Field required"),
        ("registry: go, package: a, pakage: b", "", "", "releases.yaml: mine.pakage: unknown key"),
        ("registry: go, package: a b", "", "", "releases.yaml: mine.package: String should match"),
        ("registry: go, package: a, released: may", "", "", "releases.yaml: mine.released: "),
        ("registry: go, package: a, version: '1'", "", "",
         "releases.yaml: mine: a version belongs to what comes from debian, and only to that"),
        ("registry: debian, package: a", "", "", "releases.yaml: mine: a version belongs to"),
        ("registry: go, package: a", "", "", "go.mod: cannot be read (No such file or directory)"),
        ("registry: go, package: a", "go.mod", "go 1.26\n",
         "go.mod: has no versions of a, which releases.yaml names"),
        ("registry: docker, package: node", "Dockerfile", "FROM node:20\nFROM node:22\n",
         "Dockerfile: has 2 versions of node, which releases.yaml names"),
        ("registry: npm, package: a", "package.json", '{"dependencies": {"a": "^1"}}',
         "package.json: '^1' is no version of a"),
        ("registry: npm, package: a", "package.json", '{"dependencies": []}',
         "package.json: has no versions of a"),
        ("registry: cargo, package: a", "Cargo.toml", "[dep\n", "Cargo.toml: Expected ']'"),
        ("registry: maven, package: 'g:b'", "pom.xml", POM, "pom.xml: has no versions of g:b"),
        ("registry: maven, package: 'g:c'", "pom.xml", POM, "pom.xml: has no versions of g:c"),
        ("registry: maven, package: 'g:d'", "pom.xml", POM, "pom.xml: '[1,2)' is no version"),
        ("registry: maven, package: 'g:a'", "pom.xml", "<project", "pom.xml: unclosed token"),
    ],
)  # fmt: skip
def test_what_is_broken_is_named_in_one_line(
    tmp_path: Path, line: str, file: str, text: str, expected: str
) -> None:
    it = workspace(tmp_path, line, file, text)
    with pytest.raises(UsageError) as caught:
        release_of(it, "mine")
    message = str(caught.value)
    assert f"/{expected}" in message
    assert "\n" not in message
