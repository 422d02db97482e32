"""Calls: of functions, of methods, with stars; and what `for` iterates over.

The callee is evaluated first, as in CPython. A method call is one `py::call_method`, which looks the method up
last, only where nobody can tell: where the arguments are constants and bound locals.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import EnumMeta
from types import BuiltinFunctionType, FunctionType
from typing import cast
from warnings import warn

from ljit.analysis.assumptions import python_function
from ljit.cpython.classes import found_in, variables_of_module
from ljit.cpython.frames import (
    FRAME_FUNCTIONS,
    LOOK_AT_FRAME,
    LOOK_AT_FRAME_WITHOUT_ARGUMENTS,
    looks_at_caller,
)
from ljit.frontend.emitting.attempts import guarded
from ljit.frontend.emitting.dicts import GrowingDict
from ljit.frontend.emitting.emission import Emission
from ljit.frontend.emitting.folded import folded_set
from ljit.frontend.emitting.known_names import known_value, likely_value, outer_value
from ljit.frontend.emitting.nested import inline_call, inline_lambda
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import UNKNOWN, Value
from ljit.ops.arrays.float_settings import float_setting, may_leave_loud
from ljit.source import SourceRange
from ljit.types import ANY

__all__ = ["emit_call", "iteration_view", "load_outside", "refuse_frame_access"]

_ELSEWHERE = "do it in a function that is not decorated"
_WARN = "warn"  # looks at the line, and at no variables


def refuse_frame_access(e: Emission, name: str, where: SourceRange, *, has_arguments: bool) -> None:
    """Refuse a function that would look at the frame of the translated function, unless the program has its own."""
    refused = name in LOOK_AT_FRAME or (
        name in LOOK_AT_FRAME_WITHOUT_ARGUMENTS and not has_arguments
    )
    if refused and not _is_own_function(e, name):
        message = f"{name}() looks at the frame of the function and is not translated"
        raise e.unsupported(f"{message}; {_ELSEWHERE}", where)


def _is_own_function(e: Emission, name: str) -> bool:
    """Whether the variable, which is not local, is by now one of Python's functions that looks at no frame."""
    value = outer_value(e.function, name)
    return python_function(value) is not None and not looks_at_caller(value)


def load_outside(e: Emission, var: tree.Var) -> Value:
    """Read a variable that is not local: of a function around, or global."""
    op = "prim::load_closure" if e.is_free(var.name) else "prim::load_global"
    return e.emit(op, where=var.range, name=var.name, scope=e.function)


def emit_call(e: Emission, call: tree.Apply) -> Value:
    """Emit a call and give its value."""
    nested = _inlined(e, call)
    if nested is not None:
        return nested
    if _is_bare_super(e, call):
        return _super(e, call)
    if _is_warning(e, call):
        return _warn(e, call)
    _check_frame_access(e, call)
    _refuse_loud_floats(e, call)
    _refuse_counting_call(e, call)
    if _has_stars(call):
        return _star_call(e, call)
    if isinstance(call.function, tree.Select) and _is_method(e, call.function, call):
        receiver = e.expression(call.function.value)
        operands, kwnames = _operands(e, call)
        return e.emit(
            "py::call_method",
            receiver,
            *operands,
            where=call.range,
            name=call.function.name,
            kwnames=kwnames,
        )
    function = _callee(e, call)
    operands, kwnames = _operands(e, call)
    return e.emit("py::call", function, *operands, where=call.range, kwnames=kwnames)


def _callee(e: Emission, call: tree.Apply) -> Value:
    """Emit what is called."""
    if isinstance(call.function, tree.Select):
        return emit_attribute(e, call.function)
    return e.expression(call.function)


def emit_attribute(e: Emission, select: tree.Select) -> Value:
    """Emit the value of an attribute."""
    value = e.expression(select.value)
    return e.emit("py::getattr", value, where=select.range, name=select.name)


def _inlined(e: Emission, call: tree.Apply) -> Value | None:
    """Emit the call of a nested function; None if it is another call.

    A lambda that is called with stars is a value, and so is a generator function whose generator is kept.
    """
    if isinstance(call.function, tree.Lambda):
        return None if _has_stars(call) else inline_lambda(e, call.function, call)
    if not isinstance(call.function, tree.Var):
        return None
    found = e.find(call.function.name)
    if found is None or call.function.name not in found[0].inlinable:
        return None
    return None if call.function.name in found[0].generators else inline_call(e, call)


def _is_bare_super(e: Emission, call: tree.Apply) -> bool:
    """Whether it is ``super()`` in a method itself, not in a function in it."""
    return (
        isinstance(call.function, tree.Var)
        and call.function.name == "super"
        and not (call.arguments or call.keywords)
        and e.find("super") is None
        and e.is_free("__class__")
        and e.scope.parent is None
        and _receiver(e) is not None
    )


def _receiver(e: Emission) -> str | None:
    """The slot of the first positional parameter, if that is bound."""
    code = e.function.__code__
    found = e.find(code.co_varnames[0]) if code.co_argcount else None
    return found[1] if found is not None and found[1] in e.bound else None


