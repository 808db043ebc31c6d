"""The verbs for a table that is split between several databases."""
