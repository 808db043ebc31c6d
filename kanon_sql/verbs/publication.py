"""From what a search or a recoding found to a published release: write, verify, compare, publish, and say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from kanon_sql.evaluate import Chosen, NothingFound, NothingToSearch, Rows, rows_in_words
from kanon_sql.recode import RecodingResult
from kanon_sql.release import (
    Choice,
    Entry,
    JointVerdict,
    WrittenTable,
    addition,
    compared,
    publish,
    publish_file,
    publish_view,
    staged_release,
)
from kanon_sql.verbs.classify import classified
from kanon_sql.verbs.details import with_statements
from kanon_sql.verbs.distributions import details_of
from kanon_sql.verbs.manifest_builder import choice_of, manifest_of
from kanon_sql.verbs.preflight import Options
from kanon_sql.verbs.recoding_comparison import mean_loss_of, notes_of_local
from kanon_sql.verbs.result import LedgerSummary, PublishedRelease, Release, unpublished, unreleased
from kanon_sql.verbs.run import Run
from kanon_sql.verbs.steps import AppliedSteps, notes_of_steps, steps_dict
from kanon_sql.verbs.warnings import failed_by, warnings_of_release

if TYPE_CHECKING:
    from kanon_sql.recode import KeptRecoding

__all__ = ["Publication"]

K = TypeVar("K", bound=PublishedRelease)


@dataclass(frozen=True)
class Publication(Generic[K]):
    """A release under way.

    Attributes:
        kind: of the result.
        run: the run.
        options: what to count, and whether a warning is an error.
        earlier: the releases of the ledger; None without a ledger.
        applied: the recoding that was applied, where none was looked for.
        remember: keeps what later refreshes need, right before the release is published, and says so.
    """

    kind: type[K]
    run: Run
    options: Options
    earlier: Sequence[Entry] | None = None
    applied: KeptRecoding | None = None
    remember: Callable[[Choice, WrittenTable], str] | None = None

    def released(
        self, found: NothingToSearch | NothingFound | Chosen | RecodingResult, *, refused: int | None = None
    ) -> tuple[K, JointVerdict | None]:
        """What the search found, published; or why not.

        Args:
            found: the search.
            refused: the search was held at the levels of the earlier releases, or above, and this many nodes were
                compared there before; None where it was not.
        """
        more, together = details_of(found, self.options.counted), None
        if isinstance(found, NothingToSearch | NothingFound):
            result = unreleased(self.kind, found, f"nothing was published: {found.failure()}")
            return replace(result, details=more, notes=[*found.workspace.engine.read_notes, *result.notes]), None
        metrics, rows = found.metrics(), found.rows()
        choice = choice_of(found, rows["suppressed"])
        utility = classified(found)
        steps = steps_dict(found.workspace.engine, found.spec, rows["source"])
        with staged_release(found.workspace, choice) as written:
            if isinstance(found, Chosen) and self.earlier is not None:
                together = compared(found, written, self.earlier, refused=refused)
            warned = warnings_of_release(found, choice, written)
            result = replace(
                self._described(found, written, rows, steps),
                metrics=metrics,
                utility=utility,
                warnings=warned,
                details=with_statements(more, self.run.meter.log),
                ledger=None if together is None else _ledger(together),
            )
            why = failed_by(found.spec, result.warnings, on_any=self.options.fail_on_warning)
            if why is None and together is not None and not together.passed:
                assert found.spec.ledger is not None, "it was compared with the releases of one"
                why = together.failure()
                result = replace(result, notes=[*result.notes, *together.remedies(found.spec.ledger.on_conflict)])
            if why is None:
                result = self._published(result, found, choice, written)
        if why is None:
            result = replace(result, notes=[*result.notes, *_kept(found)])
        return result if why is None else unpublished(result, why), together

    def _described(
        self, found: Chosen | RecodingResult, written: WrittenTable, rows: Rows, steps: AppliedSteps | None
    ) -> K:
        """What is said of a release that was written and verified."""
        counted = {**rows, "masked": written.masked} if written.masked else rows
        result = self.kind(
            verdict="pass",
            message=_message(found, counted, written),
            release=found.spec.shown,
            node=found.node_dict(found.node) if isinstance(found, Chosen) else None,
            rows=counted,
            classes=written.examination.classes_dict(),
            class_sizes=written.examination.sizes,
            achieved=written.examination.achieved_dict(),
            metrics={},
            max_suppressed=found.prepared.max_suppressed,
            mean_loss=mean_loss_of(found),
            search=found.summary() if isinstance(found, Chosen) else None,
            cost=self.run.cost,
            notes=[
                *found.workspace.engine.read_notes,
                *found.notes,
                *notes_of_steps(steps),
                *notes_of_local(found),
                *written.all_notes,
            ],
            recoding=found.to_dict() if isinstance(found, RecodingResult) else None,
            steps=steps,
            level_names=found.level_names,
        )
        if isinstance(result, Release) and isinstance(found, Chosen):
            return replace(result, intervals=found.intervals)
        return result

    def _published(self, result: K, found: Chosen | RecodingResult, choice: Choice, written: WrittenTable) -> K:
        """Publish what was verified, as a table, a file or a view; the result with its manifest."""
        workspace = found.workspace
        if self.remember is not None:
            result = replace(result, notes=[*result.notes, self.remember(choice, written)])
        manifest = manifest_of(found.spec, workspace, result, file=written.file, applied=self.applied)
        entry = None
        if isinstance(found, Chosen) and self.earlier is not None:
            entry = addition(found, written, self.earlier, result.rows)
        if found.spec.release_view is not None:
            publish_view(workspace, choice, manifest)
        elif written.file is None:
            if self.options.comments:
                from kanon_sql.verbs.evidence import comment_on_written

                workspace.report("writing comments on the columns", None)
                comment_on_written(workspace.engine, found.spec, written.table, written.rows, manifest)
            publish(workspace, found.spec, written.table, manifest, entry)
        else:
            workspace.report("publishing", None)
            workspace.engine.refuse_shadowed_functions()  # the verification has called them
            publish_file(written.file, manifest)
        return replace(result, manifest=manifest)


def _ledger(found: JointVerdict) -> LedgerSummary:
    """What the release and those of its ledger tell together, as it stands in results."""
    joint = found.joint
    return {
        "table": found.table,
        "earlier": [entry.name for entry in found.earlier],
        "coarsened": found.coarsened,
        "refused": found.refused,
        "changed": [] if joint is None else list(joint.changed),
        "classes": joint.examinations[0].classes_dict() if joint is not None and joint.examinations else {},
        "achieved": {} if joint is None else {item.model.label: item.to_dict() for item in joint.achieved},
    }


def _kept(found: Chosen | RecodingResult) -> Sequence[str]:
    """Keep the recoding of what was published, if the spec says so; what to say of it."""
    if found.spec.recoding.save_as is None:
        return ()
    from kanon_sql.recode import CellsResult
    from kanon_sql.release import keep

    if isinstance(found, Chosen):
        return [keep(found.workspace, found.spec, found.node, found.node_dict(found.node))]
    node = found.node_dict(found.node) if isinstance(found, CellsResult) else None
    return [keep(found.workspace, found.spec, found.mapped, node)]


def _message(found: Chosen | RecodingResult, rows: Rows, written: WrittenTable) -> str:
    dropped = written.note is not None  # what says why
    return (
        f"published {rows['released']:,} of {rows_in_words(rows['source'])}, verified for "
        f"{', '.join(model.label for model in found.models)}; {rows_in_words(rows['suppressed'])} suppressed"
        f"{', and dropped instead of masked' if dropped else ''}"
    )
