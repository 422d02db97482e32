"""A decorated function is called, bound, copied, pickled and looked at as the plain one."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import inspect
import io
import json
import linecache
import marshal
import os
import pickle
import re
import subprocess
import sys
import textwrap
import types
import weakref
from pathlib import Path

import numpy as np
import pytest

import ljit
from ljit.errors import UnsupportedSyntaxError
from ljit.runtime.plans import BOUND_CALLS_BEFORE_FILLING_IN
from tests.programs.harness import Args
from tests.runtime.outcomes import outcome


def simple(x, y=2.0, *, scale=1.0):
    return (x + y) * scale


def positional_only(x, y, /, z=3.0):
    return x + y * z


def required_keyword(x, *, y):
    return x - y


def no_parameters():
    return 42


def default_array(x, y=np.arange(3.0)):  # noqa: B008 - that it is shared is the point
    return x + y


def rest(x, y=2.0, *others, scale=1.0):
    for other in others:
        y += other
    return (x + y) * scale, others


def only_rest(*x):
    return x


def options(x, /, y=2.0, **others):
    for other in others.values():
        y += other
    return x + y, others


def only_options(**x):
    return x


def variadic(x, *rest, **named):
    return x, rest, named


CALLS = [
    Args((1.0,)),
    Args((1.0, 3.0)),
    Args((1.0,), {"y": 3.0}),
    Args((1.0,), {"scale": 2.0}),
    Args((), {"x": 1.0, "scale": 2.0, "y": 0.5}),
    Args((1.0, 3.0), {"scale": 4.0}),
    Args(()),
    Args((1.0, 2.0, 3.0)),
    Args((1.0, 2.0, 3.0, 4.0)),
    Args((1.0,), {"x": 2.0}),
    Args((1.0,), {"other": 2.0}),
    Args((1.0,), {"z": 2.0}),
    Args((1.0, 2.0), {"z": 2.0}),
    Args((), {"y": 1.0}),
    Args((), {"scale": 1.0}),
    Args((1.0, 2.0), {"y": 2.0}),
]


def drops_its_defaults(x, y=np.arange(3.0), *, z=np.arange(3.0)):  # noqa: B008
    """Defaults must live as long as the call that uses them."""
    forget()
    return x + y + z


def forget():
    drops_its_defaults.__defaults__ = (np.arange(3.0),)
    drops_its_defaults.__kwdefaults__ = {"z": np.arange(3.0)}


@pytest.mark.parametrize("natively", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        simple,
        positional_only,
        required_keyword,
        no_parameters,
        default_array,
        rest,
        only_rest,
        options,
        only_options,
        variadic,
        drops_its_defaults,
    ],
    ids=lambda f: f.__name__,
)
def test_arguments_are_bound_as_by_cpython(function, natively, monkeypatch):
    if natively:
        monkeypatch.setattr("ljit.runtime.executor.BOUND_CALLS_BEFORE_FILLING_IN", 2)
    compiled = ljit.jit(function)
    for _ in range(4):
        for args in CALLS:
            expected, actual = outcome(function, args), outcome(compiled, args)
            assert actual.failure == expected.failure
            assert actual.frames == expected.frames
            assert type(actual.value) is type(expected.value)
            np.testing.assert_equal(actual.value, expected.value)


def test_calls_with_keywords_and_defaults_reach_native_code_without_python():
    for function, args in (
        (simple, Args((1.0,), {"scale": 2.0})),
        (simple, Args((1.0,))),
        (positional_only, Args((1.0, 2.0))),
        (required_keyword, Args((1.0,), {"y": 2.0})),
        (rest, Args((1.0, 2.0, 3.0, 4.0))),
        (rest, Args((1.0,), {"scale": 2.0})),
        (only_rest, Args((1.0, 2.0))),
        (options, Args((1.0,))),
        (options, Args((1.0,), {"y": 1.0, "x": 2.0, "z": 3.0})),
        (only_options, Args((), {"a": 1.0, "b": 2.0})),
    ):
        compiled = ljit.jit(function)
        expected = function(*args.positional, **args.keywords)
        for _ in range(500):
            assert compiled(*args.positional, **args.keywords) == expected
        executor = compiled._executor
        assert executor.bound_calls == BOUND_CALLS_BEFORE_FILLING_IN
        assert compiled.specializations[0].calls == 499
        for other in (np.arange(3.0), 2, "a", 1j):  # new types, through the entry
            changed = Args((other, *args.positional[1:]), args.keywords)
            for _ in range(3):
                left, right = outcome(function, changed), outcome(compiled, changed)
                assert left.failure == right.failure
                np.testing.assert_equal(left.value, right.value)


def test_names_of_keywords_that_are_not_interned_are_found():
    compiled = ljit.jit(simple)
    for k in range(300):
        name = "".join(["sca", "le"])
        assert compiled(1.0, **{name: float(k)}) == 3.0 * k


def test_keywords_that_are_not_interned_go_to_parameters_or_into_the_dict():
    compiled = ljit.jit(options)
    for k in range(300):
        for name in ("".join(["sca", "le"]), "".join(["y", ""])):
            assert compiled(1.0, **{name: float(k)}) == options(1.0, **{name: float(k)})


@pytest.mark.parametrize("function", [simple, positional_only, required_keyword, rest, options])
def test_keywords_that_are_not_interned_reach_native_code_without_python(function):
    for names in json.loads(
        '[{"y": 2.0}, {"y": 2.0, "scale": 3.0}, {"x": 1.0}, {"z": 1.0, "y": 2.0}]'
    ):
        compiled = ljit.jit(function)
        for _ in range(210):
            left, right = (
                outcome(function, Args((1.0,), names)),
                outcome(compiled, Args((1.0,), names)),
            )
            assert left.failure == right.failure
            assert left.value == right.value
        calls = [s.calls for s in compiled.specializations]
        assert not calls or compiled._executor.bound_calls == BOUND_CALLS_BEFORE_FILLING_IN


def test_each_call_gets_a_dict_of_its_own_that_nothing_else_holds():
    compiled = ljit.jit(only_options)
    for _ in range(300):
        found = compiled(a=1.0)
        assert sys.getrefcount(found) == 2
        found["b"] = 2


def with_any_names(x, self=1, *, args=0, **kwargs):
    return x * self + args, kwargs


def test_parameters_may_have_the_names_that_methods_give_theirs():
    compiled = ljit.jit(with_any_names)
    for keywords in ({"self": 2}, {"self": 3, "args": 4}, {"kwargs": 1, "args": 2, "_args": 3}):
        for _ in range(3):
            assert compiled(5, **keywords) == with_any_names(5, **keywords)
            assert compiled(x=5, **keywords) == with_any_names(5, **keywords)


def some_texts():
    return "from_start", "2nd", "with space"


def test_texts_that_cpython_interns_are_the_same_objects():
    compiled = ljit.jit(some_texts)
    for _ in range(3):
        found = compiled()
        assert found == some_texts()
        assert all(x is y for x, y in zip(found[:2], some_texts(), strict=False))


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    @ljit.jit
    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @ljit.jit
    @staticmethod
    def outer_static(x, y):
        return x * y

    @staticmethod
    @ljit.jit
    def inner_static(x, y):
        return x * y

    @ljit.jit
    @classmethod
    def outer_class(cls, x):
        return cls(x, x * 2)

    @classmethod
    @ljit.jit
    def inner_class(cls, x):
        return cls(x, x * 2)

    @property
    @ljit.jit
    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5

    @ljit.jit
    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    @ljit.jit
    def __call__(self, t):
        return self.x * t + self.y


class Sub(Point):
    @ljit.jit
    def dot(self, other):
        return super().dot(other) * 2


def test_methods_work_in_each_form():
    p, q, s = Point(1.0, 2.0), Point(3.0, 4.0), Sub(1.0, 2.0)
    for _ in range(4):
        assert p.dot(q) == Point.dot(p, q) == 11.0
        assert s.dot(q) == 22.0
        bound = p.dot
        assert bound(q) == 11.0
        assert bound.__self__ is p
        assert p.outer_static(2, 3) == Point.outer_static(2, 3) == 6
        assert p.inner_static(2, 3) == Point.inner_static(2, 3) == 6
        assert type(Sub.outer_class(2)) is type(s.inner_class(2)) is Sub
        assert Point.inner_class(2.5).y == 5.0
        assert q.norm == 5.0
        assert (p + q).x == 4.0
        assert p(3.0) == 5.0
        with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'other'"):
            p.dot()
        with pytest.raises(TypeError, match=r"takes 2 positional arguments but 3 were given"):
            p.dot(q, q)


def test_class_methods_that_python_makes_of_functions():
    class Base:
        @ljit.jit
        def __new__(cls, value=1):
            made = super().__new__(cls)
            made.value = value
            return made

        @ljit.jit
        def __init_subclass__(cls, *, factor=2):
            cls.factor = factor

        @ljit.jit
        def __class_getitem__(cls, item):
            return cls.__name__, item

    class Derived(Base, factor=3):
        pass

    for _ in range(3):
        assert Derived.factor == 3
        assert (Base[1], Derived[1]) == (("Base", 1), ("Derived", 1))
        assert Derived(4).value == 4
        assert Derived(4).__new__ is Base.__new__


def test_metadata_is_that_of_the_function():
    compiled = ljit.jit(simple)
    assert compiled.__name__ == "simple"
    assert compiled.__qualname__ == "simple"
    assert compiled.__doc__ == simple.__doc__
    assert compiled.__module__ == simple.__module__
    assert compiled.__wrapped__ is simple
    assert inspect.signature(compiled) == inspect.signature(simple)
    assert inspect.unwrap(compiled) is simple
    assert inspect.getsource(compiled) == inspect.getsource(simple)
    assert callable(compiled)
    assert repr(compiled) == "<ljit.Function simple>"


def named_anew(decorate):
    """What shows the names of functions, and errors of wrong ones."""

    def count(n):
        yield from range(n)

    def add(a, *, b=1):
        return a + b

    count, add = decorate(count), decorate(add)
    shown = []
    for i in range(4):
        count.__name__, count.__qualname__ = f"count{i}", f"program.count{i}"
        generator = count(2)
        shown.append((generator.__name__, generator.__qualname__, list(generator)))
        add.__name__, add.__qualname__ = f"add{i}", f"program.add{i}"
        shown.append((add(1), add.__name__, add.__qualname__))
        for args, keywords in (((), {}), ((1, 2), {}), ((1,), {"c": 2}), ((1,), {"a": 2})):
            with pytest.raises(TypeError) as caught:
                add(*args, **keywords)
            shown.append(str(caught.value))
        for name in ("__name__", "__qualname__"):
            for change in (functools.partial(setattr, add, name, i), lambda: delattr(add, name)):  # noqa: B023
                with pytest.raises(TypeError) as caught:
                    change()
                shown.append(str(caught.value))
            shown.append(getattr(add, name))
    del add.__kwdefaults__
    with pytest.raises(TypeError) as caught:
        add(1)
    return [*shown, str(caught.value)]


def test_functions_are_shown_by_the_names_that_they_are_given():
    assert named_anew(ljit.jit) == named_anew(lambda function: function)


def test_wrappers_around_a_decorated_function_work():
    compiled = ljit.jit(simple)

    @functools.wraps(compiled)
    def wrapper(*args, **kwargs):
        return compiled(*args, **kwargs)

    assert wrapper.__name__ == "simple"
    assert inspect.signature(wrapper) == inspect.signature(simple)
    for _ in range(3):
        assert wrapper(1.0, scale=2.0) == 6.0
        assert functools.partial(compiled, 1.0)(3.0) == 4.0
        assert functools.lru_cache(compiled)(1.0) == 3.0
        assert list(map(compiled, [1.0, 2.0])) == [3.0, 4.0]


def test_defaults_without_a_parameter_do_not_count():
    def made(decorate):
        def wrapper(*args, **kwargs):
            return args, kwargs

        def scaled(x, *, scale=2.0):
            return x * scale

        for function in (wrapper, scaled):
            function.__defaults__ = (5.0, 6.0, 7.0)
            function.__kwdefaults__ = {"scale": 3.0, "other": 1.0}
        return decorate(wrapper), decorate(scaled)

    wrapper, scaled = made(lambda function: function)
    compiled_wrapper, compiled = made(ljit.jit)
    for _ in range(4):
        assert compiled_wrapper() == wrapper() == ((), {})
        assert compiled_wrapper(1, k=2) == wrapper(1, k=2)
        assert (compiled(), compiled(2.0)) == (scaled(), scaled(2.0)) == (21.0, 6.0)
        assert compiled(scale=1.0) == scaled(scale=1.0) == 7.0
        with pytest.raises(TypeError, match="other"):
            compiled(other=1.0)


@pytest.mark.parametrize("name", ["code", "graph", "inlined_graph", "specializations", "explain"])
def test_any_attribute_can_be_set(name):
    def with_attribute(x, y=2.0):
        return x + y

    setattr(with_attribute, name, 404)
    compiled = ljit.jit(with_attribute)
    assert getattr(compiled, name) == 404
    setattr(compiled, name, 500)
    for _ in range(3):
        assert (getattr(compiled, name), compiled(1.0)) == (500, 3.0)
    delattr(compiled, name)
    assert getattr(compiled, name) != 500


@pytest.mark.parametrize("wrapped", [simple, ljit.jit(simple)])
def test_a_decorated_wrapper_runs_itself_and_not_what_it_wraps(wrapped):
    @functools.wraps(wrapped)
    @ljit.jit
    def wrapper(x, y=2.0):
        return wrapped(x, y) + 1000.0

    assert wrapper.__wrapped__ is wrapped
    assert repr(wrapper) == "<ljit.Function simple>"
    for _ in range(3):
        assert wrapper(1.0) == simple(1.0) + 1000.0
        assert wrapped(1.0) == simple(1.0)
    assert wrapper.run_interpreted(1.0) == simple(1.0) + 1000.0


@ljit.jit
def at_module_level(x):
    return x * 2


def test_pickle_and_copy_give_the_same_function():
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level
    assert pickle.loads(pickle.dumps(Point.dot)) is Point.dot
    assert copy.copy(at_module_level) is at_module_level
    assert copy.deepcopy(at_module_level) is at_module_level


class PicklesByValue(pickle.Pickler):
    """Writes plain functions as code, but for those that a module has: as cloudpickle does, in short."""

    def reducer_override(self, obj):
        module = sys.modules.get(getattr(obj, "__module__", None))
        if not isinstance(obj, types.FunctionType) or getattr(module, obj.__name__, None) is obj:
            return NotImplemented
        variables = {n: obj.__globals__[n] for n in obj.__code__.co_names if n in obj.__globals__}
        state = (obj.__dict__, {"__qualname__": obj.__qualname__, "__defaults__": obj.__defaults__})
        return made_of_code, (marshal.dumps(obj.__code__), variables), state


def made_of_code(code, variables):
    return types.FunctionType(marshal.loads(code), {**variables, "__name__": "elsewhere"})


def test_picklers_that_write_functions_by_value_write_decorated_ones_so():
    @ljit.jit(num_profiled_runs=2)
    def local(x, y=2.0):
        return at_module_level(x) + y

    local.mark = "kept"
    with pytest.raises(AttributeError, match="Can't (pickle|get) local object"):
        pickle.dumps(local)
    stream = io.BytesIO()
    PicklesByValue(stream).dump([local, local])
    first, second = pickle.loads(stream.getvalue())
    assert first is second is not local
    assert (type(first), first.mark, first.__qualname__) == (
        type(local),
        "kept",
        local.__qualname__,
    )
    assert first._calls.options == local._calls.options
    for _ in range(4):
        assert first(3.0) == local(3.0) == 8.0
    assert copy.copy(local) is copy.deepcopy(local) is local


def test_functions_of_notebooks_are_sent_with_their_text():
    file, text = "<cell 1>", "import ljit\n@ljit.jit\ndef cell(n):\n    return n + 1\n"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    namespace = {"__name__": "notebook"}
    exec(compile(text, file, "exec"), namespace)
    stream = io.BytesIO()
    PicklesByValue(stream).dump(namespace["cell"])
    del linecache.cache[file]  # as in another process
    received = pickle.loads(stream.getvalue())
    assert received is not namespace["cell"]
    assert "py::add" in str(received.graph)
    assert [received(k) for k in range(4)] == [1, 2, 3, 4]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_cannot_be_pickled_has_its_own_name_in_the_error(protocol):
    @ljit.jit
    def local(x):
        return x

    for function in (ljit.jit(lambda x: x), local):
        with pytest.raises((pickle.PicklingError, AttributeError)) as caught:
            pickle.dumps(function, protocol)
        assert "_plain_copy" not in str(caught.value)
        assert function.__name__ in str(caught.value)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_functions_of_the_main_module_are_pickled_by_name(protocol, tmp_path):
    (tmp_path / "program.py").write_text(
        textwrap.dedent(f"""
            import pickle
            import ljit

            @ljit.jit
            def fib(n):
                return n if n < 2 else fib(n - 1) + fib(n - 2)

            class Adder:
                @ljit.jit
                def add(self, x):
                    return x + 1

            for function in (fib, Adder.add):
                for _ in range(2):
                    assert pickle.loads(pickle.dumps(function, {protocol})) is function
        """)
    )
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True)


def test_functions_have_weak_references_and_die():
    compiled = ljit.jit(lambda x: x + 1.0)
    for _ in range(3):
        assert compiled(1.0) == 2.0
    alive = weakref.ref(compiled)
    assert alive() is compiled
    assert hash(compiled) == hash(compiled)
    assert {compiled: 1}[compiled] == 1
    del compiled
    gc.collect()
    assert alive() is None


def test_decorating_twice_changes_nothing():
    compiled = ljit.jit(simple)
    assert ljit.jit(compiled) is compiled


def test_what_is_no_python_function():
    assert ljit.jit(len) is len
    with pytest.raises(ljit.errors.UserError, match="below @property"):
        ljit.jit(property(simple))
    with pytest.raises(ljit.errors.UserError, match="decorate its methods"):
        ljit.jit(Point)
    with pytest.raises(ljit.errors.UserError, match="got int"):
        ljit.jit(3)
    with pytest.raises(
        ljit.errors.UserError, match=r"got str; write @ljit.jit or @ljit.jit\(fastmath=True\)"
    ):
        ljit.jit("f8(f8)")


def test_what_is_no_python_function_is_an_error_where_nothing_is_left_to_cpython():
    for function in (len, functools.partial(len), str.join):
        with pytest.raises(ljit.errors.UserError, match="is not translated; without strict=True"):
            ljit.jit(function, strict=True)


@pytest.mark.parametrize("name", ["strict", "fastmath", "cache"])
@pytest.mark.parametrize("value", ["no", None, 2, ()], ids=repr)
def test_switches_are_true_or_false(name, value):
    message = re.escape(f"{name} is True or False; got {value!r}")
    with pytest.raises(ljit.errors.OptionError, match=message):
        ljit.jit(simple, **{name: value})
    ljit.jit(simple, **{name: 0})


@pytest.mark.parametrize("value", [-1, 1.5, "1", None], ids=repr)
def test_profiled_runs_are_a_count(value):
    with pytest.raises(ljit.errors.OptionError, match="is a count of calls, 0 or more; got"):
        ljit.jit(simple, num_profiled_runs=value)


def test_of_bound_methods_and_partial_functions_the_function_is_decorated():
    class Line:
        slope = 2

        def at(self, n, start=0):
            total = start
            for i in range(n):
                total += self.slope * i
            return total

    bound = ljit.jit(Line().at)
    assert [bound(4) for _ in range(4)] == [12] * 4
    assert "native" in bound.explain()
    made = ljit.jit(functools.partial(functools.partial(Line.at, Line()), start=1), strict=True)
    assert [made(4) for _ in range(4)] == [13] * 4
    assert isinstance(made.func, ljit.Function)
    assert ljit.jit(functools.partial(int, base=2))("101") == 5
    sum_of_ones = np.ones(3).sum
    assert ljit.jit(sum_of_ones) is sum_of_ones


def test_an_option_that_there_is_not_is_named_with_those_there_are():
    message = r"no option 'nopython'; it has strict, fastmath, cache and num_profiled_runs"
    for wrong in (lambda: ljit.jit(nopython=True), lambda: ljit.jit(simple, nopython=True)):
        with pytest.raises(TypeError, match=message):
            wrong()


def test_messages_name_the_type_as_programs_do():
    with pytest.raises(TypeError, match=r"'ljit\.Function' object is not subscriptable"):
        ljit.jit(simple)[0]


@pytest.mark.parametrize("runs", [-1, "2", 0.5, None])
def test_the_number_of_profiled_runs_is_a_count(runs):
    with pytest.raises(ljit.errors.UserError, match="0 or more; got"):
        ljit.jit(simple, num_profiled_runs=runs)


@pytest.mark.parametrize(("value", "expected"), [("0", "function"), ("1", "Function")])
def test_the_environment_switches_ljit_off(value, expected, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, ljit\n"
        "@ljit.jit\n"
        "def f(x): return x + 1\n"
        "class A:\n"
        "    @ljit.jit(strict=True)\n"
        "    def m(self): return f(1)\n"
        "print(type(f).__name__, f(1), A().m(), 'llvmlite' in sys.modules)\n"
    )
    root = str(Path(ljit.__file__).parents[1])
    environment = {**os.environ, "LJIT": value, "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[:3] == [expected, "2", "2"]
    if value == "0":
        assert done.stdout.split()[3] == "False"


def test_finalizers_run_while_the_interpreter_ends(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import builtins, ljit\n"
        "class Last:\n"
        "    def __init__(self, value): self.value = value\n"
        "    @ljit.jit\n"
        "    def __del__(self): print(self.value + 1)\n"
        "builtins.kept = [Last(2), Last(0.5)]\n"
    )
    root = str(Path(ljit.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.split(), done.stderr) == (["1.5", "3"], "")


def test_strict_names_line_and_place():
    with pytest.raises(UnsupportedSyntaxError) as error:

        @ljit.jit(strict=True)
        def f(x):
            y = x + 1
            try:
                return open(y)
            except* OSError:
                pass

    text = str(error.value)
    assert "    try:" in text
    assert "^" in text
    assert f'test_calling.py", line {_line_of("return open(y)") - 1}' in text


def _line_of(text):
    lines = Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, start=1) if line.strip() == text)


def test_strict_gives_what_can_be_translated():
    @ljit.jit(strict=True)
    def f(x):
        return x * 2

    assert [f(2.0), f(2.0), f(2)] == [4.0, 4.0, 4]


def test_a_function_without_source_is_left_to_cpython():
    namespace = {}
    # no "<string>": of that CPython 3.13 has the text where the process was started with -c
    exec(compile("def f(x, y=1):\n    return x + y\n", "<nowhere>", "exec"), namespace)
    compiled = ljit.jit(namespace["f"])
    for _ in range(3):
        assert compiled(2) == 3
        assert compiled(2, y=5) == 7
    assert "left to CPython" in compiled.explain()
    assert compiled.specializations == []
    with pytest.raises(ljit.errors.UserError, match="no source text"):
        _ = compiled.graph


def test_sources_of_notebooks_are_found():
    text = "def cell(x):\n    return x * 3.0\n"
    name = "<ipython-input-7-abcdef>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    compiled = ljit.jit(namespace["cell"])
    for _ in range(3):
        assert compiled(2.0) == 6.0
    assert [info.state for info in compiled.specializations] == ["native"]


def test_lambdas_of_one_line_are_told_apart():
    doubled, squared = ljit.jit(lambda x: x * 2), ljit.jit(lambda x: x * x)
    for _ in range(3):
        assert (doubled(3), squared(3)) == (6, 9)
    assert doubled.specializations[0].state == "native"


def test_generators_and_coroutines_are_left_to_cpython():
    @ljit.jit
    def numbers(n):
        for k in range(n):
            yield k

    @ljit.jit
    async def later(x):
        await asyncio.sleep(0)
        return x + 1

    @ljit.jit
    async def many(n):
        for k in range(n):
            yield k

    async def gather():
        return [k async for k in many(3)]

    for _ in range(3):
        assert list(numbers(3)) == [0, 1, 2]
        assert asyncio.run(later(1)) == 2
        assert asyncio.run(gather()) == [0, 1, 2]
    assert "left to CPython" in numbers.explain()
    assert "left to CPython" in later.explain()


@pytest.mark.parametrize("rounds", [3, 200])
def test_defaults_that_change_are_seen(rounds):
    def f(x, y=1.0, *, z=2.0):
        return x + y + z

    compiled = ljit.jit(f)
    for _ in range(rounds):
        assert compiled(1.0) == 4.0
    f.__defaults__ = (10.0,)
    assert compiled(1.0) == 13.0
    f.__kwdefaults__ = {"z": 20.0}
    assert compiled(1.0) == 31.0
    f.__kwdefaults__["z"] = 2
    assert compiled(1.0) == 13.0
    f.__defaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        compiled(1.0)


def scaled(x, factor=2, *, shift=1):
    return x * factor + shift


def test_a_decorated_function_has_the_attributes_of_the_plain_one():
    f = ljit.jit(scaled)
    assert f.__code__ is scaled.__code__
    assert f.__globals__ is scaled.__globals__
    assert f.__builtins__ is scaled.__builtins__
    assert f.__closure__ is None
    assert f.__defaults__ == (2,)
    assert f.__kwdefaults__ == {"shift": 1}
    with pytest.raises(AttributeError):
        f.__closure__ = ()


def test_new_defaults_of_a_decorated_function_count_from_the_next_call_on():
    def own(x, factor=2, *, shift=1):
        return x * factor + shift

    f = ljit.jit(own)
    assert [f(3) for _ in range(5)] == [7] * 5
    f.__defaults__ = (10,)
    assert [f(3) for _ in range(5)] == [31] * 5
    f.__kwdefaults__ = {"shift": 100}
    assert [f(3) for _ in range(5)] == [130] * 5
    assert own(3) == 130


WITHOUT_NUMPY = """
import traceback
import ljit

@ljit.jit
def last_item(xs):
    return xs[-1]

try:
    import numpy
except ImportError:
    print("none", flush=True)
print([last_item([k, k + 1]) for k in range(3)], flush=True)
try:
    last_item([])
except IndexError as error:
    print([entry.name for entry in traceback.extract_tb(error.__traceback__)], flush=True)
"""


def test_an_interpreter_that_cannot_import_numpy_runs_functions_undecorated(tmp_path):
    """Only one interpreter of a process can."""
    pytest.importorskip("_xxsubinterpreters")
    (tmp_path / "without_numpy.py").write_text(WITHOUT_NUMPY)
    script = f"""
        import _xxsubinterpreters, sys
        import numpy

        other = _xxsubinterpreters.create(isolated=False)
        path = [{str(tmp_path)!r}, *sys.path]
        _xxsubinterpreters.run_string(other, f"import sys; sys.path = {{path}}; import without_numpy")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300
    )
    expected = ["none", "[1, 2, 3]", "['<module>', 'last_item']"]
    assert done.stdout.splitlines() == expected, done.stdout + done.stderr[-2000:]
