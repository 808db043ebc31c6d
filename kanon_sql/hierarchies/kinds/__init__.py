"""The kinds of hierarchies: each file declares one, and nothing lists the files."""

from __future__ import annotations
