"""The warning that others may read what a run keeps beside a release, and what holds values of the source."""

from __future__ import annotations

from kanon_sql.engines import Engine
from kanon_sql.spec import Spec, format_table_name
from kanon_sql.verbs.result import Warned

__all__ = ["readable_by_others"]


def readable_by_others(engine: Engine, spec: Spec, name: str, what: str) -> list[Warned]:
    """That others may read a table with values of the source which stands in the release's schema.

    It takes a statement of the catalog, on engines where rights in a schema hold for each table in it.

    Args:
        engine: where.
        spec: what is released; it names the schema.
        name: the table, as a spec writes it.
        what: what the table holds, in words that end a sentence.
    """
    assert spec.release is not None
    if spec.warnings.readable_by_others == "allow":
        return []
    schema = spec.release[:-1]
    who = engine.readers(schema)
    if who is None:
        return []
    place = f"the schema {format_table_name(schema)!r}" if schema else "the schema"
    message = (
        f"{name}: {who} {place} of this table, and it holds {what}. Release into a schema in which no other user has "
        "rights, and grant access to the release only, or revoke their rights in this schema"
    )
    return [Warned("readable_by_others", message, [])]
