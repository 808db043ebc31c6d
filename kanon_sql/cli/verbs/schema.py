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
        "kanon-sql schema --cloak-spec",
        "kanon-sql schema --cloak",
    )
)
def schema(
    result: Annotated[bool, typer.Option("--result", help="The schema of a result instead of that of a spec.")] = False,
    of_audit: Annotated[bool, typer.Option("--audit", help="The schema of the result of an audit.")] = False,
    of_risk: Annotated[bool, typer.Option("--risk", help="The schema of what risk measures.")] = False,
    of_compare: Annotated[bool, typer.Option("--compare", help="The schema of a comparison.")] = False,
    table_spec: Annotated[bool, typer.Option("--table-spec", help="The schema of a table spec.")] = False,
    of_tabulate: Annotated[bool, typer.Option("--tabulate", help="The schema of the result of tabulate.")] = False,
    cloak_spec: Annotated[bool, typer.Option("--cloak-spec", help="The schema of a cloak spec.")] = False,
    of_cloak: Annotated[bool, typer.Option("--cloak", help="The schema of the result of cloak.")] = False,
) -> None:
    """Print the JSON Schema of the spec, or of a result.

    Editors that know JSON Schema check a spec while you write it; programs that read
    results can rely on theirs.
    """
    with session(quiet=True, verbose=False):
        of_results = (result, of_audit, of_risk, of_compare, of_tabulate, of_cloak)
        if sum(of_results) + table_spec + cloak_spec > 1:
            raise SpecError(
                "--result, --audit, --risk, --compare, --table-spec, --tabulate, --cloak-spec and --cloak exclude each "
                "other; give one of them"
            )
        if any(of_results):
            from kanon_sql.report import json

            asked = {
                json.audit_schema: of_audit,
                json.risk_schema: of_risk,
                json.comparison_schema: of_compare,
                json.tabulation_schema: of_tabulate,
                json.cloak_schema: of_cloak,
                json.result_schema: result,
            }
            print_json(next(schema for schema, wanted in asked.items() if wanted)())
        else:
            from kanon_sql.spec import CloakSpec, Spec, TableSpec

            kind = TableSpec if table_spec else CloakSpec if cloak_spec else Spec
            print_json(kind.json_schema())
