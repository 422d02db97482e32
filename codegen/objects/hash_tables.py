"""Numbers, strs and tuples of them, looked up in dicts and sets where these keep their keys, as CPython does it.

No object is made of such a number or tuple. A key that has its hash but another class may be equal to it: then CPython
looks. The functions that search are compiled once in a process, one for each kind of key, and one for names of
attributes: these are the keys themselves, so that nothing is compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.layouts import hash_layout as layout
from ljit.codegen.layouts import text_layout
from ljit.codegen.layouts.instances import TYPE_VERSION, type_version
from ljit.codegen.llvm.builder import (
    NULL,
    FunctionBuilder,
    ModuleBuilder,
    Phi,
    Ref,
    address,
    integer,
)
from ljit.codegen.llvm.forms import Native, components, dtype_of, split
from ljit.codegen.llvm.shared_code import shared_function
from ljit.codegen.references.characters import equal_texts
from ljit.codegen.references.unboxing import unbox
from ljit.cpython.classes import is_open
from ljit.ops.containers.keys import is_dict, is_key, is_set
from ljit.ops.python.types import class_of
from ljit.records import Record
from ljit.types import STR, TupleType, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import BlockRef

__all__ = ["UNKNOWN", "find_key", "finder_of_names"]

#: What a search gives where only CPython can tell; null: there is no such key; else where the value or the key lies
UNKNOWN = address(1)

_MODULUS_BITS = 61
_MODULUS = 2**_MODULUS_BITS - 1  # of the hashes of numbers
_DIGITS, _ODD_EXPONENT = 52, 2047  # of doubles: stored bits; the exponent of infinities and NaN
_UNIT_EXPONENT = 1023 + _DIGITS  # of doubles that have no bits below 1
_TUPLE_ROTATION = 31
_HASH_OF_INFINITY = 314159
_TUPLE_PRIMES = 11400714785074694791, 14029467366897019727, 2870177450012600261
_TUPLE_LENGTH = 3527539
_HASH_OF_FAILURE, _INSTEAD, _INSTEAD_OF_TUPLES = -1, -2, 1546275796


def find_key(e: Emitter, table: Native, key: Native) -> Ref | None:
    """Look a key up in a dict or set; None: it is none of those, or no such key."""
    if not is_key(key.type) or not layout.is_known() or not text_layout.is_known():
        return None
    if is_dict(table.type):
        kind, search = "dict", _search_dict
    elif is_set(table.type):
        kind, search = "set", _search_set
    else:
        return None
    name = f"find.{kind}.{_code(key.type)}"
    function = shared_function(name, lambda module: _write(module, name, key.type, search))
    cls = class_of(table.type)
    assert cls is not None

    def find() -> Ref:
        return e.f.call("ptr", function, (table.ref, *key.parts))

    return _find_by_class(e.f, cls, find) if is_open(cls) else find()


def _find_by_class(f: FunctionBuilder, cls: type, find: Callable[[], Ref]) -> Ref | None:
    """Look a key up while the class is what it was, as a Counter's; else CPython looks."""
    version = type_version(cls)
    if not version:
        return None
    look, done = f.new_block("look"), f.new_block("found")
    is_same = f.icmp("eq", f.load("i32", address(id(cls) + TYPE_VERSION)), version)
    changed = f.condbr(is_same, look, done, likely=True)
    f.start(look)
    place = find()
    looked = f.br(done)
    f.start(done)
    result = f.phi("ptr")
    result.add(UNKNOWN, changed)
    result.add(place, looked)
    return result


def finder_of_names() -> str | None:
    """The function that finds an interned str in a dict whose keys are strs; None: nobody knows how."""
    if not layout.is_known() or not text_layout.is_known():
        return None
    return shared_function(_FIND_NAME, _write_finder_of_names)


_FIND_NAME = "find.name"


def _write_finder_of_names(module: ModuleBuilder) -> None:
    f = module.function(_FIND_NAME, "ptr", ("ptr", "ptr"))
    table, name = f.params
    missing, unknown = f.new_block("missing"), f.new_block("unknown")
    keys = _field(f, "ptr", table, layout.DICT_KEYS)
    kind = _field(f, "i8", keys, layout.KEYS_KIND)
    _leave_if(f, f.icmp("ne", kind, layout.TEXT_KEYS), unknown)
    wanted = _Name(name, _field(f, "i64", name, text_layout.TEXT_HASH), unknown)
    _search_entries(f, keys, _OF_TEXTS, wanted, missing)
    f.start(missing)
    f.ret(NULL)
    if f.start(unknown, cold=True):
        f.ret(UNKNOWN)


