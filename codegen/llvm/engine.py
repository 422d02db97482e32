"""LLVM IR text to machine code in memory: the only module that talks to LLVM.

`compile_ir` parses, verifies once, optimises for this machine's CPU, and links; one target machine and
one ORC JIT serve the whole process. Machine code is freed by `CompiledModule.free` or when the
`CompiledModule` is collected: whoever can still run the code keeps the object.

Floating point keeps IEEE order and is not contracted; a function that may be faster says so with fast-math
flags on its instructions. Vectors are as wide as the CPU's registers.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

import llvmlite.binding as llvm
from llvmlite.binding import newpassmanagers

from ljit.codegen.layouts import layout
from ljit.codegen.llvm.address_sums import with_address_sums
from ljit.codegen.llvm.clips import plain_clips
from ljit.codegen.llvm.half import HALF_CONVERSIONS, HALF_NAMES, HALF_TYPE
from ljit.codegen.llvm.partition import AGAIN, IN_PLACE, partition
from ljit.codegen.llvm.settings import settings_of_code, settings_of_passes
from ljit.cpython.signals import handlers_wait
from ljit.errors import CodegenError
from ljit.records import Record

__all__ = [
    "CompileTimes",
    "CompiledModule",
    "Passes",
    "compile_ir",
    "has_avx512",
    "has_fused_multiply_add",
    "host_description",
    "keep_forever",
    "names_of_code",
    "vector_bytes",
]

# Of the IR pipeline. What is lower takes less time, but does not unswitch loops on invariant checks: a heat-equation
# stencil ran 3.5 times as long.
_OPT_LEVEL = 3
# The same where there is nothing to unswitch, and of functions without vectors: O1 takes three quarters of the time of
# O3. One level of copies of recursive functions needs those of O2 (0.8): Takeuchi's function takes 1.09 of the time
# with O1.
_SIMPLE_LEVEL, _SIMPLE_LEVEL_WITH_COPIES = 1, 2
_CODE_LEVEL = 2  # of instruction selection; 3 gives the same code
_QUICK_CODE_LEVEL = 0  # of modules that have to be there soon
_IS_ONE_VECTOR = (
    "llvm.loop.vectorize.width"  # what a loop says that is (`codegen/loops/loop_hints.py`)
)
_HAS_VECTOR_COPIES = "vector-function-abi-variant"  # the attribute of a function


Symbols = Callable[[Sequence[bytes]], Mapping[str, int]]


class Passes(Record, eq=True):
    """What is done to code that is optimised, beside instruction selection.

    `straight`: nothing, it is straight-line code. `pack`: scalars are packed into vectors also where they stand side by
    side in straight-line code. It is for code that was written so on purpose: elsewhere it can make chains of
    dependences longer (15 % on n-body). `scalar`: no loop becomes one of vectors, and only functions that say so
    are put in the place of calls (`ModuleBuilder.is_scalar`): what simplifies functions is all that there is to do.
    `unit_steps`: a loop with steps that only the run tells has vectors for steps of 1, and single trips for all others.
    `unswitch`: loops with branches that go the same way in all trips are written once for each way.
    """

    straight: bool = False
    pack: bool = False
    scalar: bool = False
    unit_steps: bool = True
    unswitch: bool = True


_ALL_PASSES = Passes()


class CompileTimes(Record, eq=True):
    """Seconds spent in each step of one compile."""

    parse: float
    optimize: float
    emit: float
    link: float

    @property
    def total(self) -> float:
        return self.parse + self.optimize + self.emit + self.link


_modules = WeakSet["CompiledModule"]()  # that were made and are alive


def names_of_code() -> dict[int, str]:
    """The name of each function and global variable of living modules by its address."""
    return {address: name for x in list(_modules) for name, address in x._addresses.items()}


class CompiledModule:
    """Machine code of one module, and ways to look at it."""

    __slots__ = ("__weakref__", "_addresses", "_passes", "_text", "_tracker", "size", "times")

    def __init__(
        self,
        text: str,
        tracker: Any,
        names: Sequence[str],
        size: int,
        times: CompileTimes,
        passes: Passes,
    ) -> None:
        self._text = text
        self._passes = passes
        self._tracker = tracker
        self._addresses: dict[str, int] = {name: tracker[name] for name in names}
        _modules.add(self)
        self.size = size  # of the object file, in bytes
        self.times = times

    @property
    def address(self) -> int:
        """Address of the entry function."""
        return next(iter(self._addresses.values()))

    def symbol(self, name: str) -> int:
        """Address of an exported function or global variable."""
        return self._addresses[name]

    @property
    def is_free(self) -> bool:
        return self._tracker is None

    @handlers_wait()
    def free(self) -> None:
        """Give the memory back. No call may be inside the code, none may follow."""
        tracker, self._tracker = self._tracker, None
        self._addresses = {}
        if tracker is not None:
            tracker.close()

    @property
    def ir(self) -> str:
        """The IR as it was given to LLVM."""
        return self._text

    @handlers_wait()
    def optimized_ir(self) -> str:
        """The IR behind LLVM's optimiser (compiled again for this: the code itself keeps no IR)."""
        main, quick = partition(self._text)
        with _host().optimized(main, self._passes) as module:
            return str(module) + quick

    @handlers_wait()
    def asm(self) -> str:
        """The machine code as assembler text."""
        host = _host()
        main, quick = partition(self._text)
        with host.optimized(main, self._passes) as module:
            text: str = host.machine.emit_assembly(module)
        if not quick:
            return text
        with host.parsed(quick) as module:
            return text + str(host.quick_machine.emit_assembly(module))


