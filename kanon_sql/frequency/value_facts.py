"""What models ask of each value of a sensitive attribute, besides how often the reference has it.

A value's rank, its group in a hierarchy, whether a requirement lists it: facts that do not
depend on the class. They travel with the value's code as columns, so that no query about
classes needs a join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import SpecError
from kanon_sql.frequency.weights import weight_units
from kanon_sql.hierarchies import build_sensitive_lookup, value_text
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec
from kanon_sql.sql import Relation, Sql, exact_text, render

__all__ = ["ValueFacts", "measured_models", "placed", "value_facts_of", "with_hierarchy"]

_ORDERED = ("integer", "decimal", "float", "date", "timestamp", "moment")


@dataclass(frozen=True)
class ValueFacts:
    """The facts about the values of one sensitive attribute.

    Attributes:
        column: the attribute.
        names: the columns that hold facts of the reference.
        lists: a column that marks values -> these values, as text.
        numbers: a column that holds the values, which are whole numbers -> the number that stands for NULL.
        must_occur: those of ``lists`` of which every value has to occur.
        weighs: the values are sampling weights, and a column holds them in whole units.
        lookup: the table of its hierarchy, where a model uses one.
        levels: the height of that hierarchy; 1 without one.
        labels: those of an enumeration in the order of its type, by which its values are ranked; None for values that
            are ordered as such.
    """

    column: Column
    names: tuple[str, ...]
    lists: Mapping[str, tuple[str, ...]]
    must_occur: tuple[str, ...]
    numbers: Mapping[str, int] = field(default_factory=dict)
    weighs: bool = False
    lookup: Relation | None = None
    levels: int = 1
    labels: tuple[str, ...] | None = None

    @property
    def counted(self) -> bool:
        """Whether the number of values is a fact."""
        return "reference_values" in self.names

    @property
    def ranked(self) -> bool:
        """Whether ranks are facts."""
        return "value_rank" in self.names

    @property
    def group_levels(self) -> range:
        """The levels of the hierarchy whose groups are facts: between the values and the top."""
        return range(1, self.levels)

    @property
    def of_reference(self) -> list[str]:
        """All columns of facts that come from the reference."""
        groups = [name for level in self.group_levels for name in (f"group{level}", f"group_share{level}")]
        return [*self.names, *groups]

    @property
    def all(self) -> list[str]:
        """All columns of facts."""
        return [*self.of_reference, *self.lists, *self.numbers, *(["weight_units"] if self.weighs else [])]

    def value_facts(self) -> Sql:
        """The columns of facts, over :meth:`value_counts`."""
        return render("frequency/value_facts", facts=self)

    def value_counts(self, counts: Sql) -> Sql:
        """A FROM form of the values' counts with what their facts are made of; ``counts`` is a query of them."""
        place = placed(Sql("counts.value"), self.labels)
        return render("frequency/value_counts", facts=self, counts=counts, place=place)

    def label(self, value: Sql) -> Sql:
        """A value as it is compared with those that a requirement lists."""
        return exact_text(Sql(f"({value_text(self.column, value)})"))

    def marks(self, value: Sql) -> dict[str, Sql]:
        """The columns that mark listed values, and those of numbers, over any expression of the value."""
        label = self.label(value) if self.lists else value
        marks = {
            name: render("frequency/marked", label=label, values=list(values)) if values else Sql("0")
            for name, values in self.lists.items()
        }
        numbers = {
            name: render("frequency/personal_k", value=value, default=default) for name, default in self.numbers.items()
        }
        return {**marks, **numbers, **({"weight_units": weight_units(self.column, value)} if self.weighs else {})}

    def absent(self, workspace: Workspace, table: Relation, alias: str, value: Sql) -> int:
        """How many values to protect do not occur in a table.

        Args:
            workspace: where to look: one statement, and none where no value has to occur.
            table: the table.
            alias: its alias in ``value``.
            value: the expression of the attribute's value.
        """
        missing = 0
        for name in self.must_occur:
            (count,) = workspace.row(
                "frequency/occurring",
                table=table,
                alias=alias,
                wanted=len(set(self.lists[name])),
                label=self.label(value),
                marked=self.marks(value)[name],
            )
            missing += int(count)
        return missing

    def refuse_absent(self, missing: int) -> None:
        """Refuse values to protect that occur nowhere: misspelt, they would not be protected, and no one would know.

        Raises:
            SpecError: there are such values; it counts them.
        """
        if missing:
            raise SpecError(
                f"privacy: {missing} of the values to protect of {self.column.name!r} do not occur, so nothing "
                "would be protected; write values as the database shows them as text, and leave out unused ones"
            )


