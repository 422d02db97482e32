"""The SSA IR: graph classes, op declarations, printer, parser and verifier."""

from ljit.ir.graph import Block, Graph, Node, Value, copy_node, copy_nodes
from ljit.ir.opdef import (
    REGISTRY,
    Effect,
    Emitter,
    OpDef,
    Scalar,
    Schema,
    any_result,
    declare,
    get_op,
)
from ljit.ir.printer import Names, format_node, print_graph
from ljit.ir.verifier import breaches, verify

__all__ = [
    "REGISTRY",
    "Block",
    "Effect",
    "Emitter",
    "Graph",
    "Names",
    "Node",
    "OpDef",
    "Scalar",
    "Schema",
    "Value",
    "any_result",
    "breaches",
    "copy_node",
    "copy_nodes",
    "declare",
    "format_node",
    "get_op",
    "print_graph",
    "verify",
]
