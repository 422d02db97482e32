"""List the ops, describe one, or print all as Markdown."""

from __future__ import annotations

import argparse
import inspect
import sys

import numpy as np

from ljit.ir import REGISTRY, Effect, OpDef, any_operands

__all__ = ["add_arguments", "describe", "index", "markdown", "run"]

_FAMILIES = {
    "prim": "Structure, constants, iteration and containers.",
    "py": "Python's operators, calls and attributes: what the baseline graph is made of.",
    "np": "NumPy's functions on scalars and arrays: what the specialiser puts in their place.",
    "math": "The functions of `math`.",
    "cmath": "The functions of `cmath`.",
    "Generator": "Draws from a `numpy.random.Generator`.",
    "RandomState": "Draws from a `numpy.random.RandomState`, such as that of `np.random.rand`.",
    "random": "Draws from Python's `random`.",
    "wide": "Python's operators on ints in [0, 2**64): what the specialiser puts in their place.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "name", nargs="?", help="an op, such as np::add; a part lists all that have it"
    )
    parser.add_argument("--markdown", action="store_true", help="print docs/ops.md")
    parser.add_argument("--index", action="store_true", help="write ljit/ops/index.txt")


def run(options: argparse.Namespace) -> int:
    """Print what was asked for."""
    import ljit.ops  # noqa: F401  # fills the registry
    from ljit.ops.index import FILE

    if options.markdown:
        print(markdown(), end="")
        return 0
    if options.index:
        FILE.write_text(index(), encoding="utf-8")
        return 0
    if options.name in REGISTRY:
        print(describe(REGISTRY[options.name]))
        return 0
    found = [op for name, op in sorted(REGISTRY.items()) if (options.name or "") in name]
    if not found:
        print(f"no op has {options.name!r} in its name", file=sys.stderr)
        return 1
    for op in found:
        print(f"{op.name + op.schema.text:60} {_first_line(op)}".rstrip())
    return 0


def describe(op: OpDef) -> str:
    """Give everything that is declared of an op, one fact a line."""
    lines = [f"{op.name}{op.schema.text}", "", inspect.cleandoc(op.doc or ""), ""]
    lines.extend(f"{label + ':':12} {text}" for label, text in _facts(op))
    return "\n".join(lines)


def _facts(op: OpDef) -> list[tuple[str, str]]:
    facts = [
        ("declared in", REGISTRY.module_of(op.name)),
        ("native", _native(op)),
        ("effects", _effects(op)),
        ("called as", ", ".join(map(_callable_name, op.callables))),
        ("methods", ", ".join(op.methods)),
        ("attributes", ", ".join(op.attributes)),
        ("on NumPy", op.numpy or ""),
    ]
    flags = ("elementwise", "is_commutative", "is_terminator", "is_profiled", "keeps_unions")
    facts.append(("is", ", ".join(f.removeprefix("is_") for f in flags if getattr(op, f))))
    return [(label, text) for label, text in facts if text]


def _native(op: OpDef) -> str:
    if op.lower is None:
        return "known to each stage" if op.evaluate is None else "calls the Python function"
    if op.can_lower is None:
        return "where the type of the result is known"
    return "yes" if op.can_lower is any_operands else "for some types"


def _effects(op: OpDef) -> str:
    if not isinstance(op.effects, Effect):
        return "depend on the operand types"
    return " ".join(op.effects.names).lower() or "none"


def _callable_name(function: object) -> str:
    name = getattr(function, "__name__", repr(function))
    module = getattr(function, "__module__", None) or ""
    owner = "np" if isinstance(function, np.ufunc) else module.split(".")[0]
    short = {"numpy": "np", "builtins": ""}.get(owner, owner)
    return f"`{short}.{name}`" if short else f"`{name}`"


def _first_line(op: OpDef) -> str:
    return inspect.cleandoc(op.doc or "").split("\n", 1)[0]


def markdown() -> str:
    """Give the text of docs/ops.md."""
    parts = [
        "# The ops\n",
        "Made by `python -m ljit ops --markdown` from the declarations in `ljit/ops/`; do not edit.\n",
        f"{len(REGISTRY)} ops. A `!` in a schema marks an operand that the op writes to. *Native* says",
        "whether machine code computes the op itself or calls the Python function from there.",
        "[adding-an-op.md](adding-an-op.md) says how to declare one.\n",
    ]
    families: dict[str, list[OpDef]] = {family: [] for family in _FAMILIES}
    for name, op in sorted(REGISTRY.items()):
        families.setdefault(name.split("::")[0], []).append(op)
    for family, ops in families.items():
        parts.append(f"## {family}\n\n{_FAMILIES.get(family, '')}\n")
        parts.append("| op | what it is | native | effects | stands for |\n|---|---|---|---|---|")
        parts.extend(map(_row, ops))
        parts.append("")
    return "\n".join(parts)


def index() -> str:
    """Give the text of ljit/ops/index.txt."""
    from ljit.ops import GENERIC
    from ljit.ops.index import text_of

    late = {op: REGISTRY.module_of(name) for name, op in REGISTRY.items() if name not in GENERIC}
    return text_of({op: module for op, module in late.items() if module.startswith("ljit.ops.")})


def _row(op: OpDef) -> str:
    names = [
        *map(_callable_name, op.callables),
        *(f"`.{m}`" for m in (*op.methods, *op.attributes)),
    ]
    cells = (
        f"`{op.name}{op.schema.text}`",
        _first_line(op),
        _native(op),
        _effects(op),
        " ".join(names),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
