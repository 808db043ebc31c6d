"""Reports: results as text, JSON, HTML and pictures, and in the formats of other pipelines.

Everything is made from a result's JSON: counts and shares, never a value of the data, unless it was asked for by name.
Each file is a door of its own, so that a verb loads only what it prints with.
"""

__all__ = [
    "audit",
    "certificate",
    "charts",
    "comparison",
    "evidence",
    "hierarchy",
    "html",
    "json",
    "layout",
    "ledger",
    "levels",
    "maintenance",
    "nodes",
    "parties",
    "perturbation",
    "pictures",
    "pipelines",
    "plain",
    "positions",
    "progress",
    "related_page",
    "risk",
    "run",
    "tables",
    "text",
    "words",
]
