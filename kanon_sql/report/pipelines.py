"""A result of ``check`` in the formats that pipelines read: Markdown, annotations of GitHub Actions, JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from kanon_sql.report.text import reached
from kanon_sql.report.words import number, plain, plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Check

__all__ = ["PIPELINES", "github", "junit", "markdown"]


def markdown(result: Check) -> str:
    """The verdict, a table of the requirements, the warnings, and the notes."""
    return "\n".join(_lines(result))


def _lines(result: Check) -> Iterator[str]:
    yield f"**{'PASS' if result.passed else 'FAIL'}** {plain(result.message)}"
    if result.achieved:
        yield ""
        yield "| asked | achieved | violating classes | rows |"
        yield "| --- | --- | ---: | ---: |"
    for item in result.achieved.values():
        counts = f"{number(item['violating_classes'])} | {number(item['violating_rows'])}"
        yield f"| {plain(str(item['requirement']))} | {plain(reached(item))} | {counts} |"
    if result.warnings or result.notes:
        yield ""
    for warned in result.warnings:
        yield f"- **{plain(warned.code)}** {plain(warned.message)}"
    for note in result.notes:
        yield f"- {plain(note)}"


def github(result: Check) -> str:
    """One line for the verdict, an error when it is ``fail``; one for each warning, and for each note."""
    title = "kanon-sql check"
    lines = [_command("notice" if result.passed else "error", title, result.message)]
    lines += [_command("warning", f"{title}: {item.code}", item.message) for item in result.warnings]
    lines += [_command("notice", title, note) for note in result.notes]
    return "\n".join(lines)


def _command(kind: str, title: str, message: str) -> str:
    """A name may hold anything; only what is escaped here could end a line, and ``shown`` leaves no line break."""
    return f"::{kind} title={title}::{shown(message).replace('%', '%25')}"


def junit(result: Check) -> str:
    """The XML of a suite with a test case per requirement, and one for the table itself.

    The last one fails when the table fails although every requirement holds: it has an identifier, or a warning is an
    error. It names the warnings.
    """
    table = shown(result.release)
    cases = []
    for item in result.achieved.values():
        case = ElementTree.Element("testcase", classname=table, name=shown(str(item["requirement"])))
        if item["violating_classes"]:
            violating = f"{plural(item['violating_classes'], 'class')} ({plural(item['violating_rows'], 'row')})"
            _fail(case, f"violated by {violating}; achieved {reached(item)}")
        cases.append(case)
    whole = ElementTree.Element("testcase", classname=table, name="is a release")
    if not result.passed and not any(item["violating_classes"] for item in result.achieved.values()):
        _fail(whole, shown(result.message))
    if result.warnings:
        sentence = "\n".join(f"{item.code}: {shown(item.message)} ({item.page})" for item in result.warnings)
        ElementTree.SubElement(whole, "system-out").text = sentence
    cases.append(whole)
    suite = ElementTree.Element(
        "testsuite",
        name=f"kanon-sql check {table}",
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        time=f"{result.cost.seconds:.3f}",
    )
    suite.extend(cases)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")


def _fail(case: ElementTree.Element, message: str) -> None:
    ElementTree.SubElement(case, "failure", type="violation", message=message)


PIPELINES: dict[str, Callable[[Check], str]] = {"junit": junit, "github": github, "markdown": markdown}
"""A result of ``check`` as text."""
