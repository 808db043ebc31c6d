"""Names, values, sources and shapes that break what is spliced, assumed or enumerated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, HierarchyError, KanonError, SearchTooLarge, SpecError, UnsupportedError
from kanon_sql.verbs.result import Plan, Release, Result
from tests.conftest import Database

NAMES = [
    "Select",
    "marital-status",
    'a"b',
    "a'b",
    "x; drop table y",
    "n" * 70,
    "größe 数 🙂",
    "two words",
    " leading and trailing ",
    "new\nline",
    "{{ name }}",
    "{% raw %}",
    "100%",
    "back\\slash",
    "--",
    "/*",
    "*",
    "slot_source",
    "value",
]
OUR_NAMES = [
    "q0",
    "q1",
    "v0",
    "k0",
    "z0",
    "m0",
    "l0",
    "c0",
    "c0_0",
    "s0_0",
    "value_code",
    "row_count",
    "class_rows",
    "class_size",
    "satisfied",
    "masked",
    "unit",
    "label",
    "person_count",
    "reference_share",
    "rowid",
    "kanon_source",
    "kanon_masked",
    "kanon_unit",
    "checked",
    "suppressed",
    "lookup0",
    '"slot_key_0"',
    "slot_key_0",
    "vectors",
]
VALUES = [
    "plain",
    "it's",
    'say "hi"',
    "x; DROP TABLE visits; --",
    "new\nline",
    "carriage\r\nreturn",
    "tab\there",
    "back\\slash",
    "100% of _",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "slot_source",
    "slot_key_0",
    "$1 ? :name",
    "🙂 é e\u0301",
    "",
    " ",
    "*",
    "NULL",
    "long " * 2000,
]


def spec(**changes: Any) -> kanon_sql.Spec:
    given = {
        "version": 1,
        "source": "visits",
        "release": "visits_release",
        "quasi_identifiers": {"q": None},
        "privacy": [{"k_anonymity": 2}],
        **changes,
    }
    return kanon_sql.Spec.from_dict({key: value for key, value in given.items() if value is not None})


def published(database: Database, question: kanon_sql.Spec, name: str = "visits_release") -> Counter[tuple[Any, ...]]:
    result = kanon_sql.anonymize(database.engine, question).raise_for_failure()
    again = kanon_sql.check(database.engine, question)
    if question.unit is None:
        assert again.passed
        assert again.rows["source"] == result.rows["released"] + result.rows.get("masked", 0)
    return Counter(database.rows(name))


# --- names -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(name, marks=pytest.mark.slow) for name in OUR_NAMES)])
@pytest.mark.sampled(21)
def test_a_name_may_be_anything(database: Database, name: str) -> None:
    """As source, release, quasi-identifier, and beside others as sensitive, kept and identifying column."""
    sensitive, kept, secret = f"{name} s", f"{name}.k", f"{name}_i"
    rows = [(value, f"d{i % 2}", "kept", "secret") for value in ("aa1", "aa2", "bb1", "bb2") for i in range(2)]
    database.table(name, [name, sensitive, kept, secret], rows)
    release = f"{name}_r"
    question = spec(
        source=[name],
        release=[release],
        quasi_identifiers={name: {"prefix": [2]}},
        identifiers=[secret],
        sensitive=[sensitive],
        keep=[kept],
        privacy=[{"k_anonymity": 4}, {"l_diversity": {"attribute": sensitive, "l": 2}}],
    )
    if name == "rowid":
        assert database.columns(name)[0] == "rowid"
    found = kanon_sql.anonymize(database.engine, question).raise_for_failure()
    assert found.node == {name: 1}
    assert database.columns(release) == [name, sensitive, kept]
    assert Counter(database.rows(release)) == Counter(
        {(f"{prefix}*", f"d{i}", "kept"): 2 for prefix in ("aa", "bb") for i in range(2)}
    )
    assert kanon_sql.check(database.engine, question).passed


@pytest.mark.slow
def test_all_names_at_once(database: Database) -> None:
    """Our own names among the user's: as sensitive, kept, unit and quasi-identifiers, with masking."""
    names = [name for name in dict.fromkeys([*NAMES, *OUR_NAMES]) if name != "rowid"]
    rows = [tuple(f"{column[:3]}{i % 3}" for column in names) for i in range(9)] + [("rare",) * len(names)]
    database.table("visits", names, rows)
    quasi = ["q1", "value", "slot_source", "kanon_masked", "k0", 'a"b']
    sensitive = ["q0", "value_code"]
    question = spec(
        quasi_identifiers=dict.fromkeys(quasi),
        sensitive=sensitive,
        keep=[name for name in names if name not in (*quasi, *sensitive, "unit")],
        privacy=[
            {"k_anonymity": 3},
            {"l_diversity": {"attribute": "q0", "l": 1}},
            {"t_closeness": {"attribute": "value_code", "t": 1.0}},
        ],
        suppression={"max_rows": 1, "style": "drop"},
    )
    found = published(database, question)
    assert sum(found.values()) == 9
    assert database.columns("visits_release") == [name for name in names if name != "unit"]


