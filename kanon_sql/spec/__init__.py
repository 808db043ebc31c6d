"""The spec: plain, checked data that says what to anonymize and what must hold."""

from __future__ import annotations

from kanon_sql.spec.beliefs import BayesOptimal
from kanon_sql.spec.disclosure import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    PSensitive,
    Requirement,
    parse_requirement,
)
from kanon_sql.spec.hierarchy import (
    DatesHierarchy,
    FileHierarchy,
    Hierarchy,
    IntervalsHierarchy,
    PrefixHierarchy,
    QuasiIdentifier,
    SqlHierarchy,
    TableHierarchy,
    ValueHierarchy,
)
from kanon_sql.spec.load import read_yaml
from kanon_sql.spec.model import Spec
from kanon_sql.spec.names import format_table_name, parse_table_name
from kanon_sql.spec.population import DeltaPresence, KMap
from kanon_sql.spec.redact import redact_sql
from kanon_sql.spec.requirements import KAnonymity, LDiversity, TCloseness
from kanon_sql.spec.sections import Source, Suppression
from kanon_sql.spec.tree import TreeHierarchy

__all__ = [
    "AlphaKAnonymity",
    "BayesOptimal",
    "BetaLikeness",
    "DatesHierarchy",
    "DeltaDisclosure",
    "DeltaPresence",
    "FileHierarchy",
    "Hierarchy",
    "IntervalsHierarchy",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "PSensitive",
    "PrefixHierarchy",
    "QuasiIdentifier",
    "Requirement",
    "Source",
    "Spec",
    "SqlHierarchy",
    "Suppression",
    "TCloseness",
    "TableHierarchy",
    "TreeHierarchy",
    "ValueHierarchy",
    "format_table_name",
    "parse_requirement",
    "parse_table_name",
    "read_yaml",
    "redact_sql",
]
