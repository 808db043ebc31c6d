"""Releases: write one under a scratch name, verify it, publish it, and remember it.

A release is written by at most one more pass over the source, examined as a table of its own, compared with the earlier
releases of its ledger, and put under its name by one transaction together with its manifest. Nothing unverified is ever
visible under the release's name.
"""

from __future__ import annotations

from kanon_sql.release.earlier import JointVerdict, addition, coarsened, comparable_releases, compared, held_levels
from kanon_sql.release.ledger import Entry, read_ledger
from kanon_sql.release.manifest import published_manifest
from kanon_sql.release.publish import publish, refuse_foreign_release
from kanon_sql.release.unsafe_nodes import UnsafeNodes
from kanon_sql.release.write import Choice, Written, written_release

__all__ = [
    "Choice",
    "Entry",
    "JointVerdict",
    "UnsafeNodes",
    "Written",
    "addition",
    "coarsened",
    "comparable_releases",
    "compared",
    "held_levels",
    "publish",
    "published_manifest",
    "read_ledger",
    "refuse_foreign_release",
    "written_release",
]
