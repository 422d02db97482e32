"""One compile unit: a specialised graph in, native code that can be called out."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import cast

from ljit.codegen.control import GraphEmitter
from ljit.codegen.emitter import Emitter
from ljit.codegen.entries.entry import NATIVE_ENTRY, NextCell, emit_entry, slow_entry
from ljit.codegen.functions.bodies import Body
from ljit.codegen.functions.choice import ChoiceCell
from ljit.codegen.functions.context import CompileOptions, Context, ExitInfo, SiteInfo
from ljit.codegen.functions.work import WorkCell
from ljit.codegen.listing import described, listing
from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder
from ljit.codegen.llvm.engine import (
    CompiledModule,
    CompileTimes,
    Passes,
    Symbols,
    compile_ir,
    names_of_code,
)
from ljit.codegen.llvm.forms import Native
from ljit.codegen.llvm.shared_code import ELEMENTARY
from ljit.codegen.llvm.steady_branches import may_have_steady_branches
from ljit.codegen.loops.nest_functions import has_equal_nests
from ljit.ir import Graph
from ljit.ops.control import LOOP, MAP

__all__ = ["NativeCode", "build_module", "compile_unit"]

ENTRY = "ljit_entry"
CHAOS_SITE = "chaos_site"


class NativeCode:
    """The machine code of one unit, with all that it refers to.

    `exits[i]` and `sites[j]` explain the numbers that the helper is called with. `choice`: who runs which calls, if it
    has a rival. Whoever can still run the code must hold the object.
    """

    def __init__(
        self,
        name: str,
        compiled: CompiledModule,
        context: Context,
        following: NextCell,
        emit_time: float,
    ) -> None:
        self.name = name
        self._compiled = compiled
        self._kept = context.kept
        self._work = context.work
        self.choice = context.choice
        self._notes = list(context.notes)
        self.exits: Sequence[ExitInfo] = context.exits
        self.sites: Sequence[SiteInfo] = context.sites
        self.emit_time = emit_time
        self._following = following
        self.options = context.options
        self._chaos = (
            ctypes.c_int32.from_address(compiled.symbol(CHAOS_SITE))
            if context.options.chaos
            else None
        )

    @property
    def address(self) -> int:
        """Address of the vectorcall entry."""
        return self._compiled.address

    @property
    def is_quick(self) -> bool:
        """Whether it was not optimised."""
        return self._work is not None

    @property
    def is_hot(self) -> bool:
        """Whether it was not optimised and has run so much that it should be."""
        return self._work is not None and self._work.is_used_up

    def go_on_quick(self, times: float) -> None:
        """Let quick code that has run as much as it should run so many times as much again."""
        if self._work is not None:
            self._work.go_on(times)

    def stay_quick(self) -> None:
        """Let quick code run on however much it has run; not if native code calls it, which asks nothing else."""
        if self._work is not None and not self.options.is_called:
            self._work.make_endless()

    @property
    def native_address(self) -> int:
        """Address of what native code of other units calls; 0 if there is no such function."""
        return self._compiled.symbol(NATIVE_ENTRY) if self.options.is_called else 0

    def set_next(self, address: int, count_of_passed: int | None = None) -> None:
        """Say which function gets the calls that this one does not take (`NextCell`)."""
        self._following.target = address
        if count_of_passed is not None:
            self._following.count_of_passed = count_of_passed

    @property
    def calls(self) -> int:
        """How many calls the entry has taken."""
        return self._following.calls

    @property
    def ir(self) -> str:
        """The LLVM IR as emitted."""
        return self._compiled.ir

    def optimized_ir(self) -> str:
        """The LLVM IR behind LLVM's optimiser."""
        return self._compiled.optimized_ir()

    def asm(self) -> str:
        """The machine code as assembler text."""
        return self._compiled.asm()

    def shown(self, text: str) -> str:
        """`ir`, `optimized_ir()` or `asm()` as people read it (`listing`)."""
        names = {**names_of_code(), **{id(x): described(x) for x in self._kept}}
        for cell in (self._following, self._work, self.choice, self.options.branches):
            names |= cell.names if cell is not None else {}
        notes = [x if isinstance(x, str) else x[0].shown(x[1]) for x in self._notes]
        return listing(text, names, notes)

    @property
    def times(self) -> CompileTimes:
        """Seconds that LLVM spent in each step; `emit_time` has those of writing the IR."""
        return self._compiled.times

    @property
    def size(self) -> int:
        """Size of the object file in bytes."""
        return self._compiled.size

    @property
    def chaos_site(self) -> int:
        """The site whose check is forced to fail (-1: none); only under ``options.chaos``."""
        return self._chaos.value if self._chaos is not None else -1

    @chaos_site.setter
    def chaos_site(self, site: int) -> None:
        assert self._chaos is not None, "not compiled with options.chaos"
        self._chaos.value = site

    def free(self) -> None:
        """Give the machine code back; no call may be inside, none may follow."""
        self._chaos = None
        self._compiled.free()
        self._kept = []


