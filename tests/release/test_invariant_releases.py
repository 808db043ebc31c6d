"""m-invariant sequences of releases: the paper's tables, an oracle over random sequences, the history, refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.workspace import Workspace
from kanon_sql.errors import KanonError, SpecError, UnsupportedError, VerificationError
from kanon_sql.recode.assignment import assigned, balanced
from kanon_sql.report.json import result_schema
from kanon_sql.verbs import invariant
from tests.conftest import Database
from tests.oracles.invariance import TREE, Person, Released
from tests.support.strategies import examples

COLUMNS = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "disease": "VARCHAR"}
HIERARCHIES: dict[str, Any] = {"age": {"intervals": [10, 40]}, "zip": {"tree": TREE}}


def asked(source: str = "people", m: int = 2, **more: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": source, "release": f"{source}_release", "unit": "name",
            "quasi_identifiers": HIERARCHIES, "sensitive": ["disease"],
            "privacy": [{"m_invariance": {"attribute": "disease", "m": m, "history": "history"}}], **more,
        }
    )  # fmt: skip


def people(database: Database, table: Mapping[str, Person], name: str = "people") -> None:
    database.table(name, COLUMNS, [(who, *values) for who, values in table.items()])


def released(database: Database, name: str = "people_release") -> list[tuple[Any, ...]]:
    query = f"SELECT class_number, age, zip, disease, counterfeits FROM {name}"
    return database.connection.execute(query).fetchall()


def classes_of(database: Database, present: Mapping[str, Person]) -> dict[str, int]:
    """Who of this release is in which class, as the history says."""
    rows = database.connection.execute("SELECT name, class_number FROM history WHERE name IS NOT NULL").fetchall()
    assert len({name for name, _ in rows}) == len(rows)
    return {name: number for name, number in rows if name in present}


# --- The paper ----------------------------------------------------------------------------------------------

# Xiao, Tao (SIGMOD 2007): the table as it was at first and later, and the classes of the first release.
FIRST = {
    "Bob": (21, 12, "dyspepsia"), "Alice": (22, 14, "bronchitis"), "Andy": (24, 18, "flu"),
    "David": (23, 25, "gastritis"), "Gary": (41, 20, "flu"), "Helen": (36, 27, "gastritis"),
    "Jane": (37, 33, "dyspepsia"), "Ken": (40, 35, "flu"), "Linda": (43, 26, "gastritis"),
    "Paul": (52, 33, "dyspepsia"), "Steve": (56, 34, "gastritis"),
}  # fmt: skip
SECOND = {
    **{name: FIRST[name] for name in ("Bob", "David", "Gary", "Jane", "Linda", "Steve")},
    "Emily": (25, 21, "flu"), "Mary": (46, 30, "gastritis"), "Ray": (54, 31, "dyspepsia"),
    "Tom": (60, 44, "gastritis"), "Vince": (65, 36, "flu"),
}  # fmt: skip
CLASSES = [["Bob", "Alice"], ["Andy", "David"], ["Gary", "Helen"], ["Jane", "Ken", "Linda"], ["Paul", "Steve"]]


def of_the_paper(database: Database, **more: Any) -> kanon_sql.results.Release:
    """The second release, after a history that holds the paper's first one."""
    columns = {"name": "VARCHAR", "age": "INTEGER", "zip": "INTEGER", "disease": "VARCHAR"}
    for name, table in (("first", FIRST), ("second", SECOND)):
        database.table(name, columns, [(who, *values) for who, values in table.items()])
    hierarchies = {"quasi_identifiers": {"age": {"intervals": [5, 20]}, "zip": {"intervals": [5, 20]}}}
    kanon_sql.anonymize(database.engine, asked("first", **hierarchies))
    database.connection.execute("DELETE FROM history")
    signatures: list[set[str]] = []
    for number, members in enumerate(CLASSES, 1):
        values = {FIRST[who][2] for who in members}
        signatures += [values] if values not in signatures else []
        for who in members:
            row = (number, signatures.index(values) + 1, who, FIRST[who][2])
            database.connection.execute("INSERT INTO history VALUES (?, ?, ?, ?)", row)
    privacy = [{"m_invariance": {"attribute": "disease", "m": 2, "history": "history", **more}}]
    return kanon_sql.anonymize(database.engine, asked("second", privacy=privacy, **hierarchies))


