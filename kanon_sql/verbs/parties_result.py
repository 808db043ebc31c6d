"""What a run over several databases found, as a value: the verdict, the figures, and who learned what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from kanon_sql.evaluate import Achieved, Examination, MaybeClasses, rows_in_words
from kanon_sql.hierarchies import level_names
from kanon_sql.models import models_of
from kanon_sql.parties import MEDIATOR, Exchanged, Horizontal, Vertical
from kanon_sql.search import Batch
from kanon_sql.spec import HIDDEN, Count, Keywords, Nonnegative, Positive, Spec, Text, VerdictResult
from kanon_sql.verbs.result import Cost

__all__ = ["PartiesResult", "Split", "result_of", "wanted_of"]

Split = Literal["horizontal", "vertical"]

LEARNS: dict[str, dict[str, str]] = {
    "horizontal": {
        MEDIATOR: "of each evaluated generalization, how many classes each party has, which of them two parties "
        "share, and how many rows they have, up to k, or all for the chosen one; where l_diversity is asked for, all "
        "rows, and how many different values, up to l; no label and no value: tokens are keyed hashes, with another "
        "key for each question; of each party how many rows it has, how many have a NULL, and how many different "
        "values a column has",
        "each party": "which of its own classes are suppressed, hence that these violate the requirements at all "
        "parties together, and its others do not; and the result",
    },
    "vertical": {
        MEDIATOR: "how many persons each party has, which tokens several have, and for these how many rows the "
        "joined classes of each generalization have; where l_diversity is asked for, which persons share a sensitive "
        "value; no key, label or value: tokens are keyed hashes; and the rows of the joined release, which it carries "
        "to the party where it is published",
        "each party": "which contents of its own rows are released; and the result",
        "the party of the release": "the joined release, in random order",
    },
}
"""Who learns what, by the split. The protocols and what is not protected stand in the how-to on parties."""


class PartiesRows(TypedDict):
    """Rows of all parties together; of the joined rows in a vertical split.

    Attributes:
        source: all of them.
        released: those that are released.
        suppressed: those that are left out.
    """

    source: Count
    released: Count
    suppressed: Count


class PartiesAchieved(TypedDict):
    """What a requirement reaches.

    Attributes:
        requirement: what was asked, in the field's notation.
        k: the size of the smallest class.
        l: the fewest different values of a class.
        violating_classes: classes that violate it.
        violating_rows: rows in those classes.
    """

    requirement: Text
    k: NotRequired[Positive | None]
    l: NotRequired[Positive | None]  # noqa: E741
    violating_classes: Count
    violating_rows: Count


class OptimizedMetric(TypedDict):
    """The optimized metric.

    Attributes:
        name: which one.
        value: its value at the chosen node.
    """

    name: Text
    value: Nonnegative


class PartiesSearch(TypedDict):
    """What the search did.

    Attributes:
        algorithm: the search algorithm.
        proven: whether the chosen levels are proven to be the best ones.
        criterion: what they are best for, in words.
        nodes_total: nodes of the lattice.
        nodes_evaluated: nodes that the parties were asked about.
        minimal_nodes: how many minimal nodes there are; None where not all are known.
    """

    algorithm: Text
    proven: bool
    criterion: Text
    nodes_total: Count
    nodes_evaluated: Count
    minimal_nodes: Count | None


@dataclass(frozen=True, repr=False)
class PartiesResult(VerdictResult):
    """What ``parties plan`` and ``parties anonymize`` print: one release of a table split between databases.

    Attributes:
        verb: ``plan`` or ``anonymize``.
        verdict: ``pass`` or ``fail``.
        message: the verdict in a sentence.
        split: whether each party has rows (``horizontal``) or columns of its own.
        parties: what the parties are called, in their order.
        release: the name of the published parts, or of the joined release; None unless published.
        at: the party where the joined release is; None unless published, and for a horizontal split.
        node: quasi-identifier -> level; None when no node satisfies.
        level_names: quasi-identifier -> what each of its levels is called, level 0 first.
        rows: rows of all parties together; of the joined rows in a vertical split.
        classes: the equivalence classes of all parties together; empty where the verdict is ``fail``.
        achieved: what each requirement reaches; empty where the verdict is ``fail``.
        metric: the optimized metric; None when no node satisfies.
        search: what the search did.
        exchanged: what crossed, by sender, receiver and kind.
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
    message: Text
    split: Split
    parties: Annotated[Sequence[Text], Keywords(minItems=2)]
    release: str | None
    at: str | None
    node: Mapping[str, Count] | None
    level_names: Mapping[str, Annotated[Sequence[Text], Keywords(minItems=1)]]
    rows: PartiesRows
    classes: MaybeClasses
    achieved: Mapping[str, PartiesAchieved]
    metric: OptimizedMetric | None
    search: PartiesSearch
    exchanged: Sequence[Exchanged]
    learns: Mapping[str, Text]
    costs: Sequence[Cost] = ()
    notes: Sequence[Text] = ()
    sql: Sequence[Sequence[str]] = field(default=(), repr=False, metadata=HIDDEN)
    manifests: Sequence[Mapping[str, Any]] = field(default=(), repr=False, metadata=HIDDEN)


def result_of(
    verb: Literal["plan", "anonymize"], found: Horizontal | Vertical, names: Sequence[str], split: Split
) -> PartiesResult:
    """What the search found, before anything is published."""
    spec, evaluator, outcome = found.spec, found.evaluator, found.outcome
    models, best, wanted = models_of(spec), outcome.best, wanted_of(spec)
    joined = "joined " if split == "vertical" else ""
    if best is None:
        message = _failure(found, wanted)
        rows: PartiesRows = {"source": evaluator.rows, "released": 0, "suppressed": evaluator.rows}
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
        level_names={
            name: level_names(item, height)
            for (name, item), height in zip(spec.quasi_identifiers.items(), evaluator.question().heights, strict=True)
        },
        rows=rows,
        classes={} if best is None else examined.classes_dict(),
        achieved={} if best is None else cast("Any", examined.achieved_dict()),
        metric=None if best is None else {"name": spec.search.metric_label, "value": cast("float", best.metric)},
        search={
            "algorithm": outcome.algorithm,
            "proven": outcome.proven,
            "criterion": outcome.criterion.replace("lowest metric", f"lowest {spec.search.metric_label}"),
            "nodes_total": evaluator.lattice.size,
            "nodes_evaluated": outcome.evaluated,
            "minimal_nodes": None if outcome.minimal is None else len(outcome.minimal),
        },
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
            "the parts are one release: the requirements hold for all parts together, and a single part may violate "
            "them; pass them on as one table, without a column or an order that shows the party",
            "a person with rows at several parties is counted once per party",
        ]
    notes = ["the columns of a joined release are text"]
    if spec.sensitive or spec.keep:
        listed = ", ".join([*spec.sensitive, *spec.keep])
        notes.append(
            f"the values of {listed} let the party that holds them recognize its own rows like quasi-identifiers: "
            "where a value is rare in a class, the party can identify the row and learn the other parties' labels"
        )
    return notes


def wanted_of(spec: Spec) -> str:
    """The requirements, in the field's notation."""
    return ", ".join(model.label for model in models_of(spec))
