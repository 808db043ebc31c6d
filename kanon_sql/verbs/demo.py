"""``demo``: a generated clinic to try everything on, and one run over it.

The table is drawn by SQL with integer arithmetic alone, so that it is the same everywhere
and always. No person in it exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from kanon_sql.engines import Engine, Reporter, connect, open_workspace
from kanon_sql.errors import DatabaseError, UnsupportedError
from kanon_sql.spec import RelationalSpec, Spec
from kanon_sql.sql import Relation, Sql, Statement, render
from kanon_sql.verbs import relational
from kanon_sql.verbs.anonymize import anonymize
from kanon_sql.verbs.result import Release
from kanon_sql.verbs.run import running

__all__ = ["DATABASE", "PATIENTS", "SPEC", "TABLES_SPEC", "VISITS", "demo", "demo_tables"]

DATABASE = "demo.duckdb"
SPEC = "demo.yml"
TABLES_SPEC = "tables.yml"
EDUCATION = "hierarchies/education.csv"

VISITS = 50_000
"""Rows of the table ``visits``."""
PATIENTS = 30_000
"""Persons in it."""

YEAR = 2024
FREQUENT = 5_000
"""Patients who come often."""
TABLE_PATIENTS = 20_000
"""Persons of the demo of several tables."""
TABLE_VISITS = 46_000
"""Their visits."""
_TABLE = Relation(("visits",))
_MARK = Relation(("kanon_sql_demo",))


def demo(directory: Path, report: Reporter | None = None, *, replace: bool = False) -> tuple[Path, Release]:
    """Make ``demo.duckdb``, a spec and a hierarchy file, and anonymize the table ``visits``.

    A second run makes the demo's tables again and leaves what else is in the database.

    Args:
        directory: where to put the files; made if it is missing.
        report: called with each stage in plain words.
        replace: replace files of these names even if the demo did not write them as they are.

    Returns:
        The path of the spec, and the result of the run.

    Raises:
        UnsupportedError: a file is in the way, and ``replace`` is not set.
        DatabaseError: the files cannot be written.
    """
    texts = {directory / SPEC: _SPEC_TEXT, directory / EDUCATION: _education_text()}
    database = directory / DATABASE
    if replace:
        _remove(database)
    else:
        _refuse_foreign(database, texts)
    _write(texts)
    engine = connect(database)
    try:
        with running(engine, None, report):
            _make_visits(engine)
        return directory / SPEC, anonymize(engine, Spec.load(directory / SPEC), report=report)
    finally:
        engine.close()


def demo_tables(
    directory: Path, report: Reporter | None = None, *, replace: bool = False
) -> tuple[Path, relational.RelationalResult]:
    """Make ``demo.duckdb`` with patients, visits and prescriptions, a spec of these, and release them together.

    A second run makes the demo's tables again and leaves what else is in the database.

    Args:
        directory: where to put the files; made if it is missing.
        report: called with each stage in plain words.
        replace: replace files of these names even if the demo did not write them as they are.

    Returns:
        The path of the spec, and the result of the run.

    Raises:
        UnsupportedError: a file is in the way, and ``replace`` is not set.
        DatabaseError: the files cannot be written.
    """
    texts = {directory / TABLES_SPEC: _TABLES_TEXT}
    database = directory / DATABASE
    if replace:
        _remove(database)
    else:
        _refuse_foreign(database, texts)
    _write(texts)
    engine = connect(database)
    try:
        with running(engine, None, report):
            _make_tables(engine)
        spec = RelationalSpec.load(directory / TABLES_SPEC)
        return directory / TABLES_SPEC, relational.anonymize(engine, spec, report=report)
    finally:
        engine.close()


# --- Files ---------------------------------------------------------------------------------


def _refuse_foreign(database: Path, texts: Mapping[Path, str]) -> None:
    """Refuse to touch what the demo did not make, or what was changed since."""
    for path, text in texts.items():
        if path.exists() and (not path.is_file() or path.read_bytes() != text.encode()):
            raise UnsupportedError(
                f"{path} differs from the demo's file; choose another directory with -o, or remove the file"
            )
    if database.exists() and not _made_by_demo(database):
        raise UnsupportedError(
            f"{database} was not made by the demo; choose another directory with -o, or remove the file"
        )


def _made_by_demo(database: Path) -> bool:
    if not database.is_file():
        return False
    engine = connect(database, read_only=True)
    try:
        return engine.exists(_MARK.parts) == "table"
    finally:
        engine.close()


def _remove(database: Path) -> None:
    try:
        for path in (database, database.with_name(f"{database.name}.wal")):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise DatabaseError(f"cannot replace {database}: {error.strerror}; name another directory") from None


def _write(texts: Mapping[Path, str]) -> None:
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        except OSError as error:
            raise DatabaseError(f"cannot write {path}: {error.strerror}; name another directory") from None


# --- The clinic ----------------------------------------------------------------------------


def _make_visits(engine: Engine) -> None:
    """Create the table ``visits`` again."""
    with open_workspace(engine, "") as workspace:
        workspace.report(f"generating a clinic: {VISITS:,} visits by {PATIENTS:,} patients", None)
        # First of all, so that an interrupted demo is still known to be one.
        workspace.execute("verbs/demo/mark", target=_MARK)
        patient_draws, visit_draws = workspace.table("patient_draws"), workspace.table("visit_draws")
        patients = workspace.table("patients")
        workspace.execute("verbs/demo/random", target=patient_draws, rows=PATIENTS, draws=16, seed=20_240_229)
        workspace.execute("verbs/demo/random", target=visit_draws, rows=VISITS, draws=9, seed=1_618_033)
        workspace.execute("verbs/demo/patients", target=patients, draws=patient_draws, **_patient_choices())
        with engine.transaction():
            workspace.execute("engines/scratch/drop", target=_TABLE)
            workspace.execute(
                "verbs/demo/visits", target=_TABLE, draws=visit_draws, patients=patients, **_visit_choices()
            )


def _make_tables(engine: Engine) -> None:
    """Create the tables ``patients``, ``visits`` and ``prescriptions`` again, and the schema of the release."""
    with open_workspace(engine, "") as workspace:
        workspace.report(f"generating a clinic: {TABLE_PATIENTS:,} patients, their visits and prescriptions", None)
        workspace.execute("verbs/demo/mark", target=_MARK)
        patient_draws, visit_draws = workspace.table("patient_draws"), workspace.table("visit_draws")
        drug_draws, patients = workspace.table("drug_draws"), workspace.table("patients")
        workspace.execute("verbs/demo/random", target=patient_draws, rows=TABLE_PATIENTS, draws=16, seed=20_240_229)
        workspace.execute("verbs/demo/random", target=visit_draws, rows=TABLE_VISITS, draws=9, seed=1_618_033)
        workspace.execute("verbs/demo/random", target=drug_draws, rows=TABLE_VISITS, draws=4, seed=2_718_281)
        choices = {**_patient_choices(), "patients": TABLE_PATIENTS}
        workspace.execute("verbs/demo/patients", target=patients, draws=patient_draws, **choices)
        all_visits = workspace.table("all_visits")
        visits = {**_visit_choices(), "patients_count": TABLE_PATIENTS, "frequent": TABLE_PATIENTS // 6}
        workspace.execute("verbs/demo/visits", target=all_visits, draws=visit_draws, patients=patients, **visits)
        engine.execute(Statement("verbs/demo/schema", f"{engine.dialect.create_schema(('released',))}"))
        with engine.transaction():
            for name in ("prescriptions", "visits", "patients"):
                workspace.execute("engines/scratch/drop", target=Relation((name,)))
            workspace.execute("verbs/demo/of_patients", target=Relation(("patients",)), patients=patients)
            workspace.execute("verbs/demo/of_visits", target=Relation(("visits",)), visits=all_visits)
            workspace.execute(
                "verbs/demo/prescriptions",
                target=Relation(("prescriptions",)),
                visits=all_visits,
                draws=drug_draws,
                drugs=[{"diagnosis": diagnosis, "codes": codes} for diagnosis, codes in _DRUGS.items()],
            )
            workspace.drop(all_visits)


def _patient_choices() -> dict[str, Any]:
    bounds = accumulate(weight for _, _, weight in _AGES)
    return {
        "first_id": 100_001,
        "patients": PATIENTS,
        "year": YEAR,
        "ages": [
            {"below": below, "low": low, "years": high - low + 1}
            for below, (low, high, _) in zip(bounds, _AGES, strict=True)
        ],
        "ages_total": sum(weight for _, _, weight in _AGES),
        "sex": _choice("r2", {"Female": 527, "Male": 473}),
        "female_name": _choice("r3", dict.fromkeys(_FEMALE_NAMES, 1)),
        "male_name": _choice("r3", dict.fromkeys(_MALE_NAMES, 1)),
        "initial": _choice("r4", dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1)),
        "surname": _choice("r10", dict.fromkeys(_SURNAMES, 1)),
        "region": _choice("r7", _REGIONS),
        "marital_status": _by_age("r11", _MARITAL_STATUS),
        "education": _by_age("r12", _EDUCATION),
        "condition": _by_age("r13", _DIAGNOSES),
    }


def _visit_choices() -> dict[str, Any]:
    return {
        "patients_count": PATIENTS,
        "frequent": FREQUENT,
        "year_text": str(YEAR),
        "month": _choice("r2", _MONTHS),
        "diagnosis": _by_age("r7", _DIAGNOSES),
        "maternity": _MATERNITY,
        "wards": [
            {"name": name, "charge": charge, "diagnoses": diagnoses} for name, (charge, diagnoses) in _WARDS.items()
        ],
    }


def _choice(draw: str, weights: Mapping[str, int]) -> Sql:
    """One of the values, by weight, from the random column ``draw``."""
    choices = [
        {"below": below, "value": value} for value, below in zip(weights, accumulate(weights.values()), strict=True)
    ]
    return render("verbs/demo/choice", draw=draw, total=sum(weights.values()), choices=choices)


def _by_age(draw: str, groups: Mapping[int, Mapping[str, int]]) -> Sql:
    """A choice by weights that depend on the age; each group ends below its key."""
    return render(
        "verbs/demo/by_age",
        groups=[{"below": below, "choice": _choice(draw, weights)} for below, weights in groups.items()],
    )


_AGES: Sequence[tuple[int, int, int]] = (
    (1, 4, 60),
    (5, 17, 95),
    (18, 29, 125),
    (30, 44, 170),
    (45, 59, 205),
    (60, 74, 215),
    (75, 89, 120),
    (90, 99, 10),
)
"""Ages at the end of the year, from, to, weight. No person is younger than 1: a visit follows the birth."""

_REGIONS = {
    "941": 260, "946": 170, "940": 130, "945": 120, "951": 95, "950": 70, "943": 55, "947": 40, "949": 35, "944": 25,
}  # fmt: skip
"""First three digits of the zip code: a city, its surroundings, a few places far out."""

_MARITAL_STATUS: Mapping[int, Mapping[str, int]] = {
    18: {"Never married": 1},
    30: {"Never married": 78, "Married": 15, "Registered partnership": 4, "Divorced": 2, "Separated": 1},
    60: {
        "Never married": 27, "Married": 49, "Registered partnership": 5, "Divorced": 13, "Separated": 4, "Widowed": 2,
    },
    200: {
        "Never married": 9, "Married": 53, "Registered partnership": 2, "Divorced": 14, "Separated": 2, "Widowed": 20,
    },
}  # fmt: skip

_EDUCATION: Mapping[int, Mapping[str, int]] = {
    6: {"No schooling": 1},
    12: {"Primary school": 1},
    18: {"Primary school": 10, "Lower secondary": 90},
    30: {"Lower secondary": 12, "Upper secondary": 38, "Vocational": 22, "Bachelor": 20, "Master": 7, "Doctorate": 1},
    200: {
        "No schooling": 2, "Primary school": 9, "Lower secondary": 17, "Upper secondary": 24, "Vocational": 25,
        "Bachelor": 14, "Master": 7, "Doctorate": 2,
    },
}  # fmt: skip

_EDUCATION_GROUPS = {
    "Basic": ("No schooling", "Primary school", "Lower secondary"),
    "Secondary": ("Upper secondary", "Vocational"),
    "University": ("Bachelor", "Master", "Doctorate"),
}

_MATERNITY = "Pregnancy care"

_DIAGNOSES: Mapping[int, Mapping[str, int]] = {
    18: {
        "Respiratory infection": 24, "Asthma": 15, "Injury": 16, "Allergy": 12, "Gastroenteritis": 11,
        "Skin condition": 9, "Migraine": 3, "Anxiety disorder": 4, "Urinary infection": 3, "Anaemia": 3,
    },
    50: {
        "Respiratory infection": 15, "Back pain": 15, "Anxiety disorder": 11, "Depression": 10, "Injury": 10,
        "Gastroenteritis": 7, "Skin condition": 6, "Migraine": 6, "Allergy": 6, "Hypertension": 5, "Asthma": 5,
        "Urinary infection": 4, "Diabetes": 3, "Thyroid disorder": 3, "Anaemia": 2, "HIV": 1,
    },
    200: {
        "Hypertension": 18, "Diabetes": 13, "Back pain": 11, "Respiratory infection": 9, "Arthritis": 10,
        "Heart failure": 7, "COPD": 6, "Depression": 6, "Cancer": 5, "Urinary infection": 4, "Thyroid disorder": 3,
        "Injury": 4, "Skin condition": 2, "Anaemia": 2,
    },
}  # fmt: skip

_WARDS: Mapping[str, tuple[int, Sequence[str]]] = {
    "General medicine": (
        120,
        ("Respiratory infection", "Gastroenteritis", "Allergy", "Skin condition", "Urinary infection", "Migraine"),
    ),
    "Internal medicine": (210, ("Diabetes", "Thyroid disorder", "Anaemia", "HIV")),
    "Cardiology": (340, ("Hypertension", "Heart failure")),
    "Pulmonology": (260, ("Asthma", "COPD")),
    "Orthopaedics": (280, ("Back pain", "Arthritis", "Injury")),
    "Psychiatry": (190, ("Anxiety disorder", "Depression")),
    "Oncology": (890, ("Cancer",)),
    "Maternity": (310, (_MATERNITY,)),
}
"""Ward -> its lowest charge and the diagnoses that it treats."""

_MONTHS = {
    "01": 11, "02": 10, "03": 9, "04": 8, "05": 8, "06": 7, "07": 6, "08": 6, "09": 8, "10": 9, "11": 9, "12": 9,
}  # fmt: skip


def _names(text: str) -> list[str]:
    return text.split()


_FEMALE_NAMES = _names(
    "Ada Alice Amara Anna Beatriz Carla Chen Clara Diana Elena Emma Fatima Grace Hannah Ines Iris Jana Julia "
    "Karin Lena Lucia Maria Mei Nadia Nora Olga Paula Rosa Sara Sofia Tara Vera Yuki Zoe"
)
_MALE_NAMES = _names(
    "Adam Ahmed Anton Bruno Carlos Daniel David Elias Emil Felix Gabriel Hassan Hugo Igor Ivan Jakob Jonas Karl "
    "Kenji Leo Lukas Marco Martin Nico Omar Oscar Pablo Paul Pedro Rafael Samuel Simon Tomas Victor"
)
_SURNAMES = _names(
    "Abbott Adler Almeida Baker Bauer Bianchi Brandt Carter Castro Chang Costa Dietrich Duarte Eriksen Evans "
    "Ferrari Fischer Foster Garcia Gruber Haddad Hansen Herrera Hughes Ito Ivanova Jansen Johnson Kaya Keller "
    "Khan Kim Kowalski Larsen Lee Lindqvist Lopez Marino Meyer Miller Moreau Morris Nakamura Nguyen Novak Olsen "
    "Ortiz Park Patel Petrov Price Quinn Ramos Reyes Rossi Sato Schmid Silva Singh Suzuki Tanaka Torres Turner "
    "Vargas Vogel Wagner Walker Weber Wong Young Ziegler"
)


# --- The spec ------------------------------------------------------------------------------


def _education_text() -> str:
    rows = [f"{value};{group};*" for group, values in _EDUCATION_GROUPS.items() for value in values]
    return "\n".join(rows) + "\n"


_SPEC_TEXT = f"""\
# A clinic's visits, released without singling out any patient. Generated data: no person in it exists.
#
#   kanon-sql plan {SPEC} -d {DATABASE}         what would be chosen, and what it costs
#   kanon-sql anonymize {SPEC} -d {DATABASE}    publish it again; change something here first
version: 1
kind: release

