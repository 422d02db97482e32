"""Changes of programs, at random: other operators, numbers, names, indices and trips, statements left out or added.

What comes out is close to what people write, but for one or a few places that nobody would have thought of.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator

_OPERATORS = (
    *(ast.Add, ast.Add, ast.Sub, ast.Sub, ast.Mult, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.RShift, ast.LShift, ast.Pow),
)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_NUMBERS = (0, 1, 2, 3, 7, 64, 2**31, 2**63 - 1, 2**63, 0.5, 1e300, True, False)
_STEPS = (1, 1, 2, 3, 5)
_CALLED = ("int", "float", "abs", "bool", "list", "np.float64", "np.int64", "np.float32")
_FUNCTIONS = (
    *("sum", "max", "min", "prod", "mean", "any", "all", "argmax", "cumsum", "abs", "sign"),
    *("zeros", "ones", "zeros_like", "ones_like"),
)
_DTYPES = ("float64", "float32", "int64", "int32", "int8", "uint8", "uint64", "complex128")
# Not to be replaced: what texts have in braces, what is called, and what patterns compare with.
_KEPT_IN = ast.JoinedStr | ast.FormattedValue | ast.MatchValue | ast.MatchClass | ast.MatchMapping


class Mutator:
    """Changes one function."""

    def __init__(self, function: ast.FunctionDef, chosen: random.Random) -> None:
        self.function = function
        self.chosen = chosen
        self.pick = chosen.choice

    def change(self) -> None:
        """Make one change, if there is something to change in that way."""
        self.pick(_CHANGES)(self)
        ast.fix_missing_locations(self.function)

    def operator(self) -> None:
        """Another operator."""
        kinds = ast.BinOp | ast.AugAssign | ast.Compare
        for node in self._some(kinds):
            if not isinstance(node, ast.Compare):
                node.op = self.pick(_OPERATORS)()
            elif isinstance(node.ops[0], _COMPARISONS):
                node.ops[0] = self.pick(_COMPARISONS)()

    def number(self) -> None:
        """Another number in the place of one."""
        for put, node in self._some_expression(ast.Constant):
            value = node.value
            if isinstance(value, int | float):
                others = (value + 1, value - 1, -value, value * 2, float(value), *_NUMBERS)
                put(_constant(self.pick(others)))

    def name(self) -> None:
        """Another variable in the place of one."""
        for put, _ in self._some_expression(ast.Name):
            put(self._variable())

    def statement(self) -> None:
        """A statement that is left out, repeated, moved, or done on a condition."""
        block = self.pick(self._blocks())
        place, other = self.chosen.randrange(len(block)), self.chosen.randrange(len(block))
        way = self.chosen.randrange(4)
        if way == 0 and len(block) > 1:
            del block[place]
        elif way == 1:
            block.insert(place, copy.deepcopy(block[place]))
        elif way == 2:
            block[place], block[other] = block[other], block[place]
        else:
            block[place] = ast.If(self._condition(), [block[place]], [])

    def exit(self) -> None:
        """One more way out of a loop."""
        for loop in self._some(ast.For | ast.While):
            raised = ast.Raise(ast.Call(_name("ValueError"), [self._variable()], []), None)
            leave = self.pick((ast.Break(), ast.Continue(), ast.Return(self._variable()), raised))
            place = self.chosen.randrange(len(loop.body) + 1)
            loop.body.insert(place, ast.If(self._condition(), [leave], []))

    def trips(self) -> None:
        """Other trips of a loop over a range."""
        for node in self._some(ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
                place = self.chosen.randrange(len(node.args))
                node.args[place] = self._near(node.args[place])
                if len(node.args) == 1 and self.chosen.random() < 0.3:
                    last = ast.BinOp(node.args[0], ast.Sub(), _constant(1))
                    node.args = [last, _constant(-1), _constant(-1)]

    def index(self) -> None:
        """Another index."""
        for node in self._some(ast.Subscript):
            if isinstance(node.slice, ast.Tuple) and node.slice.elts:
                place = self.chosen.randrange(len(node.slice.elts))
                node.slice.elts[place] = self._other_index(node.slice.elts[place])
            else:
                node.slice = self._other_index(node.slice)

    def wrapped(self) -> None:
        """Something done to a value."""
        for put, node in self._some_expression(ast.expr):
            if isinstance(node, ast.Slice):
                return
            called = ast.Call(ast.parse(self.pick(_CALLED), mode="eval").body, [node], [])
            chosen = ast.IfExp(self._condition(), node, self._variable())
            put(self.pick((called, called, chosen, ast.UnaryOp(ast.USub(), node))))

    def function_of_numpy(self) -> None:
        """Another function of NumPy's, or another dtype."""
        for node in self._some(ast.Attribute):
            if node.attr in _FUNCTIONS:
                node.attr = self.pick(_FUNCTIONS)
            elif node.attr in _DTYPES:
                node.attr = self.pick(_DTYPES)

    def _some(self, kinds: type | object) -> Iterator[ast.AST]:
        """One of the nodes of these kinds, if there are any."""
        found = [n for s in self.function.body for n in ast.walk(s) if isinstance(n, kinds)]
        if found:
            yield self.pick(found)

    def _some_expression(
        self, kinds: type
    ) -> Iterator[tuple[Callable[[ast.expr], None], ast.expr]]:
        """One of the expressions of these kinds that are read, and what puts another in its place."""
        found = []
        for statement in self.function.body:
            for parent in ast.walk(statement):
                if not isinstance(parent, _KEPT_IN):
                    found += [x for x in _parts(parent) if isinstance(x[1], kinds)]
        if found:
            yield self.pick(found)

    def _blocks(self) -> list[list[ast.stmt]]:
        fields = ("body", "orelse", "finalbody")
        nodes = ast.walk(self.function)
        blocks = [getattr(node, field, None) for node in nodes for field in fields]
        return [b for b in blocks if isinstance(b, list) and b and isinstance(b[0], ast.stmt)]

    def _variable(self) -> ast.Name:
        names = [param.arg for param in self.function.args.args]
        for node in ast.walk(self.function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.append(node.id)
        return _name(self.pick(names or ["None"]))

    def _condition(self) -> ast.Compare:
        other = self.pick((_constant(self.pick(_NUMBERS)), self._variable()))
        return ast.Compare(self._variable(), [self.pick(_COMPARISONS)()], [other])

    def _near(self, expression: ast.expr) -> ast.expr:
        step = _constant(self.pick(_STEPS))
        return ast.BinOp(expression, self.pick((ast.Add, ast.Sub))(), step)

    def _other_index(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Slice):
            end = self.pick((None, _constant(self.pick(_STEPS)), _constant(-2), self._variable()))
            setattr(index, self.pick(("lower", "upper", "step")), end)
            return index
        near = self._near(index)
        slices = ast.Slice(index, None, None), ast.Slice(None, index, None), ast.Slice()
        minus = ast.UnaryOp(ast.USub(), index)
        return self.pick((near, near, near, minus, self._variable(), self.pick(slices)))


_CHANGES = (
    *(Mutator.operator, Mutator.number, Mutator.number, Mutator.name, Mutator.name),
    *(Mutator.statement, Mutator.statement, Mutator.exit, Mutator.trips, Mutator.index),
    *(Mutator.index, Mutator.wrapped, Mutator.function_of_numpy),
)


def _parts(parent: ast.AST) -> Iterator[tuple[Callable[[ast.expr], None], ast.expr]]:
    """The expressions in a node that are read, each with what puts another in its place."""
    for field, value in ast.iter_fields(parent):
        if field in ("func", "annotation", "target", "targets"):
            continue
        for place, item in enumerate(value if isinstance(value, list) else [value]):
            is_read = not isinstance(getattr(item, "ctx", None), ast.Store | ast.Del)
            if not isinstance(item, ast.expr) or isinstance(item, ast.Starred) or not is_read:
                continue
            if isinstance(value, list):
                yield lambda new, value=value, place=place: value.__setitem__(place, new), item
            else:
                yield lambda new, field=field: setattr(parent, field, new), item


def _constant(value: float) -> ast.expr:
    if value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
