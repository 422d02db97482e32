"""Changes of arguments, at random: other classes, dtypes, layouts, sizes and values, and what nobody would pass."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from tests.programs.harness import Args, Factory, make_args

__all__ = ["with_changes"]

_DTYPES = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 >i4 >f8 O g".split()
_FLOATS = (
    *(0.0, -0.0, float("nan"), float("inf"), -float("inf"), 0.5, -1.5),
    *(1e300, 5e-324, 2.0**53, 1e19),
)
_INTS = (0, 1, -1, 2, 3, 7, -5, 2**31, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**25)
_ELEMENTS = (float("nan"), float("inf"), -0.0, -1, 0, 127, 2**31 - 1)
_ITEMS = (None, 1.5, True, 2**70, "a", np.float32(1.5), np.int64(3), float("nan"))
_OTHER = (None, "3", "", b"a", (), [], [1, 2], Fraction(1, 3), Decimal("1.5"))
_LENGTHS = (0, 1, 2, -1)


class OtherInt(int):
    pass


class OtherFloat(float):
    pass


class OtherList(list):  # type: ignore[type-arg]
    pass


class OtherArray(np.ndarray):
    pass


def with_changes(factory: Factory, seed: object) -> Factory:
    """A factory of the same arguments with one to three changes."""

    def make() -> Args:
        chosen, args = random.Random(str(seed)), make_args(factory)
        positional = list(args.positional)
        for _ in range(chosen.choice((1, 1, 1, 2, 3)) if positional else 0):
            place = chosen.randrange(len(positional))
            positional[place] = _changed(positional[place], chosen)
        return Args(tuple(positional), args.keywords)

    return make


def _changed(value: Any, chosen: random.Random) -> Any:
    """A value with one change; itself where that cannot be made."""
    for kinds, changes in _CHANGES:
        if isinstance(value, kinds):
            try:
                with np.errstate(all="ignore"):
                    return chosen.choice(changes)(value, chosen)
            except (TypeError, ValueError, OverflowError, IndexError):
                return value
    return value


# -- numbers -------------------------------------------------------------------------------------------


def _of_numpy(value: Any, chosen: random.Random) -> Any:
    return np.dtype(chosen.choice(_DTYPES[:14])).type(value)


def _of_another_class(value: Any, chosen: random.Random) -> Any:
    return chosen.choice((OtherInt, OtherFloat, np.array, complex, bool))(value)


def _near(value: Any, chosen: random.Random) -> Any:
    return chosen.choice((value + 1, value - 1, -value, value * 2))


# -- arrays --------------------------------------------------------------------------------------------


def _with_gaps(array: np.ndarray, chosen: random.Random) -> np.ndarray:
    return np.repeat(array, 2, axis=-1)[..., ::2]


def _read_only(array: np.ndarray, chosen: random.Random) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


def _unaligned(array: np.ndarray, chosen: random.Random) -> np.ndarray:
    made = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def _with_other_element(array: np.ndarray, chosen: random.Random) -> np.ndarray:
    array = array.copy()
    array.flat[chosen.randrange(array.size)] = chosen.choice(_ELEMENTS)
    return array


def _of_another_shape(array: np.ndarray, chosen: random.Random) -> Any:
    shapes = (array.T, array[None], array[..., None], array.ravel(), array[0])
    return chosen.choice((*shapes, np.concatenate((array, array))))


# -- what holds others -----------------------------------------------------------------------------------


def _with_changed_item(items: Any, chosen: random.Random) -> Any:
    place = chosen.randrange(len(items))
    changed = [*items[:place], _changed(items[place], chosen), *items[place + 1 :]]
    return tuple(changed) if isinstance(items, tuple) else changed


def _with_changed_value(values: dict[Any, Any], chosen: random.Random) -> dict[Any, Any]:
    key = chosen.choice(list(values))
    return {**values, key: _changed(values[key], chosen)}


def _of_texts(text: str, chosen: random.Random) -> Any:
    return chosen.choice(
        (
            text + text[::-1],
            text[:1],
            "",
            text.encode(),
            text + "é中\U0001f600",
            list(text),
            text.upper(),
        )
    )


_Change = Callable[[Any, random.Random], Any]
#: changes of values of which classes; the first that fits
_CHANGES: Sequence[tuple[Any, tuple[_Change, ...]]] = (
    (
        np.ndarray,
        (
            *(lambda a, chosen: a.astype(chosen.choice(_DTYPES)),) * 3,
            lambda a, chosen: np.asfortranarray(a),
            lambda a, chosen: a[::-1].copy()[::-1],
            lambda a, chosen: a[: chosen.choice(_LENGTHS)],
            lambda a, chosen: a.tolist(),
            lambda a, chosen: a.view(OtherArray),
            lambda a, chosen: np.broadcast_to(a[:1], a.shape),
            *(_with_gaps, _read_only, _unaligned, _with_other_element, _of_another_shape),
        ),
    ),
    (
        bool | int | float | complex | np.generic,
        (
            lambda x, chosen: float(x),
            lambda x, chosen: int(x),
            *(_of_numpy, _of_numpy, _near, _of_another_class),
            lambda x, chosen: chosen.choice(_FLOATS),
            lambda x, chosen: chosen.choice(_INTS),
            lambda x, chosen: chosen.choice(_OTHER),
        ),
    ),
    (
        list | tuple,
        (
            lambda xs, chosen: list(xs) if isinstance(xs, tuple) else tuple(xs),
            lambda xs, chosen: np.array(xs),
            lambda xs, chosen: xs[: chosen.choice(_LENGTHS)],
            lambda xs, chosen: OtherList(xs),
            lambda xs, chosen: xs + xs,
            lambda xs, chosen: list(map(float, xs)),
            lambda xs, chosen: type(xs)([*xs, chosen.choice(_ITEMS)]),
            *(_with_changed_item, _with_changed_item),
        ),
    ),
    (str, (_of_texts,)),
    (
        bytes,
        (
            lambda text, chosen: chosen.choice(
                (bytearray(text), text[:1], b"", memoryview(text), list(text))
            ),
        ),
    ),
    (dict, (_with_changed_value,)),
    (type(None), (lambda x, chosen: chosen.choice((0, 1.5, "a")),)),
)
