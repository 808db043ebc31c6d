"""``plan``, ``anonymize`` and ``check`` for a spec of several tables."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from importlib.metadata import version
from typing import Any, Literal, TypedDict

from kanon_sql.engines import Engine, Reporter, Workspace, now, open_workspace
from kanon_sql.errors import (
    Obstacle,
    SpecError,
    UnsupportedError,
    VerificationError,
    counted,
    have,
    obstacles_in,
    refuse,
)
from kanon_sql.frequency import explained_if_missing, unknown_columns
from kanon_sql.models import Monotonicity
from kanon_sql.perturbation import shift_note
from kanon_sql.relations import (
    BelowMinimum,
    EarlierReleases,
    Examined,
    JointRelease,
    Member,
    Placed,
    RecodedTables,
    ReleasedTable,
    Sensitive,
    Shared,
    States,
    TableOutcome,
    addition_of,
    below_minimum,
    class_models,
    compared_together,
    earlier_releases,
    entry_of,
    examined,
    identifying,
    is_list,
    members,
    most_rows,
    node_dict,
    outcomes,
    recoded,
    refuse_unsorted,
    released_keys,
    released_list,
    requirement_label,
    rows_of_events,
    rows_with_values,
    source_references,
    written_tables,
)
from kanon_sql.release import (
    left_of_earlier,
    never_together,
    publish_together,
    refuse_foreign_release,
    refuse_missing_schema,
)
from kanon_sql.spec import (
    HIDDEN,
    PERSON,
    Coherence,
    Count,
    ItemColumn,
    KmAnonymity,
    RelationalSpec,
    Share,
    Text,
    VerdictResult,
    format_table_name,
    secret_in,
)
from kanon_sql.sql import Relation
from kanon_sql.verbs.result import Cost, Warned
from kanon_sql.verbs.run import Run, running
from kanon_sql.verbs.warnings import failed_by, heeded, named_like_identifiers
from kanon_sql.version import __version__

__all__ = [
    "JointResult",
    "RelationalResult",
    "ReleasedColumn",
    "RequirementResult",
    "TableResult",
    "Takeover",
    "anonymize",
    "check",
    "obstacles_of_several",
    "plan",
    "released_by",
    "released_tables",
]

Verb = Literal["plan", "anonymize", "apply", "check"]


class ReleasedColumn(TypedDict):
    """What became of a quasi-identifier.

    Attributes:
        loss: what a released row loses on average, from 0 (nothing) to 1 (all); NULL where it is not known.
        levels: level -> rows that are released on it.
    """

    loss: Share
    levels: Mapping[str, Count]


class TableResult(TypedDict):
    """What became of a table.

    Attributes:
        rows: rows of the source; of the released table, where only that was checked.
        released: those that are released.
        sampled_out: those that ``most_rows`` left out, by random choice.
        loss: the mean loss of its columns; a row that is left out loses all.
        columns: its quasi-identifiers.
        above: the table that its rows belong to; None for that of persons.
        published: the released table; None where nothing was published.
    """

    rows: Count
    released: Count
    sampled_out: Count
    loss: Share
    columns: Mapping[str, ReleasedColumn]
    above: str | None
    published: str | None


class RequirementResult(TypedDict):
    """A requirement, and what was found.

    Attributes:
        requirement: in the field's notation.
        fewest: the fewest persons who share what is known; None where nothing is known of anyone, and for requirements
            that count something else.
        rare: combinations of items, or classes of persons, that violate it.
        reached: the thresholds that are reached, by their names; None where none is.
        holds: whether it holds.
    """

    requirement: Text
    fewest: Count | None
    rare: Count
    reached: Mapping[str, float | int | None]
    holds: bool


class JointResult(TypedDict):
    """What a release and those of its ledger show together.

    Attributes:
        table: the ledger.
        earlier: the releases compared with, oldest first, each by its table of persons.
        changed: releases that the source no longer gives: nothing is known of them.
        persons: those that some release shows.
        classes: of these persons, by which of the releases they are in, and what all of these say of them.
        requirements: of any of the releases, and what was found together.
    """

    table: Text
    earlier: Sequence[Text]
    changed: Sequence[Text]
    persons: Count
    classes: Count
    requirements: Sequence[RequirementResult]


@dataclass(frozen=True, repr=False)
class RelationalResult(VerdictResult):
    """What is found of several tables that are released together.

    Attributes:
        verb: ``plan``, ``anonymize``, ``apply`` or ``check``.
        verdict: ``pass``, or ``fail`` where nothing may be published.
        message: the verdict in a sentence.
        recoding: ``local`` or ``full_domain``; None where released tables were checked.
        persons: rows of the table of persons.
        left_out: persons who are left out with all of their rows.
        classes: classes of persons.
        fewest: the fewest persons of a class; None where nothing was examined.
        tables: each table by its name in the spec.
        requirements: what was found for each, in the written tables.
        node: table -> column -> level of all rows that are released: of all tables for ``full_domain``, of persons for
            ``local``; None where nothing was found, or was looked for.
        nodes_asked: nodes that were evaluated; None where there was no search for one.
        ledger: what the release and those of its ledger show together; None without a ledger.
        cost: what the run asked of the database.
        notes: what the user should know besides.
        warnings: risks that the verdict does not cover, each with a code.
        sql: every statement that ran, in order, with values redacted.
        manifest: what was recorded of the release, under the name of the released persons; None unless published.

    Examples:
        >>> spec = kanon_sql.RelationalSpec.from_dict(
        ...     {
        ...         "version": 1,
        ...         "person": {
        ...             "table": {"query": "SELECT ROW_NUMBER() OVER () AS id, age FROM visits"},
        ...             "name": "people",
        ...             "key": "id",
        ...             "quasi_identifiers": {"age": {"intervals": [20, 40]}},
        ...         },
        ...         "tables": {
        ...             "stays": {
        ...                 "table": {"query": "SELECT ROW_NUMBER() OVER () AS who, zip FROM visits"},
        ...                 "person": "who",
        ...                 "quasi_identifiers": {"zip": {"prefix": [4, 3]}},
        ...             },
        ...         },
        ...         "privacy": [{"km_anonymity": {"k": 3, "m": 1}}],
        ...         "release": {"schema": "main"},
        ...     }
        ... )
        >>> result = kanon_sql.plan(db, spec)
        >>> result.tables["stays"]["rows"], result.left_out
        (600, 0)
    """

    verb: Verb
    verdict: Literal["pass", "fail"]
    message: Text
    recoding: Literal["local", "full_domain"] | None
    persons: Count
    left_out: Count
    classes: Count
    fewest: Count | None
    tables: Mapping[str, TableResult]
    requirements: Sequence[RequirementResult]
    node: Mapping[str, Mapping[str, Count]] | None = None
    nodes_asked: Count | None = None
    ledger: JointResult | None = None
    cost: Cost = field(default_factory=Cost)
    notes: Sequence[Text] = ()
    warnings: Sequence[Warned] = ()
    sql: Sequence[str] = field(default=(), repr=False, metadata=HIDDEN)
    manifest: Mapping[str, Any] | None = field(default=None, repr=False, metadata=HIDDEN)

    def _repr_html_(self) -> str:
        """What a notebook shows: the text."""
        return f"<pre>{escape(str(self))}</pre>"

    def summary(self) -> dict[str, Any]:
        """What a manifest says of the release."""
        content = self.to_dict()
        return {
            name: content[name]
            for name in ("recoding", "node", "persons", "left_out", "classes", "fewest", "tables", "ledger", "warnings")
        }


def anonymize(
    engine: Engine, spec: RelationalSpec, *, timeout: float | None = None, report: Reporter | None = None
) -> RelationalResult:
    """Release several tables together, or none of them.

    Args:
        engine: from :func:`kanon_sql.connect`, with the right to write where the spec names a release.
        spec: the tables, and what is asked for.
        timeout: seconds for the statements of the whole run; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: a column or a hierarchy does not fit the data, keys are not unique or refer to no row, or something
            else stands under a release's name.
        UnsupportedError: the engine cannot publish several tables at once.
        VerificationError: what was written is not what was promised; it was dropped.
    """
    refuse(obstacles_of_several(engine, spec, publishes=True))
    return released_by(engine, spec, "anonymize", timeout, report)


def plan(
    engine: Engine, spec: RelationalSpec, *, timeout: float | None = None, report: Reporter | None = None
) -> RelationalResult:
    """Find what a release of several tables would lose; publishes nothing. See :func:`anonymize`."""
    refuse(obstacles_of_several(engine, spec, publishes=False))
    return released_by(engine, spec, "plan", timeout, report)


def obstacles_of_several(engine: Engine, spec: RelationalSpec, *, publishes: bool) -> list[Obstacle]:
    """What cannot be, before the first statement.

    Args:
        engine: where it is to run.
        spec: of the tables.
        publishes: whether they are to be published.
    """
    found = []
    if publishes and spec.release is None:
        found.append(Obstacle("release: missing; write release: {schema: released}, or use plan", SpecError))
    in_steps = spec.release is not None and spec.release.in_steps
    if publishes and (why := never_together(engine, in_steps=in_steps)) is not None:
        found.append(Obstacle(why, UnsupportedError))
    if publishes and spec.key_variable is not None:
        found += obstacles_in(partial(secret_in, spec.key_variable, "release.keys.secret"))
    if publishes and spec.shifted and not engine.dialect.moved:
        why = f"shift: moving dates was not tried on {engine.dialect.name}; leave the columns out, or generalize them"
        found.append(Obstacle(why, UnsupportedError))
    if engine.scratch.mode == "inline":
        why = "several tables need scratch tables, and scratch: inline makes none; use temp, or name a schema for them"
        found.append(Obstacle(why, UnsupportedError))
    return found


@dataclass(frozen=True)
class Takeover:
    """Levels that are those of an earlier release.

    Attributes:
        name: the earlier release.
        spec: the spec with these levels, and no others.
        refused: why tables that were written may not be published; None where nothing can stop them.
    """

    name: str
    spec: RelationalSpec
    refused: Callable[[Workspace, RelationalSpec, Mapping[str, ReleasedTable]], str | None] | None = None

    def why_not(self, workspace: Workspace, spec: RelationalSpec, written: Mapping[str, ReleasedTable]) -> str | None:
        """Why tables that were written may not be published; None where they may."""
        return None if self.refused is None else self.refused(workspace, spec, written)


def released_by(
    engine: Engine,
    spec: RelationalSpec,
    verb: Verb,
    timeout: float | None,
    report: Reporter | None,
    takeover: Takeover | None = None,
) -> RelationalResult:
    """Plan or publish several tables: by a search, or at the levels of an earlier release."""
    judged = [spec.source_of(name).table for name in (PERSON, *spec.below)]
    publishes = verb == "anonymize"
    with running(engine, timeout, report, publishes=Placed(spec, PERSON) if publishes else None, judges=judged) as run:
        with open_workspace(engine, "") as workspace:
            earlier = None
            if publishes:
                assert spec.release is not None
                with engine.transaction():
                    refuse_missing_schema(workspace, spec.release.schema_)
                    for name in (PERSON, *spec.below):
                        refuse_foreign_release(workspace, Placed(spec, name))
                    if spec.ledger is not None:
                        earlier = earlier_releases(workspace, spec)
            result = _released(workspace, spec, verb, takeover, earlier)
            result = replace(result, notes=[*engine.read_notes, *result.notes])
        return run.closed(result)


def _released(
    workspace: Workspace,
    spec: RelationalSpec,
    verb: Verb,
    takeover: Takeover | None,
    earlier: EarlierReleases | None,
) -> RelationalResult:
    searched = spec if takeover is None else takeover.spec
    found = members(workspace, searched)
    sensitive = Sensitive(workspace, searched, found)
    made = recoded(workspace, searched, found, sensitive)
    notes = [*_notes(spec), *_sampling_notes(spec, found), *([] if _is_proven(spec) else [_NOT_PROVEN])]
    stopped = "nothing was published" if verb == "anonymize" else "no release satisfies"
    if made is None:
        return _without_release(spec, found, verb, stopped, takeover)
    states, left_out = made.states, made.left_out
    counted = outcomes(workspace, found, states)
    result = RelationalResult(
        verb=verb,
        verdict="pass",
        message="",
        recoding=spec.method,
        persons=found[PERSON].count,
        left_out=left_out,
        classes=made.classes,
        fewest=made.fewest,
        tables=_tables(spec, counted, published=False),
        requirements=(),
        warnings=_warnings(workspace, spec, verb),
        node=node_dict(found, made.nodes),
        nodes_asked=made.asked,
    )
    if not counted[PERSON].released:
        return replace(result, verdict="fail", message=f"{stopped}: no person would be left")
    if (why := _too_many_rows(spec, found, made)) is not None:
        return replace(result, verdict="fail", message=f"{stopped}: {why}")
    if (why := failed_by(spec, result.warnings, on_any=False)) is not None:
        return replace(result, verdict="fail", message=f"{stopped}: {why}")
    if verb == "plan":
        notes += [] if spec.ledger is None else [_LEDGER_UNREAD]
        return replace(result, message=_message("would publish", counted, spec), notes=notes)
    with written_tables(workspace, spec, found, states) as written:
        workspace.report("verifying the written tables", None)
        seen = examined(workspace, written, spec, sensitive.references)
        _verify(seen, counted, spec)
        result = replace(_with(result, seen), message=_message("published", counted, spec), notes=notes)
        revealing = _revealing(workspace, spec, found, states, counted)
        result = replace(result, warnings=[*result.warnings, *_of_kept(workspace, spec, written), *revealing])
        if (why := failed_by(spec, result.warnings, on_any=False)) is not None:
            return replace(result, verdict="fail", message=f"{stopped}: {why}")
        if (why := None if takeover is None else takeover.why_not(workspace, spec, written)) is not None:
            return replace(result, verdict="fail", message=f"{stopped}: {why}")
        addition = None
        if earlier is not None:
            persons = {"source": result.persons, "released": counted[PERSON].released}
            entry = entry_of(workspace, spec, found, made.nodes, persons)
            joint = compared_together(workspace, spec, earlier, written, entry)
            result = replace(result, ledger=_joint_result(spec, earlier, joint))
            if (why := None if joint is None else _conflict(joint, earlier)) is not None:
                return replace(result, verdict="fail", message=f"{stopped}: {why}")
            addition = addition_of(workspace, spec, entry, earlier)
        result = replace(result, tables=_tables(spec, counted, published=True))
        manifest = _manifest(workspace, spec, result)
        tables = {name: item for name, item in written.items() if not item.is_list}
        manifests = {name: {**manifest, "release": ".".join(spec.released(name))} for name in tables}
        parts = [(Placed(spec, name), item.table, manifests[name]) for name, item in tables.items()]
        assert spec.release is not None
        publish_together(workspace, parts, addition, in_steps=spec.release.in_steps)
        if never_together(workspace.engine, in_steps=False) is not None:
            notes.append(_IN_STEPS)
    return replace(result, notes=notes, manifest=manifests[PERSON])


def _too_many_rows(spec: RelationalSpec, found: Mapping[str, Member], made: RecodedTables) -> str | None:
    """Why the release leaves out more rows than the spec allows; None where it does not."""
    rows, most = rows_of_events(found), most_rows(spec, found)
    if made.rows_left_out <= most:
        return None
    return (
        f"{made.rows_left_out:,} of {rows:,} rows of other tables would be left out, more than the limit of {most:,}; "
        "raise suppression.max_rows, or lower k"
    )


def _verify(seen: Examined, counted: Mapping[str, TableOutcome], spec: RelationalSpec) -> None:
    """What was written is what was found, and satisfies.

    Raises:
        VerificationError: it is not.
    """
    for name, item in counted.items():
        if seen.rows[name] != item.released:
            raise VerificationError(
                f"verification: {name!r} has {seen.rows[name]:,} rows, and {item.released:,} were to be released"
            )
    for shared in seen.shared:
        if not shared.holds:
            raise VerificationError(
                f"verification: {requirement_label(shared.requirement)} is violated {shared.rare:,} times; nothing was "
                "published"
            )
    if beyond := _beyond(seen, spec):
        raise VerificationError(f"verification: {'; '.join(beyond)}; nothing was published")


def _beyond(seen: Examined, spec: RelationalSpec) -> list[str]:
    """In which tables persons have more rows than the spec allows."""
    return [
        f"{name}: {persons:,} {'person has' if persons == 1 else 'persons have'} more rows than most_rows: "
        f"{spec.tables[name].most_rows:,}"
        for name, persons in seen.beyond.items()
        if persons
    ]


def _with(result: RelationalResult, seen: Examined) -> RelationalResult:
    return replace(
        result,
        classes=seen.classes,
        fewest=seen.fewest,
        requirements=_requirements(seen.shared),
    )


def _requirements(shared: Sequence[Shared]) -> list[RequirementResult]:
    return [
        {
            "requirement": requirement_label(item.requirement),
            "fewest": item.fewest,
            "rare": item.rare,
            "reached": item.reached,
            "holds": item.holds,
        }
        for item in shared
    ]


def _joint_result(spec: RelationalSpec, earlier: EarlierReleases, joint: JointRelease | None) -> JointResult:
    """What the release and those of its ledger show together, as it stands in results."""
    assert spec.ledger is not None
    return {
        "table": ".".join(spec.ledger.table),
        "earlier": [entry.name for entry in earlier.entries],
        "changed": [] if joint is None else list(joint.changed),
        "persons": 0 if joint is None else joint.persons,
        "classes": 0 if joint is None else joint.classes,
        "requirements": [] if joint is None else _requirements(joint.shared),
    }


def _conflict(joint: JointRelease, earlier: EarlierReleases) -> str | None:
    """Why a release may not be published beside the earlier ones; None where it may."""
    if joint.passed:
        return None
    if joint.changed:
        return (
            f"{', '.join(joint.changed)} can no longer be derived from the source (the source or the release has "
            "changed), so what the releases reveal together is unknown"
        )
    names = ", ".join(entry.name for entry in earlier.entries)
    problems = [
        f"{counted(item.rare, 'combination')} {'violates' if item.rare == 1 else 'violate'} "
        f"{requirement_label(item.requirement)}, the rarest shared by {counted(item.fewest or 0, 'person')}"
        for item in joint.shared
        if not item.holds
    ]
    return (
        f"together with {names}, {'; '.join(problems)}; release no column on a lower level than before "
        "(minimum_level), or leave out what only one of the releases needs"
    )


def _tables(spec: RelationalSpec, counted: Mapping[str, TableOutcome], *, published: bool) -> dict[str, TableResult]:
    return {
        name: {
            "rows": item.rows,
            "released": item.released,
            "sampled_out": item.sampled_out,
            "loss": round(item.loss, 6),
            "columns": {
                column: {
                    "loss": round(loss, 6),
                    "levels": {str(level): rows for level, rows in item.levels[column].items()},
                }
                for column, loss in item.losses.items()
            },
            "above": None if name == PERSON else spec.below[name].above,
            "published": ".".join(spec.released(name)) if published else None,
        }
        for name, item in counted.items()
    }


def _message(done: str, counted: Mapping[str, TableOutcome], spec: RelationalSpec) -> str:
    persons = counted[PERSON]
    asked = ", ".join(map(requirement_label, spec.requirements))
    count = sum(not spec.is_list(name) for name in counted)
    tables = "1 table" if count == 1 else f"{count} tables"
    return f"{done} {tables} of {persons.released:,} persons out of {persons.rows:,}, for {asked}"


def _notes(spec: RelationalSpec) -> list[str]:
    """What a passing verdict does not cover."""
    notes = []
    uncounted = [name for name in spec.below if name not in spec.counted_tables and not spec.is_list(name)]
    if uncounted:
        where = f" of {', '.join(uncounted)}" if spec.counted_tables else ""
        notes.append(
            f"the keys release how many rows{where} each person has; who knows that number may find a person by it"
        )
    lists = [f"{item.table}.{item.column}" for name, item in spec.items.items() if spec.is_list(name)]
    if lists:
        notes.append(f"{', '.join(lists)}: lists release how many items there are, which is not counted")
    kept = [f"{name}.{column}" for name in (PERSON, *spec.below) for column in Placed(spec, name).table.keep]
    if kept:
        notes.append(
            f"released as they are, and not counted: {', '.join(kept)}; who knows such a value of a person may find "
            "them by it"
        )
    replaced = [f"{name}.{column}" for name in (PERSON, *spec.below) for column in Placed(spec, name).table.replace]
    if replaced:
        notes.append(
            f"new keys in the place of values, equal ones for equal values, are not counted: {', '.join(replaced)}; "
            "persons who share a value are linked by it"
        )
    moved = [f"{name}.{column}" for name, columns in spec.shifted.items() for column in columns]
    if moved:
        notes.append(shift_note(moved))
    if any(item.k == 1 for item in spec.km):
        notes.append("km_anonymity with k = 1 protects no one")
    return notes


_IN_STEPS = (
    "the tables were published one after the other: who read them at that moment may have missed some, and a run that "
    "is killed then leaves some missing until kanon-sql clean --yes"
)

_LEDGER_UNREAD = "the ledger was not read: anonymize compares with earlier releases"

_NOT_PROVEN = (
    "not proven: for sensitive values persons are left out who need not be, so that levels that lose less may do"
)


def _is_proven(spec: RelationalSpec) -> bool:
    """Whether a search for levels leaves out no person who could stay, and so finds the ones that lose least."""
    return spec.method != "full_domain" or not (
        spec.coherence or any(model.lasting(by_person=False) is not Monotonicity.ALWAYS for model in class_models(spec))
    )


def _warnings(workspace: Workspace, spec: RelationalSpec, verb: Verb) -> list[Warned]:
    """Risks that the verdict does not cover."""
    found = []
    if spec.key_variable is not None:
        why = (
            "the new keys are the same in every release that is made with this secret, so that a reader joins them: "
            "who is one of k in each may be the only one in all. Use keys: random unless releases have to join"
        )
        found.append(Warned("keys_join_releases", why, []))
    if verb == "anonymize" and spec.release is not None:
        names = [spec.released(name)[-1] for name in (PERSON, *spec.below)]
        left = left_of_earlier(workspace, spec.release.schema_, names)
        schema = ".".join(spec.release.schema_)
        if left:
            why = (
                f"{', '.join(f'{schema}.{name}' for name in left)}: published with an earlier release of these tables, "
                "not part of this one, and still there with its keys; drop what is no longer to be read"
            )
            found.append(Warned("earlier_table_stands", why, left))
    kept = [item for name in (PERSON, *spec.below) for item in _unchanged(spec, name)]
    return heeded(spec, [*found, *named_like_identifiers(spec, kept)])


def _unchanged(spec: RelationalSpec, name: str) -> list[str]:
    """The columns of a table that are released as they are."""
    table = Placed(spec, name).table
    return [*table.keep, *table.sensitive, *table.shift]


def _of_kept(workspace: Workspace, spec: RelationalSpec, tables: Mapping[str, ReleasedTable]) -> list[Warned]:
    """The columns that are released as they are, and by which many rows of their table are alone."""
    if spec.warnings.nearly_unique_kept == "allow":
        return []
    from kanon_sql.verbs.warnings.columns import nearly_unique  # which a plan does without

    found = []
    for name, item in tables.items():
        columns = workspace.columns(item.table)
        for warned in nearly_unique(workspace, item.table, columns, item.labels, _unchanged(spec, name)):
            places = [f"{name}.{column}" for column in warned.columns]
            found.append(replace(warned, message=f"{name}.{warned.message}", columns=places))
    return found


def _revealing(
    workspace: Workspace,
    spec: RelationalSpec,
    found: Mapping[str, Member],
    states: States,
    counted: Mapping[str, TableOutcome],
) -> list[Warned]:
    """The columns that are released as they are, and reveal quasi-identifiers of their table, or of one on its path."""
    if spec.warnings.kept_reveals_quasi_identifier == "allow" or not any(_unchanged(spec, name) for name in found):
        return []
    from kanon_sql.verbs.warnings.revealing import revealing_related  # which a plan does without

    with workspace.passing():
        return [
            warned
            for rows in rows_with_values(workspace, found, states, counted)
            for warned in revealing_related(workspace, rows, max(spec.k, 2))
        ]


def _sampling_notes(spec: RelationalSpec, found: Mapping[str, Member]) -> list[str]:
    """How many rows were left out by random choice."""
    notes = []
    for name, item in found.items():
        if item.sampled_out:
            most = spec.tables[name].most_rows
            of = "below rows that were left out" if most is None else f"of persons with more than {most:,}"
            notes.append(f"{name}: {item.sampled_out:,} rows were left out at random, {of}")
    return notes


def _without_release(
    spec: RelationalSpec, found: Mapping[str, Member], verb: Verb, stopped: str, takeover: Takeover | None
) -> RelationalResult:
    most = spec.suppression.most_persons(found[PERSON].count)
    proven = spec.method == "full_domain" and _is_proven(spec)
    tried = "with whatever levels" if proven else "with all levels that were tried"
    mend = "raise suppression.max_persons, add levels, or lower k or m"
    if takeover is not None:
        tried, mend = f"at the levels of {takeover.name}", "raise suppression.max_persons, or release by anonymize"
    return RelationalResult(
        verb=verb,
        verdict="fail",
        message=f"{stopped}: {tried} more than the limit of {most:,} persons would be left out; {mend}",
        recoding=spec.method,
        persons=found[PERSON].count,
        left_out=found[PERSON].count,
        classes=0,
        fewest=None,
        tables={},
        requirements=(),
    )


def _manifest(workspace: Workspace, spec: RelationalSpec, result: RelationalResult) -> dict[str, Any]:
    return {
        "kanon_sql": __version__,
        "run_id": workspace.run_id,
        "published_at": now(),
        "truthful": not spec.shifted,
        "tables": {name: format_table_name(spec.released(name)) for name in (PERSON, *spec.below)},
        "release_of_tables": result.summary(),
        "requirements": list(result.requirements),
        "message": result.message,
        "notes": list(result.notes),
        "spec": spec.redacted(),
        "spec_hash": spec.hash,
        "versions": {
            "python": platform.python_version(),
            "sqlglot": version("sqlglot"),
            "engine": f"{workspace.dialect.name} {workspace.engine.version}",
        },
    }


# --- Check ---------------------------------------------------------------------------------


def check(
    engine: Engine, spec: RelationalSpec, *, timeout: float | None = None, report: Reporter | None = None
) -> RelationalResult:
    """Count in the released tables, which any program may have made, how many persons share what may be known of one.

    Args:
        engine: from :func:`kanon_sql.connect`; a read-only connection is enough.
        spec: its tables are looked for under the names that it releases them under.
        timeout: seconds for the statements of the whole run; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: the spec names no release, or a table lacks a column.
        DatabaseError: a table is not there.
        VerificationError: keys are not unique, rows refer to no row, or lists are not sorted.
    """
    with running_on_released(engine, spec, "check", timeout, report) as run:
        with open_workspace(engine, "") as workspace:
            workspace.report("counting in the released tables", None)
            stands, others = released_tables(workspace, spec)
            persons = workspace.columns(stands[PERSON].table)
            seen = examined(workspace, stands, spec, source_references(workspace, spec, persons))
            warned = [*_warnings(workspace, spec, "check"), *_of_kept(workspace, spec, stands)]
            below = below_minimum(workspace, spec, stands)
        failed = [item for item in seen.shared if not item.holds]
        result = RelationalResult(
            verb="check",
            verdict="fail" if failed or not seen.persons or _beyond(seen, spec) or below.rows else "pass",
            message=_checked(seen, spec, below),
            recoding=None,
            persons=seen.persons,
            left_out=0,
            classes=0,
            fewest=None,
            tables={
                name: {
                    "rows": rows,
                    "released": rows,
                    "sampled_out": 0,
                    "loss": 0.0,
                    "columns": {},
                    "above": None if name == PERSON else spec.below[name].above,
                    "published": ".".join(spec.released(name)),
                }
                for name, rows in seen.rows.items()
            },
            requirements=(),
            notes=[*engine.read_notes, *_notes(spec), *_unchecked(below), *others],
            warnings=warned,
        )
        if result.passed and (why := failed_by(spec, warned, on_any=False)) is not None:
            result = replace(result, verdict="fail", message=why)
        return run.closed(_with(result, seen))


def _checked(seen: Examined, spec: RelationalSpec, below: BelowMinimum) -> str:
    if not seen.persons:
        return "there are no persons, so that nothing is protected"
    failed = [item for item in seen.shared if not item.holds]
    problems = [f"{requirement_label(item.requirement)} does not hold: {_violations(item)}" for item in failed]
    levels = [f"{column}: {have(rows)} a label below minimum_level" for column, rows in below.rows.items()]
    if problems := [*problems, *_beyond(seen, spec), *levels]:
        return "; ".join(problems)
    held = ", ".join(requirement_label(item.requirement) for item in seen.shared)
    return f"{counted(seen.persons, 'person')} in {counted(seen.classes, 'class')}: {held} holds"


def _violations(item: Shared) -> str:
    if isinstance(item.requirement, KmAnonymity):
        return f"{counted(item.rare, 'combination')} shared by fewer persons, the rarest by {item.fewest:,}"
    if isinstance(item.requirement, Coherence):
        return (
            f"{item.rare:,} times a sensitive value is too frequent among persons who share a combination, at most "
            f"with a share of {item.reached['h']:.4g}"
        )
    return f"{counted(item.rare, 'class')} {'violates' if item.rare == 1 else 'violate'} it"


def _unchecked(below: BelowMinimum) -> list[str]:
    """What a check does not see of what the spec allows."""
    notes = [f"minimum_level was not checked: {', '.join(columns)}; {why}" for why, columns in below.unchecked.items()]
    why = "a label that no value of the source has, so that its level is not known"
    return [
        *notes,
        *(f"minimum_level of {column}: {have(rows)} {why}" for column, rows in below.unknown.items()),
    ]


def running_on_released(
    engine: Engine, spec: RelationalSpec, verb: str, timeout: float | None, report: Reporter | None
) -> AbstractContextManager[Run]:
    """Open a run of a command that reads the released tables.

    Raises:
        SpecError: the spec names no release, or one of the tables holds perturbed values.
    """
    if spec.release is None:
        raise SpecError(f"release: missing; {verb} looks for the released tables there: release: {{schema: released}}")
    return running(engine, timeout, report, judges=[spec.released(name) for name in (PERSON, *spec.below)])


def _stands_as_list(workspace: Workspace, table: ReleasedTable, item: ItemColumn, name: str) -> ReleasedTable:
    """A column of lists in a released table that was found.

    Raises:
        SpecError: there is none.
        VerificationError: its lists differ in more than their items.
    """
    columns, shown = workspace.columns(table.table), ".".join(table.table.parts)
    problems = unknown_columns(shown, columns, [item.column], "which the spec releases")
    if problems:
        raise SpecError(problems)
    if not is_list(columns[item.column]):
        raise SpecError(
            f"{shown}: {item.column!r} is {columns[item.column].type}, which is no list; a text of items is not checked"
        )
    refuse_unsorted(workspace, table.table, item.column)
    return released_list(table, item.column, name)


def released_tables(workspace: Workspace, spec: RelationalSpec) -> tuple[dict[str, ReleasedTable], list[str]]:
    """The tables as they stand under the names of the release, and a note on columns that the spec does not name."""
    found: dict[str, ReleasedTable] = {}
    others: list[str] = []
    for name in (PERSON, *spec.below):
        placed = Placed(spec, name)
        table = spec.released(name)
        if (item := spec.items.get(name)) is not None and item.is_list:
            found[name] = _stands_as_list(workspace, found[item.table], item, name)
            continue
        with explained_if_missing(workspace.engine, table):
            columns = workspace.columns(Relation(table))
        key, refers = released_keys(spec, name)
        labels = list(placed.quasi_identifiers)
        lists = (item.column for item in spec.lists_of(name).values())
        unlabelled = (*placed.table.replace, *placed.table.keep, *placed.table.shift, *lists)
        wanted = [item for item in (key, refers, *labels, *placed.table.sensitive) if item is not None]
        problems = unknown_columns(".".join(table), columns, wanted, "which the spec releases")
        if problems:
            raise SpecError(problems)
        above = None if name == PERSON else spec.below[name].above
        own = identifying(spec, name)
        found[name] = ReleasedTable(name, Relation(table), own, () if refers is None else (refers,), labels,
                                    placed.table.sensitive, above)  # fmt: skip
        others += [f"{'.'.join(table)}.{item}" for item in columns if item not in (*wanted, *unlabelled)]
    note = (
        f"not counted, since the spec does not name them: {', '.join(others)}; who knows such a value may find a person"
    )
    return found, [note] if others else []
