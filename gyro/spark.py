"""Spark, for those who have a cluster of it: the one module that touches pyspark.

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

import atexit
import os
import re
import shutil
import signal
import socket
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

from gyro import errors
from gyro.errors import GyroError, InputError, ResourceError

FROM_SETTINGS = "settings"  # as a master: that of spark-submit or of spark-defaults.conf
PACKAGES = ("gyro", "grammars", "lm", "rescoring", "comparison")
MASTER_TIMEOUT = 5.0  # seconds to connect to a master
NOTE_AFTER = 30.0  # seconds without executors until a note says so

_NEEDS_PYSPARK = "Spark needs the package pyspark; install it with: pip install 'gyro-order[spark]'"
_NEEDS_JAVA = (
    "Spark needs Java 17 or later, and none was found; install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME"
)
_log: list[Path] = []  # to which the Java of this process writes what it has to say; removed at the end unless named
_GYRO_ERROR = re.compile(r"gyro\.errors\.(\w+): (.*)")
# What the Java side says → what to do about it; {0} is the master, {1} the line that says it, {2} our Python.
_KNOWN: tuple[tuple[str, str], ...] = (
    ("UnsupportedClassVersionError", "the Java that was found is too old; Spark needs 17 or later: set JAVA_HOME"),
    ("Could not parse Master URL", "found the Spark master {0!r}; spark://HOST:PORT, yarn or local[N] is allowed"),
    ("All masters are unresponsive", "the Spark master {0} does not answer; is it running, and is this its address?"),
    ("No FileSystem for scheme", "Spark has no such file system ({1}); give its package in spark.jars.packages"),
    ("Encountered error while reading file", "a file of the text is damaged or cannot be read ({1})"),
    ("ClassNotFoundException: Class org.apache.hadoop.fs", "Spark lacks a file system's classes ({1})"),
    ("different minor version", "the executors have another Python than {2}; set PYSPARK_PYTHON to the same"),
    ("python worker exited unexpectedly", "a Python process of an executor died, perhaps for lack of memory"),
)  # fmt: skip


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
    _check_master(master)
    handler = signal.getsignal(signal.SIGINT)  # pyspark sets its own
    try:
        # pyspark warns of what else is installed, though nothing here uses it.
        with _told(master), warnings.catch_warnings(action="ignore", category=FutureWarning):
            _start_java(master)
            context = _connect(master, name, settings or {})
        application = context.applicationId
        try:
            with _told(master):
                spark = Spark(context, master)
                spark._ship_code()
            yield spark
        finally:
            with suppress(Exception):  # it may be what ended
                context.stop()
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
        with _told(self.master):
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
            answers = self._ask(_writing_function(str(mark)))
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
        for host, path in self._ask(_missing_function(wanted)):
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
            digest = _digest_function()
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


def _check_master(master: str) -> None:
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


def _start_java(master: str) -> None:
    """Start Java, unless it runs: a process has one, however often it connects."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
        return
    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").is_file() if home else shutil.which("java")):
        raise InputError(_NEEDS_JAVA)
    descriptor, name = tempfile.mkstemp(prefix="gyro-spark-", suffix=".log")
    _log.append(Path(name))
    atexit.register(_remove_log)
    with open(descriptor, "wb") as log, _environment(master):
        SparkContext._ensure_initialized(gateway=launch_gateway(popen_kwargs={"stdout": log, "stderr": log}))


def _connect(master: str, name: str, settings: Mapping[str, str]) -> Any:
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
        return SparkContext(conf=conf)


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


@contextmanager
def _told(master: str) -> Iterator[None]:
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, Py4JNetworkError, PySparkException) as error:
        raise _to_error(error, master) from error


def _remove_log() -> None:
    for path in _log:
        path.unlink(missing_ok=True)


def _to_error(error: Exception, master: str) -> GyroError:
    """What to say of an error of Spark: the GyroError that a task raised, a known fault, or Spark's own words."""
    text = str(error)
    for path in _log:
        text += "\n" + path.read_text(encoding="utf-8", errors="replace")[-20_000:]
    if raised := _GYRO_ERROR.search(str(error)):
        kind = getattr(errors, raised[1], InputError)
        if kind in (InputError, ResourceError, errors.MachineError, GyroError):
            return _with_message(kind, raised[2])
    for mark, message in _KNOWN:
        if at := text.lower().find(mark.lower()) + 1:
            line = text[max(text.rfind("\n", 0, at), 0) : len(text) if text.find("\n", at) < 0 else text.find("\n", at)]
            version = f"{sys.version_info.major}.{sys.version_info.minor}"
            return InputError(message.format(master, line.strip()[-200:], version))
    atexit.unregister(_remove_log)
    where = "".join(f"; its log is {path}" for path in _log)
    return InputError(f"Spark ended the work: {_reason(str(error))}{where}")


def _with_message(kind: type[GyroError], message: str) -> GyroError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    return error


def _reason(text: str) -> str:
    """The line of Spark's many that says most: the last cause, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"(Caused by: )?[\w.$]*(Error|Exception)\b.*:", line)]
    said = [line for line in lines if not line.startswith(("An error occurred while calling", "at "))]
    return ((causes or said or ["it did not say why"])[-1 if causes else 0])[:400]


def _print_note(master: str) -> None:
    print(f"gyro: waiting for executors of {master}; none has taken work yet", file=sys.stderr, flush=True)


# What follows runs in executors before they have this code: functions within functions, which are sent whole.


def _digest_function() -> Callable[[Any], str]:
    """A function that computes the checksum of the code that Python finds under the names of our packages."""
    packages: Sequence[str] = PACKAGES

    def digest(_: Any) -> str:
        import hashlib
        from importlib.util import find_spec
        from pathlib import Path

        found = hashlib.sha256()
        for name in packages:
            spec = find_spec(name)
            for root in (spec.submodule_search_locations or []) if spec else []:
                for path in sorted(Path(root).rglob("*.py")):
                    found.update(f"{name}/{path.relative_to(root)}\n".encode() + path.read_bytes())
        return found.hexdigest()

    return digest


def _writing_function(mark: str) -> Callable[[Any], tuple[str, str]]:
    """A function that looks for a mark and writes another beside it; it returns the host and what is wrong."""

    def write(_: Any) -> tuple[str, str]:
        import os
        import socket

        host = socket.gethostname()
        if not os.path.exists(mark):
            return host, "it is not there"
        try:
            with open(f"{mark}.{host}", "wb"):
                return host, ""
        except OSError as error:
            return host, f"cannot write: {error.strerror}"

    return write


def _missing_function(paths: Sequence[str]) -> Callable[[Any], tuple[str, str]]:
    """A function that returns the host and the first of the paths that is not there."""

    def missing(_: Any) -> tuple[str, str]:
        import os
        import socket

        return socket.gethostname(), next((path for path in paths if not os.path.exists(path)), "")

    return missing


def _write_packages(file: zipfile.ZipFile) -> None:
    for name in PACKAGES:
        spec = find_spec(name)
        for root in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(Path(root).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    file.write(path, Path(name, path.relative_to(root)))
