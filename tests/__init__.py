"""The tests, in folders that mirror the rooms of kanon_sql."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The checkout."""
