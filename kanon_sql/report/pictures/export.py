"""Pictures as files: SVG as they are, PNG through vl-convert, which brings a renderer and needs no browser."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kanon_sql.engines import write_private
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.report.pictures.svg import Picture
from kanon_sql.version import how_to_install

__all__ = ["PICTURE_FORMATS", "write_pictures"]

PICTURE_FORMATS = ("svg", "png")

_PNG_SCALE = 2.5
"""Pixels per unit: sharp on screens and on paper at the size of a column."""


def write_pictures(pictures: Iterable[Picture], directory: Path, form: str) -> list[Path]:
    """Write each picture into a file of its name for its owner alone to read; files of the same names are replaced.

    Args:
        pictures: what to write.
        directory: where to; it is made if it does not exist.
        form: one of :data:`PICTURE_FORMATS`.

    Returns:
        The files.

    Raises:
        UnsupportedError: PNG is asked for and vl-convert is not installed.
        SpecError: a file cannot be written.
    """
    paths = []
    for picture in pictures:
        drawn = picture.standalone()
        content = _png(drawn) if form == "png" else drawn.encode()
        path = directory / f"{picture.name}.{form}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            write_private(path, content)
        except OSError as error:
            raise SpecError(
                f"--pictures {directory}: cannot be written: {error.strerror or type(error).__name__}; name another"
            ) from None
        paths.append(path)
    return paths


def _png(svg: str) -> bytes:
    try:
        import vl_convert
    except ImportError:
        raise UnsupportedError(
            f"PNG pictures need vl-convert; {how_to_install('report')}, or ask for --picture-format svg"
        ) from None
    png: bytes = vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
    return png