def _code(t: Type) -> str:
    """A name for a type of keys."""
    return "".join(c if c.isalnum() else "." for c in str(t))


def _write(module: ModuleBuilder, name: str, key: Type, search: Callable[..., None]) -> None:
    f = module.function(name, "ptr", ("ptr", *components(key)))
    table, *parts = f.params
    unknown = f.new_block("unknown")
    value = Native(key, parts)
    hash_ = _hash(f, value, unknown)
    search(f, table, _Wanted(value, hash_, unknown))
    if f.start(unknown, cold=True):
        f.ret(UNKNOWN)


class _Wanted(Record):
    """The key that is looked for."""

    value: Native
    hash: Ref
    unknown: BlockRef  # where to go if only CPython can tell whether there is an equal key

    def require_in(
        self, f: FunctionBuilder, entries: _Entries, entry: Ref, other: BlockRef
    ) -> None:
        """Go to `other` unless the key of an entry is equal to it."""
        _leave_if(f, f.icmp("ne", entries.hash_of(f, entry), self.hash), other, unlikely=False)
        self.require_equal(f, _field(f, "ptr", entry, entries.key), other)

    def require_equal(self, f: FunctionBuilder, pointer: Ref, other: BlockRef) -> None:
        """Go to `other` unless a key is equal to it."""
        found = unbox(f, pointer, self.value.type, self.unknown)
        for x, y in zip(found.parts, self.value.parts, strict=True):
            _leave_if(f, f.bool_not(_is_equal(f, x, y)), other)


class _Name(Record):
    """An interned str that is looked for: any key that is equal to it is the same one, mostly."""

    text: Ref
    hash: Ref
    unknown: BlockRef

    def require_in(
        self, f: FunctionBuilder, entries: _Entries, entry: Ref, other: BlockRef
    ) -> None:
        """Go to `other` unless it is the key of an entry."""
        same, different = f.new_block("same"), f.new_block("different")
        f.condbr(f.icmp("eq", _field(f, "ptr", entry, entries.key), self.text), same, different)
        f.start(different)
        is_equal = f.icmp("eq", entries.hash_of(f, entry), self.hash)
        f.condbr(is_equal, self.unknown, other, unlikely=True)
        f.start(same)


def _is_equal(f: FunctionBuilder, x: Ref, y: Ref) -> Ref:
    if x.type == "ptr":
        return equal_texts(f, x, y)
    return f.icmp("eq", x, y) if x.type[0] == "i" else f.fcmp("oeq", x, y)


# -- hashes ----------------------------------------------------------------------------------------


def _number(value: int) -> Ref:
    return integer("i64", value)


def _hash(f: FunctionBuilder, value: Native, unknown: BlockRef) -> Ref:
    if isinstance(value.type, TupleType):
        return _hash_of_items(f, [_hash(f, item, unknown) for item in split(value)])
    if value.type == STR:
        return _hash_of_text(f, value.ref)
    kind = dtype_of(value.type).kind
    if kind == "f":
        return _hash_of_float(f, f.convert("fpext", value.ref, "double"), unknown)
    return _hash_of_int(f, f.convert("zext" if kind == "u" else "sext", value.ref, "i64"))


def _hash_of_int(f: FunctionBuilder, x: Ref) -> Ref:
    """The remainder of the magnitude, with the sign of the number."""
    is_negative = f.icmp("slt", x, _number(0))
    size = f.select(is_negative, f.binary("sub", _number(0), x), x)
    low = f.binary("and", size, _number(_MODULUS))
    rest = f.binary("add", low, f.binary("lshr", size, _number(_MODULUS_BITS)))
    less = f.binary("sub", rest, _number(_MODULUS))
    rest = f.select(f.icmp("slt", less, _number(0)), rest, less)
    hash_ = f.select(is_negative, f.binary("sub", _number(0), rest), rest)
    return _no_failure(f, hash_, _INSTEAD)


