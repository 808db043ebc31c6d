"""What a spec asks for, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from kanon_sql.models import label_of
from kanon_sql.report.html import listed
from kanon_sql.report.layout import facts
from kanon_sql.report.words import plural
from kanon_sql.spec import Spec, format_table_name

__all__ = ["spec_text"]


def spec_text(spec: Spec) -> RenderableType:
    """The source, the columns, the requirements, what may be suppressed, the recoding and the release.

    Args:
        spec: what to show; :meth:`kanon_sql.Spec.to_yaml` has all of it.
    """
    return facts(_facts(spec))


def _facts(spec: Spec) -> Iterator[tuple[str, str]]:
    given = spec.redacted()
    yield "source", _source(spec, given["source"])
    if spec.unit is not None:
        yield "persons", spec.unit
    for place, (name, column) in enumerate(given["quasi_identifiers"].items()):
        yield "" if place else "quasi-identifiers", f"{name}: {listed(column) or 'the value, or nothing'}"
    for label, names in (("sensitive", spec.sensitive), ("kept", spec.keep)):
        if names:
            yield label, ", ".join(names)
    yield "requirements", ", ".join(map(label_of, spec.privacy)) or "none"
    yield "suppression", _suppression(spec)
    if spec.differential_privacy is None and spec.m_invariance is None:  # which choose levels and classes themselves
        yield "recoding", _recoding(spec)
    yield "release", spec.shown or "none is named"


def _source(spec: Spec, given: object) -> str:
    """A table by its name; a query or a file without what is not for others to read."""
    if spec.source.table is not None:
        return format_table_name(spec.source.table)
    if isinstance(given, dict):
        return "; ".join(f"{key}: {' '.join(str(value).split())}" for key, value in given.items())
    return "the table that is given"


def _recoding(spec: Spec) -> str:
    """The method; and for full-domain recoding, which node is searched for."""
    if not spec.recoding.is_full_domain:
        return spec.recoding.label
    return f"{spec.recoding.label}, {spec.search.algorithm} search for the lowest {spec.search.metric_label}"


def _suppression(spec: Spec) -> str:
    """The most rows, and what becomes of them."""
    asked = spec.suppression
    if asked.max_rows:
        most = f"at most {plural(asked.max_rows, 'row')}"
    elif asked.max_share:
        most = f"at most {100 * asked.max_share:g} % of the rows"
    else:
        return "no row"
    return f"{most}, {'left out' if asked.style == 'drop' else 'masked'}"
