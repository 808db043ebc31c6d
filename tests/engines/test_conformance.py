"""Every engine against the conformance suite.

DuckDB runs all of it every time that is not a comparison with itself, most others a core of
it. The core of Spark, which takes minutes, is marked slow, and so are other cases on a few engines each; these cases on
the other engines are a campaign, and so is what another case of the same recoding shows on an engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import pytest

from kanon_sql.testing import Conformance, Subject
from tests.servers import SUBJECTS, VERSIONS, subject_of

CORE = {
    "test_the_same_release_as_duckdb[loss-{}]",
    "test_the_same_release_as_duckdb[persons, l and t, masked-{}]",
    "test_the_same_release_as_duckdb[matrix-{}]",
    "test_the_same_release_as_duckdb[local, persons, sets, NULLs masked, limited-{}]",
    "test_the_same_release_as_duckdb[local, ranges beside hierarchies, NULLs-{}]",
    "test_the_same_release_as_duckdb[kk, levels limited, NULLs, rows suppressed-{}]",
    "test_the_same_release_as_duckdb[kk, matches of every record, NULLs, rows suppressed-{}]",
    "test_rows_and_records_are_compared_as_by_duckdb[{}]",
    "test_the_same_release_as_duckdb[mondrian, persons with several vectors, l and t-{}]",
    "test_the_same_release_as_duckdb[cells, capped, persons, sets, NULLs masked, limited-{}]",
    "test_the_same_release_as_duckdb[subtree, persons, a class to tell, limited, masked-{}]",
    "test_the_same_release_as_duckdb[subtree, split numbers alone, persons with several vectors, l-{}]",
    "test_a_parent_is_chosen_as_by_duckdb[{}]",
    "test_the_same_release_as_duckdb[microaggregation, persons with several vectors, l and t-{}]",
    "test_the_same_bound_of_local_recoding_as_duckdb[{}]",
    "test_the_same_table_as_duckdb[persons, several levels-{}]",
    "test_the_same_table_as_duckdb[sums of persons, every rule-{}]",
    "test_the_same_cells_as_duckdb[degrees and timestamps, a commute-{}]",
    "test_the_same_sample_as_duckdb[levels by the exponential mechanism-{}]",
    "test_the_same_sample_as_duckdb[levels by a score, classification-{}]",
    "test_the_same_sample_as_duckdb[a top and a value-{}]",
    "test_the_same_steps_as_duckdb[persons drawn, coded-{}]",
    "test_the_same_perturbed_values_as_duckdb[noise, ranks, categories-{}]",
    "test_the_same_perturbed_values_as_duckdb[factors, exchanges, a matrix-{}]",
    "test_a_column_is_predicted_as_by_duckdb[persons with several vectors, rows suppressed-{}]",
    "test_the_same_sequence_as_duckdb[{}]",
    "test_rows_are_mapped_to_persons_as_by_duckdb[{}]",
    "test_a_kept_recoding_is_applied_as_by_duckdb[local-{}]",
    "test_different_texts_are_different[{}]",
    "test_different_texts_are_different_sensitive_values[{}]",
    "test_fractions[{}]",
    "test_every_value_is_judged[{}]",
    'test_names_that_need_quoting[a"b-{}]',
    "test_a_distribution_that_counts_no_person[hierarchical-{}]",
    "test_a_release_replaces_its_own_and_nothing_else[{}]",
    "test_releases_are_compared_with_earlier_ones[{}]",
    "test_republishing[{}]",
    "test_a_timeout_cancels_the_statement[{}]",
    "test_an_error_shows_no_value[{}]",
}


MINUTES = {
    "test_every_value_is_judged[{}]",
    "test_releases_are_compared_with_earlier_ones[{}]",
    "test_a_kept_recoding_is_applied_as_by_duckdb[local-{}]",
    "test_a_parent_is_chosen_as_by_duckdb[{}]",
    "test_the_same_release_as_duckdb[local, ranges beside hierarchies, NULLs-{}]",
    "test_the_same_release_as_duckdb[mondrian, persons with several vectors, l and t-{}]",
    "test_the_same_release_as_duckdb[cells, capped, persons, sets, NULLs masked, limited-{}]",
    "test_the_same_release_as_duckdb[kk, levels limited, NULLs, rows suppressed-{}]",
    "test_the_same_release_as_duckdb[kk, matches of every record, NULLs, rows suppressed-{}]",
    "test_rows_and_records_are_compared_as_by_duckdb[{}]",
    "test_the_same_release_as_duckdb[subtree, persons, a class to tell, limited, masked-{}]",
    "test_the_same_release_as_duckdb[subtree, split numbers alone, persons with several vectors, l-{}]",
    "test_the_same_release_as_duckdb[microaggregation, persons with several vectors, l and t-{}]",
    "test_the_same_bound_of_local_recoding_as_duckdb[{}]",
    "test_the_same_sequence_as_duckdb[{}]",
}
"""Of the core, what takes seconds, and runs where slow tests run."""

LEFT_OUT = {
    # Half a minute each, and their statements are those of the other tables.
    "test_the_same_table_as_duckdb[rows, NULL, no total-spark]",
    "test_the_same_table_as_duckdb[sums of rows-spark]",
    "test_the_same_table_as_duckdb[random rounding-spark]",
    # A recoding in rounds takes Spark a quarter of a minute to two; one of hierarchies, one of ranges show both kinds.
    "test_the_same_release_as_duckdb[kk, levels limited, NULLs, rows suppressed-spark]",
    "test_the_same_release_as_duckdb[kk, matches of every record, NULLs, rows suppressed-spark]",
    "test_the_same_release_as_duckdb[mondrian, persons with several vectors, l and t-spark]",
    "test_the_same_release_as_duckdb[local, best, ranges, persons with several vectors, l-spark]",
    "test_the_same_release_as_duckdb[mondrian, relaxed-spark]",
    "test_the_same_release_as_duckdb[mondrian, dates, decimals and NULLs-spark]",
    "test_the_same_release_as_duckdb[mondrian, persons, a hierarchy's order, NULLs masked-spark]",
    "test_the_same_release_as_duckdb[local-spark]",
    "test_the_same_release_as_duckdb[local, persons with several vectors, l and t-spark]",
    "test_the_same_release_as_duckdb[local, models of single values, classes suppressed-spark]",
    "test_the_same_release_as_duckdb[local, best, persons, NULLs suppressed-spark]",
    "test_the_same_bound_of_local_recoding_as_duckdb[spark]",
    "test_a_kept_recoding_is_applied_as_by_duckdb[local-spark]",
    "test_ranges_are_audited_as_by_duckdb[spark]",
    "test_numbers_of_classes_have_the_types_of_their_columns[spark]",
    "test_the_same_downcoding_as_duckdb[spark]",
    "test_a_kept_recoding_is_applied_as_by_duckdb[mondrian-spark]",
    "test_a_kept_recoding_is_applied_as_by_duckdb[cells-spark]",
    "test_the_same_release_as_duckdb[local, best, persons with several vectors, l and t-spark]",
    "test_the_same_release_as_duckdb[cells-spark]",
    "test_the_same_release_as_duckdb[cells, capped, persons, sets, NULLs masked, limited-spark]",
    "test_the_same_release_as_duckdb[cells, minimum levels, persons with several vectors, l and t-spark]",
    "test_the_same_release_as_duckdb[subtree, persons, a class to tell, limited, masked-spark]",
    "test_the_same_release_as_duckdb[subtree, bottom up, persons with several vectors, l and t-spark]",
    "test_the_same_release_as_duckdb[subtree, split dates and numbers, NULLs, a class to tell-spark]",
    "test_the_same_release_as_duckdb[subtree, split numbers alone, persons with several vectors, l-spark]",
    "test_a_parent_is_chosen_as_by_duckdb[spark]",  # two minutes
    "test_the_same_release_as_duckdb[forest-spark]",
    "test_the_same_release_as_duckdb[cover, minimum levels, NULLs masked-spark]",
    "test_the_same_release_as_duckdb[matching-spark]",
    "test_the_same_release_as_duckdb[microaggregation-spark]",
    "test_the_same_release_as_duckdb[microaggregation of one column-spark]",
    "test_the_same_release_as_duckdb[microaggregation, persons with several vectors, l and t-spark]",
    # Each takes Spark a minute or more, and their statements are those of the cases "cube", "intervals" and "person".
    "test_the_same_release_as_duckdb[super-roots-spark]",
    "test_the_same_release_as_duckdb[intervals of dates and numbers, limited, l-spark]",
    "test_the_same_release_as_duckdb[intervals, persons, NULL-spark]",
    "test_the_same_release_as_duckdb[intervals, NULLs suppressed, masked-spark]",
    "test_a_population_protects_as_by_duckdb[None-spark]",
    # A timeout and Ctrl-C that cancel a statement have tests of their own; what a search makes of it no engine knows.
    "test_a_search_whose_statement_is_cancelled_measures_its_best[limit-spark]",
    "test_a_search_whose_statement_is_cancelled_measures_its_best[interrupt-spark]",
    # What the other one of the two shows.
    "test_an_error_while_publishing_leaves_the_old_release_or_the_new[first-spark]",
    # Every metric is measured of the node that any other case chooses.
    "test_the_same_release_as_duckdb[height-spark]",
    "test_the_same_release_as_duckdb[average_class_size-spark]",
    "test_the_same_release_as_duckdb[entropy-spark]",
    "test_the_same_release_as_duckdb[ambiguity-spark]",
    # Forms of a metric are arithmetic over the same aggregates.
    "test_the_same_release_as_duckdb[loss, rank, weighed-spark]",
    "test_the_same_release_as_duckdb[entropy, maximum, weighed-spark]",
    "test_the_same_release_as_duckdb[ambiguity, monotone-spark]",
}


FIRST = {
    "test_the_same_release_as_duckdb[loss-{}]",
    "test_the_same_table_as_duckdb[persons, several levels-{}]",
    "test_the_same_sample_as_duckdb[levels by the exponential mechanism-{}]",
    "test_different_texts_are_different[{}]",
    "test_different_texts_are_different_sensitive_values[{}]",
    "test_fractions[{}]",
    'test_names_that_need_quoting[a"b-{}]',
    "test_republishing[{}]",
    "test_an_error_shows_no_value[{}]",
}
"""Of the core, what runs every time on the engines that DuckDB and PostgreSQL do not stand for; the rest is slow."""


BY_TURNS = {
    "kk": {
        "test_the_same_release_as_duckdb[kk, levels limited, NULLs, rows suppressed-{}]": {"sqlite", "mariadb"},
        "test_the_same_release_as_duckdb[kk, matches of every record, NULLs, rows suppressed-{}]": {
            "postgres",
            "clickhouse",
        },
    },
    "subtree": {
        "test_the_same_release_as_duckdb[subtree, persons, a class to tell, limited, masked-{}]": {
            "mariadb",
            "clickhouse",
        },
        "test_the_same_release_as_duckdb[subtree, split numbers alone, persons with several vectors, l-{}]": {
            "postgres"
        },
        "test_a_parent_is_chosen_as_by_duckdb[{}]": {"sqlite"},
    },
    "local": {
        "test_the_same_release_as_duckdb[local, ranges beside hierarchies, NULLs-{}]": {"postgres", "clickhouse"},
        "test_the_same_bound_of_local_recoding_as_duckdb[{}]": {"sqlite", "mariadb"},
    },
}
"""A recoding -> its cases in rounds, and the engines that run each where slow tests run.

