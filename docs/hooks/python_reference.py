"""The reference of the Python interface: what mkdocstrings is to show of every public name, in which order."""

from __future__ import annotations

import json
import sys
from typing import Any

import kanon_sql
import kanon_sql.errors
import kanon_sql.results
import kanon_sql.testing
from kanon_sql.errors import KanonError

__all__ = ["SECTIONS", "markdown", "objects"]

SECTIONS = {
    "Connect": ["connect", "Spec", "TableSpec", "PerturbSpec", "CloakSpec", "RelationalSpec"],
    "Functions": [
        "plan", "anonymize", "apply", "refresh", "check", "audit", "risk", "certify",
        "tabulate", "cloak", "perturb", "hierarchy",
        "compare", "estimate", "evidence", "render", "init", "ledger", "plan_parties", "anonymize_parties",
    ],
    "Options": ["Roles", "Budget", "Republication", "Progress"],
    "Reports": ["html_report", "html_fragment", "evidence_report", "altair_chart"],
    "Results": [
        "Result", "Plan", "Release", "AppliedRelease", "RefreshedRelease", "Check",
        "AuditResult", "Evidence", "Certificate", "HierarchyResult", "Tabulation", "CloakResult",
        "Perturbation", "PartiesResult", "RelationalResult", "RelationalAudit",
    ],
}  # fmt: skip
"""Heading -> names of :mod:`kanon_sql`; results are those of :mod:`kanon_sql.results`."""

MEMBERS = {
    "Spec": ["load", "parse", "from_dict", "to_dict", "redacted", "json_schema", "hash", "base_dir", "resolve"],
    "TableSpec": ["load", "parse", "from_dict", "to_dict", "redacted", "json_schema", "hash", "base_dir", "resolve"],
    "PerturbSpec": ["load", "parse", "from_dict", "to_dict", "redacted", "json_schema", "hash", "base_dir", "resolve"],
    "CloakSpec": ["load", "parse", "from_dict", "to_dict", "redacted", "json_schema", "hash", "base_dir", "resolve"],
    "RelationalSpec": ["load", "parse", "from_dict", "to_dict", "redacted", "json_schema", "hash", "method"],
    "Roles": [],
    "Budget": [],
    "Progress": [],
    "Conformance": [],
    "Cost": ["to_dict"],
}
"""Of these classes only some members are for users."""

PARTS = [
    "Comparison",
    "Compared",
    "RiskResult",
    "Estimated",
    "Rendered",
    "LedgerResult",
    "SearchSummary",
    "Cost",
    "PublishedCell",
    "CloakedLevel",
]
"""Classes that results are or hold, and that nobody makes."""


def markdown() -> str:
    """A heading per section, and what mkdocstrings reads below it."""
    public = objects()
    listed = {name for names in SECTIONS.values() for name in names} | set(kanon_sql.errors.__all__)
    if missing := public.keys() - listed:
        raise ValueError(f"no section of the reference has {', '.join(sorted(missing))}")
    sections = {title: [f"kanon_sql.{name}" for name in names] for title, names in SECTIONS.items()}
    sections["Results"] = [f"kanon_sql.results.{name}" for name in SECTIONS["Results"]]
    sections["Results"] += [f"{_home(name)}.{name}" for name in PARTS]
    sections["Errors"] = [f"kanon_sql.errors.{name}" for name in sorted(errors(), key=_rank)]
    sections["Testing an engine"] = [f"kanon_sql.testing.{name}" for name in kanon_sql.testing.__all__]
    return "\n\n".join("\n\n".join([f"## {title}", *map(_block, names)]) for title, names in sections.items())


def _block(name: str) -> str:
    home, _, short = name.rpartition(".")
    options: dict[str, Any] = {}
    if short in MEMBERS:
        options |= {"members": MEMBERS[short] or False, "inherited_members": bool(MEMBERS[short])}
    if home not in ("kanon_sql", "kanon_sql.results", "kanon_sql.errors", "kanon_sql.testing"):
        options["show_root_full_path"] = False  # nobody imports it
    listed = "".join(f"\n      {key}: {json.dumps(value)}" for key, value in options.items())
    return f"::: {name}" + (f"\n    options:{listed}" if listed else "")


def objects() -> dict[str, Any]:
    """Every public function and class by its name."""
    functions = {name: getattr(kanon_sql, name) for name in kanon_sql.__all__ if name not in ("__version__", "results")}
    return functions | {name: getattr(kanon_sql.results, name) for name in kanon_sql.results.__all__}


def errors() -> list[str]:
    """The errors, and the classes that they hold; what raises them is for the package."""
    return [name for name in kanon_sql.errors.__all__ if isinstance(getattr(kanon_sql.errors, name), type)]


def _home(name: str) -> str:
    """The module that defines a class."""
    modules = [module for key, module in sys.modules.items() if key.startswith("kanon_sql.")]
    (home,) = {found.__module__ for module in modules if isinstance(found := getattr(module, name, None), type)}
    return str(home)


def _rank(name: str) -> tuple[bool, int, str]:
    """Errors first, each after its base."""
    kind = getattr(kanon_sql.errors, name)
    return not issubclass(kind, KanonError), len(kind.__mro__), name
