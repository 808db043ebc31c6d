"""Secondary suppression: which other cells have to be left out, so that no margin gives a sensitive cell away.

The problem is that of Fischetti and Salazar (2000): few cells, chosen so that two tables exist that agree with what is
published and in which a sensitive cell is far enough apart. It is solved here one sensitive cell at a time, as CONFID
and its successors do (Robertson 1993; Kelly, Golden, Assad 1992): a program finds the cheapest cells to add to those
that are suppressed already. Then every cell that was added is tried again, and published where nothing needs it. The
pattern is good, and not always the smallest; whether it protects is for the audit to say.

In tables of sums the only contributor to a suppressed cell knows that cell. So all of this holds for each of
them as well (the singleton problem; Jewett 1993).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kanon_sql.tables.audit import Audit, Requirement, requirement_of
from kanon_sql.tables.proof import Proof, Reader, proven
from kanon_sql.tables.structure import CellTable

__all__ = ["Pattern", "readers", "suppression"]

MOST_EXACT = 150
"""Tables of more cells choose what to add by a linear relaxation, and the last step takes back what is too much."""


@dataclass(frozen=True)
class Pattern:
    """Which cells are left out, and the proof that these are enough.

    Attributes:
        table: the table.
        suppressed: the cells, by position.
        proofs: sensitive cell and reader -> the tables that show how much is left open; the proof is complete if every
            requirement holds by them.
        failed: sensitive cells that nothing could protect.
    """

    table: CellTable
    suppressed: frozenset[int]
    proofs: Mapping[tuple[int, Reader], Proof]
    failed: frozenset[int]


def suppression(table: CellTable, width: int) -> Pattern:
    """Choose the cells to leave out.

    Args:
        table: the cells, sensitive ones marked.
        width: how wide the feasible interval of a sensitive count must be.

    Returns:
        The pattern. If some cell could not be protected, ``failed`` says so, and nothing may be published.
    """
    search = _Search(table, width)
    search.grow()
    if not search.failed:
        search.shrink()
    return Pattern(table, frozenset(search.suppressed), search.proofs, frozenset(search.failed))


def readers(table: CellTable, suppressed: Collection[int], index: int) -> Iterator[Reader]:
    """The readers that a sensitive cell must be protected from.

    Every reader, and in tables of sums the only contributor to some suppressed cells, but for the one whose own
    contribution is to be protected.
    """
    yield ()
    contributors = {table.cells[item].contributor for item in suppressed} if table.sums else set()
    for contributor in sorted(contributors - {0, table.cells[index].contributor}):
        yield tuple(sorted(table.known_to(contributor)))


@dataclass
class _Search:
    """The pattern as it is."""

    table: CellTable
    width: int
    proofs: dict[tuple[int, Reader], Proof] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.sensitive = [index for index, cell in enumerate(self.table.cells) if cell.sensitive]
        self.suppressed = set(self.sensitive)

    def requirement(self, index: int, reader: Reader = ()) -> Requirement:
        return requirement_of(self.table, index, self.width, reader)

    # --- More cells ---

    def grow(self) -> None:
        """Suppress cells until every sensitive one is protected from every reader."""
        order = sorted(self.sensitive, key=lambda index: (-self.requirement(index).farthest, index))
        changed = True
        while changed and not self.failed:
            changed = False
            for index in order:
                for reader in list(readers(self.table, self.suppressed, index)):
                    if self._protected(index, reader):
                        continue
                    added = self._added(index, reader)
                    if added is None:
                        self.failed.add(index)
                        return
                    self.suppressed |= added
                    changed = True

    def _protected(self, index: int, reader: Reader) -> bool:
        """Whether the cells that are suppressed protect a sensitive one from a reader; if so, the proof is kept."""
        proof = self.proofs.get((index, reader)) or self._shared(index, reader)
        if proof is None:
            proof = proven(self.audit(), index, self.requirement(index, reader), reader)
        if proof is not None:
            self.proofs[index, reader] = proof
        return proof is not None

    def audit(self) -> Audit:
        """What every reader knows as the pattern stands."""
        return Audit.of_suppressed(self.table, self.suppressed)

    def _shared(self, index: int, reader: Reader) -> Proof | None:
        """Tables that prove it to every reader prove it to a reader whose cell is the same in them."""
        proof = self.proofs.get((index, ()))
        return None if proof is None or proof.moved & set(reader) else proof

    @cached_property
    def costs(self) -> Sequence[float]:
        """What leaving a cell out costs: the finest cells that it tells of, and of equal ones the larger costs more."""
        largest = 1 + max(cell.value for cell in self.table.cells)
        return [
            detail * (1 + cell.value / largest)
            for detail, cell in zip(self.table.detail, self.table.cells, strict=True)
        ]

    def _added(self, index: int, reader: Reader) -> set[int] | None:
        """The cheapest cells that together with those suppressed protect a cell; None if the program finds none."""
        least = 0 if self.table.sums else 1
        prices = {
            item: self.costs[item]
            for item, cell in enumerate(self.table.cells)
            if item not in self.suppressed and cell.value > least
        }
        audit = Audit.of_suppressed(self.table, self.suppressed | set(prices))
        exact = len(self.table.cells) <= MOST_EXACT
        proof = proven(audit, index, self.requirement(index, reader), reader, prices=prices, exact=exact)
        if proof is None:
            return None
        self.proofs[index, reader] = proof
        return set(proof.moved) - self.suppressed

    # --- Fewer cells ---

    def shrink(self) -> None:
        """Publish again what nothing needs, the most telling cells first."""
        added = self.suppressed - set(self.sensitive)
        for item in sorted(added, key=lambda index: (-self.costs[index], index)):
            self.suppressed.discard(item)
            touched = [key for key, proof in self.proofs.items() if item in proof.moved]
            before = {key: self.proofs.pop(key) for key in touched}
            if all(self._protected(index, reader) for index, reader in before):
                continue
            for key in touched:
                self.proofs.pop(key, None)
            self.proofs.update(before)
            self.suppressed.add(item)
