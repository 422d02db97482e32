"""A lean writer of LLVM IR text: ModuleBuilder, FunctionBuilder, and typed values (`Ref`).

Types are LLVM's own spelling (``"i64"``, ``"double"``, ``"ptr"``), not ljit's. A Python int as second operand is a
constant of the first one's type. The builder folds trivial integer arithmetic and branches on constants, drops code
behind a terminator and blocks that nothing branches to, and computes nothing again: emitters need not care.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ljit.codegen.llvm.basic_blocks import BlockRef, Phi, part
from ljit.codegen.llvm.instructions import NAME
from ljit.codegen.llvm.known import KnownConditions, KnownNumbers
from ljit.codegen.llvm.partition import QUICK, is_apart
from ljit.codegen.llvm.refs import (
    FALSE,
    NULL,
    TRUE,
    Ref,
    address,
    byte_array,
    compare_constants,
    compare_floats,
    float_constant,
    float_value,
    fold,
    fold_conversion,
    integer,
    operand,
    undef,
)

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

_DIVISIONS = ("sdiv", "udiv", "srem", "urem")
UNLIKELY = '!{!"branch_weights", i32 1, i32 100000}'
_LIKELY = '!{!"branch_weights", i32 100000, i32 1}'


class ModuleBuilder:
    """Collects declarations, globals, constants, metadata and function bodies of one module."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.declared: dict[str, str] = {}  # name -> full declaration line
        self.functions: list[FunctionBuilder] = []
        self.sources: dict[str, str] = {}  # helper functions given as text, by name
        self.scalar_sources = set[str]()  # those without loops to make vectors of
        self.plain_sources = set[str]()  # those without branches to unswitch (`steady_branches.py`)
        self.is_quick = False  # nothing of it goes through LLVM's optimiser
        self.is_scalar = False  # once it is rendered: no loop that is worth optimising has vectors
        self._globals: list[str] = []
        self._kept: dict[str, None] = {}
        self._strings: dict[bytes, Ref] = {}
        self.nests: dict[str, str] = {}  # functions of `nest_functions`: names by text
        self.keeps_nests = False  # where they stand: there are no such functions
        self._metadata: dict[str, str] = {}
        self._symbols: dict[tuple[object, ...], str] = {}

    def symbol(self, kind: str, *about: object) -> str:
        """The name of the function of a kind that is about these; numbered: addresses differ from run to run."""
        return self._symbols.setdefault((kind, *about), f"{kind}.{len(self._symbols)}")

    def declare(
        self, name: str, result: str, params: Sequence[str], attributes: str = "nounwind"
    ) -> str:
        """Declare an external function (once) and give its name for `FunctionBuilder.call`."""
        if name not in self.declared:
            self.declared[name] = f"declare {result} @{name}({', '.join(params)}) {attributes}"
        return name

    def keep(self, name: str) -> None:
        """Have LLVM's optimiser keep a declaration that nothing uses yet."""
        self._kept[name] = None

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
            found = self.constant_data(f"[{len(data) + 1} x i8]", byte_array(data + b"\0"))
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

    def metadata_nodes(self) -> dict[str, str]:
        """The text of each node by its number."""
        return {number: node for node, number in self._metadata.items()}

    def _is_scalar(self) -> bool:
        functions = [f for f in self.functions if QUICK not in f.attributes]
        others = (text for x, text in self.sources.items() if x not in self.scalar_sources)
        called = sum(f.linkage == "internal" for f in functions) + len(self.scalar_sources)
        stays = called <= 1 and not self._kept and all(map(is_apart, others))
        return stays and all(f.is_scalar for f in functions)

    def render(self) -> str:
        """Give the module as text."""
        functions = [function.render() for function in self.functions]  # may add metadata
        self.is_scalar = self._is_scalar()
        parts = [f'source_filename = "{self.name}"'.replace("\\", "/"), *self._globals]
        if self._kept:
            kept = ", ".join(f"ptr @{name}" for name in self._kept)
            type_ = f"[{len(self._kept)} x ptr]"
            parts.append(
                f'@llvm.compiler.used = appending global {type_} [{kept}], section "llvm.metadata"'
            )
        parts += [*self.declared.values(), *self.sources.values(), *functions]
        parts += [f"{number} = {node}" for node, number in self._metadata.items()]
        part(block for f in self.functions for block in (f.entry, *f.blocks))
        self.functions.clear()  # they know the module: nothing else would part them
        return "\n".join(parts) + "\n"


