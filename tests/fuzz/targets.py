"""The four targets. An input's first byte chooses the dialect; its checksum decides whether a database sees it, too."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

import kanon_sql
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies.files import read_hierarchy, with_top
from kanon_sql.spec import Spec
from kanon_sql.spec.load import read_yaml
from kanon_sql.sql.dialects import DIALECTS, dialect_named
from kanon_sql.sql.expression import level_expression
from kanon_sql.sql.query import single_query

from . import words
from .finds import IN_DATA, IN_INPUT, Find, judged

CORPUS = Path(__file__).with_name("corpus")
NAMES = sorted(DIALECTS)
SECONDS = 2.0
"""What a run in a database may take."""

K_ANONYMITY = [{"k_anonymity": {"k": 1}}]


@dataclass(frozen=True)
class Target:
    """What is fuzzed.

    Attributes:
        name: of it, and of its folder of seeds.
        run: takes an input; raises Find.
        words: what to put into inputs.
    """

    name: str
    run: Callable[[bytes], None]
    words: tuple[str, ...]

    @property
    def seeds(self) -> list[Path]:
        return sorted((CORPUS / self.name).iterdir())


def lot(data: bytes, of: int) -> bool:
    """Whether it is an input's turn for what takes long: one of so many, and always the same ones."""
    return zlib.crc32(data) % of == 0


@cache
def folder() -> Path:
    """Where inputs that must be files are written."""
    made = Path(tempfile.mkdtemp(prefix="kanon-fuzz-"))
    (made / "h.csv").write_text("a;A;*\nb;B;*\n", encoding="utf-8")
    return made


# --- A database ----------------------------------------------------------------------------


class Database:
    """DuckDB in memory with little of everything, opened again when an input broke it."""

    def __init__(self) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = None

    def connection(self) -> duckdb.DuckDBPyConnection:
        if self._connection is not None:
            with suppress(duckdb.Error):
                self._connection.execute("SELECT 1").fetchall()
                return self._connection
            self._connection.close()
        self._connection = opened()
        return self._connection


def opened() -> duckdb.DuckDBPyConnection:
    config = {"threads": 1, "memory_limit": "64MB", "enable_external_access": "false", "temp_directory": ""}
    connection = duckdb.connect(config=config)
    connection.execute("SET enable_progress_bar = false")
    connection.execute(
        f"""
        CREATE TABLE t AS
        SELECT '{IN_DATA}' || i AS s, i - 3 AS n, i / 7.0 AS f, DATE '2024-01-01' + CAST(i AS INTEGER) AS d
        FROM range(8) AS r (i)
        UNION ALL SELECT NULL, NULL, NULL, NULL
        """
    )
    return connection


DATABASE = Database()


def searched(spec: dict[str, Any], base: Path | None = None) -> None:
    """Search a release of the table, as ``plan`` does."""
    checked = Spec.from_dict({"version": 1, "privacy": K_ANONYMITY, **spec})
    if base is not None:
        checked._base_dir = base
    kanon_sql.plan(kanon_sql.connect(DATABASE.connection()), checked, timeout=SECONDS)


# --- Spec text -----------------------------------------------------------------------------


def spec_text(data: bytes) -> None:
    """A spec's file: load it, check it, write it and read it again, render it."""
    path = folder() / "spec.yml"
    path.write_bytes(data[1:])
    with judged(named=has_canary_as_a_name(data[1:])):
        spec = Spec.load(path)
        if Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) != spec:
            raise Find("a spec reads back as another one", str(data))
        if IN_INPUT in json.dumps(spec.redacted()) and not has_canary_as_a_name(data[1:]):
            raise Find("a value in a redacted spec", str(data))
        hierarchies = [item.hierarchy for item in spec.quasi_identifiers.values()]
        files = [found.to_dict()["file"] for found in hierarchies if found.name == "file"]
        if len(spec.quasi_identifiers) <= 8 and all(name == "h.csv" for name in files):
            kanon_sql.render(spec, NAMES[data[0] % len(NAMES)])


def has_canary_as_a_name(text: bytes) -> bool:
    """Whether the canary stands anywhere but among a tree's labels, where it is a value."""
    if IN_INPUT.encode() not in text:
        return False
    try:
        document = read_yaml(text.decode("utf-8"), "spec")
    except (SpecError, UnicodeDecodeError):
        return True
    written = document.data
    columns = written.get("quasi_identifiers") if isinstance(written, dict) else None
    for column in columns.values() if isinstance(columns, dict) else ():
        if isinstance(column, dict):
            column.pop("tree", None)
    return IN_INPUT in repr(written) or any(f"{sign}{IN_INPUT}".encode() in text for sign in "!&*%<")


# --- Hierarchy files -----------------------------------------------------------------------


def hierarchy_file(data: bytes) -> None:
    """A hierarchy's file: read it, and at times use it for a table of its values."""
    path = folder() / "given.csv"
    path.write_bytes(data[1:])
    with judged(named=False):
        rows = with_top(read_hierarchy(path))
        if any(len(row) != len(rows[0]) for row in rows):
            raise Find("a ragged hierarchy", str(data))
        if lot(data, 16):
            table = DATABASE.connection()
            table.execute("CREATE OR REPLACE TEMP TABLE given (x VARCHAR)")
            table.executemany("INSERT INTO given VALUES (?)", [(row[0],) for row in rows[:20]])
            searched({"source": "given", "quasi_identifiers": {"x": {"file": "given.csv"}}}, folder())


# --- Level expressions ---------------------------------------------------------------------


def level_sql(data: bytes) -> None:
    """An expression of a level: check it, write it in a dialect, and at times run it on each kind of column."""
    text = data[1:].decode("utf-8", "replace")
    with judged(named=has_canary_outside_literals(text)):
        level_expression(text, "sql")
        spec = {"source": "t", "quasi_identifiers": {"x": {"sql": [text]}}, "version": 1, "privacy": K_ANONYMITY}
        kanon_sql.render(Spec.from_dict(spec), NAMES[data[0] % len(NAMES)])
        if lot(data, 6):
            column = "snfd"[data[0] % 4]
            searched({"source": "t", "quasi_identifiers": {column: {"sql": [text]}}})


def has_canary_outside_literals(text: str) -> bool:
    """Whether the canary stands in a name, or where no token can be made out."""
    if IN_INPUT not in text:
        return False
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
    except (SqlglotError, RecursionError):
        return True
    return any(IN_INPUT in token.text and token.token_type != TokenType.STRING for token in tokens)


# --- Source queries ------------------------------------------------------------------------


def source_query(data: bytes) -> None:
    """A source query: check it in a dialect, and in DuckDB's, run it."""
    text = data[1:].decode("utf-8", "replace")
    with judged(named=has_canary_outside_literals(text)):
        dialect = dialect_named(NAMES[data[0] % len(NAMES)])
        single_query(text, dialect.sqlglot)
    with judged(named=has_canary_outside_literals(text)):
        spec = {"source": {"query": text}, "quasi_identifiers": {"s": {}}, "version": 1, "privacy": K_ANONYMITY}
        if lot(data, 3):
            searched(spec)
        else:
            kanon_sql.render(Spec.from_dict(spec), dialect.name)


# --- All of them ---------------------------------------------------------------------------

TARGETS = {
    target.name: target
    for target in (
        Target("spec", spec_text, words.SPEC),
        Target("hierarchy", hierarchy_file, words.FILE),
        Target("sql", level_sql, words.SQL),
        Target("query", source_query, (*words.SQL, *words.QUERY)),
    )
}
