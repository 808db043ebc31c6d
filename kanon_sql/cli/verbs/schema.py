"""``schema``: the JSON Schema of specs and results."""

from typing import Annotated

import typer

from kanon_sql.cli.program import examples, program
from kanon_sql.cli.session import session
from kanon_sql.cli.written import print_json
from kanon_sql.errors import SpecError

__all__ = ["schema"]


@program.command(
    epilog=examples(
        "kanon-sql schema",
        "kanon-sql schema --result",
        "kanon-sql schema --audit",
        "kanon-sql schema --risk",
        "kanon-sql schema --compare",
        "kanon-sql schema --table-spec",
        "kanon-sql schema --tabulate",
        "kanon-sql schema --perturb-spec",
        "kanon-sql schema --perturb",
    )
)
def schema(
    result: Annotated[bool, typer.Option("--result", help="The schema of a result instead of that of a spec.")] = False,
    of_audit: Annotated[bool, typer.Option("--audit", help="The schema of the result of an audit.")] = False,
    of_risk: Annotated[bool, typer.Option("--risk", help="The schema of what risk measures.")] = False,
    of_compare: Annotated[bool, typer.Option("--compare", help="The schema of a comparison.")] = False,
    table_spec: Annotated[bool, typer.Option("--table-spec", help="The schema of a table spec.")] = False,
    of_tabulate: Annotated[bool, typer.Option("--tabulate", help="The schema of the result of tabulate.")] = False,
    perturb_spec: Annotated[bool, typer.Option("--perturb-spec", help="The schema of a perturbation spec.")] = False,
    of_perturb: Annotated[bool, typer.Option("--perturb", help="The schema of the result of perturb.")] = False,
) -> None:
    """Print the JSON Schema of the spec, or of a result.

    Editors that know JSON Schema check a spec while you write it; programs that read
    results can rely on theirs.
    """
    with session(quiet=True, verbose=False):
        given = (result, of_audit, of_risk, of_compare, table_spec, of_tabulate, perturb_spec, of_perturb)
        if sum(given) > 1:
            raise SpecError("--result, --audit, --risk and the others exclude each other; give one of them")
        if result or of_audit or of_risk or of_compare or of_tabulate or of_perturb:
            from kanon_sql.report import json

            asked = {
                json.audit_schema: of_audit,
                json.risk_schema: of_risk,
                json.comparison_schema: of_compare,
                json.tabulation_schema: of_tabulate,
                json.perturbation_schema: of_perturb,
                json.result_schema: result,
            }
            print_json(next(schema for schema, wanted in asked.items() if wanted)())
        else:
            from kanon_sql.spec import PerturbSpec, Spec, TableSpec

            print_json((TableSpec if table_spec else PerturbSpec if perturb_spec else Spec).json_schema())
