"""Old keys of a spec: each is refused with the name of the new one."""

from __future__ import annotations

import pytest
from specs import HEAD, MINIMAL, TAIL, make, problems, schema_accepts

from kanon_sql.errors import SpecError

OLD = {
    "a share": ("suppression: {limit: 0.05}", "5:15: suppression.limit: the key has a new name; write max_share: 0.05"),
    "all rows": ("suppression: {limit: 1.0}", "5:15: suppression.limit: the key has a new name; write max_share: 1.0"),
    "rows": ("suppression: {limit: 1}", "5:15: suppression.limit: the key has a new name; write max_rows: 1"),
    "neither": ("suppression: {limit: few}", "5:15: suppression.limit: the key has a new name; write max_rows or max_"),
}


@pytest.mark.parametrize("case", OLD)
def test_an_old_key_is_refused_with_the_new_one(case: str) -> None:
    written, expected = OLD[case]
    [problem] = problems(HEAD + TAIL + written + "\n")
    assert problem.startswith(expected)


def test_the_schema_has_no_old_key() -> None:
    for old in ({"suppression": {"limit": 1}},):
        assert not schema_accepts({**MINIMAL, **old})


def test_a_value_that_is_no_number_is_not_repeated() -> None:
    with pytest.raises(SpecError) as caught:
        make(suppression={"limit": "Heidi"})
    assert "Heidi" not in str(caught.value)
