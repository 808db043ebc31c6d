"""mkdocs calls this: it puts the generated references where pages ask for them by ``<!-- generated: NAME -->``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import cli_reference
import declared_reference
import fits_reference
import models_reference
import python_reference
import results_reference
import spec_reference

__all__ = ["GENERATED", "on_page_markdown"]

GENERATED = {
    "algorithms": declared_reference.algorithms,
    "attacks": declared_reference.attacks,
    "cli": cli_reference.markdown,
    "combinations": (Path(__file__).parents[2] / "benchmarks" / "combinations.md").read_text,
    "fits": fits_reference.markdown,
    "metrics": declared_reference.metrics,
    "models": models_reference.markdown,
    "perturbed": spec_reference.perturbed,
    "positions": spec_reference.positions,
    "python": python_reference.markdown,
    "results": results_reference.markdown,
    "spec": spec_reference.markdown,
    "table": spec_reference.table,
}
"""The name in a page -> what is put there."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page with its references; an unknown name stops the build."""
    return re.sub(r"<!-- generated: (\w+) -->", lambda found: GENERATED[found[1]](), markdown)
