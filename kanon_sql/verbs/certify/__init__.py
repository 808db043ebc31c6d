"""``certify``: a release's certificate, which an auditor can check with plain SQL and an independent verifier.

``ground`` makes the tables that claims are made of, ``definitions`` reads what the requirements ask, ``release``,
``optimality`` and ``provenance`` claim, and ``write`` puts the files into a directory, the verifier
among them. No claim shares a statement with the search, the models or the verification of a release.
"""

from __future__ import annotations

from kanon_sql.verbs.certify.result import Certificate, Content
from kanon_sql.verbs.certify.write import certify

__all__ = ["Certificate", "Content", "certify"]