def test_columns_named_like_our_marks(database: Database) -> None:
    """`kanon_masked` and `kanon_unit` are the user's; ours step aside. Persons are counted, rows are masked."""
    columns = ["KANON_MASKED", "kanon_unit", "kanon_masked_", "who"]
    rows = [("a", "u", "m", f"p{i}") for i in range(6)] + [("b", "u", "m", f"o{i}") for i in range(6)]
    rows += [(value, "u", "m", f"r{value}") for value in "cde"]
    database.table("visits", columns, rows)
    question = spec(
        quasi_identifiers={"KANON_MASKED": {"maximum_level": 0}},
        keep=["kanon_unit", "kanon_masked_"],
        unit="who",
        privacy=[{"k_anonymity": 3}],
        suppression={"max_rows": 3, "style": "mask"},
    )
    result = kanon_sql.anonymize(database.engine, question).raise_for_failure()
    assert result.rows == {"source": 15, "released": 12, "suppressed": 3, "masked": 3, "persons": 15}
    expected = {("a", "u", "m"): 6, ("b", "u", "m"): 6, ("*", "u", "m"): 3}
    assert Counter(database.rows("visits_release")) == Counter(expected)


def test_names_that_differ_in_case_only_are_the_databases_business(database: Database) -> None:
    database.table("visits", ["Q"], [("a",), ("a",)])
    with pytest.raises(SpecError, match="did you mean 'Q'"):
        kanon_sql.plan(database.engine, spec())


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("qualified", ["other.visits", '"odd.schema"."odd ""table"', "memory.main.visits"])
def test_qualified_names(database: Database, qualified: str) -> None:
    """A release beside its source in another schema, with its scratch and its manifest."""
    database.connection.execute('CREATE SCHEMA other; CREATE SCHEMA "odd.schema"')
    database.connection.execute(f"CREATE TABLE {qualified} AS SELECT 'a' AS q FROM range(3)")
    schema = qualified.rpartition(".")[0] if '"' not in qualified else '"odd.schema"'
    release = f'{schema}."the release"'
    result = kanon_sql.anonymize(database.engine, spec(source=qualified, release=release)).raise_for_failure()
    assert result.rows["released"] == 3
    assert database.connection.execute(f"SELECT COUNT(*) FROM {release}").fetchone() == (3,)
    assert database.connection.execute(f"SELECT COUNT(*) FROM {schema}.kanon_sql_manifest").fetchone() == (1,)
    assert database.connection.execute(f"SELECT COUNT(*) FROM {schema}.kanon_sql_scratch").fetchone() == (0,)
    assert kanon_sql.anonymize(database.engine, spec(source=qualified, release=release)).passed, "replaces its own"


def test_an_attached_database(database: Database, tmp_path: Path) -> None:
    database.connection.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS \"other-db\"")
    database.connection.execute("CREATE TABLE \"other-db\".main.visits AS SELECT 'a' AS q FROM range(3)")
    question = spec(source='"other-db".main.visits', release='"other-db".main.r')
    assert kanon_sql.anonymize(database.engine, question).passed
    assert database.connection.execute('SELECT COUNT(*) FROM "other-db".main.r').fetchone() == (3,)
    assert database.tables().count("visits") == 1
    assert kanon_sql.check(database.engine, question).passed


@pytest.mark.slow
def test_the_first_of_two_parts_may_be_a_database(database: Database) -> None:
    """Where DuckDB finds a table by a name, so do we: else somebody's table would be replaced."""
    database.table("visits", ["q"], [("a",), ("a",)])
    database.connection.execute("ATTACH ':memory:' AS other; CREATE TABLE other.mine AS SELECT 'kept' AS x")
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(database.engine, spec(release="other.mine"))
    assert database.connection.execute("FROM other.mine").fetchall() == [("kept",)]
    for _ in range(2):
        assert kanon_sql.anonymize(database.engine, spec(release="other.r")).passed, "and replaces its own"
    with pytest.raises(SpecError, match="the source itself"):
        kanon_sql.anonymize(database.engine, spec(source="other.r", release="other.main.r"))


