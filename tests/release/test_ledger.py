"""What several releases tell together: Sweeney's examples, and what each release hides from the others."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import SpecError
from tests.conftest import Database
from tests.oracles.joint import Shape, made, spec_of, together
from tests.oracles.model import Requirement, model_of
from tests.support import literature as lit
from tests.support.ledgers import SQUARE, asked, entries, people
from tests.support.oracle_answers import assert_achieved
from tests.support.specs import QUIET
from tests.support.strategies import random_rows

# --- Sweeney 2002 ----------------------------------------------------------------------------------------


def sweeney(database: Database) -> None:
    """PT as GT1 and as GT3 show it: cells are generalized one by one, so each table's labels are columns."""
    names = lit.SWEENEY_QUASI_IDENTIFIERS
    columns = [*(f"{name}1" for name in names), *(f"{name}3" for name in names), "problem"]
    lines = [
        [*(one[name] for name in names), *(three[name] for name in names), one["problem"]]
        for one, three in zip(lit.SWEENEY_GT1, lit.SWEENEY_GT3, strict=True)
    ]
    database.table("pt", columns, lines)


def sweeney_release(version: int, release: str, **more: Any) -> kanon_sql.Spec:
    columns = [f"{name}{version}" for name in lit.SWEENEY_QUASI_IDENTIFIERS]
    return kanon_sql.Spec.from_dict(
        {
            "version": 1, "source": "pt", "release": release, "sensitive": ["problem"],
            "quasi_identifiers": {name: {"maximum_level": 0} for name in columns},
            "privacy": [{"k_anonymity": 2}], "ledger": "ledger", **more,
        }
    )  # fmt: skip


@pytest.mark.slow
def test_sweeney_complementary_release(database: Database) -> None:
    """GT1 and GT3 are 2-anonymous; linked on Problem they give LT, in which two people are alone (section 4.2)."""
    sweeney(database)
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1")).passed
    result = kanon_sql.anonymize(database.engine, sweeney_release(3, "gt3"))
    assert not result.passed
    assert result.achieved["k_anonymity"]["k"] == 2, "alone it would do"
    lt = Counter(tuple(row[name] for name in lit.SWEENEY_QUASI_IDENTIFIERS) for row in lit.SWEENEY_LT)
    alone = [vector for vector, count in lt.items() if count == 1]
    assert result.ledger is not None
    assert result.ledger["achieved"] == {
        "2-anonymity": {
            "requirement": "2-anonymity", "k": 1,
            "violating_classes": len(alone), "violating_rows": len(alone),
        }
    }  # fmt: skip
    assert result.ledger["classes"]["count"] == len(lt)
    assert "together with gt1, 2 joint classes (2 rows) violate 2-anonymity" in result.message
    assert "gt3" not in database.tables()
    assert [entry["release"] for entry in entries(database)] == [["gt1"]]
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1_again")).passed


@pytest.mark.slow
def test_sweeney_temporal_attack(database: Database) -> None:
    """Two people are added after GT1 (section 4.3): GT3 with them is refused, GT1 with them, the remedy, is not."""
    sweeney(database)
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1")).passed
    for problem in ("headache", "rash"):
        row = ["black", "1965", "male", "02139", "black", "1965", "male", "02139", problem]
        database.connection.execute("INSERT INTO pt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    later = kanon_sql.anonymize(database.engine, sweeney_release(3, "gt_later"))
    assert not later.passed
    assert later.ledger is not None
    assert later.ledger["achieved"]["2-anonymity"]["violating_rows"] == 2
    assert "gt_later" not in database.tables()
    remedy = kanon_sql.anonymize(database.engine, sweeney_release(1, "remedy"))
    assert (remedy.verdict, remedy.rows["released"]) == ("pass", 14)


@pytest.mark.slow
def test_one_person_more_in_a_class_that_is_out(database: Database) -> None:
    """Whoever joins a released class is the difference between two releases."""
    sweeney(database)
    assert kanon_sql.anonymize(database.engine, sweeney_release(1, "gt1")).passed
    database.connection.execute("INSERT INTO pt SELECT * REPLACE ('rash' AS problem) FROM pt WHERE problem = 'fever'")
    for version in (1, 3):
        result = kanon_sql.anonymize(database.engine, sweeney_release(version, "gt_later"))
        assert (result.verdict, result.ledger and result.ledger["changed"]) == ("fail", ["gt1"])
        assert "gt1 can no longer be derived from the source" in result.message


@pytest.mark.slow
def test_one_person_more_in_a_class_that_was_not_shown(database: Database) -> None:
    """Their class is new to gt1 and joins another in the new release: less the old rows, that is one person."""
    people(database, "10 M a", "10 M b", "20 M c", "20 M d")
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 0)).passed
    database.connection.execute("INSERT INTO people VALUES ('21', 'M', 'e')")
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0))
    assert not result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"] == {
        "requirement": "2-anonymity", "k": 1, "violating_classes": 1, "violating_rows": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_closeness_is_asked_of_the_joint_classes_beside_another_requirement(database: Database) -> None:
    """By zip and by sex, half have x; by both, three of four have it, or one, which is 1/4 away."""
    cells = {("10", "M"): "xxxy", ("10", "F"): "xyyy", ("20", "M"): "xyyy", ("20", "F"): "xxxy"}
    people(database, *(f"{zip_code} {sex} {dx}" for (zip_code, sex), held in cells.items() for dx in held))
    diverse: Requirement = {"l_diversity": {"attribute": "dx", "l": 2}}
    close: Requirement = {"t_closeness": {"attribute": "dx", "t": 0.1}}
    for number, privacy in enumerate(([diverse, close], [close, diverse], [close])):
        ledger = f"ledger{number}"
        first = asked(f"zip{number}", 0, 1, privacy=privacy, ledger=ledger)
        assert kanon_sql.anonymize(database.engine, first).passed
        result = kanon_sql.anonymize(database.engine, asked(f"sex{number}", 2, 0, privacy=privacy, ledger=ledger))
        assert not result.passed
        assert result.ledger is not None
        (found,) = (item for label, item in result.ledger["achieved"].items() if "closeness" in label)
        assert (found["t"], found["violating_classes"], found["violating_rows"]) == (pytest.approx(1 / 4), 4, 16)


