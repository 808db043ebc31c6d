"""Engines write a release from its frequency set where that holds all there is, with the same types of columns.

The written one is read once to verify it, beside being counted, where its classes are all that is asked of it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.backends import mysql, sqlite
from kanon_sql.engines.base import Deadline, Engine
from kanon_sql.engines.workspace import open_workspace
from kanon_sql.errors import VerificationError
from kanon_sql.evaluate import Subject as Examined
from kanon_sql.evaluate import counted_classes, examine
from kanon_sql.models import models_of
from kanon_sql.release import write_counted
from kanon_sql.sql import Relation
from kanon_sql.sql.dialects.clickhouse import ClickHouse
from kanon_sql.sql.dialects.duckdb import DuckDB
from kanon_sql.sql.dialects.mariadb import MariaDB
from kanon_sql.sql.dialects.postgres import Postgres
from kanon_sql.sql.dialects.sqlite import SQLite
from kanon_sql.sql.statement import Statement
from kanon_sql.testing import Subject
from tests.servers import subject_of
from tests.support.specs import QUIET

DRAWN = random.Random(7)
ROWS = [
    (DRAWN.choice(["10", "11", "12", "20", None]), DRAWN.choice(["x", "y", None]), DRAWN.choice(["a", "b", None]))
    for _ in range(300)
]
DIALECTS = {"clickhouse": ClickHouse, "duckdb": DuckDB, "mariadb": MariaDB, "postgres": Postgres, "sqlite": SQLite}
COLUMNS = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '{0}' ORDER BY column_name"
TYPES = {
    "duckdb": COLUMNS,
    "postgres": COLUMNS,
    "clickhouse": "SELECT name, type FROM system.columns WHERE table = '{0}' ORDER BY position",
    "mariadb": (
        "SELECT column_name, column_type, collation_name, is_nullable FROM information_schema.columns "
        "WHERE table_name = '{0}' ORDER BY ordinal_position"
    ),
    "sqlite": "SELECT name, type FROM pragma_table_info('{0}')",
}
"""What is stored of a table's columns."""
STORED = {"VARCHAR": "TEXT"}
"""What SQLite's CREATE TABLE AS makes of a declared type."""


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in DIALECTS])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with subject_of(request.param) as made:
        made.table("people", dict.fromkeys(("zip", "q", "s"), "text"), ROWS)
        yield made


def spec(**changes: Any) -> kanon_sql.Spec:
    return kanon_sql.Spec.from_dict(
        {
            "version": 1,
            "source": "people",
            "release": "released",
            "quasi_identifiers": {"zip": {"prefix": [1], "minimum_level": 1, "maximum_level": 1}, "q": None},
            "privacy": [{"k_anonymity": 40}],
            "suppression": {"max_share": 0.4},
            "warnings": QUIET,
            **changes,
        }
    )


def types(subject: Any, table: str) -> list[Any]:
    return list(subject.fetch(TYPES[subject.dialect.name].format(table)))


def released(subject: Any, **changes: Any) -> tuple[Any, Counter[Any], list[Any]]:
    """A run's result, the rows that it released, and the types of their columns."""
    subject.drop("released")
    with subject.connect() as engine:
        result = kanon_sql.anonymize(engine, spec(**changes))
    return result, Counter(subject.rows("released")), types(subject, "released")


def kept(least: int = 40) -> Counter[Any]:
    """The rows that plain Python keeps."""
    labelled = Counter((code and f"{code[0]}*", q) for code, q, _ in ROWS)
    found = Counter({labels: count for labels, count in labelled.items() if count >= least})
    assert 0 < found.total() < len(ROWS)
    return found


