"""``schema``: the JSON Schema of specs and results."""

from typing import Annotated

import typer

from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import print_json
from kanon_sql.errors import SpecError

__all__ = ["schema"]

_SPECS = ("--table-spec", "--cloak-spec", "--perturb-spec")
"""The options that ask for the schema of another spec."""

_RESULTS = {
    "--result": "result_schema",
    "--audit": "audit_schema",
    "--risk": "risk_schema",
    "--compare": "comparison_schema",
    "--evidence": "evidence_schema",
    "--certificate": "certificate_schema",
    "--tabulate": "tabulation_schema",
    "--cloak": "cloak_schema",
    "--perturb": "perturbation_schema",
    "--parties": "parties_schema",
}
"""The options that ask for the schema of a result -> the function of :mod:`kanon_sql.report.json` that has it."""


@program.command(
    epilog=examples("kanon-sql schema", *(f"kanon-sql schema {option}" for option in (*_RESULTS, *_SPECS)))
)
def schema(
    result: Annotated[bool, typer.Option("--result", help="The schema of a result instead of that of a spec.")] = False,
    of_audit: Annotated[bool, typer.Option("--audit", help="The schema of the result of an audit.")] = False,
    of_risk: Annotated[bool, typer.Option("--risk", help="The schema of what risk measures.")] = False,
    of_compare: Annotated[bool, typer.Option("--compare", help="The schema of a comparison.")] = False,
    of_evidence: Annotated[bool, typer.Option("--evidence", help="The schema of evidence on a release.")] = False,
    of_certificate: Annotated[bool, typer.Option("--certificate", help="The schema of a certificate.")] = False,
    of_tabulate: Annotated[bool, typer.Option("--tabulate", help="The schema of the result of tabulate.")] = False,
    of_cloak: Annotated[bool, typer.Option("--cloak", help="The schema of the result of cloak.")] = False,
    of_perturb: Annotated[bool, typer.Option("--perturb", help="The schema of the result of perturb.")] = False,
    of_parties: Annotated[bool, typer.Option("--parties", help="The schema of a result with --party.")] = False,
    table_spec: Annotated[bool, typer.Option("--table-spec", help="The schema of a table spec.")] = False,
    cloak_spec: Annotated[bool, typer.Option("--cloak-spec", help="The schema of a cloak spec.")] = False,
    perturb_spec: Annotated[bool, typer.Option("--perturb-spec", help="The schema of a perturbation spec.")] = False,
) -> None:
    """Print the JSON Schema of the spec, or of a result.

    Editors that know JSON Schema check a spec while you write it; programs that read
    results can rely on theirs.
    """
    results = (
        result, of_audit, of_risk, of_compare, of_evidence, of_certificate,
        of_tabulate, of_cloak, of_perturb, of_parties,
    )  # fmt: skip
    given = dict(zip((*_RESULTS, *_SPECS), (*results, table_spec, cloak_spec, perturb_spec), strict=True))
    asked = [option for option, wanted in given.items() if wanted]
    with session(quiet=True, verbose=False):
        if len(asked) > 1:
            raise SpecError(f"{' and '.join(asked)} exclude each other; give one of them")
        if asked and asked[0] in _RESULTS:
            from kanon_sql.report import json

            print_json(getattr(json, _RESULTS[asked[0]])())
        else:
            from kanon_sql.spec import CloakSpec, PerturbSpec, Spec, TableSpec

            kind = TableSpec if table_spec else CloakSpec if cloak_spec else PerturbSpec if perturb_spec else Spec
            print_json(kind.json_schema())
