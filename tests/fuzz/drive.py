"""Two ways to make inputs: atheris, which looks at coverage, and a mutator that looks at nothing."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAX_LENGTH = 2_000
"""Bytes of an input: what takes more, such as deep nesting, has tests of its own."""


def noted(finds: Path, find: Any, data: bytes) -> bool:
    """Keep an input by what it found, the shortest for each; whether it is the first of its kind."""
    name = hashlib.sha256(find.key.encode()).hexdigest()[:12]
    kept = finds / f"{name}.input"
    known = kept.exists()
    if not known or len(kept.read_bytes()) > len(data):
        kept.write_bytes(data)
        (finds / f"{name}.txt").write_text(
            f"{find.key}\n{data!r}\n\n{find.report}\n", encoding="utf-8", errors="replace"
        )
    if not known:
        print(f"FIND {find.key}", file=sys.stderr, flush=True)
    return not known


def by_coverage(name: str, seconds: int, finds: Path, corpus: Path) -> None:
    """Fuzz with atheris; ends the process. The figures are libFuzzer's, on standard error.

    Args:
        name: of the target.
        seconds: of wall clock.
        finds: where to keep inputs that found something.
        corpus: where libFuzzer keeps inputs that reached something new.
    """
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["kanon_sql"], enable_loader_override=False):
        import kanon_sql

        for module in pkgutil.walk_packages(kanon_sql.__path__, "kanon_sql."):
            if not module.name.startswith(("kanon_sql.testing", "kanon_sql.cli", "kanon_sql.__main__")):
                importlib.import_module(module.name)
    from .finds import Find
    from .targets import TARGETS

    target = TARGETS[name]

    def one(data: bytes) -> None:
        if not data:
            return
        try:
            target.run(data)
        except Find as find:
            noted(finds, find, data)

    words = Path(tempfile.mkdtemp()) / "words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words), encoding="utf-8")
    seeds = str(target.seeds[0].parent)
    options = [
        f"-max_total_time={seconds}", f"-max_len={MAX_LENGTH}", "-timeout=60", "-rss_limit_mb=4096",
        f"-dict={words}", "-print_final_stats=1", f"-artifact_prefix={finds}/",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus), seeds], one)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def by_chance(name: str, seconds: float, seed: int, finds: Path) -> tuple[int, int]:
    """Fuzz with random changes of the seeds.

    Returns:
        Inputs tried, and different finds among them.
    """
    from .finds import Find
    from .targets import TARGETS

    target, chance = TARGETS[name], random.Random(seed)
    pool = [path.read_bytes() for path in target.seeds]
    words = [word.encode() for word in target.words]
    tried = found = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutated(chance.choice(pool), pool, words, chance)
        tried += 1
        try:
            target.run(data)
        except Find as find:
            found += noted(finds, find, data)
    return tried, found


def mutated(data: bytes, pool: Sequence[bytes], words: Sequence[bytes], chance: random.Random) -> bytes:
    """An input with one to eight changes."""
    for _ in range(chance.randint(1, 8)):
        start = chance.randint(0, len(data))
        end = min(len(data), start + chance.choice((0, 1, 1, 2, 5, 20)))
        other = chance.choice(pool)
        cut = chance.randint(0, len(other))
        piece = chance.choice(
            (
                b"",
                chance.choice(words),
                chance.choice(words),
                bytes([chance.randrange(256)]),
                data[start:end] * chance.randint(2, 20),
                other[cut : cut + 20],
            )
        )
        data = data[:start] + piece + data[end:]
    return data[:MAX_LENGTH] or b"\x00"
