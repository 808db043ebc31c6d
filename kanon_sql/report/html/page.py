"""The page: sections into one HTML file, or into a fragment for notebooks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kanon_sql.report.html.blocks import Section
from kanon_sql.report.html.comparison import comparison_sections, comparison_tiles, comparison_verdict
from kanon_sql.report.html.sections import sections_of, tiles_of, verdict_in_words
from kanon_sql.report.pictures import DARK, LIGHT, MARKS, variables
from kanon_sql.report.run import Run, read_run
from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql.verbs.compare import Comparison
    from kanon_sql.verbs.result import Result

__all__ = ["comparison_report", "html_fragment", "html_report", "run_report", "sections_page"]


def html_report(result: Result) -> str:
    """Write a result as one HTML page that opens offline.

    Args:
        result: the result of a verb. Called with ``details=True``, the verb counts all that the page can show.

    Returns:
        The text of the page.

    Examples:
        >>> result = kanon_sql.plan(db, spec, details=True)
        >>> page = kanon_sql.html_report(result)
        >>> page.startswith("<!DOCTYPE html>"), "https://" in page
        (True, False)
    """
    return run_report(read_run(result.to_dict(), "this result"))


def html_fragment(result: Result) -> str:
    """Write a result as a part of another page, such as a notebook: a ``<style>`` and one ``<article>``.

    Args:
        result: the result of a verb, as for :func:`kanon_sql.html_report`.

    Returns:
        The text of the fragment.

    Examples:
        >>> fragment = kanon_sql.html_fragment(kanon_sql.plan(db, spec))
        >>> fragment.startswith("<style>"), "<html" in fragment
        (True, False)
    """
    return _rendered("fragment.html.j2", *_of_run(read_run(result.to_dict(), "this result")))


def run_report(run: Run) -> str:
    """A run that was read back as one HTML file."""
    return _rendered("page.html.j2", *_of_run(run))


def comparison_report(comparison: Comparison) -> str:
    """Several runs side by side as one HTML file."""
    unique = json.dumps(comparison.to_dict(), sort_keys=True)
    return _rendered(
        "page.html.j2",
        unique,
        "Comparison",
        comparison.passed,
        comparison_verdict(comparison),
        "",
        comparison_tiles(comparison),
        comparison_sections(comparison),
    )


def sections_page(
    unique: str,
    subject: str,
    passed: bool,
    verdict: str,
    message: str,
    tiles: Sequence[tuple[str, str, str]],
    sections: Sequence[Section],
    style: str,
) -> str:
    """Sections that somebody else has made as one HTML file.

    Args:
        unique: the JSON of what they are made of.
        subject: what it is about.
        passed: the verdict.
        verdict: the same in a few words.
        message: the same in a sentence.
        tiles: a label, a figure, and what that is out of.
        sections: what it says.
        style: CSS besides that of every page.
    """
    return _rendered("page.html.j2", unique, subject, passed, verdict, message, tiles, sections, style)


def _of_run(run: Run) -> tuple[str, str, bool | None, str, str, list[tuple[str, str, str]], list[Section]]:
    subject = run.release if run.release is not None else run.verb
    return (
        run.model_dump_json(),
        subject,
        run.passed,
        verdict_in_words(run),
        run.message,
        tiles_of(run),
        sections_of(run),
    )


def _rendered(
    template: str,
    unique: str,
    subject: str,
    passed: bool | None,
    verdict: str,
    message: str,
    tiles: Sequence[tuple[str, str, str]],
    sections: Sequence[Section],
    style: str = "",
) -> str:
    prefix = "k" + hashlib.sha256(unique.encode()).hexdigest()[:10]
    return _environment().get_template(template).render(
        subject=subject, passed=passed, verdict=verdict, message=message, tiles=tiles, sections=sections,
        prefix=prefix, style=Markup(_style() + style), version=__version__,
        drawn=lambda picture: Markup(picture.inline(prefix)),
    )  # fmt: skip


@cache
def _style() -> str:
    own = files("kanon_sql.report.html").joinpath("style.css").read_text("utf-8")
    return (
        own.replace("/* light */", variables(LIGHT))
        .replace("/* dark */", variables(DARK))
        .replace("/* marks */", MARKS)
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kanon_sql.report.html", "."),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["printable"] = _printable
    return environment


def _printable(text: object) -> str:
    """Text without control characters, whatever a column is called."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in str(text))
