"""Which pictures a run has. A picture whose numbers are missing is left out."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.report.nodes import figures_in_words, why_in_words
from kanon_sql.report.pictures.distributions import distribution, pictured_distributions
from kanon_sql.report.pictures.histograms import class_sizes, distances, losses, risks
from kanon_sql.report.pictures.lattice import lattice
from kanon_sql.report.pictures.svg import Picture
from kanon_sql.report.pictures.tradeoff import tradeoff
from kanon_sql.report.pictures.utility import utility
from kanon_sql.report.run import Run
from kanon_sql.verbs.details import Details, LatticeDetails, RangeDetails, TableDetails

__all__ = ["pictures_of", "tables_of"]


def tables_of(run: Run) -> Sequence[TableDetails]:
    """The tables whose classes were counted: the released one alone, by rows, where no details were asked for."""
    if run.details is not None:
        return run.details.tables
    if "persons" in run.rows or not run.class_sizes:
        return ()
    sizes = tuple(
        RangeDetails(low=item["from"] or 0, high=item["to"], classes=item["classes"] or 0, records=item["rows"] or 0)
        for item in run.class_sizes
    )
    classes, records = (sum(getattr(item, what) for item in sizes) for what in ("classes", "records"))
    name = "table" if run.verb == "check" else "release"
    return [TableDetails(name=name, classes=classes, records=records, sizes=sizes, distances=(), risk=None)]


def pictures_of(run: Run) -> dict[str, Picture]:
    """The pictures of a run by their names, in the order of the page."""
    details = run.details
    if details is None:
        drawn: list[Picture | None] = [class_sizes(tables_of(run), "rows", None)]
    else:
        drawn = list(_of_details(run, details))
    drawn.append(utility(run.others.get("utility")))
    return {picture.name: picture for picture in drawn if picture is not None}


def _tooltips(run: Run, found: LatticeDetails) -> dict[tuple[int, ...], str]:
    """Node -> its figures, and why it is ruled out, where the run explains every node and each is drawn."""
    explained = (run.search or {}).get("lattice")
    if found.nodes is None or not isinstance(explained, list):
        return {}
    words = {}
    for item in explained:
        parts = [figures_in_words(item), why_in_words(item, found.attributes, run.level_names)]
        words[tuple(item["node"])] = "; ".join(part for part in parts if part)
    return {node: text for node, text in words.items() if text}


def _of_details(run: Run, details: Details) -> list[Picture | None]:
    chosen = None if run.node is None else tuple(run.node.values())
    drawn: list[Picture | None] = [
        losses(details.attributes, run.level_names),
        class_sizes(details.tables, details.counted, details.k),
        risks(details.tables),
    ]
    drawn += [distribution(name, item) for name, item in pictured_distributions(details.distributions).items()]
    measured = dict.fromkeys((item.attribute, item.distance) for table in details.tables for item in table.distances)
    drawn += [distances(details, *measure) for measure in measured]
    if details.lattice is not None:
        known = run.search is not None and run.search.get("minimal_nodes") is not None
        drawn.append(lattice(details.lattice, chosen, known, run.level_names, _tooltips(run, details.lattice)))
    metric = str(details.spec.get("search", {}).get("metric", "the metric"))
    drawn.append(tradeoff(details.solutions, chosen, run.rows.get("source", 0), metric))
    return drawn
