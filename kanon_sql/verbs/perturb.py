"""``perturb``: publish rows whose values are untrue on purpose, with what that costs and what it protects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypedDict

from kanon_sql.engines import Engine, Reporter, open_workspace
from kanon_sql.errors import refuse
from kanon_sql.frequency import source_of
from kanon_sql.perturbation import (
    Correlation,
    Frequencies,
    Linked,
    MaskedTable,
    Moments,
    Utility,
    linked,
    masked,
    publish_perturbed,
    shift_note,
    utility_of,
)
from kanon_sql.release import refuse_foreign_release
from kanon_sql.spec import HIDDEN, Count, Keywords, Names, Nonnegative, PerturbSpec, Share, Text, VerdictResult
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.result import Cost, Warned
from kanon_sql.verbs.run import running
from kanon_sql.verbs.warnings import failed_by, named_like_identifiers

__all__ = ["Perturbation", "perturb"]

_PERTURBED = (
    "perturbed on purpose: this release is not k-anonymous and cannot be checked for any privacy model; the "
    "perturbation protects it, and record linkage measures how well"
)


class MaskedValues(TypedDict):
    """What was done to the values of a released column.

    Attributes:
        method: how they were masked; ``kept`` where they are as they are.
        changed: rows with another value than the true one.
    """

    method: Literal["noise", "rank_swap", "swap", "pram", "shift", "kept"]
    changed: Count


class MaskedUtility(TypedDict):
    """Statistics of the source and of the release. Columns with fewer than ten values have none.

    Attributes:
        moments: of columns of numbers whose values are untrue.
        correlations: of pairs of columns of numbers, one of them untrue at least.
        frequencies: of columns of categories whose values are untrue.
    """

    moments: Sequence[Moments]
    correlations: Sequence[Correlation]
    frequencies: Sequence[Frequencies]


class Linkage(TypedDict):
    """Record linkage by distance: each released row is taken to be the record whose true values are nearest.

    Attributes:
        columns: whose true values the attacker knows.
        looked_at: released rows that were looked at.
        records: records of the source.
        found: rows that are expected to be found; one of n that are as near counts 1/n.
        share: the same as a share of those looked at.
        certain: rows with no other record as near as their own.
        guessed_share: the share that guesses find.
        most: the largest share that the spec allows; None where it says nothing.
    """

    columns: Names
    looked_at: Count
    records: Count
    found: Nonnegative
    share: Share
    certain: Count
    guessed_share: Annotated[float, Keywords(exclusiveMinimum=0, maximum=1)]
    most: Share | None


@dataclass(frozen=True, repr=False)
class Perturbation(VerdictResult):
    """What ``perturb`` prints: what was made untrue, what that costs, and how many rows it protects from being found.

    Attributes:
        verb: ``perturb``.
        verdict: ``perturbed``: masked as asked, which promises no anonymity; ``fail`` where linkage finds more rows
            than the spec allows, and nothing was published.
        truthful: False: values are untrue on purpose.
        message: the verdict in a sentence.
        release: the published table's name; None unless published.
        rows: rows of the source, all of which are released.
        columns: released column -> what was done to its values.
        utility: statistics of the source and of the release.
        linkage: what record linkage by distance finds.
        cost: what the run asked of the database.
        notes: what the user should know besides.
        warnings: risks that the verdict does not cover; each has a code, and a page.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> masked = kanon_sql.PerturbSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "perturbed",
        ...         "source": {"query": "SELECT ROW_NUMBER() OVER () AS id, * FROM visits"},
        ...         "key": "id",
        ...         "perturb": {"age": {"rank_swap": 0.1}},
        ...     }
        ... )
        >>> result = kanon_sql.perturb(db, masked)
        >>> result.verdict, result.rows, result.utility["frequencies"][0]["distance"]
        ('perturbed', 600, 0.0)
    """

    verb: Literal["perturb"] = field(default="perturb", init=False)
    verdict: Literal["perturbed", "fail"]
    truthful: Literal[False] = field(default=False, init=False)
    message: Text
    release: str | None
    rows: Count
    columns: Mapping[str, MaskedValues]
    utility: MaskedUtility
    linkage: Linkage
    cost: Cost
    notes: Sequence[str] = ()
    warnings: Sequence[Warned] = ()
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)

    @property
    def passed(self) -> bool:
        """Whether the risk is as low as the spec asks; never that the release is anonymous."""
        return self.verdict == "perturbed"


def perturb(
    engine: Engine,
    spec: PerturbSpec,
    *,
    preview: bool = False,
    timeout: float | None = None,
    report: Reporter | None = None,
    fail_on_warning: bool = False,
) -> Perturbation:
    """Make values untrue by noise, swapping, PRAM and shifted dates, measure utility and risk, and publish.

    Sources: Hundepool et al., Statistical Disclosure Control (2012), sections 3.4 and 3.6; Moore 1996 (rank swapping);
    Dalenius, Reiss 1982 (data swapping); Gouweleeuw et al. 1998 (PRAM); Pagliuca, Seri 1999 (record linkage).

    Args:
        engine: from :func:`kanon_sql.connect`, with the right to make scratch tables.
        spec: what to mask and how.
        preview: publish nothing, although the spec names a release.
        timeout: seconds for the statements of the whole run; None for no limit.
        report: called with each stage in plain words.
        fail_on_warning: the verdict is ``fail``, and nothing is published, where there is a warning.

    Returns:
        What was done, what it costs, and what linkage finds. The verdict never says that a release is anonymous.

    Raises:
        SpecError: a column or an option does not fit the data, the key does not distinguish rows, or something else
            stands under the release's name.
        UnsupportedError: there are no scratch tables, or values are too large to be masked exactly.
        VerificationError: what was written is not what was measured; it was dropped.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> masked = kanon_sql.PerturbSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "perturbed",
        ...         "source": {"query": "SELECT ROW_NUMBER() OVER () AS id, * FROM visits"},
        ...         "key": "id",
        ...         "perturb": {"age": {"noise": 0.5}},
        ...         "keep": ["zip"],
        ...     }
        ... )
        >>> kanon_sql.perturb(db, masked).columns["zip"]
        {'method': 'kept', 'changed': 0}
    """
    publishes = spec.release is not None and not preview
    refuse(obstacles(engine, spec, "perturb", Options(preview=preview)))
    with running(engine, timeout, report, publishes=spec if publishes else None) as run:
        with open_workspace(engine, source_of(engine, spec)) as workspace:
            if publishes:
                with engine.transaction():
                    refuse_foreign_release(workspace, spec)
            table = masked(workspace, spec)
            result = _result(spec, table, utility_of(workspace, table), linked(workspace, spec, table), publishes)
            warned = named_like_identifiers(spec, spec.released)
            result = replace(result, warnings=warned)
            if result.passed and (why := failed_by(spec, warned, on_any=fail_on_warning)) is not None:
                result = replace(result, verdict="fail", release=None, message=f"nothing was published: {why}")
            if publishes and result.passed:
                publish_perturbed(workspace, spec, table, _summary(result))
        notes = [*engine.read_notes, *result.notes]
        return run.closed(replace(result, notes=notes))


def _result(spec: PerturbSpec, table: MaskedTable, utility: Utility, found: Linked, publishes: bool) -> Perturbation:
    most = spec.linkage.most
    names = ", ".join(spec.perturb)
    risk = f"linkage finds {found.share:.2%} of {found.looked_at:,} rows, while guessing finds {1 / found.records:.2%}"
    if most is not None and found.share > most:
        message = f"nothing was published: {risk}, more than the limit of {most:.2%}; perturb more"
        verdict: Literal["perturbed", "fail"] = "fail"
    else:
        verdict = "perturbed"
        message = (
            f"{'published' if publishes else 'masked'} {table.rows:,} rows whose values of {names} are untrue; {risk}"
        )
    notes = [f"the values of {names} are {_PERTURBED}"]
    if spec.shifted:
        notes.append(shift_note(list(spec.shifted)))
    if found.looked_at < table.rows:
        notes.append(f"linkage examined a random sample of {found.looked_at:,} of {table.rows:,} rows")
    if utility.left_out:
        notes.append(f"the correlations of {utility.left_out:,} more pairs of columns were not compared")
    nulls = [item.name for item in table.columns if item.masking is not None and item.known < table.rows]
    if nulls:
        notes.append(f"NULL stays NULL in {', '.join(nulls)}: the release shows which values are missing")
    return Perturbation(
        verdict=verdict,
        message=message,
        release=".".join(spec.release) if publishes and verdict == "perturbed" and spec.release is not None else None,
        rows=table.rows,
        columns={
            item.name: {
                "method": "kept" if item.masking is None else item.masking.method,
                "changed": utility.changed.get(item.name, 0),
            }
            for item in table.columns
        },
        utility={
            "moments": list(utility.moments),
            "correlations": list(utility.correlations),
            "frequencies": list(utility.frequencies),
        },
        linkage={
            "columns": list(found.columns),
            "looked_at": found.looked_at,
            "records": found.records,
            "found": found.found,
            "share": found.share,
            "certain": found.certain,
            "guessed_share": 1 / found.records,
            "most": most,
        },
        cost=Cost(),
        notes=notes,
    )


def _summary(result: Perturbation) -> dict[str, Any]:
    """What a manifest says of it."""
    content = result.to_dict()
    return {
        name: content[name]
        for name in ("verdict", "message", "rows", "columns", "utility", "linkage", "notes", "warnings")
    }
