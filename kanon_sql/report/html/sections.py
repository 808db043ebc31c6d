"""What a run's report says, section by section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from kanon_sql.registers import RECODINGS
from kanon_sql.report.html.attacks import ATTACKERS, OF_AUDITS, attackers, attacks, notes_of_attacks, risks, skipped
from kanon_sql.report.html.blocks import Block, Cells, Facts, Figure, Prose, Section, Verbatim, generic, in_words
from kanon_sql.report.layout import slowest_statement
from kanon_sql.report.levels import level_cells, names_cells
from kanon_sql.report.pictures import Picture, pictures_of
from kanon_sql.report.recoding import column_cells, recoding_in_words
from kanon_sql.report.run import Run
from kanon_sql.report.text import quality_of, reached, size_cells
from kanon_sql.report.words import metric, number, percent, plural

__all__ = ["listed", "sections_of", "sections_of_spec", "spec_yaml", "tiles_of", "verdict_in_words", "yaml_of"]


def verdict_in_words(run: Run) -> str:
    """The answer to what was asked, in a few words."""
    if run.verdict is None:
        return f"Result of {run.verb}"
    if run.verb == "anonymize":
        return "Published: the release meets every requirement" if run.passed else "Nothing was published"
    if run.verb == "perturb":
        return (
            "Masked: values were perturbed, and k-anonymity does not apply"
            if run.verdict == "perturbed"
            else "Nothing was published: record linkage finds too many rows"
        )
    if run.verb == "plan":
        return (
            "A release can meet every requirement" if run.passed else "No release that meets the requirements was found"
        )
    if run.verb == "audit":
        return (
            "No attack exposes any person beyond the requirements"
            if run.passed
            else "Attacks expose people that the requirements should protect"
        )
    if run.verb == "check":
        if not run.passed and run.rows.get("source") == 0:
            return "The table has no rows, so that nothing was checked"
        return "The table meets every requirement" if run.passed else "The table does not meet the requirements"
    return f"{run.verb}: {run.verdict}"


def tiles_of(run: Run) -> list[tuple[str, str, str]]:
    """The few figures that matter most: label, figure, what it is out of."""
    rows, tiles = run.rows, []
    if "source" in rows and run.verb in ("plan", "anonymize"):
        source, released = rows["source"], rows.get("released", 0)
        if run.passed:
            tiles.append(("rows released", percent(released, source), f"{number(released)} of {number(source)}"))
            tiles.append(
                ("rows suppressed", percent(rows.get("suppressed", 0), source), number(rows.get("suppressed", 0)))
            )
        else:
            tiles.append(("rows in the source", number(source), ""))
    elif "source" in rows:
        tiles.append(("rows", number(rows["source"]), ""))
    smallest, average = run.classes.get("smallest"), run.classes.get("average")
    if smallest is not None:
        tiles.append(
            ("smallest class", number(int(smallest)), "rows" if average is None else f"{metric(average)} on average")
        )
    if run.mean_loss is not None:
        tiles.append(("mean loss", f"{metric(100 * run.mean_loss)} %", "of the detail of a cell"))
    if run.details is not None and run.details.tables:
        risk = run.details.tables[-1].risk
        if risk is not None:
            tiles.append(("highest risk", f"{metric(100 * risk.highest)} %", "of one record, to a prosecutor"))
    return tiles


def _warnings(run: Run) -> Iterator[Block]:
    if run.warnings:
        yield Facts([(item.code, f"{item.message} ({item.page})") for item in run.warnings])


def sections_of(run: Run) -> list[Section]:
    """All sections that have something to say."""
    pictures = pictures_of(run)
    shown = {
        "spec",
        *(["utility"] if "utility" in pictures else []),
        *([] if run.details is None else ["run_id", "published_at"]),  # of which the details say as much
        *{"risk": ATTACKERS, "audit": OF_AUDITS}.get(run.verb, ()),
    }
    others = {name: value for name, value in run.others.items() if name not in shown and value is not None}
    facts = {name: value for name, value in others.items() if not isinstance(value, Mapping | list)}
    made = [
        Section("Warnings", list(_warnings(run))),
        Section("Attacks", list(attacks(run))),
        Section("Risks", list(risks(run))),
        Section("Not run", list(skipped(run))),
        Section("Requirements", list(_requirements(run))),
        Section("Generalization", list(_generalized(run, pictures))),
        Section("Classes and risk", list(_risk(run, pictures))),
        Section("Rows by label", list(_distributions(run, pictures))),
        Section("Sensitive values", list(_sensitive(pictures))),
        Section("Quality", [*_quality(run), *_figures(pictures, "utility")]),
        Section("Search", list(_search(run, pictures))),
        *(
            Section(_TITLES.get(name, in_words(name).capitalize()), generic(value))
            for name, value in others.items()
            if name not in facts
        ),
        Section("Notes", [*notes_of_attacks(run), *(Prose(note) for note in run.notes)]),
        Section("Run", [*(generic(facts) if facts else ()), *_cost(run)]),
        Section("Spec", list(_spec(run))),
    ]
    return [section for section in made if section.blocks]


_TITLES = {"suda": "Special uniques (SUDA)", "weighted": "Individual risk, by sampling weights"}
"""What sections are called that no word of the result tells."""

_OF_REQUIREMENTS = {"requirement", "violating_classes", "violating_rows"}


def _requirements(run: Run) -> Iterator[Block]:
    if run.achieved:
        yield Cells(
            ["requirement", "achieved", "violating classes#", "rows in them#"],
            [
                [
                    str(item.get("requirement", key)),
                    reached(item),
                    number(int(item.get("violating_classes", 0))),
                    number(int(item.get("violating_rows", 0))),
                ]
                for key, item in run.achieved.items()
            ],
            marked=frozenset(
                index for index, item in enumerate(run.achieved.values()) if item.get("violating_classes")
            ),
        )


def _generalized(run: Run, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    if run.node is None and run.recoding is None:
        return
    yield Prose("Level 0 is the value as it is in the source; the highest level is one value for all.")
    if run.recoding is not None:
        declared = RECODINGS[run.recoding["method"]]
        name, does = declared.title, declared.words
        yield Prose(
            f"{name}: {does}. {recoding_in_words(run.recoding, run.level_names)}. "
            "The mean loss of a column is that of its cells: (values under the label - 1) / (values - 1)."
        )
        heads = ["quasi-identifier", "mean loss#", "labels#", "rows by the level of their label"]
        yield Cells(heads, [list(cells) for cells in column_cells(run.recoding, run.level_names)])
        return
    assert run.node is not None
    if "loss" in pictures:
        yield Figure(pictures["loss"])
    else:
        yield Cells(["quasi-identifier", "level#", "which is"], level_cells(run.node, run.level_names))
    if run.intervals:
        yield Prose("Level 1 is an interval of values that the search chose:")
        yield Cells(["quasi-identifier", "intervals#"], [[name, number(n)] for name, n in run.intervals.items()])


def _figures(pictures: Mapping[str, Picture], *names: str) -> Iterator[Block]:
    for name in names:
        if name in pictures:
            yield Figure(pictures[name])


def _risk(run: Run, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    yield from attackers(run)
    yield from _figures(pictures, "class-sizes", "risk")
    if "class-sizes" not in pictures and run.class_sizes:
        size = "persons#" if "persons" in run.rows else "size#"
        yield Cells([size, "classes#", "rows#"], [list(cells) for cells in map(size_cells, run.class_sizes)])
    if "risk" not in pictures:
        return
    yield Prose(
        "The prosecutor knows that a certain person is in the table, and looks for that person's record; the marketer "
        "guesses about every person. Both know every quasi-identifier, and nothing else. The journalist's risk "
        "depends on the population that the table was drawn from, which was not counted for this picture; it is not "
        "above the prosecutor's."
    )
    if run.rows.get("masked"):
        yield Prose(
            f"{plural(run.rows['masked'], 'masked row')} of the release are in no class here; together they are one "
            "that was verified by itself."
        )


def _distributions(run: Run, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    found = () if run.details is None else run.details.distributions
    if found:
        counted = found[0].counted
        yield Prose(
            f"The {counted} under each released label, in the release and in the source, by column. Labels of "
            f"few {counted} are merged. Counts of the source are not in the release: this report reveals them to "
            "its readers."
        )
        yield from _figures(pictures, *(name for name in pictures if name.startswith("distribution-")))
        exception = (
            " A small count may also be revealed where a person has several labels of a column."
            if counted == "persons"
            else ""
        )
        if hidden := [item.name for item in found if not item.cells]:
            yield Prose(f"Not shown, since any part of it would reveal a small count: {', '.join(hidden)}." + exception)


def _sensitive(pictures: Mapping[str, Picture]) -> Iterator[Block]:
    names = [name for name in pictures if name.startswith("distances-")]
    if names:
        yield Prose(
            "How far the distribution of a sensitive attribute in a class is from that in the whole source (in the "
            "checked table, if the requirement compares with the release): 0 is the same, 1 is the farthest. The "
            "nearer, the less a person's class tells about them."
        )
        yield from _figures(pictures, *names)


def _quality(run: Run) -> Iterator[Block]:
    if run.metrics:
        rows = [list(row) for row in quality_of(run.metrics, run.mean_loss)]
        yield Cells(["metric, lower is better", "value#", "what it is"], rows)


_FACTS_OF_SEARCH = {"algorithm", "criterion", "stopped", "nodes_total", "nodes_evaluated", "nodes_inferred"}
_NO_FACTS = {
    "proven",
    "minimal_nodes",
    "minimal",
    "lattice",
    "runners_up",
    "base_reads",
    "frequency_sets",
    "matrix",
    "distances",
}


def _search(run: Run, pictures: Mapping[str, Picture]) -> Iterator[Block]:
    search = run.search
    if search is None:
        return
    if run.node is not None:
        optimality = "proven optimal" if search.get("proven") else "not proven optimal: the best node found"
    elif search.get("proven"):
        optimality = "proven: no generalization satisfies the requirements"
    else:
        optimality = "no node was found, which does not prove that there is none"
    facts = [("algorithm", str(search.get("algorithm"))), ("outcome", optimality)]
    if run.node is not None:
        facts.append(("criterion", str(search.get("criterion"))))
    if search.get("stopped") is not None:
        facts.append(("stopped", str(search["stopped"])))
    evaluated, total = search.get("nodes_evaluated") or 0, search.get("nodes_total")
    nodes = plural(evaluated, "partition") if total is None else f"{number(evaluated)} evaluated of {number(total)}"
    if search.get("nodes_inferred") is not None:
        nodes += f", {number(search['nodes_inferred'])} decided without a query"
    facts.append(("evaluated" if total is None else "nodes", nodes))
    if search.get("minimal_nodes") is not None and run.node is not None:
        facts.append(("minimal", plural(search["minimal_nodes"], "k-minimal generalization")))
    more = {
        key: value for key, value in search.items() if key not in _FACTS_OF_SEARCH | _NO_FACTS and value is not None
    }
    yield Facts([*facts, *((in_words(key), str(value)) for key, value in more.items())])
    yield from _figures(pictures, "lattice", "frontier")
    runners_up = search.get("runners_up")
    if "frontier" not in pictures and isinstance(runners_up, list) and runners_up:
        rows = [
            {
                "levels": "[" + ", ".join(map(str, item["node"].values())) + "]",
                **_without_node(item),
            }
            for item in runners_up
        ]
        yield Prose("The runners-up:")
        yield from generic(rows)
    if run.level_names and ("trade-off" in pictures or runners_up):
        yield Prose("Levels stand in the order of the quasi-identifiers.")
        heads = ["quasi-identifier", "level#", "which is"]
        yield Cells(heads, names_cells(run.level_names), caption="What the levels are called", folded=True)


def _without_node(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "node"}


def _cost(run: Run) -> Iterator[Block]:
    cost, details = run.cost, run.details
    facts = []
    if details is not None:
        facts += [
            ("run", details.run_id),
            ("at", details.at.replace("T", " ").replace("+00:00", " UTC")),
            ("engine", details.engine),
            ("kanon_sql", details.version),
        ]
    if cost:
        facts += [
            ("statements", number(int(cost.get("statements", 0)))),
            ("source scans", number(int(cost.get("source_scans", 0)))),
            (
                "reached the client",
                f"{plural(int(cost.get('rows_fetched', 0)), 'row')} of aggregates, "
                f"{plural(int(cost.get('bytes_fetched', 0)), 'byte')}; no row of the source",
            ),
            ("time", f"{metric(cost.get('seconds', 0.0))} s"),
        ]
        slowest: Any = cost.get("slowest")
        if slowest is not None:
            facts.append(("longest statement", slowest_statement(slowest)))
    if facts:
        yield Facts(facts)
    if details is not None and details.statements:
        rows = [[name, number(count)] for name, count in details.statements.items()]
        yield Cells(["statement", "times#"], rows, caption="Statements by template", folded=True)


def _spec(run: Run) -> Iterator[Block]:
    spec: Any = run.others.get("spec") if run.details is None else run.details.spec
    if isinstance(spec, Mapping) and spec:
        yield from _spec_blocks(spec)


def _spec_blocks(spec: Mapping[str, Any], *, is_open: bool = False) -> Iterator[Block]:
    if spec:
        yield Prose("Without passwords, literals of SQL, and labels of hierarchies.")
        yield Verbatim(yaml_of(spec), "The spec as YAML", is_open)


def sections_of_spec(spec: Mapping[str, Any]) -> list[Section]:
    """What a spec asks for, without what manifests leave out: its quasi-identifiers as a table, and YAML."""
    made = []
    quasi = spec.get("quasi_identifiers")
    if isinstance(quasi, Mapping):
        rows = [
            [str(name), listed(item) or "value or nothing"] for name, item in quasi.items() if isinstance(item, Mapping)
        ]
        made.append(Section("Quasi-identifiers", [Cells(["quasi-identifier", "hierarchy"], rows)]))
    return [*made, Section("The spec", [*_spec_blocks(_given(spec), is_open=True)])]


def spec_yaml(spec: Mapping[str, Any]) -> str:
    """A spec as YAML, without what it leaves empty."""
    return yaml_of(_given(spec))


def _given(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if value not in (None, [], {}) and key != "warnings"}


_USUAL = {"minimum_level": 0, "weight": 1.0, "origin": 0}


def listed(own: Mapping[str, Any]) -> str:
    """The keys of a part of a spec in words, without what it leaves as it usually is."""
    return "; ".join(
        f"{in_words(key)}: {_flow(value)}"
        for key, value in own.items()
        if value is not None and value != _USUAL.get(key)
    )


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{_flow(item)} {key}" for key, item in value.items() if key != "sha256")
    return ", ".join(map(_flow, value)) if isinstance(value, list | tuple) else str(value)


def yaml_of(data: Mapping[str, Any]) -> str:
    """A spec as YAML."""
    writer, text = YAML(typ="safe", pure=True), StringIO()
    writer.default_flow_style = None
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.width = 100
    writer.dump(_plain(data), text)
    return text.getvalue()


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    return [_plain(item) for item in data] if isinstance(data, list | tuple) else data
