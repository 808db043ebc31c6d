"""``plan --party`` and ``anonymize --party``: one release of a table that is split between several databases."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from kanon_sql.engines import Deadline, Engine, Reporter, Workspace, now, open_workspace
from kanon_sql.errors import RequirementNotMet, SpecError, UnsupportedError
from kanon_sql.evaluate import Achieved, Examination, SearchSummary, rows_in_words
from kanon_sql.frequency import source_of
from kanon_sql.models import models_of
from kanon_sql.parties import MEDIATOR, Horizontal, Part, Vertical, searched_horizontally, searched_vertically
from kanon_sql.release import refuse_foreign_release
from kanon_sql.search import Batch
from kanon_sql.spec import Spec
from kanon_sql.verbs.result import Cost, redacted_log
from kanon_sql.version import __version__

__all__ = ["PartiesResult", "anonymize_parties", "plan_parties"]

Split = Literal["horizontal", "vertical"]

LEARNS: dict[str, dict[str, str]] = {
    "horizontal": {
        MEDIATOR: "of each generalization asked about, how many classes each party has, which of them two parties "
        "share, and how many rows they have, up to k, or all for the chosen one; where l_diversity is asked for, all "
        "rows, and how many different values, up to l; no label and no value: tokens are keyed hashes, with another "
        "key for each question; of each party how many rows it has, how many have a NULL, and how many "
        "different values a column has",
        "each party": "which of its own classes are suppressed, hence that these violate the requirements at all "
        "parties together, and its others do not; and what the result says",
    },
    "vertical": {
        MEDIATOR: "how many persons each party has, which tokens several have, and for these how many rows the "
        "joined classes of each generalization have; where l_diversity is asked for, which persons share a sensitive "
        "value; no key, label or value: tokens are keyed hashes; and the rows of the joined release, which it carries "
        "to the party where it is published",
        "each party": "which contents of its own rows are released; and what the result says",
        "the party of the release": "the joined release, in random order",
    },
}
"""Who learns what, by the split. The protocols and what is not protected stand in the how-to on parties."""


@dataclass(frozen=True)
class PartiesResult:
    """The result of ``plan`` or ``anonymize`` for parties.

    Attributes:
        verb: ``plan`` or ``anonymize``.
        verdict: ``pass`` or ``fail``.
        message: the verdict in a sentence.
        split: ``horizontal`` or ``vertical``.
        parties: what the parties are called, in their order.
        release: the name of the published parts, or of the joined release; None unless published.
        at: the party where the joined release is; None unless published, and for a horizontal split.
        node: quasi-identifier -> level; None when no node satisfies.
        rows: ``source``, ``released`` and ``suppressed``, of all parties together; of the joined rows in a vertical
            split.
        classes: ``count``, ``smallest``, ``average``, ``largest``, of all parties together.
        achieved: requirement -> the value that is reached.
        metric: the optimized metric's name and its ``value``; None when no node satisfies.
        search: what the search did.
        exchanged: every kind of message: ``from``, ``to``, ``what``, ``messages``, ``items``, ``bytes``.
        learns: who learns what.
        costs: what the run asked of each party's database, and what of it reached the mediator.
        notes: what the user should know besides.
        sql: per party, every statement that ran, in order, with values redacted.
        manifests: per part, what was recorded; empty unless published.

    Examples:
        >>> import duckdb
        >>> north, south = duckdb.connect(), duckdb.connect()
        >>> for site, half in ((north, 0), (south, 1)):
        ...     rows = connection.sql(f"SELECT * FROM visits WHERE CAST(zip AS INTEGER) % 2 = {half}").fetchall()
        ...     _ = site.execute("CREATE TABLE visits (age INTEGER, zip VARCHAR, diagnosis VARCHAR)")
        ...     _ = site.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
        >>> split = kanon_sql.Spec.from_dict({**spec.to_dict(), "search": {"metric": "precision"}})
        >>> sites = [kanon_sql.connect(north), kanon_sql.connect(south)]
        >>> result = kanon_sql.plan_parties(sites, split)
        >>> result.passed, result.node == kanon_sql.plan(db, split).node
        (True, True)
        >>> result.exchanged[0]["what"]
        'tokens of classes with their rows, at most 8 each'
    """

    verb: Literal["plan", "anonymize"]
    verdict: Literal["pass", "fail"]
    message: str
    split: Split
    parties: Sequence[str]
    release: str | None
    at: str | None
    node: Mapping[str, int] | None
    rows: Mapping[str, int]
    classes: Mapping[str, int | float | None]
    achieved: Mapping[str, Mapping[str, Any]]
    metric: Mapping[str, Any] | None
    search: SearchSummary
    exchanged: Sequence[Mapping[str, Any]]
    learns: Mapping[str, str]
    costs: Sequence[Cost] = ()
    notes: Sequence[str] = ()
    sql: Sequence[Sequence[str]] = field(default=(), repr=False)
    manifests: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    @property
    def passed(self) -> bool:
        """Whether the verdict is ``pass``."""
        return self.verdict == "pass"

    def raise_for_failure(self) -> PartiesResult:
        """Return this result, or raise :class:`RequirementNotMet` if the verdict is ``fail``."""
        if not self.passed:
            raise RequirementNotMet(self.message, self)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON-compatible object."""
        return {
            "verb": self.verb,
            "verdict": self.verdict,
            "message": self.message,
            "split": self.split,
            "parties": list(self.parties),
            "release": self.release,
            "at": self.at,
            "node": None if self.node is None else dict(self.node),
            "rows": dict(self.rows),
            "classes": dict(self.classes),
            "achieved": {key: dict(value) for key, value in self.achieved.items()},
            "metric": None if self.metric is None else dict(self.metric),
            "search": {
                "algorithm": self.search.algorithm,
                "proven": self.search.proven,
                "criterion": self.search.criterion,
                "nodes_total": self.search.nodes_total,
                "nodes_evaluated": self.search.nodes_evaluated,
                "minimal_nodes": None if self.search.minimal is None else len(self.search.minimal),
            },
            "exchanged": [dict(item) for item in self.exchanged],
            "learns": dict(self.learns),
            "costs": [cost.to_dict() for cost in self.costs],
            "notes": list(self.notes),
        }


