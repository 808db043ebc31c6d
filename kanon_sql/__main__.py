"""``python -m kanon_sql`` is the command ``kanon-sql``."""

from __future__ import annotations

from kanon_sql.cli import main

main()
