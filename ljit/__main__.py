"""``python -m ljit``: a look inside functions and ops, facts about this machine, and the demonstration."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

import ljit
from ljit.cli import demo, info, inspect, ops
from ljit.errors import InputError, UserError

__all__ = ["main"]

_COMMANDS: dict[str, Any] = {"inspect": inspect, "ops": ops, "info": info, "demo": demo}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give the exit status."""
    description = "Look inside functions that ljit makes native. COMMAND --help says more of each."
    parser = argparse.ArgumentParser(prog="python -m ljit", description=description)
    parser.add_argument("--version", action="version", version=f"ljit {ljit.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in _COMMANDS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    options = parser.parse_args(arguments)
    try:
        status: int = _COMMANDS[options.command].run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # `python -m ljit ops | head`: whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, UserError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
