"""What PostgreSQL's catalog knows of functions: those that hide the server's own, and those that change something.

An operator or function of a user's is chosen before PostgreSQL's wherever its arguments fit better, also with
pg_catalog first in the path: there is no ``>=(numeric, integer)`` in it, so one in a visible schema would be called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kanon_sql.sql import literal

__all__ = [
    "ADDED_CASTS",
    "CANCELLING",
    "MAKERS",
    "RUN",
    "RUNNING",
    "TYPES_OF_THE_SESSION",
    "Routine",
    "advisory_locks",
    "hiding",
    "never_analyzed",
    "routines",
    "stored",
    "types_by_parts",
    "volatile_by_name",
    "volatile_in",
]

_OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&", "||", "~", "!~", "~~", "!~~", "^")

_FUNCTIONS = (
    "abs", "array_agg", "bpchar", "bpcharout", "btrim", "ceil", "char_length", "character_length", "concat",
    "convert_to", "count", "date", "date_part", "date_trunc", "decode", "dense_rank", "div", "encode", "exp",
    "extract", "float4", "float8", "floor", "generate_series", "int2", "int4", "int8", "interval", "lag", "lead",
    "left", "length", "ln", "log", "lower", "ltrim", "max", "md5", "min", "mod", "numeric", "overlay", "position",
    "power", "random", "rank", "repeat", "replace", "right", "round", "row_number", "rtrim", "sha256", "strpos",
    "substr", "substring", "sum", "text", "textin", "timestamp", "timestamptz", "timezone", "to_char", "translate",
    "trim", "trunc", "unnest", "upper", "varchar",
)  # fmt: skip
"""Functions of PostgreSQL's that our SQL calls, some by a syntax of their own."""

_OURS = "NSDTBA*+"
"""Categories of the arguments that our SQL has: numbers, texts, dates, intervals, booleans, arrays, any."""

_BUILT_IN = 16384
"""Objects of PostgreSQL's own have smaller numbers."""


class Routine(NamedTuple):
    """A function or an operator.

    Attributes:
        schema: where it is.
        name: without its arguments.
        shown: with them, and as the path needs it with its schema.
        variadic: its last argument stands for any number.
        defaults: how many arguments may be left out.
        types: of the arguments.
        categories: of these types; ``*`` for any type, ``+`` for one of a user's that values of PostgreSQL's types
            become by themselves, ``-`` for another one of a user's. A domain is what it is made of.
    """

    schema: str
    name: str
    shown: str
    variadic: bool
    defaults: int
    types: str
    categories: Sequence[str]

    def __str__(self) -> str:
        """Its full name."""
        return f"{self.schema}.{self.name}{self.shown[self.shown.rindex('(') :]}"


def routines(*, own: bool) -> str:
    """The query of the functions and operators that our SQL may call.

    Args:
        own: PostgreSQL's own; else those of others, in the path or put beside PostgreSQL's.
    """
    temporary = (
        f"called.place = 'pg_catalog'::pg_catalog.regnamespace AND called.number {'<' if own else '>='} {_BUILT_IN}"
    )
    in_path = "schema.nspname = ANY (pg_catalog.current_schemas(false)) AND schema.nspname <> 'pg_catalog'"
    where = temporary if own else f"({temporary}) OR ({in_path})"
    operators, functions = (", ".join(map(literal, names)) for names in (_OPERATORS, _FUNCTIONS))
    return f"""
SELECT schema.nspname::pg_catalog.text, called.name, called.shown, called.any_number, called.defaults,
    called.types::pg_catalog.text,
    pg_catalog.array_to_string(ARRAY(
        SELECT CASE
            WHEN base.typname IN ('anyarray', 'anycompatiblearray') THEN 'A'
            WHEN base.typname IN ('any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray') THEN '*'
            WHEN base.oid < {_BUILT_IN} THEN base.typcategory::pg_catalog.text
            WHEN EXISTS (
                SELECT FROM pg_catalog.pg_cast AS cast_to WHERE cast_to.casttarget = base.oid
                AND cast_to.castcontext = 'i' AND cast_to.castsource < {_BUILT_IN}
            ) THEN '+'
            ELSE '-'
        END
        FROM pg_catalog.unnest(called.types) WITH ORDINALITY AS argument (type, place)
        JOIN pg_catalog.pg_type AS given ON given.oid = argument.type
        JOIN pg_catalog.pg_type AS base
            ON base.oid = CASE given.typtype WHEN 'd' THEN given.typbasetype ELSE given.oid END
        ORDER BY argument.place
    ), '')
FROM (
    SELECT oid, oprnamespace, oprname::pg_catalog.text, oid::pg_catalog.regoperator::pg_catalog.text, false, 0,
        CASE WHEN oprleft = 0 THEN ARRAY[oprright] ELSE ARRAY[oprleft, oprright] END
    FROM pg_catalog.pg_operator WHERE oprname IN ({operators})
    UNION ALL
    SELECT oid, pronamespace, proname::pg_catalog.text, oid::pg_catalog.regprocedure::pg_catalog.text, provariadic <> 0,
        pronargdefaults, proargtypes::pg_catalog.oid[]
    FROM pg_catalog.pg_proc WHERE proname IN ({functions})
) AS called (number, place, name, shown, any_number, defaults, types)
JOIN pg_catalog.pg_namespace AS schema ON schema.oid = called.place WHERE {where}
ORDER BY 1, 3"""


