"""KenLM's programs lmplz and build_binary, without root and without Boost: `python -m lm.kenlm.toolchain`.

find_program      where a program is: the environment's own first, then PATH
programs_work     whether lmplz and build_binary of a folder make a sound model
install_programs  build both from the sources of the installed kenlm-ex and put them beside the interpreter
main              do so unless they are there already
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from gyro.errors import GyroError, InputError
from gyro.files import write_atomically

PROGRAMS = ("lmplz", "build_binary")
PACKAGE = "kenlm-ex"

# What the sources of kenlm-ex 0.2.1 need before their lmplz can be used. The option parser has a help flag of its own,
# so that adding a second ends every run; and the switches that are not given are read uninitialised, which turned
# --collapse_values on: probabilities above one. A release that mends them has other text and is left as it is.
LMPLZ_SOURCE = Path("lm", "builder", "lmplz_main.cc")
LMPLZ_REPAIRS = (
    ('app.add_flag("-h,--help",', 'app.set_help_flag(); app.add_flag("-h,--help",'),
    ("lm::builder::PipelineConfig pipeline;", "lm::builder::PipelineConfig pipeline{};"),
    ("bool verbose_header;", "bool verbose_header = false;"),
)


def environment_bin() -> Path:
    """The folder of the environment's programs."""
    return Path(sysconfig.get_path("scripts"))


def find_program(name: str) -> Path:
    """The path of lmplz or build_binary."""
    own = environment_bin() / name
    found = str(own) if os.access(own, os.X_OK) else shutil.which(name)
    if found is None:
        raise InputError(f"the program {name} is not installed; `{sys.executable} -m lm.kenlm.toolchain` builds it")
    return Path(found)


def programs_work(folder: Path) -> bool:
    """Whether the programs of a folder turn a tiny text into a model: its unigram probabilities sum to one."""
    lmplz, build_binary = (folder / name for name in PROGRAMS)
    with tempfile.TemporaryDirectory() as scratch:
        arpa, binary = Path(scratch, "check.arpa"), Path(scratch, "check.lm")
        estimate: list[str | Path] = [lmplz, "-o", "2", "-S", "64M", "-T", Path(scratch, "sort"), "--arpa", arpa]
        estimate += ["--vocab_estimate", "1000", "--discount_fallback", "0.5", "1", "1.5"]
        try:
            subprocess.run(estimate, input=b"a b c\nb c d\n", capture_output=True, check=True, timeout=60)
            subprocess.run([build_binary, arpa, binary], capture_output=True, check=True, timeout=60)
            return math.isclose(_unigram_mass(arpa), 1.0, abs_tol=1e-4)
        except (OSError, ValueError, IndexError, subprocess.SubprocessError):
            return False


def install_programs(source: Path | None = None) -> Path:
    """Build the programs from an archive (else: the one that pip finds) and give the folder that they went into."""
    log, target = Path(sys.prefix, "toolchain.log"), environment_bin()
    cmake = _find_build_tools()
    try:
        with tempfile.TemporaryDirectory(dir=sys.prefix, prefix=".toolchain-") as scratch, open(log, "wb") as log_file:
            build = _Build(Path(scratch), log, log_file.fileno())
            tree = _unpack(source or build.download(), Path(scratch, "source"))
            _repair(tree)
            built = build.compile(cmake, tree)
            if not programs_work(built):
                raise InputError(f"the programs were built but do not make a sound model; the build log is {log}")
            for name in PROGRAMS:
                _install(built / name, target / name)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=error.filename or sys.prefix) from error
    log.unlink()
    return target


