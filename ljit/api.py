"""The public face: `jit` and the `Function` objects that it makes.

Decorating must cost next to nothing, so that the compiler (frontend, ops, passes) is imported by the first call of
the first function, and LLVM by the first compile.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload

from ljit import config
from ljit.cpython import interpreters
from ljit.cpython.exits import clear_at_exit
from ljit.cpython.frame_count import GRANTED, thread
from ljit.cpython.frames import calls_for_frames, pass_over
from ljit.cpython.garbage import no_collections
from ljit.cpython.isolation import are_builtins_replaced
from ljit.cpython.lasting import lasting
from ljit.cpython.locks import computed_once, import_lock
from ljit.cpython.own_frames import drop_own_frames
from ljit.cpython.pickling import COPY, PROTOCOL_OF_PATHS, copied, find, give_text, keep_text
from ljit.cpython.recursion import call_plainly, is_close_to_limit
from ljit.cpython.stack import compiler_frames
from ljit.cpython.tracers import is_traced
from ljit.errors import OptionError, UserError
from ljit.runtime.counted_calls import CountedCalls
from ljit.runtime.options import Options
from ljit.runtime.passing import (
    FOR_EVER,
    go_on_passing,
    is_stack_small,
    let_calls_come,
    let_first_calls_come_to,
    pass_calls,
)
from ljit.runtime.replaced_code import up_to_date
from ljit.runtime.vectorcall import Raised, make_function_type
from ljit.runtime.waiting import Waiting, count_in, loading

if TYPE_CHECKING:
    from ljit.ir import Graph
    from ljit.runtime.executor import ProfilingExecutor
    from ljit.runtime.inspection import SpecializationInfo

__all__ = ["Function", "jit", "release_memory"]

_NAMES = ("__name__", "__qualname__")
_OPTIONS = "strict, fastmath, cache and num_profiled_runs"
# frames of `__call__` that CPython does not count: in 3.11 ``f.__call__(x)`` is one more than ``f(x)``
_OF_CALL = int(sys.version_info >= (3, 12))
_RUNNERS = ("ljit.runtime.", "ljit.interp.")  # modules whose functions run users' functions

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")


def _of_plain_function(name: str, *, is_writable: bool = False) -> property:
    """An attribute that is the plain function's own."""

    def read(self: _Function) -> object:
        return getattr(self._plain, name)

    def write(self: _Function, value: object) -> None:
        setattr(self._plain, name, value)

    def delete(self: _Function) -> None:
        delattr(self._plain, name)

    return property(read, *((write, delete) if is_writable else ()))


class _shown(Generic[T]):  # noqa: N801  # a decorator
    """A property that gives way to an attribute of that name which somebody sets, as on any function."""

    def __init__(self, read: Callable[[_Function], T]) -> None:
        self._read = read
        self.__doc__ = read.__doc__

    def __get__(self, of: _Function | None, cls: type) -> T | _shown[T]:
        return self if of is None else self._read(of)


@functools.cache
def _executor_class() -> type[ProfilingExecutor]:
    """Import what translates and interprets functions: most of what the first call of a process does."""
    with import_lock, compiler_frames(), no_collections(), loading():
        from ljit.runtime.executor import ProfilingExecutor

        pass_over(name for name in list(sys.modules) if name.startswith(_RUNNERS))
        return ProfilingExecutor