def plan_parties(
    engines: Sequence[Engine],
    spec: Spec,
    *,
    split: Split = "horizontal",
    key: str | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> PartiesResult:
    """Find the best generalization of a table that is split between parties, and publish nothing.

    The result is the one that the pooled (horizontal) or joined (vertical) table would have: the same node, verdict and
    figures. Zhong, Yang, Wright 2005; Jiang, Clifton 2006; Wang, Fung, Dong 2005.

    Args:
        engines: one for each party, from :func:`kanon_sql.connect`; a read-only connection is enough. Each database has
            a table of the name that the spec's source has.
        spec: what to anonymize and how; the same for all.
        split: whether each party has rows of its own, or columns of its own.
        key: in a vertical split the column that every party has: one of the spec's identifiers.
        timeout: seconds for the statements of each party; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: there are fewer than two parties, two are one database, or their columns do not fit.
        UnsupportedError: the spec asks for what only a table in one place can tell.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> kanon_sql.plan_parties([db], spec)
        Traceback (most recent call last):
        ...
        kanon_sql.errors.SpecError: parties: expected two databases at least, got 1; give each with --party
    """
    started = time.perf_counter()
    told = report or _silent
    with _running(engines, spec, split, key, timeout) as names:
        with _searched(engines, names, spec, split, key, told) as found:
            result = _found("plan", found, names, split)
        return _with_costs(result, engines, started)


def anonymize_parties(
    engines: Sequence[Engine],
    spec: Spec,
    *,
    split: Split = "horizontal",
    key: str | None = None,
    at: int = 1,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> PartiesResult:
    """Publish one release of a table that is split between parties, or publish nothing.

    Horizontal: every party's part is published in its own database; the parts are verified together, and satisfy the
    requirement together, not each by itself. Vertical: the joined release is published at one party, with all columns
    as text. Sources as in :func:`plan_parties`.

    Args:
        engines: one for each party, with the right to write; in a vertical split that of the release alone needs it.
        spec: what to anonymize and how; ``release`` is required.
        split: whether each party has rows of its own, or columns of its own.
        key: in a vertical split the column that every party has: one of the spec's identifiers.
        at: in a vertical split the number of the party, from 1 on, where the joined release is published.
        timeout: seconds for the statements of each party; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: the spec names no release, something else stands under its name, or as in :func:`plan_parties`.
        VerificationError: what was written is not what may be published; it was dropped.
        DatabaseError: a party refused after others have published; the message says which.
        KanonError: any other error of :mod:`kanon_sql.errors`.

    Examples:
        >>> import duckdb
        >>> north, south = duckdb.connect(), duckdb.connect()
        >>> for site, half in ((north, 0), (south, 1)):
        ...     rows = connection.sql(f"SELECT * FROM visits WHERE CAST(zip AS INTEGER) % 2 = {half}").fetchall()
        ...     _ = site.execute("CREATE TABLE visits (age INTEGER, zip VARCHAR, diagnosis VARCHAR)")
        ...     _ = site.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
        >>> split = kanon_sql.Spec.from_dict({**spec.to_dict(), "search": {"metric": "precision"}})
        >>> result = kanon_sql.anonymize_parties([kanon_sql.connect(north), kanon_sql.connect(south)], split)
        >>> result.message
        'published 600 of 600 rows in 2 parts, verified together for 8-anonymity; 0 rows suppressed'
        >>> [site.sql("SELECT COUNT(*) FROM visits_release").fetchall() for site in (north, south)]
        [[(300,)], [(300,)]]
    """
    if spec.release is None:
        raise SpecError("release: missing; anonymize needs the name of the table to publish")
    if not 1 <= at <= len(engines):
        raise SpecError(f"--at {at}: expected the number of a party, from 1 to {len(engines)}")
    if split == "horizontal" and at != 1:
        raise SpecError(f"--at {at}: in a horizontal split every party publishes its own part; leave --at out")
    started = time.perf_counter()
    told = report or _silent
    with _running(engines, spec, split, key, timeout) as names:
        for number, (engine, name) in enumerate(zip(engines, names, strict=True), 1):
            if split == "horizontal" or number == at:
                _refuse_place(engine, name, spec)
        with _searched(engines, names, spec, split, key, told) as found:
            result = _found("anonymize", found, names, split)
            if result.passed and isinstance(found, Horizontal):
                result = _published_in_parts(found, result, told)
            elif result.passed and isinstance(found, Vertical):
                result = _published_joined(found, result, at, told)
        return _with_costs(result, engines, started)


def _silent(stage: str, nodes: int | None = None) -> None:
    """Report to nobody."""


@contextmanager
def _running(
    engines: Sequence[Engine], spec: Spec, split: str, key: str | None, timeout: float | None
) -> Iterator[list[str]]:
    """A run of every engine; what the parties are called."""
    if len(engines) < 2:
        raise SpecError(f"parties: expected two databases at least, got {len(engines)}; give each with --party")
    if split not in ("horizontal", "vertical"):
        raise SpecError(f"--split {split}: expected horizontal (rows) or vertical (columns)")
    if key is None and split == "vertical":
        raise SpecError("--key: a vertical split needs the column that every party has; give --key COLUMN")
    if key is not None and split == "horizontal":
        raise SpecError("--key: only a vertical split has one; leave it out, or give --split vertical")
    for name in spec.points:
        raise UnsupportedError(
            f"parties: quasi_identifiers.{name}: no party makes the cells of a point; name them in a view, as a column "
            "that each party's database has"
        )
    names = [f"party {number}" for number, _ in enumerate(engines, 1)]
    _refuse_twice(engines, names)
    with ExitStack() as opened:
        for engine in engines:
            opened.enter_context(engine.run(Deadline(timeout)))
        yield names


def _refuse_twice(engines: Sequence[Engine], names: Sequence[str]) -> None:
    """Refuse one database as two parties: its rows would be counted twice."""
    seen: dict[object, str] = {}
    for engine, name in zip(engines, names, strict=True):
        for place in {id(engine), _place(engine)} - {None}:
            if place in seen:
                raise SpecError(
                    f"parties: {seen[place]} and {name} are one database, {engine.label}, whose rows would be counted "
                    "twice; name every database once"
                )
            seen[place] = name


def _place(engine: Engine) -> str | None:
    """Where a database is, the same for two ways of writing a file's name; None where its label does not tell."""
    label = engine.label
    if engine.ephemeral:
        return None
    if "://" in label:
        return label
    return str(Path(label).resolve()) if Path(label).exists() else None


def _searched(
    engines: Sequence[Engine], names: Sequence[str], spec: Spec, split: str, key: str | None, report: Reporter
) -> AbstractContextManager[Horizontal | Vertical]:
    if key is None:
        return searched_horizontally(engines, names, spec, report)
    return searched_vertically(engines, names, spec, key, report)


def _refuse_place(engine: Engine, name: str, spec: Spec) -> None:
    """Refuse a party where nothing can be published, before anything is read."""
    if engine.read_only:
        raise SpecError(f"the connection to {name} ({engine.label}) is read-only; anonymize has to write")
    with open_workspace(engine, source_of(engine, spec)) as workspace, engine.transaction():
        refuse_foreign_release(workspace, spec)


def _found(
    verb: Literal["plan", "anonymize"], found: Horizontal | Vertical, names: Sequence[str], split: Split
) -> PartiesResult:
    """What the search found, before anything is published."""
    spec, evaluator, outcome = found.spec, found.evaluator, found.outcome
    models, best = models_of(spec), outcome.best
    wanted = ", ".join(model.label for model in models)
    joined = "joined " if split == "vertical" else ""
    if best is None:
        message = _failure(found, wanted)
        rows = {"source": evaluator.rows, "released": 0, "suppressed": evaluator.rows}
    else:
        released = evaluator.rows - best.suppressed
        rows = {"source": evaluator.rows, "released": released, "suppressed": best.suppressed}
        message = (
            f"a release of {released:,} of {evaluator.rows:,} {joined}rows satisfies {wanted}; "
            f"{rows_in_words(best.suppressed)} suppressed"
        )
    kept = found.classes.kept(evaluator.demands)
    smallest = min(kept.values(), default=None)
    achieved = [Achieved(model, model.achieved(_reached(found, model.attribute), False), 0, 0) for model in models]
    examined = Examination(kept.total(), len(kept), smallest, max(kept.values(), default=None), 0, achieved)
    return PartiesResult(
        verb=verb,
        verdict="fail" if best is None else "pass",
        message=message if best is not None or verb == "plan" else f"nothing was published: {message}",
        split=split,
        parties=list(names),
        release=None,
        at=None,
        node=None if best is None else dict(zip(spec.quasi_identifiers, best.node, strict=True)),
        rows=rows,
        classes={} if best is None else examined.classes_dict(),
        achieved={} if best is None else examined.achieved_dict(),
        metric=None if best is None else {"name": spec.search.metric_label, "value": best.metric},
        search=SearchSummary(
            algorithm=outcome.algorithm,
            proven=outcome.proven,
            criterion=outcome.criterion.replace("lowest metric", f"lowest {spec.search.metric_label}"),
            nodes_total=evaluator.lattice.size,
            nodes_evaluated=outcome.evaluated,
            nodes_inferred=outcome.inferred,
            minimal=outcome.minimal,
        ),
        exchanged=found.transcript.totals(),
        learns=LEARNS[split],
        notes=_notes(found, split),
    )


def _reached(found: Horizontal | Vertical, attribute: str | None) -> int | None:
    """The fewest rows of a released class, or the fewest different values of an attribute."""
    demands = found.evaluator.demands
    if attribute is not None:
        return found.classes.fewest_values(attribute, demands)
    return min(found.classes.kept(demands).values(), default=None)


def _failure(found: Horizontal | Vertical, wanted: str) -> str:
    """Why no node satisfies, in a sentence."""
    evaluator = found.evaluator
    what = "all parties together have" if isinstance(found, Horizontal) else "the parties have together, joined,"
    if evaluator.rows < evaluator.demands.k:
        return f"{what} fewer than {evaluator.demands.k} rows, so nothing can be released"
    (verdict,) = evaluator.answers(Batch((evaluator.lattice.top,)))
    return (
        f"no generalization satisfies {wanted}: even at the highest levels allowed {verdict.suppressed:,} of "
        f"{rows_in_words(evaluator.rows)} violate it, and at most {evaluator.max_suppressed:,} may be suppressed"
    )


def _notes(found: Horizontal | Vertical, split: Split) -> list[str]:
    spec = found.spec
    if split == "horizontal":
        return [
            "the parts are one release: the requirements hold for all of them together, and a part alone may have "
            "classes that violate them; pass them on as one table, in which no column or order tells the party",
            "who has rows at several parties is counted once for each",
        ]
    notes = ["the columns of a joined release are text"]
    if spec.sensitive or spec.keep:
        listed = ", ".join([*spec.sensitive, *spec.keep])
        notes.append(
            f"to the party that holds them, the values of {listed} tell of its own rows what quasi-identifiers would: "
            "where a value is rare in a class, it can tell whose row that is, and reads the other parties' labels there"
        )
    return notes


def _published_in_parts(found: Horizontal, result: PartiesResult, report: Reporter) -> PartiesResult:
    """Every party's part, published in its own database."""
    assert found.spec.release is not None
    name = ".".join(found.spec.release)
    manifests: list[Mapping[str, Any]] = []
    with found.written(report) as parts:
        result = replace(
            result,
            message=f"published {result.rows['released']:,} of {rows_in_words(result.rows['source'])} in "
            f"{len(parts)} parts, verified together for {_wanted(found.spec)}; "
            f"{rows_in_words(result.rows['suppressed'])} suppressed",
            release=name,
            exchanged=found.transcript.totals(),
        )
        run = parts[0].site.workspace.run_id

        def manifest(part: Part, number: int) -> Mapping[str, Any]:
            split = {"split": "horizontal", "run": run, "part": number, "of": len(parts)}
            manifests.append(_manifest(part.site.workspace, found.spec, result, part.rows, split))
            return manifests[-1]

        found.publish(parts, manifest)
    return replace(result, manifests=manifests)


def _published_joined(found: Vertical, result: PartiesResult, at: int, report: Reporter) -> PartiesResult:
    """The joined release, published at one party."""
    assert found.spec.release is not None
    holder = found.holders[at - 1]
    with found.written(at - 1, report) as joined:
        result = replace(
            result,
            message=f"published {result.rows['released']:,} of {result.rows['source']:,} joined rows at {holder.name}, "
            f"verified for {_wanted(found.spec)}; {rows_in_words(result.rows['suppressed'])} suppressed",
            release=".".join(found.spec.release),
            at=holder.name,
            classes=joined.examination.classes_dict(),
            achieved=joined.examination.achieved_dict(),
            exchanged=found.transcript.totals(),
        )
        split = {"split": "vertical", "run": holder.workspace.run_id, "part": 1, "of": 1}
        manifest = _manifest(holder.workspace, found.spec, result, result.rows, split)
        found.publish(at - 1, joined, manifest)
    return replace(result, manifests=[manifest])


def _wanted(spec: Spec) -> str:
    return ", ".join(model.label for model in models_of(spec))


def _manifest(
    workspace: Workspace, spec: Spec, result: PartiesResult, rows: Mapping[str, int], split: Mapping[str, Any]
) -> dict[str, Any]:
    """What was published and how. Of the other parties' rows it holds what the result says, and nothing by party."""
    search = result.to_dict()["search"]
    return {
        "kanon_sql": __version__,
        "run_id": workspace.run_id,
        "published_at": now(),
        "release": result.release,
        "spec": spec.redacted(),
        "spec_hash": spec.hash,
        "node": dict(result.node or {}),
        "intervals": None,
        "recoding": None,
        "rows": dict(rows),
        "classes": dict(result.classes),
        "achieved": {key: dict(value) for key, value in result.achieved.items()},
        "metrics": {} if result.metric is None else {result.metric["name"]: result.metric["value"]},
        "search": search,
        "applied": None,
        "cost": {},
        "notes": list(result.notes),
        "details": None,
        "parties": {**split, "rows": dict(result.rows), "learns": dict(result.learns)},
        "versions": {
            "python": platform.python_version(),
            "sqlglot": version("sqlglot"),
            "engine": f"{workspace.dialect.name} {workspace.engine.version}",
        },
    }


def _with_costs(result: PartiesResult, engines: Sequence[Engine], started: float) -> PartiesResult:
    seconds = time.perf_counter() - started
    return replace(
        result,
        costs=[Cost.of(engine.meter, seconds) for engine in engines],
        sql=[redacted_log(engine.meter) for engine in engines],
    )