def build_module(
    graph: Graph, *, name: str, options: CompileOptions
) -> tuple[str, Context, NextCell]:
    """Write the LLVM IR of a unit; the cell says where its entry hands on other calls."""
    module = ModuleBuilder(name)
    context = Context(module, options)
    if options.quick_work and not options.chaos:
        context.work = WorkCell(options.quick_work)
        module.is_quick = True
        module.keeps_nests = not (options.has_lanes or has_equal_nests(graph))
    if options.rival is not None:
        context.choice = ChoiceCell()
        context.keep(context.choice)
    if options.chaos:
        module.global_variable(CHAOS_SITE, "i32", "-1")

    def emit_body(f: FunctionBuilder, params: Sequence[Native], body: Body | None) -> None:
        emitter = Emitter(context, f, body)
        GraphEmitter(emitter).emit(graph, params)
        emitter.finish()

    following = emit_entry(module, graph, context, emit_body, ENTRY)
    context.may_unswitch = not options.quick_work and may_have_steady_branches(module)
    return module.render(), context, following


def compile_unit(graph: Graph, *, name: str, options: CompileOptions | None = None) -> NativeCode:
    """Compile a specialised graph to a function with the vectorcall signature.

    Until `NativeCode.set_next` is called, calls with other arguments go to `slow_entry`.
    """
    start = time.perf_counter()
    options = options or CompileOptions()
    text, context, following = build_module(graph, name=name, options=options)
    emitted = time.perf_counter() - start
    exports = [CHAOS_SITE] if options.chaos else []
    exports += [NATIVE_ENTRY] if options.is_called else []
    packs = context.packs or any(
        cast(int, node.attrs.get("lanes", 1)) > 1 for node in graph.walk() if node.op is LOOP
    )
    # Steps between rows of a loop's own (`p[i, 0]`, `p[i, 1]`) are how many columns there are: 1 in no program.
    has_nests = any(node.op is MAP for node in graph.walk())
    # Code for chaos is compiled once for each of its checks.
    optimize = not (options.chaos or options.quick_work)
    compiled = compile_ir(
        text,
        ENTRY,
        exports=exports,
        find=_elementary_functions(text),
        optimize=optimize,
        passes=Passes(
            pack=packs,
            scalar=context.module.is_scalar and not packs,
            unit_steps=has_nests,
            unswitch=context.may_unswitch,
        ),
    )
    following.target = slow_entry()
    return NativeCode(name, compiled, context, following, emitted)


def _elementary_functions(text: str) -> Symbols | None:
    """What finds the elementary functions that code calls: loaded if it calls any."""
    if f"@{ELEMENTARY}" not in text:
        return None
    from ljit.codegen.mathlib import shared_symbols

    return shared_symbols
