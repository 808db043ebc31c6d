"""Every engine against the conformance suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers import SUBJECTS, subject_of

from kanon_sql.testing import Conformance, Subject


@pytest.mark.parametrize(
    "subject", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in SUBJECTS], indirect=True
)
class TestEngines(Conformance):
    @pytest.fixture(scope="class")
    def subject(self, request: pytest.FixtureRequest) -> Iterator[Subject]:
        with subject_of(request.param) as made:
            yield made
