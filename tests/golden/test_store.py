"""Nothing that is published gets lost, whatever form the store has.

`store.json.xz` has the rounds, the SHA-256 of each record's facts in one form, and that of each
file beside the records. Every record and file is in the rounds whose numbers, from 0, follow.
"""

from tests.golden import kept, published


def test_every_round_has_the_facts_and_files_that_it_was_published_with() -> None:
    rounds, members = published.rounds(), published.members()
    numbers = {name: str(number) for number, name in enumerate(rounds)}

    def of(names: tuple[str, ...]) -> str:
        return " ".join(numbers[each] for each in names)

    found = {
        "rounds": {name: kept.plain(published.about(name)) for name in rounds},
        "records": {
            path: [kept.sha256(published.facts(record)), of(members[path])]
            for path, record in published.records().items()
        },
        "files": {file: [sha256, of(names)] for file, (sha256, names) in published.files().items()},
    }
    kept.require("store.json.xz", found)