@pytest.mark.slow
def test_one_masked_row_is_in_the_release_and_the_ledger_says_so(database: Database) -> None:
    """A row with a NULL, masked, looks as all others do at the top: the release has all three, and is made again."""
    database.table("people", ["zip", "sex", "dx"], [("10", "M", "a"), ("20", "F", "b"), (None, "F", "c")])
    masks = {"nulls": "suppress", "suppression": {"max_rows": 1, "style": "mask"}}
    result = kanon_sql.anonymize(database.engine, asked("r1", 2, 1, **masks))
    assert (result.rows["released"], result.rows["masked"]) == (2, 1)
    assert [entry["masked"] for entry in entries(database)] == [True]
    again = kanon_sql.anonymize(database.engine, asked("r2", 2, 1, **masks))
    assert again.ledger is not None
    assert again.ledger["changed"] == []


# --- rows that one release suppresses -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_suppressed_row_is_what_is_left_of_its_class(database: Database) -> None:
    """r1 leaves out the one person of zip 21; r2 shows the class 2*, which less the rows of r1 is that person."""
    people(database, "10 M a", "10 M b", "20 M c", "20 M d", "21 M e")
    some = {"suppression": {"max_rows": 1}}
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 0, **some)).rows["suppressed"] == 1
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0))
    assert not result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == 1
    assert kanon_sql.anonymize(database.engine, asked("r3", 0, 1, **some)).passed, "suppressed in both"


@pytest.mark.slow
def test_a_suppressed_row_is_not_one_whose_labels_are_null(database: Database) -> None:
    """r1 shows two people without a zip code and leaves out one with; r2 shows all three alike."""
    database.table("people", ["zip", "sex", "dx"], [(None, "M", "a"), (None, "M", "b"), ("21", "M", "c")])
    by_zip = {"quasi_identifiers": {"zip": None}}
    first = kanon_sql.anonymize(database.engine, asked("r1", **by_zip, suppression={"max_rows": 1}))
    assert (first.node, first.rows["suppressed"]) == ({"zip": 0}, 1)
    result = kanon_sql.anonymize(database.engine, asked("r2", **by_zip))
    assert (result.verdict, result.node) == ("fail", {"zip": 1})
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == 1


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("alone", [1, 2])
def test_masked_rows_are_a_class_of_their_own(database: Database, alone: int) -> None:
    """r1 masks whoever is alone in their zip code; r2 shows them in 2*: those masked there are a joint class."""
    codes = [["20"], ["20", "21"]][alone - 1]
    people(database, "10 M a", "10 M b", "22 M c", "22 M d", *(f"{code} M e" for code in codes), "30 F f")
    first = kanon_sql.anonymize(database.engine, asked("r1", 0, 0, suppression={"max_rows": 3, "style": "mask"}))
    assert first.rows.get("masked") == alone + 1
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0, suppression={"max_rows": 1}))
    assert result.ledger is not None
    assert result.ledger["changed"] == []
    left_out_by_r2 = 1  # of zip 30: masked in r1, so in a joint class too
    violating = left_out_by_r2 + (alone if alone < 2 else 0)
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == violating
    assert not result.passed