def test_the_papers_second_release_in_ranges(database: Database) -> None:
    """As its table 3 has them, but for the table's lowest and highest values, and for the places of counterfeits."""
    assert of_the_paper(database, ranges=["age", "zip"]).passed
    number = classes_of(database, SECOND)
    labels = {own: (age, code) for own, age, code, _, _ in released(database, "second_release")}
    assert {who: labels[number[who]] for who in ("David", "Gary", "Ray", "Tom")} == {
        "David": ("[23, 25]", "[21, 25]"), "Gary": ("[41, 46]", "[20, 30]"), "Ray": ("[54, 56]", "[31, 34]"),
        "Tom": (">= 60", ">= 36"),
    }  # fmt: skip
    assert labels[number["Bob"]] == ("<= 23", "<= 25"), "Bob, and David's values for the counterfeit"
    assert labels[number["Jane"]] == ("[25, 43]", "[21, 33]"), "Jane, Linda, and Emily's values"


def test_the_papers_second_release(database: Database) -> None:
    """Its table 3: who is with whom, and two counterfeits, bronchitis beside Bob and flu beside Jane and Linda."""
    result = of_the_paper(database)
    assert result.passed
    found = result.m_invariance
    assert found is not None
    assert found["counterfeits"] == 2
    assert found["persons"] == {"released_before": 6, "new": 5}
    number = classes_of(database, SECOND)
    together = {frozenset(who for who in number if number[who] == own) for own in number.values()}
    expected = (["Bob"], ["David", "Emily"], ["Jane", "Linda"], ["Gary", "Mary"], ["Ray", "Steve"], ["Tom", "Vince"])
    assert together == {frozenset(members) for members in expected}
    rows = released(database, "second_release")
    counterfeit = {
        who: {disease for own, _, _, disease, _ in rows if own == number[who]}
        - {SECOND[other][2] for other in SECOND if number[other] == number[who]}
        for who in ("Bob", "Jane", "Linda", "Tom")
    }
    assert counterfeit == {"Bob": {"bronchitis"}, "Jane": {"flu"}, "Linda": {"flu"}, "Tom": set()}
    assert found["classes_by_counterfeits"] == [{"counterfeits": 0, "classes": 4}, {"counterfeits": 1, "classes": 2}]
    what_is_said_of_it(database, result)


def what_is_said_of_it(database: Database, result: kanon_sql.results.Release) -> None:
    jsonschema.Draft202012Validator(result_schema()).validate(result.to_dict())
    assert result.message == (
        "published 11 rows and 2 counterfeits in 6 classes, verified for 2-invariance of disease since history; every "
        "person is released"
    )
    assert result.achieved["m_invariance(disease)"]["m"] == 2
    assert result.classes == {"count": 6, "smallest": 2, "average": 13 / 6, "largest": 3}
    assert database.columns("second_release") == ["class_number", "age", "zip", "disease", "counterfeits"]
    assert database.tables() == [
        "first", "first_release", "history", "kanon_sql_manifest", "kanon_sql_scratch", "second", "second_release",
    ]  # fmt: skip
    assert database.rows("kanon_sql_scratch") == []
    manifests = {row[0]: json.loads(row[4]) for row in database.rows("kanon_sql_manifest")}
    assert manifests["second_release"]["m_invariance"]["counterfeits"] == 2
    assert manifests["history"]["history"]["releases"] == ["first_release", "second_release"]
    for text in (json.dumps(result.to_dict()), json.dumps(list(manifests.values())), *result.sql):
        assert not any(who in text for who in SECOND)
        assert not any(value in text for value in ("bronchitis", "dyspepsia"))


# --- Random sequences ---------------------------------------------------------------------------------------

PERSONS = st.tuples(
    st.one_of(st.none(), st.integers(0, 90)),
    st.sampled_from([code for codes in TREE.values() for code in codes]),
    st.sampled_from("abcde"),
)


