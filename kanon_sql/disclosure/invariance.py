"""m-invariance: whether a changed table can be published again beside its earlier version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.errors import SpecError
from kanon_sql.frequency import read_table, reads_otherwise
from kanon_sql.hierarchies import (
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
    refuse_several_texts,
    refuse_split_labels,
    shown_keys,
)
from kanon_sql.models import figure
from kanon_sql.spec import Spec, key_of, parse_table_name
from kanon_sql.sql import Relation

__all__ = ["Invariance", "Republication", "measure_invariance"]


@dataclass(frozen=True)
class Republication:
    """What a republished table is compared with.

    Attributes:
        earlier: the earlier version: a generalized, internal table with the person of every row.
        person: the column that identifies a person in both tables, or a list of those that do together. It is NULL in
            counterfeit rows, which belong to no person.
        m: how many different sensitive values a class must have.

    Examples:
        >>> for month, other in {"january": "'cold'", "february": "'ulcer'"}.items():
        ...     _ = connection.execute(
        ...         f"CREATE TABLE {month} AS SELECT * FROM "
        ...         f"(VALUES (1, '20-39', '941**', 'flu'), (2, '20-39', '941**', {other})) "
        ...         "AS t(patient, age, zip, diagnosis)"
        ...     )
        >>> asked = kanon_sql.Republication(earlier="january", person="patient", m=2)
        >>> two = kanon_sql.Spec.from_dict({**spec.to_dict(), "privacy": [{"k_anonymity": {"k": 2}}]})
        >>> result = kanon_sql.check(db, two, "february", republication=asked)
        >>> result.achieved["m_invariance(diagnosis)"]["changed_persons"]
        2
    """

    earlier: str
    person: str | Sequence[str]
    m: int

    @property
    def key(self) -> str:
        """The person as one column: its name."""
        return key_of(self.person)


@dataclass(frozen=True)
class Invariance:
    """Whether two versions are m-invariant for one sensitive attribute.

    m-invariance (Xiao, Tao: m-Invariance, SIGMOD 2007, definitions 3 to 5): in both versions every class has at least
    m rows, no two of them with the same sensitive value; and anyone who is in both versions is in classes with
    the same set of sensitive values (its signature), so that comparing the versions rules none of them out.

    A NULL is no sensitive value that protects, so a class with one violates. A table without rows has no class and
    no person in it.

    Attributes:
        attribute: the sensitive attribute.
        m: what was asked.
        earlier: the earlier version's name.
        reached: the largest m that both versions satisfy; None for none, or when there is no class.
        violating_classes, violating_rows: of both versions together, that are not m-unique.
        changed_persons: persons in both versions whose class has other sensitive values.
        no_common_persons: both versions have persons, and none is in both.
        figures: what results say of it, as those of a model.
    """

    attribute: str
    m: int
    earlier: str
    reached: int | None
    violating_classes: int
    violating_rows: int
    changed_persons: int
    no_common_persons: bool
    figures: ClassVar = {
        "m": figure("m-invariance: the largest m that both versions reach; null for none.", int),
        "changed_persons": figure(
            "m-invariance: persons whose class has other sensitive values than before.", int, type="integer", minimum=0
        ),
    }

    @property
    def key(self) -> str:
        """Under which it stands in results."""
        return f"m_invariance({self.attribute})"

    @property
    def label(self) -> str:
        """Such as ``2-invariance of disease since visits_2023``."""
        return f"{self.m}-invariance of {self.attribute} since {self.earlier}"

    @property
    def passed(self) -> bool:
        """Whether the versions are m-invariant."""
        return not self.violating_classes and not self.changed_persons

    def problem(self) -> str:
        """Why not, in words."""
        return (
            f"{self.violating_classes:,} classes ({self.violating_rows:,} rows) of both versions are not "
            f"{self.m}-unique and {self.changed_persons} persons' classes have other values than before: they "
            f"violate {self.label}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in results."""
        return {
            "requirement": self.label,
            "m": self.reached,
            "violating_classes": self.violating_classes,
            "violating_rows": self.violating_rows,
            "changed_persons": self.changed_persons,
        }


