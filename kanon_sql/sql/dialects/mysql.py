"""MySQL, which differs from MariaDB in little."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.sql.dialects.base import Dialect, dialect
from kanon_sql.sql.dialects.mariadb import MariaDB

__all__ = ["MySQL"]


@dialect
class MySQL(MariaDB):
    """MySQL 8.0.19 and later."""

    name = "mysql"
    guard = None
    collation = "utf8mb4_0900_bin"
    rescans_extremes = False
    renames_apart = "whether RENAME TABLE of several tables survives the server's death was not tried on it"

    def numbers_to(self, count: str) -> None:
        """It has no sequences."""

    def readers(self, schema: Sequence[str]) -> str | None:
        """Not tried: rights are withdrawn in part there, and given by rules of the server's own."""
        return Dialect.readers(self, schema)
