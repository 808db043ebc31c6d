"""The Typer application that the verbs are added to, and what all of them share: their options and their help."""

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from kanon_sql.cli import options as shared
from kanon_sql.cli.renamed_options import VERBS as MOVED
from kanon_sql.cli.renamed_options import moved_option
from kanon_sql.cli.session import SharedOptions, session
from kanon_sql.version import __version__

__all__ = ["GROUPS", "HEADINGS", "program", "verb"]


class Group(NamedTuple):
    """Verbs that stand behind one word.

    Attributes:
        help: what they are for.
        verbs: in the order of the help.
    """

    help: str
    verbs: tuple[str, ...]


HEADINGS: Mapping[str, tuple[str, ...]] = {
    "Start": ("demo", "init", "hierarchy", "explore"),
    "Release": ("plan", "anonymize", "release"),
    "Measure": ("check", "audit", "risk"),
    "Report": ("report", "compare"),
    "Other products": ("publish", "parties"),
    "Pipelines": ("pipeline",),
    "Housekeeping": ("doctor", "clean"),
}
"""The verbs and groups, in the order and under the headings of the help."""

GROUPS: Mapping[str, Group] = {
    "release": Group("Add rows to a release, document or certify it, and list the ledger.",
                     ("refresh", "apply", "dictionary", "evidence", "certify", "ledger")),
    "publish": Group("Publish tables of counts, positions or perturbed rows.",
                     ("table", "positions", "perturbed", "check")),
    "parties": Group("Release a table that is split over several databases.", ("plan", "anonymize")),
    "pipeline": Group("Write SQL, functions, policies, dbt models and SQLMesh audits; estimate costs.",
                      ("render", "estimate", "dbt", "sqlmesh", "functions", "policies", "schema")),
}  # fmt: skip


_HYPHEN = "\N{NON-BREAKING HYPHEN}"

_CONTEXT: Any = TyperCommand.context_class


class _Help(_CONTEXT.formatter_class):  # type: ignore[misc]
    """Help whose lines do not end inside the program's name."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(_whole(text))

    def write_dl(self, rows: Any, **widths: Any) -> None:
        """Write names with what they are."""
        super().write_dl([(name, _whole(text)) for name, text in rows], **widths)

    def getvalue(self) -> str:
        """All of it, with the hyphen that one types."""
        return str(super().getvalue()).replace(_HYPHEN, "-")


def _whole(text: str) -> str:
    return text.replace("kanon-sql", f"kanon{_HYPHEN}sql")


class _Context(_CONTEXT):  # type: ignore[misc]
    formatter_class = _Help


class Verbs(TyperGroup):
    """The program or a group: its verbs under headings, and the error for a word that is not a verb."""

    context_class = _Context

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of the help."""
        order = [name for names in self._headings().values() for name in names]
        return [name for name in order if name in self.commands]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options, then the verbs."""
        _write_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each heading with its verbs; all descriptions begin in one column."""
        width = max(map(len, self.commands))
        for heading, names in self._headings().items():
            known = [(name.ljust(width), self.commands[name]) for name in names if name in self.commands]
            if known:
                with formatter.section(heading):
                    formatter.write_dl([(shown, verb.get_short_help_str(formatter.width)) for shown, verb in known])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that the arguments begin with; the types are those of the Click that Typer brings."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            if name in MOVED and self.name not in GROUPS:
                ctx.fail(f"{name!r} has moved; use kanon-sql {MOVED[name]}")
            verbs = self.list_commands(ctx)
            close = get_close_matches(name.lower(), verbs, n=1, cutoff=0.4)
            hint = f" did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"no such command {name!r};{hint} the commands are {', '.join(verbs)}")
        return super().resolve_command(ctx, args)

    def _headings(self) -> Mapping[str, tuple[str, ...]]:
        group = GROUPS.get(self.name or "")
        return HEADINGS if group is None else {"Commands": group.verbs}


_OPTION = re.compile(r"^use (--[a-z-]+)")
"""The option of the same verb that takes the place of one that has moved."""

_A_DATABASE = re.compile(r"\.(?:duckdb|db|sqlite)$|^\w+(?:\+\w+)?://")

_A_SPEC = re.compile(r"\.ya?ml$", re.IGNORECASE)

_USAGE_ERROR: Any = typer.BadParameter.__base__
"""What the Click that Typer brings raises for a wrong command line."""


class Verb(TyperCommand):
    """A verb: its own options before those that all share, and the error for an option that has moved."""

    context_class = _Context

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options under headings."""
        _write_options(self, ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line."""
        own = {name for item in self.get_params(ctx) for name in (*item.opts, *item.secondary_opts)}
        for word in args[: args.index("--")] if "--" in args else args:
            option = word.partition("=")[0]
            if option.startswith("--") and option not in own:
                instead = moved_option(ctx.command_path.partition(" ")[2], option)
                if instead is not None and own.issuperset(_OPTION.findall(instead)[:1]):
                    ctx.fail(f"{option} has moved; {instead}")
                key = option[2:].replace("-", "_")
                if key in getattr(self.callback, "settable", ()):
                    ctx.fail(f"no such option: {option}; write --set {key}=VALUE")
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except _USAGE_ERROR as error:
            missing = getattr(getattr(error, "param", None), "name", None)
            if missing == "spec_or_table" and any(word.startswith("--table") for word in given):
                why = "the spec is missing; without one, write the table as the argument, and not after --table"
                raise _USAGE_ERROR(why, ctx) from None
            if "unexpected extra argument" not in str(error) or (hint := _of_too_many(given, own)) is None:
                raise
            raise _USAGE_ERROR(f"one argument too many; {hint}", ctx) from None


