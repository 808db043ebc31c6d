"""Take the pictures of ``docs/choosing.md`` again: the page of ``explore`` on its CSV file, in the system's Chromium.

python benchmarks/explore_pictures.py            # needs the extra test and /usr/bin/chromium
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import zlib
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb
import numpy as np
from playwright.sync_api import Page, sync_playwright

import kanon_sql
from tests.support.explorers import explored

PICTURES = ROOT / "docs" / "how-to" / "explore"
SIZE = {"width": 1080, "height": 680}


def rows(page: str) -> str:
    """The query that the section on the explorer makes its CSV file with."""
    section = page.partition("## The explorer")[2]
    return section.partition('```sql title="clinic.duckdb"')[2].partition("\n")[2].partition("```")[0]


def pixels(png: bytes) -> np.ndarray:
    """The red, green and blue of every pixel of a PNG as Chromium writes it: 8 bits each, not interlaced."""
    parts, place = {}, 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        parts.setdefault(png[place + 4 : place + 8], []).append(png[place + 8 : place + 8 + length])
        place += length + 12
    width, height, depth, kind = struct.unpack(">IIBB", parts[b"IHDR"][0][:10])
    assert (depth, kind in (2, 6)) == (8, True)
    size = 3 if kind == 2 else 4
    lines = np.frombuffer(zlib.decompress(b"".join(parts[b"IDAT"])), np.uint8).reshape(height, 1 + width * size)
    above, made = np.zeros((width, size), np.int64), np.zeros((height, width, size), np.uint8)
    for row, line in enumerate(lines):
        own = line[1:].reshape(width, size).astype(np.int64)
        if line[0] == 1:
            own = np.cumsum(own, axis=0)
        elif line[0] == 2:
            own = own + above
        elif line[0] in (3, 4):
            for column in range(width):
                left = own[column - 1] if column else 0 * above[0]
                corner = above[column - 1] if column else 0 * above[0]
                own[column] = (own[column] + _guess(line[0], left, above[column], corner)) % 256
        above = own % 256
        made[row] = above
    return made[:, :, :3]


def _guess(kind: int, left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """What PNG's filters 3 and 4 add to a byte."""
    if kind == 3:
        return (left + above) // 2
    near = [abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)]
    return np.where(
        (near[0] <= near[1]) & (near[0] <= near[2]), left, np.where(near[1] <= near[2], above, corner)
    )  # fmt: skip


def with_few_colours(png: bytes, most: int = 160) -> bytes:
    """The same picture in its most frequent colours."""
    found = pixels(png)
    height, width, _ = found.shape
    colours, places, counts = np.unique(found.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-counts)[:most]].astype(np.int64)
    nearest = np.array([np.argmin(((kept - colour.astype(np.int64)) ** 2).sum(axis=1)) for colour in colours])
    lines = nearest[places.ravel()].astype(np.uint8).reshape(height, width)

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    raw = np.hstack([np.zeros((height, 1), np.uint8), lines]).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [part(b"IHDR", head), part(b"PLTE", kept.astype(np.uint8).tobytes()), part(b"IDAT", zlib.compress(raw, 9)),
         part(b"IEND", b"")]
    )  # fmt: skip


def take(page: Page, name: str) -> None:
    """A picture of what is seen now."""
    PICTURES.mkdir(exist_ok=True)
    picture = with_few_colours(page.screenshot())
    (PICTURES / f"{name}.png").write_bytes(picture)
    print(f"{name}: {len(picture):,} bytes")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as driver:
        os.chdir(directory)
        with duckdb.connect("clinic.duckdb") as connection:
            connection.execute(rows((ROOT / "docs" / "choosing.md").read_text("utf-8")))
        chromium = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = chromium.new_page(viewport=SIZE)
        connect = partial(kanon_sql.connect, f"{directory}/clinic.duckdb")
        with explored(connect, None, table="people.csv", may_publish=True, database="clinic.duckdb") as explorer:
            page.goto(explorer.address)
            page.wait_for_selector("#roles table")
            take(page, "roles")
            page.get_by_role("button", name="Start with these roles").click()
            page.wait_for_selector("#meter")
            page.wait_for_function("() => !document.querySelector('[aria-busy]')")
            page.get_by_label("recoding").select_option("full_domain")
            page.get_by_label("k of k-anonymity").fill("10")
            page.wait_for_function(
                "() => document.querySelector('#answer').innerText.includes('10-anonymity')"
                " && document.querySelector('#lattice-title') && !document.querySelector('[aria-busy]')"
            )
            page.evaluate("() => scrollTo(0, 0)")
            take(page, "answer")
            page.locator("#lattice-title").evaluate("(item) => item.scrollIntoView()")
            take(page, "lattice")
        chromium.close()


if __name__ == "__main__":
    main()
