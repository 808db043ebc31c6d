"""What to put into inputs: words, signs and characters that mean something to whoever reads them."""

from __future__ import annotations

from .finds import IN_INPUT

__all__ = ["FILE", "QUERY", "SPEC", "SQL"]

SQL = (
    "x", "(", ")", "[", "]", "{", "}", ",", ".", "::", "||", "->", "<", ">", "<>", "*", "-", "+", "/", "%", "&", "@",
    "$", "CASE WHEN ", " THEN ", " ELSE ", " END", "NOT ", " AND ", " OR ", " IS NULL", " IN (", " BETWEEN ", "CAST(",
    " AS ", "floor(", "lower(", "substring(", "coalesce(", "extract(year from x)", "x'00'", "1e308",
    "9223372036854775808", "interval ", "date ", "null", "true", " collate ", '"', "'", "`", "--", "/*", "*/", "$$",
    ";", "\\", "\x00", f"'{IN_INPUT}'", "try_cast(", "struct<", "map<", "array[", " ilike ", " similar to ", "::int",
    "row(", "exists(",
)  # fmt: skip

QUERY = (
    "SELECT ", " FROM t", " WHERE ", " GROUP BY ", " ORDER BY ", " LIMIT 3", " UNION ALL ", "WITH a AS (",
    " JOIN t USING (s)", " HAVING ", " QUALIFY ", " OVER (", " PARTITION BY ", "VALUES (1)", "(SELECT ", " AS s",
    "s, n, f, d", " EXCEPT ", "PIVOT ", " UNPIVOT ", " LATERAL ", " SAMPLE 10%", "EXPLAIN ", "DESCRIBE ",
    "SUMMARIZE ", "FROM t", "COLUMNS(*)", "range(3)", "unnest([1])", "CREATE TABLE ", "SET ", "COPY ", "PRAGMA ",
    "error(s)", "s::int", " ON CONFLICT ",
)  # fmt: skip

SPEC = (
    "version: 1\n", "source: ", "query: ", "file: h.csv", "table: ", "release: ", "unit: ", "identifiers: ",
    "sensitive: ", "quasi_identifiers:\n", "keep: ", "privacy:\n", "suppression: ", "search: ", "nulls: ", "ledger: ",
    "intervals: [5, 10]", "origin: ", "bottom: ", "top: ", "prefix: [3, 2]", "dates: [month, year]", "tree: ",
    "sql: [x]", "minimum_level: ", "maximum_level: ", "weight: ", "k_anonymity: ", "l_diversity: ", "t_closeness: ",
    "k_map: ", "delta_presence: ", "attribute: ", "recursive", "entropy", "kind: ", "c: ", "algorithm: ",
    "k_optimize", "incognito", "samarati", "metric: ", "max_share: 0.1", "style: mask", "cuts: 3",
    "distance_vectors: true",
    "reference: ", "&a ", "*a", "<<: ", "!!int ", "? ", "- ", "|\n", "'", '"', "{", "}", "[", "]", ",", ": ", "#",
    "%YAML 1.1\n---\n", "\\x41", "1e999", ".nan", "~", "\t", "\r", IN_INPUT,
)  # fmt: skip

FILE = (
    ";", ",", "\t", '"', '""', "\n", "\r", "\r\n", "*", "value,level_1,level_2\n", "a;A;*\n", "\ufeff", "\u2028",
    "\x00", "\x1a", IN_INPUT, " ", "\xe9", "\x85",
)  # fmt: skip
