"""Frequency sets: one pass over the source, then integer-coded tables that every node query reads.

raw       distinct vectors of values with their row counts (the only scan)
base      the vectors as codes, several quasi-identifiers in one number (see :mod:`kanon_sql.hierarchies.codes`)
values_j  vectors x values of sensitive attribute j
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.engines import Column, Workspace, refuse_incomplete
from kanon_sql.frequency.marginals import Marginals, counted_in, label_numbers
from kanon_sql.frequency.raw import Counting, Raw, read_source
from kanon_sql.frequency.value_facts import ValueFacts, value_facts_of, with_hierarchy
from kanon_sql.hierarchies import Codes, Lookup, build_lookups
from kanon_sql.models import PrivacyModel
from kanon_sql.search import Node
from kanon_sql.spec import Spec
from kanon_sql.sql import PORTABLE, Dialect, Relation, Sql, relation, render

__all__ = [
    "FrequencySets",
    "build_frequency_sets",
    "counted_attributes",
    "forgets_type",
    "holds_all",
    "known_vectors",
]

_NARROW = 2**31 - 1
"""The most that an INTEGER holds on every engine."""


@dataclass(frozen=True)
class FrequencySets:
    """Everything the evaluator needs.

    Attributes:
        lookups: one per quasi-identifier.
        codes: what the vectors are made of.
        base: the frequency set over the quasi-identifiers alone.
        values: per sensitive attribute with a privacy model: its frequency set.
        references: per such attribute: its values with their share of the source.
        facts: per such attribute: what else is known of its values.
        populations: per population that a privacy model compares with: its vectors of values, and those of the
            source with no row; its frequency set is among ``values``.
        population_size: per such population whose absent persons count: its persons.
        population_rows: the most rows of a population; 0 without any.
        known: per such attribute of which a requirement judges parts of classes: the columns of its frequency set that
            distinguish these, which are codes of the other sensitive attributes.
        counting: what a class counts.
        rows: rows of the source.
        null_rows: rows suppressed for a NULL quasi-identifier (``nulls: suppress``).
        persons: distinct persons, when the spec names a unit.
        kept_persons: those of them with a row that is not suppressed for a NULL.
        marginals: what was counted of labels for :func:`count_attributes`, by the tables that it was counted in.
    """

    lookups: Sequence[Lookup]
    codes: Codes
    base: Relation
    values: dict[str, Relation]
    references: dict[str, Relation]
    facts: dict[str, ValueFacts]
    populations: dict[str, Relation]
    population_size: dict[str, int]
    population_rows: int
    known: Mapping[str, Sequence[str]]
    counting: Counting
    rows: int
    null_rows: int
    persons: int | None
    kept_persons: int | None
    marginals: dict[object, Marginals] = field(default_factory=dict, compare=False, repr=False)

    @property
    def narrow(self) -> bool:
        """Whether every number of rows or persons surely fits 32 bits, since all of a table together do."""
        return max(self.rows, self.population_rows) <= _NARROW

    @property
    def kept_rows(self) -> int:
        """The rows that every node's classes divide among them."""
        return self.rows - self.null_rows

    def refuse_incomplete(self, statement: str, rows: Any, sizes: Any) -> None:
        """Stop where the classes that were judged do not hold every row and every person.

        Args:
            statement: the template that judged them.
            rows: the rows in all of them.
            sizes: what they count, added up; a person who has several vectors may be in several classes.

        Raises:
            InternalError: a person was not judged.
        """
        refuse_incomplete(statement, rows, self.kept_rows)
        if self.kept_persons is not None:
            several = self.counting == "unit"
            refuse_incomplete(statement, sizes, self.kept_persons, "persons", at_least=several)

    def keyed(self, node: Node) -> list[int]:
        """The quasi-identifiers that a node's classes are grouped by: those below their top."""
        return [lookup.index for lookup, level in zip(self.lookups, node, strict=True) if level < lookup.height]