_contexts = set[Any]()  # of modules that may be alive


class _Host:
    """The target machine and the JIT of this process."""

    def __init__(self) -> None:
        layout.check()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.cpu: str = llvm.get_host_cpu_name()
        self.feature_map = llvm.get_host_cpu_features()
        features = _feature_string(self.feature_map)
        self.machine = _target_machine(self.cpu, features)
        self.quick_machine = _target_machine(self.cpu, features, _QUICK_CODE_LEVEL)
        self.jit = llvm.create_lljit_compiler(
            _target_machine(self.cpu, ""), use_jit_link=True, suppress_errors=True
        )
        self.numbers = itertools.count()

    @contextmanager
    def optimized(self, text: str, passes: Passes) -> Iterator[Any]:
        """Parse and optimise; meanwhile LLVM has the settings of our code."""
        with settings_of_code(self.cpu), ExitStack() as held:
            module = held.enter_context(self.parsed(text))
            yield self.finished(module, text, passes, held)

    @contextmanager
    def parsed(self, text: str) -> Iterator[Any]:
        """Parse and verify. LLVM's optimiser must never see a malformed module: it would abort.

        The module must be gone before its context. Where closing it raises, nobody knows when: then that stays.
        """
        context = llvm.create_context()
        _contexts.add(context)
        with _rejecting(text):
            module = llvm.parse_assembly(text, context)
        try:
            with _rejecting(text):
                module.verify()
            yield module
        finally:
            module.close()
            _contexts.remove(context)
            context.close()

    def finished(self, module: Any, text: str, passes: Passes, held: ExitStack) -> Any:
        """Optimise a module; gives it, or what is `held` in its place."""
        self.run_passes(module, text, passes)
        changed = None if passes.straight else with_address_sums(str(module))
        return module if changed is None else held.enter_context(self.parsed(changed))

    def run_passes(self, module: Any, text: str, passes: Passes) -> None:
        if passes.straight:
            return
        # All of it is made anew: LLVM's inliner moves its passes out of a pipeline when it runs, and a pass
        # builder gets slower each time it is used.
        options = llvm.create_pipeline_tuning_options(speed_level=_level(text, passes))
        options.loop_vectorization = options.loop_interleaving = not passes.scalar
        options.slp_vectorization = passes.pack
        options.loop_unrolling = True
        builder = llvm.create_pass_builder(self.machine, options)
        if passes.scalar:
            if IN_PLACE in text:
                _put_in_place(module, builder)
            parts = [function for function in module.functions if not function.is_declaration]
            pipelines = _scalar_pipelines(builder)
        else:
            parts, pipelines = [module], [builder.getModulePassManager()]
        merges = _IS_ONE_VECTOR in text and not passes.scalar
        calls_copies = _HAS_VECTOR_COPIES in text
        with settings_of_passes(calls_copies=calls_copies, unit_steps=passes.unit_steps):
            for pipeline in pipelines:
                for part in parts:
                    pipeline.run(part, builder)
                _dispose(pipeline)
        builder.close()
        options.close()
        if merges:
            self._merge_vectors(module)

    def _merge_vectors(self, module: Any) -> None:
        """Let vectors be computed once that two loops had in common (a fourth to a third of what optimising takes)."""
        options = llvm.create_pipeline_tuning_options(speed_level=_SIMPLE_LEVEL)
        builder = llvm.create_pass_builder(self.machine, options)
        pipeline = builder.getFunctionPassManager()
        for function in module.functions:
            if not function.is_declaration:
                pipeline.run(function, builder)
        _dispose(pipeline)
        builder.close()
        options.close()

    def object_files(
        self, parts: tuple[str, str], passes: Passes
    ) -> tuple[list[bytes], tuple[float, float, float]]:
        """Compile what `partition` gives; with the seconds that parsing, optimising and emitting took."""
        start = time.perf_counter()
        with handlers_wait(), ExitStack() as held:
            main, quick = (held.enter_context(self.parsed(x)) if x else None for x in parts)
            parsed = time.perf_counter()
            if main is not None:
                held.enter_context(settings_of_code(self.cpu))
                main = self.finished(main, parts[0], passes, held)
            optimized = time.perf_counter()
            machines = ((main, self.machine), (quick, self.quick_machine))
            images = [
                machine.emit_object(module) for module, machine in machines if module is not None
            ]
        emitted = time.perf_counter()
        return images, (parsed - start, optimized - parsed, emitted - optimized)

    def link(
        self, images: Sequence[bytes], names: Sequence[str], symbols: Mapping[str, int]
    ) -> Any:
        builder = llvm.JITLibraryBuilder().add_current_process()
        for image in images:
            builder.add_object_img(image)
        for name, address in symbols.items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        with handlers_wait():
            try:
                return builder.link(self.jit, f"unit{next(self.numbers)}")
            except RuntimeError as error:
                message = f"machine code does not link: {error}"
                raise CodegenError(message) from None


