"""The evidence as one HTML page that opens offline and prints on A4, as Markdown, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from kanon_sql.errors import SpecError
from kanon_sql.report.evidence.sections import sections, tiles, verdict
from kanon_sql.report.html.blocks import Block, Cells, Facts, Prose, Signature, Verbatim
from kanon_sql.report.html.page import sections_page
from kanon_sql.report.json import to_json
from kanon_sql.report.words import plain

if TYPE_CHECKING:
    from kanon_sql.verbs.evidence import Evidence

__all__ = ["FORMS", "evidence_report"]

FORMS = ("html", "markdown", "json")


def evidence_report(found: Evidence, form: Literal["html", "markdown", "json"] = "html") -> str:
    """Write evidence for a person to read, to print and to sign.

    Args:
        found: from :func:`kanon_sql.evidence`.
        form: ``html``, one page that opens offline and prints on A4; ``markdown``; or ``json``.

    Returns:
        The text. It holds counts, shares and names; no value of a class, and no password.

    Raises:
        SpecError: there is no such form.

    Examples:
        >>> _ = kanon_sql.anonymize(db, spec)
        >>> text = kanon_sql.evidence_report(kanon_sql.evidence(db, spec))
        >>> text.startswith("<!DOCTYPE html>"), "https://" in text
        (True, False)
    """
    if form not in FORMS:
        raise SpecError(f"form: expected {', '.join(FORMS[:-1])} or {FORMS[-1]}, got {form!r}")
    if form == "json":
        return to_json(found.to_dict())
    if form == "markdown":
        return "\n".join(_markdown(found))
    return sections_page(
        to_json(found.to_dict()),
        f"Evidence on {found.release}",
        found.passed,
        verdict(found),
        found.message,
        tiles(found),
        sections(found),
        files("kanon_sql.report.evidence").joinpath("print.css").read_text("utf-8"),
    )


def _markdown(found: Evidence) -> Iterator[str]:
    yield f"# Evidence on {plain(found.release)}"
    yield ""
    yield f"**{'PASS' if found.passed else 'FAIL'}** {plain(verdict(found))}"
    for section in sections(found):
        yield ""
        yield f"## {plain(section.title)}"
        for block in section.blocks:
            yield ""
            yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Prose):
        yield plain(block.text)
    elif isinstance(block, Facts):
        yield from (f"- **{plain(label)}** {plain(value)}" for label, value in block.pairs)
    elif isinstance(block, Signature):
        yield from (f"- {plain(line)}: ______________________________" for line in block.lines)
    elif isinstance(block, Verbatim):
        yield from (f"    {line}" for line in block.text.splitlines())
    elif isinstance(block, Cells):
        if block.caption:
            yield f"{plain(block.caption)}:"
            yield ""
        yield "| " + " | ".join(plain(head.removesuffix("#")) or " " for head in block.heads) + " |"
        yield "|" + "|".join(" ---: " if head.endswith("#") else " --- " for head in block.heads) + "|"
        for row in block.rows:
            yield "| " + " | ".join(plain(cell).replace("\n", " ") for cell in row) + " |"