Every engine runs each recoding once, and every case runs on an engine; the other pairs are a campaign.
"""

ELSEWHERE = {case: engines for cases in BY_TURNS.values() for case, engines in cases.items()}

CAMPAIGN_OF_SPARK = {
    "test_the_same_release_as_duckdb[loss-{}]",  # a search as that of persons, without their statements
    "test_the_same_release_as_duckdb[matrix-{}]",
    "test_the_same_sample_as_duckdb[levels by a score, classification-{}]",
    "test_the_same_sample_as_duckdb[levels by the exponential mechanism-{}]",
    "test_the_same_table_as_duckdb[persons, several levels-{}]",
    "test_a_distribution_that_counts_no_person[hierarchical-{}]",
    "test_a_release_replaces_its_own_and_nothing_else[{}]",  # republishing replaces one
}
"""Of the core, what takes Spark a quarter of a minute and more and has kinds of statements that other cases show."""


QUICK = CORE - MINUTES
"""Of the core, what other versions of an engine run, in a slow run: it has every kind of statement but the rounds'."""


SECONDS_OF_DUCKDB = {
    "test_intervals_hold_the_binary_fractions_that_they_say",
    "test_a_search_whose_statement_is_cancelled_measures_its_best",
    "test_releases_are_compared_with_earlier_ones",
    "test_numbers_of_classes_have_the_types_of_their_columns",
    "test_times_flags_and_identifiers",
    "test_a_view_a_schema_and_a_query",
    "test_numbers_and_dates",
    "test_an_error_while_publishing_leaves_the_old_release_or_the_new",
    "test_conditions_are_words",
    "test_every_value_is_judged",
    "test_every_scratch_mode_gives_the_same_and_leaves_nothing",
    "test_a_release_replaces_its_own_and_nothing_else",
    "test_binary_fractions_are_rounded_and_coded_exactly",
    "test_names_that_need_quoting",
}
"""What takes DuckDB two seconds and more, all cases together; it runs where slow tests run."""


