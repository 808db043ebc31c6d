"""``audit`` for a spec of several tables: who could be found by some items of a person that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal, TypedDict

from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.relations import Exposed, exposure
from kanon_sql.spec import HIDDEN, Count, RelationalSpec, Text, VerdictResult
from kanon_sql.verbs.relational import released_tables, running_on_released
from kanon_sql.verbs.result import Cost

__all__ = ["ExposedPersons", "RelationalAudit", "audit"]


class ExposedPersons(TypedDict):
    """Persons who could be found.

    Attributes:
        unique: persons who have something that may be known and that no other person shares.
        few: those who have something that may be known and that fewer than k persons share.
    """

    unique: Count
    few: Count


@dataclass(frozen=True, repr=False)
class RelationalAudit(VerdictResult):
    """Who could be found in tables that were released together.

    Attributes:
        verb: ``audit``.
        verdict: ``fail`` where persons could be found by as many items as the spec protects against.
        message: the verdict in a sentence.
        persons: of the release.
        k: how many persons are to share what is known.
        together: items known besides the person's own values, ``0`` to ``3`` or ``all`` -> who could be found in the
            joined tables.
        only_joined: the same -> persons who are unique in the joined tables, and in no table alone.
        alone: table -> items known -> who could be found in it by itself.
        cost: what the run asked of the database.
        notes: what the user should know besides.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> spec = kanon_sql.RelationalSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "person": {
        ...             "table": {"query": "SELECT ROW_NUMBER() OVER () AS id, age FROM visits"},
        ...             "name": "people",
        ...             "key": "id",
        ...             "quasi_identifiers": {"age": {"intervals": [20, 40]}},
        ...         },
        ...         "tables": {
        ...             "stays": {
        ...                 "table": {"query": "SELECT ROW_NUMBER() OVER () AS who, zip FROM visits"},
        ...                 "person": "who",
        ...                 "quasi_identifiers": {"zip": {"prefix": [4, 3]}},
        ...             },
        ...         },
        ...         "privacy": [{"km_anonymity": {"k": 3, "m": 1}}],
        ...         "release": {"schema": "main"},
        ...     }
        ... )
        >>> released = kanon_sql.anonymize(db, spec)
        >>> audited = kanon_sql.audit(db, spec)
        >>> audited.passed, audited.only_joined["1"]
        (True, 0)
    """

    verb: Literal["audit"]
    verdict: Literal["pass", "fail"]
    message: Text
    persons: Count
    k: Count
    together: Mapping[str, ExposedPersons]
    only_joined: Mapping[str, Count]
    alone: Mapping[str, Mapping[str, ExposedPersons]]
    cost: Cost = field(default_factory=Cost)
    notes: Sequence[Text] = ()
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)

    def _repr_html_(self) -> str:
        """What a notebook shows: the text."""
        return f"<pre>{escape(str(self))}</pre>"


def audit(
    engine: Engine, spec: RelationalSpec, *, timeout: float | None = None, report: Reporter | None = None
) -> RelationalAudit:
    """Count in the released tables who could be found by 0 to 3 items, or all, joined and in each table alone.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        spec: its tables are looked for under the names that it releases them under.
        timeout: seconds for the statements of the whole run; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: the spec names no release, or a table lacks a column.
        DatabaseError: a table is not there.
        VerificationError: keys are not unique, or rows refer to no row.
    """
    with running_on_released(engine, spec, "audit", timeout, report) as run:
        with open_workspace(engine, "") as workspace:
            stands, others = released_tables(workspace, spec)
            found = exposure(workspace, stands, spec)
        promised = [item for item in spec.km if _is_exposed(found.together, str(item.m))]
        result = RelationalAudit(
            verb="audit",
            verdict="fail" if promised or not found.persons else "pass",
            message=_message(found.persons, found.together, spec, failed=bool(promised)),
            persons=found.persons,
            k=spec.k,
            together=_by_known(found.together),
            only_joined={item.m: item.joined for item in found.together},
            alone={name: _by_known(items) for name, items in found.alone.items()},
            notes=[*engine.read_notes, *others, *_repeated(found.together, found.alone)],
        )
        return run.closed(result)


def _by_known(found: Sequence[Exposed]) -> dict[str, ExposedPersons]:
    return {item.m: {"unique": item.unique, "few": item.few} for item in found}


def _repeated(together: Sequence[Exposed], alone: Mapping[str, Sequence[Exposed]]) -> list[str]:
    """Where more persons are unique in a table alone: it numbers a label that occurs below several rows."""
    names = [
        name
        for name, items in alone.items()
        if any(own.unique > joined.unique for own, joined in zip(items, together, strict=False))
    ]
    return [
        f"{name}: more persons are unique in this table alone than in the joined ones, since equal labels below "
        "different rows are several items when joined, and one that occurs several times here; a larger m protects "
        "against readers who know how often"
        for name in names
    ]


def _is_exposed(found: Sequence[Exposed], m: str) -> bool:
    return any(item.few for item in found if item.m == m)


def _message(persons: int, found: Sequence[Exposed], spec: RelationalSpec, *, failed: bool) -> str:
    if not persons:
        return "there are no persons, so that nothing is protected"
    most = max(spec.km, key=lambda item: (item.m == "all", item.m if isinstance(item.m, int) else 0)).m
    at = next(item for item in found if item.m == str(most))
    known = "all items" if most == "all" else "1 item" if most == 1 else f"{most} items"
    if failed:
        return (
            f"who knows a person's own values and {known} finds {at.unique:,} of {persons:,} persons alone, and "
            f"{at.few:,} among fewer than {spec.k:,}"
        )
    return (
        f"who knows a person's own values and {known} finds no one of {persons:,} among fewer than {spec.k:,} persons"
    )
