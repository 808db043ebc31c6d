"""The verbs of a release that is out: new rows, evidence, a certificate, and the list of what was published."""
