"""Tables of one ledger: no difference of their cells reveals a small number, by every table that agrees with all."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import jsonschema
import pytest

import kanon_sql
from kanon_sql.errors import SpecError, VerificationError
from kanon_sql.tables import earlier_tables
from tests.conftest import Database

COLUMNS = {"age": "INTEGER", "sex": "VARCHAR"}
BASE: dict[str, Any] = {
    "version": 1, "kind": "table", "source": "people", "rules": {"threshold": 3}, "ledger": "people_ledger",
}  # fmt: skip

Finest = tuple[int, str]
Partition = Sequence[Sequence[int]]


def spec_of(release: str, ages: Partition | None, *, sex: bool, **changes: Any) -> kanon_sql.TableSpec:
    dimensions: dict[str, Any] = {}
    if ages is not None:
        tree = {"-".join(map(str, group)): [*map(str, group)] for group in ages}
        dimensions["age"] = {"hierarchy": {"tree": tree}, "levels": [1]}
    if sex:
        dimensions["sex"] = None
    return kanon_sql.TableSpec.from_dict({**BASE, "release": release, "dimensions": dimensions, **changes})


def cells_of(ages: Partition | None, *, sex: bool) -> dict[tuple[str, ...], frozenset[Finest]]:
    """The labels of each cell, and of whom it is the number."""
    everybody = [(age, of) for age in range(4) for of in "FM"]
    by_age = {"-".join(map(str, group)): set(group) for group in ages or ()} | {"*": set(range(4))}
    by_sex = {"F": {"F"}, "M": {"M"}, "*": {"F", "M"}}
    parts = [by_age] * (ages is not None) + [by_sex] * sex
    found = {}
    for labels in product(*parts):
        own = dict(zip(["age"] * (ages is not None) + ["sex"] * sex, labels, strict=True))
        ages_of, sexes = by_age[own.get("age", "*")], by_sex[own.get("sex", "*")]
        found[labels] = frozenset(one for one in everybody if one[0] in ages_of and one[1] in sexes)
    return found


def worlds(shown: Mapping[frozenset[Finest], int | None], most: int) -> Iterator[dict[Finest, int]]:
    """Every table of whole numbers that agrees: a number is published, is not empty (None), or is empty (0)."""
    finest = [(age, of) for age in range(4) for of in "FM"]
    above = {one: [parts for parts in shown if one in parts] for one in finest}
    last = {parts: max(finest.index(one) for one in parts) for parts in shown}
    sums: Counter[frozenset[Finest]] = Counter()
    chosen: dict[Finest, int] = {}

    def set_from(number: int) -> Iterator[dict[Finest, int]]:
        if number == len(finest):
            yield dict(chosen)
            return
        one = finest[number]
        room = min((limit for parts in above[one] if (limit := shown[parts]) is not None), default=most)
        for value in range(room + 1):
            chosen[one] = value
            for parts in above[one]:
                sums[parts] += value
            fits = all(
                (limit := shown[parts]) is None or sums[parts] <= limit for parts in above[one]
            ) and all(
                sums[parts] >= 1 if shown[parts] is None else sums[parts] == shown[parts]
                for parts in above[one] if last[parts] == number
            )  # fmt: skip
            if fits:
                yield from set_from(number + 1)
            for parts in above[one]:
                sums[parts] -= value

    yield from set_from(0)


def agreed(result: kanon_sql.results.Tabulation, cells: Mapping[Any, frozenset[Finest]]) -> dict[Any, int | None]:
    """What a published table says of each of its cells; those that it does not list are empty."""
    listed = {cell.labels: cell.value for cell in result.table}
    return {parts: None if listed.get(labels, 0) is None else int(listed.get(labels, 0) or 0)
            for labels, parts in cells.items()}  # fmt: skip


PARTITIONS: list[Partition | None] = [
    [[0, 1], [2, 3]], [[0], [1, 2], [3]], [[0, 1, 2], [3]], [[0], [1, 2, 3]], [[0, 2], [1, 3]], None,
]  # fmt: skip


def check(database: Database, seed: int) -> tuple[int, int]:
    """Whether all small numbers are open; how many cells the ledger suppressed, and how many tables it refused."""
    draw = random.Random(seed)
    true = Counter({(age, of): draw.choice([0, 1, 1, 2, 3]) for age in range(4) for of in "FM"})
    database.table("people", COLUMNS, [one for one, count in true.items() for _ in range(count)])
    for name in ("people_ledger", "first", "second"):
        database.connection.execute(f"DROP TABLE IF EXISTS {name}")
    first, second = draw.sample(PARTITIONS, 2)
    shapes = [(first, first is None or draw.random() < 0.4), (second, second is None or draw.random() < 0.4)]
    results = []
    for name, (ages, sex) in zip(("first", "second"), shapes, strict=True):
        alone = kanon_sql.tabulate(database.engine, spec_of(name, ages, sex=sex, ledger=None), preview=True)
        result = kanon_sql.tabulate(database.engine, spec_of(name, ages, sex=sex))
        if not result.passed:
            return 0, int(alone.passed)
        results.append(result)
    added = results[1].cells["suppressed"] - alone.cells["suppressed"]
    sets = [cells_of(ages, sex=sex) for ages, sex in shapes]
    shown: dict[frozenset[Finest], int | None] = {}
    for result, cells in zip(results, sets, strict=True):
        for parts, value in agreed(result, cells).items():
            shown[parts] = value if value is not None else shown.get(parts)
    hidden = {parts for cells in sets for parts in cells.values()}
    for one, other in product(sets[0].values(), sets[1].values()):
        hidden |= {one & other, one - other, other - one}
    for ours, theirs in ((sets[0], sets[1]), (sets[1], sets[0])):
        for whole in ours.values():
            parts = [own for labels, own in theirs.items() if "*" not in labels]
            hidden |= {whole.difference(*(own for own in parts if own <= whole)),
                       frozenset().union(*(own for own in parts if own & whole)) - whole}  # fmt: skip
    small = [parts for parts in hidden if 0 < sum(true[one] for one in parts) < 3]
    low, high = dict.fromkeys(small, 10**6), dict.fromkeys(small, -1)
    for world in worlds(shown, sum(true.values()) + 2):
        for parts in small:
            value = sum(world[one] for one in parts)
            low[parts], high[parts] = min(low[parts], value), max(high[parts], value)
    assert all(high[parts] - low[parts] >= 2 for parts in small)
    return added, 0


@pytest.mark.slow
def test_no_difference_of_two_tables_reveals_a_small_number(shared_database: Database) -> None:
    found = [check(shared_database, seed) for seed in range(10, 26)]
    assert sum(added > 0 for added, _ in found) > 1
    assert any(not refused for _, refused in found)


def people(database: Database, counts: Sequence[int] = (9, 2, 9, 9)) -> None:
    database.table("people", COLUMNS, [(age, "FM"[n % 2]) for age, count in enumerate(counts) for n in range(count)])


def test_what_would_be_left_of_a_subtraction_is_hidden(database: Database) -> None:
    """Known answer: those up to 1 less those of 0 are two persons, and no table has them as a cell."""
    people(database)
    assert kanon_sql.tabulate(database.engine, spec_of("first", [[0], [1, 2, 3]], sex=False)).passed
    second = [[0, 1], [2, 3]]
    alone = kanon_sql.tabulate(database.engine, spec_of("second", second, sex=False, ledger=None), preview=True)
    assert alone.cells["suppressed"] == 0
    result = kanon_sql.tabulate(database.engine, spec_of("second", second, sex=False))
    assert result.passed
    assert {cell.labels[0] for cell in result.table if cell.suppressed} == {"0-1", "2-3"}
    assert any("compared with first: 2 more cells suppressed" in note for note in result.notes)
    assert {row[0] for row in database.rows("second") if row[1] is None} == {"0-1", "2-3"}
    (ledger,) = [kanon_sql.ledger(database.engine, "people_ledger")]
    assert [entry.release for entry in ledger.entries] == [("first",), ("second",)]
    collapsed = spec_of("third", [[0, 1], [2, 3]], sex=False, protection="collapsing")
    refused = kanon_sql.tabulate(database.engine, collapsed)
    assert not refused.passed
    assert "below the threshold would be revealed by subtracting cells; use protection: suppression" in refused.message
    assert "third" not in database.tables()


def test_what_several_cells_leave_of_one_is_hidden(database: Database) -> None:
    """Known answer: 1 to 4 less 2 less 3 are two persons, of whom no reader knows which of 1 and 4 they are."""
    people(database, (9, 1, 9, 9, 1, 9))
    first, second = [[0, 1], [2], [3], [4, 5]], [[1, 2, 3, 4], [0, 5]]
    assert kanon_sql.tabulate(database.engine, spec_of("first", first, sex=False)).passed
    result = kanon_sql.tabulate(database.engine, spec_of("second", second, sex=False))
    assert {cell.labels[0] for cell in result.table if cell.suppressed} == {"1-2-3-4", "0-5"}
    database.connection.execute("DROP TABLE people_ledger")
    assert kanon_sql.tabulate(database.engine, spec_of("third", second, sex=False)).passed
    result = kanon_sql.tabulate(database.engine, spec_of("fourth", first, sex=False))
    assert result.passed
    assert result.cells["suppressed"] > 0


def test_a_table_that_needs_nothing_is_published_as_it_is(database: Database) -> None:
    people(database, (9, 9, 9, 9))
    assert kanon_sql.tabulate(database.engine, spec_of("first", [[0, 1], [2, 3]], sex=True)).passed
    result = kanon_sql.tabulate(database.engine, spec_of("second", [[0], [1, 2, 3]], sex=False))
    assert (result.passed, result.cells["suppressed"]) == (True, 0)
    assert not any("three tables" in note for note in result.notes)
    result = kanon_sql.tabulate(database.engine, spec_of("third", None, sex=True))
    assert any("differences of three tables are not looked for" in note for note in result.notes)


def test_what_was_proven_of_all_tables_is_verified(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof that lets a published cell move is no proof."""
    people(database)
    assert kanon_sql.tabulate(database.engine, spec_of("first", [[0], [1, 2, 3]], sex=False)).passed
    original = earlier_tables._hidden

    def claimed(workspace: Any, spec: Any, found: Any, one: Any) -> Any:
        done = original(workspace, spec, found, one)
        return earlier_tables.replace(done, values=found.values)

    monkeypatch.setattr(earlier_tables, "_hidden", claimed)
    with pytest.raises(VerificationError, match="sensitive cells are not protected"):
        kanon_sql.tabulate(database.engine, spec_of("second", [[0, 1], [2, 3]], sex=False))
    assert "second" not in database.tables()


