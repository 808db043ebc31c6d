"""``audit``: which labels and values are the same, whatever their type, level or mask."""

from __future__ import annotations

from typing import Any

import pytest

import kanon_sql
from kanon_sql import Spec, SpecError, audit
from kanon_sql.errors import UnsupportedError
from tests.conftest import Database
from tests.support.audits import by_name, small_spec


def test_a_null_matches_null_and_the_top_alone(database: Database) -> None:
    database.table("s", ["q", "d"], [])
    database.table("r", ["q", "d"], [(None, "x"), ("a", "x"), ("*", "x"), ("*", "y")])
    database.table("e", ["q"], [(None,)])
    forward, _ = audit(
        database.engine, small_spec(privacy=[{"k_anonymity": 4}]), external="e", attacks=["linking"]
    ).attacks
    assert (forward.exposed, forward.risk) == (1, 1 / 3)


@pytest.mark.slow
def test_tables_that_share_no_form_are_not_called_safe(database: Database) -> None:
    """Nothing matches, since one side writes Roman numbers: that protects nobody."""
    database.table("s", ["q", "d"], [])
    database.table("r", ["q", "d"], [("1", "x"), ("2", "x")])
    database.table("e", ["q"], [("I",), ("II",)])
    result = audit(database.engine, small_spec(), external="e")
    assert not {"linking", "linking, reversed"} & {attack.name for attack in result.attacks}
    for name in ("linking", "linking, reversed"):
        assert result.left_out[name].startswith("nothing of e matches a row")
    with pytest.raises(UnsupportedError, match="attack linking: nothing of e matches a row"):
        audit(database.engine, small_spec(), external="e", attacks=["linking"])
    for table, rows in (("e", []), ("r", [])):  # nobody to match is another matter
        database.connection.execute(f"DELETE FROM {table}")
        forward, _ = audit(database.engine, small_spec(), external="e", attacks=["linking"]).attacks
        assert (forward.examined, forward.exposed) == (len(rows), 0)


@pytest.mark.slow
def test_releases_that_share_no_form_are_not_called_safe(database: Database) -> None:
    """Every value is out already, but written in capitals: nobody is found in both releases."""
    database.table("s", ["q", "d"], [("a", "x"), ("b", "y")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "y")])
    database.table("old", ["q", "d"], [("a", "X"), ("b", "Y")])
    result = audit(database.engine, small_spec(), earlier=["old"])
    for name in ("complementary", "composition"):
        assert name not in {attack.name for attack in result.attacks}
        assert result.left_out[name].startswith("no person of the source ")
        with pytest.raises(UnsupportedError, match=f"attack {name}: no person of the source"):
            audit(database.engine, small_spec(), earlier=["old"], attacks=[name])
    for table in ("old", "r"):  # nobody to be found is another matter
        database.connection.execute(f"DELETE FROM {table}")
        for attack in audit(database.engine, small_spec(), earlier=["old"], attacks=["complementary"]).attacks:
            assert (attack.examined, attack.exposed) == (0, 0)


NUMBERS = ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(9, 1)", "VARCHAR")


@pytest.mark.slow
@pytest.mark.parametrize("theirs", NUMBERS)
@pytest.mark.parametrize("ours", NUMBERS)
@pytest.mark.sampled(36)
def test_a_number_is_one_whatever_its_type(database: Database, ours: str, theirs: str) -> None:
    """2 is 2.0 and 2.00, in a kept column as in a label of level 0: who has both tables links them. NULL is NULL."""
    rows = [(2, "x", 5), (2, "x", 6), (3, "x", 7), (None, "x", None)]
    database.table("s", {"q": ours, "d": "VARCHAR", "n": ours}, rows)
    database.table("kept", {"q": ours, "d": "VARCHAR", "n": ours}, rows)
    database.table("r", {"q": "VARCHAR", "d": "VARCHAR", "n": ours}, database.rows("kept"))
    database.table("e", {"q": theirs, "n": theirs}, [(2, 5), (3, 7), (3, 8), (None, None)])
    database.table("old", {"q": "VARCHAR", "d": "VARCHAR", "n": theirs}, [("*", "x", n) for n in (5, 6, 7, None)])
    spec = small_spec(quasi_identifiers={"q": {}}, keep=["n"], privacy=[{"k_anonymity": 2}])
    for on, exposed in (("n", 3), ("q", 3)):
        forward, _ = audit(database.engine, spec, external="e", on=[on], attacks=["linking"]).attacks
        assert (forward.examined, forward.exposed, forward.risk) == (4, exposed, 1.0), on
        assert f"{exposed if on == 'n' else 4} of 4 match anything" in forward.notes
    if ours != "DOUBLE":  # whose text in DuckDB, 2.0, is not how it is released
        (attack,) = audit(database.engine, spec, earlier=["old"], attacks=["complementary"]).attacks
        assert (attack.examined, attack.exposed, attack.risk) == (4, 2, 1.0)


