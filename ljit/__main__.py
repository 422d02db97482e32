"""``python -m ljit``: the demonstration, the facts about this machine, and a look inside a function."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from ljit.cli import demo, info, inspect, ops
from ljit.errors import InputError, UserError

__all__ = ["main"]

_COMMANDS: dict[str, Any] = {"demo": demo, "info": info, "inspect": inspect, "ops": ops}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ljit", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in _COMMANDS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    options = parser.parse_args(arguments)
    try:
        status: int = _COMMANDS[options.command].run(options)
        return status
    except (InputError, UserError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