@contextmanager
def _rejecting(text: str) -> Iterator[None]:
    """Say where LLVM finds a fault in a module."""
    try:
        yield
    except RuntimeError as error:
        message = f"LLVM rejects the module: {error}\n{_around_error(str(error), text)}"
        raise CodegenError(message) from None


def _level(text: str, passes: Passes) -> int:
    if passes.unswitch and not passes.scalar:
        return _OPT_LEVEL
    return _SIMPLE_LEVEL_WITH_COPIES if AGAIN in text else _SIMPLE_LEVEL


def _put_in_place(module: Any, builder: Any) -> None:
    """Put functions that say so in the place of their calls."""
    pipeline = llvm.create_new_module_pass_manager()
    pipeline.add_always_inliner_pass()
    pipeline.run(module, builder)
    _dispose(pipeline)


def _dispose(pipeline: Any) -> None:
    # llvmlite's own disposer is hidden behind its base class: the pipeline would leak.
    newpassmanagers.NewPassManager._dispose(pipeline)
    pipeline.detach()


def _scalar_pipelines(builder: Any) -> list[Any]:
    """What simplifies functions, and unrolls loops: all that there is to do if no loop becomes one of vectors.

    Empty blocks have to be gone before the first look at loops (a Mandelbrot set takes 1.03 of the time otherwise).
    Jumps whose aim is known on some ways go there at once: a quicksort takes 0.97 of the time that it takes without.
    """
    first = llvm.create_new_function_pass_manager()
    first.add_simplify_cfg_pass()
    pipeline = builder.getFunctionPassManager()
    pipeline.add_jump_threading_pass()
    pipeline.add_loop_unroll_pass()
    pipeline.add_instruction_combine_pass()
    pipeline.add_simplify_cfg_pass()
    return [first, pipeline]


def _target_machine(cpu: str, features: str, level: int = _CODE_LEVEL) -> Any:
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small", jit=True
    )


