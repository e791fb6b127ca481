"""Spark's driver: the Java beside this process, and its connection to a master.

check_master  refuse a master that cannot be reached
start_java    start Java, unless it runs
new_context   connect to a master: pyspark's SparkContext
end_context   leave it, even if Java is no more
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gyro.errors import InputError
from gyro.spark.fault import open_log

FROM_SETTINGS = "settings"  # as a master: that of spark-submit or of spark-defaults.conf
MASTER_TIMEOUT = 5.0  # seconds to connect to a master

_NEEDS_JAVA = (
    "Spark needs Java 17 or later, and none was found; install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME"
)


def check_master(master: str) -> None:
    """Refuse a master that cannot be reached: Spark would try for a minute, or for ever."""
    if master == "yarn" and not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & set(os.environ):
        raise InputError("the Spark master yarn is found by HADOOP_CONF_DIR or YARN_CONF_DIR; set one to its settings")
    if not master.startswith("spark://"):
        return
    fault: Exception | None = None
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), MASTER_TIMEOUT):
                return
        except ValueError as error:
            raise InputError(f"found the Spark master {master!r}; spark://HOST:PORT is allowed") from error
        except OSError as error:
            fault = error
    reason = getattr(fault, "strerror", None) or str(fault)
    raise InputError(f"the Spark master {master} does not answer ({reason}); is it running, and is this its address?")


def _is_local(master: str) -> bool:
    return master.startswith("local")


def start_java(master: str) -> None:
    """Start Java, unless it runs: a process has one, however often it connects."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None and _has_ended(SparkContext._gateway):
        SparkContext._gateway = SparkContext._jvm = None
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
        return
    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").is_file() if home else shutil.which("java")):
        raise InputError(_NEEDS_JAVA)
    with open_log() as log, _environment(master):
        SparkContext._ensure_initialized(gateway=launch_gateway(popen_kwargs={"stdout": log, "stderr": log}))


def _has_ended(gateway: Any) -> bool:
    """Whether the Java that we have started is no more: killed, perhaps, in a session that goes on."""
    process = getattr(gateway, "proc", None)
    return process is not None and process.poll() is not None


def new_context(master: str, name: str, settings: Mapping[str, str]) -> Any:
    from pyspark import SparkConf, SparkContext

    conf = SparkConf(_jvm=SparkContext._jvm)  # with what spark-submit and spark-defaults.conf say
    if master != FROM_SETTINGS:
        conf.setMaster(master)
    ours = {"spark.executorEnv.OPENBLAS_NUM_THREADS": "1", "spark.ui.showConsoleProgress": "false"}
    if _is_local(conf.get("spark.master") or ""):
        # Whatever the name of this machine resolves to, what runs on it alone is reached on it alone.
        ours |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    for key, value in ({"spark.app.name": name} | ours | dict(settings)).items():
        conf.setIfMissing(key, value)
    with _environment(master):
        context = SparkContext(conf=conf)
    # Nothing here counts with accumulators; their server would print a traceback when Java dies.
    context._accumulatorServer.handle_error = lambda *_: None
    return context


def end_context(context: Any) -> None:
    """Leave a master. Where Java has died pyspark gives up halfway, and does the rest when it is asked again."""
    for _ in range(2):
        with suppress(Exception):
            context.stop()


@contextmanager
def _environment(master: str) -> Iterator[None]:
    """Let Spark find this Python and, when it runs on this machine alone, the loopback address."""
    ours = {"PYSPARK_PYTHON": sys.executable}
    if _is_local(master):
        ours["SPARK_LOCAL_IP"] = "127.0.0.1"
    new = [key for key in ours if key not in os.environ]
    os.environ.update({key: ours[key] for key in new})
    try:
        yield
    finally:
        for key in new:
            os.environ.pop(key, None)
