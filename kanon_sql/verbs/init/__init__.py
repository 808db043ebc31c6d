"""``init``: profile a table where it lives and write a commented spec to start from."""

from __future__ import annotations

from kanon_sql.verbs.init.panel import followed
from kanon_sql.verbs.init.profile import write_spec
from kanon_sql.verbs.init.suggest import SMALL_CATEGORY, ColumnProfile, is_person_key

__all__ = ["SMALL_CATEGORY", "ColumnProfile", "followed", "is_person_key", "write_spec"]
