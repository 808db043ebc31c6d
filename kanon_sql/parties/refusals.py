"""What parties cannot do together, refused with the reason before anything crosses between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from kanon_sql.engines import Column
from kanon_sql.errors import Obstacle, SpecError, refuse
from kanon_sql.frequency import Prepared
from kanon_sql.models import PrivacyModel
from kanon_sql.parties.pooled import Demands
from kanon_sql.registers import QUALITY_METRICS, SEARCH_ALGORITHMS
from kanon_sql.spec import Spec

__all__ = ["demand_obstacles", "demands_of", "party_obstacles", "refuse_float_values", "refuse_other_columns"]


def party_obstacles(spec: Spec) -> Iterator[Obstacle]:
    """What is only known of a table that is in one place."""
    search = spec.search
    algorithm, metric = SEARCH_ALGORITHMS[search.algorithm], QUALITY_METRICS[search.metric]
    by_levels = [name for name, other in QUALITY_METRICS.items() if other.from_levels]
    by_counts = [name for name, other in QUALITY_METRICS.items() if other.from_counts]
    reasons = [
        (spec.unit is not None, "unit: a person with rows at several parties would be counted once at each; "
"leave unit out, and keep one row per person"),
        (not spec.recoding.is_full_domain, f"recoding: {spec.recoding.method} divides a table by its values, "
"which parties would have to exchange; use recoding: full_domain"),
        (spec.recoding.save_as is not None, "recoding.save_as: the saved recoding would be that of all parties; "
"leave it out"),
        (spec.release_view is not None, "release.view: a view reads the rows of one database; name a table"),
        (spec.state is not None, "state: a release that grows is one table of one database; leave it out"),
        (spec.ledger is not None, "ledger: releases are compared in one database; leave it out"),
        (spec.suppression.style == "mask", "suppression.style: mask makes one class of the rows that are suppressed "
         "at all parties; use style: drop"),
        (bool(spec.warnings.fatal), "warnings: parties do not exchange what warnings need, so none can be an "
"error; leave 'error' out"),
        (spec.source.file is not None, "source: one file would be read for every party; name a table, a view or a "
         "query that each party's database has"),
        (algorithm.by_labels, f"search.algorithm: {search.algorithm} needs the number of labels that occur, "
"which parties do not exchange; use optimal, samarati, incognito, exhaustive or "
"top_down"),
        (not algorithm.proves and not metric.from_levels, f"search.algorithm: {search.algorithm} would visit other "
"nodes than over one table: parties do not exchange the "
"number of labels that occur, which bounds the metric "
f"{search.metric}; use the metric "
f"{' or '.join(by_levels)}, or the algorithm optimal"),
        (search.of_intervals, f"search.algorithm: {search.algorithm} cuts domains between values, which parties "
"would have to exchange; use optimal, samarati, incognito or exhaustive"),
        (search.distance_vectors or search.variant != "basic", "search: distance_vectors and variant prepare tables in "
         "one database; leave them out"),
        (not metric.from_counts, f"search.metric: {search.metric} needs the counts of values, which parties "
f"would have to exchange; use {', '.join(by_counts[:-1])} or {by_counts[-1]}"),
    ]  # fmt: skip
    for name, column in spec.quasi_identifiers.items():
        never = column.hierarchy.never_among_parties
        reasons += [
            (never is not None, f"quasi_identifiers.{name}: {never}"),
            (column.as_ != "text", f"quasi_identifiers.{name}.as: the parties' parts are joined by their labels; "
"leave it out"),
            (column.parents == "several", f"quasi_identifiers.{name}: parents: several chooses parents by the rows of "
             "a table, and each party has others; give every value one parent"),
        ]  # fmt: skip
    for reason in (reason for applies, reason in reasons if applies):
        yield Obstacle(f"parties: {reason}")


def demand_obstacles(models: Sequence[PrivacyModel]) -> Iterator[Obstacle]:
    """Requirements that ask for something else than rows or different values, or for other classes."""
    for model in models:
        if not _asks_for_rows(model) and not _asks_for_values(model):
            yield Obstacle(
                f"parties: {model.label} is judged by values that parties would have to exchange, or by classes "
                "of other columns; parties can satisfy k_anonymity and distinct l_diversity over all "
                "quasi-identifiers together"
            )


def _asks_for_rows(model: PrivacyModel) -> bool:
    return _of_all_columns(model) and model.name == "k_anonymity" and model.least_size is not None


def _asks_for_values(model: PrivacyModel) -> bool:
    return _of_all_columns(model) and model.name == "distinct_l_diversity" and model.attribute is not None


def _of_all_columns(model: PrivacyModel) -> bool:
    return model.quasi_identifiers is None and not model.others


def demands_of(models: Sequence[PrivacyModel]) -> Demands:
    """What the requirements ask of a class.

    Raises:
        UnsupportedError: one asks for something else than rows or different values, or for other classes.
    """
    refuse(demand_obstacles(models))
    diversity = dict[str, int]()
    for model in filter(_asks_for_values, models):
        assert model.attribute is not None
        diversity[model.attribute] = max(int(model.parameters()["l"]), diversity.get(model.attribute, 0))
    sizes = [model.least_size for model in models if _asks_for_rows(model) and model.least_size is not None]
    return Demands(max(sizes, default=1), diversity)


def refuse_float_values(given: Sequence[Prepared], diverse: Collection[str]) -> None:
    """Refuse to count different values of binary fractions, which parties compare as text.

    One number may have several texts: a NaN has a sign in some databases, infinities and powers of ten are written
    differently, and what 32 bits hold has more digits in 64. A class would look more diverse than it is.

    Args:
        given: what each party has.
        diverse: the sensitive attributes whose different values are counted.

    Raises:
        SpecError: one of them is such a column.
    """
    for attribute in sorted(diverse):
        for party in given:
            column = party.columns.get(attribute)
            if column is not None and column.kind == "float":
                raise SpecError(
                    f"sensitive: {attribute}: the column is {column.type}, in which the same value may have "
                    "different texts and count twice; cast it to a decimal or a whole number in a view or a "
                    "source query"
                )


def refuse_other_columns(names: Sequence[str], given: Sequence[Prepared], diverse: Collection[str]) -> None:
    """Refuse tables whose labels would differ although their values do not.

    Labels that differ make rows look rarer than they are. Sensitive values that differ make a class look more diverse
    than it is, as 1 and 1.0 would: a false pass.

    Args:
        names: of the parties.
        given: what each has.
        diverse: the sensitive attributes whose different values are counted.

    Raises:
        SpecError: a column is of another kind at one of them, or its hierarchy has another height.
    """
    first = given[0]
    compared = [(f"quasi_identifiers.{lookup.name}", lookup.name, "labels") for lookup in first.sets.lookups]
    compared += [(f"sensitive: {attribute}", attribute, "texts and count twice") for attribute in sorted(diverse)]
    for name, other in zip(names[1:], given[1:], strict=True):
        for where, column, what in compared:
            one_kind, two_kind = first.columns[column], other.columns[column]
            if not _same_texts(one_kind, two_kind, exactly=column in diverse):
                raise SpecError(
                    f"{where}: the column is {one_kind.type} at {names[0]} and {two_kind.type} at "
                    f"{name}, so the same value may have different {what}; cast it in a view or a source query"
                )
        for one, two in zip(first.sets.lookups, other.sets.lookups, strict=True):
            if (one.height, one.top) != (two.height, two.top):
                raise SpecError(
                    f"quasi_identifiers.{one.name}: the hierarchy has {one.height} levels at {names[0]} and "
                    f"{two.height} at {name}; all parties need the same one"
                )


def _same_texts(one: Column, two: Column, *, exactly: bool) -> bool:
    """Whether equal values of two columns have one text.

    Args:
        one: of a party.
        two: of another.
        exactly: decimals have the same declared digits after the point too, without which 1.0 is not 1.00; and types
            that are compared as text are the same.
    """
    if one.kind != two.kind:
        return False
    if exactly and one.kind == "decimal":
        return _digits(one) is not None and _digits(one) == _digits(two)
    return one.scale == two.scale and (not exactly or one.kind != "other" or one.type == two.type)


def _digits(column: Column) -> int | None:
    """The digits after the point that a decimal's type has; None where each value has its own."""
    declared = re.search(r",\s*([0-9]+)\)+$", column.type)
    return column.scale if declared is None else int(declared.group(1))