def main(argv: Sequence[str] | None = None) -> int:
    """The command: 0 when the programs are there, 2 with one line when they cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m lm.kenlm.toolchain", description="Build lmplz and build_binary.")
    parser.add_argument("--source", type=Path, help=f"an sdist of {PACKAGE}, instead of the one that pip finds")
    parser.add_argument("--force", action="store_true", help="build even if working programs are there")
    arguments = parser.parse_args(argv)
    try:
        if not arguments.force and programs_work(environment_bin()):
            print(f"{' and '.join(PROGRAMS)} are in {environment_bin()}")
            return 0
        print(f"building {' and '.join(PROGRAMS)} from the sources of {PACKAGE} (about a minute)", flush=True)
        print(f"{' and '.join(PROGRAMS)} are in {install_programs(arguments.source)}")
    except GyroError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


class _Build:
    """The steps of one build that run other programs; all of them write to one log."""

    def __init__(self, scratch: Path, log: Path, log_descriptor: int) -> None:
        self.scratch, self.log, self.log_descriptor = scratch, log, log_descriptor

    def download(self) -> Path:
        """The sdist of exactly the kenlm-ex that is installed, through pip, so through the user's index and proxy."""
        try:
            wanted = f"{PACKAGE}=={metadata.version(PACKAGE)}"
        except metadata.PackageNotFoundError as error:
            raise InputError(f"{PACKAGE} is not installed in {sys.prefix}; `pip install {PACKAGE}` first") from error
        folder = self.scratch / "download"
        # Only this package as source: its build requirements (cmake) would take an hour to compile.
        options = ["--no-deps", "--no-binary", PACKAGE, "--disable-pip-version-check", "--dest", str(folder)]
        self._run([sys.executable, "-m", "pip", "download", *options, wanted], f"pip cannot download {wanted}")
        return next(folder.glob("*.tar.gz"))

    def compile(self, cmake: Path, tree: Path) -> Path:
        """Configure and build; the folder of the programs."""
        folder = self.scratch / "build"
        configure = [str(cmake), "-S", str(tree), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"]
        self._run(configure, "cmake cannot configure the build")
        jobs = str(os.cpu_count() or 1)
        self._run([str(cmake), "--build", str(folder), "--parallel", jobs, "--target", *PROGRAMS], "the build failed")
        return folder / "bin"

    def _run(self, command: list[str], failure: str) -> None:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=self.log_descriptor, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
            raise InputError(f"{failure}: {last[:200]} (all of it is in {self.log})")


def _find_build_tools() -> Path:
    compilers = [os.environ["CXX"].split()[0]] if os.environ.get("CXX", "").strip() else ["c++", "g++", "clang++"]
    if not any(shutil.which(name) for name in compilers):
        raise InputError(f"no C++ compiler: looked for {', '.join(compilers)}; install one (Debian: g++) or set CXX")
    own = environment_bin() / "cmake"
    found = str(own) if os.access(own, os.X_OK) else shutil.which("cmake")
    if found is None:
        raise InputError(f"no cmake: `{sys.executable} -m pip install 'cmake>=3.28'` installs it")
    return Path(found)


def _unpack(archive: Path, folder: Path) -> Path:
    """The sources of an sdist: its one top folder."""
    if not hasattr(tarfile, "data_filter"):
        raise InputError(f"this Python ({sys.version.split()[0]}) cannot unpack archives safely; 3.11.4 or later can")
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    except (OSError, EOFError, tarfile.TarError) as error:
        raise InputError(f"cannot unpack: {error}", path=archive) from error
    trees = [path.parent for path in folder.glob("*/CMakeLists.txt")]
    if len(trees) != 1 or not (trees[0] / LMPLZ_SOURCE).is_file():
        raise InputError(f"found no sources of lmplz; an sdist of {PACKAGE} is allowed", path=archive)
    return trees[0]


def _repair(tree: Path) -> None:
    path = tree / LMPLZ_SOURCE
    text = path.read_text(encoding="utf-8")
    for found, mended in LMPLZ_REPAIRS:
        text = text.replace(found, mended, 1)
    path.write_text(text, encoding="utf-8")


def _install(program: Path, target: Path) -> None:
    with write_atomically(target) as file:
        file.write(program.read_bytes())
        os.fchmod(file.fileno(), 0o755)


def _unigram_mass(arpa: Path) -> float:
    """The sum of the unigram probabilities of an ARPA file; <s> is never predicted and does not count."""
    section = arpa.read_text(encoding="utf-8").split("\\1-grams:\n")[1].split("\n\n")[0]
    rows = [line.split("\t") for line in section.splitlines()]
    return sum(10 ** float(row[0]) for row in rows if row[1] != "<s>")


if __name__ == "__main__":
    sys.exit(main())
