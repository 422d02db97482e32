"""Ops on variables that are not registers: globals, closure variables, imports, and what may be unbound.

They mean what CPython's bytecode means: `LOAD_GLOBAL`, `STORE_GLOBAL`, `LOAD_DEREF`, `STORE_DEREF`, `IMPORT_NAME`,
`IMPORT_FROM`.
"""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Callable
from functools import partial
from types import CellType, FunctionType

from ljit.cpython.parameters import defaults_of
from ljit.ir import Effect, Emitter, any_operands
from ljit.ir.emitter import V
from ljit.ops.objects import object_op
from ljit.ops.python.types import join_all
from ljit.types import ANY, BOOL, NEVER, UNBOUND, ObjectType, Type, UnionType

__all__ = ["UNBOUND_VALUE", "UnboundValue", "set_cell"]


class UnboundValue:
    """The class of `UNBOUND_VALUE`, what a register holds while its variable is not bound."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND_VALUE = UnboundValue()


_MISSING = object()
_LOADS = (lambda: name).__code__  # type: ignore[name-defined]  # noqa: F821
_Defaults = tuple[tuple[str, object], ...]


def _load_global(*, name: str, scope: FunctionType) -> object:
    return _bind_global(name=name, scope=scope)()


def _bind_global(*, name: str, scope: FunctionType) -> Callable[[], object]:
    """A function that loads the name: CPython's own loads are several times as fast as looking into the dicts is."""
    loads = FunctionType(_LOADS.replace(co_names=(name,)), scope.__globals__)
    if loads.__builtins__ is scope.__builtins__:  # type: ignore[attr-defined]  # typeshed lacks it
        return loads
    of_module = scope.__globals__.get
    of_builtins = scope.__builtins__.get  # type: ignore[attr-defined]  # typeshed lacks it

    def load() -> object:
        found = of_module(name, _MISSING)
        if found is _MISSING:
            found = of_builtins(name, _MISSING)
        if found is _MISSING:
            raise NameError(f"name {name!r} is not defined", name=name)
        return found

    return load


def _load_closure(*, name: str, scope: FunctionType) -> object:
    return _bind_closure(name=name, scope=scope)()


def _lower_global(e: Emitter, *, name: str, scope: FunctionType) -> V:
    return e.load_global(scope.__globals__, name, _bind_global(name=name, scope=scope))


def _cell_of(name: str, scope: FunctionType) -> CellType:
    assert scope.__closure__ is not None
    return scope.__closure__[scope.__code__.co_freevars.index(name)]


def _lower_closure(e: Emitter, *, name: str, scope: FunctionType) -> V:
    return e.load_cell(_cell_of(name, scope), _bind_closure(name=name, scope=scope))


def _bind_closure(*, name: str, scope: FunctionType) -> Callable[[], object]:
    cell = _cell_of(name, scope)

    def load() -> object:
        try:
            return cell.cell_contents
        except ValueError:
            pass
        raise _unbound_free(name)  # out here: an exception that is handled would be its context

    return load


def _unbound_free(name: str) -> NameError:
    message = (
        f"cannot access free variable {name!r} where it is not associated with a value "
        "in enclosing scope"
    )
    return NameError(message, name=name)


def _has_defaults(*, function: FunctionType, defaults: _Defaults) -> bool:
    found = defaults_of(function)
    return all(found.get(name, _MISSING) is value for name, value in defaults)


def _check_bound(x: object, *, name: str, free: bool = False) -> object:
    if x is UNBOUND_VALUE:
        if free:
            raise _unbound_free(name)
        message = f"cannot access local variable {name!r} where it is not associated with a value"
        raise UnboundLocalError(message)
    return x


def _infer_bound(x: Type, *, name: str, free: bool = False) -> Type:
    if isinstance(x, UnionType):
        return join_all([t for t in x.members if t != UNBOUND])
    return NEVER if x == UNBOUND else x


def _lower_bound(e: Emitter, x: V, *, name: str, free: bool = False) -> V:
    if x.type == UNBOUND:
        e.bail(f"{name} is not bound")
    elif x.type == ANY:
        unbound = e.object_const(UNBOUND_VALUE)
        e.bail_if(e.same_object(x, unbound), f"{name} is not bound")
    return x


#: `super().x` is one instruction, to which __class__ is a variable and None an object as any other
_SUPER_IS_ONE_STEP = sys.version_info >= (3, 12)
_NONE_LIKE = type("NoneType", (), {})()


def _bound_super(receiver: object, *, scope: FunctionType) -> object:
    try:
        cls = _cell_of("__class__", scope).cell_contents
    except ValueError:
        pass
    else:
        if receiver is None and _SUPER_IS_ONE_STEP and not isinstance(None, cls):
            receiver = _NONE_LIKE  # which `super` does not take, either: it names the class
        return super(cls, receiver)
    if _SUPER_IS_ONE_STEP:
        raise _unbound_free("__class__")
    raise RuntimeError("super(): empty __class__ cell")