@st.composite
def sequences(draw: st.DrawFn) -> tuple[int, list[dict[str, Person]]]:
    """Three to five versions of a table: persons come, go, and come again."""
    everybody = draw(st.lists(PERSONS, min_size=4, max_size=24))
    versions = []
    for _ in range(draw(st.integers(3, 5))):
        present = draw(st.lists(st.booleans(), min_size=len(everybody), max_size=len(everybody)))
        versions.append({f"p{i}": person for i, person in enumerate(everybody) if present[i]})
    return draw(st.integers(2, 3)), versions


def try_sequence(database: Database, m: int, versions: Sequence[Mapping[str, Person]], **more: Any) -> int:
    """Release what can be; the oracle says what that is. Returns how many releases there were."""
    privacy = [{"m_invariance": {"attribute": "disease", "m": m, "history": "history", **more}}]
    for table in ("history", "people_release", "kanon_sql_manifest"):
        database.connection.execute(f"DROP TABLE IF EXISTS {table}")
    so_far, count = Released(m), 0
    for present in versions:
        if not present:
            continue
        people(database, present)
        fewest = so_far.fewest_counterfeits(present)
        before = database.tables()
        result = kanon_sql.anonymize(database.engine, asked(privacy=privacy))
        assert result.passed == (fewest is not None), result.message
        if fewest is None:
            assert "nothing was published" in result.message
            assert set(database.tables()) <= {*before, "kanon_sql_scratch"}
            continue
        count += 1
        rows = released(database)
        assert len(rows) == len(present) + fewest
        assert result.m_invariance is not None
        assert result.m_invariance["counterfeits"] == fewest
        so_far.add(present, rows, classes_of(database, present))
        if more:
            ages = {age for age, _, _ in present.values() if age is not None}
            ends = {str(age) for age in (min(ages, default=None), max(ages, default=None))}
            labels = {label.removesuffix(" or NULL") for _, label, _, _, _ in rows if label is not None}
            assert not any(label.startswith(("<= ", ">= ")) and label[3:] in ends for label in labels)
            assert not any(label[0] == "[" and set(label[1:-1].split(", ")) & ends for label in labels), "are open"
        held = database.connection.execute("SELECT COUNT(DISTINCT name) FROM history").fetchone()
        assert held == (len(so_far.values),), "everybody who was ever released is remembered"
    return count


@pytest.mark.slow
@examples(5)
@given(sequences())
def test_random_sequences(shared_database: Database, problem: tuple[int, list[dict[str, Person]]]) -> None:
    try_sequence(shared_database, *problem)


@pytest.mark.slow
@examples(4)
@given(sequences())
def test_random_sequences_with_ranges(shared_database: Database, problem: tuple[int, list[dict[str, Person]]]) -> None:
    try_sequence(shared_database, *problem, ranges=["age"])


@pytest.mark.campaign
@pytest.mark.slow
@examples(60)
@given(sequences(), st.booleans())
def test_many_random_sequences(
    shared_database: Database, problem: tuple[int, list[dict[str, Person]]], ranged: bool
) -> None:
    try_sequence(shared_database, *problem, **({"ranges": ["age"]} if ranged else {}))


