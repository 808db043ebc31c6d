"""The warehouses' adapters, as far as they can be held to account without a server."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlglot

import kanon_sql
from kanon_sql.engines import connection
from kanon_sql.engines.backends import BACKENDS, backend_named
from kanon_sql.engines.backends.warehouse import Warehouse, column_of
from kanon_sql.engines.reads import ReadInspector
from kanon_sql.engines.relational import RelationalEngine
from kanon_sql.engines.session import SessionEngine
from kanon_sql.errors import SpecError, UnsupportedError
from tests import ROOT

WAREHOUSES = [name for name, backend in BACKENDS.items() if issubclass(backend, Warehouse)]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


class Catalog:
    """Stands for an engine: keeps the catalog queries and answers them."""

    def __init__(self, answer: list[tuple[Any, ...]]) -> None:
        self.asked: list[str] = []
        self.answer = answer

    def scalars(self, sql: str, limit: int = 1) -> list[tuple[Any, ...]]:
        self.asked.append(sql)
        return self.answer


def test_the_seven_are_registered_under_sqlalchemys_names() -> None:
    assert set(WAREHOUSES) == {"snowflake", "bigquery", "redshift", "databricks", "mssql", "trino", "oracle"}


@pytest.mark.parametrize("scheme", sorted(BACKENDS))
def test_every_scheme_has_a_backend_and_an_extra_that_installs_its_driver(scheme: str) -> None:
    backend = backend_named(scheme)
    assert backend.url.split("+")[0] == scheme == backend.scheme
    assert any("sqlalchemy" in requirement for requirement in EXTRAS[backend.extra])


EXTRA_OF = {
    **{scheme: backend.extra for scheme, backend in BACKENDS.items()},
    "postgres": "postgres", "clickhouse": "clickhouse", "clickhouses": "clickhouse", "chdb": "chdb", "spark": "spark",
    "sc": "spark",
}  # fmt: skip


@pytest.mark.parametrize("scheme", sorted(EXTRA_OF))
@pytest.mark.parametrize("there", [(), ("sqlalchemy", "clickhouse_connect")])
def test_a_missing_driver_is_named_with_what_installs_it(
    scheme: str, there: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether all of it is missing or only what goes with the one database."""
    if there and EXTRA_OF[scheme] == "clickhouse":
        pytest.skip("it needs no other")
    account = "" if scheme == "sqlite" else "ada:s3cret@host"  # a file has no user
    monkeypatch.setattr(connection, "find_spec", lambda name: find_spec("os") if name in there else None)
    with pytest.raises(UnsupportedError, match="is not installed; in a checkout of kanon_sql, run: ") as refused:
        kanon_sql.connect(f"{scheme}://{account}/database")
    assert f'pip install ".[{EXTRA_OF[scheme]}]"' in str(refused.value)
    assert EXTRA_OF[scheme] in EXTRAS
    assert "s3cret" not in str(refused.value)


def test_a_driver_that_sqlalchemy_does_not_know_is_no_broken_url() -> None:
    pytest.importorskip("sqlalchemy")
    with pytest.raises(UnsupportedError, match=r"does not know the driver of the redshift URL; .*\.\[redshift\]"):
        kanon_sql.connect("redshift+nothing://ada:s3cret@host/database")
    with pytest.raises(SpecError, match="does not parse"):
        kanon_sql.connect("postgresql://host:no-port/database")


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("INTEGER", "integer"), ("bigint", "integer"), ("NUMBER(38, 0)", "integer"), ("decimal(12, 2)", "decimal"),
        ("NUMBER", "decimal"), ("BIGNUMERIC", "decimal"), ("double", "float"), ("FLOAT64", "float"),
        ("varchar(10)", "text"), ("nvarchar(max)", "text"), ("STRING", "text"), ("DATE", "date"),
        ("timestamp(3)", "timestamp"), ("timestamp(3) with time zone", "moment"), ("DATETIME", "timestamp"),
        ("boolean", "boolean"), ("bit", "boolean"), ("VARIANT", "ambiguous"), ("array(varchar(1))", "ambiguous"),
        ("array<string>", "ambiguous"), ("VARBYTE", "other"),
    ],
)  # fmt: skip
def test_a_type_says_what_kind_of_value_it_holds(type_name: str, kind: str) -> None:
    assert column_of("a", type_name).kind == kind


