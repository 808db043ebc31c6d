"""What a run over several databases found, as a value: the verdict, the figures, and who learned what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kanon_sql.errors import RequirementNotMet
from kanon_sql.evaluate import Achieved, Examination, SearchSummary, rows_in_words
from kanon_sql.hierarchies import level_names
from kanon_sql.models import models_of
from kanon_sql.parties import MEDIATOR, Horizontal, Vertical
from kanon_sql.search import Batch
from kanon_sql.spec import Displayed, Spec
from kanon_sql.verbs.result import Cost

__all__ = ["PartiesResult", "Split", "result_of", "wanted_of"]

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


@dataclass(frozen=True, repr=False)
class PartiesResult(Displayed):
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
        level_names: quasi-identifier -> what each of its levels is called, level 0 first.
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
    level_names: Mapping[str, Sequence[str]]
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
            "level_names": {name: list(names) for name, names in self.level_names.items()},
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


def result_of(
    verb: Literal["plan", "anonymize"], found: Horizontal | Vertical, names: Sequence[str], split: Split
) -> PartiesResult:
    """What the search found, before anything is published."""
    spec, evaluator, outcome = found.spec, found.evaluator, found.outcome
    models, best, wanted = models_of(spec), outcome.best, wanted_of(spec)
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
        level_names={
            name: level_names(item, height)
            for (name, item), height in zip(spec.quasi_identifiers.items(), evaluator.question().heights, strict=True)
        },
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


def wanted_of(spec: Spec) -> str:
    """The requirements, in the field's notation."""
    return ", ".join(model.label for model in models_of(spec))
