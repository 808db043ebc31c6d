"""Recodings that are not full-domain: partitions of the frequency set, and what each is released as.

One state of partitions holds the vectors of open and of closed ones; a method advances all of them in rounds of a few
statements, and is one file that declares it. Whether a group of vectors satisfies is asked by the
class query that judges nodes and tables. At the end every vector has a class, and every class a label per column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.recode.paths import Path
from kanon_sql.recode.recoding_result import RecodingResult, RecodingSummary
from kanon_sql.recode.release import Mapped
from kanon_sql.recode.run import applied, recoded, recoding_obstacles

if TYPE_CHECKING:
    from kanon_sql.recode.cells import CellsResult
    from kanon_sql.recode.invariant import InvariantClasses, NoInvariantClasses, Past, invariant_classes
    from kanon_sql.recode.kept_recoding import KeptRecoding, hierarchies_of
    from kanon_sql.recode.numbers import amount_of, unit_of
    from kanon_sql.recode.sweep import sweeps_dear_classes

__all__ = [
    "CellsResult",
    "InvariantClasses",
    "KeptRecoding",
    "Mapped",
    "NoInvariantClasses",
    "Past",
    "Path",
    "RecodingResult",
    "RecodingSummary",
    "amount_of",
    "applied",
    "hierarchies_of",
    "invariant_classes",
    "recoded",
    "recoding_obstacles",
    "sweeps_dear_classes",
    "unit_of",
]

_HOME = {
    "CellsResult": "cells",
    "InvariantClasses": "invariant",
    "KeptRecoding": "kept_recoding",
    "NoInvariantClasses": "invariant",
    "Past": "invariant",
    "amount_of": "numbers",
    "hierarchies_of": "kept_recoding",
    "invariant_classes": "invariant",
    "sweeps_dear_classes": "sweep",
    "unit_of": "numbers",
}
"""What not every recoding needs, and the files that are imported where it is asked for."""

__getattr__ = imported_from(__name__, _HOME)
