"""What some tests need besides the installed packages: they skip without it, and say what to do.

TREEBANK, needs_treebank   the folder of the English Web Treebank
SICK, needs_sick           CCG derivations in an AUTO file
needs_openfst_tools        OpenFst's command-line tools
needs_openfst_headers      OpenFst's library for C++ and a compiler
needs_xxhsum               the command-line tool of xxHash
CHROMIUM, needs_chromium   a browser
needs_spark                pyspark and Java
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

TREEBANK = _DATA / "treebank"
SICK = _DATA / "ccg" / "sick_trial.depccg.auto.xz"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _needs(found: object, what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not found, reason=what)


needs_treebank = _needs(TREEBANK.is_dir(), "needs UD English EWT as ../shared/data/treebank")
needs_sick = _needs(SICK.exists(), "needs ../shared/data/ccg/sick_trial.depccg.auto.xz")
needs_openfst_tools = _needs(shutil.which("fstinfo"), "needs OpenFst's tools: apt-get install libfst-tools")
needs_openfst_headers = _needs(
    shutil.which("g++") and Path("/usr/include/fst/sparse-power-weight.h").exists(),
    "needs OpenFst's library and a compiler: apt-get install libfst-dev g++",
)
needs_xxhsum = _needs(shutil.which("xxhsum"), "needs the tool xxhsum: apt-get install xxhash")
needs_chromium = _needs(CHROMIUM, "needs a browser: apt-get install chromium")
needs_spark = _needs(
    find_spec("pyspark") and (shutil.which("java") or os.environ.get("JAVA_HOME")),
    "needs Java 17 and pyspark: apt-get install openjdk-17-jre-headless, pip install 'gyro-order[spark]'",
)