def hiding(theirs: Iterable[Routine], own: Iterable[Routine]) -> Iterator[Routine]:
    """Those of a user's that PostgreSQL could call in place of its own, which are sought first.

    Args:
        theirs: in the schemas of the path.
        own: PostgreSQL's.
    """
    named: dict[str, list[Routine]] = {}
    for routine in own:
        named.setdefault(routine.name, []).append(routine)
    for item in theirs:
        same = named.get(item.name, [])
        plain = not item.variadic and not item.defaults
        if plain and any(item.types == other.types for other in same):
            continue  # of two that are the same, the first in the path is called
        if any(_hides(item, other) for other in same):
            yield item


def _hides(item: Routine, own: Routine) -> bool:
    if "-" in item.categories or (item.categories and set(item.categories) == {"+"}):
        return False  # no argument of ours fits, or PostgreSQL's own fits at least as well
    if item.variadic or own.variadic:
        return True
    shortest = len(item.categories) - item.defaults
    if not shortest <= len(own.categories) <= len(item.categories):
        return False
    pairs = zip(item.categories, own.categories, strict=False)
    return all(left in _OURS and (left == right or left in "*+" or right == "*") for left, right in pairs)


MAKERS = """
WITH RECURSIVE trusted (number) AS (
    SELECT oid FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER
    UNION
    SELECT given.roleid FROM pg_catalog.pg_auth_members AS given JOIN trusted ON trusted.number = given.member
)
SELECT DISTINCT schema.nspname::pg_catalog.text
FROM pg_catalog.pg_namespace AS schema
JOIN pg_catalog.pg_database AS own ON own.datname = pg_catalog.current_database()
JOIN pg_catalog.pg_roles AS other
    ON other.rolcanlogin AND NOT other.rolsuper AND other.oid NOT IN (SELECT number FROM trusted)
    AND pg_catalog.has_schema_privilege(other.oid, schema.oid, 'CREATE')
    AND pg_catalog.has_database_privilege(other.oid, own.oid, 'CONNECT')
    AND NOT pg_catalog.pg_has_role(other.oid, schema.nspowner, 'MEMBER')
    AND NOT pg_catalog.pg_has_role(other.oid, own.datdba, 'MEMBER')
WHERE schema.nspname = ANY (pg_catalog.current_schemas(false)) AND schema.nspname <> 'pg_catalog'
    AND schema.oid <> pg_catalog.pg_my_temp_schema() ORDER BY 1"""
"""Schemas of the path in which another role may make functions, which a statement of ours could call at once.

The owners of the schema and of the database are trusted, as is the role that runs this and those that it is a member
of. A role that cannot log in, or not to this database, makes nothing.
"""

ADDED_CASTS = (
    "SELECT pg_catalog.format('%s to %s', castsource::pg_catalog.regtype, casttarget::pg_catalog.regtype) "
    f"FROM pg_catalog.pg_cast WHERE oid >= {_BUILT_IN} AND castsource < {_BUILT_IN} AND casttarget < {_BUILT_IN} "
    "ORDER BY 1"
)
"""Casts between types of PostgreSQL's that a superuser has added."""

TYPES_OF_THE_SESSION = (
    "SELECT own.typname::pg_catalog.text FROM pg_catalog.pg_type AS own "
    "JOIN pg_catalog.pg_type AS other USING (typname) "
    "WHERE own.typnamespace = pg_catalog.pg_my_temp_schema() "
    "AND other.typnamespace = 'pg_catalog'::pg_catalog.regnamespace AND own.typelem = 0 ORDER BY 1"
)
"""Temporary tables and types under names of PostgreSQL's types, which are sought there first."""


