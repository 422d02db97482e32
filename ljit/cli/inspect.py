"""Print graph, code, LLVM IR, assembly, bytecode or the explanation of any function.

``python -m ljit inspect file.py:function --args "np.ones(3), 2.0" --show llvm``. The arguments are
evaluated in the file's namespace; the function runs three times, so that it is profiled and native.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import ljit

__all__ = ["add_arguments", "load_function", "run"]

_VIEWS = ("graph", "specialized", "code", "llvm", "asm", "bytecode", "explain")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("target", help="file.py:function, or file.py:Class.method")
    parser.add_argument(
        "--args", default="", help='arguments of the call, such as "np.ones(3), k=2"'
    )
    parser.add_argument(
        "--show", choices=_VIEWS, action="append", help="what to print (default: explain)"
    )
    parser.add_argument("--unoptimized", action="store_true", help="LLVM IR as ljit wrote it")


def run(options: argparse.Namespace) -> int:
    """Run the function and print the views."""
    try:
        function, namespace = load_function(options.target)
    except (OSError, AttributeError, ValueError) as error:
        print(f"cannot load {options.target}: {error}", file=sys.stderr)
        return 1
    views = options.show or ["explain"]
    if options.args or set(views) - {"graph", "code", "bytecode"}:
        for _ in range(3):
            _call(function, options.args, namespace)
    for view in views:
        if len(views) > 1:
            print(f"# {view}")
        print(_view(function, view, options, namespace))
    return 0


def load_function(target: str) -> tuple[Any, Mapping[str, Any]]:
    """Import ``file.py:name`` and give the function, decorated, and the names that arguments may use."""
    file, separator, name = target.rpartition(":")
    if not separator:
        raise ValueError("say file.py:function")
    module = _import_file(Path(file))
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    function = found if isinstance(found, ljit.Function) else ljit.jit(found)
    return function, {"np": np, "numpy": np, "math": math, **vars(module)}


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _call(function: Callable[..., Any], arguments: str, namespace: Mapping[str, Any]) -> Any:
    """Call with arguments given as text, made afresh."""
    return eval(f"__ljit_function({arguments})", {**namespace, "__ljit_function": function})


def _view(
    function: Any, view: str, options: argparse.Namespace, namespace: Mapping[str, Any]
) -> str:
    match view:
        case "graph":
            return str(function.graph)
        case "specialized":
            return str(_call(function.graph_for, options.args, namespace))
        case "code":
            return str(function.code)
        case "llvm":
            return str(function.dump_llvm(optimized=not options.unoptimized))
        case "asm":
            return str(function.dump_asm())
        case "bytecode":
            return str(function.dump_bytecode())
        case _:
            return str(function.explain())
