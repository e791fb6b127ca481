"""`gyro run` as a script of the clone; gyro/pipeline/chain.py has the whole run on one page.

python run_pipeline.py               the built-in demonstration on the State of the Union addresses
python run_pipeline.py CONFIG.toml   a run of your own; --show-config prints the built-in file to start from
python run_pipeline.py CONFIG.toml TUNED.toml   the same with the values that `gyro tune` found
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gyro import cli


def main(argv: Sequence[str] | None = None) -> int:
    """The command `gyro run` with these words."""
    return cli.main(["run", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