def types_by_parts(numbers: Iterable[int]) -> str:
    """The query of what types are made of: a row each, with its number, a letter for its sort, two counts and labels.

    The letter is that of ``typtype``, with ``A`` for arrays. The first count is of functions of a user's that make
    its text, so that different values may have one; the second of parts, down to the bottom of domains, arrays, rows
    and ranges, whose text is a name that several routines have. The labels are those of an enumeration in its order, as
    a JSON array.

    Args:
        numbers: of the types, in the catalog.
    """
    listed = ", ".join(map(str, sorted(numbers)))
    return f"""
WITH RECURSIVE part (type, number) AS (
    SELECT given.oid, given.oid FROM pg_catalog.pg_type AS given WHERE given.oid IN ({listed})
    UNION
    SELECT part.type, held.number
    FROM part
    JOIN pg_catalog.pg_type AS own ON own.oid = part.number
    CROSS JOIN LATERAL (
        SELECT own.typbasetype WHERE own.typtype = 'd'
        UNION ALL SELECT own.typelem WHERE own.typcategory = 'A' AND own.typelem <> 0
        UNION ALL SELECT spans.rngsubtype FROM pg_catalog.pg_range AS spans WHERE spans.rngtypid = own.oid
        UNION ALL SELECT field.atttypid FROM pg_catalog.pg_attribute AS field
            WHERE own.typtype = 'c' AND field.attrelid = own.typrelid AND field.attnum > 0 AND NOT field.attisdropped
    ) AS held (number)
)
SELECT own.oid::bigint, CASE own.typcategory WHEN 'A' THEN 'A' ELSE own.typtype::pg_catalog.text END,
    (SELECT pg_catalog.count(*) FROM pg_catalog.pg_cast AS made WHERE made.castsource = own.oid
        AND made.castfunc <> 0 AND made.castsource >= {_BUILT_IN} AND made.casttarget IN (
            'pg_catalog.text'::pg_catalog.regtype, 'pg_catalog.varchar'::pg_catalog.regtype,
            'pg_catalog.bpchar'::pg_catalog.regtype)),
    (SELECT pg_catalog.count(*) FROM part WHERE part.type = own.oid AND part.number IN
        ('pg_catalog.regproc'::pg_catalog.regtype, 'pg_catalog.regoper'::pg_catalog.regtype)),
    (SELECT pg_catalog.json_agg(label.enumlabel::pg_catalog.text ORDER BY label.enumsortorder)::pg_catalog.text
        FROM pg_catalog.pg_enum AS label WHERE label.enumtypid = own.oid)
FROM pg_catalog.pg_type AS own WHERE own.oid IN ({listed})"""


def stored(relation: str) -> str:
    """The query of what is under a name: its kind, full name, text, and the tables that inherit from it.

    Parts of a partitioned table are no such tables: all rows are in them.

    Args:
        relation: its number in the catalog, as an expression.
    """
    return f"""
SELECT seen.relkind::pg_catalog.text, space.nspname::pg_catalog.text, seen.relname::pg_catalog.text,
    CASE WHEN seen.relkind = 'v' THEN pg_catalog.pg_get_viewdef(seen.oid) END,
    pg_catalog.count(child.inhrelid),
    COALESCE(pg_catalog.bool_or(EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS own
        WHERE own.attrelid = child.inhrelid AND own.attnum > 0 AND NOT own.attisdropped AND own.attinhcount = 0
    )), false)
FROM pg_catalog.pg_class AS seen
JOIN pg_catalog.pg_namespace AS space ON space.oid = seen.relnamespace
LEFT JOIN pg_catalog.pg_inherits AS child ON child.inhparent = seen.oid AND seen.relkind IN ('r', 'f')
WHERE seen.oid = {relation} GROUP BY seen.oid, seen.relkind, space.nspname, seen.relname"""


