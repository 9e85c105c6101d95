"""A Spark session: the one that spark-submit made, or one of this machine's own, quiet and alone.

In local mode nothing listens on any address but the loopback one, there is no web interface, and
what Java writes about its start goes to a file that is shown only if it fails.
"""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from asof.cover.spark.extras import Frame, Session
from asof.cover.spark.source import first_line
from asof.errors import UsageError, missing_extra

LOCAL = "local[*]"
LOOPBACK = "127.0.0.1"

_LOCAL_SETTINGS = {
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # failures come back as errors
}


def check_installed() -> None:
    """PySpark, pandas (which it asks for wherever it calls Python) and Java; or a UsageError."""
    for module in ("pyspark", "pyarrow", "pandas"):
        if importlib.util.find_spec(module) is None:
            raise missing_extra("A cover on Spark", module, "spark")
    if _java() is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        raise UsageError(
            "Spark needs Java, and there is none.",
            hint="Install Java 17 or later (Debian: openjdk-17-jre-headless), or set JAVA_HOME.",
        )


@contextmanager
def spark_session(
    master: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Any]:
    """A session on a master, by default the one that spark-submit names or else this machine.

    A session that was there before stays; one that is made here ends with the block.
    """
    check_installed()
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is not None and master is None:
        yield SparkSession.getActiveSession()
        return
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    session = _submitted(master) if submitted else _started(master or LOCAL, settings or {})
    try:
        yield session
    finally:
        session.stop()


def _submitted(master: str | None) -> Session:
    """Where spark-submit started this program, the master and all settings are its own."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("asof cover")
    return _made(builder if master is None else builder.master(master), master or "its master")


def _started(master: str, settings: Mapping[str, str]) -> Session:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("asof cover")
    own: dict[str, str] = {}
    if master.startswith("local"):
        # Java takes one gigabyte if nothing is said, and Python's tasks need theirs, too.
        half = max(1024, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 21)
        own = _LOCAL_SETTINGS | {
            "spark.driver.memory": f"{half}m",
            "spark.local.dir": tempfile.gettempdir(),  # Java knows nothing of TMPDIR
        }
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
        os.environ["PYSPARK_PYTHON"] = sys.executable
    for name, value in (own | dict(settings)).items():
        builder = builder.config(name, value)
    with _talk_aside() as talk:
        return _made(builder, master, talk)


def _made(builder: Any, master: str, talk: IO[bytes] | None = None) -> Session:  # noqa: ANN401
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return builder.getOrCreate()
    except (PySparkException, Py4JError, RuntimeError) as error:
        told = _last_words(talk) if talk is not None else ""
        raise UsageError(
            f"Spark did not start on {master}: {told or first_line(error)}.",
            hint="It needs Java 17 or later and a master that can be reached.",
        ) from error


@contextmanager
def _talk_aside() -> Iterator[IO[bytes]]:
    """Java inherits its place to write to when it starts, and keeps it."""
    with tempfile.TemporaryFile() as talk:
        sys.stderr.flush()
        before = os.dup(2)
        os.dup2(talk.fileno(), 2)
        try:
            yield talk
        finally:
            os.dup2(before, 2)
            os.close(before)


def _last_words(talk: IO[bytes]) -> str:
    talk.seek(0)
    lines = talk.read().decode("utf-8", "replace").strip().splitlines()
    told = [line for line in lines if "Exception" in line or "Error" in line] or lines[-1:] or [""]
    return told[0].strip().rstrip(".")[:300]


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None)


def kept(frame: Frame) -> Frame:
    """The same table, worked out once, that no longer remembers what it was made of.

    Later stages would otherwise carry the plans of all earlier ones, and rounds double them. Where
    the cluster has a folder for it (`spark.checkpoint.dir`), it lies there, and survives the loss
    of a machine; else on the executors.
    """
    context = frame.sparkSession.sparkContext
    return frame.checkpoint() if context.getCheckpointDir() else frame.localCheckpoint()
