"""Differentially private releases: k from epsilon and delta, exact random draws, the mechanism, and the budget."""
