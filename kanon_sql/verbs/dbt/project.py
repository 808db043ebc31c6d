"""``dbt``: search, and write the chosen release into a dbt project. The dbt package itself is in ``dbt/``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from kanon_sql.engines import Engine, Reporter, write_private
from kanon_sql.errors import SpecError, refuse
from kanon_sql.evaluate import Budget, Chosen, searched
from kanon_sql.frequency import source_of
from kanon_sql.release import refuse_unordered
from kanon_sql.spec import Spec, read_yaml
from kanon_sql.verbs.dbt.files import MARK, files_of
from kanon_sql.verbs.dbt.growing import INCREMENT
from kanon_sql.verbs.growth_state import watermark_of
from kanon_sql.verbs.manifest_builder import choice_of
from kanon_sql.verbs.plan import plan
from kanon_sql.verbs.preflight import Options, obstacles
from kanon_sql.verbs.result import Plan
from kanon_sql.verbs.run import running
from kanon_sql.verbs.warnings import failed_by, warnings_of_planned

__all__ = ["DbtResult", "dbt"]


@dataclass(frozen=True)
class DbtResult:
    """What was found and written.

    Attributes:
        plan: the search's result.
        files: the files that were written, in the project; none when nothing satisfies.
    """

    plan: Plan
    files: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """One JSON-compatible object."""
        return {"verb": "dbt", "plan": self.plan.to_dict(), "files": [str(path) for path in self.files]}


def dbt(
    engine: Engine,
    spec: Spec,
    project: Path,
    *,
    source: str | None = None,
    timeout: float | None = None,
    report: Reporter | None = None,
    budget: Budget | None = None,
) -> DbtResult:
    """Search for the best generalization and write it as models, seeds and tests of a dbt project.

    Args:
        engine: from :func:`kanon_sql.connect`, on the database that dbt builds in; read-only is enough.
        spec: what to release. Its release is the model's name.
        project: the directory of ``dbt_project.yml``.
        source: how models refer to the source: ``ref('...')`` or ``source('...', '...')``; None to declare it.
        timeout: seconds for the search; None for no limit.
        report: called with each stage in plain words.
        budget: when to end the search early, at the best node found so far.

    Raises:
        SpecError: the spec asks for what a dbt release cannot be; the directory is no dbt project; a file that
            would be written over is not ours.
        UnsupportedError: dbt's package has no adapter for this engine.
        KanonError: whatever the search raises.
    """
    refuse(obstacles(engine, spec, "dbt", Options(source=source)))
    models, seeds = _directories(project)
    _refuse_growing(spec, project / models)
    watermark = watermark_of(spec)
    if watermark is not None:
        with running(engine, timeout, report):
            refuse_unordered(engine, {item.name: item for item in engine.columns(source_of(engine, spec))}, watermark)
    result = plan(engine, spec, timeout=timeout, report=report, budget=budget)
    if result.node is None:
        return DbtResult(result, ())
    result = _with_warnings(engine, spec, result, result.node, timeout, report)
    if not result.passed or result.node is None:
        return DbtResult(result, ())
    with running(engine, timeout, report):
        columns = {column.name: column for column in engine.columns(source_of(engine, spec))}
        tables = {
            name: [column.name for column in engine.columns(engine.dialect.relation(item.table))]
            for name, item in spec.quasi_identifiers.items()
            if item.table is not None
        }
    assert result.level_names is not None
    texts = files_of(spec, columns, tables, result.node, result.level_names, engine.dialect, source, models, seeds)
    return DbtResult(result, _write(project, texts))


def _with_warnings(
    engine: Engine, spec: Spec, result: Plan, node: Mapping[str, int], timeout: float | None, report: Reporter | None
) -> Plan:
    """The result with what should be known of the release: dbt writes it, and looks for no warnings."""
    if engine.scratch.mode == "inline":
        why = (
            f"only the warnings of plan were computed, since the others need a scratch table ({engine.scratch.reason})"
        )
        return replace(result, notes=[*result.notes, why])
    held = {
        name: column.model_copy(update={"minimum_level": node[name], "maximum_level": node[name]})
        for name, column in spec.quasi_identifiers.items()
    }
    there = spec.model_copy(update={"quasi_identifiers": held, "search": type(spec.search)(metric="loss")})
    with running(engine, timeout, report), searched(engine, there) as found:
        if not isinstance(found, Chosen):
            return result
        warned = warnings_of_planned(found, choice_of(found, found.rows()["suppressed"]))
    warned += [item for item in result.warnings if item.code not in {other.code for other in warned}]
    if (fatal := failed_by(spec, warned, on_any=False)) is not None:
        return replace(result, verdict="fail", message=f"nothing was written: {fatal}", warnings=warned)
    return replace(result, warnings=warned)


def _refuse_growing(spec: Spec, models: Path) -> None:
    """Refuse to write over the models of a release that grows, or to let one grow that was built otherwise."""
    assert spec.release is not None
    path = models / spec.release[-1] / f"{spec.release[-1]}.sql"
    try:
        written = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError):
        written = ""  # which is not ours, and is refused for that
    if INCREMENT in written:
        raise SpecError(
            f"{path} belongs to a growing release, whose levels must not change: other levels would show what was "
            "hidden. Remove its models if nothing was built from them; otherwise use another release name"
        )
    if spec.state is not None and MARK in written:
        raise SpecError(
            f"{path} belongs to a release that every build replaces, and a growing release is never replaced; remove "
            "its models and its table, or use another release name"
        )


def _directories(project: Path) -> tuple[PurePosixPath, PurePosixPath]:
    """Where the project's models and seeds are."""
    path = project / "dbt_project.yml"
    if not path.is_file():
        raise SpecError(f"--output {project}: expected the directory of a dbt_project.yml")
    try:
        written = read_yaml(path.read_text("utf-8-sig"), str(path)).data
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot read {path}: {type(error).__name__}; expected a text file in UTF-8") from None
    found = []
    for key, default in (("model-paths", "models"), ("seed-paths", "seeds")):
        paths = written.get(key, [default]) if isinstance(written, dict) else [default]
        if not isinstance(paths, list) or not paths or not isinstance(paths[0], str):
            raise SpecError(f"{path}: {key}: expected a list of directories")
        found.append(PurePosixPath(paths[0]))
    return found[0], found[1]


def _write(project: Path, texts: dict[PurePosixPath, str]) -> tuple[Path, ...]:
    """All files or none, and none that is not ours."""
    ours = any(path.suffix == ".yml" and _is_ours(project / path) for path in texts)
    for path in texts:
        target = project / path
        # A seed has no place for a mark: it is ours when the properties that describe it are.
        if target.exists() and not (ours if path.suffix == ".csv" else _is_ours(target)):
            raise SpecError(
                f"{target} is there and was not written by kanon-sql pipeline dbt; move it, or rename the release"
            )
    written = []
    for path, text in texts.items():
        target = project / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".csv":  # a seed holds values of the source
                write_private(target, text)
            else:
                target.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise SpecError(
                f"cannot write {target}: {error.strerror or type(error).__name__}; the files before it were written, "
                "and the next run writes them again"
            ) from None
        written.append(target)
    return tuple(written)


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return MARK in file.readline()
    except (OSError, UnicodeDecodeError):
        return False
