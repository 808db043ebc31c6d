"""From a URL to a SparkSession."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from kanon_sql.engines.base import Scratch
from kanon_sql.engines.spark import SparkEngine, refuse_old
from kanon_sql.errors import DatabaseError, SpecError, UnsupportedError

__all__ = ["connect_spark"]


def connect_spark(url: str, *, read_only: bool = False, scratch: Scratch | None = None) -> SparkEngine:
    """Open a SparkSession of kanon_sql's own.

    Args:
        url: ``sc://host:port`` for Spark Connect, ``spark://host:port`` for a standalone cluster's master.
        read_only: refuse to write anything but scratch views.
        scratch: where scratch tables live.

    Raises:
        UnsupportedError: this process has a SparkSession already, or pyspark is too old.
        SpecError: the URL does not parse.
        DatabaseError: the session cannot be opened.
    """
    from pyspark import __version__
    from pyspark.sql import SparkSession

    refuse_old(__version__)
    try:
        parts = urlsplit(url.split(";")[0])
        if "@" in parts.path or (parts.scheme == "spark" and not re.fullmatch(r"spark://[\w.-]+:\d+/?", url)):
            # Spark would print the whole URL, and where in Java it found that out.
            raise ValueError
        label = f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
    except ValueError:
        raise SpecError("the Spark URL does not parse; expected spark://host:port or sc://host:port") from None
    try:
        if parts.scheme == "sc":
            session = SparkSession.builder.remote(url).create()
        elif SparkSession.getActiveSession() is not None:
            raise UnsupportedError("this process has a SparkSession already; give kanon_sql the session itself")
        else:
            session = SparkSession.builder.master(url).appName("kanon_sql").getOrCreate()
            session.sparkContext.setLogLevel("OFF")  # its log would show values
    except UnsupportedError:
        raise
    except Exception as error:
        raise DatabaseError(
            f"cannot connect to {label}: {type(error).__name__} (its text may hold credentials and is not "
            "shown); check that the cluster runs at this address"
        ) from None
    return SparkEngine(session, label=label, owned=True, read_only=read_only, scratch=scratch)
