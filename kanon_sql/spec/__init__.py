"""The spec: plain, checked data that says what to anonymize and what must hold.

A spec is read from YAML or from a mapping into frozen models. Every problem is reported at once, with its line and
column, and none shows a value. Requirements are the keys under which privacy models are asked for; the room knows
which there are and no more of the models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.spec.bayes_optimal import BayesOptimalRequirement
from kanon_sql.spec.cautions import WarningOptions
from kanon_sql.spec.checks import did_you_mean
from kanon_sql.spec.computed import ComputedColumn, computed_faults, named_beside
from kanon_sql.spec.consistency import ConsistencyKind, KKAnonymityRequirement
from kanon_sql.spec.differential_privacy import DifferentialPrivacyRequirement, LevelSearch, differential_privacy_in
from kanon_sql.spec.disclosure import (
    AlphaKAnonymityRequirement,
    BetaLikenessRequirement,
    DeltaDisclosureRequirement,
    PSensitiveRequirement,
)
from kanon_sql.spec.display import Displayed, Printed
from kanon_sql.spec.hierarchy import (
    DatesHierarchy,
    FileHierarchy,
    Hierarchy,
    IntervalsHierarchy,
    PointHierarchy,
    PrefixHierarchy,
    QuasiIdentifier,
    SqlHierarchy,
    TableHierarchy,
    ValueHierarchy,
)
from kanon_sql.spec.knowledge import CKSafetyRequirement, EpsilonPrivacyRequirement, PrivacySkylineRequirement
from kanon_sql.spec.load import read_yaml
from kanon_sql.spec.m_invariance import (
    CLASS_COLUMN,
    COUNTERFEITS_COLUMN,
    SIGNATURE_COLUMN,
    MInvarianceRequirement,
)
from kanon_sql.spec.model import Spec
from kanon_sql.spec.names import format_table_name, parse_table_name
from kanon_sql.spec.origin import Origin
from kanon_sql.spec.population import DeltaPresenceRequirement, KMapRequirement
from kanon_sql.spec.positions import Lbqid, Point
from kanon_sql.spec.prices import NoAttackRequirement, Prices, ProfitabilityRequirement
from kanon_sql.spec.recoding import MOST_DIGITS, Aggregate, RecodingOptions, parse_recoding
from kanon_sql.spec.recoding_faults import classify_faults, recoding_faults
from kanon_sql.spec.redact import redact_sql, sha256
from kanon_sql.spec.registry import forget_requirement, parse_requirement, register_requirement, requirements
from kanon_sql.spec.release_year import YEARS
from kanon_sql.spec.requirement import Requirement
from kanon_sql.spec.requirements import KAnonymityRequirement, LDiversityRequirement, TClosenessRequirement
from kanon_sql.spec.risk import RiskRequirement
from kanon_sql.spec.secret import secret_in
from kanon_sql.spec.sections import NO_SOURCE, Source, Suppression
from kanon_sql.spec.steps import ColumnStep, rounding_digits
from kanon_sql.spec.tree import TreeHierarchy
from kanon_sql.spec.uniqueness import PopulationUniquenessRequirement
from kanon_sql.spec.utility import Utility

if TYPE_CHECKING:
    from kanon_sql.spec.cell_rules import Rules
    from kanon_sql.spec.cloaking import CloakSpec, Wish
    from kanon_sql.spec.dimension import Dimension
    from kanon_sql.spec.masking import Masking, Noise, Pram
    from kanon_sql.spec.perturbation import PerturbSpec
    from kanon_sql.spec.tabulation import TableSpec

__all__ = [
    "CLASS_COLUMN",
    "COUNTERFEITS_COLUMN",
    "MOST_DIGITS",
    "NO_SOURCE",
    "SIGNATURE_COLUMN",
    "YEARS",
    "Aggregate",
    "AlphaKAnonymityRequirement",
    "BayesOptimalRequirement",
    "BetaLikenessRequirement",
    "CKSafetyRequirement",
    "CloakSpec",
    "ColumnStep",
    "ComputedColumn",
    "ConsistencyKind",
    "DatesHierarchy",
    "DeltaDisclosureRequirement",
    "DeltaPresenceRequirement",
    "DifferentialPrivacyRequirement",
    "Dimension",
    "Displayed",
    "EpsilonPrivacyRequirement",
    "FileHierarchy",
    "Hierarchy",
    "IntervalsHierarchy",
    "KAnonymityRequirement",
    "KKAnonymityRequirement",
    "KMapRequirement",
    "LDiversityRequirement",
    "Lbqid",
    "LevelSearch",
    "MInvarianceRequirement",
    "Masking",
    "NoAttackRequirement",
    "Noise",
    "Origin",
    "PSensitiveRequirement",
    "PerturbSpec",
    "Point",
    "PointHierarchy",
    "PopulationUniquenessRequirement",
    "Pram",
    "PrefixHierarchy",
    "Prices",
    "Printed",
    "PrivacySkylineRequirement",
    "ProfitabilityRequirement",
    "QuasiIdentifier",
    "RecodingOptions",
    "Requirement",
    "RiskRequirement",
    "Rules",
    "Source",
    "Spec",
    "SqlHierarchy",
    "Suppression",
    "TClosenessRequirement",
    "TableHierarchy",
    "TableSpec",
    "TreeHierarchy",
    "Utility",
    "ValueHierarchy",
    "WarningOptions",
    "Wish",
    "classify_faults",
    "computed_faults",
    "did_you_mean",
    "differential_privacy_in",
    "forget_requirement",
    "format_table_name",
    "named_beside",
    "parse_recoding",
    "parse_requirement",
    "parse_table_name",
    "read_yaml",
    "recoding_faults",
    "redact_sql",
    "register_requirement",
    "requirements",
    "rounding_digits",
    "secret_in",
    "sha256",
]

_HOME = {
    "CloakSpec": "cloaking",
    "Dimension": "dimension",
    "Masking": "masking",
    "Noise": "masking",
    "PerturbSpec": "perturbation",
    "Pram": "masking",
    "Rules": "cell_rules",
    "TableSpec": "tabulation",
    "Wish": "cloaking",
}
"""The other kinds of specs, each of which is imported when it is first asked for."""

__getattr__ = imported_from(__name__, _HOME)