def measure_invariance(
    workspace: Workspace,
    spec: Spec,
    table: Relation,
    columns: Mapping[str, Column],
    asked: Republication,
) -> list[Invariance]:
    """Compare two versions of a table, for each sensitive attribute of the spec. One statement each, no DDL.

    Args:
        workspace: where to run it.
        spec: the quasi-identifiers and the sensitive attributes.
        table: the version to be published, with the person of every row.
        columns: its columns by name.
        asked: the earlier version, the person, and m.

    Raises:
        SpecError: a table lacks a column or has it with another type, a person has several rows in one version, or the
            spec has no sensitive attribute.
    """
    if asked.m < 1:
        raise SpecError("m: expected a whole number of at least 1")
    if not spec.sensitive:
        raise SpecError("sensitive: missing; m-invariance is about a sensitive attribute")
    before, key = Relation(parse_table_name(asked.earlier)), asked.key
    found: Mapping[str, Column] = workspace.columns(before)
    if reads_otherwise(spec, [key]):
        before, found = read_table(workspace, spec, before, found, asked.earlier, key, released=True)
        if key not in columns:
            table, columns = read_table(workspace, spec, table, columns, "the table", key, released=True)
    tables = [(before, found, asked.earlier), (table, columns, "the table")]
    named = [*spec.quasi_identifiers, *spec.sensitive, key]
    for relation, present, shown in tables:
        for name in named:
            if name not in present:
                raise SpecError(
                    f"{shown}: there is no column {name!r}, which m-invariance needs; expected internal tables with "
                    "the quasi-identifiers, the sensitive attributes and the person"
                )
        own = {name: present[name] for name in named}
        refuse_several_texts(present, [*spec.sensitive, key], "m-invariance")
        refuse_mixed_forms(workspace, relation, own)
        refuse_blank_ends(workspace, relation, exact_texts(list(own.values()), "checked"), shown)
        refuse_split_labels(workspace, spec.computed, present, relation, shown)
    for name in (*spec.sensitive, key):
        if found[name].kind != columns[name].kind:
            raise SpecError(
                f"{name!r} is {found[name].type} in {asked.earlier} and {columns[name].type} now; cast one of them"
            )
    return [_measured(workspace, spec, attribute, tables, asked) for attribute in spec.sensitive]


def _measured(
    workspace: Workspace,
    spec: Spec,
    attribute: str,
    tables: Sequence[tuple[Relation, Mapping[str, Column], str]],
    asked: Republication,
) -> Invariance:
    row = workspace.row(
        "disclosure/invariance",
        tables=[relation for relation, _, _ in tables],
        keys=[shown_keys([columns[name] for name in spec.quasi_identifiers], "checked") for _, columns, _ in tables],
        persons=[exact_value(columns[asked.key], "checked") for _, columns, _ in tables],
        values=[exact_value(columns[attribute], "checked") for _, columns, _ in tables],
        m=asked.m,
    )
    *counted, of_both, judged, there = row
    repeated, violating_classes, violating_rows, *smallest, repeating, changed, common, before, now = counted
    if repeated:
        raise SpecError(
            f"{repeated} persons ({asked.key}) have several rows in one version; m-invariance is about one row each"
        )
    refuse_incomplete("disclosure/invariance", common, of_both, "persons of both versions")
    refuse_incomplete("disclosure/invariance", judged, there)
    sizes = [int(size) for size in smallest if size is not None]
    return Invariance(
        attribute=attribute,
        m=asked.m,
        earlier=asked.earlier,
        reached=min(sizes) if sizes and not repeating and not changed else None,
        violating_classes=int(violating_classes),
        violating_rows=int(violating_rows or 0),
        changed_persons=int(changed or 0),
        no_common_persons=bool(before and now and not common),
    )
