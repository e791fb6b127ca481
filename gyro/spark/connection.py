"""A connection to a Spark master, and what is asked of its executors.

spark_master  the master that an option, SPARK_MASTER or spark-submit names; None: work on this machine alone
open_spark    a context manager that connects to a master and yields a Spark
Spark         run functions in executors, and find out which paths they see
shipped       in an executor: where a file is that Spark.ship has sent

The executors need Python and the packages that gyro needs, at the path of PYSPARK_PYTHON or else that of the driver's
own Python. Of gyro itself they need nothing: where their copy is not the driver's, the driver's is sent to them.

What goes wrong with Spark is an InputError of one line, as everywhere; what a function in an executor raised as a
GyroError arrives as one. What Spark itself has to say goes into a log file, which is kept when it ends badly.

    with open_spark("local[2]") as spark:
        for number, result in spark.run([b"1", b"2"], work):   # as they end; `work` is a function of a module
            ...
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from gyro.errors import InputError
from gyro.source_digest import PACKAGES
from gyro.spark.driver import FROM_SETTINGS, check_master, end_context, new_context, start_java
from gyro.spark.fault import told
from gyro.spark.question import digest_function, missing_function, writing_function

NOTE_AFTER = 30.0  # seconds without executors until a note says so

_NEEDS_PYSPARK = "Spark needs the package pyspark; install it with: pip install 'gyro-order[spark]'"


def spark_master(given: str | None) -> str | None:
    """The master to work on: what was given, else SPARK_MASTER, else that of spark-submit, if it runs us.

    An empty string says that the work is to be done on this machine, whatever the environment says.
    """
    if given is not None:
        return given or None
    if master := os.environ.get("SPARK_MASTER"):
        return master
    return FROM_SETTINGS if "PYSPARK_GATEWAY_PORT" in os.environ else None


@contextmanager
def open_spark(master: str, *, name: str = "gyro", settings: Mapping[str, str] | None = None) -> Iterator[Spark]:
    """Connect to a master; `settings` are taken where neither spark-submit nor spark-defaults.conf has them."""
    try:
        import pyspark
        from pyspark.find_spark_home import _find_spark_home
    except ImportError as error:
        raise InputError(_NEEDS_PYSPARK) from error
    if pyspark.SparkContext._active_spark_context is not None:
        raise InputError("Spark is in use in this process already; end that first")
    check_master(master)
    handler = signal.getsignal(signal.SIGINT)  # pyspark sets its own
    try:
        # pyspark warns of what else is installed, though nothing here uses it.
        with told(master), warnings.catch_warnings(action="ignore", category=FutureWarning):
            start_java(master)
            context = new_context(master, name, settings or {})
        application = context.applicationId
        try:
            with told(master):
                spark = Spark(context, master)
                spark._ship_code()
            yield spark
        finally:
            end_context(context)
            if master.startswith("local-cluster"):  # its executors keep their files where Spark is installed
                shutil.rmtree(Path(_find_spark_home(), "work", application), ignore_errors=True)
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


class Spark:
    """A connection to a master. `context` is pyspark's SparkContext, for what is not offered here."""

    def __init__(self, context: Any, master: str) -> None:
        self.context = context
        self.master = master

    @property
    def cores(self) -> int:
        """The cores of the executors that are there now."""
        with self.told():
            return max(1, int(self.context.defaultParallelism))

    def run(
        self, tasks: Iterable[bytes], work: Callable[[bytes], bytes], *, ahead: int | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the number of every task, from 0, and its result, in the order in which they end.

        Each task is a Spark job of its own (some 20 ms): give it a second of work or more. `ahead` tasks (twice the
        cores) are under way at a time, and no more are taken from `tasks`. A task whose executor is lost is done again
        in another; what it raises ends all.
        """
        waiting, under_way = enumerate(tasks), dict[Future[bytes], int]()
        most = ahead or 2 * self.cores
        pool = ThreadPoolExecutor(most)
        try:
            while True:
                for number, task in islice(waiting, most - len(under_way)):
                    under_way[pool.submit(self._run_one, task, work)] = number
                if not under_way:
                    return
                ended, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in ended:
                    number = under_way.pop(future)
                    with self.told():
                        result = future.result()
                    yield number, result
        finally:
            if under_way:
                for future in under_way:
                    future.cancel()
                with suppress(Exception):
                    self.context.cancelAllJobs()
            pool.shutdown()

    def job(self, task: bytes, work: Callable[[bytes], bytes]) -> bytes:
        """The result of one task, which is done as `run` has it done; several threads may ask at a time."""
        with self.told():
            return self._run_one(task, work)

    def _run_one(self, task: bytes, work: Callable[[bytes], bytes]) -> bytes:
        result: bytes = self.context.parallelize([task], 1).map(work).collect()[0]
        return result

    @contextmanager
    def told(self) -> Iterator[None]:
        """What pyspark raises within is raised as an error of one line."""
        with told(self.master):
            yield

    def check_output(self, folder: str | os.PathLike[str]) -> None:
        """Raise InputError unless the executors can write into this folder of the driver's, and it is the same one."""
        place = Path(folder).absolute()
        mark = place / f".{os.urandom(8).hex()}.seen"
        try:
            mark.touch()
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", path=folder) from error
        try:
            answers = self._ask(writing_function(str(mark)))
            missing = [f"{host}: {fault}" for host, fault in answers if fault]
            lost = [host for host, fault in answers if not fault and not mark.with_name(f"{mark.name}.{host}").exists()]
        finally:
            for path in place.glob(f"{mark.name}*"):
                path.unlink(missing_ok=True)
        if missing or lost:
            found = missing[0] if missing else f"{lost[0]}: it has another folder of this name"
            raise InputError(f"executors do not see this folder ({found}); give one that all nodes share", path=folder)

    def check_input(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Raise InputError for the first of these files and folders of the driver's that executors do not see."""
        wanted = [str(Path(path).absolute()) for path in paths]
        for host, path in self._ask(missing_function(wanted)):
            if path:
                raise InputError(f"the executor on {host} does not see it; give a path that all nodes share", path=path)

    def ship(self, path: str | os.PathLike[str]) -> str:
        """Send a file or a folder to every node, once; `shipped` finds it there by the name that this returns."""
        with self.told():
            self.context.addFile(str(Path(path).absolute()), recursive=Path(path).is_dir())
        return Path(path).absolute().name

    def list_files(self, path: str) -> list[tuple[str, int]]:
        """The files of a path of Hadoop (file:, hdfs:, s3a: …) with their sizes: it, or what is in the folder, sorted.

        Names that begin with a dot or an underscore are hidden, as everywhere in Hadoop.
        """
        with self.told():
            place = self.context._jvm.org.apache.hadoop.fs.Path(path)
            system = place.getFileSystem(self.context._jsc.hadoopConfiguration())
            if not system.exists(place):
                return []
            found = [(one, one.getPath()) for one in system.listStatus(place)]
            is_folder = system.getFileStatus(place).isDirectory()
            files = [(one, name) for one, name in found if one.isFile()]
            if is_folder:
                files = [(one, name) for one, name in files if not name.getName().startswith((".", "_"))]
            return sorted((str(name.toString()), int(one.getLen())) for one, name in files)

    def read_lines(self, paths: Sequence[str]) -> Any:
        """An RDD of the lines of files, as bytes: only a line feed ends one; files are unpacked as Hadoop does it."""
        from pyspark.sql import SparkSession

        with self.told():
            reader = SparkSession(self.context).read.format("text").option("lineSep", "\n")
            return reader.load(list(paths)).selectExpr("cast(value as binary)").rdd.map(_first)

    def read_whole(self, paths: Sequence[str]) -> Any:
        """An RDD of the names of files and their bytes, each file in a partition of its own."""
        with self.told():
            return self.context.union([self.context.binaryFiles(_literal(path), 1) for path in paths])

    def keep(self, rdd: Any) -> Any:
        """The same RDD; what it has is computed once and stays on the disks of the executors."""
        from pyspark import StorageLevel

        return rdd.persist(StorageLevel.DISK_ONLY)

    def _ask(self, question: Callable[[Any], tuple[str, str]]) -> list[tuple[str, str]]:
        """The answers of executors: several tasks for each core, so that as a rule all are asked."""
        number = 4 * self.cores
        with self.told():
            return sorted(set(self.context.parallelize(range(number), number).map(question).collect()))

    def _ship_code(self) -> None:
        """Make sure that the executors have this code. This is the first job, so it also waits for them to come."""
        note = threading.Timer(NOTE_AFTER, _print_note, [self.master])
        note.daemon = True
        note.start()
        try:
            digest = digest_function()
            if all(found == digest(0) for found in self.context.parallelize(range(self.cores)).map(digest).collect()):
                return
        finally:
            note.cancel()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "gyro-code.zip")
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
                _write_packages(file)
            self.context.addPyFile(str(path))


def _first(row: Any) -> bytes:
    return bytes(row[0])


def _literal(path: str) -> str:
    """A path in which nothing stands for other characters."""
    return re.sub(r"([*?{}\[\]\\])", r"\\\1", path)


def shipped(name: str) -> Path:
    """In an executor (or the driver): where a file or a folder is that `Spark.ship` has sent."""
    from pyspark import SparkFiles

    return Path(SparkFiles.get(name))


def _print_note(master: str) -> None:
    print(f"gyro: waiting for executors of {master}; none has taken work yet", file=sys.stderr, flush=True)


def _write_packages(file: zipfile.ZipFile) -> None:
    for name in PACKAGES:
        spec = find_spec(name)
        for root in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(Path(root).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    file.write(path, Path(name, path.relative_to(root)))