def test_what_cannot_be_compared_is_refused(database: Database) -> None:
    people(database)
    first = spec_of("first", [[0], [1, 2, 3]], sex=False)
    assert kanon_sql.tabulate(database.engine, first).passed

    def refused(message: str, **changes: Any) -> None:
        with pytest.raises(SpecError, match=message):
            kanon_sql.tabulate(database.engine, spec_of("second", None, sex=True, **changes))

    with pytest.raises(SpecError, match="stays as it is; publish under another name"):
        kanon_sql.tabulate(database.engine, first)
    refused("made of another source", source={"query": "SELECT * FROM people"})
    database.connection.execute("INSERT INTO people VALUES (0, 'F')")
    refused("first can no longer be derived from the source")
    database.connection.execute("DROP TABLE first")
    refused("the table first .* is not in the database any more")
    given = {"version": 1, "source": "people", "release": "rows", "quasi_identifiers": {"age": None}}
    with pytest.raises(SpecError, match="first is a table of counts, which is not compared with rows"):
        kanon_sql.anonymize(
            database.engine,
            kanon_sql.Spec.from_dict({**given, "privacy": [{"k_anonymity": {"k": 2}}], "ledger": "people_ledger"}),
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measure": "age", "dimensions": {"sex": None}}, "tables with measure are not compared"),
        ({"protection": {"method": "conventional_rounding", "base": 5}}, "rounded tables are not compared"),
        ({"unit": "id", "count": "rows"}, "rows of persons are not compared"),
        ({"ledger": {"table": "x", "on_conflict": "coarsen"}}, "suppression hides more cells by itself"),
        ({"dimensions": {"age": {"hierarchy": {"file": "x.csv"}}}}, "write a tree or a rule"),
        ({"ledger": "people"}, "the ledger has the source's name"),
    ],
)
def test_what_has_no_ledger(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        spec_of("first", None, sex=True, **changes)


def test_a_table_that_would_not_be_recorded_has_no_ledger() -> None:
    """Its cells can be given away as a file, and no later table would be compared with them."""
    with pytest.raises(SpecError, match="only a published table is recorded"):
        kanon_sql.TableSpec.from_dict({**BASE, "dimensions": {"sex": None}})


def test_a_spec_with_a_ledger_reads_back() -> None:
    spec = spec_of("first", [[0], [1, 2, 3]], sex=True)
    assert kanon_sql.TableSpec.from_dict(spec.to_dict()) == spec
    jsonschema.Draft202012Validator(kanon_sql.TableSpec.json_schema()).validate(spec.to_dict())


def test_dimensions_are_compared_in_any_order(database: Database) -> None:
    """A ledger keeps names and not their order: levels of one dimension are not those of another."""
    rows = [(age, of) for age in range(4) for of in "FM" for _ in range(4)]
    database.table("people", COLUMNS, rows)
    ages = {"hierarchy": {"tree": {"young": ["0", "1"], "old": ["2", "3"]}}, "levels": [0, 1]}
    for release, dimensions in [("first", {"sex": None, "age": ages}), ("second", {"age": ages})]:
        spec = kanon_sql.TableSpec.from_dict({**BASE, "release": release, "dimensions": dimensions})
        assert kanon_sql.tabulate(database.engine, spec).passed
