"""What a program has already: tables of pandas, polars, Arrow, DuckDB, Spark, ibis, Delta and Iceberg, and connections.

:func:`accepts_objects` makes a verb of engines one that takes these as well. A table in memory is copied into a DuckDB
that lasts as long as the call; one of a lake is read where it is; a table of a database stays where it is; a connection
is used and given back as it was. What is released of a table can be had as a table of the same kind, by
:class:`Released`.
"""

from __future__ import annotations

from kanon_sql.objects.accept import accepts_objects, refuse_unread
from kanon_sql.objects.release_tables import Released

__all__ = ["Released", "accepts_objects", "refuse_unread"]
