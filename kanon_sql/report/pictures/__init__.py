"""Pictures of results as SVG: drawn from numbers alone, without a script and without a library.

Marks have classes instead of colours, so that a page colours them for light, dark and paper; a picture that stands
by itself carries the colours along.
"""

from __future__ import annotations

from kanon_sql.report.pictures.colours import DARK, LIGHT, MARKS, variables
from kanon_sql.report.pictures.draw import pictures_of
from kanon_sql.report.pictures.export import PICTURE_FORMATS, write_pictures
from kanon_sql.report.pictures.frontier import frontier
from kanon_sql.report.pictures.svg import Picture

__all__ = [
    "DARK",
    "LIGHT",
    "MARKS",
    "PICTURE_FORMATS",
    "Picture",
    "frontier",
    "pictures_of",
    "variables",
    "write_pictures",
]
