"""Verbs and options that have another name now: an error names it."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["OPTIONS", "VERBS", "moved_option"]

VERBS: Mapping[str, str] = {
    "apply": "release apply",
    "refresh": "release refresh",
    "certify": "release certify",
    "evidence": "release evidence",
    "ledger": "release ledger",
    "tabulate": "publish table",
    "cloak": "publish positions",
    "perturb": "publish perturbed",
    "render": "pipeline render",
    "estimate": "pipeline estimate",
    "dbt": "pipeline dbt",
    "sqlmesh": "pipeline sqlmesh",
    "schema": "pipeline schema",
}
"""Old verb -> the verb of a group."""

_EVIDENCE = "kanon-sql release evidence SPEC has it"
_PARTIES = "use kanon-sql parties plan or kanon-sql parties anonymize"

OPTIONS: Mapping[str, str | Mapping[str, str]] = {
    "--timeout": "use --set timeout=DURATION",
    "--max-seconds": "use --set max_seconds=SECONDS",
    "--max-statements": "use --set max_statements=N",
    "--max-bytes": "use --set max_bytes=SIZE",
    "--person": {"check": "use --set person=COLUMN"},
    "--m": {"check": "use --set m=M"},
    "--threads": "use --set threads=N",
    "--memory-limit": "use --set memory_limit=SIZE",
    "--scratch": "use --set scratch=MODE",
    "--report": "use --output PATH.html",
    "--out": "use --output DIRECTORY",
    "--export": "use --output DIRECTORY",
    "--export-format": "use --output-format",
    "--project": "use --output DIRECTORY",
    "--explain": "use --show nodes",
    "--matrix": "use --show matrix",
    "--bound": "use --show bound",
    "--all-minimal": "use --show minimal",
    "--distributions": "use --show distributions",
    "--beside": "use --compare-recoding METHOD",
    "--no-manifest-file": "use --manifest none",
    "--estimate": "use kanon-sql pipeline estimate SPEC",
    "--party": f"{_PARTIES}, with --database for each party",
    "--split": _PARTIES,
    "--key": _PARTIES,
    "--at": _PARTIES,
    "--evidence": {
        "report": "use kanon-sql release evidence SPEC",
        "pipeline schema": "use kanon-sql pipeline schema evidence",
    },
    "--view": "use --set view=TABLE",
    "--negations": "use --set negations=N",
    "--hierarchy": "use --set hierarchy=COLUMN=FILE",
    "--external-is-sample": {"report": _EVIDENCE, "release evidence": "use --set external_is_sample=true"},
    "--zip-population": {"report": _EVIDENCE, "release evidence": "use --set zip_population=TABLE"},
    "--zip-people": {"report": _EVIDENCE, "release evidence": "use --set zip_people=COLUMN"},
    "--combinations": "use --set combinations=N",
    "--skeletons": "use --set skeletons=DIRECTORY",
    "--keep": "use --set keep=COLUMN",
    "--population": {"init": "use --set population=TABLE", "report": _EVIDENCE},
    "--earlier": {"check": "use --set earlier=TABLE", "report": _EVIDENCE},
    "--check": {"publish positions": "use kanon-sql publish check SPEC"},
    "--reveal": {"explore": "use --allow-reveal", "check": "use --set reveal=N"},
    **{
        option: {"report": _EVIDENCE}
        for option in ("--table", "--external", "--on", "--attack", "--sampling-fraction", "--format")
    },
    **{
        f"--{name}": {"pipeline schema": f"use kanon-sql pipeline schema {name}"}
        for name in ("result", "audit", "risk", "compare", "certificate", "parties", "table-spec")
    },
    "--tabulate": "use kanon-sql pipeline schema table",
    "--cloak": "use kanon-sql pipeline schema positions",
    "--perturb": "use kanon-sql pipeline schema perturbed",
    "--cloak-spec": "use kanon-sql pipeline schema positions-spec",
    "--perturb-spec": "use kanon-sql pipeline schema perturbed-spec",
}
"""Old option -> what to use instead, or the same by verb."""


def moved_option(verb: str, option: str) -> str | None:
    """What to use instead of an option that a verb does not have; None where it never had it.

    Args:
        verb: with its group.
        option: as it was given.
    """
    found = OPTIONS.get(option.partition("=")[0])
    return found.get(verb) if isinstance(found, Mapping) else found
