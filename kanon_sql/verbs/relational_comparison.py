"""``compare`` for specs of several tables: what each of them, or each k, would lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from kanon_sql.engines import Engine, Reporter
from kanon_sql.spec import Document, KmAnonymity, RelationalSpec, Text, VerdictResult
from kanon_sql.verbs.compare import refuse_impossible_numbers
from kanon_sql.verbs.relational import RelationalResult, plan

__all__ = ["ComparedTables", "RelationalComparison", "compare"]


@dataclass(frozen=True, kw_only=True)
class ComparedTables(Document):
    """One run of a comparison.

    Attributes:
        name: the name of the spec.
        k: the k that was put in place of the spec's; None for its own.
        result: what ``plan`` prints.
    """

    name: str
    k: int | None
    result: RelationalResult

    @property
    def title(self) -> str:
        """The spec, with the k that was put in place of its own."""
        return self.name if self.k is None else f"{self.name}, k = {self.k}"


@dataclass(frozen=True, repr=False)
class RelationalComparison(VerdictResult):
    """Several specs of several tables, or k, side by side.

    Attributes:
        verb: ``compare``.
        verdict: ``pass`` where all of them could be released.
        message: how many of them could.
        runs: each of them, in the order in which they were asked for.
    """

    verb: Literal["compare"]
    verdict: Literal["pass", "fail"]
    message: Text
    runs: Sequence[ComparedTables]

    def _repr_html_(self) -> str:
        """What a notebook shows: the text."""
        return f"<pre>{escape(str(self))}</pre>"


def compare(
    engine: Engine,
    specs: Mapping[str, RelationalSpec],
    ks: Sequence[int] = (),
    *,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> RelationalComparison:
    """Plan several specs of several tables, and each of them for each k; publishes nothing.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        specs: by name.
        ks: each is put in place of the k of every ``km_anonymity``; empty for the specs' own.
        timeout: seconds for the statements of each run; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: a k is below 1 or given twice.
    """
    refuse_impossible_numbers("k", "--k 2,5,10", ks)
    runs = [
        ComparedTables(name=name, k=k, result=plan(engine, _with(spec, k), timeout=timeout, report=report))
        for name, spec in specs.items()
        for k in (ks or (None,))
    ]
    found = sum(run.result.passed for run in runs)
    verdict: Literal["pass", "fail"] = "pass" if found == len(runs) else "fail"
    return RelationalComparison("compare", verdict, f"{found} of {len(runs)} could be released", runs)


def _with(spec: RelationalSpec, k: int | None) -> RelationalSpec:
    if k is None:
        return spec
    privacy: tuple[Any, ...] = tuple(
        item.model_copy(update={"k": k}) if isinstance(item, KmAnonymity) else item for item in spec.privacy
    )
    return spec.model_copy(update={"privacy": privacy})
