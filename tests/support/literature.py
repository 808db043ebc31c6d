"""Tables and answers of the published examples, typed in as data.

The tables follow the publications named beside them; the top of a hierarchy is written `*` where a paper
writes `person` or `not_released`. `test_oracle.py` checks the answers that are stated here.
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

from tests import ROOT

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
# Ciriani, De Capitani di Vimercati, Foresti, Samarati: k-Anonymity, in: Secure Data Management in
# Decentralized Systems (Springer 2007), figure 1. Its projection on Race and ZIP is the private table whose
# generalizations GT[i,j] illustrate Samarati: Protecting respondents' identities in microdata release
# (IEEE TKDE 13(6), 2001).

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


# k = 2, MaxSup = 2 over (Race, ZIP): GT[0,0] is refused, GT[1,0] and GT[0,1] are 2-minimal. Both suppress
# two rows and take one step, so only the relative distance and the distribution tell them apart (derived from
# the definitions of the criteria).
SAMARATI_HIERARCHIES = {"race": RACE, "zip": ZIP_CODE}
SAMARATI_K = 2
SAMARATI_MAX_SUP = 2
SAMARATI_MINIMAL = {(1, 0), (0, 1)}
SAMARATI_SUPPRESSED = {(0, 0): 6, (1, 0): 2, (0, 1): 2, (0, 2): 0, (1, 1): 0, (1, 2): 0}
SAMARATI_PREFERRED = {
    "minimum_absolute_distance": {(1, 0), (0, 1)},
    "minimum_relative_distance": {(0, 1)},
    "maximum_distribution": {(0, 1)},
    "minimum_suppression": {(1, 0), (0, 1)},
}

# The walk of Incognito over (Race, Sex, Marital status), k = 2, no suppression: per subset of the
# quasi-identifiers the 2-anonymous nodes, and the result (Ciriani et al. 2007, on Incognito).
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

# --- the patients table of Incognito ---------------------------------------------------------
# LeFevre, DeWitt, Ramakrishnan: Incognito, efficient full-domain k-anonymity (SIGMOD 2005), figures 1 and 2
# (k = 2, no suppression). The spelling of the diseases is the paper's.

PATIENTS = table(
    "birthdate | sex | zipcode | disease",
    "1/21/76 | Male | 53715 | Flu",
    "4/13/86 | Female | 53715 | Hepatitis",
    "2/28/76 | Male | 53703 | Brochitis",
    "1/21/76 | Male | 53703 | Broken Arm",
    "4/13/86 | Female | 53706 | Sprained Ankle",
    "2/28/76 | Female | 53706 | Hang Nail",
)
PATIENTS_HIERARCHIES = {
    "birthdate": flat("1/21/76", "4/13/86", "2/28/76"),
    "sex": flat("Male", "Female"),
    "zipcode": prefixes((4, 3), "53715", "53710", "53706", "53703"),
}
PATIENTS_WALK: dict[tuple[str, ...], set[tuple[int, ...]]] = {
    ("birthdate",): {(0,), (1,)},
    ("sex",): {(0,), (1,)},
    ("zipcode",): {(0,), (1,), (2,)},
    ("birthdate", "sex"): {(0, 1), (1, 0), (1, 1)},
    ("birthdate", "zipcode"): {(0, 2), (1, 0), (1, 1), (1, 2)},
    ("sex", "zipcode"): {(0, 2), (1, 0), (1, 1), (1, 2)},
    ("birthdate", "sex", "zipcode"): {(0, 1, 2), (1, 0, 2), (1, 1, 0), (1, 1, 1), (1, 1, 2)},
}
PATIENTS_MINIMAL = {(0, 1, 2), (1, 0, 2), (1, 1, 0)}

# --- Sweeney's tables ------------------------------------------------------------------------
# Sweeney: k-anonymity, a model for protecting privacy (IJUFKS 10(5), 2002): the table of the k-anonymity
# example, then the private table PT, two releases of it (cells are generalized one by one) and the table LT
# that an attacker gets by linking the two. Quasi-identifier: Race, Birth date, Gender, ZIP.

SWEENEY_QUASI_IDENTIFIERS = ("race", "birth", "gender", "zip")
SWEENEY_T = table(
    "race | birth | gender | zip | problem",
    "Black | 1965 | m | 0214* | short breath",
    "Black | 1965 | m | 0214* | chest pain",
    "Black | 1965 | f | 0213* | hypertension",
    "Black | 1965 | f | 0213* | hypertension",
    "Black | 1964 | f | 0213* | obesity",
    "Black | 1964 | f | 0213* | chest pain",
    "White | 1964 | m | 0213* | chest pain",
    "White | 1964 | m | 0213* | obesity",
    "White | 1964 | m | 0213* | short breath",
    "White | 1967 | m | 0213* | chest pain",
    "White | 1967 | m | 0213* | chest pain",
)
SWEENEY_PT = table(
    "race | birth | gender | zip | problem",
    "black | 9/20/1965 | male | 02141 | short of breath",
    "black | 2/14/1965 | male | 02141 | chest pain",
    "black | 10/23/1965 | female | 02138 | painful eye",
    "black | 8/24/1965 | female | 02138 | wheezing",
    "black | 11/7/1964 | female | 02138 | obesity",
    "black | 12/1/1964 | female | 02138 | chest pain",
    "white | 10/23/1964 | male | 02138 | short of breath",
    "white | 3/15/1965 | female | 02139 | hypertension",
    "white | 8/13/1964 | male | 02139 | obesity",
    "white | 5/5/1964 | male | 02139 | fever",
    "white | 2/13/1967 | male | 02138 | vomiting",
    "white | 3/21/1967 | male | 02138 | back pain",
)
SWEENEY_GT1 = table(
    "race | birth | gender | zip | problem",
    "black | 1965 | male | 02141 | short of breath",
    "black | 1965 | male | 02141 | chest pain",
    "person | 1965 | female | 0213* | painful eye",
    "person | 1965 | female | 0213* | wheezing",
    "black | 1964 | female | 02138 | obesity",
    "black | 1964 | female | 02138 | chest pain",
    "white | 1964 | male | 0213* | short of breath",
    "person | 1965 | female | 0213* | hypertension",
    "white | 1964 | male | 0213* | obesity",
    "white | 1964 | male | 0213* | fever",
    "white | 1967 | male | 02138 | vomiting",
    "white | 1967 | male | 02138 | back pain",
)
SWEENEY_GT3 = table(
    "race | birth | gender | zip | problem",
    "black | 1965 | male | 02141 | short of breath",
    "black | 1965 | male | 02141 | chest pain",
    "black | 1965 | female | 02138 | painful eye",
    "black | 1965 | female | 02138 | wheezing",
    "black | 1964 | female | 02138 | obesity",
    "black | 1964 | female | 02138 | chest pain",
    "white | 1960-69 | male | 02138 | short of breath",
    "white | 1960-69 | human | 02139 | hypertension",
    "white | 1960-69 | human | 02139 | obesity",
    "white | 1960-69 | human | 02139 | fever",
    "white | 1960-69 | male | 02138 | vomiting",
    "white | 1960-69 | male | 02138 | back pain",
)
SWEENEY_LT = table(
    "race | birth | gender | zip | problem",
    "black | 1965 | male | 02141 | short of breath",
    "black | 1965 | male | 02141 | chest pain",
    "black | 1965 | female | 02138 | painful eye",
    "black | 1965 | female | 02138 | wheezing",
    "black | 1964 | female | 02138 | obesity",
    "black | 1964 | female | 02138 | chest pain",
    "white | 1964 | male | 02138 | short of breath",
    "white | 1965 | female | 02139 | hypertension",
    "white | 1964 | male | 02139 | obesity",
    "white | 1964 | male | 02139 | fever",
    "white | 1967 | male | 02138 | vomiting",
    "white | 1967 | male | 02138 | back pain",
)
SWEENEY_K = [(SWEENEY_T, 2), (SWEENEY_PT, 1), (SWEENEY_GT1, 2), (SWEENEY_GT3, 2), (SWEENEY_LT, 1)]

# --- the inpatient table of l-diversity --------------------------------------------------------
# Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity, privacy beyond k-anonymity (ICDE 2006),
# figures 1 to 3: the table, its 4-anonymous version (its last class holds cancer only), its 3-diverse one.

INPATIENTS = table(
    "zip | age | nationality | condition",
    "13053 | 28 | Russian | Heart Disease",
    "13068 | 29 | American | Heart Disease",
    "13068 | 21 | Japanese | Viral Infection",
    "13053 | 23 | American | Viral Infection",
    "14853 | 50 | Indian | Cancer",
    "14853 | 55 | Russian | Heart Disease",
    "14850 | 47 | American | Viral Infection",
    "14850 | 49 | American | Viral Infection",
    "13053 | 31 | American | Cancer",
    "13053 | 37 | Indian | Cancer",
    "13068 | 36 | Japanese | Cancer",
    "13068 | 35 | American | Cancer",
)
NATIONALITY = flat("Russian", "American", "Japanese", "Indian")
INPATIENTS_4_ANONYMOUS = {
    "zip": below({"130**": ("13053", "13068"), "1485*": ("14853", "14850")}),
    "age": below({"< 30": ("28", "29", "21", "23"), "3*": ("31", "37", "36", "35"), ">= 40": ("50", "55", "47", "49")}),
    "nationality": NATIONALITY,
}
INPATIENTS_3_DIVERSE = {
    "zip": prefixes((4, 0), "13053", "13068", "14853", "14850"),
    "age": below(
        {"<= 40": ("28", "29", "21", "23", "31", "37", "36", "35"), "> 40": ("50", "55", "47", "49")},
    ),
    "nationality": NATIONALITY,
}
INPATIENTS_NODE = (1, 1, 1)
"""The node of both published versions, each in its own hierarchies."""

# --- numbers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recursive:
    """Counts of one class's sensitive values, and the ratio r1 / (r_l + ... + r_m) that c must exceed."""

    counts: tuple[int, ...]
    l: int  # noqa: E741
    ratio: Fraction