source: visits
release: visits_release

# A patient may have many visits: every class must hold k patients, not k rows.
unit: patient_id

# Never released. What this file does not name (the ward, the date of the visit) is not released either.
identifiers: [visit_id, name, ssn]

# What someone may know of a patient. Level 0 is the value itself, the last level is '*'.
quasi_identifiers:
  age: {{intervals: [5, 10, 20], bottom: 5, top: 85}}       # < 5, [5, 10), ... [80, 85), >= 85
  sex: {{}}                                                 # the value, then *
  zip: {{prefix: [4, 3, 2], weight: 2}}                     # 9413*, 941**, 94***; matters twice as much as the others
  birth_date:
    dates: [month, quarter, year, decade]                 # 1980-03, 1980-Q1, 1980, 1980-1989
    minimum_level: 1                                      # the day is never released
  marital_status:
    tree:                                                 # the most general labels outermost
      Partnered: [Married, Registered partnership]
      Alone:
        Single: [Never married]
        Formerly partnered: [Divorced, Separated, Widowed]
  education: {{file: {EDUCATION}}}            # value;group;* per line

# Released as it is, and protected by the requirements below.
sensitive: [diagnosis]

# Insensitive: released as it is.
keep: [charge]

# All of these hold in the release, or there is no release.
privacy:
  - k_anonymity: {{k: 5}}                                             # at least 5 patients look alike
  - l_diversity: {{attribute: diagnosis, l: 3, variant: distinct}}       # with at least 3 diagnoses
  - t_closeness: {{attribute: diagnosis, t: 0.75}}                    # and not too unlike all patients together

