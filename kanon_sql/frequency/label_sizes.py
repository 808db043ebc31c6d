"""How many values of the domain the labels of a table stand for.

Labels are compared, as in :mod:`kanon_sql.frequency.meanings`, and nothing is asked about how the table was made. What
no level of a hierarchy is called by stands for an unknown number of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log

from kanon_sql.engines import Column, Workspace
from kanon_sql.errors import Obstacle, refuse
from kanon_sql.frequency.meanings import vectors_of, why_unlabelled
from kanon_sql.frequency.population import population_of
from kanon_sql.frequency.sets import known_vectors
from kanon_sql.hierarchies import Lookup, build_lookups
from kanon_sql.models import PrivacyModel
from kanon_sql.spec import Spec
from kanon_sql.sql import Sql, exact_text, identifier, literal, render, source_relation

__all__ = ["LabelSizes", "label_sizes", "sizes_in_domain", "width_obstacles"]


@dataclass(frozen=True)
class LabelSizes:
    """The sizes of the labels that a table may have.

    Attributes:
        sizes: quasi-identifier -> a query of ``code``, the label, and ``label_size``, the values that it stands for;
            where one is missing, its cells are values.
        domain: the logarithm of the vectors of the domain.
    """

    sizes: Mapping[str, Sql]
    domain: float


def label_sizes(lookups: Sequence[Lookup], levels: Sequence[Sequence[int]]) -> LabelSizes:
    """The sizes of the labels of some levels of each hierarchy.

    Args:
        lookups: the hierarchies.
        levels: of each of them; none where cells are values.
    """
    sizes = {}
    for lookup, own in zip(lookups, levels, strict=True):
        if own:
            sized = [
                (
                    exact_text(Sql(f"CAST(meant.l{level} AS VARCHAR)")),
                    literal(lookup.domain_rows) if level == lookup.height else identifier(f"s{level}"),
                )
                for level in own
            ]
            sizes[lookup.name] = render("frequency/label_sizes", lookup=lookup.table, levels=sized)
    return LabelSizes(sizes, fsum(log(lookup.domain_rows) for lookup in lookups))


def sizes_in_domain(
    workspace: Workspace, spec: Spec, models: Sequence[PrivacyModel], originals: Mapping[str, Column], *, raw: bool
) -> LabelSizes | None:
    """The sizes of the labels of every level, by the domain of the source and of the populations, as in a search.

    Args:
        workspace: where to look; inline, if nothing is to be created. Its scratch names must be free.
        spec: the quasi-identifiers and their hierarchies.
        models: the requirements.
        originals: the source's columns by name.
        raw: the table is the source, whose cells are values whatever they look like.

    Returns:
        None where no requirement asks how wide labels are.

    Raises:
        SpecError: the source lacks a quasi-identifier, or a population does not fit the spec.
        HierarchyError: a value has no row in its hierarchy.
        UnsupportedError: the spec's recoding has labels that no hierarchy tells the width of.
    """
    asked = [model for model in models if model.uses_label_width]
    if not asked:
        return None
    refuse(width_obstacles(spec, models))
    known = vectors_of(workspace, spec, source_relation(), originals, "the source", "records", asked[0].label)
    populations = [model for model in models if model.population is not None]
    others = [
        population_of(workspace, spec, model, originals).vectors(workspace, f"population{index}")
        for index, model in enumerate({model.frame: model for model in populations}.values())
    ]
    if others:
        known = known_vectors(workspace, known, others, [f"q{index}" for index, _ in enumerate(spec.quasi_identifiers)])
    columns = {name: originals[name] for name in spec.quasi_identifiers}
    lookups = build_lookups(workspace, spec, columns, known)
    return label_sizes(lookups, [[] if raw else range(lookup.height + 1) for lookup in lookups])


def width_obstacles(spec: Spec, models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """Labels of which no hierarchy says how wide they are, where a requirement asks for that."""
    asked, why = [model for model in models if model.uses_label_width], why_unlabelled(spec)
    if asked and why is not None:
        yield Obstacle(
            f"{asked[0].label}: {why}, so that how many values a label stands for is not known; use recoding: "
            "full_domain with hierarchies of one parent, or ask for no_attack"
        )