@pytest.mark.slow
def test_what_one_release_generalizes_and_another_shows_as_it_is(database: Database) -> None:
    """r2 keeps the zip code, which r1 calls a quasi-identifier: who knows it finds eight people alone."""
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed
    by_sex = {"quasi_identifiers": {"sex": {"maximum_level": 0}}, "keep": ["zip"]}
    result = kanon_sql.anonymize(database.engine, asked("r2", **by_sex))
    assert result.achieved["k_anonymity"]["k"] == 4
    assert not result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["2-anonymity"]["violating_rows"] == 8


@pytest.mark.slow
def test_a_requirement_is_about_the_rows_that_show_its_attribute(database: Database) -> None:
    """r2 has no illness: the people of zip 2*, whom r1 leaves out, need no diversity of it; what r1 promised holds."""
    people(database, "10 M a", "10 M b", "20 M c", "20 M c")
    diverse = [{"k_anonymity": 2}, {"l_diversity": {"attribute": "dx", "l": 2}}]
    first = kanon_sql.anonymize(database.engine, asked("r1", 1, 0, privacy=diverse, suppression={"max_rows": 2}))
    assert first.rows["suppressed"] == 2
    result = kanon_sql.anonymize(database.engine, asked("r2", 1, 0, sensitive=[]))
    assert result.passed
    assert result.ledger is not None
    assert result.ledger["achieved"]["distinct 2-diversity of dx"]["l"] == 2


@pytest.mark.slow
def test_what_each_release_promised_is_asked_for_itself(database: Database) -> None:
    """r1 promised 2-anonymity, r2 has to be 3-anonymous: the joint classes of two people break the latter alone."""
    people(database, *["10 M a", "10 M b", "20 M c", "20 M d"], *["10 F e", "10 F f", "20 F g", "20 F h"])
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 1)).passed
    result = kanon_sql.anonymize(database.engine, asked("r2", 2, 0, privacy=[{"k_anonymity": 3}]))
    assert result.achieved["k_anonymity"]["k"] == 4
    assert not result.passed
    assert result.ledger is not None
    found = {label: item["violating_rows"] for label, item in result.ledger["achieved"].items()}
    assert found == {"3-anonymity": 8, "2-anonymity": 0}


@pytest.mark.slow
@pytest.mark.parametrize(
    "requirement",
    [
        {"t_closeness": {"attribute": "pay", "t": 0.3, "distance": "ordered"}},
        {"p_sensitive_k_anonymity": {"attribute": "dx", "p": 2, "k": 2}},
        {"alpha_k_anonymity": {"attribute": "dx", "alpha": 0.6, "k": 2}},
        {"beta_likeness": {"attribute": "pay", "beta": 1, "variant": "basic"}},
        {"beta_likeness": {"attribute": "dx", "beta": 1}},
        {"delta_disclosure": {"attribute": "dx", "delta": 1.5}},
    ],
    ids=lambda requirement: "-".join(map(str, model_of(requirement)[1].values())),
)
@pytest.mark.sampled(6)
def test_every_model_is_asked_of_the_joint_classes(database: Database, requirement: Requirement) -> None:
    """One release shows the zip code and promises the model, the other shows the sex: against the oracle."""
    zips = {code: (code, code[0], "*") for code in ("10", "20", "21")}
    sexes = {sex: (sex, "*") for sex in "MF"}
    shown: dict[str, Any] = {"sensitive": ["dx", "pay"]}
    broken = 0
    for seed in range(4):
        cells: dict[str, list[Any]] = {"dx": ["a", "b", "c"], "pay": [1, 2, 3, 10]}
        rows = random_rows({"zip": [*zips], "sex": [*sexes]}, cells, 30, seed)
        database.connection.execute("DROP TABLE IF EXISTS people")
        kinds = {"zip": "VARCHAR", "sex": "VARCHAR", "dx": "VARCHAR", "pay": "INTEGER"}
        database.table("people", kinds, [[row[name] for name in kinds] for row in rows])
        levels = {"zip": {"prefix": [1], "maximum_level": 0}}, {"sex": {"maximum_level": 0}}
        shapes = (
            Shape({"zip": zips}, levels[0], ["dx", "pay"], [requirement], limit=1.0, more=shown),
            Shape({"sex": sexes}, levels[1], ["dx", "pay"], [{"k_anonymity": {"k": 1}}], more=shown),
        )
        results = [
            kanon_sql.anonymize(database.engine, spec_of(shape, f"r{seed}{number}", None, ledger=f"ledger{seed}"))
            for number, shape in enumerate(shapes)
        ]
        if results[0].node is None:  # nothing to release
            continue
        releases = [made(rows, shape, (0,), None, masked=False) for shape in shapes]
        expected = together(rows, releases, None)
        assert results[1].ledger is not None
        assert_achieved(results[1].ledger["achieved"], expected)
        broken += not results[1].passed
    assert broken


