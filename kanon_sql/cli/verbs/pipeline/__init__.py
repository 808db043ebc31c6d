"""The verbs that other programs build on."""