def _super(e: Emission, call: tree.Apply) -> Value:
    """Emit ``super()``; what else the name stands for is called as anything is."""
    where, slot = call.range, _receiver(e)
    assert slot is not None
    function = e.emit("prim::load_global", where=where, name="super", scope=e.function)
    is_builtin = e.emit("py::is", function, e.constant(super, where), where=where)

    def bind() -> Sequence[Value]:
        receiver = e.load(slot, where)
        return (e.emit("prim::bound_super", receiver, where=where, scope=e.function),)

    def other() -> Sequence[Value]:
        return (e.emit("py::call", function, where=where, kwnames=()),)

    (result,) = e.branch(is_builtin, bind, other, where, outputs=(ANY,))
    return result


def _is_warning(e: Emission, call: tree.Apply) -> bool:
    """Whether it may be ``warnings.warn(...)``, by its name."""
    match call.function:
        case tree.Var(name=name):
            is_local = e.find(name) is not None
            return name == _WARN and (not is_local or likely_value(e, call.function) is warn)
        case tree.Select(name=name):
            return name == _WARN
    return False


def _warn(e: Emission, call: tree.Apply) -> Value:
    """Emit a call that looks at the line where it stands, and at the frames above."""
    if _has_stars(call) or e.caller is not None:
        message = "warn() in a nested function or a comprehension, or with stars, is not translated"
        raise e.unsupported(f"{message}; call it in the function itself", call.range)
    if isinstance(call.function, tree.Var) and e.find(call.function.name) is None:
        function = load_outside(e, call.function)
    else:
        function = e.expression(call.function)
    operands, kwnames = _operands(e, call)
    return e.emit(
        "prim::call_at_line",
        function,
        *operands,
        where=call.range,
        kwnames=kwnames,
        scope=e.function,
        line=call.range.line,
    )


def _check_frame_access(e: Emission, call: tree.Apply) -> None:
    has_arguments = bool(call.arguments or call.keywords)
    function = likely_value(e, call.function)
    if _looks_at_caller(function, len(call.arguments)):
        message = f"{getattr(function, '__name__', function)}() looks at the frame that calls it"
        raise e.unsupported(f"{message} and is not translated; {_ELSEWHERE}", call.range)
    if not isinstance(call.function, tree.Var | tree.Select):
        return
    name = call.function.name
    if type(function) is BuiltinFunctionType:
        refuse_frame_access(e, function.__name__, call.range, has_arguments=has_arguments)
    elif isinstance(call.function, tree.Var) and e.find(name) is None:
        refuse_frame_access(e, name, call.range, has_arguments=has_arguments)
    elif isinstance(call.function, tree.Select) and name in FRAME_FUNCTIONS:
        message = f"{name}() looks at the frame of the function"
        raise e.unsupported(f"{message} and is not translated; {_ELSEWHERE}", call.range)


def _looks_at_caller(function: object, arguments: int) -> bool:
    """Whether it is known to: functions that name `sys._getframe`, and classes whose calls make classes of a module."""
    makes_classes = False
    if issubclass(type(function), type):
        cls = cast(type, function)
        makes_classes = issubclass(type(cls), EnumMeta) or type in type.mro(cls)
    return arguments > 1 if makes_classes else looks_at_caller(function)


def _refuse_loud_floats(e: Emission, call: tree.Apply) -> None:
    """Leave functions to CPython in which NumPy is to raise or call for what floats do."""
    member = call.function.name if isinstance(call.function, tree.Select) else None
    function = likely_value(e, call.function)
    if any(may_leave_loud(run) for run in _functions_run_by(function)):
        message = "a call that may set what NumPy does for floats is not translated"
        raise e.unsupported(f"{message}; do it around the call of the function", call.range)
    setting = float_setting(function, member)
    if setting is None:
        return
    named = [k.value if isinstance(k, tree.Keyword) else k for k in call.keywords]
    given = (s.value if isinstance(s, tree.Const) else UNKNOWN for s in (*call.arguments, *named))
    if not setting.is_quiet(given):
        message = f"{setting.name} with other settings than 'ignore' and 'warn' is not translated"
        raise e.unsupported(f"{message}; set it around the call of the function", call.range)


def _functions_run_by(called: object) -> list[FunctionType]:
    """Functions of Python's that a call of a function runs, or of a class whose objects may be context managers."""
    found = [called]
    if issubclass(type(called), type):
        found = [found_in(cast(type, called), name) for name in ("__init__", "__enter__")]
    return [plain for plain in map(python_function, found) if plain is not None]


def refuse_counting(e: Emission, select: tree.Select) -> None:
    """Leave functions to CPython that may resize an array which nothing else refers to.

    NumPy counts references, of which native code and the interpreter have others than CPython. Where they are fewer,
    a view would be left without its elements. Who reads the method may call it later, or pass it on. One of the
    function's own class is told by the name ``self``.
    """
    receiver = select.value
    is_own = isinstance(receiver, tree.Var) and receiver.name == "self"
    if (
        select.name != "resize"
        or is_own
        or variables_of_module(likely_value(e, receiver)) is not None
    ):
        return
    message = "resize() counts the references of an array and is not translated"
    raise e.unsupported(f"{message}; with refcheck=False it does not, and is", select.range)


