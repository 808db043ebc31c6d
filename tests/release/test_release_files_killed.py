"""Releases that are files: under their names stands the old one or the new one, whole, whatever fails."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import DatabaseError, QueryTimeout
from kanon_sql.release import file as release_file
from kanon_sql.sql.dialects.duckdb import DuckDB
from tests.support.command_line import run
from tests.support.released_files import YAML, left, publish, rows_of, spec_of, spoiled

KILLED = """
import os, sys
from pathlib import Path
import kanon_sql
from kanon_sql.release import file as f
at, count = int(sys.argv[1]), 0
def killing(true):
    def step(*given, **named):
        global count
        for when in (0, 1):
            if count == at:
                os._exit(9)
            count += 1
            if when == 0:
                found = true(*given, **named)
        return found
    return step
f._write = killing(f._write)
f.json.dump = killing(f.json.dump)
Path.replace = killing(Path.replace)
from kanon_sql.spec import Spec
with kanon_sql.connect() as db:
    kanon_sql.anonymize(db, Spec.load("spec.yml"))
os._exit(0)
"""


STEPS = 8


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("before", [False, True], ids=["first", "again"])
@pytest.mark.parametrize("step", [pytest.param(step, marks=() if step == 5 else pytest.mark.slow) for step in range(9)])
def test_a_kill_leaves_the_old_file_or_the_new_one(cwd: Path, before: bool, step: int) -> None:
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", "out.csv"))
    Path("kill.py").write_text(KILLED)
    old = None
    if before:
        publish()
        old = Path("out.csv").read_bytes()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "kill.py", str(step)], env=environment, check=False, timeout=60)
    assert done.returncode == (9 if step < STEPS else 0)
    found = Path("out.csv").read_bytes() if os.path.exists("out.csv") else None
    new = found is not None and found != old
    assert new == (step >= 5), "until the file is renamed the old one stands"
    if new:
        assert sum(rows_of("out.csv").values()) > 100
        with kanon_sql.connect() as db:
            assert kanon_sql.check(db, spec_of()).passed
    else:
        assert found == old
    publish()
    names = {"out.csv", "out.csv.manifest.json", "spec.yml", "kill.py"}
    assert left() == names, "the next run clears up and publishes"


LOOKS = """
import os, stat, sys
sys.path[:0] = sys.argv[1:]
os.umask(0o022)
import kanon_sql
from kanon_sql.release import file as f
from kanon_sql.spec import Spec

def readable(path):
    for part in (path, *path.parents[: len(path.parents) - len(f.Path.cwd().parents) - 1]):
        if part.exists() and stat.S_IMODE(part.stat().st_mode) & 0o077 == 0:
            return False
    return True

def looking(true):
    def looks(*given, **named):
        found = true(*given, **named)
        for path in f.Path.cwd().rglob("*"):
            if path.name not in ("people.csv", "spec.yml", "look.py", "out.csv", "out.csv.manifest.json"):
                print(path.name, "open" if readable(path) else "private")
        return found
    return looks
f._write, f.json.dump, f._sha256 = looking(f._write), looking(f.json.dump), looking(f._sha256)
with kanon_sql.connect() as db:
    kanon_sql.anonymize(db, Spec.load("spec.yml"))