@pytest.mark.slow
def test_larger_tables_are_split_by_halves(database: Database) -> None:
    """Hundreds of persons, of whom a third go and others come in every release; some come again."""
    everybody = {
        f"p{i}": (None if i % 31 == 0 else i * 37 % 91, ["941", "942", "951"][i * 5 % 3], "abcde"[i * 7 // 3 % 5])
        for i in range(400)
    }
    versions = [
        {who: person for i, (who, person) in enumerate(everybody.items()) if (i * 13 + 5 * number) % 7 > 2}
        for number in range(4)
    ]
    assert try_sequence(database, 2, versions) == 4
    result = kanon_sql.anonymize(database.engine, asked())
    assert result.m_invariance is not None
    assert result.m_invariance["rounds"] >= 5
    assert result.cost.statements < 200
    assert result.mean_loss is not None
    assert result.mean_loss < 0.5, "who is together is near"


@pytest.mark.slow
def test_a_person_who_comes_again_is_held_to_their_values(database: Database) -> None:
    """Nobody forgets the release before the last one."""
    a, b, c = ((30, "941", value) for value in "abc")
    for present in ({"p": a, "q": b}, {"r": b, "s": c}, {"p": a, "t": c, "u": b}):
        people(database, present)
        result = kanon_sql.anonymize(database.engine, asked())
        assert result.passed
    number = classes_of(database, {"p": a})["p"]
    assert {disease for own, _, _, disease, _ in released(database) if own == number} == {"a", "b"}


@pytest.mark.slow
def test_buckets_of_fewer_values_are_balanced_first(database: Database) -> None:
    """Two buckets lack one value that one new person has."""
    history_of(database, {"b": "", "c": "q", "d": "r"}, {"a": "p", "b": ""})
    people(database, {"p": (30, "941", "a"), "q": (31, "941", "c"), "r": (32, "941", "d"), "new": (33, "941", "b")})
    assert kanon_sql.anonymize(database.engine, asked()).passed
    number = classes_of(database, {"p": TWO["p"], "q": TWO["p"], "r": TWO["p"], "new": TWO["p"]})
    assert number["new"] == number["p"] != number["q"] == number["r"]


def history_of(database: Database, *classes: dict[str, str]) -> None:
    """A history that holds some classes: value -> who has it; nobody where that is empty."""
    people(database, TWO)
    kanon_sql.anonymize(database.engine, asked())
    database.connection.execute("DELETE FROM history")
    for number, values in enumerate(classes, 1):
        for value, who in values.items():
            database.connection.execute("INSERT INTO history VALUES (?, ?, ?, ?)", (number, number, who or None, value))


@pytest.mark.slow
def test_a_set_of_values_within_another_one_is_one_of_its_own(database: Database) -> None:
    history_of(database, {"a": "p", "b": "q", "c": "r"})
    present: dict[str, Person] = {"s": (30, "941", "a"), "t": (31, "941", "b")}
    people(database, present)
    result = kanon_sql.anonymize(database.engine, asked())
    assert result.m_invariance is not None
    assert result.m_invariance["counterfeits"] == 0
    number = classes_of(database, present)
    assert number["s"] == number["t"]
    rows = database.connection.execute("SELECT name, signature FROM history WHERE name IN ('p', 's')").fetchall()
    assert len({signature for _, signature in rows}) == 2


@pytest.mark.slow
def test_a_bucket_is_divided_where_its_halves_are_narrowest(database: Database) -> None:
    """Not by age, which comes first, but by postal code: both ways are the perimeters of two boxes each."""
    present: dict[str, Person] = {
        "p": (10, "951", "a"), "q": (30, "941", "a"), "r": (12, "941", "b"), "s": (32, "951", "b"),
    }  # fmt: skip
    people(database, present)
    assert kanon_sql.anonymize(database.engine, asked()).passed
    number = classes_of(database, present)
    assert number["p"] == number["s"] != number["q"] == number["r"]


@pytest.mark.slow
def test_a_counterfeit_takes_the_place_of_somebody_else(database: Database) -> None:
    """Not of one of its own class, who is nearer."""
    history_of(database, {"a": "p", "b": "q", "c": ""})
    present: dict[str, Person] = {
        "p": (30, "941", "a"), "q": (31, "941", "b"), "r": (80, "951", "a"), "s": (81, "951", "b"),
    }  # fmt: skip
    people(database, present)
    assert kanon_sql.anonymize(database.engine, asked()).passed
    number = classes_of(database, present)
    Released(2, {who: frozenset("abc") for who in ("p", "q")}).add(present, released(database), number)
    labels = {own: (age, code) for own, age, code, _, _ in released(database)}
    assert labels[number["p"]] == ("*", "*")
    assert labels[number["r"]] == ("[80, 90)", "951")


@pytest.mark.slow
def test_the_same_table_again_has_the_same_classes_values(database: Database) -> None:
    people(database, {f"p{i}": (i, "941", "abc"[i % 3]) for i in range(12)})
    found = [kanon_sql.anonymize(database.engine, asked()) for _ in range(3)]
    assert [result.m_invariance["counterfeits"] for result in found if result.m_invariance] == [0, 0, 0]
    assert found[2].m_invariance is not None
    assert found[2].m_invariance["earlier"] == ["people_release", "people_release"]
    assert len(database.rows("history")) == 12, "classes that nobody was last released in are forgotten"


# --- Where persons go ---------------------------------------------------------------------------------------

COUNTS = st.dictionaries(st.integers(1, 6), st.integers(1, 5), max_size=6)


@examples(100)
@given(COUNTS, COUNTS, st.integers(2, 4))
def test_no_more_new_persons_could_balance_buckets(available: dict[int, int], missing: dict[int, int], m: int) -> None:
    """What follows from the counts is what trying all numbers finds, and it can be done."""
    so_far = Released(m)
    new = [(value, i) for value, count in available.items() for i in range(count)]
    lacking = [value for value, count in missing.items() for _ in range(count)]
    table: dict[str, Person] = {f"n{value}.{i}": (0, "941", str(value)) for value, i in new}
    for i, value in enumerate(lacking):  # somebody of a bucket of their own who lacks this value
        so_far.values[f"o{i}"] = frozenset({str(value), "other"})
        table[f"o{i}"] = (0, "941", "other")
        so_far.values[f"o{i}"] |= {f"own{i}"}  # keeps the buckets apart, at one counterfeit each
    expected = so_far.fewest_counterfeits(table)
    quotas = balanced(available, missing, m)
    assert (quotas is None) == (expected is None)
    if quotas is not None and expected is not None:
        taken = sum(quotas.forced.values()) + quotas.spare
        assert len(lacking) - taken == expected - len(lacking)
        assert all(quotas.forced[value] <= quotas.most[value] for value in available)
        assert taken <= sum(quotas.most.values())


@examples(100)
@given(st.dictionaries(st.integers(1, 9), st.integers(1, 40), max_size=9), st.integers(2, 4))
def test_eligible_values_are_divided_into_sets(counts: dict[int, int], m: int) -> None:
    if any(m * count > sum(counts.values()) for count in counts.values()):
        with pytest.raises(VerificationError, match="not m-eligible"):
            assigned(counts, m)
        return
    found: dict[int, int] = dict.fromkeys(counts, 0)
    for step in assigned(counts, m):
        assert len(set(step.values)) == len(step.values) >= m
        for value in step.values:
            found[value] += step.taken
    assert found == counts


# --- What is refused ----------------------------------------------------------------------------------------

TWO: dict[str, Person] = {"p": (30, "941", "a"), "q": (31, "941", "b")}


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([("p", 1, "941", "a"), ("p", 2, "941", "b")], "2 rows are of 1 persons (name)"),
        ([("p", 1, "941", "a"), (None, 2, "941", "b")], "1 row without name"),
        ([], "the source has no rows"),
    ],
)
def test_a_source_without_a_row_per_person(database: Database, table: Sequence[tuple[Any, ...]], why: str) -> None:
    database.table("people", COLUMNS, table)
    with pytest.raises(SpecError) as refused:
        kanon_sql.anonymize(database.engine, asked())
    assert why in str(refused.value)


