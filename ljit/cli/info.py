"""Print versions, the processor and its features, and the settings in force."""

from __future__ import annotations

import argparse
import platform

import numpy as np

import ljit
from ljit import config
from ljit.codegen import host_description

__all__ = ["add_arguments", "run"]


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """There are no options."""


def run(_options: argparse.Namespace) -> int:
    """Print one fact a line."""
    facts = {
        "ljit": ljit.__version__,
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "NumPy": np.__version__,
        "compiles with": host_description(),
        "system": platform.platform(),
    }
    for name, value in facts.items():
        print(f"{name + ':':14} {value}")
    for name in config.Settings.fields_of_record:
        value = getattr(config.settings(), name)
        print(f"{'setting:':14} {name} = {value!r}")
    return 0
