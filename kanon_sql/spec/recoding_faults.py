"""What a recoding cannot be asked for together with the rest of a spec."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from kanon_sql.declared import RECODINGS
from kanon_sql.spec.checks import Fault, Loc, quote
from kanon_sql.spec.k_anonymity import KAnonymityRequirement

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = [
    "aggregate_faults",
    "approximation_faults",
    "cells_faults",
    "classify_faults",
    "kk_faults",
    "level_faults",
    "mondrian_faults",
    "recoding_faults",
]


def recoding_faults(spec: Spec) -> Iterator[Fault]:
    """What a spec cannot have whose labels differ by class, or whose recoding is kept."""
    if spec.recoding.save_as is not None:
        yield from _keep_faults(spec)
    yield from _graph_faults(spec)
    if spec.recoding.is_full_domain:
        return
    if spec.search.of_intervals:
        why = (
            f"{spec.search.algorithm} cuts the domains into intervals for all rows alike, which is full-domain "
            f"recoding; with recoding: {spec.recoding.method}, leave it out"
        )
        yield Fault(("search", "algorithm"), why, True)
    if spec.ledger is not None:
        why = (
            f"a ledger makes earlier releases again from their levels, and with recoding: {spec.recoding.method} no "
            "level of a column would hold for all rows; with a ledger, use recoding: full_domain"
        )
        yield Fault(("ledger",), why, True)
    yield from spec.recoding.declared.faults(spec)
    if spec.recoding.ranges:
        yield from _ranges_faults(spec, spec.recoding.ranges)
    if spec.recoding.classify is not None:
        yield from classify_faults(spec, spec.recoding.classify, ("recoding", "classify"))


def _graph_faults(spec: Spec) -> Iterator[Fault]:
    """Values with several parents, where no parent is chosen, or where the choice would have to hold elsewhere too."""
    for name, column in spec.quasi_identifiers.items():
        if column.parents == "one":
            continue
        why = None
        if spec.recoding.method != "subtree":
            why = f"{spec.recoding.method} needs one parent for each value, and subtree alone chooses it"
        elif spec.recoding.save_as is not None:
            why = "the parents are chosen by the rows of this source, and others would choose others; leave save_as out"
        elif name in (spec.recoding.ranges or ()):
            why = "recoding.ranges releases ranges of its values, which have no parents; leave parents out"
        if why is not None:
            how = "" if spec.recoding.method == "subtree" else "; use recoding: subtree, or give each value one row"
            yield Fault(("quasi_identifiers", name, "parents"), f"{why}{how}", True)


def approximation_faults(spec: Spec) -> Iterator[Fault]:
    """What an approximation cannot promise: its factor is about rows, and it gives alike ones to several classes."""
    method = spec.recoding.method
    sizes = [item for item in spec.privacy if isinstance(item, KAnonymityRequirement)]
    others = [item.name for item in spec.privacy if item not in sizes]
    why = None
    if others:
        why = f"privacy also asks for {others[0]}"
    elif len(sizes) > 1:
        why = "privacy asks for several"
    elif sizes[0].k is None:
        why = "privacy takes the k of each row from a column"
    elif sizes[0].quasi_identifiers is not None:
        why = "privacy asks for it over some of them"
    elif spec.unit is not None:
        why = "a unit counts persons, whose rows it would part"
    if why is not None:
        message = (
            f"{method} promises its factor for one k_anonymity of rows over all quasi-identifiers, and {why}; use local"
        )
        yield Fault(("recoding", "method"), message, True)
    elif method == "matching" and sizes[0].k not in (2, 3):
        message = f"matching knows classes of k = 2 and k = 3, and privacy asks for {sizes[0].k}; use forest or cover"
        yield Fault(("recoding", "method"), message, True)
    for name, column in spec.quasi_identifiers.items():
        if column.maximum_level is not None:
            message = f"{method} goes up to the top wherever its rows differ; leave maximum_level out"
            yield Fault(("quasi_identifiers", name, "maximum_level"), message, True)


def kk_faults(spec: Spec) -> Iterator[Fault]:
    """What rows cannot promise that differ from each other: classes, and what is in them."""
    asked = [item for item in spec.privacy if item.name == "kk_anonymity"]
    others = [item.name for item in spec.privacy if item not in asked]
    variants = [getattr(item, "variant", None) for item in asked]
    why = None
    if others:
        why = f"{others[0]} is about classes of alike rows, which (k,k)-anonymous rows do not form; use recoding: local"
    elif len(asked) > 1:
        why = "privacy asks for several variants; ask for kk alone, with the largest k"
    elif variants[0] not in ("kk", "global_1k"):
        why = f"(k,k)-anonymous rows are released, and {variants[0]} is weaker; ask for variant: kk, which implies it"
    if why is not None:
        yield Fault(("recoding", "method"), f"kk releases rows for kk_anonymity alone: {why}", True)
    if spec.nulls == "suppress":
        message = (
            "with recoding: kk, a row that is left out may still be covered by some of the others, too few to hide it; "
            "use nulls: value, or leave such rows out of the source"
        )
        yield Fault(("nulls",), message, True)
    if spec.suppression.style == "mask":
        message = "recoding: kk counts which rows cover which records, and a masked row covers all; use style: drop"
        yield Fault(("suppression", "style"), message, True)


def mondrian_faults(spec: Spec) -> Iterator[Fault]:
    """Limits of levels; and what relaxed cannot promise: it divides alike rows, and says of none which way it goes."""
    yield from level_faults(spec, "mondrian releases ranges of the values, not levels", spec.quasi_identifiers)
    others = [item.name for item in spec.privacy if not isinstance(item, KAnonymityRequirement)]
    why = None
    if others:
        why = f"privacy also asks for {others[0]}"
    elif any(isinstance(item, KAnonymityRequirement) and item.k is None for item in spec.privacy):
        why = "privacy takes the k of each row from a column"
    elif spec.unit is not None:
        why = "a unit counts persons, whose rows it would part"
    if spec.recoding.variant == "relaxed" and why is not None:
        message = (
            f"relaxed divides rows that are alike, so it can promise k_anonymity of rows alone, and {why}; use strict"
        )
        yield Fault(("recoding", "variant"), message, True)


def _ranges_faults(spec: Spec, ranges: Sequence[str]) -> Iterator[Fault]:
    """Ranges of other columns, and limits of levels of these."""
    for place, name in enumerate(ranges):
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is no quasi-identifier; only they are recoded"
            yield Fault(("recoding", "ranges", place), why, True)
    if spec.recoding.variant == "bottom_up":
        why = (
            "bottom_up generalizes along hierarchies that are given, and finds no ranges (Wang, Yu, Chakraborty 2004); "
            "leave ranges out, or use variant: top_down"
        )
        yield Fault(("recoding", "ranges"), why, True)
    known = [name for name in ranges if name in spec.quasi_identifiers]
    yield from level_faults(spec, "recoding.ranges releases ranges of its values, not levels", known)


def level_faults(spec: Spec, message: str, among: Container[str] | None = None) -> Iterator[Fault]:
    """The limits of levels, where none is released: of all quasi-identifiers, or of those that are named."""
    for name, column in spec.quasi_identifiers.items():
        if among is not None and name not in among:
            continue
        for key in ("minimum_level", "maximum_level"):
            if getattr(column, key) != type(column).model_fields[key].default:
                yield Fault(("quasi_identifiers", name, key), f"{message}; leave {key} out", True)


def classify_faults(spec: Spec, name: str, place: Loc) -> Iterator[Fault]:
    """A column that cannot be what a classifier tells from the quasi-identifiers."""
    if name in spec.quasi_identifiers:
        why = f"{quote(name)} is a quasi-identifier; name a column that is told from them, one of sensitive or keep"
    elif name not in {*spec.sensitive, *spec.keep}:
        why = f"{quote(name)} is not released, so no reader can learn to predict it; add it to sensitive or keep"
    else:
        return
    yield Fault(place, why)


def _keep_faults(spec: Spec) -> Iterator[Fault]:
    """What cannot be applied to new rows, and names that are taken."""
    loc = ("recoding", "save_as")
    why = _why_not_kept(spec)
    if why is not None:
        yield Fault(loc, why, True)
    if spec.search.of_intervals:
        why = f"the intervals of {spec.search.algorithm} are made of the values that this source has"
        yield Fault(loc, f"{why}; leave save_as out, or use another algorithm", True)
    others = {"release": spec.release, "source": spec.source.table}
    others["ledger"] = None if spec.ledger is None else spec.ledger.table
    for what, name in others.items():
        if name is not None and name[-1].casefold() == spec.recoding.kept_in.casefold():
            yield Fault(loc, f"this is the name of the {what}; choose another one")


def _why_not_kept(spec: Spec) -> str | None:
    """Why a recoding cannot be applied to new rows, and what to do instead."""
    method, why = spec.recoding.method, spec.recoding.declared.not_kept
    if why is not None:
        others = ", ".join(name for name, other in RECODINGS.items() if other.not_kept is None)
        return f"{method} {why}; leave save_as out, or use one of {others}"
    if spec.recoding.variant == "relaxed":
        return (
            "relaxed divides rows that are alike, by how many of them this source has, so that nothing says where new "
            "ones go; use strict, or leave save_as out"
        )
    if spec.recoding.ranges:
        return (
            "the classes of recoding.ranges have ranges that begin and end with values of this source, and say nothing "
            "of those between two of them; leave save_as out, use mondrian, whose cuts divide all values, or leave "
            "ranges out"
        )
    labelled = [name for name in spec.quasi_identifiers if name not in (spec.recoding.columns or {})]
    if method == "microaggregation" and labelled:
        return (
            f"the cuts of microaggregation are kept where every quasi-identifier is cut, and {quote(labelled[0])} is "
            "released as a label; add it to recoding.columns, or leave save_as out"
        )
    return None


def cells_faults(spec: Spec) -> Iterator[Fault]:
    """Caps of other columns, and levels that are not the lowest."""
    for name in spec.recoding.caps or ():
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is no quasi-identifier; only their cells are suppressed"
            yield Fault(("recoding", "caps", name), why, True)
    if spec.recoding.variant == "minimum":
        for name, column in spec.quasi_identifiers.items():
            if column.maximum_level is not None and column.maximum_level != column.minimum_level:
                why = "with variant: minimum every column stays at its minimum level; leave maximum_level out"
                yield Fault(("quasi_identifiers", name, "maximum_level"), why, True)


def aggregate_faults(spec: Spec) -> Iterator[Fault]:
    """Aggregates of other columns, levels of those that are numbers, and masks where there are numbers."""
    named = spec.recoding.columns or {}
    for name in named:
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is no quasi-identifier; only their values are replaced by those of their class"
            yield Fault(("recoding", "columns", name), why, True)
    yield from level_faults(spec, "microaggregation releases a number, not a level", named)
    if spec.suppression.style == "mask":
        why = "a masked row has the text * in every quasi-identifier, and microaggregation releases numbers; use drop"
        yield Fault(("suppression", "style"), why, True)
