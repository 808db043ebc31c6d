"""A result of ``check`` as JUnit XML, which CI servers show as tests: one per requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from kanon_sql.report.text import reached
from kanon_sql.report.words import plural, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Check

__all__ = ["junit"]


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
