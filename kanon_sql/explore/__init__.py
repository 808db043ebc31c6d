"""``explore``: a page on this machine where one moves k, limits and levels, and sees at once what it costs.

A small server (Starlette, uvicorn) shows forms and what the verbs answer: it has no logic of its own, and every figure
on the page is one that the command line prints. One thread owns the connection and works on one thing at a time; the
frequency sets are kept while the page is open, so that moving a control reads no source. No user but who has the
address that was printed gets a word of it (``guard``), nothing is written unless that was allowed, and no value of a
small class is in an answer unless that was asked for.

All that a page is, its spec, its steps and its candidates, is kept here (``visits``) and not in the browser: a reload
shows it again, and a new tab can go on with it.
"""

from __future__ import annotations

from kanon_sql.explore.server import prepare, serve
from kanon_sql.explore.visits import MOST_CANDIDATES, Settings

__all__ = ["MOST_CANDIDATES", "Settings", "prepare", "serve"]