@pytest.mark.slow
def test_values_that_are_too_frequent_are_refused(database: Database) -> None:
    people(database, {**TWO, "r": (32, "941", "a")})
    result = kanon_sql.anonymize(database.engine, asked())
    assert not result.passed
    assert "of 3 rows, 2 have the same disease, which is more than 1 in 2: they are not 2-eligible" in result.message
    assert "history" not in database.tables()
    assert "people_release" not in database.tables()
    people(database, TWO)
    assert kanon_sql.anonymize(database.engine, asked()).passed
    people(database, {**TWO, "r": (32, "941", "a")})
    result = kanon_sql.anonymize(database.engine, asked())
    assert "1 persons were not released before, and whichever of them balance earlier classes" in result.message


@pytest.mark.slow
def test_values_that_change_or_are_missing_are_refused(database: Database) -> None:
    people(database, TWO)
    assert kanon_sql.anonymize(database.engine, asked()).passed
    people(database, {"p": (30, "941", "b"), "q": (31, "941", "a")})
    assert kanon_sql.anonymize(database.engine, asked()).passed, "another value of the same set rules nothing out"
    people(database, {"p": (30, "941", "c"), "q": (31, "941", "a")})
    result = kanon_sql.anonymize(database.engine, asked())
    assert "1 persons now have a value of disease that their class did not have" in result.message
    database.table("people", COLUMNS, [("p", 30, "941", None), ("q", 31, "941", "a")])
    result = kanon_sql.anonymize(database.engine, asked())
    assert "1 row without disease" in result.message
    assert not result.passed


