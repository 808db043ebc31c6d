"""Parties: one release of a table that is split between several databases, none of which sees another one's rows.

Every party has an engine of its own, and its rows stay there. What crosses are tokens, which are keyed hashes, with
counts; the mediator, which is the process that runs the protocol, pools them and answers the search. Each message is
metered in a transcript. The protocols, what every party learns, and what is not protected stand in the how-to on
parties.
"""

from __future__ import annotations

from kanon_sql.parties.exchange import MEDIATOR, Exchanged
from kanon_sql.parties.horizontal import Horizontal, Part, searched_horizontally
from kanon_sql.parties.refusals import demand_obstacles, party_obstacles
from kanon_sql.parties.vertical import Vertical, searched_vertically, vertical_obstacles

__all__ = [
    "MEDIATOR",
    "Exchanged",
    "Horizontal",
    "Part",
    "Vertical",
    "demand_obstacles",
    "party_obstacles",
    "searched_horizontally",
    "searched_vertically",
    "vertical_obstacles",
]