"""


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_nobody_else_reads_what_is_not_published(cwd: Path, name: str) -> None:
    cwd.chmod(0o755)
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", name))
    Path("look.py").write_text(LOOKS.replace("out.csv", name))
    for mode in (0o644, 0o600, 0o640):
        done = subprocess.run(
            [sys.executable, "look.py", *sys.path], check=True, timeout=60, capture_output=True, text=True
        )
        seen = {line for line in done.stdout.splitlines() if "kanon" in line or line.startswith("release")}
        assert len(seen) >= 3, "the directory, the file in it, and the manifest"
        assert not [line for line in seen if line.endswith(" open")]
        found = [stat.S_IMODE(os.stat(path).st_mode) for path in (name, f"{name}.manifest.json")]
        assert found == [mode, mode], "as the umask says, and then as the file that is replaced"
        os.chmod(name, {0o644: 0o600, 0o600: 0o640}.get(mode, mode))


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_exported_values_are_their_owners_alone(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true, made = os.open, []

    def opened(path: Any, flags: int, mode: int = 0o777, **named: Any) -> int:
        handle = true(path, flags, mode, **named)
        if flags & os.O_CREAT:
            made.append((os.path.basename(path), stat.S_IMODE(os.fstat(handle).st_mode)))
        return handle

    monkeypatch.setattr(os, "open", opened)
    with kanon_sql.connect() as db:
        kanon_sql.hierarchy(db, spec_of(), export=cwd / "exported")
    exported = sorted(os.listdir("exported"))
    assert exported
    assert [(name, mode) for name, mode in sorted(made) if name in exported] == [(name, 0o600) for name in exported]


@pytest.mark.skipif(os.name != "posix", reason="directories are locked on POSIX")
@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_and_told(cwd: Path) -> None:
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", "out.csv"))
    Path("kill.py").write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def killed(step: int) -> None:
        done = subprocess.run([sys.executable, "kill.py", str(step)], env=environment, check=False, timeout=60)
        assert done.returncode == 9

    killed(3)
    (place,) = [path for path in left() if path.startswith(".out.csv.kanon-")]
    assert (stat.S_IMODE(os.stat(place).st_mode), os.listdir(place)) == (0o700, ["release.csv"])
    listed = json.loads(run("clean", "--files", ".", "--format", "json").stdout)
    assert [item["state"] for item in listed["objects"]] == ["left over", "left over"], "a manifest waits as well"
    assert place in left()
    with release_file._alone_in(cwd):
        busy = run("clean", "--files", ".", "--yes")
        assert (busy.exit_code, "a run is publishing there" in busy.stderr) == (2, True)
    assert place in left()
    dropped = json.loads(run("clean", "--files", ".", "--format", "json", "--yes").stdout)
    assert [item["state"] for item in dropped["objects"]] == ["dropped", "dropped"]
    assert left() == {"spec.yml", "kill.py"}
    killed(2)
    Path(".out.csv.kanon-0123abc.csv").write_text("of an earlier version")
    assert any("removed what 2 killed run(s)" in note for note in publish().notes)
    assert left() == {"spec.yml", "kill.py", "out.csv", "out.csv.manifest.json"}
    assert not any("killed" in note for note in publish().notes)


@pytest.mark.slow
@pytest.mark.parametrize("step", [4, 6])
def test_a_run_that_is_killed_twice_in_its_last_step(cwd: Path, step: int) -> None:
    """The file is known by the hidden manifest; that is put in its place before another one is written."""
    publish()
    os.replace("out.csv.manifest.json", ".out.csv.kanon.manifest.json")
    Path("spec.yml").write_text(YAML.replace("SOURCE", "people.csv").replace("RELEASE", "out.csv"))
    Path("kill.py").write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # One rename more than usual: that of the manifest which is settled first.
    done = subprocess.run([sys.executable, "kill.py", str(step)], env=environment, check=False, timeout=60)
    assert done.returncode == 9
    publish()
    assert left() == {"out.csv", "out.csv.manifest.json", "spec.yml", "kill.py"}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("step", [0, 1])
def test_an_error_of_the_operating_system_says_what_stands(
    cwd: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    publish()
    before = Path("out.csv").read_bytes()
    true, seen = Path.replace, []

    def failing(self: Path, target: Any) -> Path:
        seen.append(target)
        if len(seen) == step + 1:
            raise OSError(28, "No space left on device")
        return true(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    said = "its manifest is not next to it" if step else "nothing was published"
    with pytest.raises(DatabaseError, match=f"No space left on device; .*{said}"):
        publish()
    assert (Path("out.csv").read_bytes() == before) == (step == 0)
    monkeypatch.setattr(Path, "replace", true)
    publish()
    assert left() == {"out.csv", "out.csv.manifest.json"}


def test_a_directory_that_cannot_be_written_to(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDB, "to_file", spoiled("SELECT error('no') FROM {}"))
    with pytest.raises(DatabaseError, match=r"the release cannot be written to out\.csv: .*nothing was published"):
        publish()
    assert left() == set()


@pytest.mark.slow
def test_runs_into_one_directory_wait_for_each_other(cwd: Path) -> None:
    with release_file._alone_in(cwd), kanon_sql.connect() as db, pytest.raises(QueryTimeout):
        kanon_sql.anonymize(db, spec_of(), timeout=1.5)
    assert left() == set()
    done: list[kanon_sql.results.Release] = []
    threads = [threading.Thread(target=lambda: done.append(publish())) for _ in range(3)]
    for thread in threads:
        thread.start()
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert len(done) == 3
    assert left() == {"out.csv", "out.csv.manifest.json"}
    with kanon_sql.connect() as db:
        assert kanon_sql.check(db, spec_of()).passed