def build_frequency_sets(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    columns: dict[str, Column],
    sensitive: Sequence[str],
    populations: Mapping[str, PopulationVectors] | None = None,
) -> FrequencySets:
    """Scan the source once and build every frequency set.

    Args:
        workspace: where to build them.
        spec: the quasi-identifiers, the unit, the treatment of NULL.
        models: the requirements.
        columns: the source's columns by name.
        sensitive: the sensitive attributes that a privacy model looks at.
        populations: the raw frequency tables of the populations that one compares with, by the models' frame.

    Raises:
        HierarchyError, SpecError: a hierarchy does not fit the data.
        UnsupportedError: a column's values are not all of one kind, or a requirement cannot judge rows without a
            person.
    """
    raw = read_source(workspace, spec, models, columns, sensitive)
    workspace.report("building the hierarchies' lookup tables", None)
    populations = populations or {}
    occurring = raw.table
    if populations:
        others = [population.table for population in populations.values()]
        occurring = known_vectors(workspace, raw.table, others, raw.quasi_identifiers)
    lookups = build_lookups(workspace, spec, columns, occurring, chooses=True)
    numbers = label_numbers(workspace, lookups)
    codes = Codes(numbers.widest)
    workspace.report("encoding the frequency sets", None)
    encoder = _Encoder(workspace, raw, lookups, codes, skip_nulls=spec.nulls == "suppress")
    values, references, facts = {}, {}, {}
    for index, name in enumerate(sensitive):
        known = with_hierarchy(workspace, spec, models, value_facts_of(models, columns[name]), index, raw.table)
        references[name], facts[name] = _reference(workspace, raw, index, known), known
    divides = {name: others_known(models, [name], spec.quasi_identifiers) for name in sensitive}
    for index, name in enumerate(sensitive):
        divided_by = {sensitive.index(other): references[other] for other in divides[name]}
        values[name] = encoder.values(index, references[name], facts[name], divided_by)
    people, population_size, population_rows = {}, {}, 0
    for index, (name, population) in enumerate(populations.items()):
        people[name] = workspace.table(f"people{index}")
        workspace.execute(
            "frequency/population/people",
            target=people[name],
            raw=raw.table,
            population=population.table,
            by_person=population.by_person,
            columns=raw.quasi_identifiers,
        )
        values[name] = encoder.population(index, people[name])
        judged, there = workspace.row("frequency/population/sums", encoded=relation(values[name]), people=people[name])
        refuse_incomplete("frequency/encode", judged, there, "persons of a population")
        population_rows = max(population_rows, int(there or 0))
        if any(model.frame == name and model.penalizes_missing_persons for model in models):
            (persons,) = workspace.row("frequency/population/size", people=people[name])
            population_size[name] = int(persons or 0)
    base = encoder.base()
    workspace.drop(raw.table)
    # Rows that are suppressed for a NULL have values beside it, which the lookup tables count and the base does not.
    are_all = spec.nulls != "suppress" or raw.null_rows == 0
    return FrequencySets(
        lookups=lookups,
        codes=codes,
        base=base,
        values=values,
        references=references,
        facts=facts,
        populations=people,
        population_size=population_size,
        population_rows=population_rows,
        known={name: [known_column(sensitive.index(other)) for other in own] for name, own in divides.items() if own},
        counting=raw.counting,
        rows=raw.rows,
        null_rows=raw.null_rows if spec.nulls == "suppress" else 0,
        persons=raw.persons,
        kept_persons=raw.kept_persons,
        marginals={counted_in(base, lookups): numbers.marginals} if are_all else {},
    )


def counted_attributes(spec: Spec, models: Sequence[PrivacyModel]) -> list[str]:
    """The columns beside the quasi-identifiers that frequency sets count the values of: sensitive ones, for the most.

    Args:
        spec: what is asked.
        models: its requirements.
    """
    known = others_known(models, spec.sensitive, spec.quasi_identifiers)
    named = [*(model.attribute for model in models), *known, *spec.inspected_columns]
    return list(dict.fromkeys(name for name in named if name is not None))


def others_known(models: Sequence[PrivacyModel], of: Container[str], names: Container[str]) -> list[str]:
    """The other sensitive attributes by which requirements on some divide classes.

    Args:
        models: the requirements.
        of: the attributes that they are on.
        names: the quasi-identifiers.
    """
    asked = [model.quasi_identifiers or () for model in models if model.others and model.attribute in of]
    return list(dict.fromkeys(name for own in asked for name in own if name not in names))


def known_column(index: int) -> str:
    """The column of a frequency set that has the codes of another sensitive attribute, by its number."""
    return f"known{index}"


def _reference(workspace: Workspace, raw: Raw, index: int, facts: ValueFacts) -> Relation:
    """The values of a sensitive attribute with their share of the source and what else is known of each."""
    reference = workspace.table(f"sensitive{index}")
    counts = render("frequency/counts", raw=raw.table, raw_column=f"v{index}", unit=raw.unit)
    workspace.execute(
        "frequency/sensitive",
        target=reference,
        value_facts=facts.value_facts(),
        value_counts=facts.value_counts(counts),
        marks=list(facts.marks(Sql("value")).items()),
    )
    facts.refuse_absent(facts.absent(workspace, reference, "found", Sql("value")))
    return reference


