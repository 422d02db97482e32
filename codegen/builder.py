"""A lean writer of LLVM IR text: ModuleBuilder, FunctionBuilder, and typed values (`Ref`).

Types are LLVM's own spelling (``"i64"``, ``"double"``, ``"ptr"``). The builder folds trivial integer
arithmetic and branches on constants, drops code behind a terminator and blocks that nothing branches
to; so emitters need not care whether what they write can be reached. It knows nothing of ljit's types.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

__all__ = [
    "FALSE",
    "NULL",
    "TRUE",
    "BlockRef",
    "FunctionBuilder",
    "ModuleBuilder",
    "Phi",
    "Ref",
    "address",
    "float_constant",
    "integer",
    "undef",
]

UNLIKELY = '!{!"branch_weights", i32 1, i32 100000}'


class Ref:
    """A typed LLVM value: `constant` is its number when it is an integer constant."""

    __slots__ = ("constant", "text", "type")

    def __init__(self, type_: str, text: str, constant: int | None = None) -> None:
        self.type = type_
        self.text = text
        self.constant = constant

    @property
    def typed(self) -> str:
        """``i64 %v3``, as operands of calls and rets are written."""
        return f"{self.type} {self.text}"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Ref {self.typed}>"


def _bits(type_: str) -> int:
    return int(type_[1:])


def integer(type_: str, value: int) -> Ref:
    """An integer constant, wrapped to the signed range of its type."""
    bits = _bits(type_)
    value &= (1 << bits) - 1
    if bits == 1:
        return TRUE if value else FALSE
    if value >> (bits - 1):
        value -= 1 << bits
    return Ref(type_, str(value), value)


def float_constant(type_: str, value: float) -> Ref:
    """A constant of type half, float or double with exactly the bits of `value`."""
    if type_ == "half":
        return Ref(type_, f"0xH{np.float16(value).view(np.uint16):04X}")
    if type_ == "float":
        value = float(np.float32(value))
    return Ref(type_, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")


def address(value: int) -> Ref:
    """A pointer constant."""
    return Ref("ptr", f"inttoptr (i64 {value} to ptr)") if value else NULL


def undef(type_: str) -> Ref:
    """Any value of the type: for results that nobody looks at."""
    if type_ == "ptr":
        return NULL
    return integer(type_, 0) if type_[0] == "i" else float_constant(type_, 0.0)


TRUE = Ref("i1", "true", 1)
FALSE = Ref("i1", "false", 0)
NULL = Ref("ptr", "null", 0)


class Phi(Ref):
    """A phi whose incoming edges are added while the predecessors are written."""

    __slots__ = ("incoming",)

    def __init__(self, type_: str, text: str) -> None:
        super().__init__(type_, text)
        self.incoming: list[tuple[Ref, BlockRef]] = []

    def add(self, value: Ref, block: BlockRef | None) -> None:
        """Add an edge; `block` is None (nothing is added) when the edge cannot be reached."""
        if block is not None:
            assert value.type == self.type, f"{value.typed} into {self.typed}"
            self.incoming.append((value, block))

    def render(self) -> str:
        edges = ", ".join(f"[ {value}, %{block.name} ]" for value, block in self.incoming)
        return f"{self.text} = phi {self.type} {edges}"


class BlockRef:
    """A basic block: a label, and its lines once it was started."""

    __slots__ = ("has_predecessor", "lines", "name", "phis")

    def __init__(self, name: str) -> None:
        self.name = name
        self.has_predecessor = False
        self.phis: list[Phi] = []
        self.lines: list[str] = []


class ModuleBuilder:
    """Collects declarations, globals, constants, metadata and function bodies of one module."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.declared: dict[str, str] = {}  # name -> full declaration line
        self.functions: list[FunctionBuilder] = []
        self.sources: dict[str, str] = {}  # helper functions given as text, by name
        self._globals: list[str] = []
        self._strings: dict[bytes, Ref] = {}
        self._metadata: dict[str, str] = {}

    def declare(
        self, name: str, result: str, params: Sequence[str], attributes: str = "nounwind"
    ) -> str:
        """Declare an external function (once) and give its name for `FunctionBuilder.call`."""
        if name not in self.declared:
            self.declared[name] = f"declare {result} @{name}({', '.join(params)}) {attributes}"
        return name

    def define(self, name: str, source: str) -> str:
        """Add a helper function written as IR text, once."""
        self.sources.setdefault(name, source)
        return name

    def function(
        self, name: str, result: str, params: Sequence[str], linkage: str = ""
    ) -> FunctionBuilder:
        """Begin a function; its body is written through the builder that is returned."""
        builder = FunctionBuilder(self, name, result, params, linkage)
        self.functions.append(builder)
        return builder

    def global_variable(self, name: str, type_: str, initial: str) -> Ref:
        """Add a mutable global that Python can find by name."""
        self._globals.append(f"@{name} = global {type_} {initial}")
        return Ref("ptr", f"@{name}")

    def constant_data(self, type_: str, initial: str) -> Ref:
        """Add a private constant (a table)."""
        name = f"data.{len(self._globals)}"
        self._globals.append(f"@{name} = private unnamed_addr constant {type_} {initial}")
        return Ref("ptr", f"@{name}")

    def string(self, text: str | bytes) -> Ref:
        """A NUL-terminated constant string."""
        data = text.encode() if isinstance(text, str) else text
        found = self._strings.get(data)
        if found is None:
            body = "".join(
                chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data
            )
            found = self.constant_data(f"[{len(data) + 1} x i8]", f'c"{body}\\00"')
            self._strings[data] = found
        return found

    def metadata(self, node: str) -> str:
        """Give the number (``!3``) of a metadata node such as ``!{i64 0, i64 8}``."""
        return self._metadata.setdefault(node, f"!{len(self._metadata)}")

    def distinct_metadata(self, template: str) -> str:
        """Give the number of a fresh node; ``{self}`` in the template stands for it."""
        number = f"!{len(self._metadata)}"
        self._metadata[f"distinct {template.replace('{self}', number)} ; {number}"] = number
        return number

    def render(self) -> str:
        """Give the module as text."""
        functions = [function.render() for function in self.functions]  # may add metadata
        parts = [f'source_filename = "{self.name}"'.replace("\\", "/"), *self._globals]
        parts += self.declared.values()
        parts += self.sources.values()
        parts += functions
        parts += [f"{number} = {node}" for node, number in self._metadata.items()]
        return "\n".join(parts) + "\n"


