"""`python -m gyro` is `gyro`."""

import sys

from gyro.cli import main

sys.exit(main())
