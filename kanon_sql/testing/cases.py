"""What the suite asks of the clinic, case by case."""

from __future__ import annotations

from typing import Any

from kanon_sql.models import METRICS
from kanon_sql.testing.clinic import FEW, SPEC

__all__ = ["CASES", "L_AND_T", "SETS", "SINGLE_VALUES"]

L_AND_T = [
    {"k_anonymity": 2},
    {"l_diversity": {"attribute": "illness", "l": 2}},
    {"l_diversity": {"attribute": "illness", "l": 1.5, "variant": "entropy"}},
    {"l_diversity": {"attribute": "illness", "l": 2, "variant": "recursive", "c": 3}},
    {"t_closeness": {"attribute": "illness", "t": 0.6}},
]

SETS = [
    {"k_anonymity": 3},
    {"k_anonymity": {"k": 12, "quasi_identifiers": ["sex"]}},
    {"k_anonymity": {"k": 8, "quasi_identifiers": ["age", "sex"]}},
]

SINGLE_VALUES = [
    {"t_closeness": {"attribute": "charge", "t": 0.5, "distance": "ordered"}},
    {
        "t_closeness": {
            "attribute": "illness",
            "t": 0.5,
            "distance": "hierarchical",
            "hierarchy": {
                "tree": {"inside": {"gut": ["ulcer"], "lungs": ["asthma"]}, "outside": {"nose": ["flu", "Flu"]}}
            },
        }
    },
    {"alpha_k_anonymity": {"attribute": "illness", "alpha": 0.7, "k": 2, "values": ["Flu"]}},
    {"p_sensitive_k_anonymity": {"attribute": "illness", "p": 2, "k": 2}},
    {"beta_likeness": {"attribute": "illness", "beta": 4, "variant": "basic"}},
    {"beta_likeness": {"attribute": "charge", "beta": 90, "variant": "enhanced"}},
    {"delta_disclosure": {"attribute": "illness", "delta": 5}},
    {
        "l_diversity": {
            "attribute": "illness",
            "variant": "npd_recursive",
            "l": 2,
            "c": 4,
            "c2": 0.01,
            "allow_positive": ["flu"],
            "forbid_negative": ["ulcer"],
        }
    },
]

HALVES = (
    "SELECT name, illness, person, "
    + ", ".join(
        f"CASE WHEN {column} {condition} THEN 'yes' ELSE 'no' END AS {column}"
        for column, condition in {
            "age": "< 40",
            "weight": "< 60",
            "zip": "= 'x'",
            "charge": "< 40",
            "sex": "= 'F'",
        }.items()
    )
    + " FROM visits"
)
"""Columns of two values each."""

