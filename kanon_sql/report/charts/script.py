"""Charts in a page that may run a script: Vega, Vega-Lite and what draws each chart in the place of its picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from kanon_sql.errors import UnsupportedError
from kanon_sql.report.pictures import DARK, LIGHT
from kanon_sql.version import how_to_install

__all__ = ["interactive_script"]

_DRAW = """
(() => {
  const charts = CHARTS, dark = matchMedia("(prefers-color-scheme:dark)"), colours = COLOURS;
  const draw = (name, place) => {
    let text = JSON.stringify(charts[name]);
    if (dark.matches) text = text.replace(/#[0-9a-f]{6}/g, (colour) => colours[colour] ?? colour);
    const spec = JSON.parse(text), target = document.createElement("div"), picture = [...place.childNodes];
    delete spec.title;  // the figure has a caption
    Object.assign(spec, {width: "container", autosize: {type: "fit-x", contains: "padding"}});
    target.style.width = "100%";
    place.replaceChildren(target);
    const actions = {source: false, compiled: false, editor: false};
    window.vegaEmbed(target, spec, {renderer: "svg", logLevel: 1, actions})
      .catch(() => place.replaceChildren(...picture));
  };
  const all = () => document.querySelectorAll("[data-chart]").forEach((place) => draw(place.dataset.chart, place));
  dark.addEventListener("change", all);
  all();
})();
"""


def interactive_script(charts: Mapping[str, Mapping[str, Any]]) -> str:
    """The script that draws charts where an element names one by ``data-chart``; a picture stays where it fails.

    Args:
        charts: Vega-Lite specifications by name.

    Returns:
        Nearly a million characters, most of them Vega's.

    Raises:
        UnsupportedError: vl-convert, which brings them, is not installed.
    """
    try:
        import vl_convert
    except ImportError:
        raise UnsupportedError(
            f"interactive charts need vl-convert; {how_to_install('report')}, or leave --interactive-charts out"
        ) from None
    colours = {LIGHT[name]: DARK[name] for name in LIGHT}
    drawn = _DRAW.replace("COLOURS", _in_script(colours)).replace("CHARTS", _in_script(charts))
    bundle: Callable[..., str] = vl_convert.javascript_bundle  # its types lack the default, which is kept ready
    return f"{bundle()}\n{drawn}"


def _in_script(data: Any) -> str:
    """JSON that no text in it can end the script with."""
    return json.dumps(data).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
