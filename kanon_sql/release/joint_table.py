"""Several releases of one table together: the joint table, and what its classes achieve.

Definition. Releases R1 ... Rn are made of a source S, each row at a time: Ri shows a row with its labels at the
levels of Ri and with its sensitive and kept columns, or suppresses it (leaves it out, or masks its labels). The
*joint table* J has a row for each row of S that some release shows; it holds what every one of them shows of it,
side by side. Its quasi-identifier is, per release, whether the row is shown, and its labels there; and a column
that is a quasi-identifier of one release and shown as it is by another. For full-domain generalization with one
hierarchy that is the finest common refinement: per attribute, the lower of both levels. The releases together
satisfy a requirement when J does: every joint class does, as far as the attribute it looks at is shown.

Why that is enough. Each Ri is a projection of J: it leaves columns of J out, and the rows that Ri does not show. So
whatever an attacker concludes from all releases can be concluded from J, and J is itself a release that satisfies the
requirement. In particular nothing is assumed about how rows of two releases can be linked: J links them all
perfectly, by their kept and sensitive columns or otherwise. Who knows a person's quasi-identifiers knows their joint
class and no more. (Sweeney 2002, k-anonymity: a model for protecting privacy, section 4.2, asks that all released
attributes become quasi-identifiers of later releases. That forbids linking; this rule permits it where it
does no harm.)

Suppression. A class is suppressed as a whole, so who knows a person's quasi-identifiers knows whether they are in a
release. The rows of a class of R2 that R1 suppressed are what is left of the class when R1's rows are taken away:
they are a joint class. Rows that no release shows are in no class.

When the source changed (the same paper, section 4.3). J is computed from the source as it is now. It speaks of
the releases only if the source, generalized as each of them was, gives each of them: the same rows, as often. That is
compared, with every column; a release that the source no longer gives is not comparable, and the answer is no. If
the source changed so that it gives every release nevertheless, the argument above holds for the source as it is. So
rows may be added whose class an earlier release does not show: they are no different from rows that it suppressed. That
is the remedy of section 4.3, a release built on the old one and the rows that are new.

The definition and the argument are ours. They are about what releases show, not about how they were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.engines import Column, Workspace
from kanon_sql.evaluate import Achieved, Examination, Subject, examine, reference_in
from kanon_sql.frequency import label_numbers, value_facts_of
from kanon_sql.hierarchies import Codes, Lookup, Widest, exact_value, split_labels
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import columns_by_name
from kanon_sql.sql import PORTABLE, Relation, Sql, exact_text, identifier, render, source_relation, sql_list

__all__ = ["JointClasses", "View", "examine_jointly"]


@dataclass(frozen=True)
class View:
    """One release, and how to make it of the source.

    Attributes:
        name: for messages.
        table: the release itself.
        labels: quasi-identifier -> its lookup table and level.
        shown: the columns that are released as they are.
        drops_nulls: rows with a NULL quasi-identifier were suppressed.
        masked: suppressed rows are in the release, masked.
    """

    name: str
    table: Relation
    labels: Mapping[str, tuple[Lookup, int]]
    shown: Sequence[str]
    drops_nulls: bool
    masked: bool


@dataclass(frozen=True)
class JointClasses:
    """What the releases achieve together.

    Attributes:
        changed: names of the releases that the source no longer gives; if there are any, nothing else is known.
        examinations: of the joint classes, one per set of requirements that look at the same attribute.
    """

    changed: tuple[str, ...]
    examinations: tuple[Examination, ...] = ()

    @property
    def achieved(self) -> tuple[Achieved, ...]:
        """What each requirement reaches."""
        return tuple(item for examination in self.examinations for item in examination.achieved)

    @property
    def passed(self) -> bool:
        """Whether the releases are comparable, and every joint class satisfies every requirement."""
        return not self.changed and all(examination.passed for examination in self.examinations)


def examine_jointly(
    workspace: Workspace,
    columns: Mapping[str, Column],
    views: Sequence[View],
    models: Sequence[PrivacyModel],
    unit: str | None,
    rows: int,
) -> JointClasses:
    """Build the joint table in one pass over the source, compare it with every release, and examine it.

    Args:
        workspace: where to build it.
        columns: the source's columns by name.
        views: the releases.
        models: the requirements; each attribute is shown by one of the releases.
        unit: count distinct values of this column instead of rows.
        rows: rows that the source has.
    """
    workspace.report("comparing with earlier releases: one pass over the source", None)
    joint = _JointTable(workspace, columns, views, models, unit)
    (found,) = workspace.row("release/count", table=joint.table, mark=None, unit=None)
    changed = tuple(view.name for number, view in enumerate(views) if joint.differs(number))
    if int(found) != rows or changed:
        return JointClasses(changed or tuple(view.name for view in views))
    workspace.report("examining the joint classes", None)
    attributes = list(dict.fromkeys(model.attribute for model in models))
    return JointClasses((), tuple(joint.examine(attribute) for attribute in attributes))


class _JointTable:
    """The joint table in the database: all rows of the source, with what every release shows of them."""

    def __init__(
        self,
        workspace: Workspace,
        columns: Mapping[str, Column],
        views: Sequence[View],
        models: Sequence[PrivacyModel],
        unit: str | None,
    ) -> None:
        self.workspace = workspace
        self._source = columns
        self.views = views
        self.models = models
        self._prefix = _free_prefix(columns)
        self._unit = None if unit is None else f"{self._prefix}unit"
        self._raw = list(dict.fromkeys(name for view in views for name in view.shown))
        quasi_identifiers = {name for view in views for name in view.labels}
        self._clashes = [[name for name in view.shown if name in quasi_identifiers] for view in views]
        lookups = {lookup.index: lookup for view in views for lookup, _ in view.labels.values()}
        widest = dict(zip(lookups, label_numbers(workspace, list(lookups.values())).widest, strict=True))
        self._codes = [_class_code(view, widest) for view in views]
        self._kept = [self._keep(number) for number in range(len(views))]
        self.table = workspace.table("joint")
        presents = [_present(view, number, columns) for number, view in enumerate(views)]
        attributes = dict.fromkeys(model.attribute for model in models)
        workspace.execute(
            "release/ledger/joint",
            target=self.table,
            source=source_relation(),
            views=[self._view(number, presents[number]) for number in range(len(views))],
            raw=[(name, render("release/column", name=name)) for name in self._raw],
            shown=[(self._mark(name), self._shows(name, presents)) for name in attributes],
            unit=None if unit is None else (self._unit, exact_value(columns[unit], "kanon_source")),
            lookups=[
                {
                    "alias": f"lookup{lookup.index}",
                    "table": lookup.table,
                    "value": exact_value(columns[lookup.name], "kanon_source"),
                    "has_nulls": lookup.has_nulls,
                }
                for lookup in lookups.values()
            ],
        )
        self.columns = workspace.columns(self.table)

    def differs(self, number: int) -> bool:
        """Whether a release has other rows than the joint table says."""
        view = self.views[number]
        released = self.workspace.columns(view.table)
        known = {*view.labels, *view.shown}
        computed = columns_by_name(view.labels, set(released) - known)
        if set(released) != known | {column.name for column in computed}:
            return True
        if any(split_labels(self.workspace, computed, released, view.table)):
            return True
        (different,) = self.workspace.row(
            "release/ledger/differences",
            joint=self.table,
            class_number=self._class(number),
            kept=self._kept[number],
            labels=[
                exact_text(render("release/ledger/cell", name=f"l{position}", masked=view.masked))
                for position, _ in enumerate(view.labels)
            ],
            made=[exact_value(self.columns[name], "made") for name in view.shown],
            release=view.table,
            released=[exact_value(released[name], "released") for name in (*view.labels, *view.shown)],
        )
        return bool(different)

    def examine(self, attribute: str | None) -> Examination:
        """The joint classes of the rows that show an attribute (or are shown at all), by the requirements about it."""
        keys: list[str] = []
        for number, _ in enumerate(self.views):
            keys += [self._class(number), *(self._key(number, name) for name in self._clashes[number])]
        models = [model for model in self.models if model.attribute == attribute]
        facts, references = {}, {}
        if attribute is not None:
            facts[attribute] = replace(value_facts_of(models, self._source[attribute]), column=self.columns[attribute])
            if any(model.needs_reference for model in models):
                of_unit = None if self._unit is None else self.columns[self._unit]
                name = f"joint_{self._raw.index(attribute)}"
                references[attribute] = reference_in(self.workspace, name, self.table, facts[attribute], of_unit)
        subject = Subject(
            table=self.table,
            columns=self.columns,
            quasi_identifiers=keys,
            references=references,
            facts=facts,
            unit=self._unit,
            mark=(self._mark(attribute), 1),
        )
        return examine(self.workspace, subject, models)

    # --- Names of its columns, none of which is one of the source's ---

    def _class(self, number: int) -> str:
        return f"{self._prefix}f{number}"

    def _key(self, number: int, name: str) -> str:
        return f"{self._prefix}f{number}_c{self._raw.index(name)}"

    def _mark(self, attribute: str | None) -> str:
        return f"{self._prefix}any" if attribute is None else f"{self._prefix}s{self._raw.index(attribute)}"

    # --- Its columns ---

    def _keep(self, number: int) -> Relation:
        """The classes of a release in a scratch table, numbered."""
        view = self.views[number]
        target = self.workspace.table(f"kept{number}")
        self.workspace.execute(
            "release/ledger/kept",
            target=target,
            release=view.table,
            masked=view.masked,
            keys=self._codes[number],
            labels=[
                {
                    "kept": f"l{position}",
                    "cell": exact_text(Sql(f"CAST({identifier('released')}.{identifier(name)} AS VARCHAR)")),
                    "alias": f"lookup{lookup.index}",
                    "table": lookup.table,
                    "label": f"l{level}",
                    "numbers": _numbers(lookup, level),
                    "has_nulls": lookup.has_nulls and level < lookup.height,
                }
                for position, (name, (lookup, level)) in enumerate(view.labels.items())
            ],
        )
        return target

    def _view(self, number: int, present: Sql) -> dict[str, Any]:
        """What the template needs to show a row as one release does."""
        return {
            "alias": f"kept{number}",
            "table": self._kept[number],
            "codes": self._codes[number],
            "present": present,
            "masked": self.views[number].masked,
            "class_number": self._class(number),
            "keys": [(self._key(number, name), render("release/column", name=name)) for name in self._clashes[number]],
        }

    def _shows(self, attribute: str | None, presents: Sequence[Sql]) -> Sql:
        """Whether some release shows a row, and the attribute with it."""
        showing = [
            Sql("1 = 1") if view.masked else present
            for view, present in zip(self.views, presents, strict=True)
            if attribute is None or attribute in view.shown
        ]
        return sql_list([Sql(f"({item})") for item in showing], " OR ")


def _present(view: View, number: int, columns: Mapping[str, Column]) -> Sql:
    """Whether a release shows a row with its labels: its class is there, and it was not suppressed for a NULL."""
    conditions = [Sql(f"{identifier(f'kept{number}')}.{identifier('class_number')} IS NOT NULL")]
    if view.drops_nulls:
        conditions += [Sql(f"{exact_value(columns[name], 'kanon_source')} IS NOT NULL") for name in view.labels]
    return sql_list(conditions, " AND ")


def _class_code(view: View, widest: Mapping[int, Sequence[Widest]]) -> list[Sql]:
    """The numbers that tell the classes of a release apart, over lookup tables named by their numbers."""
    lookups = [lookup for lookup, _ in view.labels.values()]
    node = tuple(level for _, level in view.labels.values())
    codes = Codes([widest[lookup.index] for lookup in lookups])
    return [Sql(key) for key in codes.from_lookups(node, PORTABLE, lambda place: f"lookup{lookups[place].index}")]


def _numbers(lookup: Lookup, level: int) -> list[str]:
    """The columns of a lookup table that a label's code is made of: labels that nest have one number each."""
    levels = range(level, lookup.height)
    return [*(f"c{above}" for above in levels), *(f"d{above}" for above in levels if above + 1 < lookup.height)]


def _free_prefix(columns: Mapping[str, Column]) -> str:
    """What no column's name begins with."""
    prefix = "kanon_"
    while any(name.lower().startswith(prefix) for name in columns):
        prefix += "_"
    return prefix