@pytest.mark.slow
def test_a_day_is_the_midnight_that_it_begins_with(database: Database) -> None:
    days = [("2020-01-01",), ("2020-01-02",), (None,)]
    database.table("s", {"q": "DATE", "d": "VARCHAR", "other": "VARCHAR"}, [])
    for ours in ("DATE", "TIMESTAMP"):
        for theirs in ("DATE", "TIMESTAMP"):
            database.table("r", {"q": ours, "d": "VARCHAR"}, [(*day, "x") for day in days])
            database.table("e", {"q": theirs}, days)
            for quasi in ({"q": {"dates": ["month"]}}, {"other": {}}):
                spec = small_spec(quasi_identifiers=quasi)
                database.connection.execute("ALTER TABLE r ADD COLUMN IF NOT EXISTS other VARCHAR")
                forward, _ = audit(database.engine, spec, external="e", on=["q"], attacks=["linking"]).attacks
                assert (forward.exposed, forward.risk) == (3, 1.0), (ours, theirs, quasi)


def test_a_column_that_differs_in_case_is_not_left_out(database: Database) -> None:
    """Joined without it, the earlier release looks harmless, and it shows everybody's own value."""
    database.table("s", ["q", "d"], [("a", "x"), ("b", "x")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "x")])
    database.table("old", ["Q", "d"], database.rows("s"))
    database.table("view", ["q", "D"], database.rows("s"))
    for options in ({"earlier": ["old"]}, {"external": "old"}, {"other_views": ["view"]}):
        with pytest.raises(SpecError, match=r"'[QD]' and '[qd]' differ only in case"):
            audit(database.engine, small_spec(), **options)
    assert audit(database.engine, small_spec(), external="old", on=["d"], attacks=["linking"]).passed


def test_masked_rows_match_everybody(database: Database) -> None:
    database.table("s", ["q", "d"], [])
    database.table("r", ["q", "d"], [("a", "x"), ("*", "x")])
    database.table("e", {"q": "VARCHAR", "n": "INTEGER"}, [("a", 1), ("b", 2)])
    forward, backward = audit(database.engine, small_spec(), external="e", attacks=["linking"]).attacks
    assert (forward.examined, forward.exposed, forward.risk) == (2, 1, 1.0)
    assert (backward.examined, backward.exposed, backward.estimate) == (2, 1, True)


@pytest.mark.slow
def test_masked_rows_are_joined_whatever_the_top_is_called(database: Database) -> None:
    """A mask is an asterisk; whose values stand beside it in another release is exposed all the same."""
    rows = [("a", "x"), ("a", "y"), ("c", "z"), ("d", "w")]
    database.table("s", ["q", "d"], rows)
    database.table("old", ["q", "d"], rows)
    for top in ("*", "anybody"):
        spec = small_spec(
            quasi_identifiers={"q": {"tree": {top: {"low": ["a", "b"], "high": ["c", "d"]}}, "maximum_level": 0}},
            suppression={"max_share": 0.5, "style": "mask"},
        )
        database.connection.execute("DROP TABLE IF EXISTS r")
        assert kanon_sql.anonymize(database.engine, spec).passed
        assert sorted(database.rows("r")) == [("*", "w"), ("*", "z"), ("a", "x"), ("a", "y")]
        found = by_name(audit(database.engine, spec, earlier=["old"]))
        for name in ("complementary with old", "composition of d"):
            assert (found[name].examined, found[name].exposed, found[name].risk) == (4, 2, 1.0), (top, name)
        assert found["consistency, global (1,k)"].risk == 1 / 2, top
        assert audit(database.engine, spec, external="old", on=["q"], attacks=["linking"]).attacks[0].risk == 1 / 2


