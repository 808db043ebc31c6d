"""What goes together: tried with the rules that a run is refused by, so that these tables cannot say anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from declared_reference import table
from ruamel.yaml import YAML

from kanon_sql.engines import DryEngine
from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.models import model_of
from kanon_sql.registers import RECODINGS
from kanon_sql.spec import Spec, parse_requirement, requirements
from kanon_sql.sql.dialects import DIALECTS
from kanon_sql.verbs.preflight import Options, obstacles

__all__ = ["markdown"]

_SPEC: dict[str, Any] = {
    "version": 1,
    "source": "visits",
    "release": "visits_release",
    "quasi_identifiers": {"age": {"intervals": [10, 20]}, "zip": {"prefix": [4]}},
    "sensitive": ["diagnosis"],
    "privacy": [{"k_anonymity": 2}],
}
"""A spec with which everything goes, as long as its recoding is full-domain."""

_NEEDED = {"columns": {"age": "mean"}}
"""What is written for the options that a recoding must be given."""

_OPTIONS: Mapping[str, dict[str, Any]] = {
    "`ledger`": {"ledger": "releases"},
    "`search: {algorithm: k_optimize}`": {"search": {"algorithm": "k_optimize"}},
    "`release: {view: ...}`": {"release": {"view": "shown", "accept_sequence_risk": True}, "sensitive": []},
    "`state`": {"state": "kanon_state"},
    "`utility`": {"utility": {"classify": "diagnosis"}},
    "`save_as`": {"recoding": {"save_as": "learned"}},
    "`suppression: {style: mask}`": {"suppression": {"max_share": 0.1, "style": "mask"}},
    "`unit`": {"unit": "patient"},
}
"""Keys of a spec, written with the rest of it."""

_SHOWN: Mapping[str, Options] = {
    "`plan --show nodes`, `minimal`": Options(explain=True, all_minimal=True),
    "`plan --show bound`": Options(bound=True),
    "`plan --show distributions`": Options(distributions=True),
}
"""What ``plan`` shows besides."""

_PIPELINES = {
    "`pipeline render`": "render",
    "`pipeline dbt`": "dbt",
    "`pipeline sqlmesh`": "sqlmesh",
    "`pipeline functions`": "functions",
}

_PLACES: Mapping[str, dict[str, Any]] = {
    "a table": {},
    "a file": {"release": {"file": "visits.csv"}},
    "a view": _OPTIONS["`release: {view: ...}`"],
    "a table that grows": _OPTIONS["`state`"],
}
"""What ``anonymize`` publishes."""


@cache
def markdown() -> str:
    """What goes with each recoding, and what each engine publishes."""
    head = ["", *(f"`{name}`" for name in RECODINGS)]
    rows = [*_requirements(), *_keys(), *_verbs()]
    places = ["", *_PLACES, *_PIPELINES]
    return f"{table(head, rows)}\n\n{table(places, _engines())}"


def _requirements() -> Iterable[Sequence[str]]:
    """A row for all requirements that go with the same recodings; those that no search finds are left out."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for item in requirements():
        own: dict[tuple[str, ...], list[str]] = {}
        for form in item.forms:
            written = YAML(typ="safe").load(form.written)
            if _judged_in_tables(written):
                asked = {"privacy": [written], "sensitive": ["diagnosis", "income", "wanted_k"]}
                own.setdefault(tuple(_goes(name, asked) for name in RECODINGS), []).append(f"`{form.written}`")
        for cells, forms in own.items():
            rows.setdefault(cells, []).extend([f"`{item.name}`"] if len(own) == 1 else forms)
    return [(", ".join(names), *cells) for cells, names in rows.items() if _YES in cells]


def _judged_in_tables(written: Mapping[str, Any]) -> bool:
    """Whether a requirement is one of a table's classes, and not of how or how often releases are made."""
    try:
        model_of(parse_requirement(written))
    except UnsupportedError:
        return False
    return True


def _keys() -> Iterable[Sequence[str]]:
    for key, more in _OPTIONS.items():
        yield (key, *(_goes(name, more) for name in RECODINGS))


def _verbs() -> Iterable[Sequence[str]]:
    for shown, options in _SHOWN.items():
        yield (shown, *(_goes(name, {}, "plan", options) for name in RECODINGS))
    for pipeline, rules in _PIPELINES.items():
        yield (pipeline, *(_goes(name, {}, rules) for name in RECODINGS))


def _engines() -> Iterable[Sequence[str]]:
    for dialect in DIALECTS:
        places = [_goes("full_domain", more, engine=dialect) for more in _PLACES.values()]
        yield (dialect, *places, *(_goes("full_domain", {}, rules, engine=dialect) for rules in _PIPELINES.values()))


_YES, _NO = "yes", ""


def _goes(
    name: str,
    more: Mapping[str, Any],
    verb: str = "anonymize",
    options: Options | None = None,
    *,
    engine: str = "duckdb",
) -> str:
    """Whether a spec with a recoding loads, and nothing stands in a verb's way."""
    declared = RECODINGS[name]
    recoding = {"method": name, **{option: _NEEDED[option] for option in declared.needs}, **more.get("recoding", {})}
    own = {"privacy": [{"kk_anonymity": 2}]} if declared.of_rows else {}
    try:
        spec = Spec.from_dict({**_SPEC, **own, **more, "recoding": recoding})
    except SpecError:
        return _NO
    return _NO if any(obstacles(DryEngine(engine, ()), spec, verb, options)) else _YES
