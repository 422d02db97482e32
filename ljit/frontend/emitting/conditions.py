"""Truth: and, or, comparisons, ternaries, and the conditions of statements.

As in CPython's bytecode each operand's truth is asked once, and only where it decides something; CPython 3.12 and
3.13 ask it again where one `and` or `or` within another has decided.
"""

from __future__ import annotations

import sys

from ljit.frontend.emitting.emission import Emission, emits
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.source import SourceRange
from ljit.types import ANY, BOOL

__all__ = ["condition", "truth"]

#: since CPython 3.12 errors of a test stand at what is tested, not at the statement that asks
_TESTS_HAVE_PLACES = sys.version_info >= (3, 12)
#: what one `and` or `or` within another knows of its value is lost
_NESTED_TRUTH_IS_ASKED_AGAIN = (3, 12) <= sys.version_info < (3, 14)


def truth(e: Emission, value: Value, where: SourceRange) -> Value:
    """Emit the truth of a value, a bool."""
    return value if value.type == BOOL else e.emit("py::truth", value, where=where)


def condition(e: Emission, expression: Tree, where: SourceRange) -> Value:
    """Emit the truth of `expression`, a bool; `where` is the statement that asks."""
    match expression:
        case tree.Const():
            return e.constant(bool(expression.value), expression.range)
        case tree.UnaryOp(operator="not"):
            inner = condition(e, expression.operand, where)
            return e.emit("py::not", inner, where=expression.range)
        case tree.BoolOp():
            return _all_or_any(e, expression, 0, where)
        case tree.Compare():
            return _compare(e, expression, wants_truth=True)
        case tree.TernaryIf():
            (chosen,) = e.branch(
                condition(e, expression.condition, where),
                lambda: (condition(e, expression.then, where),),
                lambda: (condition(e, expression.otherwise, where),),
                where,
                outputs=(BOOL,),
            )
            return chosen
        case _:
            place = expression.range if _TESTS_HAVE_PLACES else where
            return truth(e, e.expression(expression), place)


def _all_or_any(e: Emission, operation: tree.BoolOp, i: int, where: SourceRange) -> Value:
    """The truth of the operands from number `i` on."""
    first = condition(e, operation.operands[i], where)
    if i == len(operation.operands) - 1:
        return first

    def rest() -> tuple[Value]:
        return (_all_or_any(e, operation, i + 1, where),)

    def decided() -> tuple[Value]:
        return (e.constant(operation.operator == "or", operation.range),)

    fills = (rest, decided) if operation.operator == "and" else (decided, rest)
    (result,) = e.branch(first, *fills, operation.range, outputs=(BOOL,))
    return result


@emits(tree.BoolOp)
def _choose(e: Emission, operation: tree.BoolOp) -> Value:
    return _value_of(e, operation, 0)


def _value_of(e: Emission, operation: tree.BoolOp, i: int) -> Value:
    """The value of the operands from number `i` on."""
    if i == len(operation.operands) - 1:
        return e.expression(operation.operands[i])
    value, truth = _value_andtruth(e, operation.operands[i], operation.range)

    def rest() -> tuple[Value]:
        return (_value_of(e, operation, i + 1),)

    def decided() -> tuple[Value]:
        return (value,)

    fills = (rest, decided) if operation.operator == "and" else (decided, rest)
    (result,) = e.branch(truth, *fills, operation.range, outputs=(ANY,))
    return result


def _value_andtruth(e: Emission, expression: Tree, where: SourceRange) -> tuple[Value, Value]:
    """Both the value and its truth, for an operand of another `and` or `or`."""
    if isinstance(expression, tree.BoolOp) and not _NESTED_TRUTH_IS_ASKED_AGAIN:
        return _both_of(e, expression, 0)
    value = e.expression(expression)
    return value, truth(e, value, where)


def _both_of(e: Emission, operation: tree.BoolOp, i: int) -> tuple[Value, Value]:
    value, truth = _value_andtruth(e, operation.operands[i], operation.range)
    if i == len(operation.operands) - 1:
        return value, truth

    def rest() -> tuple[Value, Value]:
        return _both_of(e, operation, i + 1)

    def decided() -> tuple[Value, Value]:
        return value, truth

    fills = (rest, decided) if operation.operator == "and" else (decided, rest)
    result, its_truth = e.branch(truth, *fills, operation.range, outputs=(ANY, BOOL))
    return result, its_truth


@emits(tree.Compare)
def _comparison(e: Emission, comparison: tree.Compare) -> Value:
    return _compare(e, comparison, wants_truth=False)


def _compare(e: Emission, comparison: tree.Compare, *, wants_truth: bool) -> Value:
    return _link(e, comparison, e.expression(comparison.operands[0]), 0, wants_truth=wants_truth)


def _link(
    e: Emission, comparison: tree.Compare, left: Value, i: int, *, wants_truth: bool
) -> Value:
    """Compare operand `i`, already emitted, with the next, and go on."""
    where = comparison.range
    right = e.expression(comparison.operands[i + 1])
    result = e.emit(f"py::{comparison.operators[i]}", left, right, where=where)
    if i == len(comparison.operators) - 1:
        return truth(e, result, where) if wants_truth else result
    is_true = truth(e, result, where)
    (chosen,) = e.branch(
        is_true,
        lambda: (_link(e, comparison, right, i + 1, wants_truth=wants_truth),),
        lambda: (is_true if wants_truth else result,),
        where,
        outputs=(BOOL if wants_truth else ANY,),
    )
    return chosen


@emits(tree.TernaryIf)
def _ternary(e: Emission, ternary: tree.TernaryIf) -> Value:
    (chosen,) = e.branch(
        condition(e, ternary.condition, ternary.range),
        lambda: (e.expression(ternary.then),),
        lambda: (e.expression(ternary.otherwise),),
        ternary.range,
        outputs=(ANY,),
    )
    return chosen