def test_a_schema_of_the_search_path_may_hold_the_table(database: Database) -> None:
    database.table("visits", ["q"], [("a",), ("a",)])
    database.connection.execute("CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE b.mine AS SELECT 'kept' AS x")
    database.connection.execute("SET search_path = 'a,b'")
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(database.engine, spec(release="mine"))
    assert database.connection.execute("FROM mine").fetchall() == [("kept",)]


@pytest.mark.slow
def test_only_the_letters_a_to_z_are_folded(database: Database) -> None:
    """To DuckDB R and r are one name, and É and é are two."""
    database.table("visits", ["q"], [("a",), ("a",)])
    for release in ("é", "R"):
        assert kanon_sql.anonymize(database.engine, spec(release=[release])).passed
    database.table("É", ["x"], [("kept",)])
    with pytest.raises(SpecError, match="did not publish"):
        kanon_sql.anonymize(database.engine, spec(release=["É"]))
    assert (database.rows("É"), database.rows("é")) == ([("kept",)], [("a",), ("a",)])
    assert kanon_sql.anonymize(database.engine, spec(release=["r"])).passed, "it replaces its own"


def test_a_table_with_the_sources_name_in_another_schema_is_not_the_source(database: Database) -> None:
    """The source may hold identifiers when it is checked; nothing else may, whatever it is called."""
    database.table("visits", ["q", "ssn"], [("a", "1"), ("a", "2")])
    database.connection.execute("CREATE SCHEMA other; CREATE TABLE other.visits AS SELECT * FROM visits")
    question = spec(identifiers=["ssn"])
    for name in ("visits", "VISITS", "main.visits", "memory.main.Visits"):
        assert kanon_sql.check(database.engine, question, name).passed, name
    result = kanon_sql.check(database.engine, question, "other.visits")
    assert result.verdict == "fail"
    assert "identifiers (ssn)" in result.message


def test_an_identifier_is_found_however_it_is_written(database: Database) -> None:
    database.table("visits", ["q", "ssn"], [("a", "1"), ("a", "2")])
    database.connection.execute('CREATE TABLE copy AS SELECT q, ssn AS "SSN" FROM visits')
    result = kanon_sql.check(database.engine, spec(identifiers=["ssn"]), "copy")
    assert result.verdict == "fail"
    assert "identifiers (ssn)" in result.message


@pytest.mark.parametrize("missing", ["nowhere", "nowhere.visits", "x'; DROP TABLE visits; --"])
def test_a_source_that_does_not_exist(database: Database, missing: str) -> None:
    database.table("visits", ["q"], [("a",)])
    with pytest.raises(DatabaseError):
        kanon_sql.plan(database.engine, spec(source=missing))
    assert database.tables() == ["visits"]


# --- values ----------------------------------------------------------------------------------


@pytest.mark.sampled(5)
@pytest.mark.parametrize("hierarchy", ["value", "file", "tree", "table", "sql"])
def test_values_may_be_anything(database: Database, tmp_path: Path, hierarchy: str) -> None:
    """Every value is its own class at level 0 and comes out as it went in; nothing of it is executed."""
    values = [value for value in VALUES if hierarchy != "tree" or value != "*"]  # a tree's own top
    database.table("visits", ["q", "s"], [(value, value) for value in values for _ in range(2)])
    database.table("h", ["value", "level"], [(value, "all") for value in values])
    kinds: dict[str, Any] = {
        "value": None,
        "tree": {"tree": {"all": values}},
        "table": {"table": "h"},
        "sql": {"sql": ["CASE WHEN x = 'it''s {{ x }} slot_source' THEN 'a' ELSE upper(x) END"]},
    }
    if hierarchy == "file":
        cells = ['"' + value.replace('"', '""') + '";all' for value in values]
        (tmp_path / "h.csv").write_bytes("\n".join(cells).encode())
        kinds["file"] = {"file": str(tmp_path / "h.csv")}
    question = spec(quasi_identifiers={"q": kinds[hierarchy]}, sensitive=["s"])
    assert published(database, question) == Counter({(value, value): 2 for value in values})
    result = kanon_sql.check(database.engine, question)
    assert result.classes["count"] == len(values)
    log = "\n".join(result.sql)
    assert "DROP TABLE visits" not in log


