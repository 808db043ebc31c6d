"""A release that is a file: written beside its place, read back and verified, and put there by one rename.

What is verified is what the file says: it is read into a table of the session, whose classes are examined as those of
any release, and whose rows have to be those that were to be written. The rename is atomic, so that under the release's
name stands the old file or the new one, whole. Beside it stands its manifest, ``NAME.manifest.json``, with the file's
SHA-256: by that a later run knows what it may replace. A process may be killed between any two of these steps of run R:

    step                   state afterwards                        what the next run finds and does
    1 write, verify        a hidden directory of R beside it       the release as before; removes the directory
    2 write the manifest   a hidden manifest of R as well          the same
    3 rename the file      the file is R's, its manifest is not    knows the file by the hidden manifest, and renames it
    4 rename the manifest  both are R's                            knows the file by its manifest

Runs that publish in one directory wait for each other, where the operating system can lock a directory; there alone it
is sure that what a run left is of a dead one, and is removed. The hidden file is in a directory of its own that its
owner alone can open, from before it is there: what is not verified is for no other user to read, however the engine
makes files. Under the release's name it has the mode that it was made with, or that of the file it replaces. So has its
manifest, which counts no classes and no labels of the source.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kanon_sql.engines import Engine, Workspace, csv_fault, misread, open_workspace, private_file, wrong_encoding
from kanon_sql.errors import DatabaseError, Obstacle, SpecError, VerificationError
from kanon_sql.release.converted_file import convert, convert_back, format_of
from kanon_sql.release.write_source import free_name
from kanon_sql.spec import CSV_DELIMITERS, CsvFormat, Spec
from kanon_sql.sql import Relation, Statement, checkpoint

__all__ = [
    "WrittenFile",
    "columns_in",
    "file_manifest",
    "file_obstacles",
    "file_of",
    "formulas_in",
    "leftover_files",
    "manifest_of_file",
    "publish_file",
    "read_back",
    "refuse_foreign_file",
    "remove_leftover_files",
    "session_table",
    "snapshot",
    "written_file",
]

_LOOK_AGAIN = 0.1
"""Seconds between two looks whether another run has finished."""

_SIDE = "kanon_side"


@dataclass(frozen=True)
class WrittenFile:
    """A file that is written, and not yet under the release's name.

    Attributes:
        path: where it is to stand.
        hidden: where it is.
        types: column -> the type of its values.
    """

    path: Path
    hidden: Path
    types: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {
            "sha256": _sha256(self.hidden),
            "bytes": self.hidden.stat().st_size,
            "columns": dict(self.types),
        }


def file_of(spec: Spec) -> Path:
    """Where a release stands that is a file; a link is followed."""
    path = spec.release_path
    assert path is not None
    return Path(os.path.realpath(path))


def file_manifest(path: Path) -> Path:
    """Where the manifest of a released file is."""
    return path.with_name(f"{path.name}.manifest.json")


def manifest_of_file(path: Path) -> Mapping[str, Any] | None:
    """What the manifest of a released file says; None where there is none of this very file."""
    found = _read_manifest(file_manifest(path))
    return found if path.is_file() and _recorded(file_manifest(path)) == _sha256(path) else None


def _pending_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.kanon.manifest.json")


def session_table(engine: Engine, what: str) -> Relation:
    """A table of this run that the session alone has, in a database that writes files: whatever its scratch mode is."""
    return Relation(("temp", "main", f"kanon_{engine.run_id}_{what}"))


def file_obstacles(engine: Engine, spec: Spec) -> Iterator[Obstacle]:
    """A release that is a file, on an engine that writes none."""
    if spec.release_file is not None and not engine.capabilities.files:
        yield Obstacle(
            f"release.file: {engine.dialect.name} writes no files, DuckDB alone does; release a table, or read the "
            "source with DuckDB"
        )
    form = None if spec.release_file is None else format_of(Path(spec.release_file.file))
    if form is None:
        return
    if form.missing is not None:
        yield Obstacle(f"release.file: {form.missing}")
    names = [*spec.quasi_identifiers, *spec.sensitive, *spec.keep, *(column.name for column in spec.computed)]
    for name in names:
        if (fault := form.name_fault(name)) is not None:
            yield Obstacle(f"release.file: column {name!r}: {fault}")


def refuse_foreign_file(spec: Spec) -> None:
    """Refuse to replace a file that kanon_sql did not publish, or the source, or to write where no file can be.

    Raises:
        SpecError: there is no such directory, or something else stands there.
    """
    assert spec.release_file is not None
    path, shown = file_of(spec), spec.release_file.file
    if not path.parent.is_dir() or path.is_dir() or (path.exists() and not path.is_file()):
        raise SpecError(f"release.file: {shown}: expected a file in an existing directory")
    if not path.exists():
        return
    source = spec.source_path
    if source is not None and source.exists() and path.samefile(source):
        raise SpecError(f"release.file: {shown} is the source itself, which is never replaced; choose another name")
    if not _is_ours(path):
        raise SpecError(
            f"release.file: there is already a file {shown} that kanon_sql did not publish, or that was changed "
            "since; choose another name, or move it away. kanon_sql recognizes its own file by the manifest "
            f"next to it, {file_manifest(path).name}"
        )


def _is_ours(path: Path) -> bool:
    """Whether a manifest beside the file is about these very bytes."""
    known = [_recorded(file_manifest(path)), _recorded(_pending_path(path))]
    return any(known) and _sha256(path) in known


def _recorded(manifest: Path) -> str | None:
    """The SHA-256 that a manifest says its file has."""
    found = _read_manifest(manifest).get("file")
    sha = found.get("sha256") if isinstance(found, Mapping) else None
    return sha if isinstance(sha, str) else None


def _read_manifest(path: Path) -> Mapping[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text("utf-8"))
        if isinstance(found, Mapping) and "run_id" in found:
            return found
    return {}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def written_file(workspace: Workspace, spec: Spec, table: Relation) -> Iterator[WrittenFile]:
    """The rows of a table as a file with a hidden name beside the release's; removed at the end unless published.

    Raises:
        SpecError: something else stands under the name by now.
        DatabaseError: no file can be written there.
    """
    path = file_of(spec)
    with _alone_in(path.parent) as alone:
        refuse_foreign_file(spec)
        _remove_left(workspace.engine, path, alone=alone)
        place = path.with_name(f".{path.name}.kanon-{workspace.run_id}")
        columns = workspace.columns(table)
        try:
            hidden = _private_directory(place, spec) / f"release{path.suffix.lower()}"
            types = {name: column.type for name, column in columns.items()}
            _write(workspace, table, hidden, spec, types)
            yield WrittenFile(path, hidden, types)
        finally:
            _remove(place)


def remove_leftover_files(engine: Engine, path: Path) -> None:
    """Remove what killed runs left beside a release that is a file, unless a run publishes in its directory now.

    Args:
        engine: what lets results and errors say so.
        path: where the release stands, or is to stand.
    """
    if not path.parent.is_dir():
        return
    with _alone_in(path.parent, waits=False) as alone:
        if alone:
            _remove_left(engine, path, alone=True)


def _remove_left(engine: Engine, path: Path, *, alone: bool) -> None:
    """Finish what a run left that was killed while it published, and remove the rest, where that is sure to be dead."""
    _settle(path)
    dead = [left for left in _hidden_in(path.parent) if left.name.startswith(f".{path.name}.kanon-")]
    if not alone or not dead:
        return
    for left in dead:
        _remove(left)
    engine.note_leftover(f"removed what {len(dead)} killed run(s) of this release had left beside {path.name}")


_HIDDEN = re.compile(r"\..+\.kanon-[0-9a-f]+(\.csv|\.parquet)?")


def _hidden_in(directory: Path) -> list[Path]:
    """What runs write into before they publish, those that are under way among them."""
    return sorted(path for path in directory.iterdir() if _HIDDEN.fullmatch(path.name) and not path.is_symlink())


def _private_directory(place: Path, spec: Spec) -> Path:
    """A directory that its owner alone can open, from its first moment."""
    assert spec.release_file is not None
    try:
        place.mkdir(0o700)
    except OSError as error:
        raise DatabaseError(
            f"the release cannot be written to {spec.release_file.file}: {error.strerror or type(error).__name__}; "
            "nothing was published"
        ) from None
    return place


def _remove(left: Path) -> None:
    if left.is_dir():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def leftover_files(directory: Path, *, remove: bool) -> list[tuple[Path, float, bool]]:
    """What runs that were killed while they wrote a file left in a directory: each, since when, and whether it is gone.

    Args:
        directory: where releases are files.
        remove: remove it, and bring a release that was published without its manifest to its end.

    Raises:
        SpecError: there is no such directory, or a run is at work there, or that is not sure.
    """
    if not directory.is_dir():
        raise SpecError(f"--files {directory}: expected a directory")
    with _alone_in(directory, waits=False) as alone:
        if not alone:
            raise SpecError(
                f"--files {directory}: a run is publishing there, or the directory cannot be locked to rule that "
                "out; try again when no run publishes"
            )
        pending = [path for path in directory.glob(".*.kanon.manifest.json") if not path.is_symlink()]
        found = [(path, path.lstat().st_mtime) for path in sorted([*_hidden_in(directory), *pending])]
        for path, _ in found if remove else ():
            if path in pending:
                _settle(path.with_name(path.name.removeprefix(".").removesuffix(".kanon.manifest.json")))
            else:
                _remove(path)
        return [(path, since, not path.exists()) for path, since in found]


def _settle(path: Path) -> None:
    """Finish what a run left that was killed while it published: its manifest goes beside the file that is there."""
    pending = _pending_path(path)
    if pending.exists():
        if path.exists() and _recorded(pending) == _sha256(path):
            _publish_manifest(pending, path)
        else:
            pending.unlink()


def _write(workspace: Workspace, table: Relation, hidden: Path, spec: Spec, types: Mapping[str, str]) -> None:
    assert spec.release_file is not None
    converted = format_of(hidden) is not None
    made = hidden.with_suffix(".csv") if converted else hidden
    try:
        sql = workspace.dialect.to_file(table.parts, str(made), workspace.run_id)
        workspace.engine.execute(Statement("release/file", sql, quoted=workspace.dialect.quoted))
        if converted:
            convert(made, hidden, types)
            made.unlink()
        with hidden.open("rb") as file:
            os.fsync(file.fileno())
    except (DatabaseError, OSError) as error:
        reason = str(error) if isinstance(error, DatabaseError) else error.strerror or type(error).__name__
        raise DatabaseError(
            f"the release cannot be written to {spec.release_file.file}: {reason}; nothing was published"
        ) from None


@contextmanager
def _alone_in(directory: Path, *, waits: bool = True) -> Iterator[bool]:
    """Inside, no other run publishes in a directory; whether that is sure, since not every directory can be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield False
        return
    alone = False
    handle = os.open(directory, os.O_RDONLY)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not waits:
                    break
                checkpoint()
                time.sleep(_LOOK_AGAIN)
            except OSError:  # such as on a share that has no locks
                break
            else:
                alone = True
                break
        yield alone
    finally:
        os.close(handle)


