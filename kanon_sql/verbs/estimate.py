"""What a run would cost, asked of the engine before anything is read, and a limit on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Engine, Estimate, open_workspace
from kanon_sql.errors import TooExpensive, UnsupportedError
from kanon_sql.frequency import explained_if_missing, source_columns, source_of
from kanon_sql.objects import refuse_unread
from kanon_sql.spec import Displayed, Spec
from kanon_sql.verbs.run import running

__all__ = ["Estimated", "estimate", "refuse_beyond"]

SCANS = {"plan": 1, "anonymize": 2, "check": 1}
"""How often a verb reads the source while scratch tables can be made; inline it is once per statement."""

COPIES = 10
"""How often the rows are on disk at the same time, at most; once more for each sensitive attribute.

As vectors, as codes, in lookup tables, with the labels that verification compares, and in the sorts and hashes of one
statement. Measured, where nearly all rows differ and a server has little memory: 7 times with a sensitive attribute,
and 10 to 16 times with persons as well. ``tests/verbs/test_estimate.py`` measures it.
"""
OF_PERSONS = 8
"""How often more where persons are counted."""
LABEL = 16
"""Bytes that a label may have more than its value."""
COUNT = 8
"""Bytes of how many rows a vector has."""


@dataclass(frozen=True, repr=False)
class Estimated(Displayed):
    """What the engine expects one reading of the source to cost.

    Attributes:
        rows: rows that it expects to read; None when it does not say.
        bytes: bytes that it expects to read; None when it does not say.
        origin: where the figures come from, such as ``EXPLAIN``; empty when there are none.
        inline: whether every statement reads the source again, so that the cost has no simple bound.
        ledger: whether ``anonymize`` reads the source once more, to make the releases in the ledger again.
        temporary_bytes: disk that scratch tables and sorts take at most, about, which is where no two rows are the
            same, by full-domain recoding; None when it is not known. The release comes beside it.
    """

    rows: int | None
    bytes: int | None
    origin: str
    inline: bool
    ledger: bool = False
    temporary_bytes: int | None = None

    @property
    def scans(self) -> dict[str, int]:
        """How often each verb reads the source."""
        return {**SCANS, "anonymize": SCANS["anonymize"] + self.ledger}

    def total(self, verb: str) -> int | None:
        """Return the bytes that all readings of a verb take together; None when they are not known."""
        return None if self.bytes is None or self.inline else self.bytes * self.scans[verb]

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object."""
        return {
            "verb": "estimate",
            "rows": self.rows,
            "bytes": self.bytes,
            "origin": self.origin,
            "source_scans": None if self.inline else self.scans,
            "temporary_bytes": self.temporary_bytes,
        }


def estimate(engine: Engine, spec: Spec, *, timeout: float | None = None) -> Estimated:
    """Ask the engine what one reading of the columns that the spec needs would cost, and read no row.

    Args:
        engine: from :func:`kanon_sql.connect`.
        spec: the spec that names the source and its columns.
        timeout: seconds for the question; None for no limit.

    Returns:
        What the engine expects; figures that it does not give are None.

    Raises:
        SpecError: the spec names a column that the source does not have.

    Examples:
        >>> expected = kanon_sql.estimate(db, spec)
        >>> expected.rows, expected.scans["plan"], expected.scans["anonymize"]
        (600, 1, 2)
    """
    refuse_unread("estimate", spec)
    with running(engine, timeout):
        source = source_of(engine, spec)
        with open_workspace(engine, source) as workspace, explained_if_missing(engine, spec.source.table):
            columns = source_columns(workspace, spec, source)
        named = {*spec.quasi_identifiers, *spec.sensitive, *spec.keep, *([spec.unit] if spec.unit else [])}
        listed = ", ".join(engine.dialect.quote(name) for name in columns if name in named)
        found = engine.estimate(f"(SELECT {listed} FROM {source} AS kanon_source)")
    inline, ledger = engine.scratch.mode == "inline", spec.ledger is not None
    if found is None:
        return Estimated(None, None, "", inline, ledger)
    temporary = None if inline else _temporary(found, spec)
    return Estimated(found.rows, found.bytes, found.source, inline, ledger, temporary)


def _temporary(found: Estimate, spec: Spec) -> int | None:
    """The disk of scratch tables, and of one statement that sorts or hashes rows, where no two rows are the same."""
    if found.rows is None or found.bytes is None or found.row_overhead is None:
        return None
    if spec.recoding.method != "full_domain" or any("population" in str(item.to_dict()) for item in spec.privacy):
        return None  # neither was measured
    overhead = found.row_overhead + COUNT + LABEL * len(spec.quasi_identifiers)
    copies = COPIES + len(spec.sensitive) + (OF_PERSONS if spec.unit is not None else 0)
    return copies * (found.bytes + found.rows * overhead)


def refuse_beyond(engine: Engine, spec: Spec, verb: str, max_bytes: int) -> None:
    """Refuse a run that would read more than this many bytes of the source.

    Raises:
        TooExpensive: it would.
        UnsupportedError: the engine cannot tell, so the limit could not be kept.
    """
    found = estimate(engine, spec)
    total = found.total(verb)
    if total is None:
        why = (
            "every statement reads the source again in scratch mode inline"
            if found.inline
            else f"{engine.dialect.name} does not estimate bytes"
        )
        raise UnsupportedError(f"--set max_bytes cannot be checked here: {why}; leave it out")
    if total > max_bytes:
        raise TooExpensive(
            f"{verb} would read about {total:,} bytes of the source ({found.scans[verb]} x {found.bytes:,}, says "
            f"{found.origin}), more than the {max_bytes:,} allowed; nothing was read"
        )
