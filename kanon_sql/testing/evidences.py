"""Evidence on a release: the same figures as on DuckDB, ZIP codes and persons among them."""

from __future__ import annotations

from typing import Any

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, assert_equal
from kanon_sql.testing.subject import Subject

__all__ = ["Evidences"]

_HOMES = {"person": "integer", "zip": "text", "sex": "text", "illness": "text"}

_SPEC: dict[str, Any] = {
    "version": 1,
    "source": "homes",
    "release": "homes_release",
    "unit": "person",
    "quasi_identifiers": {"zip": {"prefix": [3, 1], "minimum_level": 1}, "sex": None},
    "sensitive": ["illness"],
    "privacy": [{"k_anonymity": 3}],
}

_PEOPLE = [("94110", 15_000), ("94199", 5_000), ("95110", 20_000), ("95111", 1), ("10001", None), (None, 90_000)]
"""941 has exactly 20,000 people, 951 one more, 100 an unknown number, and 606 is not listed."""


def _homes() -> list[tuple[Any, ...]]:
    codes = ["94110", "94123", "95110", "10001", "60601", None]
    return [
        (number // 2, codes[number // 16], "fm"[number // 8 % 2], ("flu", "ulcer", None)[number % 3])
        for number in range(16 * len(codes))
    ]


class Evidences(Fixtures):
    """What a person signs is the same on every engine."""

    def test_the_same_evidence_as_duckdb(self, with_visits: Subject, reference: Reference, engine: Engine) -> None:
        """Two rows a person, NULL among the values; nothing but SELECT once the release is published."""
        spec = kanon_sql.Spec.from_dict(_SPEC)
        found = []
        for where, own in ((reference, reference.engine), (with_visits, engine)):
            where.table("homes", _HOMES, _homes())
            where.table("census", {"zip": "text", "people": "integer"}, _PEOPLE)
            where.drop("homes_release")
            assert kanon_sql.anonymize(own, spec).passed
            before = set(where.tables()) if isinstance(where, Subject) else set()
            document = kanon_sql.evidence(own, spec, zip_population="census", zip_people="people")
            assert not isinstance(where, Subject) or set(where.tables()) == before
            assert document.passed, document.problems
            assert (document.records.counted, document.records.smallest) == ("persons", 4)
            (counted,) = document.zip_codes
            assert (counted.areas, counted.hidden_rows, counted.finer_rows) == (4, 16, 0)
            assert (counted.small_areas, counted.small_rows, counted.unknown_areas) == (3, 64, 1)
            found.append(document.to_dict())
        for item in found:
            del item["cost"], item["made"], item["run"]["run_id"], item["run"]["published_at"]
        theirs, ours = found
        unordered = [  # not every engine has numbers of rows
            [item for item in part["findings"] if "unsorted" not in item["measured_by"]] for part in theirs["wp216"]
        ]
        assert_equal(
            [[item for item in part["findings"] if "unsorted" not in item["measured_by"]] for part in ours["wp216"]],
            unordered,
        )
        for key in ("records", "columns", "requirements", "class_sizes", "safe_harbor", "zip_codes", "run", "warnings"):
            assert_equal(ours[key], theirs[key])
        with_visits.drop("homes_release")
        with_visits.drop("homes")
        with_visits.drop("census")