def test_drivers_describe_types_each_in_their_way() -> None:
    names = {
        "snowflake": [((0, 38, 0), "NUMBER(38, 0)"), ((7, 0, 0), "TIMESTAMP WITH TIME ZONE"), ((5, 0, 0), "VARIANT")],
        "redshift": [((1700, 12, 2), "NUMERIC"), ((1043, None, None), "VARCHAR"), ((4000, 0, 0), "SUPER")],
        "bigquery": [(("TIMESTAMP", 0, 0), "TIMESTAMP WITH TIME ZONE"), (("STRING", 0, 0), "STRING")],
        "oracle": [
            ((SimpleNamespace(name="DB_TYPE_NUMBER"), 10, 0), "NUMBER(10, 0)"),
            ((SimpleNamespace(name="DB_TYPE_NUMBER"), 0, -127), "NUMBER"),
            ((SimpleNamespace(name="DB_TYPE_DATE"), None, None), "TIMESTAMP"),
        ],
        "trino": [(("varchar(3)", None, None), "varchar(3)")],
    }  # fmt: skip
    for scheme, cases in names.items():
        backend = BACKENDS[scheme]()
        assert isinstance(backend, Warehouse)
        for (code, precision, scale), expected in cases:
            assert backend.type_name(("a", code, None, None, precision, scale, True)) == expected


FOUND = {"mssql": ("U ", "dbo", "visits"), "oracle": ("TABLE", "ADA", "visits")}


@pytest.mark.parametrize("scheme", WAREHOUSES)
def test_the_catalog_is_asked_in_the_engines_own_sql(scheme: str) -> None:
    backend = BACKENDS[scheme]()
    for parts in (("vis'its",), ("s", "visits"), ("c", "s", "visits")):
        engine: Any = Catalog([FOUND.get(scheme, ("BASE TABLE", "c", "s", "visits"))])
        kind, full = backend.find(engine, parts) or ("", ())
        assert kind == "table"
        assert full[-1] == "visits"
        (sql,) = engine.asked
        assert len(sqlglot.parse(sql, read=backend.dialect.sqlglot)) == 1
        assert backend.find(Catalog([]), parts) is None  # type: ignore[arg-type]
    view: Any = Catalog([("V ", "dbo", "v") if scheme == "mssql" else ("VIEW", "c", "s", "v")])
    assert (backend.find(view, ("v",)) or ("",))[0] == "view"


UNSTABLE = {
    "tsql": ("SELECT TOP 5 * FROM visits", "SELECT * FROM visits WHERE NEWID() IS NULL", "newid"),
    "bigquery": ("SELECT * FROM visits LIMIT 5", "SELECT * FROM visits WHERE RAND() < 0.1", "rand"),
    "snowflake": (
        "SELECT * FROM visits SAMPLE (10)",
        "SELECT * FROM visits WHERE UNIFORM(1, 9, RANDOM()) > 1",
        "uniform",
    ),
    "oracle": ("SELECT * FROM visits SAMPLE (10)", "SELECT * FROM visits WHERE SYS_GUID() IS NULL", "sys_guid"),
}
"""Per dialect, views that give different rows each time: by their form, and by a function that they call."""


@pytest.mark.parametrize("scheme", WAREHOUSES)
def test_views_are_looked_into_by_the_text_that_the_catalog_has(scheme: str) -> None:
    backend = BACKENDS[scheme]()
    few, drawn, called = UNSTABLE.get(
        backend.dialect.sqlglot,
        ("SELECT * FROM visits LIMIT 5", "SELECT * FROM visits WHERE random() < 0.1", "random"),
    )
    views = {"few": few, "drawn": drawn, "every": "SELECT * FROM visits", "over": "SELECT * FROM few", "secret": None}

    class Views(Catalog):
        """What stands behind the names, whichever way the catalog is asked."""

        def scalars(self, sql: str, limit: int = 1) -> list[tuple[Any, ...]]:
            self.asked.append(sql)
            assert len(sqlglot.parse(sql, read=backend.dialect.sqlglot)) == 1
            name = next((name for name in [*views, "visits"] if re.search(rf"\b{name}\b['\]\"]", sql)), None)
            if any(word in sql.lower() for word in (".views", "sql_modules", "all_views")):
                assert name in views
                return [(views[name],)]
            kind = {"mssql": ("U ", "V "), "oracle": ("TABLE", "VIEW")}.get(scheme, ("BASE TABLE", "VIEW"))
            return [] if name is None else [(kind[name in views], *(["c"] * (scheme in THREE)), "s", name)]

    looked = ReadInspector(
        cast(
            SessionEngine,
            SimpleNamespace(
                run_id="0", shows_views=True, dialect=backend.dialect, reads_elsewhere=frozenset(), meter=None,
                repeatable_samples=backend.repeatable_samples,
                _stored=lambda parts: backend.stored(cast(RelationalEngine, Views([])), parts),
                _changing_calls=lambda parts, text: backend.changing_calls(cast(RelationalEngine, None), parts, text),
            ),
        )
    )  # fmt: skip
    for name, why in (("few", "this view has"), ("over", "few: this view has"), ("drawn", f"calls .*{called}")):
        with pytest.raises(SpecError, match=f"{why}.*different rows each time"):
            looked.look(backend.dialect.relation((name,)))
    looked.look(backend.dialect.relation(("every",)))
    assert looked.notes == []
    looked.look(backend.dialect.relation(("secret",)))
    assert ["the text of this view is not shown" in note for note in looked.notes] == [True]
    with pytest.raises(SpecError, match="source query: it calls"):
        backend.refuse_effects(cast(RelationalEngine, None), drawn)