def _refuse_counting_call(e: Emission, call: tree.Apply) -> None:
    """The same of a call that may count, or that gives such a method: `getattr(a, "resize")`."""
    if isinstance(call.function, tree.Select):
        if _may_count(call):
            refuse_counting(e, call.function)
        return
    match call.arguments:
        case (receiver, tree.Const(value=str(name)), *_) if (
            known_value(e, call.function) is getattr
        ):
            refuse_counting(e, tree.Select(call.range, receiver, name))


def _may_count(call: tree.Apply) -> bool:
    """Whether the call of a method named `resize` may be one of an array that counts references."""
    if not (call.arguments or call.keywords):
        return False
    values = [
        k.value for k in call.keywords if isinstance(k, tree.Keyword) and k.name == "refcheck"
    ]
    return not any(isinstance(value, tree.Const) and not value.value for value in values)


def _has_stars(call: tree.Apply) -> bool:
    return any(
        isinstance(arg, tree.Starred | tree.DoubleStarred)
        for arg in (*call.arguments, *call.keywords)
    )


def _operands(e: Emission, call: tree.Apply) -> tuple[list[Value], tuple[str, ...]]:
    """Emit the arguments of a call without stars; also give the names of the last ones."""
    operands = [e.expression(argument) for argument in call.arguments]
    names: list[str] = []
    for keyword in call.keywords:
        assert isinstance(keyword, tree.Keyword)
        operands.append(e.expression(keyword.value))
        names.append(keyword.name)
    return operands, tuple(names)


def _is_method(e: Emission, function: tree.Select, call: tree.Apply) -> bool:
    """Whether to look the method up after the arguments; never in what may be a module."""
    root: Tree = function.value
    while isinstance(root, tree.Select):
        root = root.value
    if isinstance(root, tree.Var) and e.find(root.name) is None:
        return False
    return all(_is_settled(e, arg) for arg in (*call.arguments, *call.keywords))


def _is_settled(e: Emission, expression: Tree) -> bool:
    """Whether evaluating the expression runs no code and cannot raise."""
    match expression:
        case tree.Const():
            return True
        case tree.Var():
            found = e.find(expression.name)
            return found is not None and found[1] in e.bound
        case tree.TupleLiteral() | tree.SliceExpr() | tree.Keyword():
            return all(_is_settled(e, child) for child in expression.children)
        case _:
            return False


# -- stars -----------------------------------------------------------------------------------------


def _star_call(e: Emission, call: tree.Apply) -> Value:
    function = _callee(e, call)
    arguments = _star_arguments(e, call.arguments, call.range)
    keywords = _star_keywords(e, function, call)
    return e.emit("py::call_ex", function, arguments, keywords, where=call.range)


def _star_arguments(e: Emission, arguments: Sequence[Tree], where: SourceRange) -> Value:
    """The positional arguments: a single ``*x`` as it is, else a tuple."""
    if len(arguments) == 1 and isinstance(arguments[0], tree.Starred):
        return e.expression(arguments[0].value)
    return e.expression(tree.TupleLiteral(where, tuple(arguments)))


def _star_keywords(e: Emission, function: Value, call: tree.Apply) -> Value:
    """The keyword arguments, a dict: runs of ``k=v`` and each ``**d`` are merged in turn. None if there are none."""
    if not call.keywords:
        return e.constant(None, call.range)
    made = GrowingDict(e, call.range, "prim::dict_merge", function)
    for keyword in call.keywords:
        if isinstance(keyword, tree.Keyword):
            made.add(e.constant(keyword.name, keyword.range), e.expression(keyword.value))
        else:
            assert isinstance(keyword, tree.DoubleStarred)
            made.merge(keyword.value)
    return made.value()


# -- iteration -------------------------------------------------------------------------------------


def iteration_view(e: Emission, iterable: Tree, where: SourceRange) -> Value:
    """Emit what a loop runs over; calls of names are left together, so that views can be made."""
    if not isinstance(iterable, tree.Apply) or not _is_view_call(e, iterable):
        folded = folded_set(e, iterable)  # of any size, and no copy of it
        known = e.constant(folded, iterable.range) if folded is not None else None
        items = known if known is not None else e.expression(iterable)
        return e.emit("prim::iter", items, where=where)
    if isinstance(known_value(e, iterable.function), type):  # as range and enumerate
        return _call_view(e, iterable)
    return guarded(e, iterable, lambda: _call_view(e, iterable))


def _call_view(e: Emission, call: tree.Apply) -> Value:
    _check_frame_access(e, call)
    _refuse_loud_floats(e, call)
    function = e.expression(call.function)
    operands, _ = _operands(e, call)
    return e.emit("prim::iter_call", function, *operands, where=call.range)


def _is_view_call(e: Emission, call: tree.Apply) -> bool:
    if call.keywords or _has_stars(call):
        return False
    if not isinstance(call.function, tree.Var):
        return isinstance(call.function, tree.Const)  # of a call that no program wrote
    found = e.find(call.function.name)
    return found is None or call.function.name not in found[0].inlinable
