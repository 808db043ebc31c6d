"""The formats that pipelines read, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kanon_sql.report.github import github
from kanon_sql.report.junit import junit
from kanon_sql.report.markdown import markdown

if TYPE_CHECKING:
    from kanon_sql.verbs.result import Check

__all__ = ["PIPELINES"]

PIPELINES: dict[str, Callable[[Check], str]] = {"junit": junit, "github": github, "markdown": markdown}
"""A result of ``check`` as text."""
