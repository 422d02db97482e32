"""Methods of strs whose result is known by the types of the operands; they run no unknown code.

Questions about a character (`c.isdigit()`) are answered by a table, if it is one of ASCII's. CPython does the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ljit.characters import is_text
from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.types import ANY, BOOL, INT, STR, Type

__all__: list[str] = []

_ASCII = 128


def _method(
    name: str, schema: str, result: Type, *, takes: Callable[..., bool], **fields: Any
) -> None:
    """Declare ``x.name(...)`` of a str, whose further operands `takes` knows, with a result of that type."""

    def infer(x: Type, *rest: Type) -> Type:
        return result if is_text(x) and takes(*rest) else ANY

    def effects(x: Type, *rest: Type) -> Effect:
        return Effect.PURE if infer(x, *rest) != ANY else Effect.CALL

    declare(
        OpDef(
            f"py::str_{name}",
            Schema(schema),
            f"``x.{name}`` of a str.",
            infer=infer,
            evaluate=getattr(str, name),
            methods=(f"str.{name}",),
            effects=effects,
            **fields,
        )
    )


def _takes_nothing(*rest: Type) -> bool:
    return not rest


def _takes_texts(*rest: Type) -> bool:
    return all(t == STR for t in rest)


# -- questions about characters --------------------------------------------------------------------


def _lower_test(name: str, e: Emitter, x: V) -> V:
    test = getattr(str, name)
    characters = "".join(c for c in map(chr, range(_ASCII)) if test(c))
    return e.str_is_among(x, characters, lambda: e.call_boxed(test, (x,)))


_CHARACTERS = ("a", "Z", "5", " ", "_", "\n", "\x7f", "\xe4", "\u0665", "\U0001f600")
_TEXTS = (*((c,) for c in _CHARACTERS), ("",), ("ab1",), ("Ab ",), ("12",), (b"1",))

for _name in (
    *("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier"),
    *("islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper"),
):
    _method(
        _name,
        "(x)",
        BOOL,
        takes=_takes_nothing,
        lower=partial(_lower_test, _name),
        can_lower=is_text,
        takes_characters=is_text,
        samples=_TEXTS,
    )

# -- texts of texts --------------------------------------------------------------------------------

_CASE, _LETTERS = ord("a") - ord("A"), 26


def _lower_case(name: str, first: int, step: int, e: Emitter, x: V) -> V:
    """A letter of ASCII, of those from `first` on, is another one; CPython changes longer texts."""
    code = e.text_code(x)

    def change() -> V:
        is_behind = e.compare("ge", code, first)
        is_before = e.compare("lt", code, first + _LETTERS)
        more = e.select(e.bit_and(is_behind, is_before), e.const(INT, step), 0)
        return e.widen(e.str_char(e.add(code, more)), STR)

    def call() -> V:
        return e.call_boxed(getattr(str, name), (x,))

    is_behind = e.compare("ge", code, 0)
    is_ascii = e.bit_and(is_behind, e.compare("lt", code, _ASCII))
    return e.branch(is_ascii, change, call)


for _name in ("capitalize", "casefold", "swapcase", "title"):
    _method(_name, "(x)", STR, takes=_takes_nothing, samples=_TEXTS)
for _name, _first, _step in (("lower", "A", _CASE), ("upper", "a", -_CASE)):
    _method(
        _name,
        "(x)",
        STR,
        takes=_takes_nothing,
        lower=partial(_lower_case, _name, ord(_first), _step),
        can_lower=lambda x: x == STR,
        samples=(*_TEXTS, ("A",), ("[",), ("@",), ("`",), ("{",), ("z",), ("\xdf",)),
    )

_STRIPPED = ((" a b\n",), ("",), ("xxaxx", "x"), ("abc", ""), ("abc", None), (b" a",))

for _name in ("strip", "lstrip", "rstrip"):
    _method(_name, "(x, chars=None, /)", STR, takes=_takes_texts, samples=_STRIPPED)

for _name in ("startswith", "endswith"):
    _method(
        _name,
        "(x, part, /)",
        BOOL,
        takes=_takes_texts,
        samples=(("abc", "ab"), ("abc", "bc"), ("abc", ""), ("abc", ("a", "c")), ("abc", 1)),
    )

_method(
    "replace",
    "(x, old, new, /)",
    STR,
    takes=_takes_texts,
    samples=(("banana", "an", "o"), ("abc", "", "-"), ("abc", "x", "y"), ("abc", 1, 2)),
)
for _name in ("count", "find", "rfind"):
    _method(
        _name,
        "(x, part, /)",
        INT,
        takes=_takes_texts,
        samples=(("banana", "an"), ("abc", ""), ("abc", "x"), ("abc", 1)),
    )
