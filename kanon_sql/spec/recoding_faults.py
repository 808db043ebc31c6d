"""What a recoding cannot be asked for together with the rest of a spec."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from kanon_sql.registers import RECODINGS
from kanon_sql.spec.checks import Fault, Loc, quote
from kanon_sql.spec.k_anonymity import KAnonymityRequirement

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = [
    "classify_faults",
    "level_faults",
    "recoding_faults",
    "why_not_parted",
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
            f"{spec.search.algorithm} cuts the domains into the same intervals for all rows, which is full-domain "
            f"recoding; with recoding: {spec.recoding.method}, leave it out"
        )
        yield Fault(("search", "algorithm"), why, True)
    if spec.ledger is not None:
        why = (
            f"a ledger recomputes earlier releases from one level per column, which recoding: {spec.recoding.method} "
            "does not have; with a ledger, use recoding: full_domain"
        )
        yield Fault(("ledger",), why, True)
    yield from spec.recoding.declared.faults(spec)
    if spec.recoding.resist is not None:
        yield from _resist_faults(spec)
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
        if not spec.recoding.declared.chooses_parents:
            *choosing, last = [other for other, declared in RECODINGS.items() if declared.chooses_parents]
            why = (
                f"{spec.recoding.method} needs one parent for each value; use recoding: {', '.join(choosing)} or "
                f"{last}, which choose one, or give each value one row"
            )
        elif spec.recoding.save_as is not None:
            why = (
                "the parents are chosen from the rows of this source, so the choice may not fit new rows; leave "
                "save_as out"
            )
        elif name in (spec.recoding.ranges or ()):
            why = "recoding.ranges releases this column as ranges, which have no parents; leave parents out"
        elif spec.search.of_intervals:
            why = f"{spec.search.algorithm} releases intervals, which have no parents; leave parents out"
        elif spec.ledger is not None or spec.release_view is not None:
            what = "a view" if spec.ledger is None else "a ledger"
            why = (
                f"the parents are chosen from the rows of one day, and {what} would generalize by those of another; "
                "give each value one row"
            )
        if why is not None:
            yield Fault(("quasi_identifiers", name, "parents"), why, True)


def _resist_faults(spec: Spec) -> Iterator[Fault]:
    """What a recoding cannot be asked for whose choices rule nothing out: what its proof does not cover."""
    what, options, why = "resist: refinement", spec.recoding, why_not_parted(spec, single=True)
    if why is not None:
        message = f"{what} is for one k_anonymity of rows over all quasi-identifiers, and {why}; leave resist out"
        yield Fault(("recoding", "resist"), message, True)
    if options.variant != "fast" or options.begins != "top":
        message = f"{what} is for variant: fast, begun at the top: the best of several attempts is a choice of its own"
        yield Fault(("recoding", "resist"), message, True)
    if options.ranges:
        yield Fault(("recoding", "ranges"), f"{what} is for cuts along hierarchies; leave ranges out", True)
    for name, column in spec.quasi_identifiers.items():
        if column.maximum_level is not None:
            message = f"{what} begins with one class of all rows; leave maximum_level out"
            yield Fault(("quasi_identifiers", name, "maximum_level"), message, True)


def _ranges_faults(spec: Spec, ranges: Sequence[str]) -> Iterator[Fault]:
    """Ranges of other columns, and limits of levels of these."""
    for place, name in enumerate(ranges):
        if name not in spec.quasi_identifiers:
            why = f"{quote(name)} is no quasi-identifier; only quasi-identifiers are recoded"
            yield Fault(("recoding", "ranges", place), why, True)
    if spec.recoding.variant == "bottom_up":
        why = (
            "bottom_up generalizes along the given hierarchies and builds no ranges (Wang, Yu, Chakraborty 2004); "
            "leave ranges out, or use variant: top_down"
        )
        yield Fault(("recoding", "ranges"), why, True)
    known = [name for name in ranges if name in spec.quasi_identifiers]
    yield from level_faults(spec, "recoding.ranges releases this column as ranges, not levels", known)


def why_not_parted(spec: Spec, *, single: bool = False) -> str | None:
    """Why rows that are alike cannot go to several classes: more is asked for than k-anonymity of rows.

    Args:
        spec: what is asked for.
        single: it also has to be one k-anonymity over all quasi-identifiers.
    """
    sizes = [item for item in spec.privacy if isinstance(item, KAnonymityRequirement)]
    others = [item.name for item in spec.privacy if item not in sizes]
    if others:
        return f"privacy also asks for {others[0]}"
    if single and len(sizes) > 1:
        return "privacy asks for several"
    if any(item.combinations is not None for item in sizes):
        return "privacy asks for combinations of columns"
    if any(item.k is None for item in sizes):
        return "privacy takes the k of each row from a column"
    if single and sizes[0].quasi_identifiers is not None:
        return "privacy asks for it over some of them"
    if spec.unit is not None:
        return "a unit counts persons, whose rows it would part"
    return None


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
        why = f"{quote(name)} is a quasi-identifier; name a column to predict from these, one of sensitive or keep"
    elif name not in {*spec.sensitive, *spec.keep}:
        why = f"{quote(name)} is not released, so it cannot be predicted; add it to sensitive or keep"
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
        why = f"the intervals of {spec.search.algorithm} are derived from the values of this source"
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
    if spec.recoding.resist is not None:
        return "resist: refinement parts rows that are alike, so it does not determine where new rows go; leave it out"
    if spec.recoding.variant == "relaxed":
        return (
            "relaxed splits equal rows by their number in this source, which does not determine where new rows go; "
            "use strict, or leave save_as out"
        )
    if spec.recoding.ranges:
        return (
            "the ranges of recoding.ranges end at values of this source, and do not cover the values between two "
            "ranges; leave save_as out, use mondrian, whose cuts divide all values, or leave ranges out"
        )
    labelled = [name for name in spec.quasi_identifiers if name not in (spec.recoding.columns or {})]
    if spec.recoding.declared.of_numbers and labelled:
        return (
            f"{method} can be saved only if it cuts every quasi-identifier, but {quote(labelled[0])} is released as a "
            "label; add it to recoding.columns, or leave save_as out"
        )
    return None
