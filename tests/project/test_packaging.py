"""The package as users get it: a wheel in a clean environment, and an editable install."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from kanon_sql.sql.template_files import names_in
from tests import ROOT

RENDER_ALL = """
from kanon_sql.sql.template_files import template_directory, template_names
from kanon_sql.sql.templates import _environment
import json
for name in template_names():
    _environment().get_template(name)
print(json.dumps([str(template_directory()), template_names()]))
"""


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_wheel_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv")
    python = str(tmp_path / "venv" / "bin" / "python")
    install = ("-m", "pip", "--python", python, "install", "--quiet", "--no-compile")
    run(sys.executable, *install, str(wheel), cwd=tmp_path)
    directory, names = json.loads(run(python, "-c", RENDER_ALL, cwd=tmp_path))
    assert Path(directory).is_relative_to(tmp_path / "venv")
    assert names == names_in(ROOT / "sql_templates")
    output = run(str(tmp_path / "venv" / "bin" / "kanon-sql"), "demo", "--format", "json", cwd=tmp_path)
    assert json.loads(output)["verdict"] == "pass"
    spec = str(tmp_path / "demo.yml")
    rendered = run(
        str(tmp_path / "venv" / "bin" / "kanon-sql"), "pipeline", "render", spec, "--dialect", "postgres", cwd=tmp_path
    )
    assert "CREATE TABLE" in rendered


@pytest.mark.campaign
def test_an_editable_install_finds_the_templates_beside_the_package(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", "--editable", str(ROOT), cwd=tmp_path)
    directory, _ = json.loads(run(python, "-c", RENDER_ALL, cwd=tmp_path))
    assert Path(directory) == ROOT / "sql_templates"
