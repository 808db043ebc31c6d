"""``evidence``: what was measured of a release, in the words of those who ask for it.

``gather`` runs the verbs; each other file answers one reader's questions from what they measured: the data dictionary,
WP216, HIPAA's Safe Harbor, EMA's policy 0070, ISO/IEC 27559.
"""

from __future__ import annotations

from kanon_sql.verbs.evidence.data_dictionary import (
    DataDictionary,
    DescribedColumn,
    Label,
    comment_on_written,
    data_dictionary,
    write_comments,
)
from kanon_sql.verbs.evidence.gather import evidence
from kanon_sql.verbs.evidence.result import Evidence

__all__ = [
    "DataDictionary",
    "DescribedColumn",
    "Evidence",
    "Label",
    "comment_on_written",
    "data_dictionary",
    "evidence",
    "write_comments",
]
