"""Python's `ast` expressions to tree views, and parameters, which hold expressions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ljit.errors import UnsupportedSyntaxError
from ljit.frontend.sources import RangeMaker, mangle
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["BINARY_OPERATORS", "ExpressionBuilder", "unsupported"]

#: from this version on a comprehension runs in the frame of its function
COMPREHENSIONS_HAVE_FRAMES = sys.version_info < (3, 12)

BINARY_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.MatMult: "matmul",
}
_UNARY_OPERATORS: dict[type[ast.unaryop], str] = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Is: "is",
    ast.IsNot: "is_not",
    ast.In: "contains",
    ast.NotIn: "not_contains",
}
_UNSUPPORTED = {
    "Await": "async code is not translated; move the numeric part into a plain function"
}
_METHOD_ARGUMENTS = 30  # CPython compiles calls with more arguments in another way


def unsupported(message: str, where: SourceRange) -> UnsupportedSyntaxError:
    """Make the error for a construct that is not translated."""
    return UnsupportedSyntaxError(message, where)


class ExpressionBuilder(Record):
    """Builds the expressions of one function.

    `class_name` is the class around it, for private names; `has_lazy_annotations` says that nested definitions
    do not evaluate their annotations.
    """

    ranges: RangeMaker
    class_name: str | None
    has_lazy_annotations: bool

    def inside(self, function: str, node: ast.expr | ast.FunctionDef) -> ExpressionBuilder:
        """Give the builder for the function or comprehension of that name in this function."""
        name = f"{self.ranges.source.function}.<locals>.{function}"
        return ExpressionBuilder(
            self.ranges.within(name, node), self.class_name, self.has_lazy_annotations
        )

    def build(self, node: ast.expr) -> Tree:
        """Build one expression."""
        rule = _RULES.get(type(node))
        if rule is None:
            name = type(node).__name__
            other = f"an expression of kind {name} is not translated; write it in other words"
            message = _UNSUPPORTED.get(name, other)
            raise unsupported(message, self.ranges.of(node))
        return rule(self, node)

    def build_all(self, nodes: Sequence[ast.expr]) -> tuple[Tree, ...]:
        return tuple([self.build(node) for node in nodes])

    def optional(self, node: ast.expr | None) -> Tree | None:
        return None if node is None else self.build(node)

    def mangle(self, name: str) -> str:
        return mangle(name, self.class_name)

    # -- functions ---------------------------------------------------------------------------------

    def declaration(
        self, arguments: ast.arguments, returns: ast.expr | None, *, is_nested: bool = True
    ) -> tree.Decl:
        """Build the parameters of a function that is defined in this one, or of this one itself.

        Defaults and annotations of the latter were evaluated long ago: what is not translated does
        not matter.
        """
        positional = arguments.posonlyargs + arguments.args
        missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults = (*missing, *arguments.defaults, *arguments.kw_defaults)
        is_evaluated = is_nested and not self.has_lazy_annotations
        named = positional + arguments.kwonlyargs
        rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
        params = [
            tree.Param(
                self.ranges.of(arg),
                self.mangle(arg.arg),
                self.hint(arg.annotation, is_evaluated=is_evaluated),
                self.hint(default, is_evaluated=is_nested),
                keyword_only=len(positional) <= i < len(named),
                positional_only=i < len(arguments.posonlyargs) or i >= len(named),
                takes_rest=arg is arguments.vararg,
                takes_keywords=arg is arguments.kwarg,
            )
            for i, (arg, default) in enumerate(
                zip(named + rest, (*defaults, *(None for _ in rest)), strict=True)
            )
        ]
        where = params[0].range if params else SourceRange(self.ranges.source, 1, 0, 1, 0)
        return tree.Decl(where, tuple(params), self.hint(returns, is_evaluated=is_evaluated))

    def hint(self, node: ast.expr | None, *, is_evaluated: bool) -> Tree | None:
        """Build an annotation or a default; if nothing evaluates it, its text will do."""
        if node is None:
            return None
        try:
            return self.build(node)
        except UnsupportedSyntaxError:
            if is_evaluated:
                raise
            return tree.Const(self.ranges.of(node), ast.unparse(node))

    def make_lambda(self, node: ast.Lambda) -> Tree:
        where = self.ranges.of(node)
        inner = self.inside("<lambda>", node)
        value = inner.build(node.body)
        return tree.Lambda(
            where,
            tree.Def(
                where,
                "<lambda>",
                self.declaration(node.args, None),
                (tree.Return(value.range, value),),
                self.has_lazy_annotations,
            ),
        )

    # -- names, literals ---------------------------------------------------------------------------

    def name(self, node: ast.Name) -> Tree:
        where = self.ranges.of(node)
        if node.id == "__debug__":
            return tree.Const(where, __debug__)
        return tree.Var(where, self.mangle(node.id))

    def constant(self, node: ast.Constant) -> Tree:
        value = node.value
        if isinstance(value, str) and value.isascii() and value.replace("_", "a").isalnum():
            value = sys.intern(value)  # as CPython does: it is the same object everywhere
        return tree.Const(self.ranges.of(node), value)

    def formatted_text(self, node: ast.JoinedStr) -> Tree:
        return tree.FormattedText(self.ranges.of(node), self.build_all(node.values))

    def formatted_value(self, node: ast.FormattedValue) -> Tree:
        spec = self.optional(node.format_spec)
        return tree.FormattedValue(
            self.ranges.of(node), self.build(node.value), node.conversion, spec
        )

    def tuple_literal(self, node: ast.Tuple) -> Tree:
        return tree.TupleLiteral(self.ranges.of(node), self.build_all(node.elts))

    def list_literal(self, node: ast.List) -> Tree:
        return tree.ListLiteral(self.ranges.of(node), self.build_all(node.elts))

    def set_literal(self, node: ast.Set) -> Tree:
        return tree.SetLiteral(self.ranges.of(node), self.build_all(node.elts))

    def dict_literal(self, node: ast.Dict) -> Tree:
        entries: list[Tree] = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                entries.append(tree.DoubleStarred(self.ranges.of(value), self.build(value)))
            else:
                built = self.build(key)
                entries.append(tree.DictEntry(built.range, built, self.build(value)))
        return tree.DictLiteral(self.ranges.of(node), tuple(entries))

    # -- operators ---------------------------------------------------------------------------------

    def binary(self, node: ast.BinOp) -> Tree:
        left, right = self.build(node.left), self.build(node.right)
        return tree.BinOp(self.ranges.of(node), BINARY_OPERATORS[type(node.op)], left, right)

    def unary(self, node: ast.UnaryOp) -> Tree:
        operand = self.build(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(operand, tree.Const):
            number = operand.value
            if isinstance(number, int | float | complex) and not isinstance(number, bool):
                return tree.Const(self.ranges.of(node), -number)
        return tree.UnaryOp(self.ranges.of(node), _UNARY_OPERATORS[type(node.op)], operand)

    def boolean(self, node: ast.BoolOp) -> Tree:
        name = "and" if isinstance(node.op, ast.And) else "or"
        return tree.BoolOp(self.ranges.of(node), name, self.build_all(node.values))

    def compare(self, node: ast.Compare) -> Tree:
        operators = tuple(_COMPARISONS[type(op)] for op in node.ops)
        operands = self.build_all([node.left, *node.comparators])
        return tree.Compare(self.ranges.of(node), operators, operands)

    def ternary(self, node: ast.IfExp) -> Tree:
        condition = self.build(node.test)
        then, otherwise = self.build(node.body), self.build(node.orelse)
        return tree.TernaryIf(self.ranges.of(node), condition, then, otherwise)

    def named(self, node: ast.NamedExpr) -> Tree:
        name = self.mangle(node.target.id)
        return tree.NamedExpr(self.ranges.of(node), name, self.build(node.value))

    def yield_(self, node: ast.Yield) -> Tree:
        where = self.ranges.of(node)
        value = self.optional(node.value) or tree.Const(where, None)
        return tree.Yield(where, value, is_from=False)

    def yield_from(self, node: ast.YieldFrom) -> Tree:
        return tree.Yield(self.ranges.of(node), self.build(node.value), is_from=True)

    # -- access and calls --------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute) -> Tree:
        where = self.ranges.of_attribute(node)
        return tree.Select(where, self.build(node.value), self.mangle(node.attr))

    def subscript(self, node: ast.Subscript) -> Tree:
        value, index = self.build(node.value), self.build(node.slice)
        return tree.Subscript(self.ranges.of(node), value, index)

    def slice(self, node: ast.Slice) -> Tree:
        parts = [self.optional(part) for part in (node.lower, node.upper, node.step)]
        return tree.SliceExpr(self.ranges.of(node), *parts)

    def starred(self, node: ast.Starred) -> Tree:
        return tree.Starred(self.ranges.of(node), self.build(node.value))

    def call(self, node: ast.Call) -> Tree:
        keywords: list[Tree] = []
        function = self.build(node.func)
        arguments = self.build_all(node.args)
        for keyword in node.keywords:
            value = self.build(keyword.value)
            if keyword.arg is None:
                keywords.append(tree.DoubleStarred(value.range, value))
            else:
                keywords.append(tree.Keyword(value.range, keyword.arg, value))
        where = self.ranges.of(node)
        if isinstance(node.func, ast.Attribute) and _is_method_call(node):
            where = self.ranges.of_method_call(node, node.func)
        if arguments and isinstance(node.args[0], ast.GeneratorExp):
            assert isinstance(arguments[0], tree.Comprehension)
            return tree.UseOfGenerator(
                where, function, arguments[0], arguments[1:], tuple(keywords)
            )
        return tree.Apply(where, function, arguments, tuple(keywords))

    # -- comprehensions ----------------------------------------------------------------------------

    def list_comp(self, node: ast.ListComp) -> Tree:
        return self._comprehension(node, "list", lambda inner: inner.build(node.elt))

    def set_comp(self, node: ast.SetComp) -> Tree:
        return self._comprehension(node, "set", lambda inner: inner.build(node.elt))

    def dict_comp(self, node: ast.DictComp) -> Tree:
        def entry(inner: ExpressionBuilder) -> Tree:
            key = inner.build(node.key)
            return tree.DictEntry(key.range, key, inner.build(node.value))

        return self._comprehension(node, "dict", entry)

    def generator_expression(self, node: ast.GeneratorExp) -> Tree:
        return self._comprehension(node, "generator", lambda inner: inner.build(node.elt))

    def _comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        container: str,
        element: Callable[[ExpressionBuilder], Tree],
    ) -> Tree:
        inner = self
        if container == "generator":
            inner = self.inside("<genexpr>", node)
        elif COMPREHENSIONS_HAVE_FRAMES:
            inner = self.inside(f"<{container}comp>", node)
        generators: list[tree.Generator] = []
        for i, generator in enumerate(node.generators):
            if generator.is_async:
                raise unsupported(_UNSUPPORTED["Await"], self.ranges.of(node))
            source = (inner if i else self).build(generator.iter)  # the first runs outside
            target = inner.build(generator.target)
            conditions = inner.build_all(generator.ifs)
            generators.append(tree.Generator(source.range, target, source, conditions))
        whole = self.ranges.of(node)
        inner_range = inner.ranges.of(node) if inner is not self else whole
        return tree.Comprehension(whole, container, element(inner), tuple(generators), inner_range)


def _is_method_call(node: ast.Call) -> bool:
    """Whether CPython compiles the call of an attribute as a method call: only its position differs."""
    count = len(node.args) + len(node.keywords) + bool(node.keywords)
    has_stars = any(isinstance(arg, ast.Starred) for arg in node.args)
    return count < _METHOD_ARGUMENTS and not has_stars and all(k.arg for k in node.keywords)


_Rule = Callable[[ExpressionBuilder, Any], Tree]  # each takes the node type that it is listed under
_RULES: dict[type[ast.expr], _Rule] = {
    ast.Name: ExpressionBuilder.name,
    ast.Constant: ExpressionBuilder.constant,
    ast.JoinedStr: ExpressionBuilder.formatted_text,
    ast.FormattedValue: ExpressionBuilder.formatted_value,
    ast.Tuple: ExpressionBuilder.tuple_literal,
    ast.List: ExpressionBuilder.list_literal,
    ast.Set: ExpressionBuilder.set_literal,
    ast.Dict: ExpressionBuilder.dict_literal,
    ast.BinOp: ExpressionBuilder.binary,
    ast.UnaryOp: ExpressionBuilder.unary,
    ast.BoolOp: ExpressionBuilder.boolean,
    ast.Compare: ExpressionBuilder.compare,
    ast.IfExp: ExpressionBuilder.ternary,
    ast.NamedExpr: ExpressionBuilder.named,
    ast.Yield: ExpressionBuilder.yield_,
    ast.YieldFrom: ExpressionBuilder.yield_from,
    ast.Attribute: ExpressionBuilder.attribute,
    ast.Subscript: ExpressionBuilder.subscript,
    ast.Slice: ExpressionBuilder.slice,
    ast.Starred: ExpressionBuilder.starred,
    ast.Call: ExpressionBuilder.call,
    ast.Lambda: ExpressionBuilder.make_lambda,
    ast.ListComp: ExpressionBuilder.list_comp,
    ast.SetComp: ExpressionBuilder.set_comp,
    ast.DictComp: ExpressionBuilder.dict_comp,
    ast.GeneratorExp: ExpressionBuilder.generator_expression,
}