@contextmanager
def snapshot(
    engine: Engine, path: Path, types: Mapping[str, str], delimiter: str = ",", *, name: str = "file"
) -> Iterator[Relation]:
    """What a file holds now, as a table of the session in the order of its rows; dropped at the end.

    Args:
        engine: one that reads files.
        path: the file.
        types: the columns of a file, and what they are; see :func:`columns_in`.
        delimiter: what stands between its cells; a released file has commas.
        name: of the table; another one for each file that is read at the same time.
    """
    if format_of(path) is not None:
        with TemporaryDirectory(prefix="kanon-") as place:
            text = Path(place) / "file.csv"
            convert_back(path, text, types)
            with snapshot(engine, text, types, name=name) as table:
                yield table
        return
    with _session_copy(engine, name, lambda made: engine.dialect.from_file(made, str(path), types, delimiter)) as table:
        yield table


@contextmanager
def snapshot_of_texts(engine: Engine, path: Path, csv: CsvFormat) -> Iterator[Relation]:
    """The same of a CSV file in another encoding or with a delimiter of its own: every cell is a text.

    Args:
        engine: one that reads files.
        path: the file.
        csv: its encoding and delimiter.

    Raises:
        DatabaseError: it is not in this encoding, or its first line names no columns.
    """
    with _in_utf8(path, csv.encoding) as text:
        delimiters = CSV_DELIMITERS if csv.delimiter is None else "\t" if csv.delimiter == "tab" else csv.delimiter
        with snapshot(engine, text, *_text_columns(text, delimiters, path.name)) as table:
            yield table


