"""Vectors in quick code: trips of a nest's inner loop, done side by side.

LLVM's vectoriser comes with all that an optimiser looks for in front of it. But a trip over elements that lie side by
side is straight-line code, and depends on no other trip; so each of its lines is written once more for vectors, of
which instruction selection alone makes good code. A line that has none (a branch, a function of the C library, an
element with gaps around it) leaves its loop as it is. Optimised code has LLVM's vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.llvm.basic_blocks import BlockRef, Phi
from ljit.codegen.llvm.builder import FunctionBuilder, Ref, float_constant, integer
from ljit.codegen.llvm.engine import vector_bytes
from ljit.codegen.llvm.instructions import (
    Call,
    Instruction,
    Load,
    Operation,
    Place,
    Store,
    intrinsic_of,
    number_types,
    operand_names,
    read,
    with_operands,
)
from ljit.codegen.llvm.shared_code import ELEMENTARY
from ljit.records import Record

__all__ = ["Lanes", "Trip", "lanes_of"]

_CONVERSIONS = frozenset("sext zext trunc fpext fptrunc sitofp uitofp fptosi bitcast".split())
_OPCODES = _CONVERSIONS.union(
    "fadd fsub fmul fdiv fneg fcmp icmp select freeze add sub mul and or xor shl lshr ashr "
    "sdiv udiv srem urem".split()
)
_INTRINSICS = frozenset(
    "fabs sqrt floor ceil trunc rint nearbyint roundeven copysign minnum maxnum minimum maximum "
    "fma abs smin smax umin umax".split()
)


class _Combination(Record):
    """What may be done in any order: what LLVM calls it for the lanes of a vector, and what changes nothing.

    No `neutral` value: whatever there was before may be taken many times.
    """

    name: str
    neutral: float | None = None
    takes_start: bool = False


_COMBINATIONS = {
    "fadd": _Combination("fadd", -0.0, takes_start=True),
    "fmul": _Combination("fmul", 1.0, takes_start=True),
    "add": _Combination("add", 0),
    "mul": _Combination("mul", 1),
    "xor": _Combination("xor", 0),
    "minimum": _Combination("fminimum"),
    "maximum": _Combination("fmaximum"),
    "minnum": _Combination("fmin"),
    "maxnum": _Combination("fmax"),
    **{name: _Combination(name) for name in ("and", "or", "smin", "smax", "umin", "umax")},
}


class Trip(Record):
    """A trip of a loop that was written: its number, what it is given and passes on, and its lines."""

    number: Phi
    carried: Sequence[Phi]
    passed: Sequence[Ref]
    lines: Sequence[str]


class _NoLanesError(Exception):
    """A line that has no vectors."""


def lanes_of(f: FunctionBuilder, trip: Trip) -> Lanes | None:
    """Write trips side by side, into blocks of their own; None if that cannot be done."""
    current = f.block
    try:
        return Lanes(f, trip)
    except _NoLanesError:
        return None
    finally:
        f.block = current


class Lanes:
    """A loop of vectors while it is written: what comes in front of it, and a trip for `count` elements."""

    def __init__(self, f: FunctionBuilder, trip: Trip) -> None:
        self.f = f
        self.trip = trip
        self.count = vector_bytes() // _widest(trip.lines)
        self._front, self._body = f.new_block("lanes"), f.new_block("vectors")
        self._vectors: dict[str, Ref] = {}  # by what they are of, with its type
        self._places: dict[str, tuple[Ref, int]] = {}  # of elements so many bytes apart
        instructions = list(map(_read, trip.lines))
        self._varying = {x.result for x in instructions if not isinstance(x, Store)}
        self._varying.update(phi.text for phi in (trip.number, *trip.carried))
        f.block = self._body
        self._number = f.phi("i64")
        self._combinations = [
            self._combination(*pair) for pair in zip(trip.carried, trip.passed, strict=True)
        ]
        self._carried = [f.phi(self._type(phi.type)) for phi in trip.carried]
        for phi, vector in zip(trip.carried, self._carried, strict=True):
            self._vectors[phi.typed] = vector
        for instruction in instructions:
            self._write(instruction)

    def emit(self, whole: Ref, start: Sequence[Ref]) -> list[Ref]:
        """Put the loop behind the branch to `front`; gives what it combines `whole` elements to."""
        f, number = self.f, self._number
        f.start(self.front)
        starts = map(self._start, self._combinations, start)
        edges = [(number, integer("i64", 0)), *zip(self._carried, starts, strict=True)]
        before = f.br(self._body)
        for phi, value in edges:
            phi.add(value, before)
        f.start(self._body)
        behind = f.new_block("combined")
        following = f.emit("i64", f"add nuw nsw {number.typed}, {self.count}")
        left = f.condbr(f.icmp("slt", following, whole), self._body, behind)
        number.add(following, left)
        for phi, passed in zip(self._carried, self.trip.passed, strict=True):
            phi.add(self._vectors[passed.typed], left)
        f.start(behind)
        return list(map(self._combine, self._combinations, self.trip.passed))

    @property
    def front(self) -> BlockRef:
        """The block in front of the loop."""
        return self._front

    # -- instructions ------------------------------------------------------------------------------

    def _write(self, instruction: Instruction) -> None:
        match instruction:
            case Place():
                self._note_place(instruction)
            case Load(result, type_, place, suffix):
                text = f"load {self._type(type_)}, ptr {self._place(place, type_)}{suffix}"
                self._define(result, type_, text)
            case Store(type_, value, place, suffix):
                vector = self._vector(type_, value)
                self.f.effect(f"store {vector.typed}, ptr {self._place(place, type_)}{suffix}")
            case Call():
                self._call(instruction)
            case Operation():
                self._operation(instruction)

    def _note_place(self, place: Place) -> None:
        """An element's place is that of the first one of a vector."""
        if place.index != self.trip.number.text or place.base in self._varying:
            raise _NoLanesError
        indexed = f"[{place.size} x i8], ptr {place.base}, {self._number.typed}"
        first = self.f.emit("ptr", f"getelementptr inbounds {indexed}")
        self._places[place.result] = first, place.size

    def _place(self, name: str, type_: str) -> Ref:
        place, size = self._places.get(name, (None, 0))
        if place is None or size != _bytes_of(type_):
            raise _NoLanesError
        return place

    def _operation(self, operation: Operation) -> None:
        opcode = operation.opcode
        if opcode not in _OPCODES:
            raise _NoLanesError
        types, text = self._widened(operation.operands)
        type_ = types[-1] if opcode in _CONVERSIONS else types[opcode == "select"]
        type_ = "i1" if opcode[1:] == "cmp" else type_
        self._define(operation.result, type_, f"{opcode} {text}")

    def _call(self, call: Call) -> None:
        operands, comma, immediate = call.operands.partition(", i1 ")
        types, text = self._widened(operands)
        module, vectors = self.f.module, list(map(self._type, types))
        intrinsic, type_ = intrinsic_of(call.callee), self._type(call.type)
        if intrinsic is not None and intrinsic[0] in _INTRINSICS:
            wide = f"llvm.{intrinsic[0]}.v{self.count}{intrinsic[1]}"
            module.declare(wide, type_, [*vectors, *(["i1"] if comma else [])], "")
        else:
            wide = f"{call.callee}.x{self.count}"
            if not call.callee.startswith(ELEMENTARY) or wide not in module.declared:
                raise _NoLanesError
        text = f"call {call.flags}{type_} @{wide}({text}{comma}{immediate})"
        self._define(call.result, call.type, text)

    def _widened(self, operands: str) -> tuple[list[str], str]:
        """The types of an instruction's operands, and these with vectors in their places."""
        types: list[str] = []

        def wide_type(type_: str) -> str:
            types.append(type_)
            return self._type(type_)

        text = with_operands(operands, wide_type, lambda *x: self._vector(*x).text)
        if text is None:
            raise _NoLanesError
        return types, text

    # -- vectors -----------------------------------------------------------------------------------

    def _type(self, type_: str) -> str:
        return f"<{self.count} x {type_}>"

    def _define(self, name: str, type_: str, text: str) -> None:
        self._vectors[f"{type_} {name}"] = self.f.emit(self._type(type_), text)

    def _vector(self, type_: str, text: str) -> Ref:
        """The vector of a value, all lanes of which are the same if it is no trip's own."""
        key = f"{type_} {text}"
        found = self._vectors.get(key)
        if found is None:
            if text in self._varying:  # the number of a trip, or an address
                raise _NoLanesError
            found = self._vectors[key] = self._splat(key, type_, is_constant=text[0] != "%")
        return found

    def _splat(self, typed: str, type_: str, *, is_constant: bool) -> Ref:
        vector = self._type(type_)
        if is_constant:
            return Ref(vector, f"splat ({typed})")
        f, body = self.f, self.f.block
        f.block = self._front
        first = f.emit(vector, f"insertelement {vector} poison, {typed}, i64 0")
        zeros = f"{self._type('i32')} zeroinitializer"
        found = f.emit(vector, f"shufflevector {first.typed}, {vector} poison, {zeros}")
        f.block = body
        return found

    # -- what trips are combined to ----------------------------------------------------------------

    def _combination(self, carried: Phi, passed: Ref) -> _Combination:
        """Find how a trip combines what it is given with its own; nothing else may look at that in between."""
        opcodes, name = set[str](), carried.text
        while name != passed.text:
            users = self._users(name)
            user = read(users[0]) if len(users) == 1 else None
            if not isinstance(user, Call | Operation):
                raise _NoLanesError
            opcodes.add(_combining(user))
            name = user.result
        if len(opcodes) != 1 or self._users(name):
            raise _NoLanesError
        return _COMBINATIONS[opcodes.pop()]

    def _users(self, name: str) -> list[str]:
        """The lines with a name, once for each operand."""
        return [x for x in self.trip.lines for operand in operand_names(x) if operand == name]

    def _start(self, how: _Combination, start: Ref) -> Ref:
        """The vector to begin with."""
        if how.neutral is None:
            return self._splat(start.typed, start.type, is_constant=start.text[0] != "%")
        neutral = self._splat(_neutral(how, start.type).typed, start.type, is_constant=True)
        text = f"insertelement {neutral.typed}, {start.typed}, i64 0"
        return self.f.emit(neutral.type, text)

    def _combine(self, how: _Combination, passed: Ref) -> Ref:
        """Combine the lanes of a vector."""
        f, vector, type_ = self.f, self._vectors[passed.typed], passed.type
        operands = [*([_neutral(how, type_)] if how.takes_start else []), vector]
        suffix = {"double": "f64", "float": "f32"}.get(type_, type_)
        name = f"llvm.vector.reduce.{how.name}.v{self.count}{suffix}"
        f.module.declare(name, type_, [x.type for x in operands], "")
        flags = "reassoc " if how.takes_start else ""
        return f.emit(type_, f"call {flags}{type_} @{name}({', '.join(x.typed for x in operands)})")


def _read(line: str) -> Instruction:
    found = read(line)
    if found is None:
        raise _NoLanesError
    return found


def _widest(lines: Sequence[str]) -> int:
    """How many bytes the widest number has, but for those in addresses."""
    return max((_bytes_of(type_) for line in lines for type_ in number_types(line)), default=1)


def _bytes_of(type_: str) -> int:
    return {"double": 8, "float": 4}.get(type_) or (int(type_[1:]) + 7) // 8


def _combining(instruction: Call | Operation) -> str:
    """What an instruction combines two values with, if that may be done in any order."""
    if isinstance(instruction, Call):
        opcode, _ = intrinsic_of(instruction.callee) or ("", "")
        flags = instruction.flags
    else:
        opcode, flags = instruction.opcode, instruction.operands
    if opcode not in _COMBINATIONS or (opcode[0] == "f" and "reassoc" not in flags):
        raise _NoLanesError
    return opcode


def _neutral(how: _Combination, type_: str) -> Ref:
    assert how.neutral is not None
    return (
        integer(type_, int(how.neutral)) if type_[0] == "i" else float_constant(type_, how.neutral)
    )
