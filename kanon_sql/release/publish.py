"""Publish a verified release: put it in the place of the old one, and leave a manifest.

Until the last step nothing stands under the release's name but what stood there before. A table that has the name and
the mark of a run (``Dialect.mark``, set once the table is verified) together with that run's row in the manifest is a
release of ours, and nothing else is: not a table that was made under the name later, nor one that was renamed.

Where DDL can be rolled back, the mark, dropping, renaming and the manifest are one transaction. Where it cannot, a
process may be killed between any two of these statements of run R, which publishes N:

    statement           state afterwards             what the next run, and ``clean``, find and do
    1 mark              scratch table of R, marked   N as before; clean drops the scratch table
    2 manifest          + R is pending               N as before; clean also removes R's row
    3 ledger (if any)   + R is entered               N as before; later releases of the ledger are refused until clean,
                                                     which takes the entry back
    4 rename or         N is R's table; the old      N is R's: the next run settles R and replaces it; clean settles R,
      exchange          release is a scratch table   and drops the old release
    5 settle            R is published               N is R's; clean drops the old release
    6 drop, forget      nothing is left              N is R's

Step 4 is one statement where the engine has one. Where it is two renames, a kill between them leaves no N: clean puts
the old release back, and drops it only where something stands under N. The manifest's row comes first and is settled
last, so that whatever the ledger or a name says of R, the manifest says that R is not done. No run takes a pending run
for published who has not seen its mark under its name.

An error or Ctrl-C goes the same way, and undoes it: the scratch table is dropped first, so that a rename that is still
on its way fails; then R's mark under N decides whether R is settled or withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from kanon_sql.engines import SCRATCH_TABLE, Engine, Workspace
from kanon_sql.errors import DatabaseError, Obstacle, SpecError, refuse
from kanon_sql.frequency import is_same_table
from kanon_sql.release.ledger import Addition
from kanon_sql.release.manifest import (
    MANIFEST_TABLE,
    MAX_PENDING,
    Kind,
    Record,
    kind_of,
    pending_records,
    recorded_state,
    release_key,
    scratch_name,
    was_published,
)
from kanon_sql.release.write import in_schema_of
from kanon_sql.spec import Origin, Spec
from kanon_sql.sql import Dialect, Relation, Statement

__all__ = [
    "HISTORY",
    "KEEP",
    "left_of_earlier",
    "mark_as_published",
    "name_obstacles",
    "open_to_others",
    "publish",
    "put_back",
    "refuse_foreign_release",
    "refuse_missing_schema",
    "rename",
    "replaced_run",
    "reveal",
    "settle_earlier",
]

KEEP = "recoding.save_as"
"""What names a kept recoding in a spec."""

HISTORY = "privacy.m_invariance.history"
"""What names the history of a sequence of releases in a spec."""

_KEYS: dict[Kind, str] = {"release": "release", "recoding": KEEP, "history": HISTORY, "perturbed": "release"}
_KINDS: dict[Kind, str] = {
    "release": "a release",
    "recoding": "a recoding that was kept",
    "history": "the history of a sequence of releases",
    "perturbed": "a perturbed release",
}

STANDS = "the release is nevertheless published under its name"
LEFT = "run kanon-sql clean --yes to remove what the run left"


def refuse_foreign_release(workspace: Workspace, spec: Origin, *, key: str = "release") -> str | None:
    """Refuse to replace a table or view that kanon_sql did not publish, or the source itself.

    Args:
        workspace: where.
        spec: names the release.
        key: what names it in the user's spec: ``release``, :data:`KEEP` or :data:`HISTORY`.

    Returns:
        The run whose release stands under the name; None when nothing does.

    Raises:
        SpecError: the source, or something else, stands under the release's name.
    """
    assert spec.release is not None
    release = spec.release
    wanted = "view" if isinstance(spec, Spec) and spec.release_view is not None and key == "release" else "table"
    refuse(_unfit_name(workspace.dialect, release, key))
    kind = workspace.engine.exists(release)
    if kind is None:
        return None
    shown = ".".join(release)
    if spec.source.table is not None and is_same_table(workspace.engine, spec.source.table, release):
        raise SpecError(f"{key}: {shown!r} is the source itself, which is never replaced; choose another name")
    # A plain name is looked up in several places, a manifest speaks for its own only.
    manifest = in_schema_of(release, MANIFEST_TABLE)
    shared_manifest = (
        kind == wanted
        and workspace.engine.shared(manifest.parts)
        and _place(workspace.engine, release) == _place(workspace.engine, manifest.parts)
    )
    if shared_manifest:
        run_id = _published_by(workspace, release, manifest)
        if run_id is not None:
            _refuse_other_use(run_id, shown, key)
            return run_id
        _refuse_recreated(workspace, release, manifest)
    if kind != wanted and (workspace.engine.mark(release) or workspace.engine.view_mark(release)) is not None:
        stands = "a guarded view" if kind == "view" else "a table of kanon_sql"
        raise SpecError(
            f"{key}: {shown!r} is {stands}, which a {wanted} cannot replace; choose another name, or drop it first"
        )
    raise SpecError(
        f"{key}: there is already a {kind} {shown!r} that kanon_sql did not publish; "
        "choose another name, or drop or rename it first"
    )


def name_obstacles(dialect: Dialect, spec: Origin) -> Iterator[Obstacle]:
    """Names that no lasting table can have.

    Args:
        dialect: of the engine.
        spec: names what is to be published.
    """
    if spec.release is None:
        return
    yield from _unfit_name(dialect, spec.release, "release")
    if isinstance(spec, Spec) and spec.recoding.save_as is not None:
        yield from _unfit_name(dialect, (spec.recoding.kept_in,), KEEP)
    if isinstance(spec, Spec) and spec.m_invariance is not None:
        yield from _unfit_name(dialect, spec.m_invariance.history[-1:], HISTORY)


def _unfit_name(dialect: Dialect, name: tuple[str, ...], key: str) -> Iterator[Obstacle]:
    """Why a table of this name does not last, or cannot be made; ``key`` names it in the spec."""
    if dialect.longest_name is not None:
        most, unit = dialect.longest_name
        if any(len(part.encode() if unit == "bytes" else part) > most for part in name):
            yield Obstacle(
                f"{key}: {dialect.name} takes names of {most} {unit} at most, and this one is longer; "
                "choose a shorter one",
                SpecError,
            )
    if dialect.of_session is not None and any(dialect.of_session.fullmatch(part) for part in name[:-1]):
        yield Obstacle(
            f"{key}: {'.'.join(name)!r} would be a temporary table, which vanishes with the connection; name "
            "another schema",
            SpecError,
        )


def _refuse_other_use(run_id: str, shown: str, key: str) -> None:
    """Refuse to put a release in the place of a kept recoding, or the other way round."""
    stands = kind_of(run_id)
    if key != _KEYS[stands]:
        other = next(kind for kind, its_key in _KEYS.items() if its_key == key)
        raise SpecError(
            f"{key}: {shown!r} is {_KINDS[stands]}, which a {other} cannot replace; choose another name, or drop "
            "it first"
        )


def _published_by(workspace: Workspace, release: tuple[str, ...], manifest: Relation) -> str | None:
    """The run that wrote the table under a name, if its manifest says that it published it there, or was about to."""
    run_id = workspace.engine.mark(release) or workspace.engine.view_mark(release)
    if run_id is None:
        return None
    key = release_key(workspace.engine, release)
    return None if recorded_state(workspace, manifest, key, run_id) is None else run_id


def _refuse_recreated(workspace: Workspace, release: tuple[str, ...], manifest: Relation) -> None:
    """Say why a table is not replaced although a manifest has its name."""
    key = release_key(workspace.engine, release)
    (named,) = workspace.row("release/manifest/named", table=manifest, release_name=key)
    if not named or workspace.engine.exists(release) == "view":
        return
    mark = workspace.dialect.mark(release, "RUN")
    raise SpecError(
        f"release: the table {'.'.join(release)!r} is not the one that kanon_sql published under this name: it "
        "was created again, or has lost its mark; drop or rename it, or choose another name. If it is the "
        f"release, restored or with a new comment, mark it again, with its run_id from {MANIFEST_TABLE} in place "
        f"of RUN: {mark}"
    )


def _place(engine: Engine, name: tuple[str, ...]) -> tuple[str, ...] | None:
    """Where what stands under a name is: its full name without the last part."""
    found = engine.full_name(name)
    return None if found is None else found[:-1]


def replaced_run(
    workspace: Workspace, spec: Origin, written: Relation, replacing: tuple[str | None] | None
) -> str | None:
    """The run whose release has to make room. Asked once more: any user may have used the name since the run began.

    Raises:
        SpecError: something else stands there now, or the earlier release is where the new one would not be.
        DatabaseError: it went away just now, or another run's stands there than the new one was made of.
    """
    assert spec.release is not None
    engine = workspace.engine
    run_id = refuse_foreign_release(workspace, spec, key=_KEYS[kind_of(workspace.run_id)])
    if replacing is not None and replacing != (run_id,):
        raise DatabaseError(
            f"another run has replaced {spec.release[-1]!r} since this run read it; nothing was published: run it again"
        )
    if run_id is None:
        return None
    old, new = _place(engine, spec.release), _place(engine, written.parts)
    shown = spec.release[-1]
    if old is None and new is not None:
        raise DatabaseError(
            f"release: {shown!r} was dropped before this run could replace it: another run is publishing under "
            "this name, or another user dropped it; nothing was published: run it again"
        )
    if old != new:
        raise SpecError(
            f"release: {shown!r} was published in {'.'.join(old or ())}, but this connection makes new tables in "
            f"{'.'.join(new or ())}; write the name with its schema"
        )
    return run_id


def publish(
    workspace: Workspace,
    spec: Origin,
    written: Relation,
    manifest: Mapping[str, Any],
    addition: Addition | None = None,
    *,
    unseen: bool = False,
    replacing: tuple[str | None] | None = None,
) -> None:
    """Give the verified table the release's name, record its manifest, and enter it into a ledger if there is one.

    Args:
        workspace: where.
        spec: what is released.
        written: the verified table.
        manifest: what to record of it.
        addition: the ledger's entry.
        unseen: there is no database to look into; the statements replace an earlier release, if there is one.
        replacing: the run whose table alone may be replaced (None in it for no table at all); by default any.

    Raises:
        SpecError: what now stands under the release's name may not be replaced; nothing was published.
        DatabaseError: another release was entered into the ledger since it was read, and nothing was published; or
            the database refused, and the message says what stands.
    """
    assert spec.release is not None
    workspace.engine.refuse_shadowed_functions()  # the verification has called them
    workspace.report("publishing", None)
    table = in_schema_of(spec.release, MANIFEST_TABLE)
    workspace.create_shared("release/manifest/create", table)
    if addition is not None:
        addition.create(workspace)
    record = Record(workspace, table, workspace.run_id)
    if not workspace.capabilities.transactional_ddl:
        _InSteps(workspace, spec, written, manifest, addition, record, replacing).publish()
        return
    with workspace.engine.transaction():
        if not unseen:
            workspace.hold(table, *([] if addition is None else [addition.table]))
        if addition is not None:
            addition.take_turn(workspace)
        mark_as_published(workspace, written)
        if unseen or replaced_run(workspace, spec, written, replacing) is not None:
            workspace.execute("engines/scratch/drop", target=Relation(spec.release))
        rename(workspace, written.parts, spec.release[-1])
        open_to_others(workspace, spec.release)
        if addition is not None:
            addition.enter(workspace)
        record.publish(spec, manifest)


MOST_SCHEMAS = 100_000
"""More schemas of a database are an error."""


def refuse_missing_schema(workspace: Workspace, schema: tuple[str, ...]) -> None:
    """Refuse to publish into a schema that is not there; none is made.

    Args:
        workspace: where.
        schema: one part, or a database and a schema.

    Raises:
        SpecError: it is not there.
    """
    dialect, fold = workspace.dialect, workspace.capabilities.folded
    if dialect.schemas is None:
        return
    rows = workspace.query(Statement("release/schemas", dialect.schemas, quoted=dialect.quoted), MOST_SCHEMAS)
    wanted = tuple(map(fold, schema))
    there = [(fold(str(database)), fold(str(name))) for database, name in rows]
    found = any(wanted in ((database,), (name,), (database, name)) for database, name in there)
    if not found:
        shown = ".".join(schema)
        raise SpecError(f"release.schema: there is no schema {shown!r}; create it first, or name another one")


def left_of_earlier(workspace: Workspace, schema: tuple[str, ...], names: Sequence[str]) -> list[str]:
    """Tables that earlier releases of the same tables published beside them, and that still stand.

    Args:
        workspace: where.
        schema: of the releases.
        names: the tables that are about to be published there.
    """
    manifest, fold = Relation((*schema, MANIFEST_TABLE)), workspace.capabilities.folded
    if not workspace.engine.shared(manifest.parts):
        return []
    own = [fold(name) for name in names]
    rows = workspace.fetch("release/manifest/joined", MAX_PENDING, table=manifest, names=own)
    runs: dict[str, set[str]] = {}
    for name, run_id in rows:
        runs.setdefault(str(name), set()).add(str(run_id))
    return sorted(name for name, those in runs.items() if workspace.engine.mark((*schema, name)) in those)


def open_to_others(workspace: Workspace, release: tuple[str, ...]) -> None:
    """Give others the rights that default privileges say, which the table was made without.

    A history, or a recoding that is kept, may hold values of the source: who may read one is for its owner to say.
    """
    if kind_of(workspace.run_id) not in ("release", "perturbed"):
        return
    if rights := workspace.engine.default_rights(release):
        workspace.run(Statement("release/rights", "; ".join(rights), quoted=workspace.dialect.quoted))


def mark_as_published(workspace: Workspace, written: Relation, number: int = 0) -> None:
    """Let the table say whose it is, now that it is verified.

    Raises:
        DatabaseError: it cannot, so that no later run would know it again.
    """
    dialect = workspace.dialect
    # Where an index is the mark, those of one run need names of their own; what follows the id is not read.
    sql = dialect.mark(written.parts, f"{workspace.run_id} {number}" if number else workspace.run_id)
    try:
        workspace.run(Statement("release/mark", sql, quoted=dialect.quoted))
    except DatabaseError as error:
        raise DatabaseError(
            f"{error}; nothing was published: a release must carry the mark of its run, since a later run "
            "replaces only marked tables. Release into a schema whose tables can have a comment, with the right "
            "to alter tables there"
        ) from None


def reveal(workspace: Workspace, made: Relation) -> None:
    """Put a verified table where it is to be; where others may read a schema, it was one of the session until now."""
    try:
        for sql in workspace.engine.reveal(made.parts):
            workspace.run(Statement("release/reveal", sql, quoted=workspace.dialect.quoted))
    except BaseException:
        with workspace.engine.without_deadline(), suppress(DatabaseError):  # the session's comes first, then this
            workspace.execute("engines/scratch/drop", target=made)
        raise


def settle_earlier(workspace: Workspace, manifest: Relation, run_id: str) -> None:
    """A run that was cut off after all of its releases got their names did publish them."""
    items = [item for item in pending_records(workspace, manifest) if item.run_id == run_id]
    if items and was_published(workspace.engine, manifest.parts[:-1], items):
        Record(workspace, manifest, run_id).settle(items[0].published_at)


@dataclass(frozen=True)
class _InSteps:
    """Publishing where DDL cannot be rolled back."""

    workspace: Workspace
    spec: Origin
    made: Relation
    """The verified table, which may be one of the session."""
    manifest: Mapping[str, Any]
    addition: Addition | None
    record: Record
    replacing: tuple[str | None] | None

    @property
    def written(self) -> Relation:
        """The verified table, once it is in no session any more."""
        return in_schema_of(self.release, self.made.parts[-1])

    @property
    def release(self) -> tuple[str, ...]:
        assert self.spec.release is not None
        return self.spec.release

    @property
    def aside(self) -> Relation:
        """Where an old release is left."""
        return in_schema_of(self.release, scratch_name(self.workspace.run_id, "old", None))

    def publish(self) -> None:
        """Steps 1 to 6."""
        workspace = self.workspace
        reveal(workspace, self.made)
        mark_as_published(workspace, self.written)
        old = replaced_run(workspace, self.spec, self.written, self.replacing)
        if old is not None:
            settle_earlier(workspace, self.record.table, old)
        try:
            self.record.announce(self.spec, self.manifest)
            if self.addition is not None:
                self.addition.announce(workspace)
            if old is None:
                rename(workspace, self.written.parts, self.release[-1])
            else:
                self._exchange()
            self.record.settle(self.manifest["published_at"])
        except BaseException as error:
            self._fail(error, old)
        if old is not None:
            try:
                self._drop_old()
            except DatabaseError as error:
                raise type(error)(f"{error}; {STANDS}; {LEFT}") from None

    def _exchange(self) -> None:
        """Put the new release in the place of the old one, in as few steps as the engine knows."""
        workspace = self.workspace
        workspace.record(self.aside, in_schema_of(self.release, SCRATCH_TABLE))
        self._replace(self.written, self.aside)
        if self.replacing is None:
            return
        # Another run may have published since the name was looked at, and nothing here can lock it: what went is known
        # only now. With both, a reader would see rows of one run come, go, and come again in other classes.
        engine = workspace.engine
        old, free = self.written, self.aside
        if engine.exists(old.parts) is None:
            old, free = free, old
        if (engine.mark(old.parts),) != self.replacing:
            self._replace(old, free)
            raise DatabaseError(
                f"another run published {self.release[-1]!r} while this run was replacing it; that release is "
                "back under its name, and this run's was dropped: run it again"
            )

    def _replace(self, table: Relation, aside: Relation) -> None:
        workspace, dialect = self.workspace, self.workspace.dialect
        for sql in dialect.replace(table.parts, self.release, aside.parts):
            workspace.run(Statement("release/replace", sql, quoted=dialect.quoted))

    def _fail(self, error: BaseException, old: str | None) -> NoReturn:
        """Undo what can be undone, and raise the error, which says so if the release stands nevertheless."""
        stands, done = None, False
        with self.workspace.engine.without_deadline(), suppress(DatabaseError):
            self.workspace.execute("engines/scratch/drop", target=self.written)
            if old is not None:
                put_back(self.workspace, self.aside, self.release)
            stands = self.workspace.engine.mark(self.release) == self.workspace.run_id
            self._end(stands, old)
            done = True
        if not isinstance(error, DatabaseError) or (done and not stands):
            raise error
        what = STANDS if stands else "it is unknown which release has the name now"
        raise type(error)(f"{error}; {what}" if done else f"{error}; {what}; {LEFT}") from None

    def _end(self, stands: bool, old: str | None) -> None:
        """Let manifest and ledger say what became of it."""
        if stands:
            self.record.settle(self.manifest["published_at"])
            if old is not None:
                self._drop_old()
            return
        if self.addition is not None:
            self.addition.withdraw(self.workspace)
        self.record.withdraw()
        if old is not None and self.workspace.engine.exists(self.aside.parts) is None:  # else clean has to find it
            self._forget_old()

    def _drop_old(self) -> None:
        self.workspace.execute("engines/scratch/drop", target=self.aside)
        self._forget_old()

    def _forget_old(self) -> None:
        self.workspace.forget(self.aside, in_schema_of(self.release, SCRATCH_TABLE))


def put_back(workspace: Workspace, aside: Relation, release: tuple[str, ...]) -> bool:
    """Give an old release its name again, if nothing has it. Returns whether it did."""
    engine = workspace.engine
    if engine.exists(release) is not None or engine.exists(aside.parts) is None:
        return False
    rename(workspace, aside.parts, release[-1])
    return True


def rename(workspace: Workspace, table: tuple[str, ...], name: str) -> None:
    """Give a table another name in its schema."""
    dialect = workspace.dialect
    workspace.run(Statement("release/rename", dialect.rename(table, name), quoted=dialect.quoted))
