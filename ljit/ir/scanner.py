"""A cursor over one line of text, and the reading of types and attribute values with it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ljit.errors import ParseError
from ljit.ir.literals import import_object
from ljit.module_types import KnownModule
from ljit.packed_types import TYPECODES, PackedType
from ljit.record_types import RecordType, UnalignedType
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    RANGE,
    STR,
    UINT,
    UNBOUND,
    ArrayType,
    ListType,
    NamedTupleType,
    ObjectType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    ViewType,
)

__all__ = ["Scanner", "parse_literal", "parse_type"]

T = TypeVar("T")

_ATOMS = {
    str(t): t
    for t in (ANY, NEVER, UNBOUND, NONE, BOOL, INT, UINT, FLOAT, COMPLEX, STR, CHARACTER, RANGE)
}
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(r"""b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|inf|nan|\d+(?:\.\d*)?(?:e[+-]?\d+)?)")
_OBJECT = re.compile(r"<(?:@(\d+)|([\w.]+))>")
_ARRAY = re.compile(r"([A-Z][a-z]+\d*)\(")
_NAMES = {"True": True, "False": False, "None": None, "...": ...}
_NAME = re.compile(r"(?:True|False|None|\.\.\.)(?!\w)")


class Scanner:
    """The text of one line, a position in it, and the shared list of objects."""

    def __init__(self, text: str, line: int, objects: Sequence[object]) -> None:
        self.text = text
        self.line = line
        self.objects = objects
        self.at = 0

    def error(self, message: str) -> ParseError:
        """Make a ParseError that shows what stands at the position."""
        rest = self.text[self.at :].strip()
        return ParseError(f"{message}, found {rest[:40]!r}" if rest else message, self.line)

    def skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go behind `pattern` if it stands here (behind spaces)."""
        start = _SPACE.match(self.text, self.at)
        assert start is not None
        found = pattern.match(self.text, start.end())
        if found is not None:
            self.at = found.end()
        return found

    def take(self, text: str) -> bool:
        """Go behind `text` if it stands here; whether it did."""
        return self.skip(re.compile(re.escape(text))) is not None

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise self.error(f"{text!r} wanted")

    def list_of(self, item: Callable[[], T], end: str) -> list[T]:
        """Read items separated by commas, up to and with `end`; a comma may stand before it."""
        items: list[T] = []
        while not self.take(end):
            items.append(item())
            if not self.take(","):
                self.expect(end)
                break
        return items

    # -- types

    def type(self) -> Type:
        """Read a type."""
        if self.take("("):
            return TupleType(tuple(self.list_of(self.type, ")")))
        for head, reader in _TYPE_READERS.items():
            if self.take(head):
                return reader(self)
        found = self.skip(_ARRAY)
        if found is not None:
            return self._array(found.group(1))
        found = self.skip(re.compile(r"[\w.]+"))
        name = found.group() if found is not None else "nothing"
        if name.startswith("np."):
            return ScalarType(self._dtype(name[3:]))
        if name not in _ATOMS:
            raise self.error(f"{name!r} is not a type")
        return _ATOMS[name]

    def _dtype(self, name: str) -> np.dtype:
        try:
            return np.dtype(name)
        except TypeError:
            raise self.error(f"{name!r} is not a dtype") from None

    def _records_type(self) -> Type:
        dtype = self._layout()
        self.expect("]")
        self.expect("(")
        return self._array_of(dtype)

    def _record_type(self) -> Type:
        dtype = self._layout()
        is_readonly = self.take(",")
        self.expect("readonly]" if is_readonly else "]")
        return RecordType(dtype, not is_readonly)

    def _unaligned_type(self) -> Type:
        view = self.type()
        if not isinstance(view, ArrayType):
            raise self.error("the type of an array wanted")
        return UnalignedType(view.dtype, view.shape, view.writeable)

    def _layout(self) -> np.dtype:
        found = self.skip(_STRING)
        try:
            fields: Any = ast.literal_eval(ast.literal_eval(found.group() if found else ""))
            made: np.dtype = np.dtype(fields)
        except (SyntaxError, TypeError, ValueError):
            raise self.error("the layout of a record wanted") from None
        return made

    def _array(self, name: str) -> Type:
        return self._array_of(self._dtype(name.lower()))

    def _array_of(self, dtype: np.dtype) -> Type:
        shape: list[int | None] = []
        layout, writeable = "C", True
        for found in self.list_of(lambda: self.skip(re.compile(r"\*|\d+|strided|readonly")), ")"):
            if found is None:
                raise self.error("a size, '*', 'strided' or 'readonly' wanted")
            match found.group():
                case "strided":
                    layout = "strided"
                case "readonly":
                    writeable = False
                case size:
                    shape.append(None if size == "*" else int(size))
        return ArrayType(dtype, tuple(shape), layout, writeable)

    def _types(self) -> tuple[Type, ...]:
        return tuple(self.list_of(self.type, "]"))

    def _slice_type(self) -> Type:
        parts = self._types()
        if len(parts) != 3:
            raise self.error("slice has three parts")
        return SliceType(*parts)

    def _list_type(self) -> Type:
        (item,) = self._types()
        return ListType(item)

    def _private_list_type(self) -> Type:
        (item,) = self._types()
        return ListType(item, True)

    def _view_type(self) -> Type:
        kind = self.skip(re.compile(r"(\w+)\s*,"))
        if kind is None:
            raise self.error("the kind of view wanted")
        return ViewType(kind.group(1), self._types())

    def _object_type(self) -> Type:
        found = self.skip(re.compile(r"([^\]]+)\]"))
        path = found.group(1) if found is not None else ""
        for known in self.objects:
            if isinstance(known, type) and f"{known.__module__}.{known.__qualname__}" == path:
                return ObjectType(known)
        cls = self._imported(path)
        if not isinstance(cls, type):
            raise self.error(f"{path} is not a class")
        return ObjectType(cls)

    def _packed_type(self) -> Type:
        found = self.skip(re.compile(r"(\w)\]"))
        if found is None or found.group(1) not in TYPECODES:
            raise self.error("a type code of `array.array` wanted")
        return PackedType(found.group(1))

    def _module_type(self) -> Type:
        found = self.skip(re.compile(r"([^\]]+)\]"))
        module = sys.modules.get(found.group(1)) if found is not None else None
        if module is None:
            raise self.error("an imported module wanted")
        return KnownModule(module)

    def _named_type(self) -> Type:
        named, *items = self._types()
        if not isinstance(named, ObjectType):
            raise self.error("the class of named tuples wanted")
        return NamedTupleType(named, tuple(items))

    def _imported(self, path: str) -> object:
        try:
            return import_object(path)
        except (ImportError, AttributeError, ValueError):
            raise self.error(f"cannot import {path!r}") from None

    # -- attribute values

    def literal(self) -> object:
        """Read an attribute value: see `ljit.ir.literals`."""
        found = self.skip(_STRING)
        if found is not None:
            return ast.literal_eval(found.group())
        found = self.skip(_NAME)
        if found is not None:
            return _NAMES[found.group()]
        found = self.skip(_OBJECT)
        if found is not None:
            return self._object(found)
        if self.take("("):
            return tuple(self.list_of(self.literal, ")"))
        found = self.skip(_CALL)
        if found is not None:
            return self._call(found.group(1))
        found = self.skip(_NUMBER)
        return _number(found.group()) if found is not None else self.type()

    def _object(self, found: re.Match[str]) -> object:
        if found.group(2) is not None:
            return self._imported(found.group(2))
        index = int(found.group(1))
        if index >= len(self.objects):
            raise self.error(f"there is no object @{index}")
        return self.objects[index]

    def _call(self, name: str) -> object:
        arguments = self.list_of(self.literal, ")")
        try:
            if name.startswith("np."):
                maker: Callable[..., object] = complex if len(arguments) == 2 else _first
                return np.dtype(name[3:]).type(maker(*arguments))
            return _CALLS[name](*arguments)
        except (TypeError, ValueError, IndexError) as error:
            raise self.error(f"{name}{tuple(arguments)} is not a value ({error})") from None


_TYPE_READERS: dict[str, Callable[[Scanner], Type]] = {
    "Records[": Scanner._records_type,
    "Record[": Scanner._record_type,
    "Unaligned": Scanner._unaligned_type,
    "List[": Scanner._list_type,
    "PrivateList[": Scanner._private_list_type,
    "slice[": Scanner._slice_type,
    "View[": Scanner._view_type,
    "Object[": Scanner._object_type,
    "Packed[": Scanner._packed_type,
    "Module[": Scanner._module_type,
    "Named[": Scanner._named_type,
    "Union[": lambda scanner: UnionType(scanner._types()),
}
_CALLS: dict[str, Callable[..., object]] = {
    "complex": complex,
    "slice": slice,
    "range": range,
    "dtype": np.dtype,
}
_CALL = re.compile(r"(complex|slice|range|dtype|np\.\w+)\(")


def _first(value: object) -> object:
    return value


def _number(text: str) -> int | float:
    if text.lstrip("-").startswith("0x"):
        return int(text, 16)
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def parse_type(text: str, objects: Sequence[object] = ()) -> Type:
    """Read a type from its text form.

    >>> parse_type("(int, Float64(*, 3, strided))").items[1].shape
    (None, 3)
    """
    return _whole(text, objects, Scanner.type)


def parse_literal(text: str, objects: Sequence[object] = ()) -> object:
    """Read an attribute value from its text form.

    >>> parse_literal("(1, 'a', np.float32(0.5))")
    (1, 'a', np.float32(0.5))
    """
    return _whole(text, objects, Scanner.literal)


def _whole(text: str, objects: Sequence[object], read: Callable[[Scanner], T]) -> T:
    scanner = Scanner(text, 1, objects)
    result = read(scanner)
    if scanner.text[scanner.at :].strip():
        raise scanner.error("the end wanted")
    return result