def test_labels_may_be_anything(database: Database) -> None:
    """Level 1 labels are hostile; they are released, and only they."""
    database.table("visits", ["q"], [(f"value {i}",) for i in range(len(VALUES))])
    tree = {f"{label}#": [f"value {i}"] for i, label in enumerate(VALUES)}
    question = spec(
        quasi_identifiers={"q": {"tree": tree, "minimum_level": 1, "maximum_level": 1}}, privacy=[{"k_anonymity": 1}]
    )
    assert published(database, question) == Counter({(f"{label}#",): 1 for label in VALUES})


def test_sensitive_values_count_exactly(database: Database) -> None:
    """Case, accents, trailing spaces and normal forms differ; the sensitive attribute has that many values."""
    values = ["a", "A", "á", "a\u0301", "a ", " a", "à"]
    database.table("visits", ["q", "s"], [("q", value) for value in values])
    question = spec(sensitive=["s"], privacy=[{"l_diversity": {"attribute": "s", "l": len(values)}}])
    result = kanon_sql.plan(database.engine, question)
    assert result.passed
    assert result.achieved["distinct_l_diversity(s)"]["l"] == len(values)


def test_hostile_values_in_no_message(database: Database) -> None:
    """A value that no hierarchy row covers is counted, not shown."""
    database.table("visits", ["q"], [("Ada Planted",), ("it's planted",), ("a",)])
    with pytest.raises(HierarchyError, match="2 distinct values") as caught:
        kanon_sql.plan(database.engine, spec(quasi_identifiers={"q": {"tree": {"all": ["a"]}}}))
    assert "lanted" not in str(caught.value)


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("TIMESTAMP", ["2020-01-01 00:00:00", "2020-01-01 00:00:00.000001"]),
        ("BOOLEAN", [True, False]),
        ("DOUBLE", ["nan", "inf", "-inf", "-0.0", "1e300"]),
        ("UUID", ["12345678-1234-1234-1234-1234567890ab"]),
        ("BLOB", [b"\x00\xff'"]),
        ("INTEGER[]", [[1, 2], [1], []]),
        ("STRUCT(a INTEGER)", [{"a": 1}, {"a": None}]),
        ("HUGEINT", [2**100, -(2**100)]),
        ("DECIMAL(38, 10)", ["1.0000000001", "1.0"]),
        ("TIME", ["10:00:00"]),
        ("ENUM('x', 'it''s')", ["x", "it's"]),
    ],
)
def test_values_of_every_type(database: Database, kind: str, rows: Sequence[Any]) -> None:
    database.table("visits", {"q": kind, "s": kind}, [(value, value) for value in rows for _ in range(2)])
    result = kanon_sql.anonymize(database.engine, spec(sensitive=["s"])).raise_for_failure()
    assert result.classes["count"] == len(rows)
    assert result.node == {"q": 0}
    released = database.connection.execute("SELECT q, COUNT(*) FROM visits_release GROUP BY q").fetchall()
    assert [count for _, count in released] == [2] * len(rows)
    assert kanon_sql.check(database.engine, spec()).passed


@pytest.mark.parametrize("kind", ["UNION(n INTEGER, t VARCHAR)", "VARIANT", "VARIANT[]", "STRUCT(a UNION(b INTEGER))"])
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "unit"])
def test_a_type_whose_values_share_texts_is_refused(database: Database, kind: str, role: str) -> None:
    """The number 1 and the text 1: as text they would be one value, and their class larger than it is."""
    database.table("visits", {"q": "VARCHAR", "v": kind}, [])
    roles = {
        "quasi_identifiers": {"quasi_identifiers": {"v": None}},
        "sensitive": {"sensitive": ["v"], "privacy": [{"l_diversity": {"attribute": "v", "l": 2}}]},
        "unit": {"unit": "v"},
    }
    question = spec(**roles[role])
    merged, counted = "different values of type .* may have the same text", "equal values of type .* in several ways"
    why = merged if role == "quasi_identifiers" else counted
    for verb in (kanon_sql.plan, kanon_sql.anonymize, lambda *asked: kanon_sql.check(*asked, "visits")):
        with pytest.raises(UnsupportedError, match=f"v: {why}"):
            verb(database.engine, question)
    assert kanon_sql.anonymize(database.engine, spec(keep=["v"], privacy=[{"k_anonymity": 1}])).rows["released"] == 0


# --- shapes ----------------------------------------------------------------------------------

