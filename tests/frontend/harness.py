"""Run small functions through CPython and through the frontend and the interpreter, and compare everything."""

from __future__ import annotations

import contextlib
import inspect
import io
import itertools
import linecache
import traceback
from collections.abc import Callable
from typing import Any

from ljit.frontend.emitting.emit import build_graph
from ljit.interp import compile_graph
from ljit.interp import run as run_code
from ljit.ir import verify
from ljit.passes.convert_to_ssa import convert_to_ssa

_numbers = itertools.count()


def function_of(text: str, name: str = "f", **names: Any) -> Callable[..., Any]:
    """Execute `text` as a file that `linecache` knows; give the function `name` of it."""
    filename = f"<case {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "case", **names}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace[name]


def translated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that runs `fn` on the interpreter."""
    graph = build_graph(fn)
    convert_to_ssa(graph)
    verify(graph)
    code = compile_graph(graph)
    signature = inspect.signature(fn)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return run_code(code, list(bound.arguments.values()))

    return call


class Spy:
    """An object that logs whatever is done with it; its truth is whether its name has a capital."""

    log: list[str] = []

    def __init__(self, name: str, items: list[Any] | None = None) -> None:
        self.__dict__.update(_name=name, _items=items)

    def __repr__(self) -> str:
        return f"<{self._name}>"

    def __getattr__(self, name: str) -> Any:
        self.log.append(f"{self._name}.{name}")
        if name == "missing":
            raise AttributeError(f"{self._name} has no {name}")
        return Spy(f"{self._name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.log.append(f"{self._name}.{name} = {value!r}")

    def __delattr__(self, name: str) -> None:
        self.log.append(f"del {self._name}.{name}")

    def __getitem__(self, index: Any) -> Any:
        self.log.append(f"{self._name}[{index!r}]")
        return Spy(f"{self._name}[{index!r}]")

    def __setitem__(self, index: Any, value: Any) -> None:
        self.log.append(f"{self._name}[{index!r}] = {value!r}")

    def __delitem__(self, index: Any) -> None:
        self.log.append(f"del {self._name}[{index!r}]")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.log.append(f"{self._name}(*{args!r}, **{kwargs!r})")
        return Spy(f"{self._name}()")

    def __bool__(self) -> bool:
        self.log.append(f"bool {self._name}")
        return self._name.lower() != self._name

    def __iter__(self) -> Any:
        self.log.append(f"iter {self._name}")
        for item in self._items if self._items is not None else ():
            self.log.append(f"next {self._name}")
            yield item
        self.log.append(f"end {self._name}")

    def __contains__(self, item: Any) -> bool:
        self.log.append(f"{item!r} in {self._name}")
        return bool(self)

    def __format__(self, spec: str) -> str:
        self.log.append(f"format {self._name} {spec!r}")
        return f"{self._name}:{spec}"

    def __hash__(self) -> int:
        self.log.append(f"hash {self._name}")
        return len(self._name)


def _operation(name: str) -> Callable[[Spy, Any], Any]:
    def operate(self: Spy, other: Any) -> Any:
        self.log.append(f"{self._name} {name} {other!r}")
        return Spy(f"{self._name}.{name}")

    return operate


for _name in (
    "lt le gt ge eq ne add sub mul truediv floordiv mod pow lshift rshift and or xor matmul iadd isub imul "
    "itruediv ifloordiv imod ipow ilshift irshift iand ior ixor imatmul radd"
).split():
    setattr(Spy, f"__{_name}__", _operation(_name))
for _name in ("neg", "pos", "invert"):
    setattr(Spy, f"__{_name}__", lambda self, _name=_name: _operation(_name)(self, None))


def outcome(function: Callable[..., Any], filename: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call does: value, class, log, output, exception with the places in the file."""
    Spy.log.clear()
    output = io.StringIO()
    value: Any = None
    failure: Any = None
    with contextlib.redirect_stdout(output):
        try:
            value = function(*args)
        except Exception as error:
            failure = _failure(error, filename)
    return deep_type(value), repr(value), list(Spy.log), output.getvalue(), failure


def _failure(error: BaseException | None, filename: str) -> Any:
    if error is None:
        return None
    places = [
        (entry.name, entry.lineno, entry.colno)
        for entry in traceback.extract_tb(error.__traceback__)
        if entry.filename == filename
    ]
    return type(error), str(error), places, _failure(error.__cause__, filename)


def deep_type(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value), [deep_type(item) for item in value]
    return type(value)


def check(text: str, *calls: tuple[Any, ...], name: str = "f", **names: Any) -> None:
    """Compare CPython and the interpreter on `text`, each in a namespace and on arguments of its own."""
    plain, fn = function_of(text, name, **names), function_of(text, name, **names)
    run = translated(fn)
    for make_args in calls or ((),):
        outcomes = [
            outcome(
                function,
                made_from.__code__.co_filename,
                tuple(arg() if callable(arg) else arg for arg in make_args),
            )
            for function, made_from in ((plain, plain), (run, fn))
        ]
        assert outcomes[0] == outcomes[1], text
