"""Every way a spec can be wrong: each problem has its place, and says what was meant."""

from __future__ import annotations

import re
import textwrap

import pytest

from kanon_sql.errors import SpecError
from kanon_sql.spec import Spec
from tests.support.specs import HEAD, TAIL, make, problems


def test_did_you_mean_at_every_depth() -> None:
    text = """\
        version: 1
        source: visits
        supression: {max_rows: 1}
        quasi_identifiers:
          age: {interval: [5]}
        privacy:
          - l_diversity: {atribute: d, l: 2}
          - k_anonimity: 3
        search: {algoritm: samarati}
        """
    assert problems(text) == [
        "3:1: supression: unknown key; did you mean 'suppression'?",
        "5:9: quasi_identifiers.age.interval: unknown key; did you mean 'intervals'?",
        "7:5: privacy[0].l_diversity: missing 'attribute': the sensitive attribute to protect",
        "7:19: privacy[0].l_diversity.atribute: unknown key; did you mean 'attribute'?",
        "8:5: privacy[1].k_anonimity: unknown requirement; did you mean 'k_anonymity'?",
        "9:10: search.algoritm: unknown key; did you mean 'algorithm'?",
    ]


def test_without_a_near_name_the_allowed_keys_are_listed() -> None:
    assert problems(HEAD + TAIL + "search: {zzz: 1}\n") == [
        "5:10: search.zzz: unknown key; expected one of algorithm, metric, classify, prices, aggregate, "
        "gs_factor, monotone, prefer, variant, distance_vectors, seed, cuts"
    ]


def test_only_random_algorithms_take_a_seed() -> None:
    for written, options in (("{algorithm: genetic, seed: 7}", {"seed": 7}), ("{algorithm: annealing}", {"seed": 0})):
        spec = Spec.parse(HEAD + TAIL + f"search: {written}\n")
        assert spec.search.options == options
        assert spec.to_dict()["search"].items() >= options.items()
        assert Spec.from_dict(spec.to_dict()) == spec
    assert make().search.options == {}
    assert "seed" not in make().to_dict()["search"]
    assert make(search={"algorithm": "genetic"}) == make(search={"algorithm": "genetic", "seed": 0})
    assert make(search={"algorithm": "genetic"}) != make(search={"algorithm": "genetic", "seed": 1})
    for written in ("{seed: 1}", "{algorithm: optimal, seed: 0}", "{algorithm: greedy, seed: x}"):
        assert any(
            "does not use this option, only annealing and genetic" in problem
            for problem in problems(HEAD + TAIL + f"search: {written}\n")
        )
    assert problems(HEAD + TAIL + "search: {algorithm: genetik, seed: 1}\n") == [
        "5:21: search.algorithm: unknown search algorithm; did you mean 'genetic'?"
    ]
    assert problems(HEAD + TAIL + "search: {algorithm: genetic, seed: 1.5}\n") == [
        "5:36: search.seed: expected a seed, a whole number of at least 0, got a number"
    ]


def test_did_you_mean_for_values() -> None:
    assert problems(HEAD + TAIL + "search: {algorithm: Samarati, metric: lost}\nnulls: values\n") == [
        "5:21: search.algorithm: unknown search algorithm; did you mean 'samarati'?",
        "5:39: search.metric: unknown quality metric; did you mean 'loss'?",
        "6:8: nulls: unknown treatment of NULL; did you mean 'value'?",
    ]


def test_missing_keys() -> None:
    assert problems("release: r\n") == [
        "1:1: missing 'version': the version of this format, 1",
        "1:1: missing 'quasi_identifiers': the columns to generalize, each with its hierarchy",
        "1:1: missing 'privacy': the privacy requirements, such as '- k_anonymity: {k: 5}'",
    ]
    assert problems("version:\nsource: v\n" + TAIL)[0].startswith("1:1: version: missing 'version'")


def test_a_program_may_give_the_table_beside_the_spec() -> None:
    for text in ("version: 1\n" + TAIL, "version: 1\nsource:\n" + TAIL):
        assert not Spec.parse(text).source.given


