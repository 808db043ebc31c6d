"""``apply`` for several tables: new rows at the levels of an earlier release, verified as every release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kanon_sql.engines import Deadline, Engine, Reporter, Workspace
from kanon_sql.errors import Problem, SpecError, refuse
from kanon_sql.frequency import is_same_table
from kanon_sql.relations import ReleasedTable
from kanon_sql.release import manifest_of
from kanon_sql.spec import PERSON, QuasiIdentifier, RelationalSpec, parse_table_name
from kanon_sql.sql import Relation
from kanon_sql.verbs.relational import RelationalResult, Takeover, obstacles_of_several, released_by

__all__ = ["apply"]


def apply(
    engine: Engine,
    spec: RelationalSpec,
    name: str,
    *,
    timeout: float | None = None,
    report: Reporter | None = None,
) -> RelationalResult:
    """Release other rows of several tables at the levels of an earlier release, or release nothing.

    Args:
        engine: from :func:`kanon_sql.connect`, with the right to write.
        spec: the tables of new rows, and what their release must satisfy by itself; with the columns and hierarchies
            of the earlier one.
        name: the released persons of the earlier release, which was made by ``recoding: full_domain``.
        timeout: seconds for the statements of the whole run; None for no limit.
        report: called with each stage in plain words.

    Raises:
        SpecError: there is no such release, its rows have no common levels, its columns or hierarchies are others, or
            it is the one that would be replaced.
        KanonError: any other error of :func:`kanon_sql.anonymize` for such a spec.
    """
    refuse(obstacles_of_several(engine, spec, publishes=True))
    parts = parse_table_name(name)
    with engine.run(Deadline(timeout)):
        manifest = manifest_of(engine, parts)
        _refuse_unfit(engine, spec, parts, manifest)
        assert manifest is not None
    levels = manifest["release_of_tables"]["node"]
    comparable = _has_same_keys(spec, manifest)
    key = "_".join(manifest["spec"]["person"]["key"])
    refused = partial(_shared_persons, parts, key) if comparable else None
    takeover = Takeover(name, _at_levels(spec, levels), refused)
    result = released_by(engine, spec, "anonymize", timeout, report, takeover)
    if not result.passed:
        return replace(result, verb="apply")
    known = "no key of a person is in both, so that no person is, if both were made with one secret"
    if not comparable:
        known = "whether a person is in both is not known; both releases together may single out who is"
    return replace(result, verb="apply", notes=[*result.notes, f"at the levels of {name}: {known}"])


def _has_same_keys(spec: RelationalSpec, manifest: Mapping[str, Any]) -> bool:
    """Whether a person of both releases has one key in both, if they were made with one secret."""
    made = manifest["spec"]
    if spec.key_variable is None or not isinstance(made["release"]["keys"], Mapping):
        return False
    tables = (made["person"], *made["tables"].values())
    replaced = {column.casefold() for table in tables for column in table.get("replace") or ()}
    released_as = parse_table_name(manifest["tables"][PERSON])[-1]
    return _key_purpose(spec.person.key, spec.person.released_as, spec.replaced) == _key_purpose(
        made["person"]["key"], released_as, replaced
    )


def _key_purpose(key: Sequence[str], released_as: str, replaced: Collection[str]) -> tuple[str, ...]:
    """What besides the secret decides the new key of a person: :class:`kanon_sql.relations.NewKeys` makes them."""
    if len(key) == 1 and key[0].casefold() in replaced:
        return (key[0].casefold(),)
    return (released_as, *key)


def _refuse_unfit(
    engine: Engine, spec: RelationalSpec, parts: tuple[str, ...], manifest: Mapping[str, Any] | None
) -> None:
    """Refuse levels that are not those of an earlier release of such tables.

    Raises:
        SpecError: why.
    """
    shown = ".".join(parts)
    if manifest is None or "release_of_tables" not in manifest:
        raise SpecError(
            f"{shown}: no manifest of a release of several tables names it; give the released table of persons, such "
            "as released.patients"
        )
    persons = str(manifest["tables"][PERSON])
    if parse_table_name(persons)[-1].casefold() != parts[-1].casefold():
        raise SpecError(f"{shown}: it is not the released table of persons of that release; give {persons}")
    if manifest["release_of_tables"]["recoding"] != "full_domain":
        raise SpecError(
            f"{shown}: it was made by recoding: local, whose classes are not kept, so that new rows cannot join them; "
            "release with recoding: full_domain"
        )
    if spec.method != "full_domain":
        raise SpecError("recoding: apply releases all rows at the levels of the earlier release; write full_domain")
    if any(is_same_table(engine, spec.released(name), tuple(parse_table_name(table)))
           for name in (PERSON, *spec.below) for table in manifest["tables"].values()):  # fmt: skip
        raise SpecError(
            f"release: a table of the earlier release {shown} would be replaced; release into another schema"
        )
    problems = list(_differences(spec.redacted(), manifest["spec"], shown))
    if problems:
        raise SpecError(problems)


def _differences(own: Mapping[str, Any], other: Mapping[str, Any], shown: str) -> Iterator[Problem]:
    """The tables and columns that are others than those of the earlier release."""
    for section in ("tables", "items"):
        for name in {**own[section], **other[section]}:
            if name not in own[section] or name not in other[section]:
                yield Problem(f"{section}.{name}: only one of the spec and {shown} has it; both need the same")
    shared = [("person", own["person"], other["person"])]
    shared += [(f"tables.{name}", own["tables"][name], other["tables"][name])
               for name in own["tables"] if name in other["tables"]]  # fmt: skip
    shared += [(f"items.{name}", own["items"][name], other["items"][name])
               for name in own["items"] if name in other["items"]]  # fmt: skip
    for place, mine, theirs in shared:
        for key in ("quasi_identifiers", "hierarchy", "column", "split", "parent"):
            if mine.get(key) != theirs.get(key):
                yield Problem(f"{place}.{key}: it is another one than that of {shown}; make it the same")


def _at_levels(spec: RelationalSpec, levels: Mapping[str, Mapping[str, int]]) -> RelationalSpec:
    """The spec with nothing to search for: the levels of the earlier release, and no others."""

    def fixed(name: str, columns: Mapping[str, QuasiIdentifier]) -> dict[str, QuasiIdentifier]:
        return {
            column: item.model_copy(
                update={"minimum_level": levels[name][column], "maximum_level": levels[name][column]}
            )
            for column, item in columns.items()
        }

    person = spec.person.model_copy(update={"quasi_identifiers": fixed(PERSON, spec.person.quasi_identifiers)})
    tables = {
        name: table.model_copy(update={"quasi_identifiers": fixed(name, table.quasi_identifiers)})
        for name, table in spec.tables.items()
    }
    items = {
        name: item.model_copy(update={"hierarchy": fixed(name, item.quasi_identifiers)[item.column]})
        for name, item in spec.items.items()
    }
    return spec.model_copy(update={"person": person, "tables": tables, "items": items})


def _shared_persons(
    earlier: tuple[str, ...],
    earlier_key: str,
    workspace: Workspace,
    spec: RelationalSpec,
    written: Mapping[str, ReleasedTable],
) -> str | None:
    """Why persons of the earlier release stop this one; None where no key is in both."""
    root = written[PERSON]
    (shared,) = workspace.row(
        "relations/shared_keys", table=root.table, key=root.key[0], earlier=Relation(earlier), earlier_key=earlier_key
    )
    if not int(shared):
        return None
    return (
        f"{int(shared):,} persons are in {'.'.join(earlier)} too, with the same keys, so that both releases together "
        "may single them out; leave them out, or release all rows again"
    )