def is_left_out(item: pytest.Item) -> bool:
    """Whether a test of the suite runs on every other engine, but not on this one, or compares DuckDB with itself."""
    name = item.name.split("@")[0]
    engine = item.callspec.params["subject"]  # type: ignore[attr-defined]
    if engine in VERSIONS:
        return name not in {test.format(engine) for test in QUICK}
    return name in LEFT_OUT or (name.endswith("duckdb]") and item.originalname.endswith("_duckdb"))  # type: ignore[attr-defined]


def is_core(item: pytest.Item) -> bool:
    """Whether a test of the suite runs every time on its engine."""
    engine = item.callspec.params["subject"]  # type: ignore[attr-defined]
    if engine == "duckdb":
        return item.originalname not in SECONDS_OF_DUCKDB  # type: ignore[attr-defined]
    core = QUICK if engine == "postgres" else FIRST
    return engine not in ("spark", *VERSIONS) and item.name.split("@")[0] in {name.format(engine) for name in core}


MINUTES_OF_SPARK = {
    "test_the_same_sequence_as_duckdb",
    "test_the_same_beliefs_and_consistency_as_duckdb",
    "test_the_same_audit_as_duckdb",
    "test_a_population_protects_as_by_duckdb[person-",
    "test_the_same_release_as_duckdb[local, ranges beside hierarchies, NULLs-",
    "test_the_same_release_as_duckdb[publisher's payout, no attack, persons-",
    "test_a_view_a_schema_and_a_query",
    "test_releases_are_compared_with_earlier_ones",
    "test_the_same_release_as_duckdb[local, persons, sets, NULLs masked, limited-",
    "test_the_same_cells_of_points_as_duckdb",
    "test_the_same_cells_as_duckdb[degrees and timestamps, a commute-",
    "test_rows_and_records_are_compared_as_by_duckdb",
}
"""What takes Spark about half a minute or more each, and has kinds of statements that other cases show there."""


