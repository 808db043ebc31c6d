"""The evidence on a release as a page to print and sign, as Markdown, and as JSON.

``definitions`` says what each requirement means, ``sections`` what the page holds, in blocks that the page and the
Markdown are both made of. Everything comes from the result of :func:`kanon_sql.evidence`.
"""

from __future__ import annotations

from kanon_sql.report.evidence.dictionary import dictionary_markdown
from kanon_sql.report.evidence.page import FORMS, evidence_report

__all__ = ["FORMS", "dictionary_markdown", "evidence_report"]
