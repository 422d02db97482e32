"""Ops on exceptions and context managers: what ``raise``, ``except`` and ``with`` ask of objects."""

from __future__ import annotations

from typing import Any

from ljit.cpython.classes import found_in
from ljit.errors import InternalError
from ljit.ir import Effect
from ljit.ops.objects import object_op
from ljit.types import ANY, BOOL, TupleType

__all__: list[str] = []


def _raise(*operands: Any, has_cause: bool = False) -> None:
    if not operands:
        raise  # the caller may be handling an exception, as in CPython
    if has_cause:
        raise operands[0] from operands[1]
    raise operands[0]


object_op(
    "prim::raise",
    "(*operands, has_cause=False)",
    """``raise exc`` or, if `has_cause`, ``raise exc from cause``; no operands: a bare ``raise``.

    Always raises; `prim::Unreachable` follows.""",
    infer=lambda *operands, has_cause=False: (),
    evaluate=_raise,
    lower=lambda e, *operands, has_cause=False: e.raise_(operands, has_cause=has_cause),
    effects=Effect.RAISE,  # in native code, which runs none of a user's classes
)


_NO_EXCEPTION = "catching classes that do not inherit from BaseException is not allowed"


def _is_caught_by(error: BaseException, classes: Any) -> bool:
    """What ``except classes:`` asks: by the class as it is, without ``__subclasscheck__``."""
    bases = type(error).__mro__
    if isinstance(classes, type) and issubclass(classes, BaseException):
        return classes in bases
    wanted = classes if isinstance(classes, tuple) else (classes,)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in wanted):
        raise TypeError(_NO_EXCEPTION)
    return any(cls in bases for cls in wanted)


object_op(
    "prim::is_caught_by",
    "(error, classes)",
    "Whether ``except classes:`` takes the exception.",
    infer=lambda error, classes: BOOL,
    evaluate=_is_caught_by,
    lower=lambda e, error, classes: e.is_caught_by(_is_caught_by, error, classes),
    effects=Effect.RAISE,
)


def _context_methods(manager: Any) -> tuple[object, object]:
    cls = type(manager)
    found = [_special_method(manager, cls, name) for name in ("__enter__", "__exit__")]
    if None in found:
        with manager:  # raises what CPython says of it
            raise InternalError(f"{cls.__name__} is a context manager after all")
    return found[0], found[1]


def _special_method(instance: object, cls: type, name: str) -> object:
    """Look a method up as CPython does for its own use: in the class, not in the instance."""
    method = found_in(cls, name)
    get = found_in(type(method), "__get__")
    return method if get is None else get(method, instance, cls)  # type: ignore[operator]


object_op(
    "prim::context_methods",
    "(manager)",
    "``(enter, exit)``: the methods that ``with manager:`` calls.",
    infer=lambda manager: TupleType((ANY, ANY)),
    evaluate=_context_methods,
    lower=lambda e, manager: e.context_methods(_context_methods, manager),
)
