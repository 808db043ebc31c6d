"""The results of ``plan``, ``check`` and the verbs that publish as text: the verdict first, then the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kanon_sql.registers import QUALITY_METRICS, RECODINGS
from kanon_sql.report.layout import columns, cost_line, facts, named_warnings, plain_notes, section, verdict
from kanon_sql.report.levels import intervals_table, levels_table, names_table
from kanon_sql.report.recoding import column_cells, recoding_in_words
from kanon_sql.report.words import metric, number, percent, plural, shown
from kanon_sql.verbs.result import Check, Generalization, Plan, PublishedRelease, RefreshedRelease, Release, Result

if TYPE_CHECKING:
    from kanon_sql.evaluate import Classes, ClassSizes, Distances, SearchSummary
    from kanon_sql.search import Explained

__all__ = ["MOST_COLUMNS", "distance_vectors", "quality_of", "reached", "result_text", "size_cells"]


def quality_of(metrics: Mapping[str, float], mean_loss: float | None) -> Iterator[tuple[str, str, str]]:
    """Per quality metric: its name, its value, and in a few words what it says; nothing of another form of one."""
    if mean_loss is not None:
        yield "mean loss", metric(mean_loss), "detail lost by a cell, on average"
    for name, value in metrics.items():
        yield name.replace("_", " "), metric(value), QUALITY_METRICS[name].words if name in QUALITY_METRICS else ""


LISTED = 60
"""A lattice of this many nodes is listed node by node."""

_REACHED = {
    "wanted_k": "largest per-row k = {}",
    "average": "average risk = {}",
    "records_at_risk": "at risk = {}",
    "payout": "lowest payout = {}",
    "size": "rows or persons = {}",
    "k_estimated": "k = {}, estimated",
    "share": "unique in the population = {}, estimated",
    "sample_uniques": "unique in the table = {}",
    "c_above": "c > {}",
    "delta_above": "delta > {}",
    "exposed_persons": "persons exposed = {}",
}
"""What is not said as it is named, such as ``k = 7``."""

_OTHERS = ("requirement", "violating_classes", "violating_rows", "changed_persons", "beliefs_not_shown")
"""What a requirement has besides the figures that it reaches."""


def result_text(result: Result, *, all_minimal: bool = False) -> RenderableType:
    """The result of ``plan``, ``anonymize``, ``apply``, ``refresh`` or ``check``.

    Args:
        result: what to show.
        all_minimal: list all k-minimal generalizations, not only their number, and the locally minimal ones.
    """
    parts: list[RenderableType] = [verdict(result.passed, result.message)]
    if result.warnings:
        parts += section("Warnings", named_warnings(result.warnings))
    parts += [Text(), facts(_summary(result))]
    if isinstance(result, Plan | Release) and result.intervals is not None:
        parts += section("Intervals", intervals_table(result.intervals, result.node or {}, result.level_names))
    elif isinstance(result, Generalization | RefreshedRelease) and result.node is not None:
        parts += section("Levels", levels_table(result.node, result.level_names))
    if isinstance(result, Generalization) and result.recoding is not None:
        parts += section(RECODINGS[result.recoding["method"]].title, _recoding(result.recoding, result.level_names))
    if result.achieved:
        parts += section("Requirements", _requirements(result.achieved))
    for item in result.achieved.values():
        if item.get("beliefs") is not None:
            parts += section(f"Beliefs: {shown(str(item['requirement']))}", _beliefs(item))
    if isinstance(result, Check) and result.revealed:
        parts += section("Classes that violate: VALUES OF FEW PERSONS, do not pass this on", _revealed(result.revealed))
    if result.class_sizes:
        parts += section(
            "Class sizes", _sizes(result.class_sizes, counted="persons" if "persons" in result.rows else "size")
        )
    if isinstance(result, Generalization):
        parts += _quality(result, all_minimal)
    if isinstance(result, PublishedRelease) and result.ledger is not None:
        parts += section("Together with earlier releases", _ledger(result.ledger))
    if isinstance(result, Release) and result.differential_privacy is not None:
        parts += section("Differential privacy", facts(_differential_privacy(result.differential_privacy)))
    if isinstance(result, Release) and result.m_invariance is not None:
        parts += section("Sequence of releases", facts(_m_invariance(result.m_invariance)))
    if isinstance(result, RefreshedRelease):
        parts += section("Since the last run", facts(_refresh(result.refresh)))
    if result.notes:
        parts += section("Notes", plain_notes(result.notes))
    parts += [Text(), Text(cost_line(result.cost), "dim")]
    return Group(*parts)


def _quality(result: Generalization, all_minimal: bool) -> Iterable[RenderableType]:
    """What is lost, and how it was searched for."""
    if result.metrics:
        yield from section("Quality (lower is better)", _metrics(result))
    if result.utility is not None:
        yield from section(f"Predicting {result.utility['classify']} (accuracy)", facts(_utility(result.utility)))
    if result.search is None:
        return
    yield from section("Search", facts(_search(result.search, result.node is not None)))
    names = list(result.node or {})
    if all_minimal and result.search.minimal is not None:
        yield from section("All k-minimal generalizations", _nodes(result.search.minimal, names))
        others = [node for node in result.search.locally_minimal or () if node not in set(result.search.minimal)]
        if others:
            yield from section(
                "Other locally minimal nodes (first on a path up from the values)", _nodes(others, names)
            )
    if result.search.lattice:
        yield from section("Lattice", _lattice(result.search.lattice, result.node))
    if result.search.distances is not None:
        yield from section("Distance vectors", distance_vectors(result.search.distances))
    if isinstance(result, Plan) and result.search.runners_up:
        yield from section("Runners-up", _runners_up(result.search.runners_up))
    if result.level_names and _has_vectors(result, all_minimal):
        yield from section("Names of the levels", names_table(result.level_names))


def _has_vectors(result: Generalization, all_minimal: bool) -> bool:
    """Whether levels are shown as vectors, which have no place for names."""
    found = result.search
    if found is None:
        return False
    listed = (all_minimal and found.minimal) or (isinstance(result, Plan) and found.runners_up)
    return bool(listed or found.distances or (found.lattice and len(found.lattice) <= LISTED))


def _utility(found: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    listed = {
        "source": "trained on the source",
        "release": "trained on the release",
        "majority": "the most frequent value",
    }
    for name, words in listed.items():
        share = found["accuracy"][name]
        yield words, "-" if share is None else f"{share:.4f}"
    yield "tested on", f"{number(found['tested'])} rows of the source, in {found['folds']} folds"


def _summary(result: Result) -> Iterable[tuple[str, str]]:
    rows, classes = result.rows, result.classes
    if isinstance(result, Check):
        yield "table", result.release
        yield "rows", number(rows["source"])
    else:
        if result.release is not None:
            yield "release", result.release if result.passed else f"{result.release} (not published)"
        yield (
            "rows",
            f"{number(rows['source'])} in the source = {number(rows['released'])} released"
            f" + {number(rows['suppressed'])} suppressed ({percent(rows['suppressed'], rows['source'])})",
        )
        if isinstance(result, Generalization) and (most := result.max_suppressed):
            yield "limit", f"{plural(most, 'row')} ({percent(most, rows['source'])}) may be suppressed"
    if rows.get("masked"):
        yield "masked", f"{plural(rows['masked'], 'suppressed row')} kept, every quasi-identifier at its top"
    if "persons" in rows:
        yield "persons", f"{number(rows['persons'])} in the source"
    if classes:
        yield "classes", _classes(classes)


def _classes(classes: Classes) -> str:
    """How many there are, and how large."""
    if not classes.get("count"):
        return "none"
    smallest, average, largest = classes["smallest"], classes["average"], classes["largest"]
    sizes = [
        f"smallest {number(smallest)}" if smallest else "",
        f"average {metric(average)}" if average else "",
        f"largest {number(largest)}" if largest else "",
    ]
    return f"{number(classes['count'])}: {', '.join(filter(None, sizes))}"


def _recoding(recoding: Mapping[str, Any], names: Mapping[str, Sequence[str]] | None) -> RenderableType:
    """Per column, the share of detail that a cell has lost on average, and the rows on each level."""
    table = columns([("quasi-identifier", False), ("mean loss", True), ("labels", True), ("rows by level", False)])
    for name, loss, labels, shares in column_cells(recoding, names):
        table.add_row(Text(shown(name)), Text(loss), Text(labels), Text(shares, "dim", overflow="fold"))
    return Group(Text(recoding_in_words(recoding, names)), table)


def _requirements(achieved: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    table = columns([("asked", False), ("achieved", False), ("violating classes", True), ("rows", True)])
    for item in achieved.values():
        classes, rows = int(item["violating_classes"]), int(item["violating_rows"])
        style = "red" if classes else ""
        table.add_row(
            Text(shown(str(item["requirement"]))),
            Text(reached(item)),
            Text(number(classes), style),
            Text(number(rows), style),
        )
    return table


def _beliefs(item: Mapping[str, Any]) -> RenderableType:
    """How persons are believed to have what they have, before the release and after it."""
    table = columns([("believed before", False), ("after", False), ("persons", True)])
    for cell in item["beliefs"]:
        ends = (f"{cell[name]:.1f} to {cell[name] + 0.1:.1f}" for name in ("prior_from", "posterior_from"))
        table.add_row(*map(Text, ends), Text(number(int(cell["persons"]))))
    if item["beliefs_not_shown"]:
        table.add_row(Text("in cells of too few"), Text(), Text(number(int(item["beliefs_not_shown"]))))
    return table


def _ledger(ledger: Mapping[str, Any]) -> RenderableType:
    listed = [
        ("ledger", str(ledger["table"])),
        ("compared with", ", ".join(ledger["earlier"]) or "none: the first one"),
    ]
    if ledger["coarsened"]:
        refused = f", after {number(ledger['refused'])} that were not safe" if ledger["refused"] else ""
        listed.append(("coarsened", f"searched at the levels that earlier releases have, or above{refused}"))
    if ledger["changed"]:
        listed.append(("not comparable", ", ".join(ledger["changed"])))
    if not ledger["achieved"]:
        return facts(listed)
    classes = ledger["classes"]
    listed.append(("joint classes", f"{number(classes['count'])}, smallest {number(classes['smallest'] or 0)}"))
    return Group(facts(listed), _requirements(ledger["achieved"]))


def _differential_privacy(found: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What the mechanism guarantees, and what its ledger's releases have spent."""
    of_search = ""
    if found["score"] is not None:
        of_search = f", of which {found['epsilon_of_search']:g} for the levels (score: {found['score']})"
    yield "epsilon", f"{found['epsilon']:g}{of_search}"
    yield "delta", f"{found['delta']:g}"
    yield "protects", "rows: one row more or less, whatever else is known"
    yield "sample", f"each row with probability {found['sampling']:.4g}, by the operating system's random numbers"
    yield "k", f"{number(found['k'])} drawn rows in every class"
    spent, total = found["spent"], found["total"]
    yield (
        "budget",
        f"epsilon {spent['epsilon']:g} of {total['epsilon']:g} and delta {spent['delta']:g} of {total['delta']:g} are "
        f"spent ({found['ledger']})",
    )