@contextmanager
def _in_utf8(path: Path, encoding: str | None) -> Iterator[Path]:
    if encoding in (None, "utf-8"):
        yield path
        return
    assert encoding is not None
    if (fault := wrong_encoding(str(path), encoding)) is not None:
        raise DatabaseError(f"{path.name}: {fault}")
    with TemporaryDirectory(prefix="kanon-") as place:
        text = Path(place) / "file.csv"
        try:
            with (
                path.open(encoding=encoding, newline="") as source,
                text.open("w", encoding="utf-8", newline="") as made,
            ):
                shutil.copyfileobj(source, made)
        except UnicodeError:
            raise DatabaseError(f"{path.name}: its text is not {encoding}; name its own encoding") from None
        yield text


@contextmanager
def snapshot_as_source(engine: Engine, path: Path, csv: CsvFormat | None, *, name: str) -> Iterator[Relation]:
    """The same with the types that a source has: of a CSV file those that DuckDB finds.

    Args:
        engine: one that reads files.
        path: the file.
        csv: how it is written; None where DuckDB finds out.
        name: of the table.

    Raises:
        SpecError: it is not what its name says, or its lines have different numbers of cells.
    """
    form = engine.relation(table=None, query=None, file=str(path), csv=csv)
    engine.columns(form)  # which refuses a file that would be misread
    with _session_copy(engine, name, lambda made: engine.dialect.copy_of(made, form)) as table:
        yield table


