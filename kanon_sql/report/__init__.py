"""Reports: results as text and JSON; numbers, never a raw value of a small class."""
