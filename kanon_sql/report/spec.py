"""What a spec asks for, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from kanon_sql.models import label_of
from kanon_sql.relations import requirement_label
from kanon_sql.report.html import listed
from kanon_sql.report.layout import facts
from kanon_sql.report.words import plural
from kanon_sql.spec import (
    PERSON,
    CloakSpec,
    PerturbSpec,
    RelationalSpec,
    Source,
    Spec,
    Suppression,
    TableSpec,
    format_table_name,
)

__all__ = ["spec_text"]

AnySpec = Spec | TableSpec | PerturbSpec | CloakSpec | RelationalSpec


def spec_text(spec: AnySpec) -> RenderableType:
    """The source, the columns, what must hold, how it is reached, and the release.

    Args:
        spec: what to show; its ``to_yaml`` has all of it.
    """
    given = spec.redacted()
    if isinstance(spec, RelationalSpec):
        return facts(list(_of_several(spec, given)))
    if isinstance(spec, TableSpec):
        own = _of_table(spec, given)
    elif isinstance(spec, PerturbSpec):
        own = _of_perturbed(spec, given)
    elif isinstance(spec, CloakSpec):
        own = _of_positions(spec, given)
    else:
        own = _of_release(spec, given)
    release = spec.shown if isinstance(spec, Spec) else spec.release and format_table_name(spec.release)
    return facts([("source", _source(spec.source, given["source"])), *own, ("release", release or "none is named")])


def _of_release(spec: Spec, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if spec.unit is not None:
        yield "persons", spec.unit
    for place, (name, column) in enumerate(given["quasi_identifiers"].items()):
        yield "" if place else "quasi-identifiers", f"{name}: {listed(column) or 'the value, or nothing'}"
    for label, names in (("sensitive", spec.sensitive), ("kept", spec.keep)):
        if names:
            yield label, ", ".join(names)
    yield "requirements", ", ".join(map(label_of, spec.privacy)) or "none"
    yield "suppression", _suppression(spec.suppression)
    if spec.differential_privacy is None and spec.m_invariance is None:  # which choose levels and classes themselves
        yield "recoding", _recoding(spec)


def _of_several(spec: RelationalSpec, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, table in {PERSON: given[PERSON], **given["tables"]}.items():
        above = "" if name == PERSON else f", below {spec.tables[name].above}"
        yield name, f"{_source(spec.source_of(name), table['table']) if table['table'] is not None else name}{above}"
        for column, hierarchy in table["quasi_identifiers"].items():
            yield "", f"{column}: {listed(hierarchy) or 'the value, or nothing'}"
    for name, item in spec.items.items():
        yield (
            name,
            f"items in {item.table}.{item.column}: {listed(item.hierarchy.redacted()) or 'the value, or nothing'}",
        )
    yield "requirements", ", ".join(map(requirement_label, spec.requirements))
    yield "suppression", _written(given["suppression"])
    yield "recoding", spec.method
    yield "release", "none is named" if spec.release is None else f"in {format_table_name(spec.release.schema_)}"


def _of_table(spec: TableSpec, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if spec.unit is not None:
        yield "persons", spec.unit
    counted = spec.count or ("rows" if spec.unit is None else "persons")
    says = f"numbers of {counted}" if spec.measure is None else f"sums of {spec.measure}"
    yield "cells", ", ".join([says, *spec.further])
    if spec.weight is not None:
        yield "weights", spec.weight
    yield from _by_name("dimensions", given["dimensions"], "each value")
    yield "sensitive cells", _written(given["rules"])
    yield "protection", _written(given["protection"])
    if spec.ledger is not None:
        yield "ledger", format_table_name(spec.ledger.table)


def _of_perturbed(spec: PerturbSpec, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "key", spec.key
    yield from _by_name("perturbed", given["perturb"], "")
    if spec.keep:
        yield "kept", ", ".join(spec.keep)


def _of_positions(spec: CloakSpec, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "persons", spec.unit
    yield "position", _written(given["position"])
    if given["time"] is not None:
        yield "time", _written(given["time"])
    yield "requirements", f"k: {_written(given['k'])}, among the persons {spec.anonymity_set}"
    yield "suppression", _suppression(spec.suppression)
    if spec.keep:
        yield "kept", ", ".join(spec.keep)


def _by_name(label: str, parts: Mapping[str, Any], otherwise: str) -> Iterator[tuple[str, str]]:
    """A line for each column."""
    for place, (name, own) in enumerate(parts.items()):
        yield "" if place else label, f"{name}: {_written(own) or otherwise}"


def _written(value: Any) -> str:
    """A part of a spec on one line, without what it leaves empty."""
    if isinstance(value, Mapping):
        return ", ".join(
            key.replace("_", " ") if item is True else f"{key.replace('_', ' ')} {_written(item)}"
            for key, item in value.items()
            if item is not None and item is not False and item not in ({}, []) and key != "sha256"
        )
    return " ".join(map(_written, value)) if isinstance(value, list | tuple) else str(value)


def _source(source: Source, given: object) -> str:
    """A table by its name; a query or a file without what is not for others to read."""
    if source.table is not None:
        return format_table_name(source.table)
    if isinstance(given, dict):
        return "; ".join(f"{key}: {' '.join(str(value).split())}" for key, value in given.items())
    return "the table that is given"


def _recoding(spec: Spec) -> str:
    """The method; and for full-domain recoding, which node is searched for."""
    if not spec.recoding.is_full_domain:
        return spec.recoding.label
    return f"{spec.recoding.label}, {spec.search.algorithm} search for the lowest {spec.search.metric_label}"


def _suppression(asked: Suppression) -> str:
    """The most rows, and what becomes of them."""
    if asked.max_rows:
        most = f"at most {plural(asked.max_rows, 'row')}"
    elif asked.max_share:
        most = f"at most {100 * asked.max_share:g} % of the rows"
    else:
        return "no row"
    return f"{most}, {'left out' if asked.style == 'drop' else 'masked'}"