ALGORITHMS = ("optimal", "samarati", "incognito", "exhaustive")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("rows", "k"), [(0, 1), (0, 5), (1, 2), (4, 5)])
@pytest.mark.sampled(4)
def test_fewer_rows_than_k(database: Database, algorithm: str, rows: int, k: int) -> None:
    database.table("visits", ["q", "s"], [("a", "b")] * rows)
    question = spec(
        sensitive=["s"],
        privacy=[{"k_anonymity": k}, {"l_diversity": {"attribute": "s", "l": 1}}],
        search={"algorithm": algorithm},
        suppression={"max_share": 1.0},
    )
    for verb in (kanon_sql.plan, kanon_sql.anonymize):
        result: Plan | Release = verb(database.engine, question)
        assert result.verdict == "fail"
        assert result.node is None
        assert "no rows" in result.message if rows == 0 else f"fewer than k = {k}" in result.message
        assert result.rows == {"source": rows, "released": 0, "suppressed": rows}
    assert database.tables() == ["visits"]


def test_checking_a_table_without_rows(database: Database) -> None:
    database.table("visits", ["q", "s"], [])
    for requirement in (
        {"k_anonymity": 5},
        {"l_diversity": {"attribute": "s", "l": 3, "variant": "entropy"}},
        {"l_diversity": {"attribute": "s", "l": 3, "variant": "recursive", "c": 2}},
        {"t_closeness": {"attribute": "s", "t": 0.1}},
    ):
        result = kanon_sql.check(database.engine, spec(sensitive=["s"], privacy=[requirement]), "visits")
        assert not result.passed, "an empty release is no release that anyone asked for"
        assert result.classes["count"] == 0
        assert result.message == "visits has no rows, so that nothing was checked"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_column(database: Database, algorithm: str) -> None:
    database.table("visits", ["q"], [("a",), ("a",), ("b",)])
    question = spec(search={"algorithm": algorithm})
    assert published(database, question) == Counter({("*",): 3})
    question = spec(search={"algorithm": algorithm}, suppression={"max_rows": 1})
    assert published(database, question) in (Counter({("a",): 2}), Counter({("*",): 3}))


def test_all_null(database: Database) -> None:
    database.table("visits", ["q"], [(None,)] * 3)
    assert published(database, spec()) == Counter({(None,): 3})
    result = kanon_sql.anonymize(database.engine, spec(nulls="suppress"))
    assert result.verdict == "fail"
    assert "NULL" in result.message
    with pytest.raises(HierarchyError, match="3 rows have NULL"):
        kanon_sql.anonymize(database.engine, spec(nulls="error"))


def wide(database: Database, alike: bool) -> kanon_sql.Spec:
    """Thirty quasi-identifiers of height 1: a lattice of 2^30 nodes."""
    names = [f"q{i}" for i in range(30)]
    rows = [tuple("same" if alike else f"{i}" for _ in names) for i in range(20)]
    database.table("visits", names, rows)
    return spec(quasi_identifiers=dict.fromkeys(names), privacy=[{"k_anonymity": 5}])


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("algorithm", "alike"), [*((algorithm, False) for algorithm in ALGORITHMS), ("incognito", True), ("optimal", True)]
)
def test_thirty_quasi_identifiers(database: Database, algorithm: str, alike: bool) -> None:
    """Answered, or refused with the reason and what to do; never enumerated."""
    base = wide(database, alike)
    question = spec(
        quasi_identifiers=dict.fromkeys(base.quasi_identifiers),
        privacy=[{"k_anonymity": 5}],
        search={"algorithm": algorithm},
    )
    if (algorithm, alike) == ("incognito", False):
        result = kanon_sql.plan(database.engine, question, timeout=60)
        assert result.search is not None
        assert result.search.nodes_total == 2**30
        assert set((result.node or {}).values()) == {1}
    else:
        with pytest.raises(SearchTooLarge, match=r"(1,073,741,824 nodes|candidate nodes|height 15) .*fewer quasi-id"):
            kanon_sql.plan(database.engine, question, timeout=60)
    assert database.tables() == ["visits"]


# --- sources ---------------------------------------------------------------------------------

PEOPLE = [("a1", "d"), ("a2", "d"), ("b1", "e"), ("b2", "e")]
PREFIX = {"q": {"prefix": [1]}}
RELEASED = Counter({("a*", "d"): 2, ("b*", "e"): 2})


