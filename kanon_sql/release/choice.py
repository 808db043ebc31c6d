"""What is to be released: the source at a chosen node, or in the classes of a recoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.evaluate import Examination, Subject, consistent_with_source, examine
from kanon_sql.frequency import FrequencySets, LabelSizes, count_of, label_sizes
from kanon_sql.models import PrivacyModel
from kanon_sql.recode import Mapped
from kanon_sql.search import Node
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, exact_text, render

if TYPE_CHECKING:
    from kanon_sql.release.differential.mechanism import Drawn

__all__ = ["Choice"]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to write: the source at the chosen node.

    Attributes:
        spec: what to release.
        columns: the source's columns by name, in order.
        sets: the frequency sets, for lookups, counts and reference distributions.
        models: the requirements.
        node: the chosen levels; None where they differ by class.
        suppressed: the table of the suppressed classes' packed keys; None when no class is suppressed.
        suppressed_rows: the number of suppressed rows, those for NULL included.
        vectors: a table that holds all that is released, if there is one: a frequency set; of a recoding its classes,
            or the values of the sensitive attribute by vector.
        mapped: which vector is released as which class, where levels differ by class.
        drawn: how many rows of each class are released, where that was drawn.
    """

    spec: Spec
    columns: Mapping[str, Column]
    sets: FrequencySets
    models: Sequence[PrivacyModel]
    node: Node | None
    suppressed: Relation | None
    suppressed_rows: int
    vectors: Relation | None
    mapped: Mapped | None = None
    drawn: Drawn | None = None

    @property
    def levels(self) -> Node:
        """The chosen levels, of a release that has them."""
        assert self.node is not None
        return self.node

    @property
    def quasi_identifiers(self) -> list[str]:
        """Their names, in the spec's order."""
        return list(self.spec.quasi_identifiers)

    @property
    def needs_classes_only(self) -> bool:
        """Whether all that the requirements ask of a release are the rows of its classes."""
        return all(model.attribute is None and model.quasi_identifiers is None for model in self.models)

    @property
    def references(self) -> dict[str, Any]:
        """Per sensitive attribute: the FROM form of its distribution in the source."""
        return {
            name: render("release/stored_reference", table=table, facts=self.sets.facts[name].of_reference)
            for name, table in self.sets.references.items()
        }

    def examine(
        self,
        workspace: Workspace,
        table: Relation,
        columns: Mapping[str, Column],
        unit: str | None,
        mark: tuple[str, int] | None = None,
        counted: Relation | None = None,
    ) -> Examination:
        """What the classes of a written table achieve; ``unit``, ``mark`` and ``counted`` as in :class:`Subject`."""
        subject = Subject(
            table=table,
            columns=columns,
            quasi_identifiers=self.quasi_identifiers,
            references=self.references,
            facts=self.sets.facts,
            unit=unit,
            mark=mark,
            label_sizes=self._label_sizes,
            populations=self.populations | self._consistent(workspace, table, columns),
            counted=counted,
            count=count_of(self.spec, "checked"),
        )
        for name, people in self.sets.populations.items():
            labelled = self.populations[name]
            judged, there = workspace.row("frequency/population/sums", encoded=labelled, people=people)
            refuse_incomplete("release/population_labelled", judged, there, "persons of a population")
        return examine(workspace, subject, self.models)

    def _consistent(self, workspace: Workspace, table: Relation, columns: Mapping[str, Column]) -> dict[str, Sql]:
        """What its rows and the records of the source have of each other, read again from both, if asked for."""
        apart = workspace.apart("consistency_")
        found = consistent_with_source(apart, self.spec, self.models, table, columns, self.columns)
        return {frame: item.frame for frame, item in found.items()}

    @property
    def _label_sizes(self) -> LabelSizes | None:
        """Of the labels at the chosen levels; None where levels differ by class, and no requirement asks for widths."""
        return None if self.node is None else label_sizes(self.sets.lookups, [[level] for level in self.node])

    @property
    def populations(self) -> dict[str, Sql]:
        """Per population that a requirement compares with: the FROM form of it at the chosen levels."""
        if not self.sets.populations:
            return {}
        items = [
            {
                "label": exact_text(Sql(f"CAST(lookup{lookup.index}.l{level} AS VARCHAR)")),
                "table": lookup.table,
                "has_nulls": lookup.has_nulls,
            }
            for lookup, level in zip(self.sets.lookups, self.levels, strict=True)
        ]
        unit = self.spec.unit is not None
        return {
            name: render("release/population_labelled", people=people, items=items, unit=unit)
            for name, people in self.sets.populations.items()
        }
