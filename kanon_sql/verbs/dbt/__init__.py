"""``dbt``: search, and write the chosen release into a dbt project."""

from __future__ import annotations

from kanon_sql.verbs.dbt.files import ADAPTERS
from kanon_sql.verbs.dbt.project import dbt

__all__ = ["ADAPTERS", "dbt"]
