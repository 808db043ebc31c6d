"""The verbs of products that are not rows of a generalized table."""
