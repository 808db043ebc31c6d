"""The spec: plain, checked data that says what to anonymize and what must hold.

A spec is read from YAML or from a mapping into frozen models. Every problem is reported at once, with its line and
column, and none shows a value. Requirements are the keys under which privacy models are asked for; each
model declares its own, in the room of the models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanon_sql.lazy import imported_from
from kanon_sql.spec.checks import Fault, did_you_mean, quote
from kanon_sql.spec.computed import ComputedColumn, columns_by_name, computed_faults
from kanon_sql.spec.csv_format import CSV_DELIMITERS, CsvFormat, is_csv
from kanon_sql.spec.differential_privacy import DifferentialPrivacyRequirement, LevelSearch, differential_privacy_in
from kanon_sql.spec.display import (
    HIDDEN,
    LISTED,
    ON_REQUEST,
    Count,
    Displayed,
    Document,
    Keywords,
    LevelNames,
    Levels,
    LevelVector,
    Like,
    Names,
    Nonnegative,
    Positive,
    Printed,
    Share,
    Text,
    VerdictResult,
    computed_keys,
    in_json,
    plain,
)
from kanon_sql.spec.document import NEVER_GROWS
from kanon_sql.spec.hierarchy import Hierarchy, QuasiIdentifier
from kanon_sql.spec.k_anonymity import KAnonymityRequirement
from kanon_sql.spec.keys import CompositeKey, composite_keys, key_of, parts_of_key, written_key
from kanon_sql.spec.load import label_text, read_yaml
from kanon_sql.spec.m_invariance import (
    CLASS_COLUMN,
    COUNTERFEITS_COLUMN,
    SIGNATURE_COLUMN,
    MInvarianceRequirement,
)
from kanon_sql.spec.missing import Code, missing_codes
from kanon_sql.spec.model import Spec
from kanon_sql.spec.names import format_table_name, parse_table_name
from kanon_sql.spec.positions import Lbqid, Point
from kanon_sql.spec.prices import Prices
from kanon_sql.spec.rare import BY_COUNTS, Rare
from kanon_sql.spec.recoding import MOST_DIGITS, Aggregate, RecodingOptions, parse_recoding, recoding
from kanon_sql.spec.recoding_faults import classify_faults, level_faults, recoding_faults, why_not_parted
from kanon_sql.spec.redact import redact_location, redact_sql, sha256
from kanon_sql.spec.registry import parse_requirement, requirements
from kanon_sql.spec.release_file import FILE_ENDINGS
from kanon_sql.spec.release_year import YEARS, names_release_year
from kanon_sql.spec.requirement import Requirement
from kanon_sql.spec.secret import derived_key, new_secret, secret_in
from kanon_sql.spec.sections import NO_SOURCE, Generalized, Origin, SearchOptions, Source, Suppression, Utility
from kanon_sql.spec.steps import ColumnStep, rounding_digits
from kanon_sql.spec.warning_options import CloakWarnings, NamedWarnings, RelatedWarnings, WarningOptions

if TYPE_CHECKING:
    from kanon_sql.spec.cell_rules import Rules
    from kanon_sql.spec.cloaking import CloakSpec, PersonalK
    from kanon_sql.spec.dimension import Dimension, Grouping
    from kanon_sql.spec.masking import Masking, Noise, Pram, Shift
    from kanon_sql.spec.perturbation import PerturbSpec
    from kanon_sql.spec.relational import (
        PERSON,
        ChildTable,
        Coherence,
        ItemColumn,
        KmAnonymity,
        PersonTable,
        RelationalSpec,
    )
    from kanon_sql.spec.tabulation import TableSpec

__all__ = [
    "BY_COUNTS",
    "CLASS_COLUMN",
    "COUNTERFEITS_COLUMN",
    "CSV_DELIMITERS",
    "FILE_ENDINGS",
    "HIDDEN",
    "LISTED",
    "MOST_DIGITS",
    "NEVER_GROWS",
    "NO_SOURCE",
    "ON_REQUEST",
    "PERSON",
    "SIGNATURE_COLUMN",
    "YEARS",
    "Aggregate",
    "ChildTable",
    "CloakSpec",
    "CloakWarnings",
    "Code",
    "Coherence",
    "ColumnStep",
    "CompositeKey",
    "ComputedColumn",
    "Count",
    "CsvFormat",
    "DifferentialPrivacyRequirement",
    "Dimension",
    "Displayed",
    "Document",
    "Fault",
    "Generalized",
    "Grouping",
    "Hierarchy",
    "ItemColumn",
    "KAnonymityRequirement",
    "Keywords",
    "KmAnonymity",
    "Lbqid",
    "LevelNames",
    "LevelSearch",
    "LevelVector",
    "Levels",
    "Like",
    "MInvarianceRequirement",
    "Masking",
    "NamedWarnings",
    "Names",
    "Noise",
    "Nonnegative",
    "Origin",
    "PersonTable",
    "PersonalK",
    "PerturbSpec",
    "Point",
    "Positive",
    "Pram",
    "Prices",
    "Printed",
    "QuasiIdentifier",
    "Rare",
    "RecodingOptions",
    "RelatedWarnings",
    "RelationalSpec",
    "Requirement",
    "Rules",
    "SearchOptions",
    "Share",
    "Shift",
    "Source",
    "Spec",
    "Suppression",
    "TableSpec",
    "Text",
    "Utility",
    "VerdictResult",
    "WarningOptions",
    "checks",
    "classify_faults",
    "columns_by_name",
    "composite_keys",
    "computed_faults",
    "computed_keys",
    "derived_key",
    "did_you_mean",
    "differential_privacy_in",
    "fields",
    "format_table_name",
    "in_json",
    "is_csv",
    "key_of",
    "label_text",
    "level_faults",
    "missing_codes",
    "names_release_year",
    "new_secret",
    "parse_recoding",
    "parse_requirement",
    "parse_table_name",
    "parts_of_key",
    "plain",
    "population",
    "prices",
    "quote",
    "read_yaml",
    "recoding",
    "recoding_faults",
    "redact_location",
    "redact_sql",
    "requirement",
    "requirements",
    "rounding_digits",
    "secret_in",
    "sha256",
    "why_not_parted",
    "written_key",
]

_HOME = {
    **dict.fromkeys(
        ("PERSON", "ChildTable", "Coherence", "ItemColumn", "KmAnonymity", "PersonTable", "RelationalSpec"),
        "relational",
    ),
    "CloakSpec": "cloaking",
    "Dimension": "dimension",
    "Grouping": "dimension",
    "Masking": "masking",
    "Noise": "masking",
    "PerturbSpec": "perturbation",
    "Pram": "masking",
    "Shift": "masking",
    "Rules": "cell_rules",
    "TableSpec": "tabulation",
    "PersonalK": "cloaking",
}
"""The other kinds of specs, each of which is imported when it is first asked for."""

__getattr__ = imported_from(__name__, _HOME)