def _hash_of_float(f: FunctionBuilder, x: Ref, unknown: BlockRef) -> Ref:
    """The remainder of ``m * 2**e``: the 61 bits of `m`, turned around by `e`. That of NaN is its place in memory."""
    _leave_if(f, f.fcmp("uno", x, x), unknown)
    bits = f.emit("i64", f"bitcast double {x} to i64")
    exponent = f.binary("and", f.binary("lshr", bits, _number(_DIGITS)), _number(_ODD_EXPONENT))
    fraction = f.binary("and", bits, _number(2**_DIGITS - 1))
    is_subnormal = f.icmp("eq", exponent, _number(0))
    whole = f.select(is_subnormal, fraction, f.binary("or", fraction, _number(2**_DIGITS)))
    power = f.select(is_subnormal, _number(1), exponent)
    power = f.binary("add", power, _number(-_UNIT_EXPONENT % _MODULUS_BITS))
    left = f.binary("urem", power, _number(_MODULUS_BITS))
    high = f.binary("lshr", whole, f.binary("sub", _number(_MODULUS_BITS), left))
    low = f.binary("and", f.binary("shl", whole, left), _number(_MODULUS))
    is_infinite = f.icmp("eq", exponent, _number(_ODD_EXPONENT))
    hash_ = f.select(is_infinite, _number(_HASH_OF_INFINITY), f.binary("or", low, high))
    is_negative = f.icmp("slt", bits, _number(0))
    hash_ = f.select(is_negative, f.binary("sub", _number(0), hash_), hash_)
    return _no_failure(f, hash_, _INSTEAD)


def _hash_of_items(f: FunctionBuilder, hashes: list[Ref]) -> Ref:
    """A variant of xxHash, as `tuplehash` in CPython's tupleobject.c."""
    first, second, last = map(_number, _TUPLE_PRIMES)
    total = last
    f.module.declare("llvm.fshl.i64", "i64", ["i64", "i64", "i64"], "")
    for hash_ in hashes:
        total = f.binary("add", total, f.binary("mul", hash_, second))
        total = f.call("i64", "llvm.fshl.i64", (total, total, _number(_TUPLE_ROTATION)))
        total = f.binary("mul", total, first)
    length = _number(len(hashes) ^ (_TUPLE_PRIMES[2] ^ _TUPLE_LENGTH))
    return _no_failure(f, f.binary("add", total, length), _INSTEAD_OF_TUPLES)


def _hash_of_text(f: FunctionBuilder, text: Ref) -> Ref:
    """A str keeps its hash, once somebody has asked for it."""
    kept = _field(f, "i64", text, text_layout.TEXT_HASH)
    ask, done = f.new_block("ask"), f.new_block("hash")
    is_kept = f.condbr(f.icmp("eq", kept, _number(_HASH_OF_FAILURE)), ask, done)
    f.start(ask)
    asked = f.call_external("i64", "PyObject_Hash", (text,))
    is_asked = f.br(done)
    f.start(done)
    hash_ = f.phi("i64")
    hash_.add(kept, is_kept)
    hash_.add(asked, is_asked)
    return hash_


def _no_failure(f: FunctionBuilder, hash_: Ref, instead: int) -> Ref:
    is_failure = f.icmp("eq", hash_, _number(_HASH_OF_FAILURE))
    return f.select(is_failure, _number(instead), hash_)


def _leave_if(
    f: FunctionBuilder, condition: Ref, target: BlockRef, *, unlikely: bool = True
) -> None:
    following = f.new_block("next")
    f.condbr(condition, target, following, unlikely=unlikely)
    f.start(following)


# -- searches --------------------------------------------------------------------------------------


def _field(f: FunctionBuilder, type_: str, pointer: Ref, offset: int) -> Ref:
    return f.load(type_, f.gep("i8", pointer, _number(offset)))


class _Entries(Record):
    """How the entries of a dict lie."""

    size: int
    key: int
    value: int
    has_hash: bool  # else the keys have theirs

    def hash_of(self, f: FunctionBuilder, entry: Ref) -> Ref:
        if self.has_hash:
            return _field(f, "i64", entry, layout.ENTRY_HASH)
        return _field(f, "i64", _field(f, "ptr", entry, self.key), text_layout.TEXT_HASH)


_OF_ANY = _Entries(layout.ENTRY_SIZE, layout.ENTRY_KEY, layout.ENTRY_VALUE, has_hash=True)
_OF_TEXTS = _Entries(
    layout.TEXT_ENTRY_SIZE, layout.TEXT_ENTRY_KEY, layout.TEXT_ENTRY_VALUE, has_hash=False
)


def _search_dict(f: FunctionBuilder, table: Ref, wanted: _Wanted) -> None:
    """Look among keys of any class, or among strs alone."""
    keys = _field(f, "ptr", table, layout.DICT_KEYS)
    kind = _field(f, "i8", keys, layout.KEYS_KIND)
    missing, texts = f.new_block("missing"), f.new_block("texts")
    _leave_if(f, f.icmp("ne", kind, layout.ANY_KEYS), texts, unlikely=False)
    _search_entries(f, keys, _OF_ANY, wanted, missing)
    f.start(texts)
    if wanted.value.type == STR:
        _leave_if(f, f.icmp("ne", kind, layout.TEXT_KEYS), wanted.unknown)
        _search_entries(f, keys, _OF_TEXTS, wanted, missing)
    else:
        f.br(missing)
    f.start(missing)
    f.ret(NULL)


