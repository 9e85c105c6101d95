"""What the extra `asof[spark]` brings, imported when it is first used: it is slow.

Where it is missing, `session.check_installed` has said so before.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

Session = Any  # a SparkSession
Frame = Any  # a Spark DataFrame
Values = Any  # an Arrow array, table or batch, or a column of Spark


@dataclass(frozen=True)
class _Module:
    name: str

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401, neither module has types
        return getattr(import_module(self.name), attribute)


F = _Module("pyspark.sql.functions")
arrow = _Module("pyarrow")
