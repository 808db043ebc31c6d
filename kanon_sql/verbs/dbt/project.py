"""``dbt``: search, and write the chosen release into a dbt project. The dbt package itself is in ``dbt/``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from kanon_sql.engines import Deadline, Engine, Reporter, write_private
from kanon_sql.errors import Obstacle, Problem, SpecError, refuse
from kanon_sql.evaluate import Budget, Chosen, searched
from kanon_sql.frequency import source_of
from kanon_sql.release import refuse_unordered
from kanon_sql.spec import Requirement, Spec, read_yaml
from kanon_sql.verbs.dbt.files import ADAPTERS, MARK, REQUIREMENTS, files_of
from kanon_sql.verbs.dbt.growing import INCREMENT, unfit_to_grow
from kanon_sql.verbs.dbt.labels import LEFT_OUT
from kanon_sql.verbs.growth_state import watermark_of
from kanon_sql.verbs.manifest_builder import choice_of
from kanon_sql.verbs.plan import plan
from kanon_sql.verbs.preflight import (
    fatal_warning_obstacles,
    local_obstacles,
    step_obstacles,
    view_release_obstacles,
)
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.warnings import failed_by, warnings_of_planned

__all__ = ["DbtResult", "dbt"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARTS = r"""(?:'[\w.-]+'|"[\w.-]+")"""
_SOURCE = re.compile(rf"(?:ref|source)\(\s*{_PARTS}(?:\s*,\s*{_PARTS})?\s*\)")


@dataclass(frozen=True)
class DbtResult:
    """What was found and written.

    Attributes:
        plan: the search's result.
        files: the files that were written, in the project; none when nothing satisfies.
    """

    plan: Result
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
    refuse(_obstacles(engine, spec))
    problems = [*_unfit(spec), *unfit_to_grow(spec, engine.dialect.name)]
    if source is not None and not _SOURCE.fullmatch(source):
        problems.append(Problem("--source: expected ref('model') or source('name', 'table')"))
    if problems:
        raise SpecError(problems)
    models, seeds = _directories(project)
    _refuse_growing(spec, project / models)
    watermark = watermark_of(spec)
    if watermark is not None:
        with engine.run(Deadline(timeout)):
            refuse_unordered(engine, {item.name: item for item in engine.columns(source_of(engine, spec))}, watermark)
    result = plan(engine, spec, timeout=timeout, report=report, budget=budget)
    if result.node is None:
        return DbtResult(result, ())
    result = _with_warnings(engine, spec, result, result.node, timeout, report)
    if not result.passed or result.node is None:
        return DbtResult(result, ())
    with engine.run(Deadline(timeout)):
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
    engine: Engine, spec: Spec, result: Result, node: Mapping[str, int], timeout: float | None, report: Reporter | None
) -> Result:
    """The result with what should be known of the release: dbt writes it, and looks for no warnings."""
    if engine.scratch.mode == "inline":
        why = f"only warnings of the plan were looked for, since others take a scratch table ({engine.scratch.reason})"
        return replace(result, notes=[*result.notes, why])
    held = {
        name: column.model_copy(update={"minimum_level": node[name], "maximum_level": node[name]})
        for name, column in spec.quasi_identifiers.items()
    }
    there = spec.model_copy(update={"quasi_identifiers": held, "search": type(spec.search)(metric="loss")})
    with engine.run(Deadline(timeout)), searched(engine, there, report) as found:
        if not isinstance(found, Chosen):
            return result
        warned = warnings_of_planned(found, choice_of(found, found.rows()["suppressed"]))
    warned += [item for item in result.warnings if item.code not in {other.code for other in warned}]
    if (fatal := failed_by(spec, warned, on_any=False)) is not None:
        return replace(result, verdict="fail", message=f"nothing was written: {fatal}", warnings=warned)
    return replace(result, warnings=warned)


def _unfit(spec: Spec) -> Iterator[Problem]:
    """What of a spec a dbt release cannot be."""
    if spec.release is None or len(spec.release) > 1 or not _NAME.fullmatch(spec.release[0]):
        yield Problem(
            "release: expected a plain name of letters, digits and _, the model's; dbt decides on its schema "
            "(schema: in dbt_project.yml)"
        )
    if spec.source.table is None:
        yield Problem("source: dbt reads tables; make the query or file a model, and name its table here")
    if spec.suppression.style == "mask":
        yield Problem("suppression.style: a dbt release drops suppressed rows; expected drop")
    if spec.ledger is not None:
        yield Problem("ledger: dbt builds the release, which is neither compared nor recorded; publish with anonymize")
    if spec.recoding.save_as is not None:
        yield Problem("recoding.save_as: the model that is written is the recoding, and dbt builds it; leave it out")
    for column, hierarchy in spec.quasi_identifiers.items():
        if hierarchy.as_ != "text":
            yield Problem(
                f"quasi_identifiers.{column}.as: the models of a dbt release are labels, and its tests judge no "
                f"columns beside them; leave it out and compute {hierarchy.as_} from the label in a model after this "
                "one, or publish with anonymize"
            )
    for item in spec.privacy:
        reason = _untested(item)
        if reason is not None:
            yield Problem(
                f"privacy: the dbt package does not test {reason}, and a release that no build tests is none; leave it "
                "out, or publish with anonymize"
            )
    named = [
        *spec.quasi_identifiers,
        *spec.sensitive,
        *spec.keep,
        *spec.identifiers,
        *([spec.unit] if spec.unit else []),
    ]
    tables = [spec.source.table or ()]
    tables += [item.table for item in spec.quasi_identifiers.values() if item.table is not None]
    if any("{" in name for name in [*named, *(part for parts in tables for part in parts)]):
        yield Problem("a name holds a brace, which dbt would take for Jinja; rename it in a model before this one")
    if any(name.lower() == LEFT_OUT for name in named):
        yield Problem(
            f"the column {LEFT_OUT!r} is one of the labelled model's own; rename it in a model before this one"
        )


def _obstacles(engine: Engine, spec: Spec) -> Iterator[Obstacle]:
    """What no project of dbt's holds."""
    yield from step_obstacles(spec, "a dbt project")
    yield from view_release_obstacles(spec)
    yield from fatal_warning_obstacles(spec, "a dbt project")
    yield from local_obstacles(
        spec,
        "dbt",
        f"its models apply one level per column, and with recoding: {spec.recoding.method} the labels of a row are "
        "those of its class, which no seed holds (kanon-sql anonymize publishes such a release, and a dbt project can "
        "declare it as a source)",
    )
    if engine.dialect.name not in ADAPTERS:
        yield Obstacle(
            f"the dbt package has no adapter for {engine.dialect.name}; expected one of {', '.join(ADAPTERS)}"
        )


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
            f"{path} is of a release that grows, at the levels that it began with; others would show what was hidden. "
            "Take its models away if nothing was built of them; else release under another name"
        )
    if spec.state is not None and MARK in written:
        raise SpecError(
            f"{path} is of a release that is made again by every build, and one that grows never is; take its models "
            "and its table away, or release under another name"
        )


def _untested(requirement: Requirement) -> str | None:
    """What of a requirement the dbt package has no test for; None where it tests it as the search does."""
    ((name, parameters),) = requirement.to_dict().items()
    if name not in REQUIREMENTS:
        return f"{name} (expected {', '.join(REQUIREMENTS)})"
    if parameters.get("estimator") == "grassberger":
        return f"{name} by an estimate"
    if parameters.get("variant") == "npd_recursive":
        return f"{name} of the npd_recursive variant"
    if parameters.get("distance", "equal") != "equal":
        return f"{name} of the {parameters['distance']} distance"
    others = [key for key in ("column", "quasi_identifiers", "others_as_quasi_identifiers") if parameters.get(key)]
    return f"{name} with {others[0]}" if others else None


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
                f"cannot write {target}: {error.strerror or type(error).__name__}; those before it are written, and "
                "are written again"
            ) from None
        written.append(target)
    return tuple(written)


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return MARK in file.readline()
    except (OSError, UnicodeDecodeError):
        return False
