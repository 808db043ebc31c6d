"""The text of a draft: YAML that a spec is read from, with a comment for each thing that the user should decide.

No value of the table is in it, but what a preset looked up in a table of populations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kanon_sql.disclosure.risk import Combination
from kanon_sql.evaluate import rows_in_words
from kanon_sql.spec import Source, format_table_name
from kanon_sql.verbs.init.columns import ColumnProfile
from kanon_sql.verbs.init.interview import DISTINGUISHING, ColumnsTogether
from kanon_sql.verbs.init.presets import Preset
from kanon_sql.verbs.init.suggest import Panel, Role, Suggestion
from kanon_sql.verbs.init.user_columns import Roles, requirements_of

__all__ = ["Draft", "as_yaml", "lines_of"]

K = 5
"""Of k-anonymity, where neither the user nor a preset says another."""

MANY = 4
"""This many quasi-identifiers seldom leave a useful table at one level per column."""


@dataclass(frozen=True)
class Draft:
    """What a spec is written from.

    Attributes:
        source: the table or file.
        rows: its rows.
        columns: a suggestion for each of its columns.
        together: what columns distinguish together; None where that was not asked.
        panel: a key of two columns, whose first one has the name of a thing; None without one.
        unusable: columns whose names or types a spec cannot use.
        preset: whose rules the spec follows; None for none.
        k: of k-anonymity; None for the usual one.
        notes: what to know of the table.
        roles: what the user said of the columns.
        skeletons: values were written into hierarchy files.
    """

    source: Source
    rows: int
    columns: Sequence[Suggestion]
    together: ColumnsTogether | None
    panel: Panel | None
    unusable: int
    preset: Preset | None
    k: int | None
    notes: Sequence[str] = ()
    roles: Roles = field(default_factory=Roles)
    skeletons: bool = False

    def of(self, role: Role) -> list[Suggestion]:
        """The columns in a role."""
        return [item for item in self.columns if item.role == role]


def lines_of(draft: Draft) -> Iterator[str]:
    """The lines of the spec."""
    preset, source = draft.preset, draft.source
    parts = source.table or (Path(source.file or "").stem,)
    release = format_table_name((*parts[:-1], f"{parts[-1]}_release"))
    looked = "values are in the hierarchy files" if draft.skeletons else "no value was looked at"
    yield f"# A spec to start from, suggested by counts over {rows_in_words(draft.rows)}; {looked}."
    yield "# Read every line: names and counts are only hints, and you decide what an attacker may know of a person."
    yield from (f"# {' '.join(note.split())}" for note in draft.notes)
    if preset is not None:
        yield "#"
        yield from (f"# {line}".rstrip() for line in preset.head)
    yield "version: 1"
    yield "kind: release"
    yield ""
    if source.file is not None:
        csv = "" if source.csv is None else f", csv: {_flow(source.csv.to_dict())}"
        yield f"source: {{file: {as_yaml(source.file)}{csv}}}  # beside this spec, or the path from it"
    else:
        yield f"source: {as_yaml(format_table_name(parts))}"
    yield f"release: {as_yaml(release)}"
    yield ""
    yield from _unit_lines(draft)
    yield "# Never released."
    yield from _list_lines("identifiers", draft.of("identifier"))
    yield ""
    yield from _quasi_identifier_lines(draft)
    yield ""
    yield "# Released as they are, and protected by the requirements below."
    yield from _list_lines("sensitive", draft.of("sensitive"))
    yield ""
    yield from _kept_lines(draft)
    yield ""
    yield from _privacy_lines(draft)
    yield ""
    yield "# At most this share of the rows may be left out."
    yield "suppression: {max_share: 0.02}"
    yield ""
    yield from _recoding_lines(draft)


def _flow(mapping: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {as_yaml(value)}" for key, value in mapping.items()) + "}"


def _quasi_identifier_lines(draft: Draft) -> Iterator[str]:
    yield "# What an attacker may know of a person; generalized level by level until the requirements hold."
    items, apart = draft.of("quasi_identifier"), draft.together
    own = [item.profile.name for item in items]
    yield from _together_lines(apart, own)
    yield "quasi_identifiers:"
    for item in items:
        known = f"{item.reason}{_counted(item.profile)}{_setting_apart(item.profile)}{_with_another(apart, item, own)}"
        yield f"  # {known}{'; ' if item.hint else ''}{item.hint}"
        if item.profile.stored_as_text is not None:
            yield f"  # {item.profile.stored_as_text}"
        if item.profile.hipaa is not None and not item.fixed:
            yield f"  # {item.profile.hipaa.hint}"
        yield f"  {as_yaml(item.profile.name)}: {item.hierarchy}"


def _kept_lines(draft: Draft) -> Iterator[str]:
    kept, left_out = draft.of("keep"), draft.of("left_out")
    own = [item.profile.name for item in draft.of("quasi_identifier")]
    if kept:
        yield "# Released unchanged and without protection: list only columns that identify no person."
        yield "# Lines with a # are not released."
    else:
        yield (
            "# Not released unless you remove the #; then released unchanged, so list only columns that identify no "
            "person."
        )
    yield from _list_lines("keep", kept)
    for item in left_out:
        yield _listed(item, "# ", _with_another(draft.together, item, own))
    if draft.unusable:
        yield (
            "# Columns whose names or types a spec cannot use (rename or cast them in a source query): "
            f"{draft.unusable}"
        )


def _privacy_lines(draft: Draft) -> Iterator[str]:
    preset = draft.preset
    k = draft.k or (preset.k if preset is not None else K)
    records = "persons" if draft.of("unit") or draft.roles.key else "rows"
    yield "# All of these hold in the release, or there is no release."
    yield "privacy:"
    if preset is not None:
        yield from (f"  # {line}" for line in preset.on_k)
    yield f"  - k_anonymity: {{k: {k}}}  # at least {k} {records} look alike"
    sensitive = [item for item in draft.of("sensitive") if item.profile.distinct > 1]
    if preset is not None and sensitive:
        yield from (f"  # {line}" for line in preset.on_sensitive)
    for item in draft.of("sensitive"):
        name = item.profile.name
        asked = list(requirements_of(name, draft.roles.l, draft.roles.t))
        for key, value in asked:
            pairs = ", ".join(f"{of}: {as_yaml(what) if isinstance(what, str) else what}" for of, what in value.items())
            yield f"  - {key}: {{{pairs}}}"
        if asked or item not in sensitive:
            continue
        needed = min(3, item.profile.distinct, k)
        if needed > 1:
            yield f"  - l_diversity: {{attribute: {as_yaml(name)}, l: {needed}, variant: distinct}}"
    if preset is not None:
        yield from (f"  # {line}" for line in preset.after)


def _recoding_lines(draft: Draft) -> Iterator[str]:
    """Local recoding where one level per column would withhold columns, as it does where many rows are alone."""
    everything = draft.together.everything if draft.together is not None else None
    if everything is None:
        local = len(draft.of("quasi_identifier")) >= MANY
    else:
        local = everything.uniques > DISTINGUISHING * everything.records
    if local:
        yield (
            "# Labels differ by class: many rows are alone, and one level per column would fully generalize some "
            "columns."
        )
        yield "# {method: local, variant: best} keeps more and takes longer. Without this line each column has one"
        yield "# level, proven optimal; render, dbt and ledger need that."
        yield "recoding: local"
    else:
        yield (
            "# Each column has one level for all rows, proven optimal. To keep more detail, let labels differ by class:"
        )
        yield "# recoding: local"


def _unit_lines(draft: Draft) -> Iterator[str]:
    units = draft.of("unit")
    if draft.roles.key and not units:
        yield "# Protect persons, not rows: these columns identify a person together."
        yield f"unit: [{', '.join(map(as_yaml, draft.roles.key))}]"
        yield ""
        return
    if not units and draft.panel is not None:
        who, when = (as_yaml(profile.name) for profile in draft.panel)
        yield f"# {who} and {when} together are unique. If {who} identifies persons, protect persons:"
        yield f"# unit: {who}"
    elif not units:
        yield (
            "# If a person has several rows, name the column that identifies persons, to protect persons instead of "
            "rows:"
        )
        yield "# unit: person_id"
    for item in units:
        yield f"# Protect persons, not rows: {item.reason}{_counted(item.profile)}."
        yield f"unit: {as_yaml(item.profile.name)}"
    yield ""


def _list_lines(key: str, items: Sequence[Suggestion]) -> Iterator[str]:
    # With nothing after the key the list is empty, and taking a # away below leaves valid YAML.
    yield f"{key}:"
    for item in items:
        yield _listed(item, "", "")


def _listed(item: Suggestion, off: str, more: str) -> str:
    hipaa = "" if item.profile.hipaa is None or item.fixed else f"; {item.profile.hipaa.hint}"
    recorded = item.role in ("sensitive", "keep", "left_out") and item.profile.stored_as_text is not None
    stored = f"; {item.profile.stored_as_text}" if recorded else ""
    return f"  {off}- {as_yaml(item.profile.name)}  # {item.reason}{_counted(item.profile)}{stored}{more}{hipaa}"


def _counted(profile: ColumnProfile) -> str:
    """How many values a column has, roughly enough that no single row shows."""
    if not profile.filled:
        return ""
    missing = 1 - profile.filled / profile.rows
    nulls = "" if not missing else ", under 1% NULL" if missing < 0.01 else f", about {missing:.0%} NULL"
    return f" ({profile.distinct:,} value{'s' if profile.distinct != 1 else ''}{nulls})"


def _setting_apart(profile: ColumnProfile) -> str:
    """Distinction (Motwani and Xu 2007): different values per row, to two digits; of one column alone."""
    if not profile.rows or profile.distinct < 2:
        return ""
    return f", distinction {profile.distinct / profile.rows:.2g}"


def _together_lines(apart: ColumnsTogether | None, own: Sequence[str]) -> Iterator[str]:
    """What the quasi-identifiers distinguish together."""
    if apart is None:
        return
    if apart.everything is not None:
        yield f"# All together set {_share(apart.everything)} of the {apart.records} apart from every other."
    best = apart.best_of(own)
    if best is not None and len(own) > 2:
        yield f"# Of two, {as_yaml(best[0][0])} and {as_yaml(best[0][1])} do so most: {_share(best[1])}."
    for names in apart.minimal:
        yield f"# No two {apart.records} are alike in {' and '.join(map(as_yaml, names))}."


def _with_another(apart: ColumnsTogether | None, item: Suggestion, own: Sequence[str]) -> str:
    """With which quasi-identifier a column distinguishes most, if that is a reason to take it for one."""
    best = None if apart is None or item.by_name else apart.best_with(item.profile.name, own)
    if apart is None or best is None or best[1].uniques < DISTINGUISHING * best[1].records:
        return ""
    return f"; with {as_yaml(best[0])} it sets {_share(best[1])} of the {apart.records} apart"


def _share(found: Combination) -> str:
    """A share in whole percent, so that no single row shows."""
    if not found.uniques:
        return "none"
    if found.identifies:
        return "every one"
    share = found.uniques / found.records
    return "under 1%" if share < 0.01 else "over 99%" if share > 0.99 else f"about {share:.0%}"


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_RESERVED = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])


def as_yaml(text: str) -> str:
    """Text as a YAML scalar that reads back as it is, on one line."""
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
