"""The command train: the systems that GYRO is compared with learn from treebanks."""

from __future__ import annotations

import argparse

from gyro.cli.parser import add_volume
from gyro.run.system import trained_kinds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    systems = parser.add_subparsers(title="systems", metavar="SYSTEM", required=True)
    for name, kind in trained_kinds().items():
        system = systems.add_parser(name, help=f"train {name}")
        kind.add_training_arguments(system)
        add_volume(system)
        system.set_defaults(train=kind.train_system)


def run(arguments: argparse.Namespace) -> int:
    print(arguments.train(arguments))
    return 0