# Recursive (c,l)-diversity (Machanavajjhala et al. 2006): a skewed class and an even one; 100/1/1, which
# needs c > 100 for l = 3, and not c = 1; 19/1/1, refused for (1,2), and 2/2, accepted for (3,2).
RECURSIVE = [
    Recursive((100, 6, 5, 3), 3, Fraction(100, 8)),
    Recursive((7, 6, 5, 3), 3, Fraction(7, 8)),
    Recursive((100, 6, 5, 3), 2, Fraction(100, 14)),
    Recursive((7, 6, 5, 3), 2, Fraction(7, 14)),
    Recursive((100, 6, 5, 3), 4, Fraction(100, 3)),
    Recursive((7, 6, 5, 3), 4, Fraction(7, 3)),
    Recursive((7, 6, 5, 3), 1, Fraction(7, 21)),
    Recursive((100, 1, 1), 3, Fraction(100, 1)),
    Recursive((19, 1, 1), 2, Fraction(19, 2)),
    Recursive((2, 2), 2, Fraction(1, 1)),
]
RECURSIVE_VERDICTS = [
    ((100, 1, 1), {"c": 1, "l": 3}, False),
    ((100, 1, 1), {"c": 100, "l": 3}, False),
    ((100, 1, 1), {"c": 100.5, "l": 3}, True),
    ((19, 1, 1), {"c": 1, "l": 2}, False),
    ((2, 2), {"c": 3, "l": 2}, True),
    ((100, 6, 5, 3), {"c": 12.5, "l": 3}, False),
    ((100, 6, 5, 3), {"c": 13, "l": 3}, True),
    ((7, 6, 5, 3), {"c": 1, "l": 3}, True),
    ((7, 6, 5, 3), {"c": 1, "l": 5}, False),
]
RECURSIVE_BOUNDARY = ((11, 10), {"c": 1.1, "l": 2}, False)
"""11 < 1.1 * 10 is false; in binary floating point 1.1 * 10 is 11.000000000000002."""

