"""What the keys of a spec say together, and must not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kanon_sql.spec.checks import Fault
from kanon_sql.spec.computed import computed_faults
from kanon_sql.spec.counts import count_faults
from kanon_sql.spec.differential_privacy import differential_privacy_faults
from kanon_sql.spec.fields import table_name
from kanon_sql.spec.increments import state_faults
from kanon_sql.spec.k_anonymity import KAnonymityRequirement
from kanon_sql.spec.ledger import ledger_faults
from kanon_sql.spec.m_invariance import m_invariance_faults
from kanon_sql.spec.missing import missing_faults
from kanon_sql.spec.names import folded
from kanon_sql.spec.points import point_faults
from kanon_sql.spec.rare import rare_faults
from kanon_sql.spec.recoding_faults import classify_faults, level_faults, recoding_faults
from kanon_sql.spec.release_file import release_file_faults
from kanon_sql.spec.release_view import release_view_faults
from kanon_sql.spec.release_year import release_year_faults
from kanon_sql.spec.roles import requirement_faults, role_faults
from kanon_sql.spec.sections import Source
from kanon_sql.spec.steps import steps_faults
from kanon_sql.spec.weights import weight_faults

if TYPE_CHECKING:
    from kanon_sql.spec.model import Spec

__all__ = ["faults_between"]


def faults_between(given: Mapping[str, Any], value: Spec | None) -> Iterator[Fault]:
    """Faults of keys that are right by themselves.

    Args:
        given: the checked keys, and those that are not right as they are written.
        value: the spec; None where some key is not right.
    """
    yield from role_faults(given)
    yield from requirement_faults(given)
    yield from release_year_faults(given, value)
    source = given.get("source")
    if isinstance(source, Source | Mapping):
        source = source.table if isinstance(source, Source) else source.get("table")
    if _folded(given.get("release")) == _folded(source) is not None:
        yield Fault(("release",), "the release has the source's name and would replace it; choose another name")
    if value is not None and value.search.distance_vectors:
        others = [item.name for item in value.privacy if item.name != "k_anonymity"]
        if not others and any(
            isinstance(item, KAnonymityRequirement) and item.combinations is not None for item in value.privacy
        ):
            why = "the distance matrix compares whole rows, 'combinations' a few columns; leave distance_vectors out"
            yield Fault(("search", "distance_vectors"), why, True)
        if not others and any(item.grouped_by for item in value.privacy):
            why = (
                "the distance matrix needs classes by all quasi-identifiers, but a k_anonymity here names only some "
                "of them"
            )
            yield Fault(("search", "distance_vectors"), why, True)
        if others:
            why = f"the distance matrix decides only k_anonymity, but privacy also has {others[0]}"
            yield Fault(("search", "distance_vectors"), why, True)
        elif any(isinstance(item, KAnonymityRequirement) and item.k is None for item in value.privacy):
            why = (
                "the distance matrix needs a fixed k, but a k_anonymity here has the k of each row in a column; leave "
                "distance_vectors out"
            )
            yield Fault(("search", "distance_vectors"), why, True)
    if value is not None and not any(column.weight for column in value.quasi_identifiers.values()):
        yield Fault(("quasi_identifiers",), "every weight is 0; at least one must be above 0", True)
    if value is not None and value.search.classify is not None:
        yield from classify_faults(value, value.search.classify, ("search", "classify"))
        if value.recoding.method != "full_domain":
            why = "the metric classification needs one level per column; use recoding: full_domain"
            hint = ", or recoding: subtree with its own 'classify'" if value.recoding.classify is None else ""
            yield Fault(("search", "metric"), why + hint)
    if value is not None and value.search.prices is not None and value.recoding.method != "full_domain":
        why = "the metric publisher_payout needs one level per column; use recoding: full_domain"
        yield Fault(("search", "metric"), why)
    if value is not None and value.search.of_intervals:
        message = f"{value.search.algorithm} chooses intervals of the values, not levels"
        yield from level_faults(value, message, value.quasi_identifiers)
    if value is not None and value.ledger is not None:
        yield from ledger_faults(value)
    if value is not None:
        yield from recoding_faults(value)
        yield from differential_privacy_faults(value)
        yield from m_invariance_faults(value)
        yield from count_faults(value)
        yield from weight_faults(value)
        yield from missing_faults(value)
        yield from point_faults(value)
        yield from rare_faults(value)
        yield from computed_faults(value)
        yield from release_file_faults(value)
        yield from release_view_faults(value)
        yield from state_faults(value)
    if value is not None and value.utility is not None:
        yield from classify_faults(value, value.utility.classify, ("utility", "classify"))
    if value is not None and value.steps is not None:
        yield from steps_faults(value)


def _folded(written: object) -> tuple[str, ...] | None:
    """A table name to compare without case; None when it is not one."""
    try:
        return folded(table_name(written))
    except ValidationError:
        return None