# At most this share of the visits may be left out.
suppression: {{max_share: 0.05}}
"""


# --- Several tables ------------------------------------------------------------------------

_DRUGS: Mapping[str, Sequence[str]] = {
    "Respiratory infection": ("J01CA04", "R05DA04", "N02BE01"),
    "Asthma": ("R03AC02", "R03BA02", "R03DC03"),
    "Injury": ("M01AE01", "N02BE01", "N02AX02"),
    "Allergy": ("R06AE07", "R01AD09", "H02AB06"),
    "Back pain": ("M01AE01", "M03BX02", "N02AX02"),
    "Anxiety disorder": ("N05BA06", "N06AB04", "N05CF02"),
    "Depression": ("N06AB04", "N06AX16", "N05CF02"),
    "Hypertension": ("C09AA05", "C08CA01", "C03AA03"),
    "Diabetes": ("A10BA02", "A10AE04", "A10BH01"),
    "Arthritis": ("M01AE01", "L04AX03", "H02AB06"),
    "Heart failure": ("C03CA01", "C07AB07", "C09AA05"),
    "COPD": ("R03AC02", "R03BB04", "R03BA02"),
    "Cancer": ("A04AA01", "N02AA01", "L01BC06"),
}
"""ATC codes that are prescribed for a diagnosis, the most frequent first; paracetamol for all others."""

_TABLES_TEXT = """\
# Three tables of a clinic, released together: an attacker who knows a patient's own values here, and one visit
# or one prescription, is to find at least 5 patients.
#
#     kanon-sql plan tables.yml -d demo.duckdb
#     kanon-sql anonymize tables.yml -d demo.duckdb
#     kanon-sql check tables.yml -d demo.duckdb
#
# Names are left out, since nothing here mentions them, and all keys are new in each release.
version: 1
person:
  table: patients
  key: patient_id
  quasi_identifiers:
    sex:
    birth_date: {dates: [year, decade], maximum_level: 2}
    zip: {prefix: [3, 2]}
tables:
  visits:
    key: visit_id
    person: patient_id
    quasi_identifiers:
      visit_date: {dates: [month, quarter, year]}
      ward:
      diagnosis:
  prescriptions:
    key: prescription_id
    parent: visits
    by: visit_id
    quasi_identifiers:
      drug: {prefix: [5, 3, 1]}
privacy:
  - km_anonymity: {k: 5, m: 1}
suppression: {max_persons: 1%, max_rows: 1%}
release: {schema: released}
"""
