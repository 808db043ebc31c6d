"""A table beside those that were published of the same source before: subtracting cells reveals no small number.

A reader of all of them knows every published cell of each. All cells are sums of the same atoms: the persons (or rows)
with one label in each dimension of every table. So the tables together are one system, in which what is published is
fixed, and the proof of a small number is the same as in one table: two whole tables of atoms that agree with everything
published and are far enough apart there. A small number is one below the threshold of

- a cell of any of the tables,
- what a cell of one table and a cell of another have in common, and what the one has without the other: what is left
  where one of two published cells is subtracted from the other,
- what is left of a cell without all cells of a margin of another table that are inside of it, and what all cells that
  it touches there have without it.

Where a proof is missing, more cells of the new table are suppressed; those of earlier ones are known already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from math import prod
from typing import Any

from kanon_sql.engines import Workspace
from kanon_sql.errors import HierarchyError, Problem, SpecError, counted
from kanon_sql.hierarchies import Site, survey
from kanon_sql.release import Addition, Entry, of_one_table, read_ledger
from kanon_sql.spec import Dimension, Grouping, TableSpec, sha256
from kanon_sql.sql import Relation, Sql, exact_text
from kanon_sql.tables.audit import Audit, Requirement, Shift
from kanon_sql.tables.cells import MOST_CELLS, opened_table, raw_table
from kanon_sql.tables.proof import proven
from kanon_sql.tables.protect import ProtectedTable
from kanon_sql.tables.publish import digits_of, place_columns, place_of, read_row
from kanon_sql.tables.structure import Cell, CellTable, Key, Path, group_path

__all__ = ["addition_of", "audited_jointly", "comparable_tables"]

MOST_ATOMS = 2_000
"""Of more possible atoms, only those are let move that the source has, which may suppress more than is needed."""

MOST_RISKS = 2_000
"""More small numbers are not audited one by one."""

Labels = tuple[Path, tuple[Path, ...]]
"""The path of an atom in one dimension of a table, and the groups of several hierarchies that it is in."""
Atom = tuple[tuple[Labels, ...], ...]
"""For each table, the labels in each of its dimensions."""


# --- What was published --------------------------------------------------------------------


def comparable_tables(workspace: Workspace, spec: TableSpec) -> tuple[Entry, ...]:
    """The tables that a spec's ledger holds, all of which can be compared with one of the spec.

    Raises:
        SpecError: one of them cannot, or the ledger is none.
    """
    assert spec.ledger is not None
    entries = of_one_table(read_ledger(workspace, Relation(spec.ledger.table)))
    problems = [Problem(f"ledger: {why}") for entry in entries for why in _obstacles(workspace, spec, entry)]
    if problems:
        raise SpecError(problems)
    return entries


def _obstacles(workspace: Workspace, spec: TableSpec, entry: Entry) -> Iterator[str]:
    """Why a table of the spec cannot be compared with an earlier one."""
    if entry.table is None:
        yield f"{entry.name} is no table of counts; record tables in a ledger of their own"
        return
    if entry.table["source"] != _digest(spec):
        yield f"{entry.name} was made of another source; use one ledger for each source"
    earlier = TableSpec.from_dict({**entry.table["spec"], "source": spec.source.to_dict()})
    if (earlier.unit, earlier.counts) != (spec.unit, spec.counts):
        yield f"{entry.name} counts {earlier.counts} of {earlier.unit or 'no unit'}; count the same, to compare with it"
    if entry.release == spec.release:
        yield f"{entry.name} was published at {entry.published_at} and stays as it is; publish under another name"
    elif workspace.engine.exists(entry.release) != "table" or workspace.engine.mark(entry.release) != entry.run_id:
        yield (
            f"the table {entry.name} (run {entry.run_id}) is not in the database any more, to be compared with; "
            "restore it, or, if its run was killed, run kanon-sql clean --yes"
        )


def _digest(spec: TableSpec) -> str:
    return sha256(spec.source.to_dict())


def addition_of(workspace: Workspace, spec: TableSpec, shown: TableSpec, entries: Sequence[Entry]) -> Addition:
    """What the ledger holds of a table: the spec, with the hierarchies of its dimensions, and the levels it has."""
    assert spec.ledger is not None
    assert spec.release is not None
    written = {**spec.to_dict(), "ledger": None, "release": None}
    del written["source"]
    levels = {name: list(item.levels) for name, item in shown.dimensions.items()}  # a ledger keeps no order of names
    entry = replace(Entry.bare(workspace, spec), table={"spec": written, "levels": levels, "source": _digest(spec)})
    return Addition.of(workspace, spec.ledger.table, entry, spec.hash, entries)


# --- The atoms -----------------------------------------------------------------------------


def _atoms(workspace: Workspace, specs: Sequence[TableSpec]) -> dict[Atom, int]:
    """How many persons or rows have which labels in all tables: one more pass over the source."""
    workspace.report("comparing with earlier tables: one GROUP BY over the dimensions of all", None)
    columns = list(dict.fromkeys(name for spec in specs for name in spec.dimensions))
    whole = specs[-1].model_copy(update={"dimensions": {name: Dimension() for name in columns}})
    opened = opened_table(workspace, whole)
    raw, _, _ = raw_table(workspace, whole, opened, "joint_raw")
    sites: list[Site] = []
    places: list[tuple[int, int, str, int, int]] = []  # a label: its table, dimension, hierarchy, site, and level
    for number, spec in enumerate(specs):
        for index, (name, item) in enumerate(spec.dimensions.items()):
            groupings: list[tuple[str, Dimension | Grouping]] = [("", item), *item.hierarchies.items()]
            for own, grouping in groupings:
                where = f"{'.'.join(spec.release or ('table',))}: dimensions.{name}"
                at = len(sites)
                sites.append(
                    Site(at, where, opened.columns[name], f"q{columns.index(name)}", f"t{at}", grouping.hierarchy)
                )
                places += [(number, index, own, at, level) for level in grouping.levels]
    found = survey(workspace, whole, sites, raw)
    problems = [problem for item in found for problem in [*item.nesting_problems(), *item.coverage_problems("value")]]
    if problems:
        raise HierarchyError(problems)
    lookups = [item.lookup("value") for item in found]
    names = [f"a{number}" for number in range(len(places))]
    labels = [
        {"name": name, "sql": exact_text(Sql(f"CAST(lookup{at}.l{level} AS VARCHAR)"))}
        for name, (*_, at, level) in zip(names, places, strict=True)
    ]
    joined = [{"index": item.index, "table": item.table, "column": item.column, "has_nulls": item.has_nulls}
              for item in lookups]  # fmt: skip
    finest, cells = workspace.table("joint_finest"), workspace.table("joint_cells")
    plain: dict[str, Any] = {"unit": whole.unit is not None, "holding": False, "measure": False}
    workspace.execute("tables/finest", target=finest, raw=raw, labels=labels, lookups=joined, **plain)
    nothing = dict.fromkeys(("threshold", "population", "mean", "dominance"))
    rules = {"persons": whole.counts == "persons", "largest": 1, "differences": []}
    workspace.execute(
        "tables/cells", target=cells, finest=finest, names=names, branches=[names], **plain, **nothing, **rules
    )
    (size,) = workspace.row("tables/count", cells=cells, branches=[0])
    if int(size) > MOST_CELLS:
        raise SpecError(
            f"ledger: this table and the earlier ones have {int(size):,} cells of all their dimensions together, and "
            f"at most {MOST_CELLS:,} are audited; publish coarser levels, or fewer dimensions"
        )
    rows = workspace.fetch(
        "tables/fetch", MOST_CELLS, cells=cells, branches=[0], names=names, differences=1, numbered=False,
        holding=False, mean=False,
    )  # fmt: skip
    return {_atom(specs, places, row[1:]): int(row[1 + len(names)]) for row in rows}


def _atom(specs: Sequence[TableSpec], places: Sequence[tuple[int, int, str, int, int]], row: Sequence[Any]) -> Atom:
    """A row of labels as the paths of each dimension of each table."""
    paths: dict[tuple[int, int], list[str | None]] = defaultdict(list)
    groups: dict[tuple[int, int], list[Path]] = defaultdict(list)
    for (number, index, own, _, level), value in zip(places, row, strict=False):
        label = None if value is None else str(value)
        if own:
            groups[number, index].append(group_path(own, level, label))
        else:
            paths[number, index].insert(0, label)
    return tuple(
        tuple((tuple(paths[number, index]), tuple(groups[number, index])) for index in range(len(spec.dimensions)))
        for number, spec in enumerate(specs)
    )


def _possible(specs: Sequence[TableSpec], atoms: Mapping[Atom, int]) -> dict[Atom, int]:
    """The atoms that every reader must take to be possible: those of the source, and others in cells that have some.

    Labels of one column go together as in the source, since one value has them all; labels of different columns may
    meet in any way.
    """
    columns = list(dict.fromkeys(name for spec in specs for name in spec.dimensions))
    at = {name: [(n, list(spec.dimensions).index(name)) for n, spec in enumerate(specs) if name in spec.dimensions]
          for name in columns}  # fmt: skip
    seen = [list(dict.fromkeys(tuple(atom[n][i] for n, i in at[name]) for atom in atoms)) for name in columns]
    if prod(map(len, seen)) > MOST_ATOMS:
        return dict(atoms)
    shown = [{key for atom in atoms for key in _keys(spec, atom[n])} for n, spec in enumerate(specs)]
    found = {}
    for one in product(*seen):
        labels = {place: own for name, owns in zip(columns, one, strict=True)
                  for place, own in zip(at[name], owns, strict=True)}  # fmt: skip
        atom = tuple(tuple(labels[n, i] for i in range(len(spec.dimensions))) for n, spec in enumerate(specs))
        if all(shown[n].issuperset(_keys(spec, atom[n])) for n, spec in enumerate(specs)):
            found[atom] = atoms.get(atom, 0)
    return found


def _keys(spec: TableSpec, labels: Sequence[Labels]) -> list[Key]:
    """The cells of a table that an atom is a part of."""
    ends: list[list[Path]] = []
    for item, (path, groups) in zip(spec.dimensions.values(), labels, strict=True):
        total = [()] if item.total or not path else []
        ends.append([*(path[:end] for end in range(1, len(path) + 1)), *total, *groups])
    keys = list(product(*ends))
    if spec.tables is None:
        return keys
    names = list(spec.dimensions)
    return [
        key
        for key in keys
        if any({name for name, path in zip(names, key, strict=True) if path} <= set(one) for one in spec.tables)
    ]


# --- The system ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _System(CellTable):
    """Atoms, the cells of all tables, and small numbers besides, with the relations that are given."""

    links: Sequence[tuple[int, Sequence[int]]] = ()

    @cached_property
    def relations(self) -> Sequence[tuple[int, Sequence[int]]]:
        """Every cell and every small number with the atoms that add up to it."""
        return self.links


@dataclass(frozen=True)
class JointAudit:
    """What a table and earlier ones tell together, and the proof that it is not too much.

    Attributes:
        names: the earlier tables.
        system: what all tables are made of.
        own: where the cells of the new table are in it, in their order.
        known: every other cell of it -> what is published of it; None where it is suppressed.
        risks: each small number, and how wide its interval must be.
        worlds: other possible tables.
        added: how many cells were suppressed besides.
    """

    names: Sequence[str]
    system: _System
    own: Sequence[int]
    known: Mapping[int, int | None]
    risks: Mapping[int, int]
    worlds: Sequence[Shift] = ()
    added: int = 0

    def audit(self, values: Sequence[int | None]) -> Audit:
        """What a reader of all tables knows, where these are the values of the new one."""
        published = {**self.known, **dict(zip(self.own, values, strict=True))}
        lower, upper = [0] * len(self.system.cells), [None] * len(self.system.cells)
        bounds: list[int | None] = list(upper)
        for index, value in published.items():
            lower[index], bounds[index] = (1, None) if value is None else (value, value)
        return Audit(self.system, lower, bounds)

    def unproven(self, values: Sequence[int | None]) -> int:
        """How many small numbers the proof does not cover, where these are the values of the new table."""
        audit = self.audit(values)
        worlds = [{}, *(world for world in self.worlds if audit.agrees(world))]
        return sum(not _far(worlds, index, width) for index, width in self.risks.items())


def _far(worlds: Sequence[Shift], index: int, width: int) -> bool:
    """Whether some possible tables are so far apart in a number."""
    found = [world.get(index, 0) for world in worlds]
    return max(found) - min(found) >= width


def audited_jointly(
    workspace: Workspace, spec: TableSpec, shown: TableSpec, found: ProtectedTable, entries: Sequence[Entry]
) -> ProtectedTable:
    """Protect a table beside earlier ones, by more suppression where that is its method.

    Args:
        workspace: where.
        spec: what was tabulated.
        shown: that at the levels that the table has.
        found: the table, protected by itself.
        entries: the earlier tables.

    Returns:
        The table with what is suppressed besides, and the proof. It has a ``failure`` where nothing may be published.

    Raises:
        SpecError: an earlier table can no longer be derived from the source, or there is too much to compare.
    """
    if not entries:
        return found
    earlier = [_spec_of(spec, entry) for entry in entries]
    specs = [*earlier, shown]
    atoms = _possible(specs, _atoms(workspace, specs))
    members: list[dict[Key, list[int]]] = [defaultdict(list) for _ in specs]
    for index, atom in enumerate(atoms):
        for number, one in enumerate(specs):
            for key in _keys(one, atom[number]):
                members[number][key].append(index)
    counts = list(atoms.values())
    values = [{key: sum(counts[item] for item in own) for key, own in one.items()} for one in members]
    _refuse_changed(workspace, earlier, entries, found, values)
    cells = [Cell((), count, False, 0, 0) for count in counts]
    links: list[tuple[int, Sequence[int]]] = []
    known: dict[int, int | None] = {}
    risks: dict[int, int] = {}
    at: dict[tuple[int, Key], int] = {}

    def enter(parts: Sequence[int], value: int) -> int:
        links.append((len(cells), parts))
        cells.append(Cell((), value, False, 0, 0))
        return len(cells) - 1

    for number, (one, entry) in enumerate(zip(earlier, entries, strict=True)):
        published = _published(workspace, one, entry)
        for key, value in values[number].items():
            index = at[number, key] = enter(members[number][key], value)
            known[index] = published[place_of(one, key)]
    last = len(specs) - 1
    for cell in found.table.cells:
        at[last, cell.key] = enter(members[last][cell.key], cell.value)
    for number, one in enumerate(specs):
        for key, value in values[number].items():
            if value < _threshold(one):
                risks[at[number, key]] = one.width
    for parts, (value, width) in _small(specs, atoms, members).items():
        risks[enter(sorted(parts), value)] = width
    if len(risks) > MOST_RISKS:
        raise SpecError(
            f"ledger: {len(risks):,} small numbers follow from this table and the earlier ones, and at most "
            f"{MOST_RISKS:,} are audited; publish coarser levels, or fewer dimensions"
        )
    own = [at[last, cell.key] for cell in found.table.cells]
    system = _System(cells, False, links=links)
    joint = JointAudit([entry.name for entry in entries], system, own, known, risks)
    return _hidden(workspace, spec, found, joint)


def _spec_of(spec: TableSpec, entry: Entry) -> TableSpec:
    assert entry.table is not None
    written = {**entry.table["spec"], "source": spec.source.to_dict(), "release": list(entry.release)}
    earlier = TableSpec.from_dict(written)
    return earlier.with_levels([entry.table["levels"][name] for name in earlier.dimensions])


def _threshold(spec: TableSpec) -> int:
    assert spec.rules.threshold is not None
    return spec.rules.threshold


def _published(workspace: Workspace, spec: TableSpec, entry: Entry) -> dict[tuple[str | None, ...], int | None]:
    """What stands in an earlier table: the place of a cell -> its value."""
    names = [*place_columns(spec), "value"]
    rows = workspace.fetch("tables/read", MOST_CELLS, table=Relation(entry.release), names=names)
    digits = [digits_of(spec).get(name) for name in names]
    read = [read_row(row, digits) for row in rows]
    return {row[:-1]: None if row[-1] is None else int(row[-1]) for row in read}


def _refuse_changed(
    workspace: Workspace,
    earlier: Sequence[TableSpec],
    entries: Sequence[Entry],
    found: ProtectedTable,
    values: Sequence[Mapping[Key, int]],
) -> None:
    """Refuse to compare with what the source no longer has."""
    for spec, entry, own in zip(earlier, entries, values, strict=False):
        published = _published(workspace, spec, entry)
        derived = {place_of(spec, key): value for key, value in own.items()}
        if set(published) != set(derived) or any(
            value is not None and value != derived[place] for place, value in published.items()
        ):
            raise SpecError(
                f"ledger: {entry.name} can no longer be derived from the source (the source or the table has changed), "
                "so what the tables reveal together is unknown; publish tables of a changed source by another ledger "
                "only if no person is in both"
            )
    if {cell.key: cell.value for cell in found.table.cells} != dict(values[-1]):
        raise SpecError("ledger: the source changed while it was read; run it again")


def _small(
    specs: Sequence[TableSpec],
    atoms: Mapping[Atom, int],
    members: Sequence[Mapping[Key, Sequence[int]]],
) -> dict[frozenset[int], tuple[int, int]]:
    """Small numbers that are no cell, and are left where cells of two tables are subtracted from each other."""
    counts = list(atoms.values())
    keys = [[_keys(spec, atom[number]) for atom in atoms] for number, spec in enumerate(specs)]
    sets = [{key: frozenset(parts) for key, parts in one.items()} for one in members]
    cells = {parts for one in sets for parts in one.values()}
    found: dict[frozenset[int], tuple[int, int]] = {}
    for one, other in permutations(range(len(specs)), 2):
        least = max(_threshold(specs[one]), _threshold(specs[other]))
        width = max(specs[one].width, specs[other].width)
        for whole in sets[other].values():
            for parts in _left(whole, keys[one], sets[one]):
                value = sum(counts[item] for item in parts)
                if 0 < value < least and parts not in cells:
                    found[parts] = (value, max(width, found.get(parts, (0, 0))[1]))
    return found


def _left(
    whole: frozenset[int], keys: Sequence[Sequence[Key]], sets: Mapping[Key, frozenset[int]]
) -> Iterator[frozenset[int]]:
    """What is left where a cell and those of another table, margin by margin, are subtracted from each other.

    Args:
        whole: the atoms of the cell.
        keys: for each atom its cells in the other table, in the order of the margins.
        sets: the atoms of each cell there.
    """
    touched: dict[int, set[Key]] = defaultdict(set)
    for item in whole:
        for margin, key in enumerate(keys[item]):
            touched[margin].add(key)
    for found in touched.values():
        for key in found:
            yield whole & sets[key]
            yield whole - sets[key]
            yield sets[key] - whole
        yield whole.difference(*(sets[key] for key in found if sets[key] <= whole))
        yield frozenset().union(*(sets[key] for key in found)) - whole


def _hidden(workspace: Workspace, spec: TableSpec, found: ProtectedTable, joint: JointAudit) -> ProtectedTable:
    """Suppress cells of the new table until every small number is proven to be open."""
    workspace.report("auditing the table beside earlier ones", None)
    values, worlds, failed = list(found.values), list[Shift]([{}]), 0
    suppresses = not spec.protection.collapses
    for index, width in sorted(joint.risks.items(), key=lambda item: (-item[1], item[0])):
        if _far(worlds, index, width):
            continue
        need = Requirement(width, 0, 0)
        proof = proven(joint.audit(values), index, need, ())
        if proof is None and suppresses:
            prices = {
                place: float(1 + len(joint.system.links[place - len(joint.system.cells)][1]))
                for place, value in zip(joint.own, values, strict=True)
                if value is not None and value > 1
            }
            fewer = [None if place in prices else value for place, value in zip(joint.own, values, strict=True)]
            proof = proven(joint.audit(fewer), index, need, (), prices=prices)
            if proof is not None:
                moved = proof.moved
                values = [None if place in moved else value for place, value in zip(joint.own, values, strict=True)]
        if proof is None:
            failed += 1
            continue
        worlds += [proof.down, proof.up]
    added = sum(value is None for value in values) - found.suppressed
    done = replace(joint, worlds=worlds, added=added)
    if failed:
        why = (
            "suppressing cells of this one does not help"
            if suppresses
            else "use protection: suppression, which may help"
        )
        failure = (
            f"together with {', '.join(joint.names)}, {counted(failed, 'number')} below the threshold would be "
            f"revealed by subtracting cells; {why}, or publish coarser levels"
        )
        return replace(found, failure=failure, joint=done)
    audit = done.audit(values)
    intervals = {
        number: audit.interval(place)
        for number, (place, value) in enumerate(zip(joint.own, values, strict=True))
        if value is None
    }
    return replace(found, values=values, intervals=intervals, joint=done)
