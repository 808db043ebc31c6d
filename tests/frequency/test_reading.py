"""Missing codes and keys of several columns: the same as a table whose codes are NULL and whose keys are numbered."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.errors import KanonError, SpecError, UnsupportedError
from kanon_sql.testing import as_text
from kanon_sql.verbs.dbt import dbt
from tests.conftest import Database
from tests.servers import SUBJECTS, subject_of
from tests.support.specs import HEAD, TAIL, problems
from tests.support.strategies import examples

CODES = ["?", "", 999, -1]
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in SUBJECTS if name not in ("duckdb", "sqlite")]
TYPES = {"age": "integer", "job": "text", "ill": "text", "site": "text", "pid": "integer", "who": "integer"}
ROWS: list[dict[str, Any]] = [
    dict(zip(TYPES, (*row, 0), strict=True))
    for row in [
        (34, "cook", "flu", "a", 1),
        (34, "cook", "?", "a", 1),
        (999, "?", "flu", "a", 11),
        (-1, "", "cold", "a1", 1),
        (None, None, "cold", "b", 1),
        (35, "999", "?", "b|1", 1),
        (35, "cook", "", "b", 11),
        (31, "cook", "ache", "b~", 1),
        (31, "nurse", None, "b~0", 1),
        (39, " ?", "flu", None, 1),
        (39, "nurse", "cold", "", 1),
        (36, "nurse", "-1", "A", 1),
    ]
]
"""A text '999' is no number, and ' ?' no '?'; sites that a careless key of texts would merge."""


def known(value: Any, codes: list[Any]) -> Any:
    """By definition: a text is a code if it is one of the texts, a number if it is one of the numbers."""
    return None if any(type(code) is type(value) and code == value for code in codes) else value


def plain(rows: list[dict[str, Any]], codes: list[Any], columns: Any) -> list[dict[str, Any]]:
    """The table that a careful user would have made: NULL for codes, a number for each pair."""
    numbers: dict[Any, int] = {}
    found = []
    for row in rows:
        made = {name: known(value, codes) if name in columns else value for name, value in row.items()}
        pair = (row["site"], row["pid"])
        made["who"] = None if None in pair else numbers.setdefault(pair, len(numbers))
        found.append(made)
    return found


def spec_of(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "people_release",
            "quasi_identifiers": {"age": {"intervals": [5, 10]}, "job": {}},
            "sensitive": ["ill"],
            "privacy": [
                {"k_anonymity": {"k": 2}},
                {"l_diversity": {"attribute": "ill", "l": 2, "variant": "distinct"}},
            ],
            "suppression": {"max_share": 0.5},
            **changes,
        }
    )


def outcome(subject: Any, engine: Any, rows: list[dict[str, Any]], spec: kanon_sql.Spec, check: bool = True) -> Any:
    """All that must be the same: figures of the release, its rows, and the verdict on the table itself."""
    for name in ("people", "people_release"):
        subject.drop(name)
    subject.table("people", TYPES, [tuple(row.values()) for row in rows])
    result = kanon_sql.anonymize(engine, spec)
    released = None
    if result.passed:
        released = Counter(
            tuple(map(as_text, row)) for row in subject.fetch("SELECT age, job, ill FROM people_release")
        )
    found = [result.passed, result.rows, result.node, result.metrics, result.achieved, released]
    if check:
        judged = kanon_sql.check(engine, spec, "people")
        found += [judged.verdict, judged.rows, judged.classes, judged.achieved]
        measured = kanon_sql.risk(engine, spec, "people")
        found += [measured.records, measured.prosecutor, measured.uniqueness]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_table_of_pitfalls(name: str) -> None:
    with subject_of(name) as subject:
        engine = subject.connect()
        for changes in (
            {"missing": CODES},
            {"missing": {"job": ["?", ""], "ill": ["?"]}, "nulls": "suppress"},
            {"unit": ["site", "pid"]},
            {"unit": ["site", "pid"], "missing": CODES, "recoding": "local"},
        ):
            if name == "clickhouse" and "recoding" in changes:
                continue  # a quarter of a minute; its rounds read the frequency sets that the others' searches read
            given, codes = dict(changes), changes.get("missing", [])
            ours = outcome(subject, engine, ROWS, spec_of(**given))
            by_column = codes if isinstance(codes, dict) else dict.fromkeys(("age", "job", "ill"), codes)
            rows = ROWS
            for column, own in by_column.items():
                rows = plain(rows, list(own), [column])
            if "unit" in given:
                rows, given["unit"] = plain(rows, [], []), "who"
            given.pop("missing", None)
            assert ours == outcome(subject, engine, rows, spec_of(**given)), changes


texts = st.sampled_from(["a", "A", "", "a|", "|a", "~", "~0", "~1", "a~1", "|", None])
values = st.sampled_from(["?", "", "x", "X", "?x", "999", None])


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from([20, 21, 30, 999, -1, None]), values, values, texts, texts), min_size=1, max_size=14
    ),
    st.sampled_from(["full_domain", "local"]),
    st.booleans(),
)
@example([(20, "x", "x", *key) for key in (("a|", "b"), ("a", "|b"), ("a~1", "b"), ("a~0", "b"))], "full_domain", True)
@examples(80)
def test_random_tables(shared_database: Database, drawn: list[Any], recoding: str, by_person: bool) -> None:
    """Parts of keys are texts of bars and tildes, which the text of a key is made with."""
    types = {**TYPES, "pid": "VARCHAR", "age": "INTEGER", "who": "INTEGER"}
    rows = [dict(zip(TYPES, (*row, 0), strict=True)) for row in drawn]
    found = []
    for changes, table in (
        ({"missing": CODES, **({"unit": ["site", "pid"]} if by_person else {})}, rows),
        ({"unit": "who"} if by_person else {}, plain(rows, CODES, ("age", "job", "ill"))),
    ):
        shared_database._connection.execute("DROP TABLE IF EXISTS people_release")
        shared_database.table("people", types, [list(row.values()) for row in table])
        spec = spec_of(recoding=recoding, **changes)
        try:
            result = kanon_sql.anonymize(shared_database.engine, spec)
        except KanonError as error:
            found.append(str(error).replace("site+pid", "who"))
            continue
        released = None
        if result.passed:
            released = Counter(shared_database.rows("people_release"))
        judged = kanon_sql.check(shared_database.engine, spec, "people")
        found.append(
            [result.rows, result.node, result.metrics, result.achieved, released, judged.verdict, judged.achieved]
        )
    assert found[0] == found[1]


def test_a_released_table_is_read_with_codes(database: Database) -> None:
    """Two values of which one is a code are one value: without the codes this table would pass for 2-diverse."""
    database.table(
        "release", {"age": "VARCHAR", "job": "VARCHAR", "ill": "VARCHAR"}, [["a", "b", "flu"], ["a", "b", "?"]]
    )
    assert kanon_sql.check(database.engine, spec_of(source="people"), "release").passed
    judged = kanon_sql.check(database.engine, spec_of(missing={"ill": ["?"]}, source=None), "release")
    assert not judged.passed
    assert judged.achieved["distinct_l_diversity(ill)"]["l"] == 1


@pytest.mark.parametrize("codes", [["?", "*"], {"age": ["?", "*"]}])
def test_codes_in_a_released_table_are_seen(database: Database, codes: Any) -> None:
    """Who reads it tells them from NULL, and from a suppressed cell: as one class they would be 2-anonymous."""
    for name in ("people", "release"):
        database.table(name, {"age": "VARCHAR"}, [["?"], [None], ["*"]])
    alone = {"quasi_identifiers": {"age": None}, "sensitive": [], "privacy": [{"k_anonymity": 2}]}
    spec = spec_of(**alone, missing=codes)
    judged = kanon_sql.check(database.engine, spec, "release")
    assert judged.achieved["k_anonymity"]["k"] == 1
    assert kanon_sql.risk(database.engine, spec, "release").uniqueness["sample"] == 3


WRITTEN = {
    "text": ([999, 1000, 9.5, -9], ["999", "999.00", "1000.0000000", "9.50", "-9"], "9099.5"),
    "integer": (["999"], [999], 1),
    "date": (["1900-01-01"], [date(1900, 1, 1)], date(1900, 1, 2)),
}


@pytest.mark.parametrize("name", ["duckdb", "sqlite", *SLOW])
def test_codes_of_sensitive_attributes_have_any_type_in_a_release(name: str) -> None:
    """A file of texts holds 999 as a text: as a value beside another, the class would pass for 2-diverse."""
    with subject_of(name) as subject:
        engine = subject.connect()
        for kind, (codes, values, other) in WRITTEN.items():
            pairs = [(value, other) for value in values]
            subject.table("release", {"age": "text", "ill": kind}, classes(pairs))
            judged = kanon_sql.check(engine, diverse(*codes), "release")
            assert f"{len(pairs)} of {len(pairs)} class" in judged.message, kind
        # Each is another value than the codes.
        subject.table(
            "release", {"age": "text", "ill": "text"}, classes((f"{value}1", "9099.5") for value in WRITTEN["text"][1])
        )
        assert kanon_sql.check(engine, diverse(*WRITTEN["text"][0]), "release").passed


def classes(pairs: Iterable[tuple[Any, Any]]) -> list[list[Any]]:
    """Two rows for each pair, which are alone in their class."""
    return [[f"class {number}", value] for number, pair in enumerate(pairs) for value in pair]


def diverse(*codes: Any, **changes: Any) -> kanon_sql.Spec:
    distinct = {"attribute": "ill", "l": 2, "variant": "distinct"}
    given = {"source": None, "quasi_identifiers": {"age": None}, "privacy": [{"l_diversity": distinct}]}
    return spec_of(**{**given, "missing": list(codes), **changes})


def test_codes_of_attributes_that_make_classes_of_others_are_refused(database: Database) -> None:
    """Jobs ? and NULL, as one class, would have two illnesses: a reader sees classes of one."""
    both = {"sensitive": ["ill", "job"], "privacy": [{"l_diversity": OTHERS}]}
    database.table("release", {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR"}, [[1, "?", "x"], [1, None, "y"]])
    with pytest.raises(UnsupportedError, match="release: 1 row has a missing code in a sensitive attribute"):
        kanon_sql.check(database.engine, diverse("?", **both), "release")
    database.table("release", {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR"}, [[1, None, "x"], [1, None, "y"]])
    assert kanon_sql.check(database.engine, diverse("?", **both), "release").passed


OTHERS = {"attribute": "ill", "l": 2, "variant": "distinct", "others_as_quasi_identifiers": True}


def test_a_code_with_digits_after_the_point_in_short_floats(database: Database) -> None:
    """9.9 in 32 bits is another number than 9.9 in 64."""
    database.table("people", {"age": "VARCHAR", "ill": "REAL"}, [["a", 9.9], ["a", 1]])
    judged = kanon_sql.check(database.engine, diverse(9.9, source="people"), "people")
    assert judged.achieved["distinct_l_diversity(ill)"]["l"] == 1


@pytest.mark.parametrize(("code", "value", "least"), [(9, 9, 1), ("?", "?", 1), (9.5, 9.5, 1), (9.5, "9.5b", 2)])
def test_codes_in_a_column_without_a_type(code: float | str, value: float | str, least: int) -> None:
    """Beside a column of texts and one of numbers, no code was without use, and none was found in this one."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (age TEXT, ill)")
    rows = [("a", value), ("a", "x" if isinstance(value, str) else type(value)(1.25))]
    connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    connection.commit()
    with kanon_sql.connect(connection) as engine:
        judged = kanon_sql.check(engine, diverse("?", code, source="people"), "people")
    assert judged.achieved["distinct_l_diversity(ill)"]["l"] == least
    connection.close()