class _Calls:
    """Who runs the calls of a function. It is no attribute that `functools.wraps` would copy from another function."""

    def __init__(self, fn: types.FunctionType, options: Options, owner: _Function) -> None:
        self._of = fn, options, owner
        self.copy: types.FunctionType | None = None

    @property
    def options(self) -> Options:
        return self._of[1]

    def take_copy(self, *, is_found: bool = True) -> types.FunctionType:
        """Give the copy that pickles have, as the function is now."""
        fn, _, owner = self._of
        self.copy = copied(fn, vars(owner), self.copy, is_found=is_found)
        return self.copy

    @computed_once
    def executor(self) -> ProfilingExecutor:
        made = _executor_class()(*self._of)
        waiting = vars(self).get("waiting")
        if waiting is not None:
            made.cold.wait_until_now(
                waiting.seconds,
                waiting.samples,
                is_asked_for=waiting.is_asked_for,
                is_last_chance=waiting.is_last_chance,
                gain=waiting.gain,
            )
        return made

    def has_executor(self) -> bool:
        return "executor" in vars(self)

    @computed_once
    def waiting(self) -> Waiting | None:
        """As of the first call."""
        fn, options, _ = self._of
        return Waiting.of(fn, options)

    def wait(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Waiting | None:
        """None: a call with these arguments is the executor's."""
        if self.has_executor() or self.waiting is None:
            return None
        is_over = self.waiting.is_over((*args, *kwargs.values()), watch=self._watch)
        return None if is_over else self.waiting

    def _watch(self) -> CountedCalls:
        fn, _, owner = self._of
        return CountedCalls(fn, owner._executor_for_loops)


class _Function:
    """A decorated function: call it as before; look at it with its methods, and with these attributes.

    - `graph`: the SSA graph of the source, as written; `inlined_graph`: after inlining, as the interpreter runs it.
    - `code`: the graph as Python-like text.
    - `specializations`: what was compiled so far.
    """

    __slots__ = ("__dict__", "__weakref__", "_calls", "_plain")

    def __init__(self, fn: types.FunctionType, options: Options) -> None:
        self._plain = fn  # whatever `__wrapped__` is set to
        functools.update_wrapper(self, fn)
        self._calls = _Calls(fn, options, self)
        let_calls_come(self)
        clear_at_exit(fn.__globals__)

    @property
    def _executor(self) -> ProfilingExecutor:
        return self._calls.executor

    def _has_no_compiler(self) -> bool:
        """Whether it cannot begin: the process ends, it would not find NumPy or builtins, or has no stack."""
        if self._calls.has_executor():
            return sys.is_finalizing()
        if sys.is_finalizing() or are_builtins_replaced() or is_stack_small():
            return True
        return not _has_numpy()

    def _executor_for_loops(self) -> ProfilingExecutor | None:
        """The executor, for a call that CPython began; None: there can be none now."""
        return None if self._has_no_compiler() or is_traced() else up_to_date(self._executor)

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        left = thread.frames.left
        left.value += GRANTED + _OF_CALL
        try:
            return self._first_call(*args, **kwargs)
        finally:
            left.value -= GRANTED + _OF_CALL

    def _first_call(self, /, *args: object, **kwargs: object) -> object:
        """Run a call while there are no native entries; the thread has been granted frames for it."""
        frames = thread.frames
        before, frames.called_at = frames.called_at, frames.left.value + 1 - GRANTED
        try:
            if go_on_passing(self, self._plain) or is_close_to_limit() or is_traced():
                return call_plainly(self._plain, args, kwargs)
            waiting = self._calls.wait(args, kwargs)
            if waiting is not None:
                return waiting.run(self, self._plain, args, kwargs)
            if self._has_no_compiler():
                return call_plainly(self._plain, args, kwargs)
            return self._executor.call(args, kwargs)
        except BaseException as error:
            drop_own_frames(error)
            raise
        finally:
            frames.called_at = before

    def _slow_call(self, args: tuple[object, ...], kwargs: dict[str, object] | None) -> object:
        """Run a call that the native entries did not take; errors are values for the entry to raise.

        The thread has been granted frames.
        """
        frames = thread.frames
        before, frames.called_at = frames.called_at, frames.left.value + 1 - GRANTED
        try:
            if is_close_to_limit() or is_traced() or self._has_no_compiler():
                return call_plainly(self._plain, args, kwargs or {})
            return self._executor.call(args, kwargs or {})
        except BaseException as error:
            return _raised(error)
        finally:
            frames.called_at = before

    def __setattr__(self, name: str, value: object) -> None:
        """Names count for the plain function, too: its generators, and errors of its calls, show them."""
        if name in _NAMES:
            setattr(self._plain, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in _NAMES:
            delattr(self._plain, name)  # raises CPython's error
        super().__delattr__(name)

    def __set_name__(self, cls: type, name: str) -> None:
        """Be a class method, or a static one, where CPython makes one of a plain function."""
        if name in ("__init_subclass__", "__class_getitem__"):
            type.__setattr__(cls, name, classmethod(self))  # type: ignore[arg-type]  # mypy sees a class without a slot
        elif name == "__new__":
            type.__setattr__(cls, name, staticmethod(self))

    @property
    def _plain_copy(self) -> types.FunctionType:
        """What pickles have of it, as it was when one was written."""
        return self._calls.copy or self._calls.take_copy()

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        is_found = find(self.__module__, self.__qualname__) is self
        if (is_found and self.__module__ != "__main__") or index(protocol) < PROTOCOL_OF_PATHS:
            return self.__qualname__
        options = self._calls.options
        return _restored, (
            self._calls.take_copy(is_found=is_found),
            self.__qualname__,
            options.fastmath,
            options.num_profiled_runs,
            give_text(self._plain.__code__.co_filename),
        )

    def __copy__(self) -> _Function:
        return self

    def __deepcopy__(self, _memo: object) -> _Function:
        return self

    def __dir__(self) -> list[str]:
        """Name what can be read: tools that copy all attributes of a function, as Hypothesis, read them."""
        return [name for name in super().__dir__() if not self._lacks(name)]

    def _lacks(self, name: str) -> bool:
        return isinstance(getattr(_Function, name, None), _shown) and not hasattr(self, name)

    def __repr__(self) -> str:
        return f"<ljit.Function {self.__qualname__}>"

    __qualname__: str
    __wrapped__: object
    __code__ = _of_plain_function("__code__", is_writable=True)
    __globals__ = _of_plain_function("__globals__")
    __builtins__ = _of_plain_function("__builtins__")
    __closure__ = _of_plain_function("__closure__")
    __defaults__ = _of_plain_function("__defaults__", is_writable=True)
    __kwdefaults__ = _of_plain_function("__kwdefaults__", is_writable=True)

    @_shown
    def graph(self) -> Graph:
        return _inspection().script(self._executor)

    @_shown
    def inlined_graph(self) -> Graph:
        return _inspection().inlined(self._executor)

    @_shown
    def code(self) -> str:
        return _inspection().python_text(self._executor)

    def graph_for(self, /, *args: object, **kwargs: object) -> Graph:
        """Give the graph that is compiled for arguments of such types."""
        return _inspection().graph_for(self._executor, args, kwargs)

    def dump_llvm(self, *args: object, optimized: bool = False) -> str:
        """Give the LLVM IR for arguments of such types, or the latest: as ljit wrote it, or optimised."""
        return _inspection().llvm_text(self._executor, args, optimized=optimized)

    def dump_asm(self, *args: object) -> str:
        """Give the assembly for arguments of such types, or the latest."""
        return _inspection().assembly(self._executor, args)

    def dump_bytecode(self) -> str:
        """Give what the interpreter runs."""
        return _inspection().bytecode(self._executor)

    def explain(self) -> str:
        """Say of each line whether it is native, and why not; with guards, bailouts and compile times."""
        return _inspection().explain(self._executor)

    @_shown
    def specializations(self) -> list[SpecializationInfo]:
        return _inspection().specializations(self._executor)

    def run_interpreted(self, /, *args: object, **kwargs: object) -> object:
        """Run one call wholly in the interpreter: no profile is kept, no loop is outlined."""
        frames = thread.frames
        before, frames.called_at = frames.called_at, frames.left.value + 1
        try:
            return _inspection().run_interpreted(self._executor, args, kwargs)
        except BaseException as error:
            drop_own_frames(error)
            raise
        finally:
            frames.called_at = before


def _restored(
    copy: types.FunctionType, name: str, fastmath: bool, num_profiled_runs: int, text: list[str]
) -> object:
    """Give the function that has the copy, or make one of a copy that came by value."""
    found = find(copy.__module__, name)
    if getattr(found, COPY, None) is copy:
        return found
    copy.__qualname__ = name
    keep_text(copy.__code__.co_filename, text)
    return jit(copy, fastmath=fastmath, num_profiled_runs=num_profiled_runs)


def _raised(error: BaseException) -> Raised:
    """Take the frame of its caller off: one that had the traceback in a variable would be part of a cycle."""
    trace = error.__traceback__
    return Raised((error, trace.tb_next if trace is not None else None))


@functools.cache
def _has_numpy() -> bool:
    """Whether NumPy can be imported: it belongs to one interpreter of a process."""
    try:
        with import_lock, compiler_frames(), lasting(), loading():
            import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def _inspection() -> types.ModuleType:
    with import_lock:
        from ljit.runtime import inspection

        return inspection


_Function.__name__ = _Function.__qualname__ = "Function"
let_first_calls_come_to(_Function._first_call)
if TYPE_CHECKING:
    Function = _Function  # for annotations, and for isinstance before `f.explain()`
else:
    Function = make_function_type(_Function, module="ljit")  # as users know it


@overload
def jit(
    fn: F,
    *,
    strict: bool = ...,
    fastmath: bool = ...,
    cache: bool = ...,
    num_profiled_runs: int = ...,
) -> F: ...
@overload
def jit(
    *, strict: bool = ..., fastmath: bool = ..., cache: bool = ..., num_profiled_runs: int = ...
) -> Callable[[F], F]: ...


def jit(
    fn: Callable[..., object] | None = None,
    *,
    strict: bool = False,
    fastmath: bool = False,
    cache: bool = False,
    num_profiled_runs: int = 1,
    **others: object,
) -> object:
    """Make a numeric function run as native code; it stays the same function otherwise.

    `strict`: raise `UnsupportedSyntaxError` where a statement cannot be translated, instead of leaving the function to
    CPython. `fastmath`: let floating-point operations be reordered. `cache` is accepted and has no effect yet.
    `num_profiled_runs`: calls that run in the interpreter before one is compiled; 0 compiles the first call from the
    types of its arguments. There are no other options.

    Of a bound method, or a `functools.partial`, the function is decorated; builtins, and objects that can be called,
    are given back as they are, unless `strict` is set.

    With ``LJIT=0`` in the environment the function is given back as it is; so it is, with a warning, by interpreters
    other than CPython 3.11 to 3.13.
    """
    if others:
        raise OptionError(f"ljit.jit has no option {next(iter(others))!r}; it has {_OPTIONS}")
    for name, value in (("strict", strict), ("fastmath", fastmath), ("cache", cache)):
        if not isinstance(value, int) or value not in (False, True):
            raise OptionError(f"ljit.jit: {name} is True or False; got {value!r}")
    if not isinstance(num_profiled_runs, int) or num_profiled_runs < 0:
        message = "num_profiled_runs is a count of calls, 0 or more"
        raise OptionError(f"ljit.jit: {message}; got {num_profiled_runs!r}")
    options = Options(bool(strict), bool(fastmath), num_profiled_runs)
    if fn is None:
        return lambda function: _decorate(function, options)
    return _decorate(fn, options)


def _decorate(fn: object, options: Options) -> object:
    is_off = not config.settings().enabled or not interpreters.is_known()
    if is_off or isinstance(fn, Function):
        return fn
    if isinstance(fn, staticmethod | classmethod):
        return type(fn)(_decorate(fn.__func__, options))  # type: ignore[arg-type]
    if isinstance(fn, types.FunctionType):
        return _made(fn, options)
    if isinstance(fn, type):
        message = f"ljit.jit takes a function, got the class {fn.__name__}; decorate its methods"
        raise UserError(message)
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, types.FunctionType):
        return types.MethodType(_made(fn.__func__, options), fn.__self__)
    if type(fn) is functools.partial and not isinstance(fn.func, type):
        inner: Any = _decorate(fn.func, options)
        return functools.partial(inner, *fn.args, **fn.keywords)
    message = f"ljit.jit takes a function, got {type(fn).__name__}"
    if callable(fn):  # builtins, and objects of classes whose `__call__` may be decorated
        if options.strict:
            raise UserError(
                f"{message}, which is not translated; without strict=True it is given back as it is"
            )
        return fn
    if hasattr(fn, "__get__"):
        raise UserError(
            f"{message}; put @ljit.jit below @{type(fn).__name__}, next to the function"
        )
    raise UserError(
        f"{message}; write @ljit.jit or @ljit.jit(fastmath=True): there are no signatures"
    )


def _made(fn: types.FunctionType, options: Options) -> _Function:
    made = Function(fn, options)
    count_in(made)
    if calls_for_frames(fn):  # they find that of its caller: none of ljit's is in between
        pass_calls(made, fn, FOR_EVER)
    if options.strict:
        _ = made._executor.baseline  # reports what cannot be translated
    return made


def release_memory() -> None:
    """Give the memory that is kept for further large arrays back to the system."""
    blocks = sys.modules.get("ljit.codegen.arrays.blocks")
    if blocks is not None:  # else nothing was compiled so far
        blocks.release_memory()


pass_over((__name__, call_plainly.__module__, CountedCalls.__module__, Waiting.__module__))
