"""MariaDB and MySQL, by PyMySQL or another driver of SQLAlchemy's."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kanon_sql.engines.backends.base import Backend, Found, backend
from kanon_sql.engines.base import NO_SPACE, Capabilities, Column, Estimate, Kind, Running, Texts
from kanon_sql.engines.error_redaction import without_values
from kanon_sql.engines.hidden_tables import Concealed
from kanon_sql.engines.session import NO_TABLE, TAG
from kanon_sql.errors import DatabaseError, SpecError
from kanon_sql.sql import SEQUENCE, WITHOUT_SEQUENCES, MariaDB, MySQL, Statement, called_names, named_tables

if TYPE_CHECKING:
    from kanon_sql.engines.relational import RelationalEngine

__all__ = ["MODE", "MariaDBBackend", "MySQLBackend", "may_see_triggers"]

_JSON = 245

_TYPES: dict[int, tuple[str, Kind]] = {
    0: ("DECIMAL", "decimal"),
    1: ("TINYINT", "integer"),
    2: ("SMALLINT", "integer"),
    3: ("INT", "integer"),
    4: ("FLOAT", "float"),
    5: ("DOUBLE", "float"),
    7: ("TIMESTAMP", "moment"),
    8: ("BIGINT", "integer"),
    9: ("MEDIUMINT", "integer"),
    10: ("DATE", "date"),
    11: ("TIME", "other"),
    12: ("DATETIME", "timestamp"),
    13: ("YEAR", "integer"),
    16: ("BIT", "other"),
    _JSON: ("JSON", "text"),
    246: ("DECIMAL", "decimal"),
    **dict.fromkeys((249, 250, 251, 252), ("TEXT", "text")),
    253: ("VARCHAR", "text"),
    254: ("CHAR", "text"),
}
"""The protocol's type codes. A type that is missing may have no text of its own."""


_WRITTEN: dict[int, Texts] = {11: "one", 16: "bits"}
"""Times and bits. Of other types of no kind of their own, such as geometries, too little is known."""

_FIXED = 254

_SIZED = (253, _FIXED)
"""Texts that are declared with a length."""

_WIDEST = 4
"""Bytes of a character in the session's results, by which the protocol counts."""

_BLOBS, _BINARY, _ENUM, _SET, _LONGEST, _BYTES = (249, 250, 251, 252), 128, 256, 2048, 2**32 - 1, 63
"""Types of long texts; flags of a column; and what the longest text may have in bytes; the charset of bytes."""


def _column(described: Sequence[Any], flags: int | None, longest: int | None) -> Column:
    """A column, as a driver describes it; a decimal with its digits, where the driver says them.

    MariaDB's JSON is a LONGTEXT with a collation that ends with ``_bin``, and that is all that the protocol says. Of an
    ENUM it has no labels, and the catalog does not say of which table's column one of a query is, and has no letters
    beyond U+FFFF.

    Args:
        described: an item of the driver's description: the name, the type's code, sizes and digits.
        flags: those that the protocol has of the column; None where the driver does not hand them out.
        longest: the most characters of a text, by the column's type; None where that is not known.
    """
    number, size, digits = described[1], described[3], described[4:6]
    name, kind = _TYPES.get(number, ("OTHER", "ambiguous"))
    is_long = number in _BLOBS and size is not None and int(size) >= _LONGEST
    if number == _JSON or (is_long and (flags is None or flags & _BINARY)):
        return Column(str(described[0]), "JSON" if number == _JSON else "LONGTEXT or JSON", kind, texts="items")
    if flags is not None and flags & _SET:
        return Column(str(described[0]), "SET", kind, texts="items")
    if flags is not None and flags & _ENUM:
        return Column(str(described[0]), "ENUM", kind, labels=())
    if number == _FIXED and flags is not None and longest is None:  # padded with zeros, which sorting does not see
        return Column(str(described[0]), "BINARY", "ambiguous")
    if kind == "decimal" and all(isinstance(digit, int) for digit in digits):
        name = f"{name}({digits[0]}, {digits[1]})"
    return Column(str(described[0]), name, kind, texts=_WRITTEN.get(number), longest=longest)