# Entropy l-diversity: equally frequent values reach l (exp of the computed entropy may be just below it).
ENTROPY_VERDICTS = [
    ((1, 1), 2, True),
    ((7, 7), 2, True),
    ((1, 1, 1), 3, True),
    ((5, 5, 5, 5, 5), 5, True),
    ((2, 1), 2, False),
    ((1000, 999), 2, False),
    ((2, 1, 1), 2, True),
    ((4,), 1, True),
    ((4,), 2, False),
]


@dataclass(frozen=True)
class Distance:
    """t-closeness with equal distance: one class and the original table, as counts of sensitive values."""

    of_class: dict[str, int]
    of_table: dict[str, int]
    t: Fraction
    elsewhere: str


T_CLOSENESS = [
    Distance({"a": 2}, {"a": 2, "b": 2}, Fraction(1, 2), "0.25: the value absent from the class is skipped"),
    Distance({"a": 100}, {"a": 100, "b": 100}, Fraction(1, 2), "50.0: summed over rows, not values"),
    Distance({"a": 3}, {"a": 17, "b": 9}, Fraction(9, 26), "0.346 accepted although 0.01 was asked"),
    Distance({"a": 1, "b": 1}, {"a": 2, "b": 2}, Fraction(0), "0"),
]
T_CLOSENESS_IGNORED_THRESHOLD = 0.01

# A NULL quasi-identifier is not dropped: three rows of one value and one NULL are 1-anonymous.
NULL_ROWS: list[dict[str, Any]] = [{"q": "a"}, {"q": "a"}, {"q": "a"}, {"q": None}]
NULL_HIERARCHIES = {"q": flat("a")}


# --- the Adult census extract, where it is present ----------------------------------------------


def adult_dir() -> Path | None:
    """The folder of the Adult extract and its known answers; None where it is absent.

    KANON_SHARED names the folder that holds `data/adult`; by default it is `shared` beside the repository.
    """
    default = ROOT.parent / "shared"
    folder = Path(os.environ.get("KANON_SHARED", default)) / "data" / "adult"
    return folder if (folder / "known_answers.json").is_file() else None


def read_csv(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [line for line in csv.reader(lines, delimiter=";") if line]


@cache
def adult_rows(folder: Path) -> list[dict[str, str]]:
    header, *lines = read_csv(folder / "adult.csv")
    return [dict(zip(header, line, strict=True)) for line in lines]


@cache
def adult_hierarchy(folder: Path, column: str) -> dict[str, Labels]:
    return {line[0]: tuple(line) for line in read_csv(folder / f"hierarchy_{column}.csv")}


@cache
def adult_answers(folder: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((folder / "known_answers.json").read_text(encoding="utf-8"))
    return answers
