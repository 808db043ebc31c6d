"""What ``certify`` wrote, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from kanon_sql.report.layout import cost_line, facts, plain_notes, section
from kanon_sql.report.words import number, shown

if TYPE_CHECKING:
    from kanon_sql.verbs.certify import Certificate

__all__ = ["certificate_facts", "certificate_parts", "certificate_text"]

_PARTS = {"release": "The release", "optimality": "Optimality", "provenance": "Provenance", "recorded": "Provenance"}


def certificate_text(found: Certificate) -> RenderableType:
    """What was proven, what was not, and how any user checks it."""
    parts: list[RenderableType] = [
        Text(f"{found.verdict.upper()}  {shown(found.message)}", "bold green" if found.passed else "bold red"),
        Text(),
        facts([(name, shown(value)) for name, value in certificate_facts(found)]),
    ]
    for title, lines in certificate_parts(found):
        parts += section(title, plain_notes([shown(line) for line in lines]))
    parts += [Text(), Text(cost_line(found.cost), "dim")]
    return Group(*parts)


def certificate_parts(found: Certificate) -> list[tuple[str, list[str]]]:
    """What is claimed, what of it does not hold, and what is not claimed: titles and lines, none of them empty."""
    parts = []
    for title in dict.fromkeys(_PARTS.values()):
        sentences = list(dict.fromkeys(claim["says"] for claim in found.claims if _PARTS[claim["part"]] == title))
        proof = found.content["optimality"]
        parts.append((title, [*sentences, *([proof["says"]] if title == "Optimality" and proof is not None else [])]))
    parts.append(("What does not hold", list(found.problems)))
    parts.append(("Not certified", [f"{item['what']}: {item['why']}" for item in found.not_certified]))
    return [(title, lines) for title, lines in parts if lines]


def certificate_facts(found: Certificate, directory: str | None = None) -> list[tuple[str, str]]:
    """What was written, and the command that verifies it.

    Args:
        found: the certificate.
        directory: what to call the place of it; None for the path that was asked for.
    """
    place = str(found.directory) if directory is None else directory
    proof = found.content["optimality"]
    return [
        ("release", str(found.content["release"])),
        ("certificate", place),
        ("claims", number(len(found.claims))),
        *([] if proof is None else [("nodes", f"{number(_asked(found))} evaluated")]),
        ("sha256", found.sha256),
        ("verify", f"python {place}/verify_certificate.py {place} -d DATABASE"),
    ]


def _asked(found: Certificate) -> int:
    """Of how many nodes the statements say whether they satisfy."""
    return sum(len(claim["rows"]) for claim in found.claims if claim["id"].startswith("nodes_"))