CASES: dict[str, dict[str, Any]] = {
    "loss": {},
    "precision": {"search": {"metric": "precision", "algorithm": "samarati"}},
    "discernibility": {"search": {"metric": "discernibility", "algorithm": "incognito"}},
    "super-roots": {"search": {"algorithm": "incognito", "variant": "super_roots"}},
    "cube": {"search": {"algorithm": "incognito", "variant": "cube"}},
    "matrix": {"search": {"algorithm": "samarati", "distance_vectors": True}, "unit": "person"},
    "loss, rank, weighed": {"search": {"aggregate": "rank", "gs_factor": 0.25}},
    "entropy, maximum, weighed": {"search": {"metric": "entropy", "aggregate": "maximum", "gs_factor": 0.8}},
    "classification": {
        "search": {"metric": "classification", "classify": "illness"},
        "suppression": {"max_share": 0.2},
    },
    "classification, persons, sets": {
        "unit": "person",
        "privacy": SETS,
        "suppression": {"max_share": 0.4},
        "search": {"metric": "classification", "classify": "illness", "monotone": True},
    },
    "ambiguity, monotone": {"search": {"metric": "ambiguity", "monotone": True}},
    "l and t": {"privacy": L_AND_T, "suppression": {"max_share": 0.4}},
    "masked": {"suppression": {"max_share": 0.4, "style": "mask"}, "privacy": [{"k_anonymity": 4}]},
    "models of single values, distances": {
        "sensitive": ["illness", "charge"],
        "keep": [],
        "quasi_identifiers": FEW,
        "privacy": SINGLE_VALUES,
        "suppression": {"max_share": 0.9},
    },
    "average and highest risk": {
        "privacy": [{"k_anonymity": 2}, {"risk": {"average": 0.2, "highest": 0.3, "records_at_risk": 0.1}}],
    },
    "k-map by estimate, persons": {
        "unit": "person",
        "privacy": [{"k_map": {"k": 20, "sampling_fraction": 0.05, "significance": 0.05}}],
        "suppression": {"max_share": 0.4},
    },
    "highest risk, persons, l": {
        "unit": "person",
        "privacy": [
            {"k_anonymity": 2},
            {"l_diversity": {"attribute": "illness", "l": 2}},
            {"risk": {"average": 0.25, "highest": 0.34}},
        ],
        "suppression": {"max_share": 0.4},
    },
    "publisher's payout, no attack, persons": {
        "unit": "person",
        "privacy": [{"no_attack": {"gain": 5, "cost": 2}}],
        "suppression": {"max_share": 0.4},
        "search": {"metric": "publisher_payout", "prices": {"benefit": 12, "loss": 30, "gain": 15, "cost": 2}},
    },
    "profitability, persons, l, sets": {
        "unit": "person",
        "privacy": [
            {"profitability": {"benefit": 12, "loss": 30, "gain": 15, "cost": 2}},
            {"k_anonymity": {"k": 3, "quasi_identifiers": ["sex"]}},
            {"l_diversity": {"attribute": "illness", "l": 2}},
        ],
        "suppression": {"max_share": 0.6, "style": "mask"},
    },
    "entropy by estimate, persons": {
        "unit": "person",
        "quasi_identifiers": FEW,
        "privacy": [
            {"l_diversity": {"attribute": "illness", "l": 1.9, "variant": "entropy", "estimator": "grassberger"}},
        ],
        "suppression": {"max_share": 0.6},
    },
    "personal k": {
        "sensitive": ["illness", "charge"],
        "keep": [],
        "quasi_identifiers": FEW,
        "privacy": [{"k_anonymity": {"column": "charge", "default": 2}}],
        "suppression": {"max_share": 0.9},
    },
    "sets": {"privacy": SETS, "suppression": {"max_share": 0.4}, "search": {"metric": "entropy"}},
    "sets, persons, l and t, masked": {
        "unit": "person",
        "privacy": [*L_AND_T, *SETS[1:]],
        "suppression": {"max_share": 0.5, "style": "mask"},
    },
    "persons": {"unit": "person"},
    "persons, l and t, masked": {
        "unit": "person",
        "privacy": L_AND_T,
        "suppression": {"max_share": 0.5, "style": "mask"},
    },
    "expressions": {
        "quasi_identifiers": {
            "age": {"sql": ["floor(x / 10) * 10", "CASE WHEN x < 40 THEN 'young' ELSE 'old' END"]},
            "zip": {"sql": ["substring(x, 1, 2)"]},
        }
    },
    "intervals": {
        "quasi_identifiers": {"zip": None, "sex": {"tree": {"x": ["M", "m"], "y": ["F", "none"]}}},
        "search": {"algorithm": "k_optimize"},
    },
    "intervals of dates and numbers, limited, l": {
        "quasi_identifiers": {"born": None, "weight": None},
        "privacy": [{"k_anonymity": 3}, {"l_diversity": {"attribute": "illness", "l": 2}}],
        "search": {"algorithm": "k_optimize", "metric": "discernibility", "cuts": 4},
    },
    "intervals, persons, NULL": {
        "unit": "person",
        "quasi_identifiers": {"sex": None, "illness": None},
        "sensitive": [],
        "search": {"algorithm": "k_optimize"},
    },
    "intervals, NULLs suppressed, masked": {
        "quasi_identifiers": {"weight": None, "illness": {"tree": {"x": ["flu", "Flu"], "y": ["asthma", "ulcer"]}}},
        "sensitive": [],
        "nulls": "suppress",
        "suppression": {"max_share": 0.6, "style": "mask"},
        "search": {"algorithm": "k_optimize", "metric": "discernibility", "cuts": 4},
    },
    "local": {"recoding": "local", "privacy": [{"k_anonymity": 2}]},
    "local, persons, sets, NULLs masked, limited": {
        "recoding": "local",
        "unit": "person",
        "quasi_identifiers": {
            **SPEC["quasi_identifiers"],
            "age": {"intervals": [5, 20], "bottom": 0, "top": 80, "minimum_level": 1, "weight": 2},
            "zip": {"prefix": [4, 3], "maximum_level": 1},
            "illness": None,
        },
        "sensitive": [],
        "nulls": "suppress",
        "privacy": [{"k_anonymity": 2}, {"k_anonymity": {"k": 4, "quasi_identifiers": ["sex"]}}],
        "suppression": {"max_share": 0.4, "style": "mask"},
    },
    "local, persons with several vectors, l and t": {
        "recoding": "local",
        "unit": "person",
        "quasi_identifiers": {**SPEC["quasi_identifiers"], "charge": {"intervals": [50]}, "zip": {"prefix": [3, 1]}},
        "keep": [],
        "privacy": [*L_AND_T[:2], {"t_closeness": {"attribute": "illness", "t": 0.7}}],
    },
    "local, models of single values, classes suppressed": {
        "recoding": "local",
        "sensitive": ["illness", "charge"],
        "keep": [],
        "quasi_identifiers": {**FEW, "zip": {"prefix": [3], "maximum_level": 1}},
        "privacy": SINGLE_VALUES,
        "suppression": {"max_share": 0.9},
    },
    "local, best, persons, NULLs suppressed": {
        "recoding": {"method": "local", "variant": "best"},
        "unit": "person",
        "quasi_identifiers": {
            **SPEC["quasi_identifiers"],
            "age": {"intervals": [5, 20], "bottom": 0, "top": 80, "weight": 2},
            "illness": None,
        },
        "sensitive": [],
        "nulls": "suppress",
        "privacy": [{"k_anonymity": 2}],
        "suppression": {"max_share": 0.4},
    },
    "local, best, persons with several vectors, l and t": {
        "recoding": {"method": "local", "variant": "best"},
        "unit": "person",
        "keep": [],
        "privacy": [*L_AND_T[:2], {"t_closeness": {"attribute": "illness", "t": 0.7}}],
    },
    "local, ranges beside hierarchies, NULLs": {
        "recoding": {"method": "local", "ranges": ["born", "weight"], "start": "both"},
        "quasi_identifiers": {**SPEC["quasi_identifiers"], "born": None, "weight": None},
    },
    "local, best, ranges, persons with several vectors, l": {
        "recoding": {"method": "local", "variant": "best", "ranges": ["charge"]},
        "unit": "person",
        "quasi_identifiers": {**SPEC["quasi_identifiers"], "charge": None},
        "keep": [],
        "privacy": L_AND_T[:2],
    },
    "kk, levels limited, NULLs, rows suppressed": {
        "recoding": "kk",
        "quasi_identifiers": {
            "age": {"intervals": [5, 20], "bottom": 0, "top": 80, "minimum_level": 1, "maximum_level": 2},
            "zip": {"prefix": [4, 3], "weight": 2},
            "sex": SPEC["quasi_identifiers"]["sex"],
            "illness": {"tree": {"x": ["ulcer", "flu"], "y": ["asthma", "Flu"]}, "maximum_level": 1},
        },
        "sensitive": [],
        "privacy": [{"kk_anonymity": 4}],
        "suppression": {"max_share": 0.6},
    },
    "kk, matches of every record, NULLs, rows suppressed": {
        "recoding": "kk",
        "quasi_identifiers": {
            "age": {"intervals": [5, 20], "bottom": 0, "top": 80, "maximum_level": 2},
            "zip": {"prefix": [4, 3], "weight": 2},
            "sex": SPEC["quasi_identifiers"]["sex"],
        },
        "sensitive": [],
        "privacy": [{"kk_anonymity": {"k": 5, "variant": "global_1k"}}],
        "suppression": {"max_share": 0.6},
    },
    "mondrian": {"recoding": "mondrian", "privacy": [{"k_anonymity": 2}]},
    "mondrian, relaxed": {
        "recoding": {"method": "mondrian", "variant": "relaxed"},
        "quasi_identifiers": {"zip": None, "sex": None},
        "keep": ["charge", "born", "weight"],
    },
    "mondrian, dates, decimals and NULLs": {
        "recoding": "mondrian",
        "quasi_identifiers": {"born": None, "weight": {"weight": 2}, "illness": None},
        "sensitive": [],
    },
    "mondrian, persons with several vectors, l and t": {
        "recoding": "mondrian",
        "unit": "person",
        "quasi_identifiers": {**SPEC["quasi_identifiers"], "charge": None},
        "keep": [],
        "privacy": [*L_AND_T[:2], {"t_closeness": {"attribute": "illness", "t": 0.7}}],
    },
    "mondrian, persons, a hierarchy's order, NULLs masked": {
        "recoding": "mondrian",
        "unit": "person",
        "quasi_identifiers": {
            "zip": None,
            "illness": {"tree": {"x": ["ulcer", "flu"], "y": ["asthma", "Flu", "none"]}},
        },
        "sensitive": [],
        "nulls": "suppress",
        "suppression": {"max_share": 0.4, "style": "mask"},
    },
    "cells": {"recoding": "cells", "privacy": [{"k_anonymity": 2}]},
    "cells, capped, persons, sets, NULLs masked, limited": {
        "recoding": {"method": "cells", "caps": {"age": 0.5, "sex": 0}},
        "unit": "person",
        "quasi_identifiers": {
            **SPEC["quasi_identifiers"],
            "age": {"intervals": [5, 20], "bottom": 0, "top": 80, "minimum_level": 1, "weight": 2},
            "zip": {"prefix": [4, 3], "maximum_level": 1},
        },
        "nulls": "suppress",
        "privacy": [{"k_anonymity": 2}, {"k_anonymity": {"k": 4, "quasi_identifiers": ["sex"]}}],
        "suppression": {"max_share": 0.4, "style": "mask"},
    },
    "cells, minimum levels, persons with several vectors, l and t": {
        "recoding": {"method": "cells", "variant": "minimum"},
        "unit": "person",
        "keep": [],
        "privacy": [*L_AND_T[:2], {"t_closeness": {"attribute": "illness", "t": 0.7}}],
    },
    "subtree, persons, a class to tell, limited, masked": {
        "recoding": {"method": "subtree", "classify": "illness"},
        "unit": "person",
        "quasi_identifiers": {
            **SPEC["quasi_identifiers"],
            "age": {"intervals": [5, 20], "bottom": 0, "top": 80, "minimum_level": 1, "weight": 2},
        },
        "nulls": "suppress",
        "privacy": [{"k_anonymity": 2}, {"k_anonymity": {"k": 4, "quasi_identifiers": ["sex"]}}],
        "suppression": {"max_share": 0.4, "style": "mask"},
    },
    "subtree, bottom up, persons with several vectors, l and t": {
        "recoding": {"method": "subtree", "variant": "bottom_up"},
        "unit": "person",
        "keep": [],
        "privacy": [*L_AND_T[:2], {"t_closeness": {"attribute": "illness", "t": 0.7}}],
    },
    "subtree, split dates and numbers, NULLs, a class to tell": {
        "recoding": {"method": "subtree", "ranges": ["born", "weight"], "classify": "illness"},
        "quasi_identifiers": {"zip": SPEC["quasi_identifiers"]["zip"], "born": None, "weight": {"weight": 2}},
        "suppression": {"max_share": 0.3},
    },
    "subtree, split numbers alone, persons with several vectors, l": {
        "recoding": {"method": "subtree", "ranges": ["charge"]},
        "unit": "person",
        "quasi_identifiers": {"charge": None},
        "keep": [],
        "privacy": L_AND_T[:2],
    },
    "forest": {"recoding": "forest"},
    "cover, minimum levels, NULLs masked": {
        "recoding": "cover",
        "quasi_identifiers": {
            **SPEC["quasi_identifiers"],
            "age": {"intervals": [5, 20], "bottom": 0, "top": 80, "minimum_level": 1},
            "illness": None,
        },
        "sensitive": [],
        "nulls": "suppress",
        "suppression": {"max_share": 0.4, "style": "mask"},
    },
    "forest, alike from minimum levels on, NULLs left out": {
        "recoding": "forest",
        "quasi_identifiers": {
            "age": {"intervals": [20, 40], "bottom": 0, "top": 80, "minimum_level": 1},
            "sex": {"tree": {"x": ["M", "m"], "y": ["F"]}, "minimum_level": 1},
            "illness": {"minimum_level": 1},
        },
        "sensitive": [],
        "keep": ["person", "charge"],
        "nulls": "suppress",
        "suppression": {"max_share": 0.4, "style": "mask"},
        "privacy": [{"k_anonymity": 7}],
        "warnings": {"kept_reveals_quasi_identifier": "warn"},
    },
    "matching": {
        "recoding": "matching",
        "source": {"query": HALVES},
        "quasi_identifiers": dict.fromkeys(["age", "weight", "zip", "charge", "sex"]),
        "keep": ["person"],
        "privacy": [{"k_anonymity": 2}],
    },
    "microaggregation": {
        "recoding": {"method": "microaggregation", "columns": {"age": "mean", "weight": "mode"}},
        "quasi_identifiers": {"age": {"weight": 2}, "weight": None, "sex": SPEC["quasi_identifiers"]["sex"]},
    },
    "microaggregation of one column": {
        "recoding": {"method": "microaggregation", "columns": {"charge": "mean"}},
        "quasi_identifiers": {"charge": None, "sex": None},
        "keep": [],
    },
    "microaggregation, persons with several vectors, l and t": {
        "recoding": {"method": "microaggregation", "columns": {"age": "median", "charge": "mean"}},
        "unit": "person",
        "quasi_identifiers": {"age": None, "charge": None, "zip": {"prefix": [3], "minimum_level": 1}},
        "keep": [],
        "privacy": [*L_AND_T[:2], {"t_closeness": {"attribute": "illness", "t": 0.7}}],
    },
    "query": {"source": {"query": "SELECT * FROM visits WHERE charge > 20"}},
    "decimals and NULLs": {
        "quasi_identifiers": {"weight": {"intervals": [2.5, 10]}, "illness": None},
        "sensitive": [],
        "nulls": "suppress",
        "suppression": {"max_share": 0.6},
    },
}
CASES |= {metric: {"search": {"metric": metric}} for metric in METRICS if metric not in CASES}
