"""The SSA IR: graph classes, op declarations, printer, parser and verifier.

Parser and verifier are for tests and tools: a call of a compiled function does not import them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ljit.ir.copying import clone, copy_node, copy_nodes
from ljit.ir.effects import Effect
from ljit.ir.emitter import Emitter, Scalar
from ljit.ir.graph import ENDLESS, Block, Graph, Node, Value
from ljit.ir.odd_layouts import OddLayout
from ljit.ir.opdef import UNKNOWN, Neutral, OpDef, any_operands, any_result
from ljit.ir.printer import Names, format_node, print_graph
from ljit.ir.reductions import Accumulation, Reduction, Scan
from ljit.ir.registry import REGISTRY, declare, get_op
from ljit.ir.schema import Schema

if TYPE_CHECKING:
    from ljit.ir.parser import parse, parse_literal, parse_type
    from ljit.ir.verifier import breaches, verify

__all__ = [
    "ENDLESS",
    "REGISTRY",
    "UNKNOWN",
    "Accumulation",
    "Block",
    "Effect",
    "Emitter",
    "Graph",
    "Names",
    "Neutral",
    "Node",
    "OddLayout",
    "OpDef",
    "Reduction",
    "Scalar",
    "Scan",
    "Schema",
    "Value",
    "any_operands",
    "any_result",
    "breaches",
    "clone",
    "copy_node",
    "copy_nodes",
    "declare",
    "format_node",
    "get_op",
    "parse",
    "parse_literal",
    "parse_type",
    "print_graph",
    "verify",
]

_MODULES = {
    "breaches": "ljit.ir.verifier",
    "parse": "ljit.ir.parser",
    "parse_literal": "ljit.ir.parser",
    "parse_type": "ljit.ir.parser",
    "verify": "ljit.ir.verifier",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_MODULES[name]), name)
