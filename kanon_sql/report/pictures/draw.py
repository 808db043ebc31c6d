"""Which pictures a run has. A picture whose numbers are missing is left out."""

from __future__ import annotations

from kanon_sql.report.pictures.histograms import class_sizes, distances, losses, risks
from kanon_sql.report.pictures.lattice import lattice
from kanon_sql.report.pictures.svg import Picture
from kanon_sql.report.pictures.tradeoff import tradeoff
from kanon_sql.report.run import Run

__all__ = ["pictures_of"]


def pictures_of(run: Run) -> dict[str, Picture]:
    """The pictures of a run by their names, in the order of the page."""
    details = run.details
    if details is None:
        return {}
    chosen = None if run.node is None else tuple(run.node.values())
    drawn: list[Picture | None] = [losses(details.attributes, run.level_names), class_sizes(details), risks(details)]
    measured = dict.fromkeys((item.attribute, item.distance) for table in details.tables for item in table.distances)
    drawn += [distances(details, *measure) for measure in measured]
    if details.lattice is not None:
        known = run.search is not None and run.search.get("minimal_nodes") is not None
        drawn.append(lattice(details.lattice, chosen, known, run.level_names))
    metric = str(details.spec.get("search", {}).get("metric", "the metric"))
    drawn.append(tradeoff(details.solutions, chosen, run.rows.get("source", 0), metric))
    return {picture.name: picture for picture in drawn if picture is not None}