def people(database: Database) -> None:
    database.table("people", ["q", "s"], PEOPLE)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    "source",
    [
        "people",
        "people_view",
        "main.people",
        {"query": "SELECT * FROM people"},
        {"query": "SELECT * FROM people;"},
        {"query": "SELECT * FROM people -- all of them"},
        {"query": "SELECT * FROM people; -- all of them"},
        {"query": "/* all */ WITH p AS (SELECT * FROM people) SELECT q, s FROM p ORDER BY q LIMIT 10 ;\n"},
        {"query": "FROM people"},
        {"query": "SELECT 'slot_source' AS slot_source, q, s FROM people WHERE s <> 'slot_source; --'"},
        {"query": "SELECT q, s FROM people WHERE q LIKE 'a%' UNION ALL SELECT q, s FROM people WHERE q LIKE 'b%'"},
        {"query": "SELECT q, s FROM (VALUES ('a1', 'd'), ('a2', 'd'), ('b1', 'e'), ('b2', 'e')) AS t(q, s)"},
    ],
)
def test_sources(database: Database, source: Any) -> None:
    people(database)
    database.connection.execute("CREATE VIEW people_view AS SELECT * FROM people")
    assert published(database, spec(source=source, quasi_identifiers=PREFIX, sensitive=["s"])) == RELEASED


@pytest.mark.parametrize(
    "query",
    ["SELECT 1; SELECT 2", "SELECT * FROM people; DROP TABLE people", "DROP TABLE people", "DELETE FROM people",
     "SELECT * FROM people) AS k; DROP TABLE people; --", "COPY people TO 'x.csv'", "x y z",
     "INSERT INTO people SELECT 1, 2"],
)  # fmt: skip
def test_what_is_not_one_query_is_refused(database: Database, query: str) -> None:
    people(database)
    for verb in (kanon_sql.plan, kanon_sql.anonymize):
        with pytest.raises(SpecError, match="source query"):
            verb(database.engine, spec(source={"query": query}, quasi_identifiers=PREFIX))
    assert len(database.rows("people")) == 4


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "name", ["people.parquet", "people.csv", "PEOPLE.CSV", "it's, a {{ file }}; --.csv", "p.csv.gz"]
)
def test_files(database: Database, tmp_path: Path, name: str) -> None:
    people(database)
    escaped = str(tmp_path / name).replace("'", "''")
    kind = "parquet" if name.endswith("parquet") else "csv, HEADER"
    database.connection.execute(f"COPY people TO '{escaped}' (FORMAT {kind})")
    database.connection.execute("DROP TABLE people")
    path = tmp_path / "spec.yml"
    question = spec(source={"file": name}, quasi_identifiers=PREFIX, sensitive=["s"])
    path.write_text(json.dumps(question.to_dict()), encoding="utf-8")
    loaded = kanon_sql.Spec.load(path)
    assert published(database, loaded) == RELEASED, "relative to the spec"


@pytest.mark.parametrize("name", ["missing.parquet", "missing.csv"])
def test_a_missing_file(database: Database, name: str) -> None:
    with pytest.raises(SpecError, match=f"{name}: there is no such file"):
        kanon_sql.plan(database.engine, spec(source={"file": name}))


def test_a_view_that_fails_shows_no_value(database: Database) -> None:
    database.table("people", ["q"], [("Ada Planted",)])
    database.connection.execute("CREATE VIEW broken AS SELECT CAST(q AS INTEGER) AS q FROM people")
    with pytest.raises(KanonError) as caught:
        kanon_sql.plan(database.engine, spec(source="broken"))
    assert "Planted" not in str(caught.value)
    assert database.tables() == ["broken", "people"]


@pytest.mark.slow
def test_runs_do_not_meet(tmp_path: Path) -> None:
    """Two connections to one file, one run inside the other's."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection, connection.cursor() as other:
        first, second = Database(connection), Database(other)
        people(first)
        question = spec(source="people", quasi_identifiers=PREFIX, sensitive=["s"])
        inner: list[Result] = []

        def run_the_other(stage: str, nodes: int | None) -> None:
            if not inner and stage.startswith("writing"):
                changed = spec(source="people", quasi_identifiers=PREFIX, sensitive=["s"], release="second_release")
                inner.append(kanon_sql.anonymize(second.engine, changed))

        assert kanon_sql.anonymize(first.engine, question, report=run_the_other).passed
        assert inner[0].passed
        assert Counter(first.rows("visits_release")) == Counter(first.rows("second_release")) == RELEASED
