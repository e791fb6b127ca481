"""Where the batches of an experiment are done: in processes of this machine, or in executors of Spark.

Place       on this machine
SparkPlace  in executors, which go through the same step
Executor    in such an executor: its batch ends as a HandOver
"""

from __future__ import annotations

from typing import Any

from gyro.run.executor import Executors
from gyro.spark.pool import Cluster


class Place:
    """On this machine; `begin` is told each step by its name."""

    def begin(self, step: str) -> None:
        """Nothing is to be prepared."""

    def options(self) -> dict[str, Any]:
        """What goes to `gyro.run.batch.run_batch`."""
        return {}


class SparkPlace(Place):
    """In executors, which find the experiment's file and folder under the same paths."""

    def __init__(self, cluster: Cluster, kind: str, path: str, folder: str, sample: int | None) -> None:
        self.cluster = cluster
        self.experiment = {"kind": kind, "path": path, "folder": folder, "sample": sample}
        self.step = ""

    def begin(self, step: str) -> None:
        self.step = step

    def options(self) -> dict[str, Any]:
        return {"executors": Executors(self.cluster, "experiment", {**self.experiment, "step": self.step})}


class Executor(Place):
    """In an executor."""

    def options(self) -> dict[str, Any]:
        return {"hand_over": True}
