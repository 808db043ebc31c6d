"""``compare``: several specs, k, recodings or numbers of columns side by side: what privacy costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import kanon_sql.verbs as verbs
from kanon_sql.engines import Engine, Reporter
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.evaluate import Budget
from kanon_sql.frequency import SetCache
from kanon_sql.models import models_of
from kanon_sql.objects import accepts_objects
from kanon_sql.spec import (
    Document,
    Positive,
    RecodingOptions,
    Spec,
    Utility,
    classify_faults,
    computed_faults,
    parse_recoding,
    recoding_faults,
)
from kanon_sql.verbs.plan import plan
from kanon_sql.verbs.result import Charted, Plan
from kanon_sql.verbs.run import running
from kanon_sql.verbs.several_tables import takes_several

__all__ = ["Compared", "Comparison", "compare", "refuse_impossible_numbers", "with_k"]

COMMON = "loss"
"""What runs are compared by when their specs search for different metrics."""

_OF_SIZES = "discernibility"
"""What is known of every recoding."""


@dataclass(frozen=True, kw_only=True)
class Compared(Document):
    """One run of a comparison.

    Attributes:
        name: the name of the spec.
        k: the largest k asked for; None where the spec asks for none.
        recoding: the recoding that was put in place of the spec's, such as ``local:best``; None where none was.
        columns: how many of the spec's quasi-identifiers were asked about, the first ones; None for all of them.
        dominated: whether another run has at least this k, loses no more and suppresses no more, and is better in
            one of the three. It is never true where either run asks for something besides k, or about other columns.
        reason: why the spec cannot have this; None where it can.
        result: what ``plan`` prints; None where the spec cannot have the recoding or so few columns.
    """

    name: str
    k: Positive | None
    recoding: str | None = None
    columns: Positive | None = None
    dominated: bool = False
    reason: str | None = None
    result: Plan | None

    @property
    def passed(self) -> bool:
        """Whether it was run, and found what meets its requirements."""
        return self.result is not None and self.result.passed

    @property
    def title(self) -> str:
        """The spec, with what was put in place of what it says."""
        columns = None if self.columns is None else f"{self.columns} column{'' if self.columns == 1 else 's'}"
        return ", ".join(part for part in (self.name, self.recoding, columns) if part is not None)


@dataclass(frozen=True, repr=False)
class Comparison(Charted, Document):
    """What ``compare`` prints: several plans side by side.

    Attributes:
        verb: ``compare``.
        metric: the metric that the runs are compared by; lower is better.
        passed: whether every run found what meets its requirements; those that a spec cannot have do not count.
        runs: one per spec, recoding, number of columns and k, in their order.
    """

    verb: Literal["compare"] = field(default="compare", init=False)
    metric: str
    passed: bool
    runs: Sequence[Compared]


@dataclass(frozen=True)
class _RequestedRun:
    """A run that was asked for; ``recoding`` and ``columns`` are None where the spec's own stay."""

    name: str
    spec: Spec
    recoding: RecodingOptions | None
    columns: int | None
    reason: str | None