def _of_too_many(given: Sequence[str], own: Collection[str]) -> str | None:
    """Where an argument belongs that is one too many; None where nothing says so.

    Args:
        given: all words after the verb.
        own: the options of the verb.
    """
    loose = [word for before, word in pairwise(["", *given]) if not before.startswith("-")]
    if "--database" in own and any(map(_A_DATABASE.search, loose)):
        return "a database goes after -d: -d clinic.duckdb"
    if "--table" in own and any(map(_A_SPEC.search, loose)):
        return "after the spec, a table goes after --table: --table visits_release"
    return "a list takes commas: --quasi-identifiers age,zip" if "--quasi-identifiers" in own else None


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """The arguments and options of a command, under their headings."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for item in command.get_params(ctx):
        record = item.get_help_record(ctx)
        if record is not None:
            argument = item.param_type_name == "argument"
            heading = "Arguments" if argument else getattr(item, "rich_help_panel", None) or "Options"
            sections.setdefault(heading, []).append(record)
    if len(sections) > 2:  # --help stands with the last of those that all verbs share
        sections["Output"] += [record for record in sections["Options"] if "--help" in record[0]]
        sections["Options"] = [record for record in sections["Options"] if "--help" not in record[0]]
    for heading, records in sections.items():
        if records:
            with formatter.section(heading):
                formatter.write_dl(records)


_OURS = {"rich_markup_mode": None, "no_args_is_help": True, "cls": Verbs,
         "context_settings": {"help_option_names": ["-h", "--help"]}}  # fmt: skip

program = typer.Typer(name="kanon-sql", pretty_exceptions_enable=False, **_OURS)  # type: ignore[arg-type]

_APPLICATIONS = {name: typer.Typer(name=name, help=group.help, **_OURS) for name, group in GROUPS.items()}  # type: ignore[arg-type]


def _examples(lines: tuple[str, ...]) -> str:
    """The end of a verb's help; the mark keeps the lines as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def verb(
    *examples: str,
    group: str | None = None,
    name: str | None = None,
    database: bool = True,
    parties: bool = False,
    scratch: bool = False,
    resources: bool = True,
    formats: type[StrEnum] | None = shared.OutputFormat,
    product: str | None = "result",
    reports: bool = False,
    keys: Mapping[str, str] = {},
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a function to the program as a verb, with the options that verbs share.

    The function takes the session, which holds what the shared options say, and its own options.

    Args:
        examples: the lines that the help ends with.
        group: the group that it belongs to.
        name: of the verb, where the function has another.
        database: it opens a database.
        parties: it opens the databases of several parties.
        scratch: ``--set scratch=MODE`` says where its scratch tables live.
        resources: ``--set`` says how many threads and how much memory the database may use.
        formats: in which forms it writes; the first one if not given. None where there is one form.
        product: what ``--output`` writes; None where the verb has an ``--output`` of its own, or none.
        reports: its result can be an HTML report.
        keys: what ``--set`` sets besides -> what it means.
    """
    settable = {
        **({key: shared.KEYS[key] for key in ("threads", "memory_limit") if database and resources}),
        **({"timeout": shared.KEYS["timeout"]} if database else {}),
        **({"scratch": shared.KEYS["scratch"]} if scratch else {}),
        **keys,
    }

    def add(function: Callable[..., None]) -> Callable[..., None]:
        _, *own = inspect.signature(function).parameters.values()
        extra = list(_shared(database, parties, settable, formats, product, reports))
        defaults = {item.name: item.default for item in extra}

        def call(context: typer.Context, **given: Any) -> None:
            extras = {item: given.pop(item, default) for item, default in defaults.items()}
            verbose, quiet = extras["verbose"], extras["quiet"]
            with session(quiet=quiet, verbose=verbose, spec=given.get("spec_file")) as run:
                asked = SharedOptions(context, extras, settable, formats, product, reports)
                with run.takes(asked):
                    function(run, **given)

        here = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        arguments = [here, *(item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in (*own, *extra))]
        call.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
        call.__annotations__ = {item.name: item.annotation for item in arguments}
        call.settable = frozenset(settable)  # type: ignore[attr-defined]
        call.__doc__, call.__name__, call.__module__ = function.__doc__, function.__name__, function.__module__
        application = program if group is None else _APPLICATIONS[group]
        application.command(name or function.__name__, cls=Verb, epilog=_examples(examples))(call)
        return function

    return add


def _shared(
    database: bool,
    parties: bool,
    settable: Mapping[str, str],
    formats: type[StrEnum] | None,
    product: str | None,
    reports: bool,
) -> Any:
    """The shared options of a verb, as parameters of its function."""

    def option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)

    if database:
        yield option("database", shared.Parties, None) if parties else option("database", shared.Database, ":memory:")
        yield option("profile", shared.Profile, None)
    if settable:
        yield option("settings", shared.settings_option(settable), None)
    if product is not None:
        yield option("output_file", shared.output_option(product, reports), None)
    if formats is not None:
        yield option("output_format", shared.format_option(formats, product), next(iter(formats)))
    yield option("quiet", shared.Quiet, False)
    yield option("verbose", shared.Verbose, False)


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

    A spec (YAML) names the table, its quasi-identifiers and the privacy requirements. Start with
    "kanon-sql demo", or draft a spec for your table with "kanon-sql init TABLE -d FILE".

    Results go to standard output, progress and messages to standard error. Exit codes:
    0 pass, 1 a requirement is not met, 2 wrong usage or a wrong spec, 3 a database error,
    130 interrupted, 143 terminated.
    """


for _name, _application in _APPLICATIONS.items():
    program.add_typer(_application, name=_name)
