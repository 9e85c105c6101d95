"""Tables of Spark that are kept between stages."""

from __future__ import annotations

from typing import Any

Frame = Any
"""A Spark DataFrame: PySpark is there only where a session is."""


def kept(frame: Frame) -> Frame:
    """The same table, worked out once, that no longer remembers what it was made of.

    Later stages would otherwise carry the plans of all earlier ones, and rounds double them. Where
    the cluster has a folder for it (`spark.checkpoint.dir`), it lies there, and survives the loss
    of a machine; else on the executors.
    """
    context = frame.sparkSession.sparkContext
    return frame.checkpoint() if context.getCheckpointDir() else frame.localCheckpoint()