@dataclass(frozen=True)
class PopulationVectors:
    """The raw frequency table of a population.

    Attributes:
        table: a row per vector.
        by_person: a row per vector and person instead, who is its column ``person``.
    """

    table: Relation
    by_person: bool


@dataclass(frozen=True)
class _Encoder:
    """Writes frequency sets: vectors as codes of the lookup tables.

    Attributes:
        workspace: where to write them.
        raw: the source's vectors of values.
        lookups: one per quasi-identifier.
        codes: of these.
        skip_nulls: rows with a NULL quasi-identifier are suppressed.
    """

    workspace: Workspace
    raw: Raw
    lookups: Sequence[Lookup]
    codes: Codes
    skip_nulls: bool

    def base(self) -> Relation:
        """The classes alone."""
        return self._written("frequency")

    def values(self, index: int, reference: Relation, facts: ValueFacts, known: Mapping[int, Relation]) -> Relation:
        """With the values of a sensitive attribute, and those of others that are known; these by their numbers."""
        column = f"v{index}"
        sensitive = {"table": reference, "column": column, "facts": facts.all}
        others = [
            {"table": table, "column": f"v{other}", "name": known_column(other)} for other, table in known.items()
        ]
        columns = [column, *(f"v{other}" for other in known)]
        return self._written(f"values{index}", columns=columns, sensitive=sensitive, known=others)

    def population(self, index: int, people: Relation) -> Relation:
        """Of a population's vectors; anyone who has NULL there is one of those behind the top."""
        return self._written(
            f"present{index}", raw=people, counting="rows", of_population=self.raw.counting, skip_nulls=False,
            grouped=False,
        )  # fmt: skip

    def _written(self, what: str, columns: Sequence[str] = (), **changes: object) -> Relation:
        target = self.workspace.table(what)
        names = [*self.raw.quasi_identifiers, *columns]
        context: dict[str, object] = {
            "raw": self.raw.table,
            "grouped": set(names) == set(self.raw.grouped),
            "lookups": self.lookups,
            "codes": [Sql(word) for word in self.codes.vectors(PORTABLE, lambda index: f"lookup{index}")],
            "columns": names,
            "sensitive": None,
            "known": [],
            "counting": self.raw.counting,
            "of_population": None,
            "unit": self.raw.unit,
            "skip_nulls": self.skip_nulls,
            "ordered": self.workspace.dialect.orders_sets,
        }
        self.workspace.execute("frequency/encode", target=target, **{**context, **changes})
        return target


def known_vectors(
    workspace: Workspace, raw: Relation, populations: Iterable[Relation], names: Sequence[str]
) -> Relation:
    """The vectors of the source and of populations, of which hierarchies tell; those of the source with their rows."""
    target = workspace.table("known")
    workspace.execute(
        "frequency/population/known", target=target, raw=raw, populations=list(populations), columns=names
    )
    return target


def holds_all(workspace: Workspace, spec: Spec, columns: Mapping[str, Column], sets: FrequencySets) -> bool:
    """Whether a frequency set holds all that is released, in columns of which each has, or takes, the source's type.

    Args:
        workspace: where the release would be written.
        spec: what is released.
        columns: the source's columns by name.
        sets: the frequency sets.
    """
    dialect, others = workspace.dialect, {*spec.sensitive, *spec.keep}
    return (
        dialect.numbers_to("1") is not None
        and workspace.engine.scratch.mode != "inline"  # a query inside of another has no order
        and spec.unit is None
        and spec.count is None  # a row is written once, with its count
        and len(others) <= 1
        and all(name in sets.references for name in others)
        and all(_may_be_put_back(dialect, columns[name]) for name in others if forgets_type(dialect, columns[name]))
    )


def forgets_type(dialect: Dialect, column: Column) -> bool:
    """Whether a frequency set has values of a column without its type, and how that compares texts or takes NULL."""
    grouped_as_text = column.kind in ("text", "other") and column.type != dialect.exact_type
    return grouped_as_text or not dialect.stores_types


def _may_be_put_back(dialect: Dialect, column: Column) -> bool:
    """Whether a column of this type takes the values that a frequency set has of it, each as it was."""
    plain = column.known and column.labels is None and column.written == "one" and column.kind in ("text", "integer")
    return plain and dialect.typed
