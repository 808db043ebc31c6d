"""What ``certify`` wrote, as text for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import cost_line, facts, plain_notes, section
from kanon_sql.report.words import number, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.certify import Certificate

__all__ = ["certificate_text"]

_PARTS = {"release": "The release", "optimality": "Optimality", "provenance": "Provenance", "recorded": "Provenance"}


def certificate_text(found: Certificate) -> RenderableType:
    """What was proven, what was not, and how anybody checks it."""
    parts: list[RenderableType] = [
        Text(f"{found.verdict.upper()}  {shown(found.message)}", "bold green" if found.passed else "bold red"),
        Text(),
        facts(_summary(found)),
    ]
    for title in dict.fromkeys(_PARTS.values()):
        said = dict.fromkeys(claim["says"] for claim in found.claims if _PARTS[claim["part"]] == title)
        proof = found.content["optimality"]
        lines = [*said, *([proof["says"]] if title == "Optimality" and proof is not None else [])]
        if lines:
            parts += section(title, plain_notes([shown(line) for line in lines]))
    if found.problems:
        parts += section("What does not hold", plain_notes([shown(problem) for problem in found.problems]))
    if found.not_certified:
        left = [shown(f"{item['what']}: {item['why']}") for item in found.not_certified]
        parts += section("Not certified", plain_notes(left))
    parts += [Text(), Text(cost_line(found.cost), "dim")]
    return Group(*parts)


def _summary(found: Certificate) -> Iterable[tuple[str, str]]:
    yield "release", shown(str(found.content["release"]))
    yield "certificate", shown(str(found.directory))
    yield "claims", number(len(found.claims))
    if (proof := found.content["optimality"]) is not None:
        yield "nodes asked about", number(len(proof["nodes"]))
    yield "sha256", found.sha256
    yield "verify", shown(f"python {found.directory}/verify_certificate.py {found.directory} -d DATABASE")