class FunctionBuilder:
    """Writes one function. `block` is the current block, None where code cannot be reached."""

    def __init__(
        self, module: ModuleBuilder, name: str, result: str, params: Sequence[str], linkage: str
    ) -> None:
        self.module, self.name = module, name
        self.result, self.linkage = result, linkage
        self.attributes = "nounwind"
        self.float_flags = ""
        self.has_vectors = False  # LLVM is to make vectors of what is written
        self._varying: set[str] | None = None  # what differs between the trips of an inner loop
        self._counter = 0
        self.params = tuple(Ref(type_, f"%a{i}") for i, type_ in enumerate(params))
        self._allocas: list[str] = []
        self.buffers: list[Ref] = []  # stack memory that loop nests share
        self.divisions: list[BlockRef] = []  # where integers are divided by what is no constant
        self._order, self._cold = list[BlockRef](), list[BlockRef]()
        self._computed: dict[str, tuple[Ref, BlockRef]] = {}  # by the text of the instruction
        self.known = KnownConditions()
        self.numbers = KnownNumbers()
        self.places: dict[str, tuple[Ref, Ref]] = {}  # addresses: some other, so many bytes on
        self._types = {p.text: p.type for p in self.params}
        self.entry = BlockRef.entry()
        self._body = self.new_block("body")
        self._body.predecessors.append(self.entry)
        self.block: BlockRef | None = None
        self.start(self._body)

    # -- blocks ------------------------------------------------------------------------------------

    def new_block(self, hint: str = "b") -> BlockRef:
        """Make a block; it gets its place in the text when it is started."""
        self._counter += 1
        return BlockRef(f"{hint}.{self._counter}")

    def start(self, block: BlockRef, *, reachable: bool = False, cold: bool = False) -> bool:
        """Go on in `block`. All its forward predecessors must have been written.

        (But for those that come back from a side way that left from a block that dominates this one; if
        `reachable`, any may follow.) Cold blocks are put behind all others. False if nothing branches to the
        block: then all that is written up to the next `start` is dropped.
        """
        assert self.block is None, f"block {self.block.name} has no terminator"  # type: ignore[union-attr]
        if not (block.predecessors or reachable):
            return False
        block.settle(self._body if reachable else None)
        (self._cold if cold else self._order).append(block)
        self.block = block
        return True

    def mark(self) -> tuple[int, int]:
        """A position in the text, for `blocks_since`."""
        return len(self._order), len(self._cold)

    @property
    def blocks(self) -> list[BlockRef]:
        """All blocks that were started, in the order of the text."""
        return self._order + self._cold

    def blocks_since(self, mark: tuple[int, int]) -> list[BlockRef]:
        """All blocks that were started since."""
        return self._order[mark[0] :] + self._cold[mark[1] :]

    def take_out(self, mark: tuple[int, int], before: BlockRef) -> None:
        """Drop the blocks that were started since, and go on in the block in front of them.

        What was computed in them is computed again: they dominate nothing that follows.
        """
        part(self.blocks_since(mark))
        del self._order[mark[0] :], self._cold[mark[1] :]
        before.lines.pop()
        self.block = before

    def reopen(self, block: BlockRef, target: BlockRef) -> None:
        """Drop the branch to `target` at the end of a block, and go on there."""
        block.lines.pop()
        target.predecessors.remove(block)
        self.block = block

    @property
    def is_reachable(self) -> bool:
        return self.block is not None

    def phi(self, type_: str) -> Phi:
        """Add a phi to the current block."""
        self._counter += 1
        phi = Phi(type_, f"%v{self._counter}")
        self._types[phi.text] = type_
        self.numbers.choices.add(phi.text)
        if self._varying is not None:
            self._varying.add(phi.text)
        if self.block is not None:
            self.block.phis.append(phi)
        return phi

    def is_dominated_by(self, block: BlockRef) -> bool:
        """Whether nothing comes here but by way of a block."""
        return self.block is None or self.block.is_dominated_by(block)

    # -- instructions ------------------------------------------------------------------------------

    def emit(self, type_: str, text: str) -> Ref:
        """Append ``%v = text``, a value of LLVM type `type_`."""
        self._counter += 1
        name = f"%v{self._counter}"
        if self.block is not None:
            self.block.lines.append(f"{name} = {text}")
        if self._varying is not None:
            self._varying.add(name)
        self._types[name] = type_
        return Ref(type_, name)

    def type_of(self, name: str) -> str:
        """The LLVM type of a value of the function, by its name."""
        return self._types[name]

    def compute(self, type_: str, text: str) -> Ref:
        """Give the value of ``text``, which depends on its operands alone: one that is there already, or `emit`."""
        block = self.block
        if block is None:
            return self.emit(type_, text)
        found = self._computed.get(text)
        if found is not None and block.is_dominated_by(found[1]):
            return found[0]
        made = self.emit(type_, text)
        self._computed[text] = made, block
        if self._varying is not None and self._varying.isdisjoint(NAME.findall(text)):
            self._varying.remove(made.text)
        return made

    def effect(self, text: str) -> None:
        """Append an instruction without a result."""
        if self.block is not None:
            self.block.lines.append(text)

    def binary(self, opcode: str, x: Ref, y: Ref | int, flags: str = "") -> Ref:
        """``opcode flags type x, y``: integer arithmetic (`add`, `and` ...) or `fadd` ...."""
        y = operand(x.type, y)
        assert x.type == y.type, f"{opcode} {x.typed}, {y.typed}"
        if opcode[0] == "f":
            flags = self.float_flags
        else:
            folded = fold(opcode, x, y)
            if folded is not None:
                return folded
            if opcode in _DIVISIONS and y.constant is None and self.block is not None:
                self.divisions.append(self.block)
        result = self.compute(x.type, f"{opcode} {flags + ' ' if flags else ''}{x.typed}, {y}")
        if opcode == "mul":
            self.numbers.note_product(result, x, y)
        return result

    def add(self, x: Ref, y: Ref | int, flags: str = "nsw") -> Ref:
        """Add sizes and offsets, which never overflow; use `binary` for wrapping arithmetic."""
        return self.binary("add", x, y, flags)

    def mul(self, x: Ref, y: Ref | int, flags: str = "nsw") -> Ref:
        """Multiply sizes and strides, which never overflow."""
        y = operand(x.type, y)
        product = self.binary("mul", x, y, flags)
        if "nsw" in flags and self.numbers.are_nonnegative(x, y):
            self.numbers.note_nonnegative(product)
        return product

    @contextmanager
    def trips(self) -> Iterator[None]:
        """Write a loop of which it is known what is the same in all trips."""
        self._varying = set()
        yield
        self._varying = None

    def is_invariant(self, x: Ref) -> bool:
        """Whether a number is known to be the same in all trips of a loop of vectors that is being written."""
        return self.has_vectors and self._varying is not None and x.text not in self._varying

    def icmp(self, predicate: str, x: Ref, y: Ref | int) -> Ref:
        y = operand(x.type, y)
        assert x.type == y.type, f"icmp {x.typed}, {y.typed}"
        if x.constant is not None and y.constant is not None and x.type[0] == "i":
            return TRUE if compare_constants(predicate, x, y) else FALSE
        if x.text == y.text:
            return TRUE if predicate in ("eq", "sle", "sge", "ule", "uge") else FALSE
        return self.compute("i1", f"icmp {predicate} {x.typed}, {y}")

    def fcmp(self, predicate: str, x: Ref, y: Ref) -> Ref:
        a, b = float_value(x), float_value(y)
        if a is not None and b is not None:
            return TRUE if compare_floats(predicate, a, b) else FALSE
        flags = self.float_flags
        return self.compute("i1", f"fcmp {flags + ' ' if flags else ''}{predicate} {x.typed}, {y}")

    def bool_not(self, x: Ref) -> Ref:
        return self.known.opposite(x) or self.known.negation(x, self.binary("xor", x, TRUE))

    def select(self, condition: Ref, x: Ref, y: Ref | int, *, suffix: str = "") -> Ref:
        y = operand(x.type, y)
        if condition.constant is not None:
            return x if condition.constant else y
        if x.text == y.text:
            return x
        chosen = self.compute(x.type, f"select i1 {condition}, {x.typed}, {y.typed}{suffix}")
        self.numbers.note_choice(chosen, x, y)
        return chosen

    def convert(self, opcode: str, x: Ref, type_: str) -> Ref:
        """``sext``, ``trunc``, ``sitofp``, ``ptrtoint`` ...."""
        if x.type == type_:
            return x
        folded = fold_conversion(opcode, x, type_)
        if folded is not None:
            return folded
        return self.compute(type_, f"{opcode} {x.typed} to {type_}")

    def load(self, type_: str, pointer: Ref, align: int = 0, suffix: str = "") -> Ref:
        aligned = f", align {align}" if align else ""
        return self.emit(type_, f"load {type_}, ptr {pointer}{aligned}{suffix}")

    def store(self, value: Ref, pointer: Ref, align: int = 0, suffix: str = "") -> None:
        aligned = f", align {align}" if align else ""
        self.effect(f"store {value.typed}, ptr {pointer}{aligned}{suffix}")

    def gep(self, element: str, pointer: Ref, index: Ref | int, flags: str = "inbounds") -> Ref:
        """Address of element `index`; with element ``i8`` the index is a byte offset."""
        index = operand("i64", index)
        if index.constant == 0:
            return pointer
        made = self.compute("ptr", f"getelementptr {flags} {element}, ptr {pointer}, {index.typed}")
        if element == "i8" and index.constant is not None:
            self.places[made.text] = pointer, index
        return made

    def alloca(self, type_: str, count: int = 1, *, zero: bool = False, align: int = 8) -> Ref:
        """A stack slot in the entry block; `zero` stores null in it (pointers only)."""
        self._counter += 1
        ref = Ref("ptr", f"%s{self._counter}")
        self._types[ref.text] = "ptr"
        size = f", i32 {count}" if count != 1 else ""
        self._allocas.append(f"{ref} = alloca {type_}{size}, align {align}")
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

    def br(self, target: BlockRef, suffix: str = "") -> BlockRef | None:
        """Branch; gives the block left (for `Phi.add`), None if it cannot be reached."""
        left = self._terminate(f"br label %{target.name}{suffix}")
        if left is not None:
            target.add_edge(left)
        return left

    def condbr(
        self,
        condition: Ref,
        then: BlockRef,
        otherwise: BlockRef,
        *,
        unlikely: bool = False,
        likely: bool = False,
        suffix: str = "",
    ) -> BlockRef | None:
        """Branch on an i1; `unlikely`: `then` is the cold side; `likely`: the other is; `suffix` is metadata."""
        if condition.constant is not None:
            return self.br(then if condition.constant else otherwise)
        if self.block is None:
            return None
        weights = ""
        if unlikely or likely:
            weights = f", !prof {self.module.metadata(UNLIKELY if unlikely else _LIKELY)}"
        then.add_edge(self.block)
        otherwise.add_edge(self.block)
        return self._terminate(
            f"br i1 {condition}, label %{then.name}, label %{otherwise.name}{weights}{suffix}"
        )

    def switch(
        self, value: Ref, default: BlockRef, cases: Sequence[tuple[int, BlockRef]]
    ) -> BlockRef | None:
        if self.block is None:
            return None
        for target in (default, *(block for _, block in cases)):
            target.add_edge(self.block)
        arms = " ".join(f"{value.type} {number}, label %{b.name}" for number, b in cases)
        return self._terminate(f"switch {value.typed}, label %{default.name} [ {arms} ]")

    def ret(self, value: Ref | None = None) -> None:
        self._terminate(f"ret {value.typed}" if value is not None else "ret void")

    def unreachable(self) -> None:
        self._terminate("unreachable")

    # -- text --------------------------------------------------------------------------------------

    @property
    def is_scalar(self) -> bool:
        """Whether LLVM finds no loop in the function to make vectors of."""
        return not any(block.is_loop and block.has_vectors for block in self.blocks)

    def render(self) -> str:
        """Give the function as text."""
        assert self.block is None, "the last block has no terminator"
        params = ", ".join(p.typed for p in self.params)
        lines = [f"define {self.linkage} {self.result} @{self.name}({params}) {self.attributes} {{"]
        lines.append("entry:")
        lines += self._allocas
        lines += self.entry.lines
        lines.append(f"br label %{self._body.name}")
        for block in self.blocks:
            lines += block.text()
        lines.append("}")
        return "\n".join(lines)