# name -> (lines after HEAD and TAIL, or a whole text), expected problem
SINGLE = {
    "version 2": ("version: 2\nsource: v\n" + TAIL, "1:10: version: this version of kanon_sql reads"),
    "version true": (
        "version: true\nsource: v\n" + TAIL,
        "1:10: version: expected version 1, got true or false",
    ),
    "version text": ("version: '1'\nsource: v\n" + TAIL, "1:10: version: expected version 1, got text"),
    "source number": ("version: 1\nsource: 5\n" + TAIL, "2:9: source: expected a table name, {query"),
    "two sources": (
        "version: 1\nsource: {query: q, file: f}\n" + TAIL,
        "2:20: source.file: give one source only; 'query' is already given",
    ),
    "no source": ("version: 1\nsource: {}\n" + TAIL, "2:9: source: expected a table name, {query"),
    "empty source": (
        "version: 1\nsource: ' '\n" + TAIL,
        "2:9: source.table: expected a table name, got empty",
    ),
    "release mapping": (
        HEAD + TAIL + "release: {a: b}\n",
        "5:10: release: expected a table name, {file: ...} or {view: ...}, got a mapping",
    ),
    "release is source": (
        HEAD + TAIL + "release: VISITS\n",
        "5:10: release: the release has the source's name",
    ),
    "identifiers text": (
        HEAD + TAIL + "identifiers: name\n",
        "5:14: identifiers: expected a list of column names, got text",
    ),
    "a number as a column": (
        HEAD + TAIL + "keep:\n  - a\n  - 7\n",
        "7:5: keep[1]: expected a column name, got a whole number; write it in quotes",
    ),
    "no quasi-identifiers": (
        HEAD + "quasi_identifiers: {}\nprivacy: [{k_anonymity: 2}]\n",
        "3:20: quasi_identifiers: expected at least one quasi-identifier",
    ),
    "quasi-identifiers list": (
        HEAD + "quasi_identifiers: [age]\nprivacy: [{k_anonymity: 2}]\n",
        "3:20: quasi_identifiers: expected a mapping of column names to hierarchies, got a list",
    ),
    "no privacy": (
        HEAD + "quasi_identifiers: {a: {}}\nprivacy: []\n",
        "4:10: privacy: expected a list of at least 1 requirements, got 0",
    ),
    "privacy mapping": (
        HEAD + "quasi_identifiers: {a: {}}\nprivacy: {k_anonymity: 2}\n",
        "4:10: privacy: expected a list of requirements, got a mapping",
    ),
    "share true": (HEAD + TAIL + "suppression: {max_share: true}\n", "5:26: suppression.max_share: expected a share"),
    "share 1.5": (
        HEAD + TAIL + "suppression: {max_share: 1.5}\n",
        "5:26: suppression.max_share: expected a share of the rows between 0 and 1, got 1.5",
    ),
    "share 5": (
        HEAD + TAIL + "suppression: {max_share: 5}\n",
        "5:26: suppression.max_share: expected a share of the rows between 0 and 1; write a number of rows as max_rows",
    ),
    "share nan": (HEAD + TAIL + "suppression: {max_share: .nan}\n", "5:26: suppression.max_share: expected a share"),
    "share text": (HEAD + TAIL + "suppression: {max_share: five}\n", "5:26: suppression.max_share: expected a share"),
    "rows -1": (HEAD + TAIL + "suppression: {max_rows: -1}\n", "5:25: suppression.max_rows: expected a row count"),
    "rows 0.05": (
        HEAD + TAIL + "suppression: {max_rows: 0.05}\n",
        "5:25: suppression.max_rows: expected a row count, a whole number of at least 0; write a share "
        "of the rows as max_share",
    ),
    "rows and share": (
        HEAD + TAIL + "suppression: {max_rows: 1, max_share: 0.1}\n",
        "5:28: suppression.max_share: max_rows already sets the limit; leave one of the two out",
    ),
    "style": (
        HEAD + TAIL + "suppression: {style: msk}\n",
        "5:22: suppression.style: unknown suppression style; ",
    ),
}


@pytest.mark.parametrize("name", SINGLE)
def test_one_problem_and_its_place(name: str) -> None:
    text, expected = SINGLE[name]
    [problem] = problems(text)
    assert problem.startswith(expected)


