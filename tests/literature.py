"""Tables and answers of the published examples, typed in as data.

The tables follow the publications named beside them; the top of every hierarchy is written `*` where a paper writes
`person` or `not_released`. What the oracle confirms of them is in `test_oracle.py`.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

Labels = tuple[str, ...]


def table(columns: str, *lines: str) -> list[dict[str, str]]:
    """Rows typed in as text: cells are separated by `|`."""
    names = [name.strip() for name in columns.split("|")]
    return [dict(zip(names, (cell.strip() for cell in line.split("|")), strict=True)) for line in lines]


def flat(*values: str) -> dict[str, Labels]:
    """A hierarchy of one step: value -> `*`."""
    return {value: (value, "*") for value in values}


def prefixes(lengths: Sequence[int], *values: str) -> dict[str, Labels]:
    """A hierarchy that masks from the right, one level per prefix length; length 0 is the top."""
    return {v: (v, *((v[:n] + "*" * (len(v) - n)) if n else "*" for n in lengths)) for v in values}


def below(groups: Mapping[str, Sequence[str]]) -> dict[str, Labels]:
    """A hierarchy of two steps: value -> group -> `*`."""
    return {value: (value, group, "*") for group, values in groups.items() for value in values}


# --- nine patients -------------------------------------------------------------------------
# Ciriani, De Capitani di Vimercati, Foresti, Samarati: k-Anonymity, in: Secure Data Management in Decentralized
# Systems (Springer 2007), figure 1. Its projection on Race and ZIP is the private table of Samarati: Protecting
# respondents' identities in microdata release (TKDE 13(6), 2001), whose generalizations are called GT[i,j].

NINE_PATIENTS = table(
    "race | birth | sex | zip | marital | health",
    "asian | 64/04/12 | F | 94142 | divorced | hypertension",
    "asian | 64/09/13 | F | 94141 | divorced | obesity",
    "asian | 64/04/15 | F | 94139 | married | chest pain",
    "asian | 63/03/13 | M | 94139 | married | obesity",
    "asian | 63/03/18 | M | 94139 | married | short breath",
    "black | 64/09/27 | F | 94138 | single | short breath",
    "black | 64/09/27 | F | 94139 | single | obesity",
    "white | 64/09/27 | F | 94139 | single | chest pain",
    "white | 64/09/27 | F | 94141 | widow | short breath",
)

RACE = flat("asian", "black", "white")
SEX = flat("M", "F")
ZIP_CODE = prefixes((4, 3), "94138", "94139", "94141", "94142")
"""94138 -> 9413* -> 941**: a value that every row shares, hence a top, though not written `*`."""
MARITAL = below({"been_married": ("married", "divorced", "widow"), "never_married": ("single",)})


@dataclass(frozen=True)
class Samarati:
    """k = 2, MaxSup = 2 over (Race, ZIP): both 2-minimal generalizations, and what the criteria say of them."""

    k: int = 2
    max_sup: int = 2
    refused: tuple[tuple[int, int], ...] = ((0, 0),)
    minimal: tuple[tuple[int, int], ...] = ((1, 0), (0, 1))
    suppressed: tuple[int, int] = (2, 2)
    """Of GT[1,0] and GT[0,1]; GT[0,0] would need five... see `suppressed_at_bottom`."""
    suppressed_at_bottom: int = 6


SAMARATI = Samarati()

# The walk of Incognito over (Race, Sex, Marital status), k = 2, no suppression: per subset of the quasi-identifiers
# the 2-anonymous nodes, and the result (Ciriani et al. 2007, section on Incognito).
WALK_HIERARCHIES = {"race": RACE, "sex": SEX, "marital": MARITAL}
WALK: dict[tuple[str, ...], set[tuple[int, ...]]] = {
    ("race",): {(0,), (1,)},
    ("sex",): {(0,), (1,)},
    ("marital",): {(1,), (2,)},
    ("race", "sex"): {(0, 0), (0, 1), (1, 0), (1, 1)},
    ("race", "marital"): {(0, 2), (1, 1), (1, 2)},
    ("sex", "marital"): {(0, 1), (0, 2), (1, 1), (1, 2)},
    ("race", "sex", "marital"): {(0, 0, 2), (0, 1, 2), (1, 0, 1), (1, 0, 2), (1, 1, 1), (1, 1, 2)},
}
WALK_MINIMAL = {(0, 0, 2), (1, 0, 1)}
