"""The options of commands whose batch Spark can do, and the executors that they name.

add_spark_arguments  the options
cluster_of           the cluster that they or the environment name, if any
executors_of         the options of `gyro.run.batch.run_batch` that have the command's batch done there
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gyro.errors import InputError
from gyro.spark.connection import spark_master

if TYPE_CHECKING:
    from gyro.spark.pool import Cluster


def add_spark_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Spark, in the place of the processes of one machine (docs/scale.md)")
    help_line = "the master, like spark://HOST:7077, yarn or local[4] (default: SPARK_MASTER or that of spark-submit)"
    group.add_argument("--spark", metavar="MASTER", help=help_line)
    help_line = "have Spark copy this file or folder to every node, where the command names it; may be repeated"
    group.add_argument("--ship", action="append", default=[], metavar="PATH", help=help_line)


@contextmanager
def cluster_of(arguments: argparse.Namespace) -> Iterator[Cluster | None]:
    """The cluster, which is connected to when it has something to do; None for work on this machine."""
    master = spark_master(arguments.spark)
    if master is None:
        if arguments.ship:
            raise InputError("found --ship, which goes with --spark MASTER")
        yield None
        return
    from gyro.spark.pool import Cluster

    with Cluster(master, arguments.ship) as cluster:
        yield cluster


@contextmanager
def executors_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The executors, which go through the same command; nothing for work on this machine."""
    with cluster_of(arguments) as cluster:
        if cluster is None:
            yield {}
            return
        from gyro.run.executor import Executors

        yield {"executors": Executors(cluster, "command", list(arguments.command_line))}