# the value of a quasi-identifier, at line 3, column 24
HIERARCHIES = {
    "{intervals: [5, 12]}": "3:40 .x.intervals[1]: the levels do not nest: width 12 is not a "
    "multiple of 5, the one before",
    "{intervals: [10, 5]}": "3:41 .x.intervals[1]: widths must increase: 5 comes after 10",
    "{intervals: [5, 5]}": "3:40 .x.intervals[1]: widths must increase: 5 comes after 5",
    "{intervals: [0, 5]}": "3:37 .x.intervals[0]: expected a width above 0, got 0",
    "{intervals: []}": "3:36 .x.intervals: expected a list of at least 1 interval widths",
    "{intervals: 5}": "3:36 .x.intervals: expected a list of interval widths, got a whole number",
    "{intervals: [a]}": "3:37 .x.intervals[0]: expected an interval width, a number, got text",
    "{intervals: [true]}": "3:37 .x.intervals[0]: expected an interval width, a number, got true",
    "{intervals: [.inf]}": "3:37 .x.intervals[0]: expected an interval width, a number, got one",
    "{intervals: [1e-400]}": "3:37 .x.intervals[0]: expected an interval width, a number, got one",
    "{intervals: }": "3:25 .x.intervals: expected a list of interval widths, got nothing",
    "{intervals: [5], bottom: 9, top: 9}": "3:49 .x.bottom: bottom 9 is not below top 9",
    "{prefix: [3], top: 9}": "3:38 .x.top: 'top' needs 'intervals'",
    "{origin: 3}": "3:25 .x.origin: 'origin' needs 'intervals'",
    "{prefix: [3, 4]}": "3:37 .x.prefix[1]: prefixes must get shorter: 4 comes after 3",
    "{prefix: [0]}": "3:34 .x.prefix[0]: expected a prefix length, a whole number of at least 1",
    "{prefix: [2.5]}": "3:34 .x.prefix[0]: expected a prefix length, a whole number",
    "{dates: [year, month]}": "3:39 .x.dates[1]: units must get coarser: month comes after year",
    "{dates: [year, year]}": "3:39 .x.dates[1]: units must get coarser: year comes after year",
    "{dates: [months]}": "3:33 .x.dates[0]: unknown date unit; did you mean 'month'?",
    "{dates: [week]}": "3:33 .x.dates[0]: unknown date unit; expected one of day, month",
    "{file: 5}": "3:31 .x.file: expected a file name, got a whole number",
    "{table: [a, b, c, d]}": "3:32 .x.table: expected a table name of one to three parts, got 4",
    "{sql: floor(x)}": "3:30 .x.sql: expected a list of SQL expressions, got text",
    "{sql: ['']}": "3:31 .x.sql[0]: expected an SQL expression, got empty text",
    "{prefix: [2], dates: [day]}": "3:38 .x.dates: a column has one kind of hierarchy, and 'prefix'",
    "{minimum_level: 1, maximum_level: 0}": "3:40 .x.minimum_level: minimum_level 1 is above max",
    "{maximum_level: 2}": "3:40 .x.maximum_level: maximum_level 2 is above the top, which is level 1",
    "{prefix: [1], minimum_level: 3}": "3:53 .x.minimum_level: minimum_level 3 is above the top",
    "{minimum_level: -1}": "3:40 .x.minimum_level: expected a level, a whole number of at least 0",
    "{weight: -1}": "3:33 .x.weight: expected a weight of at least 0, got -1",
    "{weight: 0}": "3:1 : every weight is 0",
    "{weight: .nan}": "3:33 .x.weight: expected a weight",
    "[5]": "3:24 .x: expected a quasi-identifier, such as {intervals: [5, 10]}, got a list",
    "{tree: [a]}": "3:31 .x.tree: expected a tree: a mapping of labels to lists of values, got a list",
    "{tree: {}}": "3:31 .x.tree: expected a tree with at least one value",
    "{tree: {a: [p], b: [p]}}": "3:44 .x.tree: this label stands under two parents",
    "{tree: {a: {m: [p]}, b: {m: [q]}}}": "3:49 .x.tree: this label stands under two parents",
    "{tree: {a: [p, p]}}": "3:39 .x.tree: this label is listed twice under the same parent",
    "{tree: {a: [p, [q]]}}": "3:39 .x.tree: expected a value of the domain, got a list",
    "{tree: {a: [p, ~]}}": "3:39 .x.tree: expected a value of the domain, got nothing",
    "{tree: {a: ['*']}}": "3:36 .x.tree: '*' is the top value",
    "{tree: {t: {r: [y, {r: [x]}]}}}": "3:48 .x.tree: a label of level 1 gets two parents",
}


@pytest.mark.parametrize("written", HIERARCHIES)
def test_one_hierarchy_problem_and_its_place(written: str) -> None:
    [problem] = problems(HEAD + f"quasi_identifiers: {{x: {written}}}\nprivacy: [{{k_anonymity: 2}}]\n")
    place, said = HIERARCHIES[written].split(" ", 1)
    assert problem.startswith(f"{place}: quasi_identifiers{said}")


