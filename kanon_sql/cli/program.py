"""The Typer application that the verbs are added to, and what the help of all of them shares."""

from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kanon_sql.version import __version__

__all__ = ["HEADINGS", "examples", "program"]

HEADINGS = {
    "Start": ("demo", "init", "hierarchy", "explore"),
    "Release": ("plan", "anonymize", "apply", "refresh"),
    "Judge": ("check", "audit", "risk", "certify"),
    "Show": ("report", "compare", "ledger"),
    "Other products": ("tabulate", "cloak", "perturb"),
    "Pipelines": ("render", "dbt", "sqlmesh"),
    "Housekeeping": ("clean", "doctor", "schema"),
}
"""The verbs, in the order and under the headings of the help."""


class Verbs(TyperGroup):
    """The verbs, under headings, and the error for a word that is not a verb."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each heading with its verbs; all descriptions begin in one column."""
        width = max(map(len, self.commands))
        for heading, names in HEADINGS.items():
            known = [(name.ljust(width), self.commands[name]) for name in names if name in self.commands]
            if known:
                with formatter.section(heading):
                    formatter.write_dl([(shown, verb.get_short_help_str(formatter.width)) for shown, verb in known])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that the arguments begin with; the types are those of the Click that Typer brings."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            verbs = self.list_commands(ctx)
            close = get_close_matches(name.lower(), verbs, n=1, cutoff=0.4)
            hint = f" did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"no such verb {name!r};{hint} the verbs are {', '.join(verbs)}")
        return super().resolve_command(ctx, args)


program = typer.Typer(
    name="kanon-sql",
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def examples(*lines: str) -> str:
    """The end of a verb's help; the mark keeps the lines as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kanon-sql {__version__}")
        raise typer.Exit()


@program.callback()
def kanon_sql(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Anonymize a table where it lives: k-anonymity, l-diversity and t-closeness by generated SQL.

    A spec (YAML) names the table, its quasi-identifiers and what must hold. Start with
    "kanon-sql demo", or with "kanon-sql init TABLE -d FILE" for a spec of your own.

    Results go to standard output, progress and messages to standard error. Exit codes:
    0 pass, 1 a requirement is not met, 2 wrong usage or a wrong spec, 3 a database error,
    130 interrupted, 143 terminated.
    """