def _fields(cursor: Any) -> Sequence[Any]:
    """What PyMySQL keeps of each column that the protocol describes; nothing of other drivers."""
    fields = getattr(getattr(cursor, "_result", None), "fields", None) or ()
    return fields if all(hasattr(field, "flags") for field in fields) else ()


def _longest(cursor: Any) -> Sequence[int | None]:
    """The most characters of each column's texts, where a driver hands out what the protocol says."""
    return [
        int(field.length) // _WIDEST if field.type_code in _SIZED and field.charsetnr != _BYTES else None
        for field in _fields(cursor)
    ] or [None] * len(cursor.description)


def _flags(cursor: Any) -> Sequence[int | None]:
    """Each column's flags, where PyMySQL, mysqlclient or MySQL's own driver has them."""
    if fields := _fields(cursor):
        return [int(field.flags) & ~(_BINARY if field.charsetnr == _BYTES else 0) for field in fields]
    flags = getattr(cursor, "description_flags", None)
    if flags is not None:
        return [int(flag) for flag in flags]
    return [item[7] if len(item) > 7 and isinstance(item[7], int) else None for item in cursor.description]


MODE = "STRICT_ALL_TABLES,ALLOW_INVALID_DATES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_UNSIGNED_SUBTRACTION"
"""Errors where a value would be changed, and literals as sqlglot writes them: a backslash escapes.

Dates that no calendar has stay what they are: else 2001-02-30 is cast to 0000-00-00, and a query that only reads does
not tell."""

LEAST_ROOM = dict.fromkeys(("tmp_table_size", "max_heap_table_size"), 2**26)
"""Bytes that a table within a query may have in memory; a key of one on disk takes ten times as long to make."""

_MANY = 10_000
"""Sessions of a server that are looked at."""

_NO_LIMIT = 2**64 - 1
"""Rows of an answer; with less the server would leave the others out without a word."""

_NAMED = {
    # names
    1025, 1046, 1049, 1050, 1051, 1052, 1054, 1059, 1060, 1091, 1102, 1103, 1109, 1146, 1166, 1305, 1347, 1356,
    # rights
    1044, 1142, 1143, 1227, 1290, 1370, 1698, 1792, 1836,
    # resources and limits
    1037, 1038, 1041, 1118, 1137, 1153, 1969, 3024, 3750,
    # collations and column types
    1253, 1267, 1270, 1271, 1273, 1406,
}  # fmt: skip
"""Errors whose text names objects, rights, limits or types, and no value of the data."""

_DENIED = r"(.+?) command denied to user ('[^']*'@'[^']*') for table (?:`([^`]+)`\.)?[`'](.+)[`']$"

_STORING = {"innodb", "aria", "myisam", "rocksdb", "columnstore", "ndbcluster"}
"""Storage engines that keep rows themselves: others forget them, or have them elsewhere."""

_GRANT = re.compile(r"(GRANT|REVOKE) (.+) ON (?:TABLE )?(`(?:[^`]|``)+`|\*)\.(`(?:[^`]|``)+`|\*) (?:TO|FROM) (\S+)")
"""A line of SHOW GRANTS: the rights, the database, which may be a pattern, the table, and who has them."""

_NO_RIGHTS = 1290
"""The error of a statement about rights on a server that was started without them."""

_FULL = {20, 1021}
_WRITING = {3, 1026, 1030}
"""Errors of writing a file, which say by a number of the operating system why; 28 is a full disk."""
_CANCELLED = 1317
_DEADLOCK, _LOCK_TIMEOUT = 1213, 1205
_LOST = {1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2014, 2045, 2055, 4031}
_HARMLESS = {1287, 1592, 1681, 3090, 3719, 3778}
"""Warnings about SQL that is going out of use, or about replication by statement."""
_SKIPPED = 1684
"""The warning that a catalog leaves out a table which another connection creates, changes or drops at this moment."""


