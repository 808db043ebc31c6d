"""The colours of reports, by name: for paper and light screens, and for dark ones.

Text has a contrast of at least 4.5 to its ground, other marks of at least 3 (WCAG 2.2, 1.4.3 and 1.4.11); a test
computes it. No meaning rests on colour alone: kinds of marks differ in shape, outline or place as well.
"""

from __future__ import annotations

__all__ = ["DARK", "LIGHT", "MARKS", "variables"]

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f5f6f8",
    "ink": "#1b2330",
    "muted": "#545f70",
    "line": "#d9dde4",
    "accent": "#0f62b8",
    "before": "#6f7a8c",
    "good": "#157a46",
    "bad": "#b93125",
    "faint": "#e4e8ee",
}
DARK = {
    "paper": "#11151c",
    "panel": "#1a202a",
    "ink": "#e7ebf1",
    "muted": "#a5afbd",
    "line": "#323b49",
    "accent": "#66aef7",
    "before": "#8390a3",
    "good": "#4cc28a",
    "bad": "#ff8072",
    "faint": "#2a3340",
}

MARKS = """
.picture text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.picture .small{font-size:12px;fill:var(--muted)}
.picture .strong{font-weight:600}
.picture .inside{font-size:10px;font-weight:600;fill:var(--paper)}
.picture .axis{stroke:var(--muted);stroke-width:1}
.picture .rule{stroke:var(--line);stroke-width:1}
.picture .limit{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:4 3}
.picture .limit-text{font-size:12px;fill:var(--bad)}
.picture .release{fill:var(--accent)}
.picture .source{fill:var(--before)}
.picture .outline{fill:none;stroke:var(--before);stroke-width:2}
.picture .track{fill:var(--faint)}
.picture .edge{stroke:var(--line);stroke-width:1}
.picture .satisfies{fill:var(--good)}
.picture .inferred{fill:var(--paper);stroke:var(--good);stroke-width:2}
.picture .violates{fill:var(--bad)}
.picture .must-violate{fill:var(--paper);stroke:var(--bad);stroke-width:2}
.picture .worse{fill:var(--before)}
.picture .unknown{fill:var(--paper);stroke:var(--before);stroke-width:1.5}
.picture .chosen{fill:none;stroke:var(--ink);stroke-width:2.5}
.picture .minimal{fill:none;stroke:var(--ink);stroke-width:1.2;stroke-dasharray:2 2}
.picture .curve{fill:none;stroke:var(--accent);stroke-width:2}
.picture .curve-1{fill:none;stroke:var(--before);stroke-width:2}
.picture .curve-2{fill:none;stroke:var(--good);stroke-width:2;stroke-dasharray:6 3}
.picture .curve-3{fill:none;stroke:var(--bad);stroke-width:2;stroke-dasharray:2 3}
.picture .point{fill:var(--accent)}
.picture .point-1{fill:var(--before)}
.picture .point-2{fill:var(--good)}
.picture .point-3{fill:var(--bad)}
""".strip()
"""How the kinds of marks look, in colours by name."""


def variables(colours: dict[str, str]) -> str:
    """The colours as CSS variables."""
    return ";".join(f"--{name}:{colour}" for name, colour in colours.items())
