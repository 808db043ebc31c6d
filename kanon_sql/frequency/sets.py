"""Frequency sets: one pass over the source, then integer-coded tables that every node query reads.

raw       distinct vectors of values with their row counts (the only scan)
base      the vectors as codes, several quasi-identifiers in one number (see :mod:`kanon_sql.hierarchies.codes`)
values_j  vectors x values of sensitive attribute j
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

from kanon_sql.engines import Column, Workspace
from kanon_sql.frequency.value_facts import Facts, facts_of, with_hierarchy
from kanon_sql.hierarchies import (
    Codes,
    Lookup,
    Widest,
    build_lookups,
    exact_texts,
    exact_value,
    refuse_blank_ends,
    refuse_mixed_forms,
)
from kanon_sql.models import Attribute, Counts, PrivacyModel
from kanon_sql.search import Node
from kanon_sql.spec import Spec
from kanon_sql.sql import PORTABLE, Relation, Sql, render, slot, source_relation

__all__ = [
    "Counting",
    "FrequencySets",
    "build_frequency_sets",
    "count_attributes",
    "holds_all",
    "raw_columns",
    "united",
    "widest_numbers",
]

Counting = Literal["rows", "persons", "unit"]
"""What a class counts: rows; persons, added up; or persons, counted distinct because one
person may have several quasi-identifier vectors."""


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
        counting: what a class counts.
        rows: rows of the source.
        null_rows: rows suppressed for a NULL quasi-identifier (``nulls: suppress``).
        persons: distinct persons, when the spec names a unit.
    """

    lookups: Sequence[Lookup]
    codes: Codes
    base: Relation
    values: dict[str, Relation]
    references: dict[str, Relation]
    facts: dict[str, Facts]
    populations: dict[str, Relation]
    counting: Counting
    rows: int
    null_rows: int
    persons: int | None

    def keyed(self, node: Node) -> list[int]:
        """The quasi-identifiers that a node's classes are grouped by: those below their top."""
        return [lookup.index for lookup, level in zip(self.lookups, node, strict=True) if level < lookup.height]


def raw_columns(spec: Spec, columns: dict[str, Column], sensitive: Sequence[str]) -> dict[str, Sql]:
    """The columns of the raw frequency table: name -> expression over the source."""
    table = "kanon_source"
    raw = {f"q{index}": exact_value(columns[name], table) for index, name in enumerate(spec.quasi_identifiers)}
    raw |= {f"v{index}": exact_value(columns[name], table) for index, name in enumerate(sensitive)}
    if spec.unit is not None:
        raw["unit"] = exact_value(columns[spec.unit], table)
    return raw


def build_frequency_sets(
    workspace: Workspace,
    spec: Spec,
    models: Sequence[PrivacyModel],
    columns: dict[str, Column],
    sensitive: Sequence[str],
    populations: Mapping[str, Relation] | None = None,
) -> FrequencySets:
    """Scan the source once and build every frequency set.

    Args:
        workspace: where to build them.
        spec: the quasi-identifiers, the unit, the treatment of NULL.
        models: the requirements.
        columns: the source's columns by name.
        sensitive: the sensitive attributes that a privacy model looks at.
        populations: the raw frequency tables of the populations that one compares with.

    Raises:
        HierarchyError, SpecError: a hierarchy does not fit the data.
        UnsupportedError: a column's values are not all of one kind, or a requirement cannot judge rows of nobody.
    """
    workspace.report("reading the source: one GROUP BY over the quasi-identifiers", None)
    grouped = [*spec.quasi_identifiers, *sensitive, *([] if spec.unit is None else [spec.unit])]
    texts = exact_texts([columns[name] for name in grouped], "checked")
    refuse_blank_ends(workspace, source_relation(), texts, "the source")
    expressions = raw_columns(spec, columns, sensitive)
    raw = workspace.table("raw")
    workspace.execute(
        "frequency/raw",
        target=raw,
        source=source_relation(),
        names=list(expressions),
        values=list(expressions.values()),
    )
    quasi = [f"q{index}" for index in range(len(spec.quasi_identifiers))]
    stored = {name: columns[source] for name, source in zip(expressions, grouped, strict=True)}
    refuse_mixed_forms(workspace, raw, stored, labelled=quasi, weighted=True)
    unit = None if spec.unit is None else "unit"
    totals = workspace.row("frequency/totals", raw=raw, columns=quasi, unit=unit)
    rows, null_rows, persons, most_vectors, unknown_rows = totals
    for model in models:
        if spec.unit is not None:
            model.refuse_unknown(int(unknown_rows or 0), spec.unit)
    workspace.report("building the hierarchies' lookup tables", None)
    populations = populations or {}
    occurring = raw if not populations else united(workspace, "known", raw, populations.values(), quasi, of_source=True)
    lookups = build_lookups(workspace, spec, columns, occurring)
    codes = Codes(widest_numbers(workspace, lookups))
    workspace.report("encoding the frequency sets", None)
    counting: Counting = "rows" if unit is None else "persons" if (most_vectors or 0) <= 1 else "unit"
    skip_nulls = spec.nulls == "suppress"

    def encode(what: str, sensitive_table: dict[str, object] | None, people: Relation | None = None) -> Relation:
        target = workspace.table(what)
        extra = [] if sensitive_table is None else [str(sensitive_table["column"])]
        workspace.execute(
            "frequency/encode",
            target=target,
            raw=raw if people is None else people,
            lookups=lookups,
            codes=[Sql(word) for word in codes.vectors(PORTABLE, lambda index: f"lookup{index}")],
            columns=quasi + extra,
            sensitive=sensitive_table,
            counting=counting if people is None else "rows",
            of_population=None if people is None else counting,
            unit=unit,
            skip_nulls=skip_nulls and people is None,  # whoever has NULL there is one of those behind the top
        )
        return target

    values, references, facts = {}, {}, {}
    for index, name in enumerate(sensitive):
        known = with_hierarchy(workspace, spec, models, facts_of(models, columns[name]), index, raw)
        reference = workspace.table(f"sensitive{index}")
        workspace.execute(
            "frequency/sensitive",
            target=reference,
            value_facts=known.value_facts(),
            value_counts=known.value_counts(render("frequency/counts", raw=raw, raw_column=f"v{index}", unit=unit)),
            marks=list(known.marks(Sql("value")).items()),
        )
        known.refuse_absent(known.absent(workspace, reference, "found", Sql("value")))
        references[name], facts[name] = reference, known
        values[name] = encode(f"values{index}", {"table": reference, "column": f"v{index}", "facts": known.all})
    peoples = {}
    for index, (name, table) in enumerate(populations.items()):
        people = united(workspace, f"people{index}", raw, [table], quasi, of_source=False)
        peoples[name] = people
        values[name] = encode(f"present{index}", None, people)
    base = encode("frequency", None)
    workspace.drop(raw)
    return FrequencySets(
        lookups=lookups,
        codes=codes,
        base=base,
        values=values,
        references=references,
        facts=facts,
        populations=peoples,
        counting=counting,
        rows=int(rows or 0),
        null_rows=int(null_rows or 0) if skip_nulls else 0,
        persons=None if unit is None else int(persons or 0),
    )


