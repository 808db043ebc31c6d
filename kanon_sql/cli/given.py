"""What the verbs are given: specs and databases, read and refused in one way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_sql.errors import DatabaseError, Problem, SpecError

if TYPE_CHECKING:
    from kanon_sql.spec import CloakSpec, PerturbSpec, Spec, TableSpec

__all__ = [
    "MEMORY",
    "load_cloak_spec",
    "load_perturb_spec",
    "load_spec",
    "load_table_spec",
    "need_database",
    "need_lasting",
    "need_parties",
]

MEMORY = ":memory:"


def load_spec(path: Path) -> Spec:
    """The spec in a file; importing what reads it only now.

    Raises:
        SpecError: the spec is wrong, or names no source: a program may give a table with it, a command
            does not.
    """
    from kanon_sql.spec import Spec

    spec = Spec.load(path)
    if not spec.source.given:
        said = "missing 'source'; name the table or view to anonymize, {query: ...} or {file: ...}"
        raise SpecError([Problem(said, str(path), 1, 1)])
    return spec


def load_perturb_spec(path: Path) -> PerturbSpec:
    """The perturbation spec in a file."""
    from kanon_sql.spec import PerturbSpec

    return PerturbSpec.load(path)


def load_table_spec(path: Path) -> TableSpec:
    """The table spec in a file."""
    from kanon_sql.spec import TableSpec

    return TableSpec.load(path)


def load_cloak_spec(path: Path) -> CloakSpec:
    """The positions spec in a file."""
    from kanon_sql.spec import CloakSpec

    return CloakSpec.load(path)


def need_database(database: str) -> None:
    """Refuse to create a database where one has to be there already."""
    from kanon_sql.engines import database_kind

    if database_kind(database) == "file" and not Path(database).exists():
        raise DatabaseError(f"there is no database file {database}; give an existing one with -d FILE")


def need_lasting(database: str, instead: str = "") -> None:
    """Refuse to publish where nothing stays: in memory, or in a database that is not there.

    Args:
        database: where a release goes to.
        instead: what may be done instead, for the message.

    Raises:
        SpecError: it is in memory.
        DatabaseError: it does not exist.
    """
    if database == MEMORY:
        raise SpecError(f"a release in :memory: would vanish with this process; give a database with -d FILE{instead}")
    need_database(database)


def need_parties(databases: Sequence[str]) -> None:
    """Refuse parties whose databases are not there.

    Raises:
        SpecError: one is in memory.
        DatabaseError: one does not exist.
    """
    for database in databases:
        if database == MEMORY:
            raise SpecError("--database: a database in memory belongs to no party; give a file or a URL")
        need_database(database)
