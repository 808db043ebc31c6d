"""The page: sections into one HTML file, or into a fragment for notebooks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kanon_sql.errors import UnsupportedError
from kanon_sql.report.charts import charts_of_comparison, charts_of_run, interactive_script
from kanon_sql.report.html.blocks import Section
from kanon_sql.report.html.comparison import comparison_sections, comparison_tiles, comparison_verdict
from kanon_sql.report.html.sections import sections_of, sections_of_spec, tiles_of, verdict_in_words
from kanon_sql.report.pictures import DARK, LIGHT, MARKS, Picture, variables
from kanon_sql.report.run import Run, read_run
from kanon_sql.spec import CloakSpec, PerturbSpec, Spec, TableSpec
from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql.verbs.audit import AuditResult
    from kanon_sql.verbs.compare import Comparison
    from kanon_sql.verbs.relational import RelationalResult
    from kanon_sql.verbs.relational_audit import RelationalAudit
    from kanon_sql.verbs.result import Result
    from kanon_sql.verbs.risk import RiskResult

    AnySpec = Spec | TableSpec | PerturbSpec | CloakSpec
    Shown = Result | AuditResult | RiskResult | Comparison | AnySpec

__all__ = [
    "PageParts",
    "comparison_parts",
    "comparison_report",
    "html_fragment",
    "html_report",
    "html_style",
    "run_parts",
    "run_report",
    "sections_page",
    "sections_parts",
]


def html_report(result: Result | RelationalResult | RelationalAudit, *, interactive: bool = False) -> str:
    """Write a result as one HTML page that opens offline.

    Args:
        result: the result of a verb, of one table or of several. Called with ``details=True``, the verb counts all that
            the page can show.
        interactive: draw the charts by a script that is in the page, with tooltips; it makes the page 0.9 MB larger.
            Where scripts are off, the pictures are shown that a page has otherwise.

    Returns:
        The text of the page.

    Raises:
        UnsupportedError: ``interactive`` is asked for, and vl-convert, which brings the script, is not installed, or
            the result is of several tables.

    Examples:
        >>> result = kanon_sql.plan(db, spec, details=True)
        >>> page = kanon_sql.html_report(result)
        >>> page.startswith("<!DOCTYPE html>"), "https://" in page
        (True, False)
    """
    from kanon_sql.report.related_page import is_related, related_report  # made of what this module has

    if not is_related(result):
        return run_report(read_run(result.to_dict(), "this result"), interactive=interactive)
    if interactive:
        raise UnsupportedError("interactive: the page of several tables has its picture without a script; leave it out")
    return related_report(result)


def html_fragment(result: Shown) -> str:
    """Write a result as a part of another page, such as a notebook: a ``<style>`` and one ``<article>``.

    Args:
        result: of any verb that has a report, a comparison, or a spec, which is shown as it is in manifests.

    Returns:
        The text of the fragment.

    Raises:
        UnsupportedError: the result is of several tables.

    Examples:
        >>> fragment = kanon_sql.html_fragment(kanon_sql.plan(db, spec))
        >>> fragment.startswith("<style>"), "<html" in fragment
        (True, False)
    """
    from kanon_sql.report.related_page import is_related
    from kanon_sql.verbs.compare import Comparison

    if is_related(result):
        raise UnsupportedError("a result of several tables has a page of its own, and no fragment; use html_report")
    if isinstance(result, Spec | TableSpec | PerturbSpec | CloakSpec):
        return _rendered("fragment.html.j2", *_of_spec(result))
    if isinstance(result, Comparison):
        return _rendered("fragment.html.j2", *_of_comparison(result))
    return _rendered("fragment.html.j2", *_of_run(read_run(result.to_dict(), "this result")))


def run_report(run: Run, *, interactive: bool = False) -> str:
    """A run that was read back as one HTML file."""
    return _rendered("page.html.j2", *_of_run(run), charts_of_run(run) if interactive else None)


def comparison_report(comparison: Comparison, *, interactive: bool = False) -> str:
    """Several runs side by side as one HTML file."""
    charts = charts_of_comparison(comparison) if interactive else None
    return _rendered("page.html.j2", *_of_comparison(comparison), charts)


@dataclass(frozen=True)
class PageParts:
    """What a report says, in parts, for a page that arranges them in its own way and brings :func:`html_style`.

    Attributes:
        passed: the verdict; None without one.
        verdict: the answer in a few words.
        message: the same in a sentence.
        tiles: a label, a figure, and what that is out of.
        sections: each section's name for links, its title, and its HTML.
    """

    passed: bool | None
    verdict: str
    message: str
    tiles: Sequence[tuple[str, str, str]]
    sections: Sequence[tuple[str, str, Markup]]


def run_parts(run: Run, prefix: str) -> PageParts:
    """A run in parts.

    Args:
        run: it.
        prefix: makes the ids of its pictures unique in the page.
    """
    return _parts(_of_run(run), prefix)


def comparison_parts(comparison: Comparison, prefix: str) -> PageParts:
    """Several runs side by side, in parts.

    Args:
        comparison: them.
        prefix: makes the ids of its pictures unique in the page.
    """
    return _parts(_of_comparison(comparison), prefix)


def _parts(content: _Content, prefix: str) -> PageParts:
    _, _, passed, verdict, message, tiles, sections = content
    blocks: Any = _environment().get_template("blocks.html.j2").module

    def drawn(picture: Picture) -> Markup:
        return Markup(picture.inline(prefix))

    made = [(item.anchor, item.title, Markup(blocks.all(item.blocks, drawn, ()))) for item in sections]
    return PageParts(passed, verdict, message, tiles, made)


def html_style() -> str:
    """The CSS of reports: of what is inside an element of the class ``kanon``."""
    return _style()


_Content = tuple[str, str, bool | None, str, str, list[tuple[str, str, str]], list[Section]]


def _of_comparison(comparison: Comparison) -> _Content:
    return (
        json.dumps(comparison.to_dict(), sort_keys=True),
        "Comparison",
        comparison.passed,
        comparison_verdict(comparison),
        "",
        comparison_tiles(comparison),
        comparison_sections(comparison),
    )


def sections_parts(
    passed: bool,
    verdict: str,
    message: str,
    tiles: Sequence[tuple[str, str, str]],
    sections: Sequence[Section],
    prefix: str,
) -> PageParts:
    """Sections that other code has made, in parts.

    Args:
        passed: the verdict.
        verdict: the same in a few words.
        message: the same in a sentence.
        tiles: a label, a figure, and what that is out of.
        sections: what it says.
        prefix: makes the ids of its pictures unique in the page.
    """
    return _parts(("", "", passed, verdict, message, list(tiles), list(sections)), prefix)


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
    """Sections that other code has made as one HTML file.

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
    return _rendered("page.html.j2", unique, subject, passed, verdict, message, tiles, sections, style=style)


def _of_spec(spec: AnySpec) -> _Content:
    written = spec.redacted()
    return (
        json.dumps(written, sort_keys=True),
        "spec",
        None,
        "Requirements and settings",
        "",
        [],
        sections_of_spec(written),
    )


def _of_run(run: Run) -> _Content:
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
    charts: Mapping[str, Mapping[str, Any]] | None = None,
    style: str = "",
) -> str:
    prefix = "k" + hashlib.sha256(unique.encode()).hexdigest()[:10]
    return _environment().get_template(template).render(
        subject=subject, passed=passed, verdict=verdict, message=message, tiles=tiles, sections=sections,
        prefix=prefix, style=Markup(_style() + style), version=__version__,
        drawn=lambda picture: Markup(picture.inline(prefix)), charted=frozenset(charts or ()),
        script=Markup(interactive_script(charts)) if charts else "",
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
