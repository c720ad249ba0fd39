"""Links: relative between any two files, and names that lead nowhere else."""

import pytest

from arena.site.links import name, relative


@pytest.mark.parametrize(
    ("target", "page", "link"),
    [
        ("index.html", "index.html", "index.html"),
        ("a/b/index.html", "a/b/index.html", "index.html"),
        ("a/b/index.html", "index.html", "a/b/index.html"),
        ("index.html#boards", "a/b/index.html", "../../index.html#boards"),
        ("a/c/x.json", "a/b/index.html", "../c/x.json"),
        ("a/b/c/x.json", "a/b/index.html", "c/x.json"),
    ],
)
def test_a_link_names_a_file_from_where_the_page_lies(target: str, page: str, link: str) -> None:
    assert relative(target, page) == link


def test_names_of_ours_stay_apart_and_others_stay_in_their_folder() -> None:
    ours = ["ghz", "ghz-", "ghz_", "unary-grpc", "Grpc.Net", "a.b-c__d"]
    assert [name(each) for each in ours] == ours
    assert name("p99 latency") == "p99-latency"
    assert name("messages/s") == "messages-s"
    strange = [name(each) for each in ("", ".", "..", "../x", "a/../b")]
    assert strange == ["-", "-", "-", "-x", "a-..-b"]