@pytest.mark.slow
def test_a_finer_release_after_a_coarser_one_and_a_coarser_after_a_finer(database: Database) -> None:
    people(database, *SQUARE, *SQUARE)
    for number, (of_zip, of_sex) in enumerate([(1, 1), (1, 0), (0, 0), (2, 1), (1, 0)]):
        result = kanon_sql.anonymize(database.engine, asked(f"r{number}", of_zip, of_sex, warnings=QUIET))
        assert result.passed, result.message
        assert result.cost.source_scans == (3 if number else 2)
    assert len(entries(database)) == 5


@pytest.mark.slow
def test_coarsen_keeps_to_the_levels_that_are_out(database: Database) -> None:
    """Alone the search would take zip 1, sex 0; with zip 0 out, sex must go to its top."""
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 1)).passed
    free = kanon_sql.anonymize(database.engine, asked("r2"))
    assert (free.verdict, free.node) == ("fail", {"zip": 1, "sex": 0})
    ledger = {"table": "ledger", "on_conflict": "coarsen"}
    held = kanon_sql.anonymize(database.engine, asked("r2", ledger=ledger))
    assert (held.verdict, held.node) == ("pass", {"zip": 0, "sex": 1})
    assert held.ledger is not None
    assert held.ledger["coarsened"] is True


@pytest.mark.slow
def test_what_was_found_below_the_levels_that_are_out_says_nothing_of_those_above(database: Database) -> None:
    """By weight the search takes zip 0, sex 1, which with zip 1, sex 0 names people; zip 1, sex 0 again does not."""
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed
    heavy = {"zip": {"prefix": [1], "weight": 5}, "sex": {}}
    options = {"quasi_identifiers": heavy, "search": {"metric": "height"}}
    free = kanon_sql.anonymize(database.engine, asked("r2", **options))
    assert (free.verdict, free.node) == ("fail", {"zip": 0, "sex": 1})
    ledger = {"table": "ledger", "on_conflict": "coarsen"}
    found = kanon_sql.anonymize(database.engine, asked("r2", **options, ledger=ledger))
    assert (found.verdict, found.node) == ("pass", {"zip": 1, "sex": 0})


@pytest.mark.slow
def test_coarsen_goes_above_what_is_out_where_rows_were_left_out(database: Database) -> None:
    """r1 left out one of zip 10, one of 20: less the rows of r1, each is alone in 1* and 2*, and in * they are two."""
    people(database, "10 M a", "11 M b", "11 M c", "20 M d", "21 M e", "21 M f")
    first = kanon_sql.anonymize(database.engine, asked("r1", 0, 0, suppression={"max_rows": 2}))
    assert first.rows["suppressed"] == 2
    refused = kanon_sql.anonymize(database.engine, asked("r2", sex_level=0))
    assert (refused.verdict, refused.node) == ("fail", {"zip": 1, "sex": 0})
    ledger = {"table": "ledger", "on_conflict": "coarsen"}
    result = kanon_sql.anonymize(database.engine, asked("r2", sex_level=0, ledger=ledger))
    assert (result.verdict, result.node, result.rows["suppressed"]) == ("pass", {"zip": 2, "sex": 0}, 0)
    assert result.ledger is not None
    assert (result.ledger["coarsened"], result.ledger["refused"]) == (True, 1)


@pytest.mark.slow
def test_coarsen_says_how_many_it_compared(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one person of zip 30 was left out: less the rows of r1, they are alone in whatever r2 shows."""
    people(database, *(f"{code} M {number}" for number, code in enumerate(["10", "10", "20", "20", "30"])))
    assert kanon_sql.anonymize(database.engine, asked("r1", 0, 1, suppression={"max_rows": 1})).passed
    ledger = {"table": "ledger", "on_conflict": "coarsen"}
    none = kanon_sql.anonymize(database.engine, asked("r2", ledger=ledger))
    assert not none.passed
    assert "none of the generalizations at or above earlier levels is safe" in none.message
    monkeypatch.setattr("kanon_sql.verbs.anonymize.MOST_COMPARED", 1)
    some = kanon_sql.anonymize(database.engine, asked("r2", ledger=ledger))
    assert not some.passed
    assert "the 1 best were compared, and whether another one is safe is not known" in some.message
    assert "r2" not in database.tables()


@pytest.mark.slow
def test_coarsen_keeps_to_the_limits_of_the_spec(database: Database) -> None:
    people(database, *SQUARE)
    assert kanon_sql.anonymize(database.engine, asked("r1", 1, 0)).passed
    ledger = {"table": "ledger", "on_conflict": "coarsen"}
    with pytest.raises(SpecError, match=r"zip.maximum_level: on_conflict: coarsen needs level 1, .* allowed is 0"):
        kanon_sql.anonymize(database.engine, asked("r2", 0, ledger=ledger))
