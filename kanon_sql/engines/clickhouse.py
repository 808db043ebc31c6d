"""ClickHouse, by clickhouse-connect: over HTTP, or chDB inside this process."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from kanon_sql.engines.base import (
    NO_MEMORY,
    NO_SPACE,
    Capabilities,
    Column,
    Deadline,
    Estimate,
    Kind,
    Meter,
    Row,
    Running,
    Scratch,
    Texts,
)
from kanon_sql.engines.clickhouse_settings import SETTINGS, assigned
from kanon_sql.engines.clickhouse_tables import (
    READS_ELSEWHERE,
    merged_query,
    merging_tables,
    stored_of,
    table_query,
)
from kanon_sql.engines.error_redaction import without_values
from kanon_sql.engines.hidden_tables import Concealed
from kanon_sql.engines.reads import Stored
from kanon_sql.engines.session import NO_TABLE, TAG, THIS_PROCESS, SessionEngine
from kanon_sql.engines.type_names import TypeName, listed_labels, parsed_type
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError
from kanon_sql.sql import RENAMING, Statement, dialect_named

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

__all__ = ["ClickHouseEngine"]

CAPABILITIES = Capabilities(
    transactional_ddl=False,
    atomic_replace=True,
    temp_tables=True,
    conceals=True,
    files=False,
    folds_names=False,
    nodes_as_rows=8_000,
)

_RENAMING_ONLY = ("Ordinary", "Memory", "Lazy")
"""Database engines that cannot exchange two tables."""

_NAMES = "SELECT name FROM system.functions"

_MANY = 1_000_000
"""Functions there may be."""

_COMBINED = re.compile(r"(If|OrNull|OrDefault|Distinct|Array)+$")
"""What makes another aggregate of one."""

_READ_ONLY, _CANCELLED, _TIMEOUT = 164, 394, 159

_FULL, _WRITING, _MEMORY = (243,), (74, 75, 76, 1001), 241
"""Not enough space; errors of files, which say why by a number of the operating system; no more memory."""

_STORING = tuple(f"{kind}MergeTree" for kind in ("", "Replicated", "Shared"))
"""Engines of tables that keep all rows as they were written."""

_ABOUT_NAMES = (16, 46, 47, 48, 57, 60, 81, _READ_ONLY, 497)
"""Error codes whose first sentence names tables, columns or rights, and no value."""


class ClickHouseEngine(SessionEngine):
    """One clickhouse-connect client, with the settings that make ClickHouse mean what SQL means.

    Views and the user's own query are read under these settings too.

    Args:
        client: an open client; it is closed only if ``owned``.
        label: what to call the database in messages.
        owned: this object opened the client.
        read_only: ask the server to refuse writes.
        scratch: where scratch tables live; found out by trying when None.

    Raises:
        UnsupportedError: the settings that exact answers need may not be set.
        DatabaseError: the server refused.
    """

    capabilities = CAPABILITIES
    shows_views = True
    reads_elsewhere = READS_ELSEWHERE
    repeatable_samples = "all"  # by the table's sampling key
    effects = frozenset(
        {"executable", "executablepool", "fuzzjson", "fuzzquery", "generaterandom", "generateuuidv4", "generateuuidv7"}
        | {"rand", "rand32", "rand64", "randcanonical", "randomstring", "randconstant", "sleep", "sleepeachrow"}
    )

    def __init__(
        self,
        client: Client,
        *,
        label: str | None = None,
        owned: bool = False,
        read_only: bool = False,
        scratch: Scratch | None = None,
    ) -> None:
        super().__init__(label or _label(client), read_only=read_only, scratch=scratch)
        if read_only and not owned and hasattr(client, "path"):
            raise UnsupportedError(
                "kanon_sql cannot make an open chDB client read-only for one command; give its URL instead"
            )
        self.dialect = dialect_named("clickhouse")
        self._client = client
        self._owned = owned
        self._path: str | None = getattr(client, "path", None)
        self._concealed = Concealed()
        self._has_users = self._path is None
        self._restore = "" if owned or self._path is None else self._now_set()
        self.ephemeral = self._path == ":memory:"
        with self._guard("connect"):
            self._prepare()
            ((readonly, self._database, engine, self._version),) = self._rows(
                "SELECT getSetting('readonly'), currentDatabase(), "
                "(SELECT engine FROM system.databases WHERE name = currentDatabase()), version()",
                1,
            )
            if engine in _RENAMING_ONLY:
                self.dialect = RENAMING
        self.read_only = read_only or bool(int(readonly))
        if scratch is None:
            self.scratch = self._find_scratch()

    @property
    def version(self) -> str:
        """The server's version."""
        return str(self._version)

    # --- Runs that live ---

    @property
    def detects_ended_runs(self) -> bool:  # type: ignore[override]
        """In chDB one process alone has the directory open; a server has no lock that ends with a client."""
        return self._path is not None

    def _hold(self, run_id: str) -> str | None:
        return None if self._path is None else THIS_PROCESS

    def _ended(self, among: tuple[str, ...], held_by: Mapping[str, str]) -> Iterable[str]:
        """All others, where the record is stored here; it may be a table of a server's that is read through chDB."""
        place = "currentDatabase()" if len(among) == 1 else self.dialect.literal(among[0])
        rows = self._rows(
            f"SELECT 1 FROM system.tables WHERE database = {place} AND name = {self.dialect.literal(among[-1])} "
            "AND engine = 'MergeTree' AND NOT is_temporary",
            1,
        )
        return [run_id for run_id, holder in held_by.items() if holder == THIS_PROCESS] if rows else ()

    # --- Settings ---

    def _prepare(self) -> None:
        """Put the settings in force, and see that they are."""
        from clickhouse_connect.driver.exceptions import ClickHouseError

        try:
            self._set_session()
            names = ", ".join(map(self.dialect.literal, SETTINGS))
            rows = self._rows(f"SELECT name, value FROM system.settings WHERE name IN ({names})", len(SETTINGS))
        except ClickHouseError as error:
            code = getattr(error, "code", None)
            if code not in (_READ_ONLY, 115, 452) and "readonly" not in str(error):
                raise
            raise UnsupportedError(
                "ClickHouse: this user may not change the settings that exact answers need (such as "
                "join_use_nulls), or the server is too old to have them; give a read-only user readonly = 2 "
                "instead of 1, or upgrade the server"
            ) from None
        different = sorted(set(SETTINGS.items()) - set(rows))
        if different:
            raise UnsupportedError(
                f"ClickHouse: the settings {', '.join((name for name, _ in different))} do not have the values "
                "that exact answers need; remove the constraints on these settings"
            )

    def refuse_shadowed_functions(self) -> None:
        """A function of a user's may have the name of one of ClickHouse's in other letters: COUNT for count."""
        with self.without_deadline(), self._guard("catalog"):
            made = [str(name) for (name,) in self._rows(f"{_NAMES} WHERE origin <> 'System'", _MANY)]
            if not made:
                return
            own = {str(name).lower() for (name,) in self._rows(f"{_NAMES} WHERE origin = 'System'", _MANY)}
        hiding = sorted(name for name in made if _COMBINED.sub("", name).lower() in own or name.lower() in own)
        if hiding:
            raise UnsupportedError(
                "clickhouse: user-defined functions have the names of ClickHouse's own "
                f"({', '.join(hiding[:5])}), and would be called in their place; drop or rename them"
            )

    def _set_session(self, limit: float | None = None) -> None:
        """In chDB, settings belong to the session."""
        if self._path is None:
            return
        self._client.command(f"SET {assigned({**SETTINGS, 'max_execution_time': f'{limit or 0:.3f}'})}")
        if self._owned and self.read_only:
            self._client.command("SET readonly = 2")

    def _sent(self) -> dict[str, Any] | None:
        """What goes with each statement over HTTP: nothing is left to a session that may end."""
        if self._path is not None:
            return None
        left = self._deadline.remaining()
        return {
            **SETTINGS,
            **({"readonly": "2"} if self.read_only else {}),
            **({} if left is None else {"max_execution_time": f"{left + 1:.3f}"}),
        }

    def _now_set(self) -> str:
        """The statement that gives an open chDB client its own settings back."""
        names = ", ".join(f"'{name}'" for name in (*SETTINGS, "max_execution_time"))
        rows = self._client.query(
            f"SELECT name, value, changed FROM system.settings WHERE name IN ({names})"
        ).result_rows
        kept = assigned({name: value for name, value, changed in rows if changed})
        reset = ", ".join(f"{name} = DEFAULT" for name, _, changed in rows if not changed)
        return f"SET {', '.join(filter(None, (kept, reset)))}"

    # --- Statements ---

    def _run(self, sql: str) -> None:
        self._client.command(sql, settings=self._sent())

    def _rows(self, sql: str, limit: int) -> list[Row]:
        with self._client.query_rows_stream(sql, settings=self._sent()) as stream:
            return [tuple(row) for row in islice(stream, limit + 1)]

    def _describe(self, relation: str) -> list[Column]:
        sql = f"DESCRIBE TABLE (SELECT * FROM {relation} AS kanon_relation)"
        self.meter.count(Statement("columns", sql, users=relation, quoted=self.dialect.quoted))
        rows = [tuple(row) for row in self._client.query(self._tagged(sql), settings=self._sent()).result_rows]
        self.meter.count_rows(rows)
        return [
            Column(str(name), str(shown), kind, texts=texts, labels=labels)
            for name, shown, *_ in rows
            for kind, texts, labels in (_described_type(str(shown)),)
        ]

    def _find(self, parts: tuple[str, ...]) -> tuple[Literal["table", "view"], tuple[str, ...]] | None:
        """Case counts; a temporary table hides the one in the database."""
        if len(parts) > 2:
            return None
        place = "'', currentDatabase()" if len(parts) == 1 else self.dialect.literal(parts[0])
        sql = (
            "SELECT engine, database, name FROM system.tables "
            f"WHERE database IN ({place}) AND name = {self.dialect.literal(parts[-1])} ORDER BY is_temporary DESC"
        )
        rows = self.fetch(Statement("exists", sql, quoted=self.dialect.quoted), 2)
        if not rows:
            return None
        engine, database, name = map(str, rows[0])
        return "view" if engine.endswith("View") else "table", (database, name)

    def _stored(self, parts: tuple[str, ...]) -> Stored | None:
        """By its engine, and by the text of what is a view."""
        if len(parts) > 2:
            return None
        place = "'', currentDatabase()" if len(parts) == 1 else self.dialect.literal(parts[0])
        with self._guard("catalog"):
            rows = self._rows(table_query(place, self.dialect.literal(parts[-1])), 1)
            if not rows:
                return None
            engine, database, name, engine_full, *_ = map(str, rows[0])
            shown = self._rows(merged_query((database, name), engine_full), _MANY) if engine == "Merge" else []
        return stored_of(rows[0], shown)

    def row_versions(self) -> list[str]:
        """Tables of the current database whose rows are merged some time after they were written."""
        with self._guard("catalog"):
            return [str(name) for (name,) in self._rows(merging_tables(), _MANY)]

    def _comment(self, parts: tuple[str, ...]) -> str | None:
        found = self._find(parts)
        if found is None:
            return None
        database, name = map(self.dialect.literal, found[1])
        sql = f"SELECT comment FROM system.tables WHERE database = {database} AND name = {name}"
        rows = self.fetch(Statement("mark", sql, quoted=self.dialect.quoted), 1)
        return str(rows[0][0]) if rows else None

    def _faults(self, parts: tuple[str, ...]) -> list[str] | None:
        """What keeps no rows, or not for good; views that take each row that is written; and row policies, if shown."""
        found = self._find(parts)
        if found is None:
            return None
        database, name = map(self.dialect.literal, found[1])
        sql = (
            "SELECT engine, is_temporary, length(dependencies_table), "
            r"match(create_table_query, '\\s(TTL|CONSTRAINT\\s+\\S+\\s+(CHECK|ASSUME))\\s') OR EXISTS ("
            f"SELECT 1 FROM system.columns WHERE database = {database} AND table = {name} AND default_kind <> '') "
            f"FROM system.tables WHERE database = {database} AND name = {name}"
        )
        ((engine, temporary, views, forgets),) = self.fetch(Statement("shared", sql, quoted=self.dialect.quoted), 1)
        shown_text = [] if str(engine) in _STORING else [NO_TABLE]
        shown_text += ["is a temporary table, which vanishes with the session"] if temporary else []
        shown_text += ["has materialized views, which run for every row that is written"] if views else []
        shown_text += ["has columns or rows that are not stored as they are written"] if forgets else []
        return [*shown_text, *(["has row policies"] if self._has_policies(database, name) else [])]

    def readers(self, schema: tuple[str, ...]) -> str | None:
        """Who else may read a database, in words; None for no other user. In chDB there are none.

        Rights in a database hold for each table in it from the first moment.
        """
        if not self._has_users:
            return None
        sql = self.dialect.readers(schema or (str(self._database),))
        assert sql is not None, "ClickHouse has users"
        try:
            others = int(self.fetch(Statement("shared", sql, quoted=self.dialect.quoted), 1)[0][0])
        except DatabaseError:
            return "this user cannot see who else may read"
        return f"{others} other users or roles may read" if others else None

    def execute(self, statement: Statement) -> None:
        """A table that is not published yet is one of the session where others may read the database."""
        super().execute(self._concealed.made(self.dialect, statement))

    def conceal(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Make a table of the session, which is in no database, if others could read it at once."""
        who = self.readers(parts[:-1])
        if who is None:
            return parts
        place = parts[:-1] or (str(self._database),)
        if self._find_scratch().mode == "inline":
            raise SpecError(
                f"release: {who} {self.dialect.relation(place)}, where the table would be before it is verified, "
                "and this connection cannot create a temporary table for it. Give the database's URL, or a "
                "client with a session_id, as a user with CREATE TEMPORARY TABLE; or release into a database "
                "that no other user may read, as a user who can see that (GRANT SHOW ACCESS ON *.*)"
            )
        return self._concealed.hide(self.dialect, (*place, parts[-1]))

    def reveal(self, parts: tuple[str, ...]) -> list[str]:
        """Copy it from the session, and drop it there."""
        return self._concealed.shown(self.dialect, parts)

    def refuse_readers(self, schema: tuple[str, ...]) -> None:
        """Rights in a database hold for each table in it from the first moment."""
        who = self.readers(schema)
        if who is None:
            return
        raise SpecError(
            f"scratch: {who} {self.dialect.relation(schema)}, where scratch tables would hold values of the "
            "source; use temporary tables (scratch temp), or a database that no other user may read, as a user "
            "who can see that (GRANT SHOW ACCESS ON *.*)"
        )

    def _has_policies(self, database: str, name: str) -> bool:
        """Whether rows are hidden; a user who may not see policies is not told."""
        sql = f"SELECT count() FROM system.row_policies WHERE database = {database} AND table = {name}"
        try:
            return bool(self.fetch(Statement("shared", sql, quoted=self.dialect.quoted), 1)[0][0])
        except DatabaseError:
            return False

    def estimate(self, relation: str) -> Estimate | None:
        """EXPLAIN ESTIMATE's rows, and their share of the tables' bytes; MergeTree tables only."""
        sql = (
            "SELECT sum(read.rows), "
            "sum(toFloat64(read.rows) * known.total_bytes_uncompressed / nullIf(known.total_rows, 0)) FROM "
            f"(EXPLAIN ESTIMATE SELECT * FROM {relation} AS kanon_relation) AS read LEFT JOIN system.tables AS known "
            "ON known.database = read.database AND known.name = read.table"
        )
        ((rows, size),) = self.fetch(Statement("estimate", sql, users=relation, quoted=self.dialect.quoted), 1)
        if rows is None:
            return None
        return Estimate(int(rows), None if size is None else int(size), "EXPLAIN ESTIMATE")

    def _find_scratch(self) -> Scratch:
        """Temporary tables, if one is still there in the next statement: they need a session."""
        probe = self.dialect.quote(f"kanon_{self.run_id}_probe")
        try:
            self._run(self.dialect.create_as(probe, "SELECT 1 AS probe", temporary=True))
            self._rows(f"SELECT probe FROM {probe}", 1)
            self._run(f"DROP TABLE {probe}")
        except Exception as error:
            if self._error(error, "scratch") is None:
                raise
            return Scratch("inline", (), "ClickHouse refused a temporary table, or this client has no session")
        return Scratch()

    # --- Time, errors, the end ---

    @contextmanager
    def run(self, deadline: Deadline) -> Iterator[Meter]:
        """A fresh meter and a time limit for everything inside; the session's settings are set again."""
        with super().run(deadline) as meter:
            left = deadline.remaining()
            self._set_session(None if left is None else left + 1)
            try:
                yield meter
            finally:
                self._set_session()

    def cancel(self) -> None:
        """Kill the run's statement from another session; every statement begins with the run's tag."""
        kill = f"KILL QUERY WHERE startsWith(query, {self.dialect.literal(self._tagged(''))}) ASYNC"
        with suppress(Exception):
            if self._path is None:
                self._client.command(kill, settings={"session_id": f"kanon_sql_{secrets.token_hex(8)}"})
                return
            import clickhouse_connect

            with clickhouse_connect.get_client(interface="chdb", path=self._path) as other:
                other.command(kill)

    def running(self) -> list[Running]:
        """From the list of queries; without the right to see all, those of the same user."""
        tag = self.dialect.literal(TAG)
        asked = (
            f"SELECT query_id, substring(query, {len(TAG) + 1}, 8), elapsed FROM system.processes "
            f"WHERE startsWith(query, {tag}) AND NOT startsWith(query, {self.dialect.literal(self._tagged(''))})"
        )
        rows = self.fetch(Statement("catalog", asked, quoted=self.dialect.quoted), 10_000)
        return [Running(str(query), str(run), float(seconds)) for query, run, seconds in rows]

    def end(self, statement: Running) -> None:
        """KILL QUERY by the query's own number, which no other query ever has."""
        kill = f"KILL QUERY WHERE query_id = {self.dialect.literal(statement.handle)} ASYNC"
        self.execute(Statement("catalog", kill, quoted=self.dialect.quoted))

    def close(self) -> None:
        """Close the client if this object opened it; else leave it as it was."""
        with suppress(Exception):
            if self._owned:
                self._client.close()
            elif self._restore:
                self._client.command(self._restore)

    def _error(self, error: Exception, name: str) -> BaseException | None:
        from clickhouse_connect.driver.exceptions import ClickHouseError

        if not isinstance(error, ClickHouseError):
            return None
        code = getattr(error, "code", None)
        if code == _CANCELLED:
            return KeyboardInterrupt()
        if code == _TIMEOUT and self._deadline.seconds is not None:
            return self._deadline.error()
        if code is None:
            return DatabaseError(
                f"{name}: the connection to {self.label} failed ({type(error).__name__}); its temporary tables "
                "may be gone: run kanon-sql clean to find what else is left"
            )
        if code in _FULL or (code in _WRITING and "errno: 28" in str(error)):
            return DatabaseError(f"{name}: ClickHouse reported error {code}: {NO_SPACE}")
        if code == _MEMORY:
            return DatabaseError(f"{name}: ClickHouse reported error {code}: {NO_MEMORY} (max_memory_usage)")
        shown_text = None
        if code in _ABOUT_NAMES:  # a query can raise any, with any text
            shown_text = without_values(_first_sentence(str(error)), self.meter.last, self.label)
        if shown_text is not None:
            return DatabaseError(f"{name}: {shown_text} (ClickHouse error {code})")
        return DatabaseError(f"{name}: ClickHouse reported error {code} (its text may hold values and is not shown)")


def _label(client: Client) -> str:
    """The address of an open client, without credentials."""
    return re.sub(r"//[^/@]*@", "//", str(client.uri))


def _first_sentence(text: str) -> str:
    """An error without the statement that follows it."""
    text = re.sub(r"^.*?DB::Exception: ", "", text, flags=re.DOTALL)
    return re.split(r"\.? In scope |: [Ww]hile |\. \(|\s\(", text)[0].strip()


_LEAVES: dict[str, tuple[Kind, Texts]] = {
    **{f"{sign}Int{bits}": ("integer", "one") for sign in ("", "U") for bits in (8, 16, 32, 64, 128, 256)},
    **dict.fromkeys(("Decimal", "Decimal32", "Decimal64", "Decimal128", "Decimal256"), ("decimal", "one")),
    **dict.fromkeys(("Float32", "Float64", "BFloat16"), ("float", "one")),
    **dict.fromkeys(("String", "FixedString", "Enum8", "Enum16"), ("text", "one")),
    **dict.fromkeys(("Date", "Date32"), ("date", "one")),
    **dict.fromkeys(("DateTime", "DateTime64"), ("timestamp", "one")),
    "Bool": ("boolean", "one"),
    **dict.fromkeys(("UUID", "IPv4", "IPv6", "Time", "Time64", "Nothing"), ("other", "one")),
    **dict.fromkeys((f"Interval{unit}second" for unit in ("Nano", "Micro", "Milli")), ("other", "one")),
    **dict.fromkeys(
        (f"Interval{unit}" for unit in ("Second", "Minute", "Hour", "Day", "Week", "Month", "Quarter", "Year")),
        ("other", "one"),
    ),
    **dict.fromkeys(("Point", "Ring", "LineString", "MultiLineString", "Polygon", "MultiPolygon"), ("other", "items")),
    **dict.fromkeys(("MultiPoint", "QBit"), ("other", "items")),
}
"""What is told of types. Of others, such as Variant and JSON, different values may have one text: 1 and 1.0."""

_WRAPPERS = ("Nullable", "LowCardinality", "SimpleAggregateFunction")

_CONTAINERS = ("Array", "Tuple", "Map", "Nested")

_AMBIGUOUS: tuple[Kind, Texts] = ("ambiguous", "several")


@lru_cache(maxsize=500)
def _described_type(type_name: str) -> tuple[Kind, Texts, tuple[str, ...] | None]:
    """The kind of the values of a type, how they are written, and the labels of an enumeration."""
    parsed = parsed_type(type_name, backslash=True)
    return (*_AMBIGUOUS, None) if parsed is None else (*_kind_and_texts(parsed), _labels(parsed))


def _labels(of: TypeName) -> tuple[str, ...] | None:
    if of.name in _WRAPPERS and of.arguments:
        return _labels(of.arguments[-1])
    return listed_labels(of, backslash=True) if of.name in ("Enum8", "Enum16") else None


def _kind_and_texts(of: TypeName) -> tuple[Kind, Texts]:
    if of.name in _WRAPPERS and of.arguments:
        return _kind_and_texts(of.arguments[-1])
    if of.name in _CONTAINERS:
        parts = [_kind_and_texts(part.of_field()) for part in of.arguments]
        # In the night when clocks go back two moments are written in one way.
        return _AMBIGUOUS if any(kind in ("ambiguous", "moment") for kind, _ in parts) else ("other", "items")
    if of.name in ("DateTime", "DateTime64"):  # with a zone; without one it is UTC here
        zones = [part.name for part in of.arguments if part.name.startswith("'")]
        return ("moment", "one") if zones and zones != ["'UTC'"] else ("timestamp", "one")
    return _LEAVES.get(of.name, _AMBIGUOUS)