# the value of privacy[0], at line 5, column 5; 'dx' and 'ward' are sensitive
REQUIREMENTS = {
    "k_anonymity: {k: 0}": "5:22 .k_anonymity.k: expected k, a whole number of at least 1, got 0",
    "k_anonymity: 0": "5:18 .k_anonymity.k: expected k, a whole number of at least 1, got 0",
    "k_anonymity: true": "5:18 .k_anonymity: expected {k: 5} or a whole number, or {column: wanted_k, default: 5}",
    "k_anonymity: {k: 2.5}": "5:22 .k_anonymity.k: expected k, a whole number of at least 1, got a number",
    "k_anonymity: {k: 99999999999999999}": "5:22 .k_anonymity.k: expected k",
    "k_anonymity:": "5:5 .k_anonymity: expected {k: 5} or a whole number, or {column: wanted_k, default: 5}",
    "k_anonymity: {}": "5:5 .k_anonymity: missing 'k', the size of the smallest class, such as 5; or 'column'",
    "k_anonymity": "5:5 : expected a requirement such as {k_anonymity: {k: 5}}, got text",
    "{}": "5:5 : expected one requirement per list item, got 0",
    "{k_anonymity: 2, t_closeness: {attribute: dx, t: 0}}": "5:5 : expected one requirement per list item",
    "l_diversity: {attribute: dxx, l: 2}": "5:30 .l_diversity.attribute: 'dxx' is not listed under sensitive; "
    "did you mean 'dx'?",
    "l_diversity: {attribute: 1, l: 2}": "5:30 .l_diversity.attribute: expected the name of a sensitive",
    "l_diversity: {attribute: dx}": "5:5 .l_diversity: missing 'l': the smallest number of well-represented",
    "l_diversity: {attribute: dx, l: 0}": "5:37 .l_diversity.l: expected l, a number of at least 1, got 0",
    "l_diversity: {attribute: dx, l: 2.5}": "5:37 .l_diversity.l: expected l, a whole number for variant: di",
    "l_diversity: {attribute: dx, l: true}": "5:37 .l_diversity.l: expected l, at least 1, a number, got tr",
    "l_diversity: {attribute: dx, l: 2, variant: distinkt}": "5:49 .l_diversity.variant: unknown variant of "
    "l-diversity; did you mean 'distinct'?",
    "l_diversity: {attribute: dx, l: 2, variant: recursive}": "5:5 .l_diversity: missing 'c': recursive",
    "l_diversity: {attribute: dx, l: 2, variant: recursive, c: 0}": "5:63 .l_diversity.c: expected c, above 0",
    "l_diversity: {attribute: dx, l: 2, c: 3}": "5:40 .l_diversity.c: 'c' needs variant: recursive",
    "t_closeness: {attribute: dx, t: 1.1}": "5:37 .t_closeness.t: expected t between 0 and 1, got 1.1",
    "t_closeness: {attribute: dx, t: -1}": "5:37 .t_closeness.t: expected t between 0 and 1, got -1",
    "t_closeness: {attribute: dx, t: .2, reference: table}": "5:52 .t_closeness.reference: unknown ref",
}


@pytest.mark.parametrize("written", REQUIREMENTS)
def test_one_requirement_problem_and_its_place(written: str) -> None:
    text = f"{HEAD}quasi_identifiers: {{a: }}\nprivacy:\n  - {written}\nsensitive: [dx, ward]\n"
    [problem] = problems(text)
    place, said = REQUIREMENTS[written].split(" ", 1)
    assert problem.startswith(f"{place}: privacy[0]{said}")


def test_all_problems_at_once() -> None:
    text = """\
        version: 2
        sauce: visits
        release: "out"
        quasi_identifiers:
          age: {intervals: [5, 12]}
          zip: {prefix: [3, 4], weight: heavy}
          sex:
        sensitive: [age]
        keep: [zip, 3]
        privacy:
          - k_anonymity: 0
          - t_closeness: {attribute: aged, t: 3}
        suppression: {max_share: 2.0, style: hide}
        """
    found = problems(text)
    places = [re.match(r"\d+:\d+", problem) for problem in found]
    assert [place.group() for place in places if place] == [
        "1:10", "2:1", "5:24", "6:21", "6:33", "8:13", "9:8", "9:13",
        "11:18", "12:39", "13:26", "13:38",
    ]  # fmt: skip
    with pytest.raises(SpecError) as caught:
        Spec.parse(textwrap.dedent(text), "s.yml")
    assert str(caught.value).count("\n") == len(found) - 1


def test_messages_tell_kinds_and_not_values() -> None:
    text = (
        HEAD
        + """quasi_identifiers:
  x: {intervals: [Alice], tree: {Bob: [Carol], Dave: [Carol, Dave, [Erin]]}, weight: Frank}
privacy: [{k_anonymity: Grace}]
suppression: {limit: Heidi, style: Ivan}
unit: [Judy]
"""
    )
    said = "\n".join(problems(text))
    assert not re.search("Alice|Bob|Carol|Dave|Erin|Frank|Grace|Heidi|Ivan|Judy", said)


def test_an_unknown_key_cannot_break_the_line() -> None:
    [problem] = problems(HEAD + TAIL + '"a\\nb\\e": 1\n')
    assert "\n" not in problem
    assert "\x1b" not in problem