def _m_invariance(found: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What a release is held to by those before it, and the rows in it that are of no person."""
    yield "history", found["history"]
    yield "invariant with", ", ".join(found["earlier"]) or "no earlier release"
    persons = found["persons"]
    yield "persons", f"{number(persons['released_before'])} released before, {number(persons['new'])} new"
    with_some = sum(item["classes"] for item in found["classes_by_counterfeits"] if item["counterfeits"])
    yield "counterfeits", f"{number(found['counterfeits'])}, in {plural(with_some, 'class')}"


def _refresh(found: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What became of the rows that are new, and of those that left."""
    yield "taken", plural(found["taken"], "new row")
    if found["left"]:
        yield "left", f"{plural(found['left'], 'row')}; {number(found['removed'])} were taken out of the release"
    yield "added", f"{plural(found['added'], 'row')}; verified: {found['verified']}"
    if found["added_classes"]:
        yield "classes added", _classes(found["added_classes"])
        reaches = (f"{shown(str(item['requirement']))}: {reached(item)}" for item in found["added_achieved"].values())
        yield "they reach", "; ".join(reaches)
    yield "waiting", f"{plural(found['waiting'], 'row')}, of which {number(found['held'])} are held"
    if found["retired"]:
        yield "retired", plural(found["retired"], "row")
    yield "levels", f"{found['levels']} (on_drift: {found['on_drift']}{'; they do not fit' if found['drift'] else ''})"


def reached(item: Mapping[str, Any]) -> str:
    """Such as ``k = 7``; a requirement without a class to hold on reaches nothing."""
    figures = {name: value for name, value in item.items() if name not in _OTHERS and not isinstance(value, list)}
    found = [
        _REACHED.get(name, f"{name} = {{}}").format(metric(value) if isinstance(value, float) else number(value))
        for name, value in sorted(figures.items(), key=lambda figure: figure[0] in _REACHED)
        if value is not None
    ]
    unbounded = None in figures.values()
    return "none" if unbounded or not found else ", ".join(found)


def _sizes(sizes: Sequence[ClassSizes], counted: str) -> RenderableType:
    table = columns([(counted, True), ("classes", True), ("rows", True)])
    for item in sizes:
        table.add_row(*map(Text, size_cells(item)))
    return table


def size_cells(item: Mapping[str, Any]) -> tuple[str, str, str]:
    """A range of class sizes, the classes in it, and their rows."""
    low, high = number(item["from"]), "" if item["to"] is None else number(item["to"])
    size = f"{low} and more" if not high else low if low == high else f"{low}-{high}"
    return size, number(item["classes"]), number(item["rows"])


def _revealed(classes: Sequence[Mapping[str, Any]]) -> RenderableType:
    table = columns([("values", False), ("rows", True), ("violates", False)])
    for item in classes:
        pairs = (f"{name} = {'NULL' if value is None else repr(value)}" for name, value in item["values"].items())
        table.add_row(
            Text(shown(", ".join(pairs))), Text(number(item["rows"])), Text(shown("; ".join(item["violates"])))
        )
    return table


def _metrics(result: Generalization) -> RenderableType:
    table = columns([("metric", False), ("value", True), ("", False)])
    for name, value, words in quality_of(result.metrics, result.mean_loss):
        table.add_row(Text(name), Text(value), Text(words, "dim"))
    return table


def _search(search: SearchSummary, found: bool) -> Iterable[tuple[str, str]]:
    yield "algorithm", search.algorithm
    if found:
        yield "optimality", "proven optimal" if search.proven else "not proven optimal: the best that was found"
        if search.stopped is not None:
            yield "stopped", search.stopped
        yield "criterion", search.criterion
    else:
        proven = "proven: no generalization satisfies the requirements"
        yield "outcome", proven if search.proven else "nothing was found; not proven that there is nothing"
    nodes = f"{number(search.nodes_evaluated)} evaluated"
    if search.nodes_total is not None:
        nodes += f" of {number(search.nodes_total)}"
    if search.nodes_inferred is not None:
        nodes += f", {number(search.nodes_inferred)} decided without a query"
    yield "nodes", nodes
    if search.matrix is not None:
        outliers, vectors = number(search.matrix["outliers"]), number(search.matrix["vectors"])
        yield "matrix", f"{outliers} outliers x {vectors} vectors, {number(search.matrix['rows'])} distances"
    reads = plural(search.base_reads, "time")
    yield "frequency sets", f"the first read {reads}, {number(search.frequency_sets)} rolled up from others"
    if search.minimal is not None and found:
        yield "minimal", plural(len(search.minimal), "k-minimal generalization")


def _vector(levels: Iterable[int]) -> Text:
    return Text("[" + ", ".join(map(str, levels)) + "]")


def _nodes(nodes: Iterable[Sequence[int]], names: Sequence[str]) -> RenderableType:
    lines = [Text("levels in the order " + ", ".join(map(shown, names)), "dim")] if names else []
    return Group(*lines, *map(_vector, nodes))


def _runners_up(runners_up: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Levels are in the order of the table of levels, which names them."""
    other = [name for name in runners_up[0] if name not in ("node", "suppressed", "classes")]
    heads = [("levels, in the order above", False), *((name.replace("_", " "), True) for name in other)]
    table = columns([*heads, ("suppressed rows", True), ("classes", True)])
    for item in runners_up:
        table.add_row(
            _vector(item["node"].values()),
            *(Text("" if item[name] is None else metric(item[name])) for name in other),
            Text(number(item["suppressed"])),
            Text(number(item["classes"])),
        )
    return table


def _lattice(nodes: Sequence[Explained], node: Mapping[str, int] | None) -> RenderableType:
    """How many nodes of every height were decided how; a small lattice node by node as well."""
    counts: dict[int, Counter[str]] = {}
    for item in nodes:
        counts.setdefault(sum(item.node), Counter())[item.known] += 1
    kinds = [kind for kind in _KNOWN if any(found[kind] for found in counts.values())]
    table = columns([("height", True), ("nodes", True), *((_KNOWN[kind], True) for kind in kinds)])
    for height, found in sorted(counts.items(), reverse=True):
        cells = [number(found[kind]) if found[kind] else "." for kind in kinds]
        table.add_row(*map(Text, (str(height), number(found.total()), *cells)))
    if len(nodes) > LISTED:
        return Group(table, Text(), Text(f"--format json lists all {number(len(nodes))} nodes", "dim"))
    heads = [("levels", False), ("", False), ("because of", False), ("metric", True), ("at least", True)]
    listed = columns(heads)
    chosen = None if node is None else tuple(node.values())
    for item in sorted(nodes, key=lambda item: (-sum(item.node), item.node)):
        listed.add_row(
            _vector(item.node),
            Text("chosen" if item.node == chosen else item.known),
            Text() if item.because in (None, item.node) else _vector(item.because or ()),
            Text("" if item.metric is None else metric(item.metric)),
            Text(metric(item.bound)),
        )
    order = "the spec" if node is None else ", ".join(map(shown, node))
    return Group(table, Text(), Text(f"levels in the order of {order}", "dim"), listed)


_KNOWN = {
    "satisfies": "satisfies,\nevaluated",
    "must satisfy": "satisfies,\ninferred",
    "violates": "violates,\nevaluated",
    "must violate": "violates,\ninferred",
    "is worse": "worse than\nthe best",
    "not evaluated": "not\nlooked at",
}
"""What may be known about a node, and the same as the head of a column."""


MOST_COLUMNS = 8
"""A matrix of this many outliers is shown as a table; a larger one has no place in a terminal."""


def distance_vectors(found: Distances) -> RenderableType:
    """A row per vector of values, a column per outlier; vectors go by numbers that say nothing of their values."""
    outliers = found.outliers
    if not outliers:
        return Text(f"no vector of values has fewer than {number(found.k)} rows: there is no outlier")
    few = f"fewer than {number(found.k)}"
    head = f"{plural(len(outliers), 'outlier')} ({few} rows) by {plural(len(found.sizes), 'vector')} of values"
    if len(outliers) > MOST_COLUMNS:
        return Group(Text(head), Text("--format json lists their distance vectors", "dim"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("vector", justify="right")
    table.add_column("size", justify="right")
    for outlier in outliers:
        table.add_column(f"to {outlier}")
    for place, size in enumerate(found.sizes):
        distances = (distances[place] for distances in found.matrix)
        table.add_row(
            Text(str(place + 1)),
            Text(few if size is None else number(size), "" if size else "dim"),
            *(Text("[" + ", ".join(map(str, distance)) + "]") for distance in distances),
        )
    order = ", ".join(map(shown, found.columns))
    return Group(Text(head), Text(f"levels in the order {order}", "dim"), table)
