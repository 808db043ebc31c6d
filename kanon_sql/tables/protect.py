"""A table of cells, protected as its spec says, with the proof that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kanon_sql.errors import InternalError
from kanon_sql.spec import TableSpec, secret_in
from kanon_sql.tables.audit import Audit, Interval, requirement_of
from kanon_sql.tables.proof import Proof, Reader
from kanon_sql.tables.rounding import Rounded, controlled, conventional, randomly
from kanon_sql.tables.structure import CellTable
from kanon_sql.tables.suppress import Pattern, readers, suppression

__all__ = ["ProtectedTable", "protected"]


class JointProof(Protocol):
    """What a table and earlier ones tell together."""

    @property
    def names(self) -> Sequence[str]:
        """The earlier tables."""

    @property
    def added(self) -> int:
        """How many cells are suppressed because of them."""

    def unproven(self, values: Sequence[int | None]) -> int:
        """How many small numbers follow from what is published, as far as is proven."""


@dataclass(frozen=True)
class ProtectedTable:
    """What may be published of a table, or why nothing may.

    Attributes:
        table: the true cells.
        values: what is published of each cell; None where it is suppressed.
        audit: what every reader knows from that.
        intervals: what every reader can work out about each cell whose value is not published.
        proofs: sensitive cell and what a reader knows beforehand -> the two tables that show what stays open.
        failure: why nothing may be published, in words; None if it may.
        steps: for controlled rounding, by how many multiples of the base values may have been moved.
        counts: the protected counts beside sums; None where none are published.
        joint: what it tells together with earlier tables of its ledger; None where it was not compared.
        errors: for noise, how far each value is from the true one at most with a probability of 95 %; None where that
            is not known.
    """

    table: CellTable
    values: Sequence[int | None]
    audit: Audit
    intervals: Mapping[int, Interval]
    proofs: Mapping[tuple[int, Reader], Proof]
    failure: str | None
    steps: int | None = None
    counts: ProtectedTable | None = None
    joint: JointProof | None = None
    errors: Sequence[int | None] = ()

    @property
    def suppressed(self) -> int:
        """Cells that are left out."""
        return sum(value is None for value in self.values)

    @property
    def sensitive(self) -> int:
        """Cells that some rule calls sensitive."""
        return sum(cell.sensitive for cell in self.table.cells)


def protected(
    spec: TableSpec, table: CellTable, failure: str | None = None, counts: CellTable | None = None
) -> ProtectedTable:
    """Protect the sensitive cells of a table.

    Sums and the counts beside them are protected each by itself: no sum of cells of the one is a cell of the other, and
    a mean is published only of cells that both publish, so that it says no more.

    Args:
        spec: says how.
        table: the cells.
        failure: why no protection can help; None if one may.
        counts: the counts of the same cells, where these are published too.

    Raises:
        InternalError: a table whose categories were collapsed has a sensitive cell.
        UnsupportedError: scipy is needed, and not installed.
        SpecError: the key of random rounding is not there.
    """
    if failure is None and not table.cells:
        failure = "the source has no rows, so there are no cells"
    if failure is not None:
        return ProtectedTable(table, [], Audit(table, [], []), {}, {}, failure)
    if counts is not None:
        both = protected(spec, table), protected(spec, counts)
        return replace(both[0], counts=both[1], failure=both[0].failure or both[1].failure)
    if spec.protection.collapses:
        return _as_is(table)
    if not spec.protection.rounds:
        return _suppressed(table, suppression(table, spec.width))
    rounded = _rounded(spec, table)
    if rounded is None:
        failure = "no controlled rounding was found in which all margins add up; use another base, or suppression"
        return ProtectedTable(table, [], Audit(table, [], []), {}, {}, failure)
    return _audited(table, rounded)


def _as_is(table: CellTable) -> ProtectedTable:
    """Every cell as it is, since no rule objects to any."""
    if any(cell.sensitive for cell in table.cells):
        raise InternalError("internal error in tables/sensitive: a collapsed table has a sensitive cell")
    values = [cell.value for cell in table.cells]
    return ProtectedTable(table, values, Audit(table, values, values), {}, {}, None)


def _suppressed(table: CellTable, pattern: Pattern) -> ProtectedTable:
    values = [None if index in pattern.suppressed else cell.value for index, cell in enumerate(table.cells)]
    audit = Audit.of_suppressed(table, pattern.suppressed)
    failure = None
    if pattern.failed:
        failure = "no cells were found whose suppression protects every sensitive cell; group categories by a hierarchy"
        return ProtectedTable(table, values, audit, {}, {}, failure)
    intervals = {index: audit.interval(index) for index in audit.open}
    return ProtectedTable(table, values, audit, intervals, pattern.proofs, failure)


def _rounded(spec: TableSpec, table: CellTable) -> Rounded | None:
    protection = spec.protection
    assert protection.base is not None
    base = protection.base * spec.scale
    if protection.method == "conventional_rounding":
        return conventional(table, base)
    if protection.method == "controlled_rounding":
        return controlled(table, base)
    return randomly(table, base, _key(spec))


def _key(spec: TableSpec) -> bytes:
    """What decides the directions of random rounding."""
    if spec.protection.seed is not None:
        return str(spec.protection.seed).encode()
    name = spec.protection.key_variable
    assert name is not None
    return secret_in(name, "protection.key_variable").encode()


def _audited(table: CellTable, rounded: Rounded) -> ProtectedTable:
    """See that nothing determines a sensitive cell: every count could be another, every sum far enough away."""
    proofs: dict[tuple[int, Reader], Proof] = {}
    determined = 0
    for index, cell in enumerate(table.cells):
        if not cell.sensitive:
            continue
        for reader in readers(table, range(len(table.cells)), index):
            interval = rounded.audit.interval(index, reader)
            proofs[index, reader] = Proof(interval.down, interval.up)
            if not requirement_of(table, index, 1, reader).of(index, interval.down, interval.up):
                determined += 1
                break
    failure = None if any(rounded.values) else "every cell is rounded to 0; use a smaller base"
    if determined:
        what = "can be estimated too closely" if table.sums else "can be computed exactly"
        failure = (
            f"{determined:,} sensitive cells {what} from the rounded table; use a larger base, controlled_rounding, or "
            "suppression"
        )
    return ProtectedTable(table, list(rounded.values), rounded.audit, {}, proofs, failure, rounded.steps)
