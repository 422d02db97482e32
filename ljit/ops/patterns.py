"""What the patterns of ``match`` ask of a subject.

They mean what CPython's bytecode means: `MATCH_SEQUENCE`, `MATCH_MAPPING`, `MATCH_CLASS`, `MATCH_KEYS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ljit.cpython.classes import flags_of, is_open
from ljit.ir import UNKNOWN, Effect, Emitter, OpDef
from ljit.ir.emitter import V
from ljit.ops.objects import object_op
from ljit.ops.python.types import class_of
from ljit.types import BOOL, ObjectType, Type

__all__ = ["MAPPING", "SEQUENCE", "is_mapping", "is_sequence"]

SEQUENCE, MAPPING = 1 << 5, 1 << 6  # tp_flags, see Include/object.h
_MATCHES_SELF = 1 << 22
_MISSING = object()


def is_sequence(subject: object) -> bool:
    """Whether the pattern ``[*_]`` takes the subject."""
    return bool(flags_of(type(subject)) & SEQUENCE)


def is_mapping(subject: object) -> bool:
    """Whether the pattern ``{}`` takes the subject."""
    return bool(flags_of(type(subject)) & MAPPING)


def _fold_flag(flag: int) -> Callable[..., object]:
    """Decided by the class of the subject."""

    def fold(types: Sequence[Type], _constants: Sequence[object]) -> object:
        cls = class_of(types[0])
        return UNKNOWN if cls is None else bool(cls.__flags__ & flag)

    return fold


def _declare_test(
    test: Callable[[object], bool], flag: int, samples: Sequence[tuple[object, ...]]
) -> OpDef:
    """Declare the question whether a flag of the subject's class is set."""
    return object_op(
        f"prim::{test.__name__}",
        "(subject)",
        test.__doc__ or "",
        infer=lambda subject: BOOL,
        evaluate=test,
        fold=_fold_flag(flag),
        effects=Effect.PURE,
        samples=samples,
    )


_declare_test(is_sequence, SEQUENCE, (([],), ((1, 2),), (range(3),), ("ab",), (1,), ({},), (None,)))
_declare_test(is_mapping, MAPPING, (({},), ({"a": 1},), ([],), (1.5,), (None,)))

# -- classes ---------------------------------------------------------------------------------------


def _match_class(
    subject: object, cls: object, *, count: int, names: tuple[str, ...]
) -> tuple[object, ...] | None:
    return _matcher(count, names)(subject, cls)


@lru_cache(maxsize=256)
def _matcher(count: int, names: tuple[str, ...]) -> Callable[..., tuple[object, ...] | None]:
    """Make a function with a pattern of that many positional and those keyword patterns."""
    captures = [f"x{i}" for i in range(count + len(names))]
    keywords = [f"{name}={x}" for name, x in zip(names, captures[count:], strict=True)]
    pattern = ", ".join([*captures[:count], *keywords])
    result = "".join(f"{x}, " for x in captures)
    text = f"def match(_, cls):\n match _:\n  case cls({pattern}): return ({result})"
    found: dict[str, Any] = {}
    exec(compile(text, __file__, "exec"), found)
    matcher: Callable[..., tuple[object, ...] | None] = found["match"]
    return matcher


def _lower_class(e: Emitter, subject: V, cls: V, *, count: int, names: tuple[str, ...]) -> V:
    """Most subjects of a pattern that fails are of another class: the function that matches is not called then."""

    def take() -> V:
        if not count and not names:
            return e.object_const(())
        return e.match_class(_matcher(count, names), subject, cls, count, names)

    is_instance = e.call_function(isinstance, [subject, cls])
    return e.branch(is_instance, take, lambda: e.object_const(None))


def _fold_class(
    types: Sequence[Type], constants: Sequence[object], *, count: int, names: tuple[str, ...]
) -> object:
    """Decided by the class of the subject where nothing is taken out of it, as ``isinstance`` is."""
    cls, wanted = class_of(types[0]), constants[1]
    if cls is None or type(wanted) is not type or count or names:
        return UNKNOWN
    if issubclass(cls, wanted):
        return ()
    return UNKNOWN if isinstance(types[0], ObjectType) else None


def _matches_as_whole(cls: object) -> bool:
    return (
        type(cls) is type
        and bool(cls.__flags__ & _MATCHES_SELF)
        and not any("__match_args__" in vars(base) for base in cls.__mro__)
    )


def _fold_whole(_types: Sequence[Type], constants: Sequence[object]) -> object:
    """Decided for classes that cannot change. No is always right: `prim::match_class` then takes the subject, too."""
    (cls,) = constants
    if type(cls) is type and not is_open(cls):
        return _matches_as_whole(cls)
    return UNKNOWN if cls is UNKNOWN or _matches_as_whole(cls) else False


MATCHES_AS_WHOLE = object_op(
    "prim::matches_as_whole",
    "(cls)",
    "Whether the pattern ``cls(x)`` takes the subject itself for x: ``int(x)``.",
    infer=lambda cls: BOOL,
    evaluate=_matches_as_whole,
    fold=_fold_whole,
    effects=Effect.READ,
    samples=((int,), (type,), (5,), (dict,), (np.float64,)),
)
MATCH_CLASS = object_op(
    "prim::match_class",
    "(subject, cls, *, count, names)",
    "What a pattern ``cls(...)`` of `count` positional patterns and those of the names takes out; None if it fails.",
    evaluate=_match_class,
    bind=_matcher,
    lower=_lower_class,
    can_lower=lambda subject, cls, **_attrs: class_of(cls) is type,
    fold=_fold_class,
    is_profiled=True,
)

# -- mappings --------------------------------------------------------------------------------------


def _match_keys(subject: Any, *keys: object) -> tuple[object, ...] | None:
    if len(keys) == 1:
        value = subject.get(keys[0], _MISSING)
        return None if value is _MISSING else (value,)
    seen: set[object] = set()
    get = subject.get
    values: list[object] = []
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        values.append(get(key, _MISSING))
        if values[-1] is _MISSING:
            return None
    return tuple(values)


def _without_keys(subject: Any, *keys: object) -> dict[object, object]:
    rest = {**subject}
    for key in keys:
        del rest[key]
    return rest


MATCH_KEYS = object_op(
    "prim::match_keys",
    "(subject, *keys)",
    "The values of the keys in a mapping; None if it has not all of them.",
    evaluate=_match_keys,
    is_profiled=True,
)
WITHOUT_KEYS = object_op(
    "prim::without_keys",
    "(subject, *keys)",
    "A dict of what is in a mapping but for the keys.",
    evaluate=_without_keys,
)
