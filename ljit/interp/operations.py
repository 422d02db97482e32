"""How the interpreter computes single nodes: a callable, or Python text, and how listings show them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ljit.interp.code import Kind, short
from ljit.ir import Node, get_op

__all__ = ["bound", "call_text", "reductions"]


def reductions(node: Node) -> tuple[Callable[[Any], Any] | None, ...]:
    """Give for each output of a Map the function that reduces all elements to it; None: it is the elements."""
    names: Any = node.attrs.get("reduce") or (None,) * len(node.outputs)
    axes, keepdims = node.attrs.get("axes", ()), bool(node.attrs.get("keepdims", False))

    def reducing(ufunc: Any) -> Callable[[Any], Any]:
        return lambda x: ufunc.reduce(x, axis=axes, dtype=x.dtype, keepdims=keepdims)

    return tuple(None if name is None else reducing(get_op(name).evaluate) for name in names)


def bound(node: Node) -> tuple[Kind, object]:
    """How `node` is computed from its operands: a callable or Python text."""
    op = node.op
    assert op.evaluate is not None
    if len(node.outputs) > 1:
        if op.is_unpacking and node.attrs.get("star") is None:
            return Kind.UNPACK, None
        return Kind.MULTI, _callable_of(node)
    if op.evaluate is operator.truth:
        return Kind.TRUTH, None
    if op.bind is not None:
        return Kind.CALL, _callable_of(node)
    if op.in_line is not None:
        return Kind.IN_LINE, (_callable_of(node), *op.in_line)
    if op.statement:
        return Kind.STATEMENT, lambda operands: op.statement.format(*operands, **node.attrs)
    if op.syntax:
        return Kind.EXPRESSION, lambda operands: op.text_of(operands, node.attrs)
    return Kind.CALL, _callable_of(node)


def _callable_of(node: Node) -> Callable[..., Any]:
    op = node.op
    if op.bind is not None:
        return op.bind(**node.attrs)
    assert op.evaluate is not None
    return partial(op.evaluate, **node.attrs) if node.attrs else op.evaluate


def call_text(node: Node) -> str:
    """Give an op with its attributes as the listing shows it."""
    if not node.attrs:
        return node.op.name
    parts = ", ".join(f"{name}={short(value)}" for name, value in node.attrs.items())
    return f"{node.op.name}[{parts}]"