@pytest.mark.slow
def test_a_history_of_something_else_is_refused(database: Database) -> None:
    people(database, TWO)
    database.table("history", ["x"], [])
    with pytest.raises(SpecError, match=r"history: there is already a table 'history' that kanon_sql did not publish"):
        kanon_sql.anonymize(database.engine, asked())
    database.connection.execute("DROP TABLE history")
    assert kanon_sql.anonymize(database.engine, asked()).passed
    with pytest.raises(SpecError, match="with another m than this spec's"):
        kanon_sql.anonymize(database.engine, asked(m=3))
    with pytest.raises(SpecError, match="is the history of a sequence of releases, which a release cannot replace"):
        kanon_sql.anonymize(database.engine, asked(release="history", privacy=[{"k_anonymity": 1}]))
    requirement = {"attribute": "disease", "m": 2, "history": "people_release"}
    spec = asked(release="other", privacy=[{"m_invariance": requirement}])
    with pytest.raises(SpecError, match="'people_release' is a release, which a history cannot replace"):
        kanon_sql.anonymize(database.engine, spec)
    spec = asked(privacy=[{"k_anonymity": 1}], recoding="local")
    with pytest.raises(SpecError, match="no recoding is kept as 'history'"):
        kanon_sql.apply(database.engine, spec, "history", source="people", release="other")
    database.connection.execute("ALTER TABLE people ALTER disease TYPE INTEGER USING 1")
    with pytest.raises(SpecError, match="'disease' is VARCHAR in history and INTEGER in the source now"):
        kanon_sql.anonymize(database.engine, asked())


