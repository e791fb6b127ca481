"""Parts of a pipeline that are skipped when what they make is up to date.

make_once    make a target unless it was made from the same facts before
fingerprint  the facts about an input file that change when its content does
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gyro.files import read_json, write_json
from gyro.version import __version__


def make_once(name: str, target: Path, facts: Mapping[str, Any], make: Callable[[], None]) -> None:
    """Call `make` unless `target` is there with a stamp of the same facts; the stamp is written last.

    A stage that is killed leaves no stamp, so it is done again; what it made before is replaced.
    """
    stamp = target.with_name(target.name + ".stage.json")
    wanted = {"gyro": __version__, "stage": name, "facts": dict(facts)}
    if target.exists() and stamp.exists() and read_json(stamp) == wanted:
        print(f"{name}: up to date", file=sys.stderr)
        return
    stamp.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    print(f"{name} …", file=sys.stderr)
    make()
    write_json(stamp, wanted)
    print(f"{name}: {time.perf_counter() - began:.1f} s", file=sys.stderr)


def fingerprint(path: Path) -> dict[str, Any]:
    """Name, size and time of change of a file, or of the stamp-bearing folder's header."""
    status = path.stat()
    return {"file": path.name, "size": status.st_size, "changed": status.st_mtime_ns}
