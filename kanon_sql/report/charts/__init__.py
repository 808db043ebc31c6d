"""Charts of results: Vega-Lite specifications with their numbers in them, for Altair and for interactive pages.

Each has the name and the numbers of the picture in :mod:`kanon_sql.report.pictures` that a report shows without a
script. A specification is made here as plain JSON, so that a page needs Altair no more than a notebook needs a page.
"""

from __future__ import annotations

from kanon_sql.report.charts.offer import altair_chart, charts_of, charts_of_comparison, charts_of_run
from kanon_sql.report.charts.script import interactive_script

__all__ = ["altair_chart", "charts_of", "charts_of_comparison", "charts_of_run", "interactive_script"]