@contextmanager
def _session_copy(engine: Engine, name: str, made: Callable[[Sequence[str]], str]) -> Iterator[Relation]:
    table = session_table(engine, name)
    sql = made(table.parts)
    engine.execute(Statement("release/read_file", sql, quoted=engine.dialect.quoted))
    try:
        yield table
    finally:
        with engine.without_deadline(), suppress(DatabaseError), open_workspace(engine, "", inline=True) as workspace:
            workspace.execute("engines/scratch/drop", target=table)


@contextmanager
def read_back(workspace: Workspace, file: WrittenFile, table: Relation) -> Iterator[Relation]:
    """What a written file says, once it is sure that these are the rows of the table that it was written from.

    Raises:
        VerificationError: they are others; nothing is published.
    """
    with snapshot(workspace.engine, file.hidden, file.types) as found:
        names = list(file.types)
        if list(workspace.columns(found)) != names:
            raise VerificationError("verification: the written file does not have the promised columns; it was removed")
        side = free_name(_SIDE, names)
        (differing,) = workspace.row("release/differing", names=names, side=side, written=table, read=found)
        if differing:
            raise VerificationError(
                f"verification: {differing} distinct rows of the written file differ from the release; the file "
                "was removed"
            )
        yield found


def publish_file(file: WrittenFile, manifest: Mapping[str, Any]) -> None:
    """Give a verified file the release's name, and its manifest a place beside it.

    Raises:
        DatabaseError: the operating system refuses; the message says what stands.
    """
    pending = _pending_path(file.path)
    stands = False
    try:
        if _sha256(file.hidden) != manifest["file"]["sha256"]:
            raise VerificationError(
                "verification: the written file was changed before it was published; it was removed"
            )
        pending.unlink(missing_ok=True)
        with private_file(pending) as out:
            json.dump(dict(manifest), out, indent=2, ensure_ascii=False)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
        if file.path.exists():
            file.hidden.chmod(stat.S_IMODE(file.path.stat().st_mode))
        file.hidden.replace(file.path)
        stands = True
        _publish_manifest(pending, file.path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        what = "the release is published, but its manifest is not next to it" if stands else "nothing was published"
        raise DatabaseError(f"{file.path.name} cannot be published: {reason}; {what}") from None
    finally:
        if not stands:
            pending.unlink(missing_ok=True)


def _publish_manifest(pending: Path, path: Path) -> None:
    """Put a manifest beside its file, for those to read who may read that."""
    pending.chmod(stat.S_IMODE(path.stat().st_mode))
    pending.replace(file_manifest(path))


def columns_in(path: Path) -> tuple[Mapping[str, str], str]:
    """The columns of a file with their types, unless it is Parquet, and what stands between the cells of CSV.

    A released file has the types that the manifest beside it says, and commas. Of another CSV file every column is
    text, and the delimiter is the one by which its first line has most cells.

    Raises:
        DatabaseError: the first line names no columns, or one twice; or what is no CSV has no manifest.
    """
    converted = format_of(path) is not None
    if path.suffix.lower() != ".csv" and not converted:
        return {}, ","
    for manifest in (file_manifest(path), _pending_path(path)):
        found = _read_manifest(manifest).get("file")
        if isinstance(found, Mapping) and found.get("sha256") == _sha256(path):
            columns: Mapping[str, str] = found["columns"]
            return columns, ","
    if converted:
        raise DatabaseError(
            f"{path.name}: no manifest next to it is of this very file, so the types of its columns are not "
            "known; publish it again, or as Parquet"
        )
    return _text_columns(path, CSV_DELIMITERS, path.name)


def _text_columns(path: Path, delimiters: str, shown: str) -> tuple[Mapping[str, str], str]:
    """The columns of a CSV file in UTF-8 as texts, and the delimiter by which its first line has most cells."""
    # The first of equals is the comma. A name in quotes may hold other delimiters.
    names, delimiter = max(((_names_in(path, found), found) for found in delimiters), key=lambda item: len(item[0]))
    if not all(names) or not names or len({name.casefold() for name in names}) < len(names):
        cause = csv_fault(str(path)) or "expected a CSV file in UTF-8 whose first line names every column, each once"
        raise DatabaseError(f"{shown}: {cause}")
    if (fault := misread(str(path), names)) is not None:
        raise DatabaseError(f"{shown}: {fault}")
    return dict.fromkeys(names, "VARCHAR"), delimiter


def _names_in(path: Path, delimiter: str) -> list[str]:
    """The cells of a CSV file's first line; none where it cannot be read so."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file, delimiter=delimiter, strict=True), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return []


def formulas_in(workspace: Workspace, file: WrittenFile, table: Relation) -> str | None:
    """What to say of texts in a CSV file that a spreadsheet may run; None where there are none.

    Args:
        workspace: where.
        file: the released file.
        table: what it says.
    """
    if file.path.suffix.lower() != ".csv":
        return None
    texts = [column.name for column in workspace.columns(table).values() if column.kind == "text"]
    found = [name for name in texts if workspace.row("release/formulas", table=table, column=name) != (0,)]
    if not found:
        return None
    return (
        f"some texts of {', '.join(found)} begin with =, +, - or @: a spreadsheet that opens the file may run them as "
        "formulas; import these columns as text, or publish a Parquet file"
    )