class FunctionBuilder:
    """Writes one function. `block` is the current block, None where code cannot be reached."""

    def __init__(
        self, module: ModuleBuilder, name: str, result: str, params: Sequence[str], linkage: str
    ) -> None:
        self.module = module
        self.name = name
        self.result = result
        self.linkage = linkage
        self.attributes = "nounwind"
        self.float_flags = ""
        self._counter = 0
        self.params = tuple(Ref(type_, f"%a{i}") for i, type_ in enumerate(params))
        self._allocas: list[str] = []
        self._order: list[BlockRef] = []
        self._cold: list[BlockRef] = []
        self.entry = BlockRef("entry")
        self.entry.has_predecessor = True
        self._body = self.new_block("body")
        self.block: BlockRef | None = None
        self.start(self._body, reachable=True)

    # -- blocks ------------------------------------------------------------------------------------

    def new_block(self, hint: str = "b") -> BlockRef:
        """Make a block; it gets its place in the text when it is started."""
        self._counter += 1
        return BlockRef(f"{hint}.{self._counter}")

    def start(self, block: BlockRef, *, reachable: bool = False, cold: bool = False) -> bool:
        """Go on in `block`. All its forward predecessors must have been written.

        Cold blocks are put behind all others. False if nothing branches to the block: then all
        that is written up to the next `start` is dropped.
        """
        assert self.block is None, f"block {self.block.name} has no terminator"  # type: ignore[union-attr]
        if not (block.has_predecessor or reachable):
            return False
        (self._cold if cold else self._order).append(block)
        self.block = block
        return True

    def mark(self) -> tuple[int, int]:
        """A position in the text, for `blocks_since`."""
        return len(self._order), len(self._cold)

    def blocks_since(self, mark: tuple[int, int]) -> list[BlockRef]:
        """All blocks that were started since."""
        return self._order[mark[0] :] + self._cold[mark[1] :]

    @property
    def is_reachable(self) -> bool:
        return self.block is not None

    def phi(self, type_: str) -> Phi:
        """Add a phi to the current block."""
        self._counter += 1
        phi = Phi(type_, f"%v{self._counter}")
        if self.block is not None:
            self.block.phis.append(phi)
        return phi

    # -- instructions ------------------------------------------------------------------------------

    def emit(self, type_: str, text: str) -> Ref:
        """Append ``%v = text``, a value of LLVM type `type_`."""
        self._counter += 1
        name = f"%v{self._counter}"
        if self.block is not None:
            self.block.lines.append(f"{name} = {text}")
        return Ref(type_, name)

    def effect(self, text: str) -> None:
        """Append an instruction without a result."""
        if self.block is not None:
            self.block.lines.append(text)

    def binary(self, opcode: str, x: Ref, y: Ref, flags: str = "") -> Ref:
        """``opcode flags type x, y``: integer arithmetic (`add`, `and` ...) or `fadd` ...."""
        assert x.type == y.type, f"{opcode} {x.typed}, {y.typed}"
        if opcode[0] == "f":
            flags = self.float_flags
        else:
            folded = _fold(opcode, x, y)
            if folded is not None:
                return folded
        return self.emit(x.type, f"{opcode} {flags + ' ' if flags else ''}{x.typed}, {y}")

    def add(self, x: Ref, y: Ref, flags: str = "nsw") -> Ref:
        """Add sizes and offsets, which never overflow; use `binary` for wrapping arithmetic."""
        return self.binary("add", x, y, flags)

    def mul(self, x: Ref, y: Ref, flags: str = "nsw") -> Ref:
        """Multiply sizes and strides, which never overflow."""
        return self.binary("mul", x, y, flags)

    def icmp(self, predicate: str, x: Ref, y: Ref) -> Ref:
        assert x.type == y.type, f"icmp {x.typed}, {y.typed}"
        if x.constant is not None and y.constant is not None and x.type[0] == "i":
            return TRUE if _compare(predicate, x, y) else FALSE
        if x.text == y.text:
            return TRUE if predicate in ("eq", "sle", "sge", "ule", "uge") else FALSE
        return self.emit("i1", f"icmp {predicate} {x.typed}, {y}")

    def fcmp(self, predicate: str, x: Ref, y: Ref) -> Ref:
        flags = self.float_flags
        return self.emit("i1", f"fcmp {flags + ' ' if flags else ''}{predicate} {x.typed}, {y}")

    def bool_not(self, x: Ref) -> Ref:
        return self.binary("xor", x, TRUE)

    def select(self, condition: Ref, x: Ref, y: Ref) -> Ref:
        if condition.constant is not None:
            return x if condition.constant else y
        if x.text == y.text:
            return x
        return self.emit(x.type, f"select i1 {condition}, {x.typed}, {y.typed}")

    def convert(self, opcode: str, x: Ref, type_: str) -> Ref:
        """``sext``, ``trunc``, ``sitofp``, ``ptrtoint`` ...."""
        if x.type == type_:
            return x
        if x.constant is not None and opcode in ("sext", "trunc", "zext"):
            value = x.constant
            if opcode == "zext":
                value &= (1 << _bits(x.type)) - 1
            return integer(type_, value)
        return self.emit(type_, f"{opcode} {x.typed} to {type_}")

    def load(self, type_: str, pointer: Ref, align: int = 0, suffix: str = "") -> Ref:
        aligned = f", align {align}" if align else ""
        return self.emit(type_, f"load {type_}, ptr {pointer}{aligned}{suffix}")

    def store(self, value: Ref, pointer: Ref, align: int = 0, suffix: str = "") -> None:
        aligned = f", align {align}" if align else ""
        self.effect(f"store {value.typed}, ptr {pointer}{aligned}{suffix}")

    def gep(self, element: str, pointer: Ref, index: Ref, flags: str = "inbounds") -> Ref:
        """Address of element `index`; with element ``i8`` the index is a byte offset."""
        if index.constant == 0:
            return pointer
        return self.emit("ptr", f"getelementptr {flags} {element}, ptr {pointer}, {index.typed}")

    def alloca(self, type_: str, count: int = 1, *, zero: bool = False) -> Ref:
        """A stack slot in the entry block; `zero` stores null in it (pointers only)."""
        self._counter += 1
        ref = Ref("ptr", f"%s{self._counter}")
        size = f", i32 {count}" if count != 1 else ""
        self._allocas.append(f"{ref} = alloca {type_}{size}, align 8")
        if zero:
            self.entry.lines.append(f"store {type_} null, ptr {ref}")
        return ref

    def call(self, result: str, name: str, args: Sequence[Ref], attributes: str = "") -> Ref:
        """Call a declared (or defined) function by name; `name` may be a pointer's text (``%v3``)."""
        callee = name if name.startswith(("%", "inttoptr ")) else f"@{name}"
        text = f"call {result} {callee}({', '.join(a.typed for a in args)}) {attributes}".rstrip()
        if result == "void":
            self.effect(text)
            return FALSE
        return self.emit(result, text)

    def call_external(
        self, result: str, name: str, args: Sequence[Ref], attributes: str = "nounwind"
    ) -> Ref:
        """Declare from the operand types and call."""
        self.module.declare(name, result, [a.type for a in args], attributes)
        return self.call(result, name, args)

    def extract(self, type_: str, aggregate: Ref, index: int) -> Ref:
        return self.emit(type_, f"extractvalue {aggregate.typed}, {index}")

    # -- terminators -------------------------------------------------------------------------------

    def _terminate(self, text: str) -> BlockRef | None:
        block = self.block
        if block is not None:
            block.lines.append(text)
        self.block = None
        return block

    def br(self, target: BlockRef) -> BlockRef | None:
        """Branch; gives the block left (for `Phi.add`), None if it cannot be reached."""
        left = self._terminate(f"br label %{target.name}")
        if left is not None:
            target.has_predecessor = True
        return left

    def condbr(
        self,
        condition: Ref,
        then: BlockRef,
        otherwise: BlockRef,
        *,
        unlikely: bool = False,
        suffix: str = "",
    ) -> BlockRef | None:
        """Branch on an i1; `unlikely`: `then` is the cold side; `suffix` is metadata."""
        if condition.constant is not None:
            return self.br(then if condition.constant else otherwise)
        if self.block is None:
            return None
        weights = f", !prof {self.module.metadata(UNLIKELY)}" if unlikely else ""
        then.has_predecessor = otherwise.has_predecessor = True
        return self._terminate(
            f"br i1 {condition}, label %{then.name}, label %{otherwise.name}{weights}{suffix}"
        )

    def switch(
        self, value: Ref, default: BlockRef, cases: Sequence[tuple[int, BlockRef]]
    ) -> BlockRef | None:
        if self.block is None:
            return None
        for target in (default, *(block for _, block in cases)):
            target.has_predecessor = True
        arms = " ".join(f"{value.type} {number}, label %{b.name}" for number, b in cases)
        return self._terminate(f"switch {value.typed}, label %{default.name} [ {arms} ]")

    def ret(self, value: Ref | None = None) -> None:
        self._terminate(f"ret {value.typed}" if value is not None else "ret void")

    def unreachable(self) -> None:
        self._terminate("unreachable")

    # -- text --------------------------------------------------------------------------------------

    def render(self) -> str:
        """Give the function as text."""
        assert self.block is None, "the last block has no terminator"
        params = ", ".join(p.typed for p in self.params)
        lines = [f"define {self.linkage} {self.result} @{self.name}({params}) {self.attributes} {{"]
        lines.append("entry:")
        lines += self._allocas
        lines += self.entry.lines
        lines.append(f"br label %{self._body.name}")
        for block in self._order + self._cold:
            lines.append(f"{block.name}:")
            lines += [phi.render() for phi in block.phis]
            lines += block.lines
        lines.append("}")
        return "\n".join(lines)


_FOLDERS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "or": 0, "xor": 0}
_COMMUTATIVE = frozenset(("add", "mul", "or", "xor", "and"))


def _fold(opcode: str, x: Ref, y: Ref) -> Ref | None:
    """Fold integer arithmetic on constants and with neutral elements."""
    folder = _FOLDERS.get(opcode)
    if folder is None:
        return None
    if x.constant is not None and y.constant is not None:
        return integer(x.type, folder(x.constant, y.constant))
    if x.constant is not None and opcode in _COMMUTATIVE:
        x, y = y, x
    if y.constant is None:
        return None
    if y.constant == _NEUTRAL.get(opcode):
        return x
    if opcode == "and" and x.type == "i1":
        return x if y.constant else FALSE
    if opcode == "or" and x.type == "i1":
        return TRUE  # y is not the neutral 0
    return y if opcode == "mul" and y.constant == 0 else None


_COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _compare(predicate: str, x: Ref, y: Ref) -> bool:
    a, b = x.constant, y.constant
    assert a is not None and b is not None
    if predicate[0] == "u":
        mask = (1 << _bits(x.type)) - 1
        a, b = a & mask, b & mask
    return bool(_COMPARISONS[predicate[-2:]](a, b))
