"""Results as one HTML file that opens offline: no script, no other file, nothing fetched.

    result or its JSON -> Run -> sections of blocks -> page

A section is a list of blocks (prose, facts, a table, a picture, text), and the template knows the blocks only. What
a result holds that no section names is shown as tables, so a new model's or audit's figures need no change here.
"""

from __future__ import annotations

from kanon_sql.report.html.page import (
    PageParts,
    comparison_parts,
    comparison_report,
    html_fragment,
    html_report,
    html_style,
    run_parts,
    run_report,
)
from kanon_sql.report.html.sections import listed, spec_yaml, yaml_of

__all__ = [
    "PageParts",
    "comparison_parts",
    "comparison_report",
    "html_fragment",
    "html_report",
    "html_style",
    "listed",
    "run_parts",
    "run_report",
    "spec_yaml",
    "yaml_of",
]
