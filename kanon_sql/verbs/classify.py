"""How well a column can be told from a release: naive Bayes, trained on the release, tested on the source, in SQL.

What is asked is whether an analyst who has the release alone can learn from it what holds for people as they are
(Iyengar 2002, section 5; Fung, Wang, Yu 2007, section 5). So the classifier learns from released rows, and is tested on
held-out rows of the source, suppressed ones among them, each generalized as the release did; rows that were released
themselves would flatter it. Beside it stand the same classifier trained on the source, and the most frequent value.

Everything is a sum over the frequency set of the quasi-identifiers and the column: no row is fetched, and the source is
not read again. Rows that are alike are dealt to the folds in turn, from a fold on that a digest of them says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.engines import Workspace, refuse_incomplete
from kanon_sql.errors import Obstacle, UnsupportedError
from kanon_sql.evaluate import Chosen
from kanon_sql.frequency import FrequencySets
from kanon_sql.recode import RecodingResult
from kanon_sql.spec import Spec
from kanon_sql.sql import PORTABLE, Relation, Sql, identifier, literal, render, sql_list
from kanon_sql.verbs.result import Utility

__all__ = ["classified", "utility_obstacles"]

FEWEST = 20
"""Of fewer rows, an accuracy says something of each."""

_KEY = "folds of kanon_sql"
"""The folds need not be secret, only the same every time."""


def classified(found: Chosen | RecodingResult) -> Utility | None:
    """The accuracies of a release that was searched for; None where the spec asks for none.

    Args:
        found: the search or the recoding, its workspace still open.

    Raises:
        UnsupportedError: the recoding has no one label for the values of a row.
    """
    spec = found.spec
    if spec.utility is None:
        return None
    if isinstance(found, RecodingResult) and found.mapped.slices:
        raise UnsupportedError(_parted(spec))
    workspace, sets = found.workspace.apart("utility_"), found.sets
    workspace.report(f"telling {spec.utility.classify!r} from the release", None)
    grouped = _grouped(workspace, spec, found)
    own = [f"s{number}" for number, _ in enumerate(sets.lookups)]
    released = [f"r{number}" for number, _ in enumerate(sets.lookups)]
    tested, right, majority, classes = _predicted(
        workspace, "of_source", grouped, own, spec.utility.folds, all_rows=True
    )
    again, released_right, _, _ = _predicted(
        workspace, "of_release", grouped, released, spec.utility.folds, all_rows=False
    )
    refuse_incomplete("verbs/classify/predicted", again, tested)
    few = tested < FEWEST
    return {
        "classify": spec.utility.classify,
        "folds": spec.utility.folds,
        "classes": classes,
        "tested": tested,
        "accuracy": {
            "source": None if few else right / tested,
            "release": None if few else released_right / tested,
            "majority": None if few else majority / tested,
        },
    }


def utility_obstacles(spec: Spec) -> Iterator[Obstacle]:
    """Releases of which no row has one label a column, so that nothing can be told of it as a reader would."""
    if spec.utility is None:
        return
    if spec.search.of_intervals:
        yield Obstacle(
            f"utility: {spec.search.algorithm} chooses its own intervals, which are not hierarchy labels; use another "
            "algorithm"
        )
    if spec.recoding.parts_rows:
        yield Obstacle(_parted(spec))


def _parted(spec: Spec) -> str:
    return (
        f"utility: recoding: {spec.recoding.method} gives equal rows different labels, so held-out rows cannot be "
        "generalized like the release; use another recoding"
    )


def _grouped(workspace: Workspace, spec: Spec, found: Chosen | RecodingResult) -> Relation:
    """Every vector and class value, as the source has it and as it is released."""
    assert spec.utility is not None
    sets, target = found.sets, workspace.table("grouped")
    words = [f"code{number}" for number in range(sets.codes.words)]
    texts = [Sql(f"CAST(held.{identifier(word)} AS VARCHAR)") for word in words]
    drawn = sql_list([*texts, Sql("CAST(held.value_code AS VARCHAR)")], " || '/' || ")
    suppressed: Relation | None = None
    keys: Sequence[Sql] = ()
    if isinstance(found, RecodingResult):
        released = [Sql(f"classes.{identifier(f'label{number}')}") for number, _ in enumerate(sets.lookups)]
        left_out = Sql("classes.part IS NULL")
    else:
        released = [_code(sets, number, level) for number, level in enumerate(found.node)]
        left_out = Sql("1 = 0")
        if found.rows()["suppressed"] > sets.null_rows:
            suppressed = found.evaluator.suppressed_classes(found.node)
            keys = [Sql(key) for key in sets.codes.keys(found.node, PORTABLE, "held")]
            left_out = Sql("suppressed.class_rows IS NOT NULL")
    workspace.execute(
        "verbs/classify/grouped",
        target=target,
        values=sets.values[spec.utility.classify],
        words=words,
        source_codes=[_code(sets, number, 0) for number, _ in enumerate(sets.lookups)],
        released_codes=released,
        draw=render("frequency/draw", key=_KEY, text=drawn),
        left_out=left_out,
        suppressed=suppressed,
        keys=keys,
        classed=found.mapped.classed if isinstance(found, RecodingResult) else None,
        classes=found.mapped.classes if isinstance(found, RecodingResult) else None,
    )
    return target


def _code(sets: FrequencySets, number: int, level: int) -> Sql:
    """A column's code at a level; one for all at the top."""
    if level >= sets.lookups[number].height:
        return literal(0)
    return Sql(sets.codes.code(number, level, PORTABLE, "held"))


def _predicted(
    workspace: Workspace, what: str, grouped: Relation, seen: Sequence[str], folds: int, *, all_rows: bool
) -> tuple[int, int, int, int]:
    """Rows that were tested, those told rightly, those of the most frequent value, and class values.

    Args:
        workspace: where.
        what: in the names of scratch tables.
        grouped: the examples.
        seen: the columns that the classifier sees.
        folds: how many times a part is held out.
        all_rows: it learns from all rows, not from the released ones alone.
    """
    examples = workspace.table(f"examples_{what}")
    workspace.execute(
        "verbs/classify/folded", target=examples, grouped=grouped, seen=seen, folds=folds, trained_on_all=all_rows
    )
    names = [f"x{number}" for number, _ in enumerate(seen)]
    rows, classes, *labels = (
        int(item or 0) for item in workspace.row("verbs/classify/labels", examples=examples, seen=names)
    )
    if not rows:
        return 0, 0, 0, 0
    patterns, priors = workspace.table(f"patterns_{what}"), workspace.table(f"priors_{what}")
    workspace.execute("verbs/classify/patterns", target=patterns, examples=examples, seen=names)
    workspace.execute("verbs/classify/trained", target=priors, examples=examples, seen=None)
    columns: list[Mapping[str, Any]] = []
    for number, name in enumerate(names):
        trained = workspace.table(f"taught_{what}_{number}")
        workspace.execute("verbs/classify/trained", target=trained, examples=examples, seen=name)
        columns.append({"seen": name, "table": trained, "labels": labels[number]})
    tested, right = workspace.row(
        "verbs/classify/predicted", examples=examples, patterns=patterns, priors=priors, columns=columns
    )
    by_majority, majority = workspace.row("verbs/classify/majority", examples=examples, priors=priors)
    refuse_incomplete("verbs/classify/predicted", tested, rows)
    refuse_incomplete("verbs/classify/majority", by_majority, rows)
    return rows, int(right), int(majority), classes
