"""The spec: the example, its schema, suppression, and the ways out of it."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql.spec as spec_package
from kanon_sql.hierarchies.kinds.dates import DatesHierarchy
from kanon_sql.hierarchies.kinds.file import FileHierarchy
from kanon_sql.hierarchies.kinds.intervals import IntervalsHierarchy
from kanon_sql.hierarchies.kinds.prefix import PrefixHierarchy
from kanon_sql.hierarchies.kinds.sql import SqlHierarchy
from kanon_sql.hierarchies.kinds.table import TableHierarchy
from kanon_sql.hierarchies.kinds.tree import TreeHierarchy
from kanon_sql.models.privacy.delta_presence import DeltaPresenceRequirement
from kanon_sql.models.privacy.k_map import KMapRequirement
from kanon_sql.models.privacy.l_diversity import LDiversityRequirement
from kanon_sql.models.privacy.t_closeness import TClosenessRequirement
from kanon_sql.spec import (
    KAnonymityRequirement,
    Source,
    Spec,
    Suppression,
    requirements,
)
from kanon_sql.spec.redact import redact_location, redact_sql
from tests import ROOT
from tests.support.specs import EXAMPLE, HEAD, MINIMAL, TAIL, make, patient, refusals, schema_accepts
from tests.support.suppressions import suppressing

# --- The example and the schema ------------------------------------------------------------


def test_the_example_loads_completely() -> None:
    spec = Spec.load(EXAMPLE)
    assert spec.source == Source(table=("visits",))
    assert spec.release == ("visits_release",)
    assert spec.unit == "patient_id"
    assert spec.identifiers == ("name", "ssn")
    assert list(spec.quasi_identifiers) == [
        "age", "zip", "birth_date", "sex", "diagnosis_group", "ward", "visits",
    ]  # fmt: skip
    hierarchies = [quasi.hierarchy for quasi in spec.quasi_identifiers.values()]
    assert hierarchies[0] == IntervalsHierarchy(
        intervals=(Decimal(5), Decimal(10), Decimal(20)), origin=Decimal(0), bottom=Decimal(0), top=Decimal(90)
    )
    assert hierarchies[1] == PrefixHierarchy(prefix=(4, 3, 2))
    assert hierarchies[2] == DatesHierarchy(dates=("month", "quarter", "year", "decade"))
    assert hierarchies[3] == FileHierarchy(file="hierarchies/sex.csv")
    assert isinstance(hierarchies[4], TreeHierarchy)
    assert hierarchies[5] == TableHierarchy(table=("ward_hierarchy",))
    assert hierarchies[6] == SqlHierarchy(sql=("floor(x / 10) * 10", "floor(x / 50) * 50"))
    assert [quasi.height_hint for quasi in spec.quasi_identifiers.values()] == [4, 4, 5, None, 3, None, 3]
    assert spec.quasi_identifiers["ward"].maximum_level == 2
    assert spec.quasi_identifiers["birth_date"].minimum_level == 1
    assert spec.quasi_identifiers["diagnosis_group"].weight == 2.0
    assert spec.privacy == (
        KAnonymityRequirement(k=5),
        LDiversityRequirement(attribute="diagnosis", l=3, variant="distinct"),
        TClosenessRequirement(attribute="diagnosis", t=0.3),
        KMapRequirement(population=("census",), k=5),
        DeltaPresenceRequirement(population=("census",), delta_max=0.5),
    )
    assert spec.suppression == Suppression(max_share=0.05, style="drop")
    assert (spec.search.algorithm, spec.search.metric) == ("samarati", "loss")
    assert spec.nulls == "value"
    assert spec.base_dir == EXAMPLE.parent
    assert spec.resolve("hierarchies/sex.csv") == EXAMPLE.parent / "hierarchies" / "sex.csv"


def test_defaults() -> None:
    spec = make()
    assert (spec.release, spec.unit, spec.identifiers, spec.sensitive, spec.keep) == (None, None, (), (), ())
    assert (spec.suppression.limit, spec.suppression.style) == (("max_share", 0.0), "drop")
    assert (spec.search.algorithm, spec.search.metric) == ("optimal", "loss")
    assert spec.search.prefer == "minimum_suppression"
    assert spec.nulls == "value"
    assert spec.base_dir == Path.cwd()
    # A key with nothing after it is as good as no key.
    assert make(keep=None, unit=None, suppression=None, search=None, nulls=None) == spec


@pytest.mark.slow
def test_the_schema_is_a_schema_of_every_requirement() -> None:
    named = [item["$ref"].rpartition("/")[2] for item in Spec.json_schema()["properties"]["privacy"]["items"]["anyOf"]]
    assert named == [item.__name__.removesuffix("Requirement") for item in requirements()]
    jsonschema.Draft202012Validator.check_schema(Spec.json_schema())


@pytest.mark.slow
def test_the_schema_accepts_what_users_write() -> None:
    from ruamel.yaml import YAML

    assert schema_accepts(YAML(typ="safe", pure=True).load(EXAMPLE.read_text("utf-8")))
    assert schema_accepts(Spec.load(EXAMPLE).to_dict())
    assert schema_accepts(make().to_dict())
    changes: dict[str, Any]
    for changes in (
        {"source": {"query": "select 1"}},
        {"source": {"file": "a.parquet"}},
        {"source": ["main", "visits"]},
        {"quasi_identifiers": {"sex": None}},
        {"quasi_identifiers": {"sex": {}}},
        {"privacy": [{"k_anonymity": 5}]},
        {"suppression": {"max_rows": 30}},
        {"release": None, "keep": None, "suppression": None},
        {"search": {"algorithm": "annealing", "seed": 7}},
        {"search": {"algorithm": "datafly"}},
    ):
        make(**changes)
        assert schema_accepts({**MINIMAL, **changes}), changes


@pytest.mark.parametrize(
    "changes",
    [
        {"versoin": 1},
        {"version": 2},
        {"source": {"query": "select 1", "file": "x"}},
        {"source": {}},
        {"quasi_identifiers": {}},
        {"quasi_identifiers": {"a": {"prefix": [1], "dates": ["day"]}}},
        {"quasi_identifiers": {"a": {"top": 9}}},
        {"quasi_identifiers": {"a": {"dates": ["week"]}}},
        {"quasi_identifiers": {"a": {"intervals": None}}},
        {"privacy": []},
        {"privacy": [{"k_anonymity": 0}]},
        {"privacy": [{"k_anonymity": 5, "t_closeness": {}}]},
        {"suppression": {"max_rows": -1}},
        {"suppression": {"max_rows": 0.5}},
        {"suppression": {"max_share": 2}},
        {"suppression": {"max_rows": 1, "max_share": 0.5}},
        {"suppression": {"max_share": 2.5}},
        {"suppression": {"style": "hide"}},
        {"search": {"algorithm": "genetic", "seed": -1}},
    ],
)
def test_the_schema_and_the_models_refuse_alike(changes: dict[str, Any]) -> None:
    assert not schema_accepts({**MINIMAL, **changes})
    refusals(**changes)


# --- Suppression ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "rows", "most"),
    [
        (0.29, 100, 29),
        (0.57, 100, 57),
        (0.1, 30, 3),
        (0.05, 30_162, 1508),
        (1.0, 7, 7),
        (0.0, 7, 0),
        (1, 7, 1),
        (0, 7, 0),
        (25, 1000, 25),
        (0.3, 0, 0),
        (1e-05, 10**12, 10**7),
    ],
)
def test_the_most_rows_that_may_be_suppressed(limit: float, rows: int, most: int) -> None:
    suppression = make(suppression=suppressing(limit)).suppression
    assert suppression.most(rows) == most
    assert suppression.allows_some == (limit != 0)


def test_one_row_and_all_rows_differ() -> None:
    whole = Spec.parse(HEAD + TAIL + "suppression: {max_rows: 1}\n")
    share = Spec.parse(HEAD + TAIL + "suppression: {max_share: 1.0}\n")
    assert (whole.suppression.most(50), share.suppression.most(50)) == (1, 50)
    assert whole.hash != share.hash
    assert Spec.from_dict(json.loads(json.dumps(share.to_dict()))).suppression.most(50) == 50
    # A share of 1 is all rows, also where a program writes 1.0 as 1.
    assert Spec.parse(HEAD + TAIL + "suppression: {max_share: 1}\n") == share


# --- Ways out ------------------------------------------------------------------------------


def test_round_trip_through_json() -> None:
    spec = Spec.load(EXAMPLE)
    again = Spec.from_dict(json.loads(json.dumps(spec.to_dict())))
    assert again == spec
    assert again.to_dict() == spec.to_dict()
    assert (again.hash, hash(again)) == (spec.hash, hash(spec))
    assert spec != make()
    for source in ({"query": "select 1"}, {"file": "a.csv"}):
        assert make(source=source).to_dict()["source"] == source


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


def test_the_hash_is_stable_under_key_order_and_defaults() -> None:
    spec = Spec.load(EXAMPLE)
    for seed in range(5):
        assert Spec.from_dict(shuffled(spec.to_dict(), random.Random(seed))).hash == spec.hash
    assert re.fullmatch("[0-9a-f]{64}", spec.hash)
    assert make(nulls="value", suppression={"max_share": 0.0}).hash == make().hash
    assert make(privacy=[{"k_anonymity": 5}]).hash == make().hash
    assert make(privacy=[{"k_anonymity": 6}]).hash != make().hash


@pytest.mark.slow
def test_the_hash_is_the_same_in_every_process() -> None:
    code = f"from kanon_sql.spec import Spec; print(Spec.load({str(EXAMPLE)!r}).hash)"
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == Spec.load(EXAMPLE).hash


@pytest.mark.parametrize(
    ("sql", "redacted"),
    [
        ("floor(x / 10) * 10", "floor(x / ?) * ?"),
        ("SELECT * FROM visits WHERE name = 'O''Brien' AND age > 1.5e-3",
         "SELECT * FROM visits WHERE name = ? AND age > ?"),
        ("case when x like '%x%' then .5 else 0x1F end", "case when x like ? then ? else ? end"),
        ("col1 + t2.c3 - 4", "col1 + t2.c3 - ?"),
        ("date '2020-01-01' + interval 5 day", "date ? + interval ? day"),
        ('x = "Alice"', "x = ?"),
        ("`weird 'name` = 'Alice'", "`weird 'name` = ?"),
        ("N'Alice' || x'AB' || U&'d'", "? || ? || ?"),
        ("x -- patient 123\n + 1", "x  \n + ?"),
        ("x /* patient 123 */ + 1", "x   + ?"),
        ("x // 10", "x // ?"),
        ("list_contains(['a', 'b'], x)", "list_contains([?, ?], x)"),
        # where a literal ends depends on the dialect: everything goes
        (r"x = 'it\'s Alice'", "?"),
        ("x = $$Alice$$", "?"),
        ("x = $t$Alice$t$", "?"),
        ("x = q'[it's Alice]'", "?"),
        ("x = '''it's Alice'''", "?"),
        ("x = 'Alice", "?"),
        ("x -- it's\n = 'Alice' -- it's", "?"),
        ("x // it's\n = 'Alice' // it's", "?"),
        ("[it's] = 'Alice' or [it's] = 'Bob'", "?"),
        ("x /* a /* b */ Alice */", "?"),
        ("x /* Alice", "?"),
        ("x = 'a' # Alice", "?"),
    ],
)  # fmt: skip
def test_redacted_sql(sql: str, redacted: str) -> None:
    assert redact_sql(sql) == redacted
    assert redact_sql(redacted) == redacted


@pytest.mark.slow
@patient
@given(
    st.lists(
        st.sampled_from([" x ", "=", "||", "(", ")", ",", "t.c1", "[", "]", "`b`", "\n", " -- note\n", "/* n */"])
        | st.text("ab' \"", max_size=6).map(lambda inner: "'" + "Alice" + inner.replace("'", "''") + "'")
        | st.integers(0).map(lambda value: f" {value + 1000} ")
        | st.floats(0, allow_infinity=False, allow_nan=False).map(lambda value: f" {value + 1000!r} "),
        max_size=12,
    )
)
def test_redaction_leaves_no_literal(pieces: list[str]) -> None:
    redacted = redact_sql("".join(pieces))
    assert "Alice" not in redacted
    assert "'" not in redacted
    assert not re.search(r"(?<![\w])\d", redacted)


@pytest.mark.slow
@patient
@given(st.text())
def test_redaction_never_fails_and_never_leaves_a_quote_or_number(sql: str) -> None:
    redacted = re.sub("`[^`]*`", "", redact_sql(sql))
    assert not re.search("['\"]", redacted)
    assert not re.search(r"(?<!\w)\d", redacted)


def test_what_a_manifest_may_hold() -> None:
    spec = make(
        source={"query": "select * from v where ssn <> '123-45-6789'"},
        quasi_identifiers={
            "dx": {"tree": {"Mental": ["Anxiety", "Depression"], "Physical": ["Asthma"]}},
            "age": {"sql": ["case when x > 89 then 'Methuselah' else 'other' end"]},
            "sex": {"file": "https://ann:secret@example.org/sex.csv?sig=abc"},
        },
    )
    shown = spec.redacted()
    assert shown["source"] == {"query": "select * from v where ssn <> ?"}
    assert shown["quasi_identifiers"]["age"]["sql"] == ["case when x > ? then ? else ? end"]
    assert shown["quasi_identifiers"]["sex"]["file"] == "https://example.org/sex.csv"
    tree = shown["quasi_identifiers"]["dx"]["tree"]
    assert (tree["levels"], tree["values"]) == (2, 3)
    assert re.fullmatch("[0-9a-f]{64}", tree["sha256"])
    assert not re.search("123-45|Methuselah|Anxiety|Mental|secret|abc\\b|89", json.dumps({**shown, "x": ""})
                         .replace(tree["sha256"], ""))  # fmt: skip
    assert spec.to_dict()["source"]["query"].endswith("'123-45-6789'")
    assert make(source={"file": "s3://key:word@bucket/a b.parquet"}).redacted()["source"] == {
        "file": "s3://bucket/a b.parquet"
    }
    assert redact_location("data/a?b.csv") == "data/a?b.csv"


def test_models_are_frozen_and_the_exports_exact() -> None:
    spec = make()
    for model, name in (
        (spec, "unit"),
        (spec.suppression, "max_rows"),
        (spec.quasi_identifiers["age"], "weight"),
    ):
        with pytest.raises(ValueError, match="frozen"):
            setattr(model, name, None)
    assert spec_package.__all__ == sorted(spec_package.__all__, key=lambda name: (not name.isupper(), name))
    assert all(hasattr(spec_package, name) for name in spec_package.__all__)


@pytest.mark.slow
def test_yaml_is_imported_only_to_read_yaml() -> None:
    code = "import sys, kanon_sql.spec as s; s.Spec; print('ruamel.yaml' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