@backend
class MariaDBBackend(Backend):
    """MariaDB 10.5 and later. A server that says it is MySQL makes it a :class:`MySQLBackend`, and the reverse."""

    scheme = "mariadb"
    driver = "pymysql"
    url = "mariadb+pymysql"
    dialect: MariaDB = MariaDB()
    capabilities = Capabilities(
        transactional_ddl=False, atomic_replace=True, temp_tables=True, conceals=True, files=False, folds_names=False
    )
    extra = "mysql"
    shows_views = True
    effects = frozenset(
        {"benchmark", "get_lock", "last_insert_id", "lastval", "load_file", "nextval", "rand", "random_bytes"}
        | {"release_all_locks", "release_lock", "setval", "sleep", "sys_guid", "uuid", "uuid_short"}
    )
    retry_for = 20.0
    detects_ended_runs = True
    _place = ""
    _schema = ""
    """The session's database."""
    without_temp_tables = "MySQL cannot read a temporary table twice in one statement"

    def transaction_open(self, engine: RelationalEngine) -> bool:
        """As the server said with its last answer; making a table would commit it."""
        return bool(getattr(engine.driver_connection, "server_status", 0) & 1)

    def prepare(self, engine: RelationalEngine, *, read_only: bool) -> None:
        """Literals that compare exactly, whole sort keys, and no value changed without an error."""
        (self._id, shown, folds) = self.first(engine, "SELECT CONNECTION_ID(), VERSION(), @@lower_case_table_names")
        self._settle(str(shown), folds=bool(folds))
        named = self.first(engine, "SELECT DATABASE(), CURRENT_USER(), USER()")
        self._schema, self._place = str(named[0] or ""), " ".join(map(str, named))
        longest = 4 * self.dialect.longest_text + 16
        settings: dict[str, Any] = {
            "character_set_client": "utf8mb4",
            "character_set_results": "utf8mb4",
            "collation_connection": self.dialect.collation,  # sets character_set_connection too
            "sql_mode": MODE,
            "time_zone": "+00:00",  # where clocks go back an hour, two moments would be one
            "sql_notes": 0,
            "max_error_count": 64,
            "max_sort_length": longest,
            "sql_select_limit": _NO_LIMIT,
            "sql_safe_updates": 0,  # it refuses to delete what a run has recorded
            "sql_auto_is_null": 0,  # else IS NULL finds the row that was inserted last
        }
        if self.dialect.name == "mariadb":
            settings["join_cache_level"] = 2  # from 3 on it joins by hash, and DECIMAL NULL <=> NULL finds nothing
            settings["default_tmp_storage_engine"] = "Aria"  # scans in two thirds of InnoDB's time
            self._refuse_the_past(engine)
            if not _counts(engine):
                self.dialect = WITHOUT_SEQUENCES
        names = [*settings, *LEAST_ROOM, "sort_buffer_size", self._read_only]
        values = self.first(engine, "SELECT " + ", ".join(f"@@SESSION.{name}" for name in names))
        self._before = dict(zip(names, values, strict=True))
        # Fifteen sort keys of 32 long texts each, else the server refuses; it takes what the rows need.
        settings["sort_buffer_size"] = max(512 * longest, int(self._before["sort_buffer_size"]))
        settings |= {name: max(room, int(self._before[name])) for name, room in LEAST_ROOM.items()}
        self._set(engine, settings)

    def __init__(self) -> None:
        self._concealed = Concealed()
        self._seen: set[tuple[str, str]] = set()
        """Tables whose triggers the session is shown."""

    def steps(self, engine: RelationalEngine, statement: Statement) -> Sequence[str]:
        """A table that is not published yet is one of the session where others may read all of a schema."""
        return [self._concealed.made(self.dialect, statement).sql]

    def _others(self, engine: RelationalEngine, schema: tuple[str, ...]) -> int | None:
        """How many other accounts have rights in a schema; None where this one is not told."""
        from sqlalchemy.exc import DBAPIError

        query = self.dialect.readers(schema or (self._schema,))
        if query is None:
            return None
        try:
            return int(engine._rows(query, 1)[0][0])
        except DBAPIError:
            return None

    def conceal(self, engine: RelationalEngine, parts: tuple[str, ...]) -> None:
        """Rights in a schema hold for each table in it from the first moment, and cannot be taken from one."""
        if self._others(engine, parts[:-1]) != 0:
            self._concealed.hide(self.dialect, parts)

    def reveal(self, parts: tuple[str, ...]) -> list[str]:
        """It is copied, and dropped."""
        return self._concealed.shown(self.dialect, parts)

    def readers(self, engine: RelationalEngine, schema: tuple[str, ...]) -> str | None:
        """Rights in a schema hold for each table in it, and cannot be taken from one."""
        others = self._others(engine, schema)
        if others is None:
            return "this user cannot see who else may read"
        return f"{others} other accounts have rights in" if others else None

    def refuse_readers(self, engine: RelationalEngine, schema: tuple[str, ...]) -> None:
        """Rights in a schema hold for each table in it from the first moment."""
        who = self.readers(engine, schema)
        if who is None:
            return
        shown = self.dialect.relation(schema or (self._schema,))
        raise SpecError(
            f"scratch: {who} {shown}, where scratch tables would hold values of the source; use temporary tables "
            "(scratch temp), or a database in which no other account has rights, as a user who can see that "
            "(GRANT SELECT ON mysql.*)"
        )

    def _refuse_the_past(self, engine: RelationalEngine) -> None:
        """A table with system versioning would be judged by rows that it had at another time."""
        (moment,) = self.first(engine, "SELECT @@SESSION.system_versioning_asof")
        if moment != "DEFAULT":
            raise self.refuse(
                "this session sets system_versioning_asof, so it reads tables as they were at an earlier time; "
                "run SET SESSION system_versioning_asof = DEFAULT first, and write FOR SYSTEM_TIME AS OF in a "
                "source query"
            )

    def refuse_effects(self, engine: RelationalEngine, query: str) -> None:
        """Assignments to variables, and every stored function: what it says of itself need not be true."""
        super().refuse_effects(engine, query)
        if ":=" in query or re.search(r"\bnext\s+value\s+for\b", query, re.IGNORECASE):
            raise SpecError(
                "source query: it assigns a variable or takes a value from a sequence; expected a query that "
                "changes nothing; remove that, or store its result in a table"
            )
        called = self._called(engine, query)
        if not called:
            return
        listed = ", ".join(map(self.dialect.literal, sorted(called)))
        rows = engine._rows(
            "SELECT DISTINCT routine_name FROM information_schema.routines "
            f"WHERE routine_type = 'FUNCTION' AND LOWER(routine_name) IN ({listed}) ORDER BY 1",
            len(called),
        )
        if rows:
            raise SpecError(
                f"source query: it calls the stored functions {', '.join(str(name) for (name,) in rows)}, which "
                "may change data; remove them, or store the query's result in a table"
            )

    def _called(self, engine: RelationalEngine, query: str) -> set[str]:
        """What a query calls, and what the views call that it reads, however deep."""
        called: set[str] = set()
        open_texts, seen = [query], set[tuple[str, ...]]()
        while open_texts:
            text = open_texts.pop()
            called |= called_names(text, self.dialect.sqlglot)
            for *schema, name in set(named_tables(text, self.dialect.sqlglot)) - seen:
                seen.add((*schema, name))
                place = self.dialect.literal(schema[-1]) if schema else "DATABASE()"
                open_texts += [
                    str(definition)
                    for (definition,) in engine._rows(
                        "SELECT view_definition FROM information_schema.views "
                        f"WHERE table_schema = {place} AND table_name = {self.dialect.literal(name)}",
                        1,
                    )
                ]
        return called

    def restore(self, engine: RelationalEngine) -> None:
        """Set the session back to what its owner had."""
        self._set(engine, self._before)

    def forbid_writes(self, engine: RelationalEngine) -> None:
        """Every transaction is read-only; the server then refuses temporary tables too."""
        engine._run("SET SESSION TRANSACTION READ ONLY")

    def version(self, engine: RelationalEngine) -> str:
        """The server's version."""
        return ".".join(map(str, self._version))

    def columns(self, engine: RelationalEngine, relation: str) -> list[Column]:
        """From the driver's description of a query that reads nothing."""
        query = f"SELECT * FROM {relation} AS kanon_relation LIMIT 0"
        found = engine.described_by(
            query, lambda cursor: list(zip(cursor.description, _flags(cursor), _longest(cursor), strict=True))
        )
        return [_column(*item) for item in found]

    def find(self, engine: RelationalEngine, parts: tuple[str, ...]) -> Found | None:
        """In the catalog, whose own comparison ignores letter case even where names do not."""
        *schema, name = (self.dialect.literal(part) for part in parts)
        rows = engine.scalars(
            "SELECT table_type, table_schema, table_name FROM information_schema.tables "
            f"WHERE table_schema = {schema[-1] if schema else 'DATABASE()'} AND table_name = {name}"
        )
        for kind, *full in rows:
            same = self.capabilities.folds_names or tuple(full)[-len(parts) :] == parts
            if same and kind != "TEMPORARY":
                return "view" if "VIEW" in kind else "table", tuple(full)
        return None

    def faults(self, engine: RelationalEngine, parts: tuple[str, ...]) -> list[str] | None:
        """What is no table that stores rows, and triggers, which may change a row, or that the catalog may hide them.

        A trigger has the rights of its maker. The catalog may show it to accounts alone that may make one.
        """
        *schema, name = (self.dialect.literal(part) for part in parts)
        rows = engine.scalars(
            "SELECT engine, table_schema, table_name, (SELECT COUNT(*) FROM information_schema.triggers "
            "WHERE event_object_schema = t.table_schema AND event_object_table = t.table_name) "
            "FROM information_schema.tables AS t WHERE table_type <> 'TEMPORARY' "
            f"AND table_schema = {schema[-1] if schema else 'DATABASE()'} AND table_name = {name}"
        )
        for kept, *full, triggers in rows:
            if self.capabilities.folds_names or tuple(full)[-len(parts) :] == parts:
                shown_text = [] if str(kept).lower() in _STORING else [NO_TABLE]
                if triggers:
                    return [*shown_text, "has triggers"]
                place = f"{self.dialect.quote(str(full[0]))}.*"
                hides = (
                    "may have triggers that the server does not show to this user (run GRANT TRIGGER ON "
                    f"{place} TO this user, which lets it see them)"
                )
                return [*shown_text, *([] if self._sees_triggers(engine, str(full[0]), str(full[1])) else [hides])]
        return None

    def _sees_triggers(self, engine: RelationalEngine, schema: str, table: str) -> bool:
        """Whether the catalog shows a table's triggers, or no other account could have made one."""
        from sqlalchemy.exc import DBAPIError

        if (schema, table) in self._seen:
            return True
        try:
            granted = [str(line) for (line,) in engine._rows("SHOW GRANTS", _MANY)]
        except DBAPIError as error:  # a server that knows no rights gives all of them to all
            sees = error.orig is not None and _number(error.orig) == _NO_RIGHTS
        else:
            sees = may_see_triggers(granted, schema, table) or self._others(engine, (schema,)) == 0
        if sees:
            self._seen.add((schema, table))
        return sees

    def comment(self, engine: RelationalEngine, parts: tuple[str, ...], full: tuple[str, ...]) -> str | None:
        """The table's comment."""
        schema, name = map(self.dialect.literal, full)
        rows = engine.scalars(
            "SELECT table_name, table_comment FROM information_schema.tables "
            f"WHERE table_schema = {schema} AND table_name = {name}"
        )
        return next((str(comment) for found, comment in rows if found == full[-1]), None)

    def definition(self, engine: RelationalEngine, full: tuple[str, ...]) -> str | None:
        """As the server writes it, to those who may see it."""
        schema, name = map(self.dialect.literal, full)
        rows = engine.scalars(
            "SELECT table_name, view_definition FROM information_schema.views "
            f"WHERE table_schema = {schema} AND table_name = {name}"
        )
        return next((str(text) for found, text in rows if found == full[-1]), None)

    def estimate(self, engine: RelationalEngine, relation: str) -> Estimate | None:
        """EXPLAIN's rows of every table that is read."""
        (answer,) = self.first(engine, f"EXPLAIN FORMAT=JSON SELECT * FROM {relation} AS kanon_relation")
        return Estimate(sum(_table_rows(json.loads(answer))), None, "EXPLAIN")

    def ran(self, engine: RelationalEngine) -> bool:
        """An error for every warning that a value was changed: a text cast to a number it is not, say."""
        codes = {code for _, code, _ in engine._connection.exec_driver_sql("SHOW WARNINGS").fetchall()} - _HARMLESS
        if codes - {_SKIPPED}:
            raise DatabaseError(self._changed(min(codes - {_SKIPPED})))
        return not codes

    def interrupted(self, engine: RelationalEngine) -> None:
        """The driver left in the middle of an answer: that connection is of no use to anyone."""
        engine._connection.invalidate()
        self._kill(engine, "CONNECTION")

    def cancel(self, engine: RelationalEngine) -> None:
        """KILL QUERY on a connection of its own."""
        self._kill(engine, "QUERY")

    def hold(self, engine: RelationalEngine, run_id: str) -> str | None:
        """A lock by name, which the server gives back when the session ends."""
        name, server = self.dialect.literal(f"kanon_sql {run_id}"), self._server(engine)
        if engine._rows(f"SELECT GET_LOCK({name}, 0)", 1) != [(1,)]:
            return None
        return server if engine._rows(f"SELECT IS_USED_LOCK({name}) = CONNECTION_ID()", 1) == [(1,)] else None

    def let_go(self, engine: RelationalEngine, run_id: str) -> None:
        """Give it back."""
        engine._rows(f"SELECT RELEASE_LOCK({self.dialect.literal(f'kanon_sql {run_id}')})", 1)

    def ended(self, engine: RelationalEngine, held_by: Mapping[str, str]) -> Iterable[str]:
        """By asking for each lock; a session that lost its client keeps its own until it ends."""
        server = self._server(engine)
        for run_id in [run_id for run_id, holder in held_by.items() if holder == server]:
            name = self.dialect.literal(f"kanon_sql {run_id}")
            if engine._rows(f"SELECT IS_FREE_LOCK({name})", 1) == [(1,)]:
                yield run_id

    def _server(self, engine: RelationalEngine) -> str:
        """Another node of a cluster has the same tables and other locks."""
        ((named,),) = engine._rows("SELECT CONCAT_WS(' ', @@hostname, @@port, @@server_id, @@datadir)", 1)
        return f"mysql {hashlib.sha256(str(named).encode()).hexdigest()[:16]}"

    def running(self, engine: RelationalEngine) -> list[Running]:
        """From the list of sessions; without the PROCESS right, those of the same account."""
        tag = self.dialect.literal(f"{TAG}%")
        rows = engine._rows(
            "SELECT id, info, time FROM information_schema.processlist "
            f"WHERE info LIKE {tag} AND id <> CONNECTION_ID() ORDER BY id",
            _MANY,
        )
        return [Running(str(number), str(info).removeprefix(TAG)[:8], float(time)) for number, info, time in rows]

    def end(self, engine: RelationalEngine, statement: Running) -> None:
        """KILL QUERY; the session may have begun another statement of the same run by then."""
        if any(item.handle == statement.handle and item.run_id == statement.run_id for item in self.running(engine)):
            engine._run(f"KILL QUERY {int(statement.handle)}")

    def cancelled(self, error: BaseException) -> bool:
        """Error 1317, query interrupted."""
        return _number(error) == _CANCELLED

    def busy(self, error: BaseException, *, in_transaction: bool) -> bool:
        """Error 1213: connections waited for each other's rows, and the server took this one's transaction back.

        Without an open one that is the statement alone, and the manual asks for another try. Error 1205 is none: there
        the server has waited as long as its owner allows.
        """
        return _number(error) == _DEADLOCK and not in_transaction

    def lost(self, error: BaseException) -> bool:
        """The server closed the connection, or went away."""
        return _number(error) in _LOST or type(error).__name__ == "InterfaceError"

    def message(self, error: BaseException, statement: Statement | None = None) -> str:
        """Errors about names, rights and limits keep their text; other texts may hold values."""
        code = _number(error)
        if code in _FULL or (code in _WRITING and re.search(r"\b28\b", str(error.args[1]))):
            return f"{self._shown} reported error {code}: {NO_SPACE}"
        if code == 1114:
            return f"{self._shown} reported error 1114: a table is full; free some space, or raise the server's limit"
        if code == _DEADLOCK:
            return (
                f"{self._shown} reported error 1213: connections that write to the same tables waited for each "
                "other, and the server rolled this one back; run again when fewer connections write"
            )
        if code == _LOCK_TIMEOUT:
            return (
                f"{self._shown} reported error 1205: another connection held a lock for longer than the server waits "
                "(innodb_lock_wait_timeout, lock_wait_timeout); let that one commit, roll back or close, then run again"
            )
        if code in _NAMED:  # a stored function may signal any, with any text
            shown_text = without_values(str(error.args[1]), statement, self._place)
            if shown_text is not None:
                return shown_text
        if code in (1264, 1292, 1300, 1301, 1365, 1366, 1411):
            return self._changed(code)
        return f"{self._shown} reported error {code} (its text may hold values and is not shown)"

    def grant(self, engine: RelationalEngine, error: BaseException, shown_text: str, sql: str) -> str:
        """Errors 1142 and 1044: the server says which right, to which user, and on which table or database."""
        if _number(error) == 1044 and "CREATE TEMPORARY TABLE" in sql:
            found = re.match(r"Access denied for user ('[^']*'@'[^']*') to database '(.+)'$", shown_text)
            place = "the database" if found is None else f"{self.dialect.quote(found[2])}.*"
            user = "this user" if found is None else found[1]
            why = "the release is written into a temporary table first"
            return f"{why}: run GRANT CREATE TEMPORARY TABLES ON {place} TO {user}"
        found = re.match(_DENIED, shown_text) if _number(error) == 1142 else None
        if found is None:
            return ""
        rights, user, schema, table = found.groups()
        if rights == "SELECT" and not table.startswith("kanon_"):
            return f"run GRANT SELECT ON {self.dialect.relation([*filter(None, [schema]), table])} TO {user}"
        place = f"{self.dialect.quote(schema)}.*" if schema else "the database"
        needed = "SELECT, INSERT, DELETE, CREATE, DROP, ALTER, TRIGGER"
        return f"publishing there needs more rights: run GRANT {needed} ON {place} TO {user}"

    @property
    def _shown(self) -> str:
        return "MariaDB" if self.dialect.name == "mariadb" else "MySQL"

    @property
    def _read_only(self) -> str:
        return "tx_read_only" if self.dialect.name == "mariadb" else "transaction_read_only"

    def _changed(self, code: int) -> str:
        return (
            f"{self._shown} reported that it would change values (warning {code}): a text that is not the number or "
            f"the date it is cast to, a division by zero, a text of more than {self.dialect.longest_text} "
            "characters, one that ends with a zero character (sorting does not see it), or one that is not UTF-8; "
            "cast or filter in a source query"
        )

    def _settle(self, shown: str, *, folds: bool) -> None:
        """Which of the two it is, from a version such as 10.11.6-MariaDB-1 or 8.0.36."""
        maria = re.search(r"(\d+)\.(\d+)\.(\d+)-mariadb", shown, re.IGNORECASE)
        found = maria or re.match(r"(\d+)\.(\d+)\.(\d+)", shown)
        self._version = tuple(map(int, found.groups())) if found else ()
        kind = MariaDBBackend if maria else MySQLBackend
        together = maria is not None and self._version >= (10, 6)
        self.dialect = kind.dialect
        self.capabilities = replace(kind.capabilities, folds_names=folds, renames_together=together)
        least = (10, 5, 0) if maria else (8, 0, 19)
        if self._version < least:
            raise self.refuse(f"the server is {shown}; {'.'.join(map(str, least))} or later is needed")

    def _set(self, engine: RelationalEngine, values: dict[str, Any]) -> None:
        """Set variables of the session in one statement."""
        shown = (
            f"@@SESSION.{name} = {value if isinstance(value, int) else self.dialect.literal(value)}"
            for name, value in values.items()
        )
        engine._run(f"SET {', '.join(shown)}")

    def _kill(self, engine: RelationalEngine, what: str) -> None:
        with engine._connection.engine.connect() as other:
            other.exec_driver_sql(f"KILL {what} {self._id}")