def _search_entries(
    f: FunctionBuilder, keys: Ref, entries: _Entries, wanted: _Wanted | _Name, missing: BlockRef
) -> None:
    log_size = f.convert("zext", _field(f, "i8", keys, layout.KEYS_LOG_SIZE), "i64")
    log_bytes = f.convert("zext", _field(f, "i8", keys, layout.KEYS_LOG_BYTES), "i64")
    one = _number(1)
    mask = f.binary("sub", f.binary("shl", one, log_size), one)
    indices = f.gep("i8", keys, _number(layout.KEYS_INDICES))
    first = f.gep("i8", indices, f.binary("shl", one, log_bytes))
    log_width = f.binary("sub", log_bytes, log_size)
    probe, following = f.new_block("probe"), f.new_block("following")
    place, perturb = _first_place(f, wanted.hash, mask, probe)
    index = _index(f, indices, place, log_width)
    used, gone = f.new_block("used"), f.new_block("gone")
    f.condbr(f.icmp("slt", index, _number(0)), gone, used)
    f.start(gone)
    f.condbr(f.icmp("eq", index, _number(-1)), missing, following)
    f.start(used)
    entry = f.gep("i8", first, f.binary("mul", index, _number(entries.size)))
    wanted.require_in(f, entries, entry, following)
    f.ret(f.gep("i8", entry, _number(entries.value)))
    f.start(following)
    _go_on(f, place, perturb, mask, probe)


def _index(f: FunctionBuilder, indices: Ref, place: Ref, log_width: Ref) -> Ref:
    """A number of one to eight bytes."""
    done = f.new_block("index")
    blocks = [f.new_block("width") for _ in range(4)]
    f.switch(log_width, blocks[0], list(enumerate(blocks))[1:])
    edges = []
    for block, type_ in zip(blocks, ("i8", "i16", "i32", "i64"), strict=True):
        f.start(block)
        loaded = f.load(type_, f.gep(type_, indices, place))
        edges.append((f.convert("sext", loaded, "i64"), f.br(done)))
    f.start(done)
    index = f.phi("i64")
    for loaded, left in edges:
        index.add(loaded, left)
    return index


def _first_place(f: FunctionBuilder, hash_: Ref, mask: Ref, probe: BlockRef) -> tuple[Phi, Phi]:
    """Begin the block `probe`, which looks at a place; gives that, and what is left of the hash to find others."""
    first, before = f.binary("and", hash_, mask), f.block
    f.br(probe)
    f.start(probe)
    place, perturb = f.phi("i64"), f.phi("i64")
    place.add(first, before)
    perturb.add(hash_, before)
    return place, perturb


def _go_on(f: FunctionBuilder, place: Phi, perturb: Phi, mask: Ref, probe: BlockRef) -> None:
    """Look at the next place."""
    less = f.binary("lshr", perturb, _number(layout.PERTURB_SHIFT))
    further = f.binary("add", f.binary("mul", place, _number(5)), f.binary("add", less, _number(1)))
    following = f.binary("and", further, mask)
    left = f.br(probe)
    place.add(following, left)
    perturb.add(less, left)


def _search_set(f: FunctionBuilder, table: Ref, wanted: _Wanted) -> None:
    mask = _field(f, "i64", table, layout.SET_MASK)
    places = _field(f, "ptr", table, layout.SET_PLACES)
    missing, following, far = f.new_block("missing"), f.new_block("following"), f.new_block("far")
    probe, look = f.new_block("probe"), f.new_block("look")
    place, perturb = _first_place(f, wanted.hash, mask, probe)
    behind = f.binary("add", place, _number(layout.LINEAR_PROBES))
    last = f.select(f.icmp("ule", behind, mask), behind, place)
    entered = f.br(look)
    f.start(look)
    at = f.phi("i64")
    at.add(place, entered)
    entry = f.gep("i8", places, f.binary("mul", at, _number(layout.PLACE_SIZE)))
    key = _field(f, "ptr", entry, layout.PLACE_KEY)
    _leave_if(f, f.icmp("eq", key, NULL), missing, unlikely=False)
    found_hash = _field(f, "i64", entry, layout.PLACE_HASH)
    _leave_if(f, f.icmp("ne", found_hash, wanted.hash), following, unlikely=False)
    wanted.require_equal(f, key, following)
    f.ret(entry)
    f.start(following)
    further = f.binary("add", at, _number(1))
    at.add(further, f.condbr(f.icmp("eq", at, last), far, look))
    f.start(far)
    _go_on(f, place, perturb, mask, probe)
    f.start(missing)
    f.ret(NULL)