LOAD_GLOBAL = object_op(
    "prim::load_global",
    "(*, name, scope)",
    "Look up a global or builtin name as the function `scope` does.",
    evaluate=_load_global,
    bind=_bind_global,
    lower=_lower_global,
    can_lower=lambda *, name, scope: type(scope.__globals__) is dict,
    syntax="{name}",
    effects=Effect.READ | Effect.RAISE,
    is_profiled=True,
)
LOAD_CLOSURE = object_op(
    "prim::load_closure",
    "(*, name, scope)",
    "Read the cell of a free variable of the function `scope`.",
    evaluate=_load_closure,
    bind=_bind_closure,
    lower=_lower_closure,
    can_lower=any_operands,
    syntax="{name}",
    effects=Effect.READ | Effect.RAISE,
    is_profiled=True,
)
BOUND_SUPER = object_op(
    "prim::bound_super",
    "(receiver, *, scope)",
    "``super()`` in the method `scope`, whose first parameter holds `receiver`.",
    evaluate=_bound_super,
    is_profiled=True,
)
HAS_DEFAULTS = object_op(
    "prim::has_defaults",
    "(*, function, defaults)",
    "Whether a Python function still has the defaults, given as pairs of names and values, with which it was inlined.",
    infer=lambda *, function, defaults: BOOL,
    evaluate=_has_defaults,
    effects=Effect.READ,
)
CHECK_BOUND = object_op(
    "prim::check_bound",
    "(x, *, name, free=False)",
    "The value of a local variable; raises UnboundLocalError (if `free`, NameError) if it has none.",
    infer=_infer_bound,
    takes_characters=any_operands,
    takes_records=True,
    evaluate=_check_bound,
    lower=_lower_bound,
    can_lower=any_operands,
    effects=Effect.RAISE,
)

# -- what a function binds outside of itself --------------------------------------------------------


def _store_global(value: object, *, name: str, scope: FunctionType) -> None:
    dict.__setitem__(scope.__globals__, name, value)


def _store_closure(value: object, *, name: str, scope: FunctionType) -> None:
    set_cell(_cell_of(name, scope), value)


def set_cell(cell: CellType, value: object) -> None:
    """Put a value into a cell."""
    cell.cell_contents = value


def _lower_store_global(e: Emitter, value: V, *, name: str, scope: FunctionType) -> tuple[()]:
    variables = e.object_const(scope.__globals__)
    e.call_function(operator.setitem, (variables, e.object_const(name), value))
    return ()


def _lower_store_closure(e: Emitter, value: V, *, name: str, scope: FunctionType) -> tuple[()]:
    e.call_function(set_cell, (e.object_const(_cell_of(name, scope)), value))
    return ()


STORE_GLOBAL = object_op(
    "prim::store_global",
    "(value, *, name, scope)",
    "Bind a global name of the function `scope`.",
    infer=lambda value, *, name, scope: (),
    evaluate=_store_global,
    lower=_lower_store_global,
    can_lower=any_operands,
)
STORE_CLOSURE = object_op(
    "prim::store_closure",
    "(value, *, name, scope)",
    "Bind a free variable of the function `scope`.",
    infer=lambda value, *, name, scope: (),
    evaluate=_store_closure,
    lower=_lower_store_closure,
    can_lower=any_operands,
)

# -- variables that nested functions share ------------------------------------------------------------


def _clear_cell(cell: CellType) -> None:
    with contextlib.suppress(ValueError):  # it was empty
        del cell.cell_contents


def _load_cell(cell: CellType, *, name: str, free: bool = False) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        pass
    return _check_bound(UNBOUND_VALUE, name=name, free=free)


def _lower_load_cell(e: Emitter, cell: V, *, name: str, free: bool = False) -> V:
    return e.load_shared(cell, partial(_load_cell, name=name, free=free))


LOAD_CELL = object_op(
    "prim::load_cell",
    "(cell, *, name, free=False)",
    "Read a variable that nested functions bind again from the cell that they share; `free`: as one of another frame.",
    evaluate=_load_cell,
    lower=_lower_load_cell,
    can_lower=lambda cell, *, name, free=False: cell == ObjectType(CellType),
    effects=Effect.READ | Effect.RAISE,
    is_profiled=True,
)
STORE_CELL = object_op(
    "prim::store_cell",
    "(cell!, value)",
    "Put the value of a variable into the cell that nested functions find it in.",
    infer=lambda cell, value: (),
    evaluate=set_cell,
)
CLEAR_CELL = object_op(
    "prim::clear_cell",
    "(cell!)",
    "Empty the cell of a variable that is deleted.",
    infer=lambda cell: (),
    evaluate=_clear_cell,
)

# -- imports ---------------------------------------------------------------------------------------


def _import_module(
    *, name: str, names: tuple[str, ...] | None, level: int, scope: FunctionType
) -> object:
    load = scope.__builtins__.get("__import__")  # type: ignore[attr-defined]  # typeshed lacks it
    if load is None:
        raise ImportError("__import__ not found")
    return load(name, scope.__globals__, None, names, level)  # type: ignore[no-any-return]


def _import_from(module: object, *, name: str) -> object:
    try:
        return getattr(module, name)
    except AttributeError:
        pass
    found: dict[str, object] = {"__builtins__": {"__import__": lambda *_: module}}
    exec(compile(f"from module import {name} as found", __file__, "exec"), found)
    return found["found"]


IMPORT_MODULE = object_op(
    "prim::import_module",
    "(*, name, names, level, scope)",
    "Import a module as the function `scope` does.",
    evaluate=_import_module,
    is_profiled=True,
)
IMPORT_FROM = object_op(
    "prim::import_from",
    "(module, *, name)",
    "What ``from module import name`` binds: an attribute, or a submodule.",
    evaluate=_import_from,
    is_profiled=True,
)
