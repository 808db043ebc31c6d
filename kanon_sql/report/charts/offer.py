"""Which charts a result has, by name, and one of them as Altair's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.report.charts import searches, tables
from kanon_sql.report.pictures.distributions import pictured_distributions
from kanon_sql.report.pictures.draw import tables_of
from kanon_sql.report.pictures.frontier import lines_over_k
from kanon_sql.report.pictures.histograms import distance_title
from kanon_sql.report.pictures.utility import utility
from kanon_sql.report.run import Run, read_run
from kanon_sql.verbs.compare import Comparison
from kanon_sql.verbs.result import Check, Generalization
from kanon_sql.version import how_to_install

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Result

__all__ = ["altair_chart", "charts_of", "charts_of_comparison", "charts_of_run"]


def charts_of(result: Result | Comparison) -> dict[str, dict[str, Any]]:
    """The Vega-Lite specifications of a result's or a comparison's charts, by name."""
    if isinstance(result, Comparison):
        return charts_of_comparison(result)
    return charts_of_run(read_run(result.to_dict(), "this result"))


def charts_of_run(run: Run) -> dict[str, dict[str, Any]]:
    """The charts of a run that was read back, by the names of its pictures."""
    details, drawn = run.details, tables_of(run)
    made: dict[str, dict[str, Any] | None] = {}
    if details is None:
        made["class-sizes"] = tables.class_sizes(drawn, "rows", None)
    else:
        chosen = None if run.node is None else tuple(run.node.values())
        made["loss"] = tables.losses(details.attributes)
        made["class-sizes"] = tables.class_sizes(drawn, details.counted, details.k)
        made["risk"] = tables.risks(drawn)
        for name, item in pictured_distributions(details.distributions).items():
            made[name] = tables.distribution(item)
        measured = dict.fromkeys((item.attribute, item.distance) for table in drawn for item in table.distances)
        for place, (attribute, distance) in enumerate(measured, 1):
            own = [
                (table, item)
                for table in drawn
                for item in table.distances
                if (item.attribute, item.distance) == (attribute, distance) and table.classes
            ]
            t = own[0][1].t if own else None
            made[f"distances-{place}"] = tables.distances(own, distance_title(attribute, distance), t)
        if details.lattice is not None:
            made["lattice"] = searches.lattice(details.lattice, chosen)
        metric = str(details.spec.get("search", {}).get("metric", "the metric"))
        names = [] if run.node is None else list(run.node)
        made["frontier"] = searches.frontier(details.solutions, chosen, names, run.rows.get("source", 0), metric)
    predicted = run.others.get("utility")
    if isinstance(predicted, Mapping) and utility(predicted) is not None:
        made["utility"] = tables.utility(predicted)
    return {name: chart for name, chart in made.items() if chart is not None}


def charts_of_comparison(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """The two lines over k; none when fewer than two different k were asked for."""
    made = {}
    for line in lines_over_k(comparison):
        values = [
            {"spec": run.title, "k": run.k, "value": line.figure(run)} for runs in line.runs.values() for run in runs
        ]
        made[line.name] = searches.over_k(values, line.title, line.what, share=line.unit != "")
    return made


def altair_chart(result: Result | Comparison, name: str) -> Any:
    """A chart of a result, for Altair: to show, to restyle, to save.

    Args:
        result: the result of ``plan``, ``anonymize``, ``apply``, ``check`` or ``compare``.
        name: which one; the error for an unknown name lists what there is.

    Returns:
        An ``altair.Chart``, or an ``altair.LayerChart``.

    Raises:
        SpecError: the result has no chart of this name.
        UnsupportedError: Altair is not installed.

    Examples:
        >>> result = kanon_sql.plan(db, spec, details=True)
        >>> chart = kanon_sql.altair_chart(result, "frontier")
        >>> chart.to_dict()["mark"]["type"]
        'point'
    """
    charts = charts_of(result)
    if name not in charts:
        if not charts:
            more = "compare two values of k or more" if isinstance(result, Comparison) else "run it with details=True"
            raise SpecError(f"chart {name!r}: this result has no charts; {more}")
        raise SpecError(f"chart {name!r}: there is none of this name; there are {', '.join(charts)}{_more(result)}")
    try:
        import altair
    except ImportError:
        raise UnsupportedError(f"charts need altair; {how_to_install('charts')}") from None
    return altair.Chart.from_dict(charts[name])


def _more(result: Result | Comparison) -> str:
    if not isinstance(result, Generalization | Check):
        return ""
    if result.details is None:
        return "; details=True has more"
    return "" if result.details.distributions else "; distributions=True has one per column"
