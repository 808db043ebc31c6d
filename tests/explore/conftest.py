"""A browser, and a clinic in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import make_clinic


@pytest.fixture(scope="module")
def chromium(browser: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def clinic_file(tmp_path: Path) -> Path:
    make_clinic(tmp_path / "clinic.duckdb")
    return tmp_path / "clinic.duckdb"