THREE = {"snowflake", "bigquery", "redshift", "databricks", "trino"}
"""The catalogs whose names have three parts."""


def test_a_catalog_that_cannot_be_asked_is_a_note() -> None:
    pytest.importorskip("sqlalchemy")
    from sqlalchemy.exc import DBAPIError

    class Closed(Catalog):
        def scalars(self, sql: str, limit: int = 1) -> list[tuple[Any, ...]]:
            raise DBAPIError(sql, None, Exception("no such schema"))

    found = BACKENDS["snowflake"]().stored(cast(RelationalEngine, Closed([])), ("shared", "s", "v"))
    assert found is not None
    assert found.hidden


def test_sql_server_describes_a_query_without_running_it() -> None:
    backend = BACKENDS["mssql"]()
    engine: Any = Catalog([(0, 1, "a", True, 56, "int"), (0, 2, "b", True, 43, "datetimeoffset(7)")])
    columns = backend.columns(engine, "(WITH w AS (SELECT N'x' AS a) SELECT * FROM w)")
    assert [(column.name, column.kind) for column in columns] == [("a", "integer"), ("b", "moment")]
    assert "TIME ZONE" in columns[1].type
    assert engine.asked == [
        "EXEC sp_describe_first_result_set N'WITH w AS (SELECT N''x'' AS a) SELECT * FROM w'"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scheme", "text", "code"),
    [
        ("oracle", "ORA-00942: table or view 'Ada' does not exist", "ORA-00942"),
        ("snowflake", "002003 (42S02): 01b2: Object 'Ada' does not exist", "002003 (42S02)"),
        ("trino", "TrinoUserError(type=USER_ERROR, name=TABLE_NOT_FOUND, message='Ada')", "name=TABLE_NOT_FOUND"),
        ("databricks", "[TABLE_OR_VIEW_NOT_FOUND] The table Ada cannot be found", "[TABLE_OR_VIEW_NOT_FOUND]"),
        ("mssql", "('42S02', \"[42S02] Invalid object name 'Ada'. (208) (SQLExecDirectW)\")", "(208)"),
        ("bigquery", "404 Not found: Table Ada", "404"),
        ("redshift", "{'S': 'ERROR', 'C': '42P01', 'M': 'relation Ada does not exist'}", "42P01"),
    ],
)
def test_an_error_shows_its_code_and_no_value(scheme: str, text: str, code: str) -> None:
    shown = BACKENDS[scheme]().message(RuntimeError(text))
    assert code in shown
    assert "Ada" not in shown


@pytest.mark.parametrize(
    ("scheme", "text"),
    [
        ("oracle", "ORA-01013: user requested cancel of current operation"),
        ("snowflake", "000604 (57014): SQL execution canceled"),
        ("trino", "TrinoUserError(type=USER_ERROR, name=USER_CANCELED)"),
        ("databricks", "Query was cancelled"),
        ("mssql", "('HY008', '[HY008] Operation canceled (0)')"),
        ("bigquery", "499 Job execution was cancelled: User requested cancellation"),
        ("redshift", "{'C': '57014', 'M': 'Query (12) cancelled on user request'}"),
    ],
)
def test_a_cancelled_statement_is_known_as_such(scheme: str, text: str) -> None:
    assert BACKENDS[scheme]().cancelled(RuntimeError(text))
    assert not BACKENDS[scheme]().cancelled(RuntimeError("division by zero"))


def test_bigquerys_driver_keeps_percent_signs() -> None:
    sql = "SELECT '50%', '%%' FROM t"
    assert BACKENDS["bigquery"]().sent(sql).replace("%%", "%") == sql, "what the driver does to it"


@pytest.mark.parametrize("scheme", [name for name in WAREHOUSES if not BACKENDS[name].capabilities.temp_tables])
def test_without_temporary_tables_the_reason_says_what_would_be_cheaper(scheme: str) -> None:
    scratch = BACKENDS[scheme]().scratch(None)  # type: ignore[arg-type]
    assert scratch.mode == "inline"
    assert "schema:NAME" in scratch.reason
