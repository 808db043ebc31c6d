"""``pipeline schema``: the JSON Schema of specs and results."""

from typing import Annotated, Any

import typer

from kanon_sql.cli.complete import one_of
from kanon_sql.cli.outputs import print_json
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.errors import SpecError

__all__ = ["schema"]

SPECS = ("spec", "table-spec", "positions-spec", "perturbed-spec", "tables-spec")

RESULTS = {
    "result": "result_schema",
    "audit": "audit_schema",
    "risk": "risk_schema",
    "compare": "comparison_schema",
    "evidence": "evidence_schema",
    "certificate": "certificate_schema",
    "table": "tabulation_schema",
    "positions": "cloak_schema",
    "perturbed": "perturbation_schema",
    "parties": "parties_schema",
    "tables": "relational_schema",
}
"""Results, each with the function of :mod:`kanon_sql.report.json` that has its schema."""


@verb(
    "kanon-sql pipeline schema > spec.schema.json",
    *(f"kanon-sql pipeline schema {name}" for name in (*RESULTS, *SPECS[1:])),
    group="pipeline",
    database=False,
    formats=None,
    product="schema",
)
def schema(
    run: Session,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=one_of(*SPECS, *RESULTS),
            help=f"A spec ({', '.join(SPECS)}), or the JSON output of a command ({', '.join(RESULTS)}; "
            "result is that of plan, anonymize, check, release refresh and release apply).",
        ),
    ] = "spec",
) -> None:
    """Print the JSON Schema of a spec, or of a result.

    With it, an editor can check a spec while you write it, and a program can check the
    results that it reads.
    """
    if name in RESULTS:
        from kanon_sql.report import json

        print_json(run, getattr(json, RESULTS[name])())
    elif name in SPECS:
        from kanon_sql.spec import CloakSpec, PerturbSpec, RelationalSpec, Spec, TableSpec

        kinds = (Spec, TableSpec, CloakSpec, PerturbSpec, RelationalSpec)
        classes: dict[str, Any] = dict(zip(SPECS, kinds, strict=True))
        print_json(run, classes[name].json_schema())
    else:
        raise SpecError(f"{name!r}: unknown schema; expected one of {', '.join((*SPECS, *RESULTS))}")