@backend
class MySQLBackend(MariaDBBackend):
    """MySQL 8.0.19 and later."""

    scheme = "mysql"
    driver = "pymysql"
    url = "mysql+pymysql"
    dialect = MySQL()
    capabilities = replace(MariaDBBackend.capabilities, temp_tables=False, conceals=False)

    def conceal(self, engine: RelationalEngine, parts: tuple[str, ...]) -> None:
        """It cannot read a temporary table twice in one statement, so that a release is verified where it stands."""

    def readers(self, engine: RelationalEngine, schema: tuple[str, ...]) -> str | None:
        """Who may read a schema was not tried on this server."""
        return Backend.readers(self, engine, schema)

    def refuse_readers(self, engine: RelationalEngine, schema: tuple[str, ...]) -> None:
        """Who may read a schema was not tried on this server, and it has no other scratch tables."""


def may_see_triggers(granted: Iterable[str], schema: str, table: str) -> bool:
    """Whether an account has the right TRIGGER on a table, by itself or by its roles.

    Of several patterns that a database's name fits, the server takes one; here each of them has to give the right.

    Args:
        granted: the lines of SHOW GRANTS.
        schema: the table's database.
        table: its name.
    """
    of_schema: dict[str, list[bool]] = {}
    found = False
    for line in granted:
        parts = _GRANT.match(line)
        if parts is None:
            continue
        what, rights, place, name, who = parts.groups()
        gives = bool(re.search(r"(?:^|, )(?:ALL PRIVILEGES|TRIGGER)(?:,|$)", rights))
        if place != "*" and not _fits(place, schema, is_pattern=name == "*"):
            continue
        if what == "REVOKE":
            if gives:
                return False
        elif name == "*" and place != "*":
            of_schema.setdefault(who, []).append(gives)
        else:
            found |= gives and (name == "*" or name[1:-1].replace("``", "`") == table)
    return found or any(all(given) for given in of_schema.values())


