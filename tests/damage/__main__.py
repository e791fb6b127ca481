"""python -m tests.damage FOLDER SEED COUNT KIND…: see tests.damage.reading."""

import resource
import sys
from pathlib import Path

from tests.damage.reading import run

# Of the memory that a damaged size may ask for, no more than this is given.
MOST_MEMORY = 6 << 30

resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
sys.exit(1 if run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]) else 0)