def test_a_population_is_read_with_codes_and_keys(database: Database) -> None:
    """A person of the population whose age is the code is one of those without an age, and counts once."""
    columns = {"age": "INTEGER", "site": "VARCHAR", "pid": "INTEGER"}
    database.table("people", columns, [[999, "a", 1], [None, "a", 2]])
    database.table("everybody", columns, [[None, "a", 1], [999, "a", 1], [999, "a", 2], [None, "b", 1]])
    asked = {"population": "everybody", "k": 3}
    for requirement in (asked, {**asked, "person": ["site", "pid"]}):
        spec = kanon_sql.Spec.from_dict(
            {
                "version": 1,
                "source": "people",
                "release": "r",
                "unit": ["site", "pid"],
                "missing": [999],
                "quasi_identifiers": {"age": None},
                "privacy": [{"k_map": requirement}],
            }
        )
        assert kanon_sql.Spec.from_dict(spec.to_dict()) == spec
        result = kanon_sql.check(database.engine, spec, "people")
        assert [item["k"] for item in result.achieved.values()] == [3]
    measured = kanon_sql.risk(database.engine, spec, "people", population="everybody").journalist
    assert measured is not None
    assert measured.population_records == 3
    assert measured.highest == pytest.approx(1 / 3)


@pytest.mark.slow
def test_keys_of_samples_tables_positions_and_masks(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a key is asked for: the same as one column that has a value for each pair."""
    draw = random.Random(5)
    rows = [
        [f"s{n % 3}", n // 6, 20 + 3 * (n % 3 + n // 6), draw.randrange(16), draw.randrange(16), n] for n in range(60)
    ]
    columns = {"site": "VARCHAR", "pid": "INTEGER", "age": "INTEGER", "x": "INTEGER", "y": "INTEGER", "row": "INTEGER"}
    database.table("people", {**columns, "who": "VARCHAR"}, [[*row, f"{row[0]}|{row[1]}"] for row in rows])
    monkeypatch.setenv("KANON_TESTED", "a secret that is long enough to be one, with words")
    engine = database.engine
    sample = {"fraction": 0.5, "key_variable": "KANON_TESTED"}
    specs = {
        kanon_sql.tabulate: (
            kanon_sql.TableSpec,
            {"kind": "table", "dimensions": {"age": {"hierarchy": {"intervals": [20]}}}, "rules": {"threshold": 3}},
            ["unit"],
        ),
        kanon_sql.cloak: (
            kanon_sql.CloakSpec,
            {"kind": "positions", "position": {"columns": ["x", "y"], "bounds": [0, 0, 16, 16], "depth": 3}, "k": 3},
            ["unit"],
        ),
        kanon_sql.plan: (
            kanon_sql.Spec,
            {
                "quasi_identifiers": {"age": {"intervals": [10]}},
                "privacy": [{"k_anonymity": 2}],
                "steps": {"sample": sample},
            },
            ["unit"],
        ),
    }
    for verb, (kind, more, keys) in specs.items():
        found = []
        for key in (["site", "pid"], "who"):
            spec = kind.from_dict({"version": 1, "source": "people", **dict.fromkeys(keys, key), **more})
            assert kind.from_dict(spec.to_dict()) == spec
            found.append(verb(engine, spec).rows)
        assert found[0] == found[1], verb
    for by in (["site", "pid"], ["site", "pid", "row"]):
        masked = kanon_sql.PerturbSpec.from_dict(
            {"version": 1, "kind": "perturbed", "source": "people", "key": by, "perturb": {"age": {"noise": 0.5}}}
        )
        if "row" in by:
            assert kanon_sql.perturb(engine, masked).rows == 60
        else:
            with pytest.raises(KanonError, match=r"site\+pid"):
                kanon_sql.perturb(engine, masked)


@pytest.mark.slow
def test_keys_of_versions_ledgers_and_growing_releases(database: Database) -> None:
    """m-invariance keeps the person, refresh the persons who are known, a ledger what was released of them."""
    columns = {"site": "VARCHAR", "pid": "INTEGER", "age": "INTEGER", "ill": "VARCHAR"}
    rows = [[f"s{n % 2}", n // 2, 20 + n % 4, ("flu", "cold", "ache")[n % 3]] for n in range(24)]
    database.table("people", columns, rows)
    given = {"quasi_identifiers": {"age": {"intervals": [2, 4]}}, "unit": ["site", "pid"], "release": "r"}
    plain_spec = spec_of(**given, privacy=[{"k_anonymity": 2}], ledger={"table": "ledger"})
    assert kanon_sql.anonymize(database.engine, plain_spec).passed
    assert kanon_sql.anonymize(database.engine, plain_spec.changed({**plain_spec.to_dict(), "release": "r2"})).passed
    invariant = spec_of(
        **{**given, "release": "m"},
        privacy=[{"m_invariance": {"attribute": "ill", "m": 2, "history": "h"}}],
        suppression=None,
    )
    assert kanon_sql.anonymize(database.engine, invariant).passed
    database._connection.execute("INSERT INTO people VALUES ('s2', 0, 21, 'flu'), ('s2', 1, 22, 'cold')")
    again = kanon_sql.anonymize(database.engine, invariant)
    assert again.passed
    growing = spec_of(
        **{**given, "release": "g"},
        privacy=[{"k_anonymity": 2}],
        state={"schema": "kept"},
        suppression={"max_share": 1.0},
    )
    database._connection.execute("CREATE SCHEMA kept")
    assert kanon_sql.anonymize(database.engine, growing).rows["released"] == 26
    # The second row of a person who is known, and one of a person whose number is known at another site.
    database.table("day", columns, [["s2", 1, 22, "cold"], ["s0", 999, 22, "cold"]])
    grown = kanon_sql.refresh(database.engine, growing, inserted="day", batch="b")
    assert (grown.refresh["added"], grown.refresh["waiting"]) == (0, 2)
    database._connection.execute("DROP SCHEMA kept CASCADE")


def test_versions_are_compared_by_a_key(database: Database) -> None:
    """Persons 1 of two sites are two persons, whose illnesses may differ."""
    columns = {"age": "VARCHAR", "ill": "VARCHAR", "site": "VARCHAR", "pid": "INTEGER"}
    for name, ills in {"first": ("flu", "cold"), "second": ("cold", "flu")}.items():
        database.table(name, columns, [["*", ills[0], "a", 1], ["*", ills[1], "b", 1]])
    spec = spec_of(quasi_identifiers={"age": None}, privacy=[{"k_anonymity": 2}], source=None)
    asked = kanon_sql.Republication(earlier="first", person=["site", "pid"], m=2)
    judged = kanon_sql.check(database.engine, spec, "second", republication=asked)
    assert judged.passed
    assert judged.achieved["m_invariance(ill)"]["changed_persons"] == 0
    with pytest.raises(SpecError, match="2 persons"):
        kanon_sql.check(
            database.engine, spec, "second", republication=kanon_sql.Republication(earlier="first", person="pid", m=2)
        )


def test_a_drafted_key(database: Database) -> None:
    columns = {"site": "VARCHAR", "pid": "INTEGER", "age": "INTEGER"}
    database.table("people", columns, 2 * [[f"s{n % 2}", n // 4, 20 + n % 4] for n in range(24)])
    for unit in ("site,pid", ["site", "pid"]):
        text = kanon_sql.init(database.engine, "people", quasi_identifiers=["age"], unit=unit)
        spec = kanon_sql.Spec.parse(text)
        assert (spec.unit, spec.identifiers) == ("site+pid", ("site", "pid"))
    assert kanon_sql.check(database.engine, "people", quasi_identifiers=["age"], k=6, unit=["site", "pid"]).passed
    assert not kanon_sql.check(database.engine, "people", quasi_identifiers=["age"], k=7, unit=["site", "pid"]).passed


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("missing: {age: [true]}", "expected a missing code, a text or a number, got true or false"),
        ("missing: 999", "expected a list of missing codes, or a mapping of columns"),
        ("missing: {agee: [999]}", "did you mean 'age'?"),
        ("unit: [pid, pid]", "a list of different ones"),
        ("unit: [age, pid]\nkeep: [pid]", "would be released as it is"),
        ("unit: [age]", "so it would be released"),
    ],
)
def test_what_a_spec_cannot_say(more: str, said: str) -> None:
    assert any(said in problem for problem in problems(f"{HEAD}{more}\n{TAIL}"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"missing": {"age": ["999"]}}, "missing.age: the column is INTEGER, and code 1 is a text"),
        ({"missing": {"job": [999]}}, "missing.job: the column is VARCHAR, and code 1 is a number"),
        ({"unit": ["site", "nid"]}, "no column 'nid', a part of the key site+nid; did you mean 'pid'?"),
        ({"missing": [9.5]}, None),
    ],
)
def test_what_does_not_fit_the_source(database: Database, changes: Any, said: str | None) -> None:
    rows = [list(row.values()) for row in ROWS]
    database.table("people", {**dict.fromkeys(TYPES, "VARCHAR"), "age": "INTEGER", "pid": "INTEGER"}, rows)
    with pytest.raises(SpecError) as caught:
        kanon_sql.plan(database.engine, spec_of(**changes))
    assert (said or "code 1 is a number, and no quasi-identifier") in str(caught.value)
    assert "999" not in str(caught.value)


def test_sql_that_is_handed_over_refuses(database: Database, tmp_path: Path) -> None:
    database.table(
        "people", {"age": "INTEGER", "job": "VARCHAR", "ill": "VARCHAR", "site": "VARCHAR", "pid": "INTEGER"}, []
    )
    spec = spec_of(missing=["?"], unit=["site", "pid"])
    said = (
        "missing: {0} reads tables as they stand(.|\n)*unit: {0} reads one column, and the key is made of site and pid"
    )
    with pytest.raises(KanonError, match=said.format("a script")):
        kanon_sql.render(spec, "postgres")
    with pytest.raises(KanonError, match=said.format("a dbt project")):
        dbt(database.engine, spec, tmp_path)
