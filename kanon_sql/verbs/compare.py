"""``compare``: several specs, or one with several k, side by side: what privacy costs in detail and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engines import Deadline, Engine, Reporter
from kanon_sql.errors import SpecError
from kanon_sql.evaluate import Budget
from kanon_sql.frequency import KeptSets
from kanon_sql.models import models_of
from kanon_sql.spec import Spec
from kanon_sql.verbs.plan import plan
from kanon_sql.verbs.result import Result

__all__ = ["Compared", "Comparison", "compare", "with_k"]

COMMON = "loss"
"""What runs are compared by when their specs search for different metrics."""


@dataclass(frozen=True)
class Compared:
    """One run of a comparison.

    Attributes:
        name: the name of the spec.
        k: the largest k asked for; None where the spec asks for none.
        result: what ``plan`` says.
        dominated: whether another run has at least this k, loses no more and suppresses no more, and is better in
            one of the three. It is never true where either run asks for something besides k.
    """

    name: str
    k: int | None
    result: Result
    dominated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object."""
        return {"name": self.name, "k": self.k, "dominated": self.dominated, "result": self.result.to_dict()}


@dataclass(frozen=True)
class Comparison:
    """Several plans side by side.

    Attributes:
        metric: the metric that the runs are compared by; lower is better.
        runs: one per spec and k, in their order.
    """

    metric: str
    runs: Sequence[Compared]

    @property
    def passed(self) -> bool:
        """Whether every run found a generalization that meets its requirements."""
        return all(run.result.passed for run in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object."""
        return {"verb": "compare", "metric": self.metric, "runs": [run.to_dict() for run in self.runs]}


def compare(
    engine: Engine,
    specs: Mapping[str, Spec],
    ks: Sequence[int] = (),
    *,
    timeout: float | None = None,
    budget: Budget | None = None,
    report: Reporter | None = None,
) -> Comparison:
    """Plan every spec, or every spec with every k.

    Neighbouring runs that differ in nothing but k, the suppression limit and the search share their frequency sets:
    only the first of them reads the source.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        specs: name -> spec.
        ks: values that replace the k of every spec. When empty, the specs are planned as they are.
        timeout: seconds for each run; None for no limit.
        budget: when to end each search early.
        report: called with each stage in plain words.

    Returns:
        The runs in the order of the specs and of k.

    Raises:
        SpecError: there is nothing to compare, a k is impossible, or a spec whose k is to be replaced asks for no
            k_anonymity.
        KanonError: whatever :func:`kanon_sql.plan` raises.

    Examples:
        >>> costs = kanon_sql.compare(db, {"visits": spec}, [8, 20, 50])
        >>> for run in costs.runs:
        ...     print(run.k, run.result.node, round(run.result.metrics["loss"], 3))
        8 {'age': 1, 'zip': 1} 0.146
        20 {'age': 2, 'zip': 1} 0.191
        50 {'age': 3, 'zip': 1} 0.276
    """
    if len(specs) * max(1, len(ks)) < 2:
        raise SpecError("compare: there is one run, and nothing to compare it with; give more specs, or --k 2,5,10")
    if any(k < 1 for k in ks) or len(set(ks)) < len(ks):
        raise SpecError("compare: expected different whole numbers of at least 1 for k, such as --k 2,5,10")
    wanted: Sequence[int | None] = ks or [None]
    asked = [(name, with_k(spec, k, name)) for name, spec in specs.items() for k in wanted]
    with engine.run(Deadline(None)), KeptSets(engine) as kept:
        runs = [
            Compared(name, _k_of(spec), plan(engine, spec, timeout=timeout, budget=budget, report=said, kept=kept))
            for (name, spec), said in zip(asked, _numbered(report, len(asked)), strict=True)
        ]
    metrics = {spec.search.metric for spec in specs.values()}
    metric = metrics.pop() if len(metrics) == 1 else COMMON
    if any(metric not in run.result.metrics for run in runs if run.result.passed):
        metric = COMMON  # local recoding has no node, and some metrics are about one
    alone = [
        all(model.judges_size and model.quasi_identifiers is None for model in models_of(spec)) for _, spec in asked
    ]
    return Comparison(metric, _marked(runs, alone, metric))


def _numbered(report: Reporter | None, runs: int) -> Iterator[Reporter]:
    """A reporter for each run, which says which one it is."""
    for number in range(1, runs + 1):

        def said(stage: str, nodes: int | None = None, number: int = number) -> None:
            if report is not None:
                report(f"{number} of {runs}: {stage}", nodes)

        yield said


def with_k(spec: Spec, k: int | None, name: str = "spec") -> Spec:
    """The same spec with another k; None leaves it as it is.

    Raises:
        SpecError: it does not ask for k-anonymity, or also for something else with a k.
    """
    if k is None:
        return spec
    models = models_of(spec)
    own = [model for model in models if model.least_size is not None]
    others = [model.label for model in own if model.quasi_identifiers is not None or not model.judges_size]
    if others:
        raise SpecError(
            f"{name}: {others[0]} has a k of its own, which --k would leave as it is; leave --k out, and give a spec "
            "for each k"
        )
    if not any(model.judges_size for model in models):
        raise SpecError(f"{name}: privacy has no k_anonymity whose k could be changed; add one, or leave --k out")
    changed = tuple(
        item.model_copy(update={"k": k}) if model.judges_size else item
        for item, model in zip(spec.privacy, models, strict=True)
    )
    return spec.model_copy(update={"privacy": changed})


def _k_of(spec: Spec) -> int | None:
    own = [model for model in models_of(spec) if model.quasi_identifiers is None]
    return max((model.least_size for model in own if model.least_size is not None), default=None)


def _marked(runs: Sequence[Compared], alone: Sequence[bool], metric: str) -> list[Compared]:
    """The runs, those marked that another one is better than in every way."""

    def costs(run: Compared) -> tuple[float, float, float]:
        result = run.result
        return -(run.k or 0), round(result.metrics[metric], 12), result.rows["suppressed"] / result.rows["source"]

    comparable = [run for run, simple in zip(runs, alone, strict=True) if simple and run.result.passed]
    found = []
    for run in runs:
        dominated = any(run is item for item in comparable) and any(
            all(ours >= theirs for ours, theirs in zip(costs(run), costs(other), strict=True))
            and costs(run) != costs(other)
            for other in comparable
        )
        found.append(Compared(run.name, run.k, run.result, dominated))
    return found