@takes_several(lambda: verbs.relational_comparison.compare)
@accepts_objects
def compare(
    engine: Engine,
    specs: Mapping[str, Spec],
    ks: Sequence[int] = (),
    *,
    recodings: Sequence[str | Mapping[str, Any]] = (),
    columns: Sequence[int] = (),
    classify: str | None = None,
    timeout: float | None = None,
    budget: Budget | None = None,
    report: Reporter | None = None,
    kept: SetCache | None = None,
) -> Comparison:
    """Plan every spec, or every spec with every recoding, every number of columns and every k.

    Neighbouring runs that differ in nothing but k, the recoding, the suppression limit and the search share their
    frequency sets: only the first of them reads the source.

    Args:
        engine: from :func:`kanon_sql.connect`, where a read-only connection is enough; or a table or an open connection
            of the program's own.
        specs: name -> spec; or all of several tables, which take ``ks``, ``timeout`` and ``report`` alone.
        ks: values that replace the k of every spec. When empty, the specs are planned as they are.
        recodings: each is put in place of every spec's: ``full_domain``, ``local``, ``local:best``, or a mapping as in
            a spec. What a spec cannot have becomes a run with the reason. When empty, the specs keep theirs.
        columns: how many of every spec's quasi-identifiers to ask about, the first ones in their order: the more an
            attacker knows, the more detail it costs. When empty, all of them.
        classify: the column that a classifier is to tell from each release; None for what the specs say.
        timeout: seconds for each run; None for no limit.
        budget: when to end each search early.
        report: called with each stage in plain words.
        kept: frequency sets that other runs share as well; None to keep some for these runs.

    Returns:
        The runs in the order of the specs, of the recodings, of the columns and of k.

    Raises:
        SpecError: there is nothing to compare, a k, a recoding or a number of columns is impossible, or a spec whose k
            is to be replaced asks for no k_anonymity.
        UnsupportedError: no spec can have any of the recodings or of the columns.
        KanonError: whatever :func:`kanon_sql.plan` raises.

    Examples:
        >>> costs = kanon_sql.compare(db, {"visits": spec}, [8, 20, 50])
        >>> for run in costs.runs:
        ...     print(run.k, run.result.node, round(run.result.metrics["loss"], 3))
        8 {'age': 1, 'zip': 1} 0.146
        20 {'age': 2, 'zip': 1} 0.191
        50 {'age': 3, 'zip': 1} 0.276
    """
    if len(specs) * max(1, len(ks)) * max(1, len(recodings)) * max(1, len(columns)) < 2:
        raise SpecError(
            "compare: there is only one run; give more specs, or --k 2,5,10, or --recoding full_domain,local, or "
            "--columns 1,2,3"
        )
    refuse_impossible_numbers("k", "--k 2,5,10", ks)
    refuse_impossible_numbers("columns", "--columns 1,2,3", columns)
    if classify is not None:
        specs = {name: _with_utility(spec, classify, name) for name, spec in specs.items()}
    asked = _asked(specs, ks, recodings, columns)
    with running(engine, None), ExitStack() as opened:
        sets = opened.enter_context(SetCache(engine)) if kept is None else kept
        runs = [
            _compared(item, partial(plan, engine, timeout=timeout, budget=budget, report=progress, kept=sets))
            for item, progress in zip(asked, _numbered(report, len(asked)), strict=True)
        ]
    if all(run.result is None for run in runs):
        raise UnsupportedError(f"compare: none of the runs is possible: {runs[0].title}: {runs[0].reason}")
    metrics = {item.spec.search.metric_label for item in asked}
    metric = metrics.pop() if len(metrics) == 1 else COMMON
    for common in (COMMON, _OF_SIZES):  # local recoding has no node, micro-aggregation no domain values under a label
        if any(metric not in run.result.metrics for run in runs if run.result is not None and run.passed):
            metric = common
    alone = [
        all(model.judges_size and model.quasi_identifiers is None for model in models_of(item.spec)) for item in asked
    ]
    passed = all(run.passed for run in runs if run.reason is None)
    return Comparison(metric, passed, _marked(runs, alone, metric))


def refuse_impossible_numbers(what: str, option: str, numbers: Sequence[int]) -> None:
    """Refuse numbers to compare that are below 1 or given twice.

    Raises:
        SpecError: they are.
    """
    if any(given < 1 for given in numbers) or len(set(numbers)) < len(numbers):
        raise SpecError(f"compare: expected different whole numbers of at least 1 for {what}, such as {option}")


def _with_utility(spec: Spec, column: str, name: str) -> Spec:
    """The spec with a column that is to be told from its releases.

    Raises:
        SpecError: it does not release the column beside its quasi-identifiers.
    """
    made = spec.model_copy(update={"utility": Utility(classify=column)})
    if faults := list(classify_faults(made, column, ("--classify",))):
        raise SpecError(f"{name}: {faults[0].message}")
    return made


