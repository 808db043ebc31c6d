"""Fuzzing of what a user writes: spec text, hierarchy files, level expressions and source queries.

``python -m tests.fuzz spec --minutes 60`` runs one target, guided by coverage where atheris is installed. The
seeds, and what was once found, stand in ``corpus/`` and are replayed by ``tests/fuzz/test_fuzz.py``.

``verdicts.py`` makes tables instead, and compares what a check says of them with what plain Python counts.
"""