OTHERS = [name for name in SUBJECTS if name not in ("duckdb", "spark")]


def is_campaign(item: pytest.Item) -> bool:
    """Whether a case is left to the campaign.

    Of those outside the core a 16th has one of the other engines where slow tests run, and a 96th Spark: they have the
    kinds of statements that the core has. Which engines a case has depends on its name alone, so that a run repeats the
    last one.
    """
    engine = item.callspec.params["subject"]  # type: ignore[attr-defined]
    name = item.name.split("@")[0].replace(engine, "{}")
    if engine == "spark" and (name in CAMPAIGN_OF_SPARK or name.startswith(tuple(MINUTES_OF_SPARK))):
        return True
    if engine in ("duckdb", *VERSIONS):
        return False
    if name in CORE:
        return engine in OTHERS and engine not in ELSEWHERE.get(name, OTHERS)
    turn = crc32(name.encode())
    return bool(turn % 96) if engine == "spark" else OTHERS.index(engine) != turn % (16 * len(OTHERS))


def test_the_core_exists() -> None:
    assert FIRST | MINUTES | CAMPAIGN_OF_SPARK <= CORE
    assert set(ELSEWHERE) <= MINUTES
    for cases in BY_TURNS.values():
        assert sorted(engine for engines in cases.values() for engine in engines) == sorted(OTHERS)
    assert {name.split("[")[0] for name in CORE} <= set(dir(Conformance))


@pytest.mark.parametrize(
    "subject",
    [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in (*SUBJECTS, *VERSIONS)],
    indirect=True,
)
class TestEngines(Conformance):
    @pytest.fixture(scope="class")
    @classmethod
    def subject(cls, request: pytest.FixtureRequest) -> Iterator[Subject]:
        with subject_of(request.param) as made:
            yield made
