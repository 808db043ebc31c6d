"""SQL: a template is rendered, parsed into a tree, checked against the portable subset, and written for a dialect.

Templates live in ``sql_templates/`` and are DuckDB's dialect. Nothing is spliced into them: a value goes through a
filter. A ``Dialect`` rewrites the checked tree where its engine differs, and writes what no common tree can say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.sql.dialects import PORTABLE, Dialect, dialect_named
from kanon_sql.sql.dialects.base import WORD, mark_text, marked_run
from kanon_sql.sql.expression import level_expression
from kanon_sql.sql.layout import laid_out
from kanon_sql.sql.parse import parsed
from kanon_sql.sql.python_deadline import checkpoint, looking_at
from kanon_sql.sql.query import called_names, named_tables, refuse_called, single_query
from kanon_sql.sql.reads import Read, reads_of, ties_of, unstable_parts, view_queries
from kanon_sql.sql.statement import Compiler, Creation, Statement, separated, source_relation
from kanon_sql.sql.templates import add_template_directory, remove_template_directory, render
from kanon_sql.sql.text import (
    Relation,
    Sql,
    exact_float,
    exact_padded,
    exact_text,
    exact_time,
    identifier,
    literal,
    relation,
    slot,
    sql_list,
)

if TYPE_CHECKING:
    from kanon_sql.sql.dialects.clickhouse import RENAMING
    from kanon_sql.sql.dialects.mariadb import SEQUENCE, WITHOUT_SEQUENCES, MariaDB
    from kanon_sql.sql.dialects.mysql import MySQL
    from kanon_sql.sql.dialects.oracle import Oracle
    from kanon_sql.sql.dialects.postgres import Postgres, dollar_tag
    from kanon_sql.sql.dialects.sqlite import WITHOUT_JSON, affinity
    from kanon_sql.sql.dialects.tsql import MARK_PROPERTY

__all__ = [
    "MARK_PROPERTY",
    "PORTABLE",
    "RENAMING",
    "SEQUENCE",
    "WITHOUT_JSON",
    "WITHOUT_SEQUENCES",
    "WORD",
    "Compiler",
    "Creation",
    "Dialect",
    "MariaDB",
    "MySQL",
    "Oracle",
    "Postgres",
    "Read",
    "Relation",
    "Sql",
    "Statement",
    "add_template_directory",
    "affinity",
    "called_names",
    "checkpoint",
    "dialect_named",
    "dollar_tag",
    "exact_float",
    "exact_padded",
    "exact_text",
    "exact_time",
    "identifier",
    "laid_out",
    "level_expression",
    "literal",
    "looking_at",
    "mark_text",
    "marked_run",
    "named_tables",
    "parsed",
    "reads_of",
    "refuse_called",
    "relation",
    "remove_template_directory",
    "render",
    "separated",
    "single_query",
    "slot",
    "source_relation",
    "sql_list",
    "ties_of",
    "unstable_parts",
    "view_queries",
]

_HOME = {
    "MARK_PROPERTY": "dialects.tsql",
    "MariaDB": "dialects.mariadb",
    "MySQL": "dialects.mysql",
    "Oracle": "dialects.oracle",
    "Postgres": "dialects.postgres",
    "RENAMING": "dialects.clickhouse",
    "SEQUENCE": "dialects.mariadb",
    "WITHOUT_JSON": "dialects.sqlite",
    "WITHOUT_SEQUENCES": "dialects.mariadb",
    "affinity": "dialects.sqlite",
    "dollar_tag": "dialects.postgres",
}
"""What one dialect hands out, which is imported when it is first asked for."""

__getattr__ = imported_from(__name__, _HOME)