def widest_numbers(workspace: Workspace, lookups: Sequence[Lookup]) -> list[list[Widest]]:
    """Per lookup table and level, the largest numbers of its labels, for :class:`Codes` of any of these tables."""
    quote = workspace.compiler.quote
    branches = [
        workspace.compiler.filled(
            "frequency/widest",
            {
                "attribute": str(lookup.index),
                "level": str(level),
                "among_all": quote(f"c{level}"),
                # The highest level below the top is numbered among all of it: there is one parent.
                "among_siblings": quote(f"d{level}" if level + 1 < lookup.height else f"c{level}"),
                "lookup": workspace.quoted(lookup.table),
            },
        )
        for lookup in lookups
        for level in lookup.levels
    ]
    widest = {lookup.index: [Widest(0)] * lookup.height for lookup in lookups}
    if branches:
        for index, level, labels, siblings in workspace.query(workspace.compiler.union(branches), len(branches)):
            widest[int(index)][int(level)] = Widest(int(labels or 0), int(siblings or 0))
    return [widest[lookup.index] for lookup in lookups]


def united(
    workspace: Workspace, what: str, raw: Relation, populations: Iterable[Relation], names: Sequence[str], *,
    of_source: bool,
) -> Relation:  # fmt: skip
    """The vectors of the source and of populations, with the rows that one side has of them and none for the other."""
    target = workspace.table(what)
    workspace.execute(
        "frequency/with_populations",
        target=target,
        raw=raw,
        populations=list(populations),
        columns=names,
        of_source=of_source,
    )
    return target


def count_attributes(workspace: Workspace, sets: FrequencySets) -> Counts:
    """The numbers per quasi-identifier and level that metrics take their bounds from."""
    compiler = workspace.compiler
    sizes = render("frequency/sizes", code=slot("code"), size=slot("size"), table=slot("lookup"), name="label_size")
    branches = [
        compiler.filled(
            "frequency/marginals",
            {
                "attribute": str(lookup.index),
                "level": str(level),
                "frequency_code": sets.codes.code(lookup.index, level, compiler.dialect),
                "frequency": workspace.quoted(sets.base),
                "code": sets.codes.from_lookup(lookup.index, level, compiler.dialect),
                "size": compiler.quote(f"s{level}"),
                "lookup": workspace.quoted(lookup.table),
            },
            sizes=sizes,
        )
        for lookup in sets.lookups
        for level in lookup.levels
    ]
    found = {
        (attribute, level): (int(labels), int(covered or 0), int(largest or 1), float(row_log or 0.0))
        for attribute, level, labels, covered, largest, row_log in workspace.query(
            compiler.union(branches), len(branches)
        )
    }
    kept = sets.rows - sets.null_rows
    heaviest = max(lookup.quasi_identifier.weight for lookup in sets.lookups)
    attributes = []
    for lookup in sets.lookups:
        levels = [found[lookup.index, level] for level in lookup.levels]
        attributes.append(
            Attribute(
                height=lookup.height,
                weight=lookup.quasi_identifier.weight / heaviest if heaviest else 1.0,
                domain_rows=lookup.domain_rows,
                labels=[*(labels for labels, *_ in levels), 1],
                covered=[*(covered for _, covered, _, _ in levels), kept * lookup.domain_rows],
                largest=[*(largest for _, _, largest, _ in levels), lookup.domain_rows],
                row_log=[*(row_log for *_, row_log in levels), kept * log(kept) if kept else 0.0],
            )
        )
    return Counts(rows=sets.rows, null_rows=sets.null_rows, attributes=attributes)


def holds_all(workspace: Workspace, spec: Spec, columns: Mapping[str, Column], sets: FrequencySets) -> bool:
    """Whether a frequency set holds all that is released, with the types that the source's columns have.

    Args:
        workspace: where the release would be written.
        spec: what is released.
        columns: the source's columns by name.
        sets: the frequency sets.
    """
    dialect, others = workspace.compiler.dialect, {*spec.sensitive, *spec.keep}
    return (
        dialect.numbers_to("1") is not None
        and workspace.engine.scratch.mode != "inline"  # a query inside of another has no order
        and spec.unit is None
        and len(others) <= 1
        and all(name in sets.references for name in others)
        and all(columns[name].kind not in ("text", "other") or columns[name].type == "VARCHAR" for name in others)
    )
