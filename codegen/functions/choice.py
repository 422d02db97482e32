"""The choice between native code and CPython: entries ask a cell who runs calls with arrays of which sizes.

Sizes are told apart by the binary order of magnitude of the elements of the largest array. Calls with sizes of neither
are handed on; so are all calls when the cell has been asked so often as it was to be. `runtime/contests.py` says what
is in the cell. Calls of the unit's own callable are native whatever is in it: whoever times them, other threads call
the function meanwhile.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial, reduce

from ljit.codegen.functions.support import support
from ljit.codegen.llvm.builder import BlockRef, FunctionBuilder, Ref, address
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.sizes import ALL_MAGNITUDES
from ljit.types import ArrayType

__all__ = ["ChoiceCell", "call_plainly", "emit_choice"]

_WORD = 8  # bytes
_CALLABLE = 3  # which word
_NATIVE, _PLAIN = 0, 1  # what `choose_side` gives


class ChoiceCell:
    """Four words: the sizes that native code takes, those that CPython gets, for how many calls that holds, a callable.

    Bit `k` of the first two stands for calls whose largest array has 2**k elements, or more and less than 2**(k + 1).
    All calls of the callable are native.
    """

    ALWAYS = 2**62  # calls

    __slots__ = ("_words",)

    def __init__(self) -> None:
        self._words = (ctypes.c_int64 * 4)(-1, 0, self.ALWAYS, 0)

    @property
    def address(self) -> int:
        """Where the words are: they must stay alive as long as code that reads them."""
        return ctypes.addressof(self._words)

    @property
    def names(self) -> dict[int, str]:
        """What each word is, by its address."""
        what = (
            *("sizes of native code", "sizes of CPython"),
            *("calls for which that holds", "callable of native code"),
        )
        return {self.address + _WORD * i: name for i, name in enumerate(what)}

    @property
    def native(self) -> int:
        """The magnitudes that native code takes."""
        return self._words[0] & ALL_MAGNITUDES

    @native.setter
    def native(self, magnitudes: int) -> None:
        self._words[0] = magnitudes

    @property
    def plain(self) -> int:
        """The magnitudes that are left to CPython, if native code does not take them."""
        return self._words[1] & ALL_MAGNITUDES

    @plain.setter
    def plain(self, magnitudes: int) -> None:
        self._words[1] = magnitudes

    @property
    def calls(self) -> int:
        """For how many more calls that holds; none if it is not positive."""
        return self._words[2]

    @calls.setter
    def calls(self, count: int) -> None:
        self._words[2] = count

    def take_all_of(self, callable_: object) -> None:
        """Let calls of an object be native; it must stay alive as long as anything calls it."""
        self._words[_CALLABLE] = id(callable_)


def emit_choice(
    f: FunctionBuilder,
    arguments: Sequence[Native],
    cell: ChoiceCell,
    function: Ref,
    reject: BlockRef,
) -> None:
    """Go on with calls that the cell gives to native code; leave others to the plain `function`, or hand them on."""
    counts = [
        _elements(f, a) for a in arguments if isinstance(a.type, ArrayType) and None in a.type.shape
    ]
    largest = reduce(lambda x, y: f.select(f.icmp("ugt", x, y), x, y), counts)
    side = f.call("i64", support("choose_side"), (address(cell.address), largest))
    names = ("native", "other", "foreign", "plain")
    native, other, foreign, plain = (f.new_block(name) for name in names)
    f.condbr(f.icmp("eq", side, _NATIVE), native, other)
    f.start(other)
    own = f.load("ptr", address(cell.address + _CALLABLE * _WORD))
    f.condbr(f.icmp("eq", f.params[0], own), native, foreign)
    f.start(foreign)
    f.condbr(f.icmp("eq", side, _PLAIN), plain, reject)
    f.start(plain)
    call_plainly(f, function)
    f.start(native)


def call_plainly(f: FunctionBuilder, function: Ref) -> None:
    """Return what a plain function gives for the entry's arguments."""
    f.ret(f.call("ptr", support("call_plainly"), (function, *f.params[1:])))


def _elements(f: FunctionBuilder, array: Native) -> Ref:
    return reduce(partial(f.binary, "mul"), array_parts(array).sizes)
