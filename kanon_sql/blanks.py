"""Refuse texts that end with a blank, where comparing texts ignores blanks at their end.

SQL Server and Redshift take 'a' and 'a ' for the same, in every collation. Two persons who
differ in nothing else would then share a class in our counts, but not in the eyes of someone
who reads the release. So such texts are counted, in the database, and refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from kanon_sql.errors import UnsupportedError
from kanon_sql.sql.text import Relation, Sql
from kanon_sql.workspace import Workspace

__all__ = ["refuse_blank_ends"]


def refuse_blank_ends(workspace: Workspace, table: Relation, texts: Iterable[Sql], what: str) -> None:
    """One pass over a table, and none where comparisons see every character.

    Args:
        workspace: where to look.
        table: the table; its alias is ``checked``.
        texts: expressions over it that are text.
        what: what the table is, for the message.

    Raises:
        UnsupportedError: a text ends with a blank.
    """
    listed = list(texts)
    dialect = workspace.compiler.dialect
    if not dialect.pads or not listed:
        return
    (found,) = workspace.row("check/blank_ends", table=table, texts=listed)
    if found:
        raise UnsupportedError(
            f"{what}: {int(found):,} rows hold a text that ends with a blank, which {dialect.name} ignores when it "
            "compares texts, so that different ones would be counted as one; trim them in a source query"
        )
