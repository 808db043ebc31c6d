"""Random worlds of several tables by brute force: a few here, as many as one likes by ``tests.relations.worlds``."""

from __future__ import annotations

import pytest

from kanon_sql.testing import Subject
from tests.relations import worlds
from tests.relations.worlds import KNOWN, Figures, main
from tests.servers import REQUIRED
from tests.servers.base import Missing
from tests.support.relations import ENGINES


@pytest.mark.slow
@pytest.mark.parametrize("recoding", list(KNOWN))
def test_a_few_worlds(recoding: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One of each kind: trees, sensitive values, lists."""
    assert main(["duckdb", recoding, "--worlds", "4", "--first", "400"]) == 0
    assert "0 wrong" in capsys.readouterr().out


@pytest.mark.campaign
@pytest.mark.parametrize("recoding", list(KNOWN))
@pytest.mark.parametrize("name", ["duckdb", *ENGINES])
def test_many_worlds(name: str, recoding: str) -> None:
    count = {"duckdb": 2000, "spark": 20}.get(name, 300)
    try:
        assert main([name, recoding, "--worlds", str(count)]) == 0
    except Missing as missing:
        if name in REQUIRED:
            pytest.fail(f"KANON_REQUIRE_ENGINES names {name}: {missing}")
        pytest.skip(f"{name}: {missing}")


def test_what_is_wrong_is_counted(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """An oracle for which nothing is lost by the best node."""
    monkeypatch.setattr(worlds, "least_loss", lambda *_: -1.0)
    figures, engine = Figures(), subject.connect()
    figures.add(subject, engine, 5, "full_domain")
    engine.close()
    assert figures.counts["wrong"] == 1
    assert "another node loses less" in figures.wrong[0] or "the verdict" in figures.wrong[0]
