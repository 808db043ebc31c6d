"""What the verbs write: results to standard output, reports to files, and the exit code."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from kanon_sql.cli import options
from kanon_sql.errors import ExitCode, SpecError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kanon_sql.cli.session import Session, SharedOptions
    from kanon_sql.verbs.result import Result

__all__ = [
    "default_manifest",
    "exit_with",
    "manifest_path",
    "output_of",
    "print_json",
    "print_output",
    "print_result",
    "print_text",
    "read_settings",
    "refuse_directory",
    "refuse_unshown",
    "write_for_owner",
    "write_manifest",
    "write_output",
    "write_report",
    "write_result_report",
]


def read_settings(asked: SharedOptions) -> tuple[dict[str, Any], dict[str, list[str]], frozenset[str]]:
    """What ``--set`` and the file of settings say: of the connection, key -> values of the rest, and the keys set.

    A part of a list that has no key goes on with the values of the key before it.

    Raises:
        SpecError: a key is not known, or a value has another form.
    """
    values: dict[str, list[str]] = {}
    for text in asked.arguments.get("settings") or ():
        key = None
        try:
            given = options.items([text])
        except ValueError:
            raise SpecError(
                "--set: expected KEY=VALUE, or several separated by commas, without an empty item"
            ) from None
        for item in given:
            name, equals, value = item.partition("=")
            if equals and name in asked.settable:
                key = name
            elif key is None or (equals and "=" not in "".join(values[key])):
                if name in asked.settable:
                    raise SpecError(f"--set {name}: the value is missing; write --set {name}=VALUE")
                close = get_close_matches(name, asked.settable, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(asked.settable)}"
                if equals and name:
                    raise SpecError(f"--set {name}: unknown key; {hint}")
                raise SpecError(f"--set: expected KEY=VALUE; {hint}")
            else:
                value = item
            if not value:
                raise SpecError(f"--set {key}: expected {asked.settable[key]}")
            values.setdefault(key, []).append(value)
    named = frozenset(values)
    found = {}
    file = asked.context.meta.get(options.SETTINGS)
    for key in options.KEYS:
        if key not in asked.settable:
            continue
        arguments = values.pop(key, None)
        if arguments is None and file is not None and key in file.values:
            arguments = [str(file.values[key])]
        if arguments is not None:
            if len(arguments) > 1:
                raise SpecError(f"--set {key}: expected one value, got {len(arguments)}")
            try:
                found[key] = options.resource(key, arguments[0])
            except ValueError:
                raise SpecError(f"--set {key}: expected {options.KEYS[key]}") from None
    return found, values, named


_DATA = (".parquet", ".csv", ".xlsx", ".dta", ".sav")


def output_of(asked: SharedOptions) -> tuple[str, Path | None, bool]:
    """The format, the file that ``--output`` names, and whether that is an HTML report.

    Raises:
        SpecError: no such file can be written.
    """
    form = str(asked.arguments.get("output_format", ""))
    path = asked.arguments.get("output_file")
    if path is None:
        return form, None, False
    refuse_directory(path, "--output")
    ending = path.suffix.lower()
    if ending == ".html" and asked.product == "result":
        if not asked.reports:
            raise SpecError(
                f"--output {path}: this command writes no HTML report; give another name, such as result.txt"
            )
        return form, path, True
    formats = [str(item) for item in asked.formats or ()]
    if ending in _DATA and asked.product == "result" and ending[1:] not in formats:
        raise SpecError(
            f"--output {path}: --output is for the result; set the file of the release in the spec: release: {{file: "
            f"{path.name}}}"
        )
    source = asked.context.get_parameter_source("output_format")
    named = options.LAST.get(ending)
    on_the_line = source is not None and source.name == "COMMANDLINE"
    if not on_the_line and named in formats:
        form = str(named)
    return form, path, False


def write_output(run: Session, path: Path, product: str, text: str) -> None:
    """Write what a verb prints into a file that its owner alone can read.

    Raises:
        SpecError: the file cannot be written; what was run before stands.
    """
    run.close()
    if text:
        write_for_owner(path, text, f"the {product}")
        run.message(f"{product}: {path}")


def refuse_directory(path: Path | None, option: str) -> None:
    """Refuse a path that no file can be written to, before anything is run.

    Raises:
        SpecError: it is a directory, or in none.
    """
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise SpecError(f"{option} {path}: expected a file in an existing directory")


def refuse_unshown(run: Session, distributions: bool) -> None:
    """Refuse to count distributions that nothing would show.

    Raises:
        SpecError: they are asked for without a report and without JSON.
    """
    if distributions and run.report_file is None and run.format != "json":
        raise SpecError("--show distributions needs --output PATH.html or --format json; add one of them")


def write_report(run: Session, page: str) -> None:
    """Write the HTML report that ``--output`` asks for into a file that its owner alone can read.

    Raises:
        SpecError: the file cannot be written; what was run before stands.
    """
    assert run.report_file is not None
    write_for_owner(run.report_file, page, "its report")
    run.message(f"report: {run.report_file}")


def write_for_owner(
    path: Path,
    text: str,
    what: str,
    advice: str = "write a report from the result's JSON or the manifest with kanon-sql report",
) -> None:
    """Write a file that its owner alone can read, after a run.

    Args:
        path: the file.
        text: what it holds.
        what: what that is, for a message.
        advice: what to do where it cannot be written.

    Raises:
        SpecError: it cannot be written; what was run before stands.
    """
    from kanon_sql.engines import write_private

    try:
        write_private(path, text if text.endswith("\n") else text + "\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(f"the run is complete, but {what} cannot be written to {path}: {reason}; {advice}") from None


def print_result(run: Session, result: Result, **options: bool) -> None:
    """Print a result as text or as JSON, once the progress is off the terminal."""
    run.close()
    print_output(run, result, **options)


def write_result_report(run: Session, result: Result) -> None:
    """Write the HTML report of a result, if one is asked for."""
    if run.report_file is not None:
        from kanon_sql.report.html import html_report

        write_report(run, html_report(result))


def manifest_path(text: str | None) -> Path | None:
    """Where ``--manifest`` says that the manifest goes as well.

    Raises:
        SpecError: no file can be written there.
    """
    if text is None:
        return None
    refuse_directory(Path(text), "--manifest")
    return Path(text)


def default_manifest(spec: Path, release: tuple[str, ...]) -> Path:
    """In the directory of a spec, named after the release, whatever characters that has."""
    name = re.sub(r"[^\w.-]+", "_", ".".join(release))
    return spec.absolute().parent / f"{name}.manifest.json"


def write_manifest(path: Path, manifest: Any) -> None:
    """Write what was published and how into a file that its owner alone can read.

    Raises:
        SpecError: the file cannot be written; the release stands.
    """
    from kanon_sql.engines import write_private
    from kanon_sql.report.json import to_json

    try:
        write_private(path, to_json(dict(manifest)) + "\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpecError(
            f"the release is published, but its manifest cannot be written to {path}: {reason}; kanon-sql report can "
            "read it from the database by the run's id"
        ) from None


def print_output(run: Session, found: Any, **named: Any) -> None:
    """Print what a verb found as text or as JSON, as ``--format`` says.

    Args:
        run: the session.
        found: its result.
        named: what its ``to_dict`` and its text take besides.
    """
    if run.format == "json":
        print_json(run, found.to_dict(**named))
    else:
        from kanon_sql.report.plain import text_of

        print_text(run, text_of(found, **named))


def print_json(run: Session, data: Any) -> None:
    """Print what a verb found as JSON."""
    from kanon_sql.report.json import to_json

    run.echo(to_json(data))


def print_text(run: Session, content: RenderableType) -> None:
    """Print what a verb found for a person to read."""
    from kanon_sql.report import layout

    with run.stdout():
        layout.print_text(content)


def exit_with(passed: bool) -> NoReturn:
    """End the verb: code 0, or 1 for requirements that are not met."""
    raise typer.Exit(int(ExitCode.PASS if passed else ExitCode.FAIL))
