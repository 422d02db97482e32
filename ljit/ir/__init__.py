"""The SSA IR: graph classes, op declarations, printer, parser and verifier."""

from ljit.ir.graph import Block, Graph, Node, Value, copy_node, copy_nodes
from ljit.ir.opdef import (
    REGISTRY,
    UNKNOWN,
    Effect,
    Emitter,
    OpDef,
    Scalar,
    Schema,
    any_result,
    declare,
    get_op,
)
from ljit.ir.parser import parse, parse_literal, parse_type
from ljit.ir.printer import Names, format_node, print_graph
from ljit.ir.verifier import breaches, verify

__all__ = [
    "REGISTRY",
    "UNKNOWN",
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
    "parse",
    "parse_literal",
    "parse_type",
    "print_graph",
    "verify",
]
