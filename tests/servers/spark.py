"""Spark in processes of its own: a driver, which is all, or has executors on this machine."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import kanon_sql
from kanon_sql.engines.base import Engine
from kanon_sql.sql.dialects import dialect_named
from kanon_sql.testing import Subject
from tests.servers.base import Missing, started

MEMORY = 1024
"""Of every process, in MiB."""

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": f"{MEMORY}m",
    "spark.executor.memory": f"{MEMORY}m",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "Europe/Berlin",  # the answers must not follow it
}

_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

SMALL = {
    # Many small statements: what pays off on large data only takes longer.
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.executor.extraJavaOptions": _JAVA,
    "spark.driver.extraJavaOptions": _JAVA,
}
"""For tables of a few rows."""

WORKERS = int(os.environ.get("KANON_SPARK_WORKERS", "0"))
"""Processes besides the driver, where a test does not say it. Sending them tasks takes a fourth of the time of small
tables; test_spark.py has two of them."""

_NO_SUCH_NAME = "Spark's own catalog allows letters, digits and _ in a table's name"


class Cluster:
    """The one application that a process may have; subjects take turns, for a start takes longer than most tests.

    Args:
        workers: processes with a core each; 0 for one process that is all.
        settings: what suits the tables' size.
    """

    running: ClassVar[Cluster | None] = None

    def __init__(self, workers: int, settings: Mapping[str, str]) -> None:
        from pyspark.sql import SparkSession

        self.asked = workers, dict(settings)
        self.directory = Path(tempfile.mkdtemp(prefix="kanon_spark_"))
        master = f"local-cluster[{workers},1,{MEMORY}]" if workers else "local[1]"
        builder = SparkSession.builder.master(master).appName("kanon_sql tests")
        for name, value in {**SETTINGS, **settings}.items():
            builder = builder.config(name, value)
        builder = builder.config("spark.sql.warehouse.dir", str(self.directory / "warehouse"))
        builder = builder.config("spark.local.dir", str(self.directory))
        self.session = started(builder.getOrCreate)
        self.session.sparkContext.setLogLevel("OFF")

    @classmethod
    def like(cls, workers: int, settings: Mapping[str, str]) -> Cluster:
        """The one that runs if it is like this, else a new one."""
        if cls.running is None or cls.running.asked != (workers, dict(settings)) or cls.running.is_stopped:
            cls.stop()
            cls.running = cls(workers, settings)
        return cls.running

    @property
    def is_stopped(self) -> bool:
        """Whether someone else has ended it."""
        context = self.session._sc
        return context._jsc is None or context._jsc.sc().isStopped()

    @classmethod
    def stop(cls) -> None:
        """End the one that runs."""
        if cls.running is not None:
            cls.running.session.stop()
            shutil.rmtree(cls.running.directory, ignore_errors=True)
            cls.running = None

    def clear(self) -> None:
        """Drop all databases and tables."""
        for (name,) in self.session.sql("SHOW DATABASES").collect():
            if name != "default":
                self.session.sql(f"DROP DATABASE `{name}` CASCADE")
        for table in self.session.sql("SHOW TABLES IN default").collect():
            if not table.isTemporary:
                kind = self.session.catalog.getTable(f"default.`{table.tableName}`").tableType
                self.session.sql(f"DROP {'VIEW' if kind == 'VIEW' else 'TABLE'} default.`{table.tableName}`")
        shutil.rmtree(self.directory / "warehouse", ignore_errors=True)


atexit.register(Cluster.stop)


class SparkSubject(Subject):
    name = "spark"
    dialect = dialect_named("spark")
    types: ClassVar[Mapping[str, str]] = {
        **Subject.types,
        "text": "STRING",
        "double": "DOUBLE",
        "timestamp": "TIMESTAMP_NTZ",
        "single": "FLOAT",
        "moment": "TIMESTAMP",
        "uuid": "STRING",
    }
    strange: ClassVar[Mapping[str, Sequence[str]]] = {
        "DOUBLE": ("CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "0D", "5e-324D", "0.1D"),
        "TIMESTAMP": ("TIMESTAMP '1969-12-31 23:59:59.999999'", "TIMESTAMP '0001-01-01 00:00:00'"),
        "DATE": ("DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '1582-10-04'", "DATE '1582-10-15'"),
    }
    slow = "SELECT COUNT(*) AS n FROM range(10000000) AS a CROSS JOIN range(1000000) AS b WHERE hash(a.id, b.id) = 7"
    lacks = dict.fromkeys(
        ("marital-status", 'a"b', "a`b", "a b", "x; drop table y", "naïve", "名", "100%", "a:b", "a'b"), _NO_SUCH_NAME
    )

    def __init__(self, workers: int = WORKERS, settings: Mapping[str, str] = SMALL) -> None:
        """A driver and ``workers`` processes with a core each, or one for all; ``settings`` suit the tables' size."""
        try:
            import pyspark.sql  # noqa: F401
        except ImportError as error:
            raise Missing(f"{error.name} is not installed") from None
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            raise Missing("there is no Java")
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        self._cluster = Cluster.like(workers, settings)
        self.session = self._cluster.session.newSession()

    def connect(self, **options: Any) -> Engine:
        return kanon_sql.connect(self.session, **options)

    def execute(self, sql: str) -> None:
        self.session.sql(sql)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.session.sql(sql).collect()]

    def tables(self) -> list[str]:
        return [name for _, name, temporary in self.fetch("SHOW TABLES") if not temporary]

    def schema(self, name: str) -> tuple[str, ...]:
        self.execute(f"CREATE DATABASE IF NOT EXISTS {name}")
        return (name,)

    def create(self, quoted: str, columns: str) -> str:
        return f"CREATE TABLE {quoted} ({columns}) USING PARQUET"

    def close(self) -> None:
        if self._cluster.is_stopped:
            Cluster.stop()
        else:
            self._cluster.clear()
