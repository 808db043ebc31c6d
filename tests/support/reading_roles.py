"""Random schemas of PostgreSQL, in which a role may reach a table by many ways; and what it gets by trying them all."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.sql.dialects import dialect_named

NAMES = ["people", 'pe"ople', "pe'ople", "pe ople", "Ünï", "select", "$kanon$", "a.b", "x%y", "back\\slash"]
MARK = "Qwyjibo"
"""In every value of an identifier, and nowhere else."""

quote = dialect_named("postgres").quote


def named(*parts: str) -> str:
    return dialect_named("postgres").relation(parts)


@dataclass
class World:
    """A table with identifiers, its release, roles, and ways between them.

    Attributes:
        source, release: schema and name.
        identifiers: columns of the source that no one may read.
        others: its other columns.
        reader: the role.
        roles: all roles, the reader among them.
        schemas: all schemas.
        statements: what made it.
        ways: the names of the ways by which the reader may reach the source.
    """

    source: tuple[str, str]
    release: tuple[str, str]
    identifiers: list[str]
    others: list[str]
    reader: str
    roles: list[str]
    schemas: list[str]
    statements: list[str] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)


def world(seed: int) -> World:
    """The world of a number."""
    draw = random.Random(seed)
    names = draw.sample(NAMES, 8)
    prefix = f"w{seed}_"
    schemas = [prefix + name for name in names[:3]]
    between = draw.choice(["d", '"', "'", " "])
    roles = [prefix + name for name in ("owner", f"Rea{between}er", "group", "above", "other")]
    made = World(
        source=(schemas[0], names[3]),
        release=(schemas[1], names[4]),
        identifiers=[names[5], names[6]][: draw.choice([1, 2])],
        others=["age", names[7]],
        reader=roles[1],
        roles=roles,
        schemas=schemas,
    )
    owner, reader, group, above, _ = map(quote, roles)
    add = made.statements.append
    for role in roles:
        add(f"CREATE ROLE {quote(role)}")
    for schema in schemas:
        add(f"CREATE SCHEMA {quote(schema)} AUTHORIZATION {owner}")
        add(f"GRANT USAGE ON SCHEMA {quote(schema)} TO PUBLIC")
    add(f"GRANT {group} TO {reader}")
    add(f"GRANT {above} TO {group}")
    source, release = named(*made.source), named(*made.release)
    columns = ", ".join(f"{quote(name)} text" for name in made.identifiers)
    add(f"CREATE TABLE {source} ({columns}, age int, {quote(names[7])} text)")
    cells = ", ".join(f"'{MARK} ' || i" for _ in made.identifiers)
    add(f"INSERT INTO {source} SELECT {cells}, 20 + i % 3, 'z' FROM generate_series(1, 12) AS t(i)")
    add(f"CREATE TABLE {release} AS SELECT age, 'z' AS zip FROM {source}")
    add(f"CREATE TABLE {named(schemas[2], 'unrelated')} AS SELECT 1 AS n")
    add(f"GRANT SELECT ON {named(schemas[2], 'unrelated')} TO PUBLIC")
    for table in (source, release):
        add(f"ALTER TABLE {table} OWNER TO {owner}")
    add(f"ANALYZE {source}")
    for name in draw.sample(list(WAYS), draw.choice([0, 1, 1, 2, 3])):
        made.ways.append(name)
        made.statements += WAYS[name](made, draw)
    return made


Way = Callable[[World, random.Random], Iterator[str]]


def _grantee(made: World, draw: random.Random) -> str:
    return draw.choice([quote(made.reader), "PUBLIC", quote(made.roles[2]), quote(made.roles[3])])


def _identifier(made: World, draw: random.Random) -> str:
    return quote(draw.choice(made.identifiers))


def _grant(made: World, draw: random.Random) -> Iterator[str]:
    right = draw.choice(["SELECT", "ALL", f"SELECT ({_identifier(made, draw)})", "INSERT", "REFERENCES"])
    yield f"GRANT {right} ON {named(*made.source)} TO {_grantee(made, draw)}"


def _view(made: World, draw: random.Random) -> Iterator[str]:
    view, above = named(made.schemas[2], "seen"), named(made.schemas[1], "seen above")
    maker = quote(draw.choice([made.roles[0], made.roles[4]]))
    kind = draw.choice(["VIEW", "MATERIALIZED VIEW"])
    options = draw.choice(["", "WITH (security_invoker = true) ", "WITH (security_barrier) "]) if kind == "VIEW" else ""
    yield f"CREATE {kind} {view} {options}AS SELECT * FROM {named(*made.source)}"
    yield f"ALTER {kind} {view} OWNER TO {maker}"
    yield f"GRANT SELECT ON {named(*made.source)} TO {maker}"
    if draw.random() < 0.5:
        yield f"CREATE VIEW {above} AS SELECT {_identifier(made, draw)} AS c FROM {view}"
        yield f"ALTER VIEW {above} OWNER TO {maker}"
        yield f"GRANT SELECT ON {view} TO {maker}"
        view = above
    yield f"GRANT SELECT ON {view} TO {_grantee(made, draw)}"


def _function(made: World, draw: random.Random) -> Iterator[str]:
    call = named(made.schemas[2], "tell")
    security = draw.choice(["SECURITY DEFINER", "SECURITY DEFINER", "SECURITY INVOKER"])
    maker = quote(draw.choice([made.roles[0], made.roles[4]]))
    body = f"SELECT {_identifier(made, draw)} FROM {named(*made.source)}"
    yield f"GRANT SELECT ON {named(*made.source)} TO {maker}"
    yield f"CREATE FUNCTION {call}() RETURNS SETOF text LANGUAGE sql {security} AS $b$ {body} $b$"
    yield f"ALTER FUNCTION {call}() OWNER TO {maker}"
    if draw.random() < 0.3:
        yield f"REVOKE EXECUTE ON FUNCTION {call}() FROM PUBLIC"


def _parent(made: World, draw: random.Random) -> Iterator[str]:
    parent = named(made.schemas[2], "parent")
    columns = ", ".join(f"{quote(name)} text" for name in made.identifiers)
    yield f"CREATE TABLE {parent} ({columns})"
    yield f"ALTER TABLE {named(*made.source)} INHERIT {parent}"
    yield f"GRANT SELECT ON {parent} TO {_grantee(made, draw)}"


def _child(made: World, draw: random.Random) -> Iterator[str]:
    child = named(made.schemas[2], "child")
    yield f"CREATE TABLE {child} () INHERITS ({named(*made.source)})"
    yield f"INSERT INTO {child} SELECT * FROM ONLY {named(*made.source)}"
    yield f"GRANT SELECT ON {child} TO {_grantee(made, draw)}"


def _rule(made: World, draw: random.Random) -> Iterator[str]:
    box, log = named(made.schemas[2], "box"), named(made.schemas[2], "log")
    yield f"CREATE TABLE {box} (n int)"
    yield f"CREATE TABLE {log} (c text)"
    yield (
        f"CREATE RULE copies AS ON INSERT TO {box} DO ALSO INSERT INTO {log} "
        f"SELECT {_identifier(made, draw)} FROM {named(*made.source)}"
    )
    yield f"GRANT INSERT ON {box} TO {_grantee(made, draw)}"
    yield f"GRANT SELECT ON {log} TO {_grantee(made, draw)}"


def _member(made: World, draw: random.Random) -> Iterator[str]:
    into = draw.choice(["pg_read_all_data", "pg_read_server_files", quote(made.roles[0])])
    yield f"GRANT {into} TO {quote(draw.choice(made.roles[1:4]))}"


def _attribute(made: World, draw: random.Random) -> Iterator[str]:
    yield f"ALTER ROLE {quote(draw.choice(made.roles[1:4]))} {draw.choice(['SUPERUSER', 'CREATEROLE', 'REPLICATION'])}"


def _released(made: World, draw: random.Random) -> Iterator[str]:
    """An identifier in the release, under its own name."""
    name = _identifier(made, draw)
    yield f"ALTER TABLE {named(*made.release)} ADD COLUMN {name} text DEFAULT '{MARK}'"


WAYS: dict[str, Way] = {
    "grant": _grant, "view": _view, "function": _function, "parent": _parent, "child": _child, "rule": _rule,
    "member": _member, "attribute": _attribute, "released": _released,
}  # fmt: skip

HARMLESS = {
    "nothing": [],
    "invoker": [
        "CREATE VIEW {view} WITH (security_invoker = true) AS SELECT * FROM {source}",
        "GRANT SELECT ON {view} TO PUBLIC",
    ],
    "private view": ["CREATE VIEW {view} AS SELECT * FROM {source}"],
    "invoked function": ["CREATE FUNCTION {view}() RETURNS SETOF text LANGUAGE sql AS $b$ SELECT 'a' $b$"],
    "own rights": ["GRANT ALL ON {source} TO {reader}, PUBLIC"],
}  # fmt: skip
"""What must not stop the script; with names to fill in."""

_RELATIONS = (
    "SELECT n.nspname, c.relname, c.relkind::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = ANY (%s) AND c.relkind IN ('r', 'p', 'v', 'm')"
)
_COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
_FUNCTIONS = (
    "SELECT n.nspname, p.proname FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace "
    "WHERE n.nspname = ANY (%s) AND p.pronargs = 0"
)


def leaks(connection: Any, made: World) -> list[str]:
    """The ways by which the reader sees a value of an identifier; nothing of it stays.

    Args:
        connection: psycopg's, of a superuser, in autocommit mode.
        made: the world.
    """
    relations = connection.execute(_RELATIONS, [made.schemas]).fetchall()
    functions = connection.execute(_FUNCTIONS, [made.schemas]).fetchall()
    tries: list[str] = []
    writes = [f"INSERT INTO {named(*row[:2])} DEFAULT VALUES" for row in relations]
    for schema, name, _ in relations:
        table = named(schema, name)
        columns = [quote(column) for (column,) in connection.execute(_COLUMNS, [table])]
        tries += [f"SELECT * FROM {table}", f"COPY {table} TO STDOUT", f"TABLE {table}"]
        tries += [f"SELECT {column} FROM {table}" for column in columns]
        tries += [f"SELECT 1 FROM {table} WHERE {column} LIKE '{MARK}%'" for column in columns]
    tries += [f"SELECT * FROM {named(*row)}()" for row in functions]
    tries.append("SELECT histogram_bounds::text, most_common_vals::text FROM pg_stats")
    tries.append("SELECT stavalues1::text, stavalues2::text FROM pg_statistic")
    become = [row[0] for row in connection.execute(
        "SELECT rolname FROM pg_roles WHERE pg_has_role(%s, oid, 'MEMBER') AND rolname NOT LIKE 'pg\\_%%' "
        "AND rolname = ANY (%s)", [made.reader, made.roles])]  # fmt: skip
    found = []
    for role in become:
        for before in ([], writes):
            for query in tries:
                if before and "log" not in query:
                    continue
                if _tells(connection, role, before, query):
                    found.append(f"{role}: {query}")
    return found


def _tells(connection: Any, role: str, before: list[str], query: str) -> bool:
    import psycopg

    rows: list[Any] = []
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(f"SET LOCAL ROLE {quote(role)}")
            for statement in before:
                try:
                    with connection.transaction():
                        connection.execute(statement)
                except psycopg.Error:
                    pass
            cursor = connection.cursor()
            if query.startswith("COPY"):
                with cursor.copy(query) as copied:
                    rows = [bytes(part).decode() for part in copied]
            else:
                rows = cursor.execute(query).fetchall()
    except psycopg.Error:
        return False
    return bool(rows) if " LIKE " in query else MARK in str(rows)


def remove(connection: Any, made: World) -> None:
    """Remove a world."""
    for schema in made.schemas:
        connection.execute(f"DROP SCHEMA IF EXISTS {quote(schema)} CASCADE")
    for role in made.roles:
        connection.execute(f"DROP OWNED BY {quote(role)}")
    for role in made.roles:
        connection.execute(f"DROP ROLE {quote(role)}")
