"""``init``: profile a table where it lives and write a commented spec to start from."""

from __future__ import annotations

from kanon_sql.verbs.init.profile import write_spec

__all__ = ["write_spec"]