def volatile_in(relations: Iterable[str], *, own: bool = False) -> str:
    """The query of the volatile functions that reading some tables and views calls, whatever they are read through.

    Args:
        relations: their numbers in the catalog, as expressions.
        own: PostgreSQL's own functions alone.
    """
    whose = f" AND routine.oid < {_BUILT_IN}" if own else ""
    return f"""
WITH RECURSIVE reached (relation) AS (
    SELECT given::pg_catalog.oid FROM pg_catalog.unnest(ARRAY[{", ".join(relations)}]) AS given
    UNION
    SELECT found[1]::pg_catalog.oid
    FROM reached
    JOIN pg_catalog.pg_class AS seen ON seen.oid = reached.relation AND seen.relkind = 'v'
    JOIN pg_catalog.pg_rewrite AS rule ON rule.ev_class = seen.oid AND rule.ev_type = '1'
    CROSS JOIN LATERAL pg_catalog.regexp_matches(rule.ev_action::pg_catalog.text, ':relid (\\d+)', 'g') AS found
),
called (number) AS (
    SELECT CASE found[1] WHEN 'opno' THEN
        (SELECT oprcode::pg_catalog.oid FROM pg_catalog.pg_operator WHERE oid = found[2]::pg_catalog.oid)
        ELSE found[2]::pg_catalog.oid END
    FROM reached
    JOIN pg_catalog.pg_class AS seen ON seen.oid = reached.relation AND seen.relkind = 'v'
    JOIN pg_catalog.pg_rewrite AS rule ON rule.ev_class = seen.oid AND rule.ev_type = '1'
    CROSS JOIN LATERAL pg_catalog.regexp_matches(
        rule.ev_action::pg_catalog.text, ':(funcid|opfuncid|aggfnoid|winfnoid|opno) (\\d+)', 'g'
    ) AS found
),
every (number) AS (
    SELECT number FROM called
    UNION SELECT step FROM called JOIN pg_catalog.pg_aggregate AS made ON made.aggfnoid = called.number
    CROSS JOIN LATERAL pg_catalog.unnest(
        ARRAY[made.aggtransfn::pg_catalog.oid, made.aggfinalfn::pg_catalog.oid]
    ) AS step
)
SELECT DISTINCT routine.oid::pg_catalog.regprocedure::pg_catalog.text FROM every
JOIN pg_catalog.pg_proc AS routine ON routine.oid = every.number AND routine.provolatile = 'v'{whose} ORDER BY 1"""


def volatile_by_name(names: Iterable[str]) -> str:
    """The query of the volatile functions that go by some names, in any schema."""
    listed = ", ".join(map(literal, sorted(names)))
    return (
        "SELECT DISTINCT oid::pg_catalog.regprocedure::pg_catalog.text FROM pg_catalog.pg_proc "
        f"WHERE provolatile = 'v' AND proname IN ({listed}) ORDER BY 1"
    )


RUN = r"pg_catalog.substring(query, '^/\* kanon_sql run ([0-9a-f]{8}) \*/')"
"""The run that a session's statement belongs to; NULL for any other statement."""

_OF_RUNS = (
    "FROM pg_catalog.pg_stat_activity "
    f"WHERE state = 'active' AND pid <> pg_catalog.pg_backend_pid() AND {RUN} IS NOT NULL"
)

RUNNING = f"SELECT pid, {RUN}, EXTRACT(EPOCH FROM pg_catalog.clock_timestamp() - query_start) {_OF_RUNS} ORDER BY pid"
"""The sessions that work on a statement of a run: their number, the run, and for how many seconds."""

CANCELLING = f"SELECT pg_catalog.pg_cancel_backend(pid) {_OF_RUNS}"
"""Asks the same sessions to stop."""


def never_analyzed(tables: Sequence[str]) -> str:
    """The query for those of some tables of which the server has never counted rows.

    Args:
        tables: their quoted names.
    """
    numbers = ", ".join(f"to_regclass({literal(name)})" for name in tables)
    return (
        "SELECT relname FROM pg_catalog.pg_class "
        f"WHERE oid IN ({numbers}) AND (reltuples < 0 OR (reltuples = 0 AND relpages = 0)) ORDER BY relname"
    )


def advisory_locks(keys: Iterable[int]) -> str:
    """Those of some keys of 64 bits that are locked in this database."""
    return (
        "SELECT DISTINCT key FROM (SELECT (classid::pg_catalog.int8 OPERATOR(pg_catalog.<<) 32) "
        "OPERATOR(pg_catalog.|) objid::pg_catalog.int8 AS key FROM pg_catalog.pg_locks "
        "WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND database = "
        "(SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())) AS locks "
        f"WHERE key IN ({', '.join(map(str, keys))})"
    )
