"""``init``: profile a table where it lives and write a commented spec to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.verbs.init.columns import SMALL_CATEGORY, ColumnProfile
from kanon_sql.verbs.init.names import is_birth, is_person_key, names_a_group, seems_an_identifier

if TYPE_CHECKING:
    from kanon_sql.verbs.init.arx import ArxDraft, draft_of_arx
    from kanon_sql.verbs.init.draft import Ask, init
    from kanon_sql.verbs.init.hierarchy_of import columns_of_source, suggest_hierarchy
    from kanon_sql.verbs.init.panel import followed, has_enough_values
    from kanon_sql.verbs.init.presets import PRESETS
    from kanon_sql.verbs.init.suggest import Suggestion
    from kanon_sql.verbs.init.tables import init_tables
    from kanon_sql.verbs.init.user_columns import Roles, columns_named, requirements_of

__all__ = [
    "PRESETS",
    "SMALL_CATEGORY",
    "ArxDraft",
    "Ask",
    "ColumnProfile",
    "Roles",
    "Suggestion",
    "columns_named",
    "columns_of_source",
    "draft_of_arx",
    "followed",
    "has_enough_values",
    "init",
    "init_tables",
    "is_birth",
    "is_person_key",
    "names_a_group",
    "requirements_of",
    "seems_an_identifier",
    "suggest_hierarchy",
]

_HOME = {
    "PRESETS": "presets",
    "ArxDraft": "arx",
    "Ask": "draft",
    "Roles": "user_columns",
    "Suggestion": "suggest",
    "columns_named": "user_columns",
    "columns_of_source": "hierarchy_of",
    "draft_of_arx": "arx",
    "followed": "panel",
    "has_enough_values": "panel",
    "init": "draft",
    "init_tables": "tables",
    "requirements_of": "user_columns",
    "suggest_hierarchy": "hierarchy_of",
}
"""What drafts a spec, which is imported when it is first asked for: other verbs take what names of columns mean."""

__getattr__ = imported_from(__name__, _HOME)
