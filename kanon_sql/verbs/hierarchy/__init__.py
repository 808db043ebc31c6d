"""``hierarchy``: show, validate and export the lookup tables that a spec's hierarchies become."""

from __future__ import annotations

from kanon_sql.verbs.hierarchy.levels import hierarchy
from kanon_sql.verbs.hierarchy.result import AttributeHierarchy, HierarchyResult
from kanon_sql.verbs.hierarchy.values import values_in_words

__all__ = ["AttributeHierarchy", "HierarchyResult", "hierarchy", "values_in_words"]