def placed(value: Sql, labels: Sequence[str] | None) -> Sql:
    """What values are ordered by: themselves, or the places of an enumeration's labels.

    Args:
        value: an expression of the value, as it is compared.
        labels: in the order of the type; None for other types.
    """
    return render("frequency/place", value=value, labels=list(labels)) if labels else value


def value_facts_of(models: Sequence[PrivacyModel], column: Column) -> ValueFacts:
    """The facts that some models ask of an attribute, all but its hierarchy.

    Raises:
        SpecError: ranks are asked of a column whose values have no order that means something, or the k of each row of
            one that does not hold whole numbers.
    """
    own = [model for model in models if model.attribute == column.name]
    if any(model.spans for model in own):
        _refuse_unordered(column)
    lists: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, int] = {}
    for model in own:
        lists |= model.lists
        numbers |= model.numbers
    if numbers and column.kind != "integer":
        raise SpecError(
            f"k_anonymity: column: expected a column of whole numbers, and {column.name!r} is {column.type}; cast it "
            "in a source query"
        )
    return ValueFacts(
        column=column,
        names=tuple(dict.fromkeys(name for model in own for name in model.needs_facts)),
        lists=lists,
        must_occur=tuple(name for model in own for name in model.must_occur),
        numbers=numbers,
        weighs=any(model.adds_up is not None for model in own),
        labels=column.labels,
    )


def with_hierarchy(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], facts: ValueFacts, index: int, raw: Relation
) -> ValueFacts:
    """The facts with those of the attribute's hierarchy, if a model uses one.

    Args:
        workspace: where to build its lookup table.
        spec: where its file is.
        models: the requirements.
        facts: of the attribute, without it.
        index: the attribute's values are the column ``v<index>`` of ``raw``.
        raw: a frequency table.

    Raises:
        HierarchyError, SpecError: the hierarchy does not fit the attribute's values.
    """
    for model in models:
        if model.attribute == facts.column.name and model.hierarchy is not None:
            lookup = build_sensitive_lookup(workspace, spec, facts.column, index, model.hierarchy, raw)
            return replace(facts, lookup=lookup.table, levels=lookup.height)
    return facts


def measured_models(models: Sequence[PrivacyModel], facts: Mapping[str, ValueFacts]) -> list[PrivacyModel]:
    """The models, now that the heights of their hierarchies are known."""
    return [
        model
        if model.attribute is None or model.hierarchy is None
        else model.with_levels(facts[model.attribute].levels)
        for model in models
    ]


def _refuse_unordered(column: Column) -> None:
    """Refuse ranks of texts and the like: their order depends on the engine and means nothing."""
    if column.kind in _ORDERED or column.labels:
        return
    if column.labels is not None:
        raise SpecError(
            f"t_closeness: distance: ordered needs the order of the labels of {column.name!r}, which the "
            f"database does not report for a query; convert them to numbers in a source query ({column.name} + "
            "0), or use distance: hierarchical"
        )
    raise SpecError(
        f"t_closeness: distance: ordered needs a number, a date or an enumeration, but {column.name!r} is "
        f"{column.type}; use distance: equal or hierarchical, or cast the column in a source query"
    )
