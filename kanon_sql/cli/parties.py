"""``--party``: the verbs for a table that is split between several databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from kanon_sql.cli.given import MEMORY, need_database
from kanon_sql.cli.options import OutputFormat, Split
from kanon_sql.cli.written import exit_with, print_found
from kanon_sql.errors import SpecError

if TYPE_CHECKING:
    from kanon_sql.cli.session import Session
    from kanon_sql.spec import Spec

__all__ = ["refuse_other_options", "run_parties"]


def refuse_other_options(given: Mapping[str, bool]) -> None:
    """Refuse options of a verb that are about one database.

    Args:
        given: option -> whether it was given.

    Raises:
        SpecError: one was.
    """
    named = [option for option, is_given in given.items() if is_given]
    if named:
        raise SpecError(f"{', '.join(named)}: not with --party, which names several databases; leave it out")


def run_parties(
    run: Session,
    spec: Spec,
    databases: Sequence[str],
    output: OutputFormat,
    *,
    split: Split,
    key: str | None,
    scratch: str | None,
    timeout: float | None,
    at: int | None = None,
) -> NoReturn:
    """Plan, or anonymize, for several parties; print the result, and end the verb.

    Args:
        run: the session.
        spec: what to anonymize and how.
        databases: of the parties.
        output: how to print the result.
        split: how the table is split.
        key: in a vertical split the column that every party has.
        scratch: where scratch tables live.
        timeout: seconds for the statements of each party.
        at: the party where a joined release is published; None to plan.

    Raises:
        SpecError: a database is in memory.
    """
    from kanon_sql.verbs.parties import anonymize_parties, plan_parties

    for database in databases:
        if database == MEMORY:
            raise SpecError("--party: a database in memory belongs to no party; give a file or a URL")
        need_database(database)
    writes = [at is not None and (split is Split.horizontal or number == at) for number, _ in enumerate(databases, 1)]
    engines = run.connect_parties(databases, read_only=[not own for own in writes], scratch=scratch)
    if at is None:
        result = plan_parties(engines, spec, split=split.value, key=key, timeout=timeout, report=run.report)
    else:
        result = anonymize_parties(engines, spec, split=split.value, key=key, at=at, timeout=timeout, report=run.report)
    run.close()
    print_found(result, output)
    exit_with(result.passed)
