"""``tabulate``: a table of counts or sums with its margins, in which no sensitive cell can be worked out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict

from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.errors import counted, refuse
from kanon_sql.frequency import source_of
from kanon_sql.hierarchies import level_names
from kanon_sql.release import Entry, is_perturbed, refuse_foreign_release
from kanon_sql.spec import (
    HIDDEN,
    ON_REQUEST,
    Count,
    Dimension,
    Document,
    Keywords,
    Nonnegative,
    Share,
    TableSpec,
    Text,
    VerdictResult,
)
from kanon_sql.tables import (
    ProtectedTable,
    addition_of,
    audited_jointly,
    comparable_tables,
    expanded,
    further_of,
    group_of,
    level_of,
    protected,
    publish_table,
    tabulated,
)
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.result import Budget, Cost, Warned
from kanon_sql.verbs.run import running
from kanon_sql.verbs.steps import DrawnSample, steps_dict
from kanon_sql.verbs.warnings import failed_by, named_like_identifiers

__all__ = [
    "NoiseSummary",
    "PublishedCell",
    "Tabulation",
    "manifest_summary",
    "names_of_levels",
    "published_cells",
    "tabulate",
]

LIKE_TOTALS = {"*", "all", "grand total", "overall", "sum", "total", "totals"}
"""Categories with such names may be rows of totals in the source."""

PERTURBED_SOURCE = "; the values of the source are perturbed, so no cell is true"
"""What the message of a table of a perturbed source says besides."""


@dataclass(frozen=True)
class PublishedCell(Document):
    """A cell as every reader may see it.

    Attributes:
        labels: its label per dimension; the spec's ``total_label`` for a total, None for NULL.
        levels: the level of each label; None for a total.
        value: its value, of a sample multiplied by the expansion; None where it is suppressed. Of decimals a number of
            no more than 15 digits, which is exact as it is written. With noise it may be negative.
        suppressed: whether it is suppressed.
        interval: for a suppressed cell, the least and the greatest value that it can have as far as every reader knows,
            the greatest one None where there is no end; None for other cells.
        count: beside a mean, how many rows or persons the cell has; None where it is suppressed.
        mean: its mean; None where its value or its count is suppressed.
        percent: its percentage of a margin; None where either is suppressed.
        hierarchies: of a dimension with several, the name of the one that the label belongs to; else None.
        error: with noise, how far the value is from the one without noise at most with a probability of 95 %; None
            without noise, and for margins of which that is not known.
    """

    labels: Sequence[str | None]
    levels: Sequence[Count | None]
    value: float | None
    suppressed: bool
    interval: tuple[Nonnegative, Nonnegative | None] | None
    count: Count | None = None
    mean: Nonnegative | None = None
    percent: Nonnegative | None = None
    hierarchies: Sequence[str | None] | None = field(default=None, metadata=ON_REQUEST)
    error: Count | None = field(default=None, metadata=ON_REQUEST)


class ExpandedSample(DrawnSample):
    """The sample that the table is made of.

    Attributes:
        fraction: the probability with which each value was drawn.
        by: the column whose values were drawn.
        repeatable: whether a secret of the user's decided, so that the same rows are drawn again.
        rows: rows of the source.
        drawn: those that were drawn; all other figures are of these.
        expansion: every value and interval was multiplied by this.
    """

    expansion: Annotated[int, Keywords(minimum=2)]


class NoiseSummary(TypedDict):
    """What noise guarantees, and the error to expect of it. None of it depends on the rows.

    Attributes:
        epsilon: what the table spends.
        delta: what the table spends; 0 where the noise needs none.
        protects: the column that identifies the protected persons; None for rows.
        contributions: in how many cells (with how many rows where rows are counted) each of them counts at most.
        bounds: of sums, of the amount of one of them in a cell.
        distribution: of the noise of each finest cell; all margins are sums of these.
        scale: of a Laplace distribution its scale, of a Gaussian one the root of its variance.
        standard_deviation: of the noise of a finest cell; that of a margin of n finest cells is this times the root of
            n.
        error: how large the noise of a finest cell is at most with a probability of 95 %.
        cells: whether all declared cells are published, or those that reach a threshold.
        threshold: the least noisy number of contributions of a published cell.
        nonnegative: whether negative values are published as 0.
        randomness: where the random numbers came from.
        ledger: the ledger that holds the budget.
        spent: by all releases of the ledger, this one included.
        total: the least total that any of them states.
    """

    epsilon: Annotated[float, Keywords(exclusiveMinimum=0)]
    delta: Share
    protects: str | None
    contributions: Count
    bounds: tuple[int, int] | None
    distribution: Literal["discrete Laplace", "discrete Gaussian"]
    scale: Annotated[float, Keywords(exclusiveMinimum=0)]
    standard_deviation: Nonnegative
    error: Count
    cells: Literal["declared", "threshold"]
    threshold: Count | None
    nonnegative: bool
    randomness: Literal["operating system"]
    ledger: str
    spent: Budget
    total: Budget


class Cells(TypedDict):
    """How many cells there are.

    Attributes:
        total: all of them.
        sensitive: those that a rule calls sensitive. Keep this to yourself as well: it tells which share of the
            suppressed cells has something to hide.
        suppressed: those that are left out.
    """

    total: Count
    sensitive: Count
    suppressed: Count


@dataclass(frozen=True, kw_only=True, repr=False)
class Tabulation(VerdictResult):
    """What ``tabulate`` prints: the table as every reader may see it.

    Attributes:
        verb: ``tabulate``.
        verdict: ``pass``, or ``fail`` where nothing may be published.
        truthful: whether the cells are those of true values, as far as is known: False where ``perturb`` published the
            source.
        message: the verdict in a sentence.
        release: the published table's name; None unless published.
        measured: what a cell says: ``rows``, ``persons``, ``estimate`` of a population, or the measure that is added
            up.
        further: what is published beside the values: ``count``, ``mean``, ``percent``.
        method: how sensitive cells are protected.
        dimensions: the table's dimensions, in order.
        levels: the levels that each dimension has in the table, none where only its total is left; coarser than in the
            spec where categories were collapsed.
        level_names: what these are called, in the same places.
        hierarchies: the names of the hierarchies of each dimension, none where it has one.
        rows: rows of the source; of a sample those that were drawn; None with noise, which hides that too.
        sample: the sample that the table is made of; None for all rows.
        noise: the noise, and what it guarantees; None without.
        cells: how many cells there are, how many a rule calls sensitive, and how many are left out.
        table: the cells as every reader may see them; empty where the verdict is ``fail``.
        cost: what the run asked of the database. The rows fetched are the cells, as they are.
        notes: what the user should know besides.
        warnings: risks that the verdict does not cover; each has a code, and a page.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> table = kanon_sql.TableSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "table",
        ...         "source": "visits",
        ...         "dimensions": {"zip": None},
        ...         "rules": {"threshold": 5},
        ...     }
        ... )
        >>> result = kanon_sql.tabulate(db, table)
        >>> result.passed, result.cells["suppressed"], result.table[0].labels, result.table[0].value
        (True, 0, ('*',), 600)
    """

    verb: Literal["tabulate"] = field(default="tabulate", init=False)
    verdict: Literal["pass", "fail"]
    truthful: bool = True
    message: Text
    release: str | None
    measured: Text
    further: Sequence[Text] = ()
    method: Literal[
        "suppression", "conventional_rounding", "random_rounding", "controlled_rounding", "collapsing", "noise"
    ]
    dimensions: Annotated[Sequence[Text], Keywords(minItems=1)]
    levels: Annotated[Sequence[Sequence[Count]], Keywords(minItems=1)]
    level_names: Annotated[Sequence[Sequence[Text]], Keywords(minItems=1)]
    hierarchies: Sequence[Sequence[Text]] = ()
    rows: Count | None
    sample: ExpandedSample | None = None
    noise: NoiseSummary | None = None
    cells: Cells
    table: Sequence[PublishedCell]
    cost: Cost
    notes: Sequence[Text] = ()
    warnings: Sequence[Warned] = ()
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)


def tabulate(
    engine: Engine,
    spec: TableSpec,
    *,
    preview: bool = False,
    timeout: float | None = None,
    report: Reporter | None = None,
    fail_on_warning: bool = False,
) -> Tabulation:
    """Tabulate counts or sums with their margins, and publish the table if nothing sensitive follows from it.

    Sensitive cells are found by the rules of the spec (threshold, (n,k) dominance, p-percent, pq, a least difference
    between margins and cells) and protected by suppression, rounding, or collapsing of categories; every one that is
    left is audited by linear or integer programs over the cells. The sources of each method stand in the reference of
    tables.

    Args:
        engine: from :func:`kanon_sql.connect`, with the right to write where the spec names a release.
        spec: what to tabulate.
        preview: publish nothing, although the spec names a release.
        timeout: seconds for the statements of the whole run; None for no limit.
        report: called with each stage in plain words.
        fail_on_warning: the verdict is ``fail``, and nothing is published, where there is a warning.

    Returns:
        The table as every reader may see it. The verdict is ``fail``, and nothing is published, where a sensitive cell
        could not be protected.

    Raises:
        SpecError: a column or an option does not fit the data, the table has too many cells, or something else stands
            under the release's name.
        VerificationError: what was written is not what may be published; it was dropped.
        UnsupportedError: the method needs scipy (the extra ``tables``), which is not installed.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> table = kanon_sql.TableSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "table",
        ...         "source": "visits",
        ...         "dimensions": {"zip": {"hierarchy": {"prefix": [4]}, "levels": [1]}},
        ...         "rules": {"threshold": 5},
        ...         "protection": {"method": "controlled_rounding", "base": 5},
        ...     }
        ... )
        >>> kanon_sql.tabulate(db, table).passed
        True
    """
    publishes = spec.release is not None and not preview
    refuse(obstacles(engine, spec, "tabulate", Options(preview=preview)))
    if spec.protection.noise is not None:
        from kanon_sql.verbs.noisy_table import noisy_tabulation

        return noisy_tabulation(engine, spec, timeout=timeout, report=report, fail_on_warning=fail_on_warning)
    with running(engine, timeout, report, publishes=spec if publishes else None) as run:
        with open_workspace(engine, source_of(engine, spec)) as workspace:
            if publishes:
                with engine.transaction():
                    refuse_foreign_release(workspace, spec)
            truthful = spec.source.table is None or not is_perturbed(engine, spec.source.table)
            found = tabulated(workspace, spec)
            workspace.report("protecting the sensitive cells", None)
            sample = _sample(engine, spec, found.rows)
            empty = None if found.rows or sample is None else "the sample is empty, so there are no cells"
            shielded = protected(spec, found.table, empty or found.failure, found.counts)
            entries: tuple[Entry, ...] = ()
            if spec.ledger is not None:
                entries = comparable_tables(workspace, spec)
                if shielded.failure is None:
                    shielded = audited_jointly(workspace, spec, found.spec, shielded, entries)
            notes = [
                *engine.read_notes,
                *found.notes,
                *_notes(spec, shielded, found.blank_rows, len(found.table.cells)),
            ]
            result = replace(_result(found.spec, shielded, found.rows, notes, publishes), sample=sample)
            if not truthful:
                result = replace(result, truthful=False, message=result.message + PERTURBED_SOURCE)
            warned = named_like_identifiers(spec, list(spec.dimensions))
            result = replace(result, warnings=warned)
            if result.passed and (why := failed_by(spec, warned, on_any=fail_on_warning)) is not None:
                message = f"nothing was published: {why}"
                result = replace(result, verdict="fail", release=None, message=message, table=())
            if publishes and result.passed:
                entered = None if spec.ledger is None else addition_of(workspace, spec, found.spec, entries)
                summary = manifest_summary(result)
                publish_table(workspace, spec, found.spec, shielded, summary, truthful=truthful, addition=entered)
        return run.closed(result)


def _result(spec: TableSpec, found: ProtectedTable, rows: int, notes: list[str], publishes: bool) -> Tabulation:
    passed = found.failure is None
    total = len(found.table.cells)
    if not passed:
        message = f"nothing was published: {found.failure}"
    else:
        done = "published" if publishes else "tabulated"
        what = "rounded" if spec.protection.rounds else f"{found.suppressed:,} of them suppressed"
        proven = (
            f"{counted(found.sensitive, 'sensitive cell')}, "
            f"{'which cannot' if found.sensitive == 1 else 'none of which can'} be derived"
        )
        message = f"{done} {counted(total, 'cell')}, {what}; {proven if found.sensitive else 'no cell is sensitive'}"
        if spec.protection.collapses:
            message = f"{done} {counted(total, 'cell')} of categories that were collapsed until none was sensitive"
        if spec.expansion > 1:
            message += f"; estimates from a random sample of one in {spec.expansion:,}"
    return Tabulation(
        verdict="pass" if passed else "fail",
        message=message,
        release=".".join(spec.release) if publishes and passed and spec.release is not None else None,
        measured=spec.measured,
        further=spec.further,
        method=spec.protection.method,
        dimensions=list(spec.dimensions),
        levels=[item.levels for item in spec.dimensions.values()],
        level_names=[names_of_levels(item) for item in spec.dimensions.values()],
        hierarchies=[list(item.hierarchies) for item in spec.dimensions.values()],
        rows=rows,
        cells={"total": total, "sensitive": found.sensitive, "suppressed": found.suppressed if passed else 0},
        table=published_cells(spec, found) if passed else (),
        cost=Cost(),
        notes=notes,
    )


def names_of_levels(item: Dimension) -> tuple[str, ...]:
    """What the levels of a dimension are called that have cells."""
    if item.merge is not None:
        return ("neighbours merged",) * len(item.levels)
    names = level_names(item.hierarchy, 1 + max(item.levels, default=0))
    return tuple(names[level] for level in item.levels)


def manifest_summary(result: Tabulation) -> dict[str, Any]:
    """What a manifest says: not how many of the suppressed cells are sensitive."""
    content = result.to_dict()
    cells = {name: content["cells"][name] for name in ("total", "suppressed")}
    found = {
        **{name: content[name] for name in ("measured", "further", "method", "dimensions", "levels", "warnings")},
        "cells": cells,
    }
    if result.noise is not None:
        found["noise"] = content["noise"]
    if result.sample is not None:  # neither how many rows there are nor how many were drawn: they may be suppressed
        found["sample"] = {name: content["sample"][name] for name in ("fraction", "by", "expansion")}
    return found


def _sample(engine: Engine, spec: TableSpec, drawn: int) -> ExpandedSample | None:
    """What the table is a sample of; None where it is of all rows."""
    steps = steps_dict(engine, spec, drawn)
    sample = None if steps is None else steps["sample"]
    return None if sample is None else {**sample, "expansion": spec.expansion}


def published_cells(spec: TableSpec, found: ProtectedTable) -> list[PublishedCell]:
    """The cells of a protected table as every reader may see them."""
    cells = []
    further = further_of(spec, found)
    several = any(item.hierarchies for item in spec.dimensions.values())
    for index, (cell, value) in enumerate(zip(found.table.cells, found.values, strict=True)):
        if value == 0 and spec.protection.rounds:
            continue
        interval = found.intervals[index] if value is None else None
        pairs = list(zip(spec.dimensions.values(), cell.key, strict=True))
        groups = [group_of(path) for path in cell.key]
        count = further["count"][index] if spec.mean else None
        low = None if interval is None else _number(spec, interval.low)
        cells.append(
            PublishedCell(
                labels=tuple(path[-1] if path else spec.total_label for path in cell.key),
                levels=tuple(level_of(item, path) for item, path in pairs),
                hierarchies=None if not several else tuple(None if group is None else group[0] for group in groups),
                value=_number(spec, value),
                suppressed=value is None,
                interval=None if interval is None or low is None else (low, _number(spec, interval.high)),
                count=None if count is None else int(count),
                error=found.errors[index] if found.errors else None,
                **{name: _float(further[name][index]) for name in ("mean", "percent") if name in further},
            )
        )
    return cells


def _number(spec: TableSpec, value: int | None) -> int | float | None:
    found = expanded(spec, value)
    return None if found is None else float(found) if spec.decimals else int(found)


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _like_totals(spec: TableSpec, found: ProtectedTable) -> list[str]:
    """The dimensions with a category that may be rows of totals."""
    return [
        name
        for place, name in enumerate(spec.dimensions)
        if any(LIKE_TOTALS & {str(label).casefold() for label in cell.key[place]} for cell in found.table.cells)
    ]


def _notes(spec: TableSpec, found: ProtectedTable, blank_rows: int, fetched: int) -> list[str]:
    what = "including small ones, to protect them outside the database"
    if spec.protection.collapses:
        what = (
            "none of which is sensitive by any rule; a reader who knows the rules can infer that finer tables had a "
            "sensitive cell"
        )
    notes = [f"{fetched:,} cells were fetched unprotected, {what}"] if fetched else []
    for name in _like_totals(spec, found):
        notes.append(
            f"dimensions.{name}: a category is named like a total; if the source has rows of totals, the margins count "
            "them twice: leave them out in a source query"
        )
    if blank_rows:
        notes.append(f"{blank_rows:,} rows have no amount and do not count as contributions")
    if found.joint is not None:
        notes.append(
            f"compared with {', '.join(found.joint.names)}: {counted(found.joint.added, 'more cell')} suppressed, so "
            "that subtracting cells of one table from those of another reveals no number below the threshold"
            + ("; differences of three tables are not looked for" if len(found.joint.names) > 1 else "")
        )
    if spec.further and any(value is None for value in found.values):
        notes.append(
            "a mean or percentage is published only where both of its numbers are, since it would give the other one"
        )
    if spec.weight is not None:
        notes.append("values are estimates, the sums of weights; all rules but 'population' apply to the sample")
    if spec.expansion > 1:
        notes.append(
            f"values are estimates, {spec.expansion:,} times the values of the sample, and cells without a sampled row "
            "are not listed; all rules, widths and bases apply to the sample, as if every reader knew its members. A "
            "second sample of the same rows would reveal more"
        )
    if spec.protection.seed is not None:
        notes.append(
            "the seed decides how cells are rounded: a reader who knows it can learn more about the true values"
        )
    if found.steps is not None and found.steps > 1:
        notes.append(
            f"some values were changed by up to {found.steps} multiples of the base, so that the margins add up"
        )
    if spec.protection.rounds:
        notes.append("cells that are rounded to 0 are left out, like empty cells")
    return notes
