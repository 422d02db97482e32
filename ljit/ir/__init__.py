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

__all__ = [
    "REGISTRY",
    "Block",
    "Effect",
    "Emitter",
    "Graph",
    "Node",
    "OpDef",
    "Scalar",
    "Schema",
    "Value",
    "any_result",
    "copy_node",
    "copy_nodes",
    "declare",
    "get_op",
]