def test_an_asterisk_that_is_a_group_is_no_mask(database: Database) -> None:
    database.table("s", ["q", "d"], [("a", "x"), ("b", "x"), ("c", "x")])
    database.table("r", ["q", "d"], [("*", "x"), ("*", "x"), ("c", "x")])
    database.table("h", ["l0", "l1", "l2"], [("a", "*", "all"), ("b", "*", "all"), ("c", "c", "all")])
    spec = small_spec(quasi_identifiers={"q": {"table": "h"}})
    forward, backward = audit(database.engine, spec, external="s", attacks=["linking"]).attacks
    assert (forward.exposed, backward.exposed) == (1, 1)


@pytest.mark.slow
def test_a_label_of_two_levels_is_taken_at_that_of_the_others(database: Database) -> None:
    """In a release of cities, New York is not the state: who lives in Buffalo is behind one row."""
    cities = ["New York", "New York", "New York", "Buffalo", "LA", "LA"]
    database.table("s", ["q", "d"], [(city, "x") for city in cities])
    tree = {"US": {"New York": ["New York", "Buffalo"], "CA": ["LA", "Fresno"]}}
    spec = small_spec(quasi_identifiers={"q": {"tree": tree}})
    names = ("linking with s", "complementary with old", "consistency (1,k)", "consistency, global (1,k)")
    states = ["New York"] * 4 + ["CA"] * 2
    for labels, exposed, matched in (
        (cities, 1, 1), (states, 0, 0), (["US"] * 6, 0, 0), ([*cities[:4], "US", "US"], 0, 1),
        ([*cities[:4], "CA", "CA"], 0, 1),  # of no one level: New York may be the state
    ):  # fmt: skip
        for table in ("r", "old"):
            database.table(table, ["q", "d"], [(label, "x") for label in labels])
        found = by_name(audit(database.engine, spec, external="s", earlier=["old"]))
        assert [found[name].exposed for name in names] == [exposed] * 3 + [matched], labels


AGES = [(3, "f")] + [(3, "m"), (4, "f"), (4, "m")] * 3
ELDERS = [(34, "m"), (45, "m"), (45, "f")] * 3


@pytest.fixture
def ages_or_decades(database: Database) -> Spec:
    """Two releases of ages, by a rule that makes decades of them: 3 is an age and the thirties."""
    database.table("s", {"q": "INTEGER", "sex": "VARCHAR", "d": "VARCHAR"},
                   [(*row, "x") for row in [*AGES, *ELDERS]])  # fmt: skip
    for table in ("r", "old"):
        database.table(table, ["q", "sex", "d"], [(str(age), sex, "x") for age, sex in AGES])
    decades = {"sql": ["CAST(CAST(FLOOR(x / 10) AS INTEGER) AS VARCHAR)"]}
    return small_spec(quasi_identifiers={"q": decades, "sex": None})


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("attack", "options", "names"),
    [
        ("linking", {"external": "s", "on": ["q", "sex"]}, ["linking with s"]),
        ("complementary", {"earlier": ["old"]}, ["complementary with old"]),
        ("consistency", {}, ["consistency (1,k)", "consistency, global (1,k)"]),
    ],
)
def test_where_labels_may_be_of_two_levels_the_worse_counts(
    database: Database, ages_or_decades: Spec, attack: str, options: dict[str, Any], names: list[str]
) -> None:
    """The girl of 3 is alone in her row, though no woman is in her thirties."""
    result = audit(database.engine, ages_or_decades, attacks=[attack], reveal=9, **options)
    found = by_name(result)
    for name in names:
        assert (found[name].exposed, found[name].beyond, found[name].risk) == (1, 1, 1.0), name
        assert list(found[name].revealed or ()) == [{"values": {"q": "3", "sex": "f"}, "people": 1}]
        assert any("several levels" in note for note in found[name].notes)
    assert not result.passed


