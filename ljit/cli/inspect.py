"""Print graph, code, LLVM IR, assembly, bytecode or the explanation of any function.

``python -m ljit inspect file.py:function --args "np.ones(3), 2.0" --show llvm``. The arguments are
evaluated in the file's namespace; the function runs three times, so that it is profiled and native. What it raises
is shown as Python shows it, and the views after that.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import traceback
from collections.abc import Callable, Mapping
from inspect import isfunction, signature
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import ljit
from ljit.errors import InputError

__all__ = ["add_arguments", "load_function", "run"]

_VIEWS = ("graph", "specialized", "code", "llvm", "asm", "bytecode", "explain")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("target", help="file.py:function or file.py:Class.method")
    parser.add_argument(
        "--args", default="", help='arguments to call it with, such as "np.ones(3), k=2"'
    )
    parser.add_argument(
        "--show",
        choices=_VIEWS,
        action="append",
        help="what to print (default: explain); may be repeated",
    )
    parser.add_argument(
        "--unoptimized",
        action="store_true",
        help="show LLVM IR as ljit wrote it, not what LLVM made of it",
    )


def run(options: argparse.Namespace) -> int:
    """Run the function and print the views."""
    function, namespace = load_function(options.target)
    views = options.show or ["explain"]
    status = 0
    if options.args or set(views) - {"graph", "code", "bytecode"}:
        status = _run_three_times(function, options.args, namespace)
    for view in views:
        if len(views) > 1:
            print(f"# {view}")
        print(_view(function, view, options, namespace))
    return status


def load_function(target: str) -> tuple[Any, Mapping[str, Any]]:
    """Import ``file.py:name`` and give the function, decorated, and the names that arguments may use."""
    file, _, name = target.rpartition(":")
    if not (file and name):
        raise InputError(f"cannot load {target!r}: name a function, as in file.py:function")
    try:
        module = _import_file(Path(file))
        found: Any = attrgetter(name)(module)
    except Exception as error:
        raise InputError(f"cannot load {target}: {_text_of(error)}") from error
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, type):
        raise InputError(f"{target} is a class: name one of its methods, as in {target}.method")
    if not isinstance(found, ljit.Function):
        if not isfunction(found):
            raise InputError(f"{target} is no Python function: it is a {type(found).__name__}")
        found = ljit.jit(found)
    return found, {"np": np, "numpy": np, "math": math, **vars(module)}


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file; give its path, as in folder/file.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _run_three_times(
    function: Callable[..., Any], arguments: str, namespace: Mapping[str, Any]
) -> int:
    """Call with arguments made afresh; show what is raised, and give the exit status."""
    for _ in range(3):
        args, kwargs = _evaluate(function, arguments, namespace)
        try:
            function(*args, **kwargs)
        except Exception as error:
            own = error.__traceback__
            traceback.print_exception(error.with_traceback(own and own.tb_next))
            return 1
    return 0


def _evaluate(
    function: Callable[..., Any], arguments: str, namespace: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of the function that are given as text."""
    try:
        args, kwargs = eval(f"__ljit_given({arguments})", {**namespace, "__ljit_given": _given})
        signature(function).bind(*args, **kwargs)
    except Exception as error:
        called = f"{function.__qualname__}{signature(function)}"
        message = f'cannot call {called} with --args "{arguments}": {_text_of(error)}'
        raise InputError(message) from error
    return args, kwargs


def _given(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def _text_of(error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.filename == "<string>":
        return f"SyntaxError: {error.msg}"  # its line is not the user's
    return "".join(traceback.format_exception_only(error)).strip()


def _view(
    function: Any, view: str, options: argparse.Namespace, namespace: Mapping[str, Any]
) -> str:
    match view:
        case "graph":
            return str(function.graph)
        case "specialized":
            args, kwargs = _evaluate(function, options.args, namespace)
            return str(function.graph_for(*args, **kwargs))
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
