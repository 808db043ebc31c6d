"""Cloaked positions: the same cells, the same slices, the same people as on DuckDB."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines import Engine
from kanon_sql.testing.fixtures import Fixtures
from kanon_sql.testing.reference import Reference, made, multiset, same
from kanon_sql.testing.subject import Subject

__all__ = ["CLOAKINGS", "POINTS", "POSITIONS", "Cloakings", "positions"]

POSITIONS = {
    "phone": "text",
    "lon": "double",
    "lat": "decimal",
    "east": "integer",
    "north": "integer",
    "at": "timestamp",
    "day": "date",
    "seconds": "bigint",
    "wanted_k": "integer",
    "service": "text",
}

COMMUTE: dict[str, Any] = {
    "elements": [
        {"area": [13.0, 52.0, 13.5, 52.5], "between": ["06:00", "10:00"]},
        {"area": [13.4, 52.4, 13.8, 52.8], "between": ["08:00", "19:00"]},
    ],
    "days": 2,
    "weeks": 1,
    "weekdays": True,
}

AREA, WHOLE_DAY = [13, 52, 13.8, 52.8], ["00:00", "24:00"]

CLOAKINGS: dict[str, dict[str, Any]] = {
    "degrees and timestamps, a commute": {
        "position": {
            "columns": ["lon", "lat"],
            "bounds": [13, 52, 13.8192, 52.8192],
            "depth": 5,
            "outside": "suppress",
        },
        "time": {"column": "at", "widths": [3600, 21600, 86400]},
        "k": 4,
        "lbqids": {"commute": COMMUTE},
    },
    "whole numbers, neighbours, days": {
        "position": {"columns": ["east", "north"], "bounds": [-8, -8, 8, 8], "depth": 4, "neighbours": True},
        "time": {"column": "day", "widths": [86400, 604800]},
        "k": 3,
    },
    "a k of each row, time first": {
        "position": {"columns": ["east", "north"], "bounds": [-8, -8, 24, 24], "depth": 4, "coarsest": 1},
        "time": {"column": "seconds", "widths": [600, 7200], "origin": 86400},
        "coarsen": "time",
        "k": {"column": "wanted_k", "default": 3},
    },
    "a pattern that gives a person away": {
        "position": {
            "columns": ["lon", "lat"],
            "bounds": [13, 52, 13.8192, 52.8192],
            "depth": 1,
            "outside": "suppress",
        },
        "time": {"column": "at", "widths": [43200, 86400]},
        "k": 2,
        "lbqids": {"day": {"elements": [{"area": AREA, "between": WHOLE_DAY}] * 2, "weekdays": True}},
    },
    "all who were there, a k of each row": {
        "position": {
            "columns": ["lon", "lat"],
            "bounds": [13, 52, 13.8192, 52.8192],
            "depth": 4,
            "outside": "suppress",
        },
        "k": {"column": "wanted_k", "default": 2},
        "anonymity_set": "present",
    },
}
"""Releases of the positions."""

DEGREES = {"columns": ["lon", "lat"], "bounds": [13, 52, 13.8192, 52.8192], "depths": [6, 4, 2, 1]}
METRES = {"columns": ["east", "north"], "bounds": [-8, -8, 8, 8], "depths": [4, 2, 1]}

POINTS: dict[str, dict[str, Any]] = {
    "degrees, phones, rows left out": {
        "quasi_identifiers": {"place": {"point": {**DEGREES, "outside": "suppress"}}, "day": {"dates": ["month"]}},
        "unit": "phone",
        "nulls": "suppress",
        "suppression": {"max_share": 0.6},
    },
    "whole numbers, a population": {
        "quasi_identifiers": {"place": {"point": METRES, "minimum_level": 1}},
        "privacy": [{"k_map": {"population": "residents", "k": 9}}, {"k_anonymity": 2}],
        "suppression": {"max_share": 0.2},
    },
    "local recoding": {
        "quasi_identifiers": {"place": {"point": METRES}, "service": None},
        "recoding": "local",
        "suppression": {"max_share": 0.1},
    },
}
"""Releases of the positions in which a point is a quasi-identifier."""

EDGES = (13.0, 13.0256, 13.4096, 13.8192, 13.819199, 12.999999999999)
"""Longitudes on edges of cells, beside them, and outside of the bounds."""


def positions(seed: int = 5, phones: int = 30) -> list[tuple[Any, ...]]:
    """A few weeks of some phones: on edges, outside, and without a position."""
    draw = random.Random(seed)
    rows: list[tuple[Any, ...]] = []
    for phone in range(phones):
        for _ in range(draw.randint(2, 9)):
            at = datetime(2024, 2, 26) + timedelta(days=draw.choice([0, 0, 1, 2, 3, 9]), seconds=draw.randrange(86_400))
            lon = draw.choice([*EDGES, None, 13 + draw.random() * 0.8, 13 + draw.random() * 0.4])
            rows.append(
                (
                    draw.choice(["p", "P"]) + str(phone),
                    lon,
                    Decimal(draw.randint(5_200, 5_281)) / 100,
                    draw.randint(-8, 7),
                    draw.choice([-8, -1, 0, 7, draw.randint(-8, 7)]),
                    at,
                    at.date(),
                    draw.randint(86_400, 100_000),
                    draw.choice([None, 1, 2, 5, 40]),
                    draw.choice(["taxi", "food", None]),
                )
            )
    return rows


class Cloakings(Fixtures):
    """Cloaked positions."""

    @pytest.mark.parametrize("case", CLOAKINGS)
    def test_the_same_cells_as_duckdb(self, subject: Subject, reference: Reference, engine: Engine, case: str) -> None:
        """How fine cells and slices are, who matches patterns of movement, and what is published."""
        subject.table("positions", POSITIONS, positions())
        given = {
            "version": 1,
            "kind": "positions",
            "source": "positions",
            "release": "visits_release",
            "unit": "phone",
            "keep": ["service"],
        }
        spec = kanon_sql.CloakSpec.from_dict({**given, "suppression": {"max_share": 0.6}, **CLOAKINGS[case]})

        def answer() -> tuple[dict[str, Any], Any]:
            reference.table("positions", POSITIONS, positions())
            reference.drop("visits_release")
            found = kanon_sql.cloak(reference.engine, spec).to_dict()
            return found, multiset(reference.rows("visits_release")) if found["release"] else None

        theirs, their_rows = reference.once(("cloak", case), answer)
        ours = kanon_sql.cloak(engine, spec).to_dict()
        assert {**ours, "cost": None} == {**theirs, "cost": None}
        assert ours["cost"]["source_scans"] == theirs["cost"]["source_scans"] + (not engine.dialect.typed)
        assert theirs["rows"]["suppressed"] < theirs["rows"]["source"]
        assert (theirs["verdict"] == "fail") == any(found["exposed"] for found in theirs["lbqids"].values())
        assert (theirs["verdict"] == "fail") == ("away" in case)
        if their_rows is not None:
            assert multiset(subject.rows("visits_release")) == their_rows
            assert kanon_sql.cloak(engine, spec, check=True).passed
            position = {**CLOAKINGS[case]["position"], "depth": 1}
            coarser = kanon_sql.CloakSpec.from_dict({**spec.to_dict(), "position": position, "lbqids": {}})
            assert not kanon_sql.cloak(engine, coarser, check=True).passed
        subject.drop("positions")

    @pytest.mark.parametrize("case", POINTS)
    def test_the_same_cells_of_points_as_duckdb(
        self, subject: Subject, reference: Reference, engine: Engine, case: str
    ) -> None:
        """A search over cells: what is released, what a check of it says, and the source's own cells."""
        census = [row for seed in (5, 6, 7) for row in positions(seed)]
        for where in (subject, reference):
            where.table("positions", POSITIONS, positions())
            where.table("residents", POSITIONS, census)
        given = {"version": 1, "source": "positions", "release": "visits_release", "privacy": [{"k_anonymity": 3}]}
        spec = kanon_sql.Spec.from_dict({**given, "sensitive": ["wanted_k"], **POINTS[case]})
        theirs, their_rows = reference.once(("points", case), lambda: made(reference, reference.engine, spec))
        ours, our_rows = made(subject, engine, spec)
        same(ours, theirs)
        assert our_rows == their_rows
        assert any(" x [" in str(row) for row in our_rows), "cells below the top"
        if "unit" not in POINTS[case]:
            assert kanon_sql.check(engine, spec).passed
        found, wanted = (kanon_sql.check(item, spec, "positions") for item in (engine, reference.engine))
        same(found, wanted)
        for name in ("positions", "residents"):
            subject.drop(name)