def _asked(
    specs: Mapping[str, Spec],
    ks: Sequence[int],
    recodings: Sequence[str | Mapping[str, Any]],
    columns: Sequence[int],
) -> list[_RequestedRun]:
    """Every spec with every recoding, every number of columns and every k.

    Raises:
        SpecError: a recoding is impossible or given twice, a spec has fewer columns, or a k cannot be put into it.
    """
    methods = [parse_recoding(written) for written in recodings]
    twice = {method.label for position, method in enumerate(methods) if method in methods[:position]}
    if twice:
        raise SpecError(f"compare: expected different recodings, got {', '.join(sorted(twice))} twice")
    wanted: Sequence[int | None] = ks or [None]
    tried: Sequence[RecodingOptions | None] = methods or [None]
    counts: Sequence[int | None] = columns or [None]
    asked = []
    for name, spec in specs.items():
        for method in tried:
            for count in counts:
                made, reason = _with_columns(
                    spec if method is None else spec.model_copy(update={"recoding": method}), count, name
                )
                asked += [_RequestedRun(name, with_k(made, k, name), method, count, reason) for k in wanted]
    return asked


def _with_columns(spec: Spec, count: int | None, name: str) -> tuple[Spec, str | None]:
    """The spec with its first N quasi-identifiers, and why what else it says cannot do without the others.

    Raises:
        SpecError: it has fewer.
    """
    if count is None:
        return spec, None
    names = list(spec.quasi_identifiers)
    if count > len(names):
        raise SpecError(f"{name}: --columns {count}: expected at most {len(names)}, the quasi-identifiers of the spec")
    chosen = {column: spec.quasi_identifiers[column] for column in names[:count]}
    made = spec.model_copy(update={"quasi_identifiers": chosen})
    try:
        Spec.from_dict(made.to_dict())
    except SpecError as error:
        return made, "; ".join(problem.message for problem in error.problems)
    return made, None


def _compared(asked: _RequestedRun, run: Callable[[Spec], Plan]) -> Compared:
    """One run; or why the spec cannot have what was put in place of what it says."""
    made = Compared(name=asked.name, k=_k_of(asked.spec), columns=asked.columns, result=None)
    if asked.recoding is not None:
        made = replace(made, recoding=asked.recoding.label)
        faults = [str(fault) for fault in (*recoding_faults(asked.spec), *computed_faults(asked.spec))]
        if faults:
            return replace(made, reason="; ".join(faults))
    if asked.reason is not None:
        return replace(made, reason=asked.reason)
    if asked.recoding is None:
        return replace(made, result=run(asked.spec))
    try:
        return replace(made, result=run(asked.spec))
    except UnsupportedError as error:
        return replace(made, reason="; ".join(str(error).splitlines()))


def _numbered(report: Reporter | None, runs: int) -> Iterator[Reporter]:
    """A reporter for each run, which says which one it is."""
    for number in range(1, runs + 1):

        def progress(stage: str, nodes: int | None = None, number: int = number) -> None:
            if report is not None:
                report(f"{number} of {runs}: {stage}", nodes)

        yield progress


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
            f"{name}: {others[0]} has its own k, which --k does not change; leave --k out, and give a spec for each k"
        )
    if not any(model.judges_size for model in models):
        raise SpecError(f"{name}: privacy has no k_anonymity for --k to change; add one, or leave --k out")
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
        assert result is not None
        return -(run.k or 0), round(result.metrics[metric], 12), result.rows["suppressed"] / result.rows["source"]

    comparable = [run for run, simple in zip(runs, alone, strict=True) if simple and run.passed]
    found = []
    for run in runs:
        dominated = any(run is item for item in comparable) and any(
            all(ours >= theirs for ours, theirs in zip(costs(run), costs(other), strict=True))
            and costs(run) != costs(other)
            for other in comparable
            if other.columns == run.columns
        )
        found.append(replace(run, dominated=dominated))
    return found