@pytest.mark.sampled(15)
@pytest.mark.parametrize("block", [1, 7, 1_000])
@pytest.mark.slow
def test_the_source_is_read_once(subject: Subject, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """The rows are those that plain Python keeps, however many blocks a class has."""
    monkeypatch.setattr(write_counted, "BLOCK", block)
    result, rows, _ = released(subject)
    assert result.node == {"zip": 1, "q": 0}
    assert rows == kept()
    assert result.cost.source_scans == 1


@pytest.mark.sampled(5)
@pytest.mark.slow
def test_columns_have_the_types_that_a_second_pass_gives_them(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    once, rows, own = released(subject)
    monkeypatch.setattr(DIALECTS[subject.dialect.name], "numbers_to", lambda *_: None)
    twice, same, others = released(subject)
    assert (once.cost.source_scans, twice.cost.source_scans) == (1, 2)
    assert (rows, own) == (same, others)


@pytest.mark.sampled(5)
@pytest.mark.slow
def test_a_column_at_its_top_has_the_same_type(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    top = {"quasi_identifiers": {"zip": {"prefix": [1], "minimum_level": 2}, "q": None}}
    once, rows, own = released(subject, **top)
    assert once.node == {"zip": 2, "q": 0}
    monkeypatch.setattr(DIALECTS[subject.dialect.name], "numbers_to", lambda *_: None)
    _, same, others = released(subject, **top)
    assert (rows, own) == (same, others)


DIVERSE = [{"k_anonymity": 40}, {"l_diversity": {"attribute": "s", "l": 2, "variant": "distinct"}}]


@pytest.mark.slow
@pytest.mark.sampled(5)
def test_values_beside_have_the_type_that_the_source_says(subject: Subject) -> None:
    """What their column's type is, whether it takes NULL, and how it compares texts: a frequency set forgets it."""
    result, rows, own = released(subject, sensitive=["s"], privacy=DIVERSE)
    assert result.cost.source_scans == (1 if subject.dialect.typed else 2)
    (source,) = [column for column in types(subject, "people") if column[0] == "s"]
    assert (source if subject.dialect.typed else tuple(STORED.get(part, part) for part in source)) in own
    classes = kept()
    assert rows == Counter(
        (code and f"{code[0]}*", q, s) for code, q, s in ROWS if (code and f"{code[0]}*", q) in classes
    )


KINDS = {
    "clickhouse": ["Nullable(FixedString(1))", "LowCardinality(Nullable(String))", "Nullable(Int8)"],
    "mariadb": ["VARCHAR(9) COLLATE utf8mb4_general_ci", "CHAR(3) CHARACTER SET latin1", "TEXT", "SMALLINT UNSIGNED"],
    "postgres": ["VARCHAR", "VARCHAR(9)", "CHAR(3)", 'TEXT COLLATE "POSIX"', "SMALLINT", "NUMERIC(7, 2)", "BOOLEAN"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        pytest.param(name, kind, marks=pytest.mark.xdist_group(name), id=f"{name} {kind}")
        for name, kinds in KINDS.items()
        for kind in kinds
    ],
    indirect=["subject"],
)
def test_any_type_is_that_of_a_second_pass(subject: Subject, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to lengths, collations, and whether NULL is allowed; and the values are the same."""
    subject.drop("of_kind")
    columns = f"zip {subject.types['text']}, q {subject.types['text']}, s {kind}"
    subject.execute(subject.create("of_kind", columns))
    value = "CASE s WHEN 'a' THEN '1' WHEN 'b' THEN '0' END"
    if subject.dialect.name != "mariadb":
        value = f"CAST({value} AS {kind.partition(' COLLATE')[0]})"
    subject.execute(f"INSERT INTO of_kind SELECT zip, q, {value} FROM people")
    asked = {"source": "of_kind", "sensitive": ["s"], "privacy": DIVERSE}
    once, rows, own = released(subject, **asked)
    collated = shown_types(subject)
    monkeypatch.setattr(DIALECTS[subject.dialect.name], "numbers_to", lambda *_: None)
    twice, same, others = released(subject, **asked)
    assert (once.cost.source_scans, twice.cost.source_scans) == (1, 2)
    assert rows == same
    assert [item for item in own if item[0] == "s"] == [item for item in others if item[0] == "s"]
    assert collated == shown_types(subject)


def shown_types(subject: Subject) -> list[Any]:
    """The type of the values beside with its length and collation, where the catalog of columns leaves these out."""
    if subject.dialect.name != "postgres":
        return []
    return list(
        subject.fetch(
            "SELECT format_type(atttypid, atttypmod), attcollation::regcollation::text FROM pg_attribute "
            "WHERE attrelid = 'released'::regclass AND attname = 's'"
        )
    )


@pytest.mark.sampled(5)
@pytest.mark.slow
def test_local_recoding_is_written_from_its_classes(subject: Subject) -> None:
    """The rows of its classes, of which each has as many as asked."""
    levels = {"zip": {"prefix": [1]}, "q": None}
    result, rows, _ = released(
        subject, quasi_identifiers=levels, privacy=[{"k_anonymity": 7}], recoding="local", suppression={"max_rows": 0}
    )
    assert result.cost.source_scans == 1
    assert rows.total() == len(ROWS)
    assert min(rows.values()) >= 7


@pytest.mark.slow
@pytest.mark.sampled(5)
def test_each_set_of_quasi_identifiers_has_its_own_classes(subject: Subject) -> None:
    """Those of a requirement over fewer columns are not the ones that were counted."""
    over = {"k": 41, "quasi_identifiers": ["q"]}
    result, rows, _ = released(subject, privacy=[{"k_anonymity": 40}, {"k_anonymity": over}])
    by_q: Counter[Any] = Counter()
    for (_, q), count in rows.items():
        by_q[q] += count
    assert [found["k"] for found in result.achieved.values()] == [min(rows.values()), min(by_q.values())]
    assert min(by_q.values()) < rows.total()


@pytest.mark.sampled(2)
@pytest.mark.xdist_group("mariadb")
@pytest.mark.parametrize("hidden", ["no engine", "a table of somebody's"])
@pytest.mark.slow
def test_without_sequences_the_source_is_read_again(hidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server may lack them, and what is called like one need not be one."""
    with subject_of("mariadb") as mariadb:
        mariadb.table("people", dict.fromkeys(("zip", "q", "s"), "text"), ROWS)
        if hidden == "no engine":
            monkeypatch.setattr(mysql, "SEQUENCE", "no_such_sequence")
        else:
            monkeypatch.setattr(mysql, "SEQUENCE", "own_numbers")
            mariadb.execute(f"CREATE TABLE {mysql.SEQUENCE} (seq BIGINT)")
            mariadb.execute(f"INSERT INTO {mysql.SEQUENCE} VALUES (0), (0), (1)")
        result, rows, _ = released(mariadb)
        assert result.cost.source_scans == 2
        assert rows == kept()


def test_without_json_the_source_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with subject_of("sqlite") as library:
        library.table("people", dict.fromkeys(("zip", "q", "s"), "text"), ROWS)
        monkeypatch.setattr(sqlite, "_has_json", lambda _: False)
        result, rows, _ = released(library)
        assert result.cost.source_scans == 2
        assert rows == kept()


def test_a_run_of_sqlite_asks_the_library_for_json() -> None:
    """Its own answer, so that the test above takes away what there is."""
    with subject_of("sqlite") as library, library.connect() as engine:
        assert engine.dialect.numbers_to("1") is not None
        assert engine.fetch(Statement("json", "SELECT key FROM JSON_EACH('[0, 0, 0]')"), 3) == [(0,), (1,), (2,)]


# --- Verification ---


def need_changes(subject: Subject) -> None:
    """Go on where a test can change the written table before a statement of a run, in its session."""
    if subject.dialect.name in ("postgres", "clickhouse"):
        pytest.skip("it writes nothing while it is asked, or has no UPDATE for this table")


def watched(monkeypatch: pytest.MonkeyPatch, subject: Any, before: dict[str, str]) -> list[Statement]:
    """The statements of runs; before one of a name, another one is sent that names the release {0}."""
    found: list[Statement] = []

    def watch(engine_class: type[Engine], name: str) -> None:
        own = getattr(engine_class, name)

        def send(self: Any, statement: Statement, *limit: int, **named: int) -> Any:
            found.append(statement)
            change = before.get(statement.name)
            if change is not None:
                (table,) = {*re.findall(r"kanon_[0-9a-f]+_release", statement.sql)}
                self._run(change.format(table))
            return own(self, statement, *limit, **named)

        monkeypatch.setattr(engine_class, name, send)

    with subject.connect() as engine:
        watch(type(engine), "execute")
        watch(type(engine), "fetch")
    return found


@pytest.mark.slow
@pytest.mark.sampled(5)
def test_the_written_table_is_counted_once(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its classes; and its rows, twice, which is what the classes' are compared with."""
    found = watched(monkeypatch, subject, {})
    assert released(subject)[0].passed
    reads = Counter(
        {
            statement.name: len(re.findall(r"FROM [`\"]kanon_[0-9a-f]+_release[`\"]", statement.sql))
            for statement in found
            if statement.name.startswith(("evaluate/", "release/labels", "release/count"))
        }
    )
    assert +reads == {"evaluate/examine/counted": 1, "evaluate/achieved": 1, "release/count": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE {0} SET zip = '1' WHERE zip = '1*'", "of 'zip' are not labels of level 1"),
        ("UPDATE {0} SET zip = '2*' WHERE zip = '1*' AND q = 'x'", "does not satisfy 40-anonymity"),
        ("DELETE FROM {0} WHERE zip = '1*' AND q = 'x'", "does not satisfy its row count"),
    ],
    ids=["a label", "a class", "rows"],
)
def test_the_classes_that_were_counted_are_judged(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, change: str, said: str
) -> None:
    """What is wrong in the written table when its classes are counted is refused, and nothing is published."""
    need_changes(subject)
    subject.drop("released")
    if "40-anonymity" in said:  # three rows of a class alone
        change += " LIMIT 3" if subject.dialect.name == "mariadb" else " AND rowid % 50 = 0"
    watched(monkeypatch, subject, {"evaluate/examine/counted": change})
    with pytest.raises(VerificationError, match=said), subject.connect() as engine:
        kanon_sql.anonymize(engine, spec())
    with subject.connect() as engine:
        assert engine.exists(("released",)) is None


def test_rows_that_the_classes_lack_are_missed(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The written table's rows are counted beside its classes, once these are."""
    need_changes(subject)
    subject.drop("released")
    watched(monkeypatch, subject, {"evaluate/achieved": "INSERT INTO {0} VALUES ('1*', 'x')"})
    with pytest.raises(kanon_sql.KanonError, match="rows"), subject.connect() as engine:
        kanon_sql.anonymize(engine, spec())


MERGING = {
    "duckdb": "VARCHAR COLLATE NOCASE",
    "mariadb": "VARCHAR(20) COLLATE utf8mb4_general_ci",
    "sqlite": "TEXT COLLATE NOCASE",
}
"""Types that take 'ab' and 'AB' for one text."""


@pytest.mark.parametrize("stored", [False, True], ids=["the table", "its classes"])
def test_classes_that_a_collation_would_merge_are_counted_apart(subject: Subject, stored: bool) -> None:
    """Wherever texts are compared carelessly, a row alone is no part of a class of others."""
    if subject.dialect.name not in MERGING:
        pytest.skip("a column compares its texts exactly, or the tests' server has no ICU")
    kind = MERGING[subject.dialect.name]
    for name in ("careless", "classes"):
        subject.drop(name)
    subject.execute(f"CREATE TABLE careless (q {kind})")
    subject.execute("INSERT INTO careless VALUES ('ab'), ('ab'), ('ab'), ('AB')")
    subject.execute(f"CREATE TABLE classes (q0 {kind}, row_count BIGINT)")
    subject.execute("INSERT INTO classes VALUES ('ab', 3), ('AB', 1)")
    table = Relation(("careless",))
    with subject.connect() as engine, engine.run(Deadline(None)), open_workspace(engine, "careless") as workspace:
        columns = workspace.columns(table)
        counted = Relation(("classes",)) if stored else counted_classes(workspace, table, columns, ["q"], examined=True)
        examined = Examined(
            table=table, columns=columns, quasi_identifiers=["q"], references={}, facts={}, counted=counted
        )
        found = examine(workspace, examined, models_of(spec(privacy=[{"k_anonymity": 2}])))
    assert counted is not None
    assert (found.classes, found.smallest, found.rows, found.passed) == (2, 1, 4, False)
