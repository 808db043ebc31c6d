"""The settings by which ClickHouse means what SQL means, answers exactly, and shows values in one form."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.sql import dialect_named

__all__ = ["SETTINGS", "assigned"]

SETTINGS: Mapping[str, str] = {
    # What SQL means by NULL.
    "join_use_nulls": "1",
    "group_by_use_nulls": "1",
    "aggregate_functions_null_for_empty": "1",
    "cast_keep_nullable": "1",
    "transform_null_in": "0",
    "data_type_default_nullable": "0",
    # What SQL means by names, joins, unions and CASE.
    "prefer_column_name_to_alias": "1",
    "join_default_strictness": "ALL",
    "any_join_distinct_right_table_keys": "0",
    "union_default_mode": "DISTINCT",
    "short_circuit_function_evaluation": "force_enable",
    # Exact, complete and fresh: no estimate, no part of an answer, no old answer.
    "count_distinct_implementation": "uniqExact",
    "read_overflow_mode": "throw",
    "read_overflow_mode_leaf": "throw",
    "group_by_overflow_mode": "throw",
    "sort_overflow_mode": "throw",
    "result_overflow_mode": "throw",
    "timeout_overflow_mode": "throw",
    "timeout_overflow_mode_leaf": "throw",
    "set_overflow_mode": "throw",
    "join_overflow_mode": "throw",
    "transfer_overflow_mode": "throw",
    "distinct_overflow_mode": "throw",
    "limit": "0",
    "offset": "0",
    "skip_unavailable_shards": "0",
    "use_query_cache": "0",
    "apply_deleted_mask": "1",
    "do_not_merge_across_partitions_select_final": "0",
    "additional_table_filters": "{}",
    "empty_result_for_aggregation_by_empty_set": "0",
    # Done when the statement returns.
    "lightweight_deletes_sync": "2",
    "mutations_sync": "2",
    "async_insert": "0",
    "insert_deduplicate": "0",
    # A scratch table is known to the server that we talk to only.
    "prefer_global_in_and_join": "1",
    # Many vectors are joined to few labels, which stand on the right: a hash is made of these. ClickHouse does not know
    # how many rows a scratch table has, and may make one of the vectors, or join in an order that multiplies them.
    "query_plan_join_swap_table": "0",
    "query_plan_optimize_join_order_limit": "0",
    # Compiling takes longer than most of these queries.
    "compile_expressions": "0",
    "compile_aggregate_expressions": "0",
    "compile_sort_description": "0",
    # Dates and decimals as text; long statements.
    "session_timezone": "UTC",
    "date_time_output_format": "simple",
    "date_time_64_output_format_cut_trailing_zeros_align_to_groups_of_thousands": "1",
    "bool_true_representation": "true",
    "bool_false_representation": "false",
    "max_query_size": "1000000000",
    "max_ast_elements": "10000000",
    "max_expanded_ast_elements": "10000000",
}
"""In force for every statement: sent with each one over HTTP, set on the session in chDB."""


def assigned(settings: Mapping[str, str]) -> str:
    """Settings as SET takes them: names and texts, whatever type a setting has."""
    literal = dialect_named("clickhouse").literal
    return ", ".join(f"{name} = {literal(value)}" for name, value in settings.items())
