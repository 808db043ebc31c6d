"""A kind of hierarchy is declared in one place, and all that lists kinds reads it there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pytest

import kanon_sql
from kanon_sql.engines import Column
from kanon_sql.errors import SpecError
from kanon_sql.hierarchies import Kind, level_names
from kanon_sql.registers import HIERARCHIES
from kanon_sql.spec import QuasiIdentifier, Spec
from kanon_sql.sql import Sql
from tests import ROOT

HEAD: dict[str, Any] = {"version": 1, "source": "t", "release": "t_release", "privacy": [{"k_anonymity": {"k": 2}}]}
DOCS = ROOT / "docs"


@pytest.fixture
def endings() -> Iterator[None]:
    @HIERARCHIES.declare
    class Endings(Kind):
        """The last characters."""

        name: ClassVar[str] = "ending"
        build_by: ClassVar[str | None] = "last characters"
        never_in_ledger: ClassVar[str | None] = "an ending is not for a ledger; leave it out"

        ending: tuple[int, ...]
        mark: str = "-"

        @property
        def height(self) -> int:
            return 1 + len(self.ending)

        def to_dict(self) -> dict[str, Any]:
            return {"ending": list(self.ending), "mark": self.mark}

        def labels_above(self, column: Column, where: str) -> list[Sql]:
            return [Sql(f"'{self.mark}' || RIGHT(value, {length})") for length in self.ending]

        def level_name(self, level: int, columns: Sequence[str]) -> str:
            return f"last {self.ending[level - 1]}"

    yield
    HIERARCHIES.forget("ending")


def spec_of(hierarchy: dict[str, Any], **more: Any) -> Spec:
    return Spec.from_dict({**HEAD, "quasi_identifiers": {"q": hierarchy}, **more})


@pytest.mark.slow
@pytest.mark.usefixtures("endings")
def test_a_kind_of_ones_own_is_published_named_and_shown() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT unnest(['axy', 'bxy', 'czy', 'dzy']) AS q")
    spec = spec_of({"ending": [2, 1], "mark": "+"})
    assert Spec.from_dict(spec.to_dict()) == spec
    with kanon_sql.connect(connection) as engine:
        found = kanon_sql.anonymize(engine, spec)
    assert found.node == {"q": 1}
    labels = sorted(label for (label,) in connection.execute("SELECT q FROM t_release").fetchall())
    assert labels == ["+xy", "+xy", "+zy", "+zy"], "two rows of each ending of two characters, none of three"
    assert level_names(spec.quasi_identifiers["q"], 3) == ("as in the source", "last 2", "last 1", "withheld")
    schema = Spec.json_schema()["$defs"]["QuasiIdentifier"]["anyOf"][0]
    assert {"ending", "mark"} <= set(schema["properties"])
    assert schema["dependentRequired"]["mark"] == ["ending"]


@pytest.mark.usefixtures("endings")
@pytest.mark.parametrize(
    ("hierarchy", "more", "says"),
    [
        ({"mark": "+"}, {}, "'mark' needs 'ending'"),
        ({"ending": [1], "prefix": [1]}, {}, "one kind of hierarchy"),
        ({"endin": [1]}, {}, "did you mean 'ending'"),
        ({"ending": [1], "maximum_level": 4}, {}, "above the top, which is level 2"),
        ({"ending": [1]}, {"ledger": "releases"}, "an ending is not for a ledger"),
        ({"ending": [1], "as": "bounds"}, {}, "it works for 'intervals' and 'dates'"),
    ],
)
def test_what_a_kind_declares_is_refused(hierarchy: dict[str, Any], more: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        spec_of(hierarchy, **more)


def test_every_kind_says_what_it_has_to_and_the_page_lists_its_levels() -> None:
    page = (DOCS / "reference" / "spec.md").read_text("utf-8")
    table = page[page.index("### Names of levels") :].split("\n## ")[0]
    for name, kind in HIERARCHIES.items():
        assert kind.name == name
        assert kind.__doc__, name
        for about in (item for item in dir(Kind) if item.startswith("never_") and item != "never_empty"):
            why = getattr(kind, about)
            assert why is None or "; " in why, f"{name}.{about} does not say what to do"
        if name in kind.model_fields:
            assert f"| `{name}" in table, f"{name} is not in the table of names of levels"
            for key, field in kind.model_fields.items():
                assert field.description, f"{name}.{key} has no description"


def test_a_hierarchy_that_nothing_names_is_the_value_alone() -> None:
    found = QuasiIdentifier().hierarchy
    assert (found.name, found.height, found.to_dict()) == ("value", 1, {})