@pytest.mark.slow
def test_a_history_that_another_run_extends_stops_this_one(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    people(database, TWO)
    assert kanon_sql.anonymize(database.engine, asked()).passed
    publish_history = invariant.publish_history

    def later(workspace: Any, spec: Any, requirement: Any, earlier: Any, table: Any) -> None:
        mark = workspace.dialect.mark(("history",), "0123456702")
        database.connection.execute(mark)
        query = "INSERT INTO kanon_sql_manifest SELECT release_name, '0123456702', published_at, spec_hash, manifest "
        database.connection.execute(query + "FROM kanon_sql_manifest WHERE release_name = 'history'")
        publish_history(workspace, spec, requirement, earlier, table)

    monkeypatch.setattr(invariant, "publish_history", later)
    manifests = len(database.rows("kanon_sql_manifest"))
    with pytest.raises(KanonError, match=r"another run has replaced.*the release was not published"):
        kanon_sql.anonymize(database.engine, asked())
    assert len(database.rows("kanon_sql_manifest")) == manifests + 1, "that of the other run"


INTERNAL, WRITTEN, HISTORY = "release/invariant/internal", "release/copy", "release/invariant/history"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "change", "why"),
    [
        (INTERNAL, "UPDATE {table} SET age = '7' WHERE class_number = 1", "with true labels"),
        (INTERNAL, "UPDATE {table} SET zip = '*' WHERE name = 'p0'", "not labelled alike"),
        (INTERNAL, "UPDATE {table} SET age = NULL WHERE name = 'p0'", "not labelled alike"),
        (INTERNAL, "UPDATE {table} SET disease = 'a'", "those of the classes"),
        (INTERNAL, "UPDATE {table} SET counterfeits = 1", "do not have the counterfeits that they say"),
        (INTERNAL, "UPDATE {table} SET name = NULL WHERE name = 'p0'", "do not have the counterfeits that they say"),
        (INTERNAL, "DELETE FROM {table} WHERE class_number = 1", "8 were expected"),
        (INTERNAL, "DELETE FROM {table} WHERE name = 'p0'", "8 were expected"),
        (INTERNAL, "UPDATE {table} SET disease = CASE disease WHEN 'a' THEN 'b' ELSE 'a' END", "0 with their value"),
        (INTERNAL, "UPDATE {table} SET name = 'p9' WHERE name = 'p0'", "7 have a row"),
        (WRITTEN, "UPDATE {table} SET age = NULL WHERE class_number = 1", "those of the classes"),
        (WRITTEN, "UPDATE {table} SET disease = 'a' WHERE class_number = 1", "1 written classes are not 2-unique"),
        (WRITTEN, "INSERT INTO {table} SELECT * FROM {table}", "those of the classes"),
        (WRITTEN, "ALTER TABLE {table} ADD name VARCHAR", "does not have the promised columns"),
        (HISTORY, "DELETE FROM {table} WHERE class_number = 1", "would hold 6 persons of 8"),
        (HISTORY, "UPDATE {table} SET disease = 'c' WHERE name = 'p0'", "2 persons' classes have other values"),
    ],
)
@pytest.mark.sampled(18)
def test_what_is_not_so_is_not_published(
    database: Database, monkeypatch: pytest.MonkeyPatch, template: str, change: str, why: str
) -> None:
    """The written tables are looked at, whatever the classes said."""
    people(database, {f"p{i}": (i, "941", "ab"[i % 2]) for i in range(8)})
    assert kanon_sql.anonymize(database.engine, asked()).passed
    before = sorted(database.rows("history"), key=str)
    run = Workspace.execute

    def spoiled(self: Workspace, name: str, /, **context: Any) -> None:
        run(self, name, **context)
        if name == template:
            database.connection.execute(change.format(table=f'"{context["target"].parts[-1]}"'))

    monkeypatch.setattr(Workspace, "execute", spoiled)
    with pytest.raises(VerificationError, match=why):
        kanon_sql.anonymize(database.engine, asked(release="other"))
    assert "other" not in database.tables()
    assert sorted(database.rows("history"), key=str) == before


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("label", ["[1, 2]", "<= 0", ">= 7", "0", "not NULL or NULL", "[0, 7]"])
def test_a_range_that_is_not_true_is_not_published(
    database: Database, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    """Also one that would hold the values, and is not what the class says: its ends are looked up."""
    people(database, {f"p{i}": (i, "941", "ab"[i % 2]) for i in range(8)})
    run = Workspace.execute

    def spoiled(self: Workspace, name: str, /, **context: Any) -> None:
        run(self, name, **context)
        if name == INTERNAL:
            table = context["target"].parts[-1]
            database.connection.execute(f'UPDATE "{table}" SET age = ? WHERE class_number = 2', [label])

    monkeypatch.setattr(Workspace, "execute", spoiled)
    privacy = [{"m_invariance": {"attribute": "disease", "m": 2, "history": "history", "ranges": ["age"]}}]
    with pytest.raises(VerificationError, match="with true labels"):
        kanon_sql.anonymize(database.engine, asked(privacy=privacy))


@pytest.mark.slow
def test_persons_whose_class_has_other_values_are_not_published(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who loses what was remembered would put somebody into another class, and the check says so."""
    people(database, {f"p{i}": (i, "941", "abc"[i % 3]) for i in range(9)})
    assert kanon_sql.anonymize(database.engine, asked()).passed
    run = Workspace.execute

    def forgetful(self: Workspace, name: str, /, **context: Any) -> None:
        run(self, name, **context)
        if name == "recode/invariant/past":
            database.connection.execute(f'DELETE FROM "{context["target"].parts[-1]}"')

    monkeypatch.setattr(Workspace, "execute", forgetful)
    people(database, {f"p{i}": (i, "941", "abc"[i % 3]) for i in (0, 1, 3, 4, 5, 7)})
    with pytest.raises(VerificationError, match="persons' classes have other values than before"):
        kanon_sql.anonymize(database.engine, asked())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"unit": None}, "the column that identifies"),
        ({"sensitive": ["disease", "name"], "unit": "id"}, "protects one sensitive attribute"),
        ({"keep": ["name"], "unit": "id"}, "some rows belong to no person"),
        ({"ledger": "ledger"}, "a ledger compares releases of an unchanged table"),
        ({"recoding": "local"}, "makes its own classes, from the earlier released values"),
        ({"search": {"algorithm": "datafly"}}, "makes classes and does not search levels"),
        ({"suppression": {"max_share": 0.1}}, "every person is released, since a missing person"),
        ({"nulls": "suppress"}, "use nulls: value"),
        ({"quasi_identifiers": {"age": {"intervals": [10], "maximum_level": 1}}}, "at any level; leave it out"),
        ({"quasi_identifiers": {"counterfeits": None}}, "adds a column 'counterfeits'"),
        (
            {
                "quasi_identifiers": {"age": {"intervals": [10], "minimum_level": 1}},
                "privacy": [{"m_invariance": {"attribute": "disease", "m": 2, "history": "h", "ranges": ["age"]}}],
            },
            "a range has no level",
        ),
        ({"unit": "Signature"}, "adds a column 'signature'"),
        ({"release": "history"}, "the history has the release's name"),
        ({"source": "history"}, "the history has the source's name"),
    ],
)
def test_specs_that_cannot_be(more: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError) as refused:
        asked(**more)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"m": 1}, "a whole number of at least 2"),
        ({"m": None}, "missing 'm'"),
        ({"history": "other.history"}, "the name of a table without a schema"),
        ({"attribute": "age"}, "'age' is not listed under sensitive"),
        ({"l": 3}, "unknown key"),
        ({"ranges": ["disease"]}, "'disease' is no quasi-identifier"),
    ],
)
def test_requirements_that_cannot_be(change: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError) as refused:
        asked(privacy=[{"m_invariance": {"attribute": "disease", "m": 2, "history": "history", **change}}])
    assert why in str(refused.value)
    with pytest.raises(SpecError, match="it cannot be combined with other requirements"):
        asked(privacy=[*asked().to_dict()["privacy"], {"k_anonymity": 2}])


@pytest.mark.slow
def test_other_verbs_and_options_say_why_not(database: Database) -> None:
    people(database, TWO)
    spec = asked()
    kanon_sql.anonymize(database.engine, spec)
    why = "m_invariance is a property of a sequence of releases"
    with pytest.raises(UnsupportedError, match=why):
        kanon_sql.plan(database.engine, spec)
    with pytest.raises(UnsupportedError, match=why):
        kanon_sql.check(database.engine, spec)
    with pytest.raises(UnsupportedError, match=why):
        kanon_sql.audit(database.engine, spec, count_rows=True)
    with pytest.raises(UnsupportedError, match=why):
        kanon_sql.compare(database.engine, {"spec": spec}, ks=[2, 3])
    with pytest.raises(UnsupportedError, match="labels differ by class, and no levels are searched"):
        kanon_sql.anonymize(database.engine, spec, all_minimal=True)
    with pytest.raises(UnsupportedError, match="some released rows are counterfeits"):
        kanon_sql.anonymize(database.engine, spec, details=True)
    with pytest.raises(
        UnsupportedError, match="leave max_seconds and max_statements out, and use --set timeout=SECONDS"
    ):
        kanon_sql.anonymize(database.engine, spec, budget=kanon_sql.Budget(seconds=9))
    assert spec == kanon_sql.Spec.from_dict(spec.to_dict())


def test_ranges_are_of_numbers_and_dates(database: Database) -> None:
    people(database, TWO)
    privacy = [{"m_invariance": {"attribute": "disease", "m": 2, "history": "history", "ranges": ["zip"]}}]
    with pytest.raises(SpecError, match="ranges: zip is VARCHAR, and ranges are of numbers, dates and times"):
        kanon_sql.anonymize(database.engine, asked(privacy=privacy))


def test_levels_below_the_minimum_are_not_released(database: Database) -> None:
    people(database, {f"p{i}": (None if i < 2 else 30, "941", "ab"[i % 2]) for i in range(8)})
    hierarchies = {"age": {**HIERARCHIES["age"], "minimum_level": 1}, "zip": {**HIERARCHIES["zip"], "minimum_level": 2}}
    assert kanon_sql.anonymize(database.engine, asked(quasi_identifiers=hierarchies)).passed
    assert {(age, code) for _, age, code, _, _ in released(database)} == {(None, "*"), ("[30, 40)", "*")}
