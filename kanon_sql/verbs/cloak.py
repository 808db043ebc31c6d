"""``cloak``: positions and times, each row as fine as k people together allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict

from kanon_sql.engines import Engine, Reporter, Workspace, open_workspace
from kanon_sql.errors import SpecError, refuse
from kanon_sql.evaluate import rows_in_words
from kanon_sql.frequency import explained_if_missing, source_of, unknown_columns
from kanon_sql.positions import (
    Assigned,
    Examined,
    History,
    Points,
    assigned,
    cloaked,
    differing_labels,
    examined,
    histories,
    levels,
    points,
    publish_cloaked,
    released_columns,
)
from kanon_sql.release import refuse_foreign_release
from kanon_sql.spec import HIDDEN, CloakSpec, Count, Document, Positive, Text, VerdictResult
from kanon_sql.sql import Relation
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.result import Cost, Warned
from kanon_sql.verbs.run import running
from kanon_sql.verbs.warnings import failed_by, linked_rows, named_like_identifiers

__all__ = ["CloakResult", "CloakedLevel", "cloak"]


@dataclass(frozen=True)
class CloakedLevel(Document):
    """Cells and slices of one size that rows are released with.

    Attributes:
        shape: one cell, or two neighbours ``side_by_side`` or ``above`` each other.
        depth: the depth of the cell in the quad-tree, or of both neighbours; 0 is the whole area.
        width: seconds of a slice; None without a time.
        cells: how many different cells and slices of this size there are.
        rows: how many rows are released with one.
    """

    shape: Literal["cell", "side_by_side", "above"]
    depth: Count
    width: Positive | None
    cells: Count
    rows: Count


class CloakedRows(TypedDict):
    """The rows, by what became of them.

    Attributes:
        source: rows of the source.
        released: those that are released.
        suppressed: those that are left out.
        outside: of these, those without a position inside the bounds.
    """

    source: Count
    released: Count
    suppressed: Count
    outside: Count


class MatchedLbqid(TypedDict):
    """The people whose histories match an LBQID.

    Attributes:
        matching: people whose history matches it, and of whose part in it something is released.
        exposed: of these, those whose rows of it too few people share.
        fewest: the fewest people whose histories are consistent with one of them; None where no person matches.
    """

    matching: Count
    exposed: Count
    fewest: Positive | None


@dataclass(frozen=True, repr=False)
class CloakResult(VerdictResult):
    """What ``cloak`` prints: how fine the released positions are, and among how many people.

    Attributes:
        verb: ``cloak``.
        verdict: ``pass``, or ``fail`` where nothing may be published.
        message: the verdict in a sentence.
        release: the published table's name, or the one that was checked; None unless published.
        k: how many people were asked for: a number, or the column with the k of each row.
        anonymity_set: who counts: people whose rows have the same label (``released``), or all who were in the cell and
            slice (``present``).
        rows: the rows, by what became of them.
        levels: how fine the released cells and slices are, the finest first; empty where nothing was examined.
        classes: how many different labels the released rows have.
        fewest_people: the fewest people whose rows have the same label; None where nothing may be released.
        fewest_present: with ``present``, the fewest people in a released cell and slice; else None.
        lbqids: by the name of the LBQID, the people who match it.
        cost: what the run asked of the database.
        notes: what the user should know besides.
        warnings: risks that a passing verdict does not cover; each has a code, and a page.
        sql: every statement that ran, in order, with values redacted.

    Examples:
        >>> query = "SELECT ROW_NUMBER() OVER () AS id, age % 8 AS x, LENGTH(diagnosis) AS y FROM visits"
        >>> spec = kanon_sql.CloakSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "positions",
        ...         "source": {"query": query},
        ...         "unit": "id",
        ...         "position": {"columns": ["x", "y"], "bounds": [0, 0, 8, 8], "depth": 3},
        ...         "k": 15,
        ...     }
        ... )
        >>> result = kanon_sql.cloak(db, spec)
        >>> result.passed, result.fewest_people >= 15
        (True, True)
    """

    verb: Literal["cloak"] = field(default="cloak", init=False)
    verdict: Literal["pass", "fail"]
    message: Text
    release: str | None
    k: Text
    anonymity_set: Literal["released", "present"]
    rows: CloakedRows
    levels: Sequence[CloakedLevel]
    classes: Count
    fewest_people: Positive | None
    fewest_present: Positive | None
    lbqids: Mapping[str, MatchedLbqid]
    cost: Cost
    notes: Sequence[Text] = ()
    warnings: Sequence[Warned] = ()
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)

    def summary(self) -> dict[str, Any]:
        """What a manifest says: the release, and neither how the run went nor how many people match a pattern."""
        content = self.to_dict()
        found = {name: content[name] for name in _MEASURED}
        return {**found, "lbqids": sorted(self.lbqids), "warnings": content["warnings"]}


_MEASURED = ("k", "anonymity_set", "rows", "levels", "classes", "fewest_people", "fewest_present")


def cloak(
    engine: Engine,
    spec: CloakSpec,
    *,
    preview: bool = False,
    check: bool = False,
    timeout: float | None = None,
    report: Reporter | None = None,
    fail_on_warning: bool = False,
) -> CloakResult:
    """Cloak positions, and publish them if every class of them has enough people.

    Every row gets the finest cell of a quad-tree and slice of time that k people share (Gruteser and Grunwald 2003,
    sections 4.1 and 4.2), each with a k of its own where the spec says so (Gedik and Liu 2005), with pairs of
    neighbouring cells where it says so (Mokbel, Chow and Aref 2006); patterns of movement are judged by historical
    k-anonymity (Bettini, Wang and Jajodia 2005).

    Args:
        engine: from :func:`kanon_sql.connect`, with scratch tables, and the right to write where the spec names a
            release.
        spec: what to cloak.
        preview: publish nothing, although the spec names a release.
        check: publish nothing, and verify the table that stands under the release's name instead: the source is cloaked
            again, everything that is promised of it is verified, and the table must have the same labels as often.
        timeout: seconds for the statements of the whole run; None for no limit.
        report: called with each stage in plain words.
        fail_on_warning: the verdict is ``fail``, and nothing is published, where there is a warning.

    Returns:
        How fine the released positions are. The verdict is ``fail``, and nothing is published, where more rows would
        have to be left out than the spec allows, an LBQID exposes a person, or a warning is an error; with ``check``
        also where the table has other labels or columns than the source and the spec give.

    Raises:
        SpecError: a column or an option does not fit the data, or something else stands under the release's name.
        UnsupportedError: the connection has no scratch tables.
        VerificationError: what was written is not what was promised; it was dropped.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> query = "SELECT ROW_NUMBER() OVER () AS id, age AS x, age % 9 AS y, age * 60 AS at FROM visits"
        >>> spec = kanon_sql.CloakSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "kind": "positions",
        ...         "source": {"query": query},
        ...         "unit": "id",
        ...         "position": {"columns": ["x", "y"], "bounds": [0, 0, 128, 16], "depth": 4},
        ...         "time": {"column": "at", "widths": [3600, 86400]},
        ...         "k": 5,
        ...         "suppression": {"max_share": 0.05},
        ...     }
        ... )
        >>> kanon_sql.cloak(db, spec).verdict
        'pass'
    """
    publishes = spec.release is not None and not preview and not check
    refuse(obstacles(engine, spec, "cloak", Options(preview=preview, compare=check)))
    judged = [spec.source.table, spec.release if check else None]
    with running(engine, timeout, report, publishes=spec if publishes else None, judges=judged) as run:
        with open_workspace(engine, source_of(engine, spec)) as workspace:
            if publishes:
                with engine.transaction():
                    refuse_foreign_release(workspace, spec)
            result = _cloaked(workspace, spec, publishes=publishes, check=check, fail_on_warning=fail_on_warning)
            unreported = [note for note in engine.read_notes if note not in result.notes]  # of a run that ended early
            result = replace(result, notes=[*unreported, *result.notes])
        return run.closed(result)


def _cloaked(
    workspace: Workspace, spec: CloakSpec, *, publishes: bool, check: bool, fail_on_warning: bool
) -> CloakResult:
    other = _other_columns(workspace, spec) if check else []
    stopped = f"{'.'.join(spec.release)} cannot stand" if check and spec.release else "nothing was published"
    found = points(workspace, spec)
    cells = cloaked(workspace, spec, found)
    suppressed = found.outside + cells.left_rows
    result = _empty(spec, found, suppressed)
    most = spec.suppression.most(found.rows)
    if not found.rows or suppressed == found.rows:
        why = "the source has no rows" if not found.rows else "even the coarsest cells have too few people; lower k"
        return _failed(result, f"{stopped}: {why}")
    if suppressed > most:
        return _failed(
            result,
            f"{stopped}: {rows_in_words(suppressed)} of {found.rows:,} would have to be left out, more than the limit "
            f"of {most:,}; raise suppression.max_share or max_rows, or allow coarser cells or wider slices",
        )
    written = assigned(workspace, spec, found, cells)
    seen = examined(workspace, spec, found, cells, written)
    patterns = histories(workspace, spec, found, written)
    result = _measured(result, levels(workspace, found, written), seen, patterns)
    exposed = [item for item in patterns if item.exposed]
    if exposed:
        named = ", ".join(f"{item.name} ({item.exposed:,} of {item.matching:,})" for item in exposed)
        return _failed(
            result,
            f"{stopped}: the rows of people who match an LBQID are shared by too few others: "
            f"{named}; allow only coarser cells or wider slices (position.coarsest, position.depth, time.widths)",
        )
    warned = named_like_identifiers(spec, spec.keep)
    warned += linked_rows(workspace, spec, written.rows, found.columns, seen.rows)
    result = replace(result, warnings=warned)
    fatal = failed_by(spec, warned, on_any=fail_on_warning)
    if fatal is not None:
        return _failed(result, f"{stopped}: {fatal}")
    if check:
        return _compared(workspace, spec, result, written, seen, other)
    done = "published" if publishes else "cloaked"
    message = f"{done} {rows_in_words(seen.rows)} in {seen.classes:,} cells and slices, {_promised(spec, seen)}"
    result = replace(result, message=message, notes=[*workspace.engine.read_notes, *result.notes, *_notes(spec, seen)])
    if publishes:
        assert spec.release is not None
        publish_cloaked(workspace, spec, found, written, result.summary())
        result = replace(result, release=".".join(spec.release))
    return result


def _other_columns(workspace: Workspace, spec: CloakSpec) -> list[str]:
    """What the table under the release's name has besides the columns that the spec releases, before anything is read.

    Raises:
        SpecError: it lacks one of them.
        DatabaseError: there is no such table.
    """
    assert spec.release is not None
    with explained_if_missing(workspace.engine, spec.release):
        columns = workspace.columns(Relation(spec.release))
    wanted = released_columns(spec)
    problems = unknown_columns(".".join(spec.release), columns, wanted, "which the spec releases")
    if problems:
        raise SpecError(problems)
    return [name for name in columns if name not in wanted]


def _compared(
    workspace: Workspace, spec: CloakSpec, result: CloakResult, written: Assigned, seen: Examined, other: Sequence[str]
) -> CloakResult:
    """The published table beside what the source gives now, which was examined."""
    assert spec.release is not None
    shown = ".".join(spec.release)
    workspace.report(f"comparing with {shown}", None)
    differing = differing_labels(workspace, spec, written, Relation(spec.release))
    result = replace(result, release=shown, notes=[*workspace.engine.read_notes, *_notes(spec, seen)])
    problems = [f"{differing:,} labels do not have the rows that the source and the spec imply"] if differing else []
    problems += [f"it has columns that the spec does not release ({', '.join(other)})"] if other else []
    if problems:
        changed = "the table or the source has changed, or another spec was used; publish again"
        why = changed if differing else "leave them out"
        return _failed(result, f"{shown}: {'; '.join(problems)}; {why}")
    return replace(
        result,
        message=f"{shown}: {rows_in_words(seen.rows)} have the labels that the source gives, {_promised(spec, seen)}",
    )


def _empty(spec: CloakSpec, found: Points, suppressed: int) -> CloakResult:
    """The result before anything is known of what is released."""
    return CloakResult(
        verdict="pass",
        message="",
        release=None,
        k=spec.k.notation,
        anonymity_set=spec.anonymity_set,
        rows={
            "source": found.rows,
            "released": found.rows - suppressed,
            "suppressed": suppressed,
            "outside": found.outside,
        },
        levels=(),
        classes=0,
        fewest_people=None,
        fewest_present=None,
        lbqids={},
        cost=Cost(),
    )


def _failed(result: CloakResult, message: str) -> CloakResult:
    return replace(result, verdict="fail", message=message)


def _measured(
    result: CloakResult,
    measured: Sequence[tuple[Any, int, int]],
    seen: Examined,
    patterns: Sequence[History],
) -> CloakResult:
    return replace(
        result,
        levels=[CloakedLevel(grid.shape, grid.depth, grid.width, cells, rows) for grid, cells, rows in measured],
        classes=seen.classes,
        fewest_people=seen.fewest,
        fewest_present=seen.fewest_present,
        lbqids={
            item.name: {"matching": item.matching, "exposed": item.exposed, "fewest": item.fewest} for item in patterns
        },
    )


def _promised(spec: CloakSpec, seen: Examined) -> str:
    """What every released row has."""
    who = "with the same label" if spec.anonymity_set == "released" else "in the cell and slice of each"
    if spec.k.column is not None:
        return f"as many people {who} as the k of each row requires"
    fewest = seen.fewest if seen.fewest_present is None else seen.fewest_present
    return f"at least {fewest:,} people {who}"


def _notes(spec: CloakSpec, seen: Examined) -> list[str]:
    notes = []
    if spec.anonymity_set == "present":
        notes.append(
            "anonymity_set: present counts all people who were in a cell and slice, which protects against an "
            "attacker who sees a single row. An attacker who sees the others can exclude finer cells; as few as "
            f"{seen.fewest:,} people have rows with the same label"
        )
    if spec.keep:
        notes.append("the kept columns are released unchanged and were not checked")
    if not spec.lbqids and spec.time is not None:
        notes.append("the spec has no LBQID: rows that a reader can link to one person may identify the person")
    return notes
