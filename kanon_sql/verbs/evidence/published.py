"""What the manifest says of a table that a run of kanon_sql has published, and whether that is still true of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.engines import Engine
from kanon_sql.release import manifest_of
from kanon_sql.spec import HIDDEN, Count, Document, Spec, Text
from kanon_sql.verbs.result import Check
from kanon_sql.verbs.run import running

__all__ = ["Published", "published", "published_as"]


@dataclass(frozen=True)
class Published(Document):
    """The run that published a table.

    Attributes:
        run_id: the run.
        published_at: when, UTC.
        spec_hash: of the spec that it was published by.
        same_spec: whether that is the spec that the evidence is about.
        unchanged: whether the table has the rows and the classes that the run verified.
        rows: ``source``, ``released``, ``suppressed``, and ``persons`` where these were counted.
        classes: ``count``, ``smallest`` and so on, in rows.
        achieved: requirement -> what was verified before the release was published.
        node: quasi-identifier -> level; None where levels differ by class or value.
        intervals: quasi-identifier -> how many intervals a search chose.
        recoding: the method, where it was not full-domain.
        heights: quasi-identifier -> its highest level, where the manifest tells.
        warnings: what the run warned of.
        notes: what else it said.
        smallest: persons of the smallest class; None where the manifest does not hold that.
        counted: classes and the persons in them; None likewise.
    """

    run_id: Text
    published_at: Text
    spec_hash: Text
    same_spec: bool
    unchanged: bool
    rows: Mapping[str, Count]
    classes: Mapping[str, float | None]
    achieved: Mapping[str, Mapping[str, Any]] = field(metadata=HIDDEN)
    node: Mapping[str, int] | None = field(metadata=HIDDEN)
    intervals: Mapping[str, int] | None = field(metadata=HIDDEN)
    recoding: str | None = field(metadata=HIDDEN)
    heights: Mapping[str, int] = field(metadata=HIDDEN)
    warnings: list[dict[str, Any]] = field(default_factory=list, metadata=HIDDEN)
    notes: list[str] = field(default_factory=list, metadata=HIDDEN)
    smallest: int | None = field(default=None, metadata=HIDDEN)
    counted: tuple[int, int] | None = field(default=None, metadata=HIDDEN)

    @property
    def withheld(self) -> set[str]:
        """The columns that the run said are at the top of their hierarchies in every row."""
        warned = [
            item for item in self.warnings if item["code"] in ("column_fully_generalized", "fully_suppressed_columns")
        ]
        return {name for item in warned for name in item.get("columns", ())}

    @property
    def counts_persons(self) -> bool:
        """Whether the run protected persons."""
        return "persons" in self.rows

    @property
    def vouches(self) -> bool:
        """Whether what the run verified may be said of the table as it is, for the spec at hand."""
        return self.same_spec and self.unchanged


def published(engine: Engine, spec: Spec, parts: tuple[str, ...], checked: Check) -> Published | None:
    """Read the manifest of a table; None where no run has marked it, or none of its manifests can be read.

    Args:
        engine: from :func:`kanon_sql.connect`.
        spec: the spec at hand.
        parts: the table.
        checked: what ``check`` said of the table.
    """
    with running(engine, None):
        found = manifest_of(engine, parts)
    return published_as(found, spec, checked.rows["source"], checked.classes.get("count"))


def published_as(
    found: Mapping[str, Any] | None, spec: Spec, table_rows: int, table_classes: float | None
) -> Published | None:
    """The same of a manifest that was read already.

    Args:
        found: the manifest.
        spec: the spec at hand.
        table_rows: of what it is about, as it stands.
        table_classes: the same.
    """
    if found is None or found.get("spec") is None or found.get("node", ...) is ...:
        return None
    rows, classes = found["rows"], found["classes"]
    stands = rows.get("released", 0) + rows.get("masked", 0)
    same_classes = bool(rows.get("masked")) or classes.get("count") == table_classes
    details = found.get("details") or {}
    # Masked rows are a class that the run verified by itself, and that its figures leave out.
    tables = [item for item in details.get("tables", ()) if item["name"] == "release" and not rows.get("masked")]
    recoding = found.get("recoding")
    return Published(
        run_id=found["run_id"],
        published_at=found["published_at"],
        spec_hash=found["spec_hash"],
        same_spec=found["spec_hash"] == spec.hash,
        unchanged=table_rows == stands and same_classes,
        rows=rows,
        classes=classes,
        achieved=found["achieved"],
        node=found["node"],
        intervals=found.get("intervals"),
        recoding=None if recoding is None else recoding["method"],
        heights={item["name"]: item["height"] for item in details.get("attributes", ())},
        warnings=list(found.get("warnings") or ()),
        notes=list(found.get("notes") or ()),
        smallest=None if rows.get("masked") else _smallest(found["achieved"], tables),
        counted=(tables[0]["classes"], tables[0]["records"]) if tables else None,
    )


def _smallest(achieved: Mapping[str, Mapping[str, Any]], tables: Sequence[Mapping[str, Any]]) -> int | None:
    """The smallest class by what the run counted: from k-anonymity by all quasi-identifiers, or from its details."""
    if "k" in achieved.get(_BY_ALL, ()):
        return int(achieved[_BY_ALL]["k"])
    risk = tables[0]["risk"] if tables else None
    return None if risk is None else round(1 / risk["highest"])


_BY_ALL = "k_anonymity"
"""The key of k-anonymity in results where no columns are named."""