def _fits(place: str, schema: str, *, is_pattern: bool) -> bool:
    """Whether a quoted database of a right is one, or a pattern that it fits."""
    text = place[1:-1].replace("``", "`")
    if not is_pattern:
        return text == schema
    parts = (
        re.escape(part[-1]) if part not in "%_" else ".*" if part == "%" else "."
        for part in re.findall(r"\\.|.", text, re.DOTALL)
    )
    return re.fullmatch("".join(parts), schema, re.DOTALL) is not None


def _counts(engine: RelationalEngine) -> bool:
    """Whether the session may read numbers from a sequence, and under that name no table of a user's."""
    from sqlalchemy.exc import DBAPIError

    try:
        return engine._rows(f"SELECT seq FROM {SEQUENCE} WHERE seq < 3", 3) == [(0,), (1,), (2,)]
    except DBAPIError:
        engine._rows("SELECT 1 FROM information_schema.engines", 1_000)  # a statement over a table forgets the error
        return False


def _number(error: BaseException) -> int:
    """The server's or the driver's error number; 0 when there is none."""
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _table_rows(plan: Any) -> Iterator[int]:
    """The rows of every table in a plan; MariaDB and MySQL call them differently."""
    if isinstance(plan, dict):
        rows = plan.get("rows", plan.get("rows_examined_per_scan"))
        if isinstance(rows, int):
            yield rows
    for inner in plan.values() if isinstance(plan, dict) else plan if isinstance(plan, list) else ():
        yield from _table_rows(inner)