def _feature_string(features: Mapping[str, bool]) -> str:
    text: str = features.flatten()  # type: ignore[attr-defined]  # llvmlite's FeatureMap
    # LLVM halves the vectors of some of these CPUs; array code wants the full width
    if features.get("avx512f"):
        text += ",-prefer-256-bit"
    # many take longer to gather than to load one by one, most of all if they mitigate leaks
    if features.get("avx2"):
        text += ",+prefer-no-gather,+prefer-no-scatter"
    return text


_LOCATION = re.compile(r"<string>:(\d+):")


def _around_error(message: str, text: str) -> str:
    found = _LOCATION.search(message)
    if found is None:
        return text
    line = int(found[1])
    return "\n".join(text.splitlines()[max(line - 4, 0) : line + 3])


@cache
def _half_conversions() -> CompiledModule:
    return _compile(HALF_CONVERSIONS, HALF_NAMES, {})


# Code may be compiled in the midst of anything (`codegen/arrays/blocks.py`).
_lock = threading.RLock()
_the_host: _Host | None = None


def _host() -> _Host:
    global _the_host  # made at the first compile, kept for the life of the process
    with _lock:
        if _the_host is None:
            with handlers_wait():
                _the_host = _Host()
        return _the_host


def compile_ir(
    text: str,
    entry_name: str,
    *,
    exports: Sequence[str] = (),
    find: Symbols | None = None,
    optimize: bool = True,
    passes: Passes = _ALL_PASSES,
) -> CompiledModule:
    """Compile a module of IR text for this machine.

    Without `optimize` that takes a tenth of the time: for code whose own speed does not matter. The same holds of
    functions with the attribute ``optnone`` (`codegen/llvm/partition.py`). `passes`: what is done to the others.

    `exports` are further functions or global variables whose addresses are wanted. Undefined functions are
    taken from `find`, which gets the object files, from NumPy's C API
    (`layout.numpy_symbols`) and from the process: CPython's C API and the C library.
    """
    if optimize and not passes.straight:
        text = plain_clips(text)
    known = layout.numpy_symbols()
    imported = {name: known[name] for name in _numpy_calls().findall(text)}
    if HALF_TYPE.search(text):
        imported |= {name: _half_conversions().symbol(name) for name in HALF_NAMES}
    names = (entry_name, *exports)
    return _compile(text, names, imported, find=find, optimize=optimize, passes=passes)


@cache
def _numpy_calls() -> re.Pattern[str]:
    """What finds the functions of NumPy's C API in a text, at one go."""
    return re.compile(rf"@({'|'.join(layout.numpy_symbols())})\(")


def _compile(
    text: str,
    names: Sequence[str],
    symbols: Mapping[str, int],
    *,
    find: Symbols | None = None,
    optimize: bool = True,
    passes: Passes = _ALL_PASSES,
) -> CompiledModule:
    host = _host()
    parts = partition(text) if optimize else ("", text)
    images, seconds = host.object_files(parts, passes)
    emitted = time.perf_counter()
    tracker = host.link(images, names, {**symbols, **(find(images) if find else {})})
    times = CompileTimes(*seconds, time.perf_counter() - emitted)
    return CompiledModule(text, tracker, names, sum(map(len, images)), times, passes)


def has_fused_multiply_add() -> bool:
    """Whether this CPU has fused multiply-add: elsewhere LLVM calls a slow function for it."""
    features = _host().feature_map
    return bool(features.get("fma") or features.get("neon"))


def keep_forever(value: object) -> None:
    """Let nothing free an object before the process ends, nor the machine code in it."""
    for kept in (value, _host().jit):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def has_avx512() -> bool:
    """Whether vectors have 64 bytes, masks in registers of their own, and conversions to and from 64-bit integers."""
    return vector_bytes() >= 64


def vector_bytes() -> int:
    """Width of the widest vector registers of this CPU."""
    features = _host().feature_map
    if features.get("avx512f"):
        return 64
    return 32 if features.get("avx2") else 16


def host_description() -> str:
    """CPU and LLVM version, for reports."""
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"LLVM {version}, {_host().cpu}, {vector_bytes() * 8}-bit vectors"