def test_in_a_release_of_decades_it_is_them_that_count(database: Database, ages_or_decades: Spec) -> None:
    """3 and 4 are ages too."""
    decades = [(str(age // 10), sex, "x") for age, sex in [(34, "f"), *ELDERS]]
    database.table("r", ["q", "sex", "d"], decades)
    database.connection.execute("INSERT INTO s VALUES (34, 'f', 'x')")
    on = ["q", "sex"]
    found = by_name(audit(database.engine, ages_or_decades, attacks=["linking"], external="s", on=on))
    assert found["linking with s"].exposed == 1


def test_levels_that_say_the_same_are_read_once(database: Database) -> None:
    database.table("s", ["q", "d"], [(value, "x") for value in "aabbc"])
    database.table("h", ["l0", "l1", "l2", "l3"], [(v, g, g, "all") for v, g in (("a", "ab"), ("b", "ab"), ("c", "c"))])
    database.table("r", ["q", "d"], [("ab", "x")] * 4 + [("c", "x"), ("all", "x")])
    spec = small_spec(quasi_identifiers={"q": {"table": "h"}})
    result = audit(database.engine, spec, external="s", attacks=["linking"])
    assert not any("several levels" in note for attack in result.attacks for note in attack.notes)


def test_columns_need_not_agree_on_types(database: Database) -> None:
    database.table("s", {"q": "INTEGER", "d": "VARCHAR"}, [(7, "x")])
    database.table("r", {"q": "VARCHAR", "d": "VARCHAR", "n": "INTEGER"}, [("7", "x", 5), ("8", "y", 6)])
    database.table("e", {"q": "BIGINT", "n": "VARCHAR"}, [(7, "5"), (8, "5")])
    forward, _ = audit(database.engine, small_spec(), external="e", attacks=["linking"]).attacks
    assert (forward.examined, forward.exposed) == (2, 1)


@pytest.mark.slow
def test_labels_that_are_no_numbers_are_not_shortened(database: Database) -> None:
    """1.50 is 1.5, but 1.5-100 is not 1.5-10: two rows of each do not make four."""
    for kind in ("INTEGER", "DECIMAL(8, 2)", "DOUBLE"):
        database.table("s", {"q": kind, "d": "VARCHAR"}, [(4, "x"), (50, "x"), (50, "x")])
        digits = ".00" if "DECIMAL" in kind else ""
        database.table("h", ["l0", "l1"], [(f"4{digits}", "1.5-10"), (f"50{digits}", "1.5-100")])
        database.table("r", ["q", "d"], [("1.5-10", "x"), ("1.5-100", "x"), ("1.5-100", "x")])
        spec = small_spec(quasi_identifiers={"q": {"table": "h"}})
        result = audit(database.engine, spec, external="s", earlier=["r"])
        found = by_name(result)
        for name in ("linking with s", "complementary with r", "consistency (1,k)"):
            assert (found[name].exposed, found[name].risk) == (1, 1.0), (name, kind)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("original", "released"),
    [
        ("DECIMAL(6, 2)", "INTEGER"), ("INTEGER", "DECIMAL(6, 2)"), ("DOUBLE", "DECIMAL(6, 2)"),
        ("DECIMAL(6, 2)", "VARCHAR"), ("DATE", "TIMESTAMP"), ("TIMESTAMP", "DATE"),
    ],
)  # fmt: skip
def test_every_attack_reads_labels_whatever_their_type(database: Database, original: str, released: str) -> None:
    """34 is 34.00, and a day is its midnight: other programs and databases give columns types of their own."""
    one, other = ("2000-01-01", "2000-01-02") if "DATE" in (original, released) else ("34", "35")
    rows = [(value, letter) for value in (one, other) for letter in "abcdefgh"]
    database.table("s", {"q": original, "d": "VARCHAR"}, [*rows, (other, "i"), (one, "j")])
    for table in ("r", "old"):
        database.table(table, {"q": released, "d": "VARCHAR"}, [*rows, (other, "i"), (one, "j")])
    spec = small_spec(privacy=[{"k_anonymity": 10}, {"l_diversity": {"attribute": "d", "l": 2}}],
                      suppression={"max_rows": 0})  # fmt: skip
    attacks = ["linking", "complementary", "composition", "unsorted", "consistency", "definetti", "minimality"]
    found = by_name(audit(database.engine, spec, external="s", earlier=["old"], attacks=attacks))
    names = ["linking with s", "consistency (1,k)", "consistency (k,1)", "consistency, global (1,k)"]
    assert {found[name].exposed for name in names} == {18}
    assert {found[name].examined for name in [*names, "composition of d", "definetti of d", "minimality of d"]} == {18}
    assert found["complementary with old"].exposed == 18
    assert (found["unsorted"].exposed, found["unsorted"].risk) == (18, 1.0), "the order is the source's"
