"""A small project of ARX, written element by element as ARX writes one."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

COLUMNS = ["name", "born", "zip", "income", "illness", "ward"]
BORN = {f"{day:02}.03.19{year}": (f"19{year}", f"19{year // 10}x", "*") for day in (4, 5) for year in (50, 51, 62)}
ZIP = {f"0{number:03}": (f"0{number // 10:02}",) for number in range(10, 30)}  # no label for all, and leading zeros
ROLES = {
    "name": "IDENTIFYING", "born": "QUASI_IDENTIFYING", "zip": "QUASI_IDENTIFYING", "income": "SENSITIVE",
    "illness": "SENSITIVE", "ward": "INSENSITIVE",
}  # fmt: skip
TREE = {"flu": ("lungs", "*"), "asthma": ("lungs", "*"), "ulcer": ("belly", "*")}


def rows(number: int = 120) -> list[list[str]]:
    born, zips, ill = list(BORN), list(ZIP), list(TREE)
    return [
        [f"p{i}", born[i % 6], zips[i * 7 % 20], str(1000 + i % 9), ill[i % 3], "NULL" if i % 10 else "W;1"]
        for i in range(number)
    ]


def text_of(table: list[list[str]], delimiter: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(table)
    return text.getvalue()


def definition(more: Mapping[str, str] | None = None, roles: Mapping[str, str] = ROLES) -> str:
    items = []
    for name in COLUMNS:
        ref = f"<ref>hierarchies/{name}.csv</ref>" if name in ("born", "zip", "illness") else ""
        extra = (more or {}).get(name) or (f"{ref}<min>All</min><max>All</max>" if ref else "")
        kind = "Integer" if name == "income" else "String"
        items.append(
            f"\t<assigment>\n\t\t<name>{name}</name>\n\t\t<type>{roles[name]}_ATTRIBUTE</type>\n"
            f"\t\t<datatype>{kind}</datatype>{extra}\n\t</assigment>"
        )
    return "<definition>\n" + "\n".join(items) + "\n</definition>\n"


def config(
    *criteria: str,
    limit: str = "0.1",
    metric: str = "Loss (0.5/1.0/1.0)",
    weights: Mapping[str, float] | None = None,
    suppressed: tuple[str, ...] = ("QUASI_IDENTIFYING",),
) -> str:
    types = "".join(f"<type>{item}_ATTRIBUTE</type>" for item in suppressed)
    weighed = "".join(
        f"<attributeWeight><attribute>{name}</attribute><weight>{weight}</weight></attributeWeight>"
        for name, weight in (weights or {}).items()
    )
    asked = "\n".join(f"<criterion>{escape(item)}</criterion>" for item in criteria)
    return (
        f"<config>\n<suppressedAttributeTypes>{types}</suppressedAttributeTypes>\n"
        f"<practicalMonotonicity>false</practicalMonotonicity>\n<relativeMaxOutliers>{limit}</relativeMaxOutliers>\n"
        f"<metric>{metric}</metric>\n<attributeWeights>{weighed}</attributeWeights>\n"
        f"<criteria>\n{asked}\n</criteria>\n</config>\n"
    )


def project(path: Path, *, delimiter: str = ";", change: Mapping[str, bytes | str | None] | None = None) -> Path:
    """A project file; ``change`` replaces entries, or leaves them out."""
    entries: dict[str, bytes | str | None] = {
        "metadata.xml": "<metadata>\n\t<version>3.9.1</version>\n\t<vocabulary>2.0</vocabulary>\n</metadata>\n",
        "project.dat": b"\xac\xed never read",
        "project.xml": f"<project>\n\t<name>x</name>\n\t<separator>{delimiter}</separator>\n</project>\n",
        "data/input.csv": text_of([COLUMNS, *rows()], delimiter),
        "input/config.xml": config("3-anonymity"),
        "input/definition.xml": definition(),
        "input/hierarchies/born.csv": text_of([[value, *labels] for value, labels in BORN.items()], delimiter),
        "input/hierarchies/zip.csv": text_of([[value, *labels] for value, labels in ZIP.items()], delimiter),
        "input/hierarchies/illness.csv": text_of([[value, *labels] for value, labels in TREE.items()], delimiter),
        **(change or {}),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            if content is not None:
                archive.writestr(name, content)
    return path
