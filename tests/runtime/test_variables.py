"""Global and closure variables that change between calls and during calls are seen."""

from __future__ import annotations

import builtins
import itertools
import linecache
import math
import sys
import types

import numpy as np
import pytest

import ljit
from tests.programs.harness import compare

SOURCE = """
SCALE = 2.0

def callee():
    global SCALE
    SCALE = SCALE + 1.0
    return 0.0

def helper(x):
    return x * 2.0

def redefine():
    global helper
    def helper(x):
        return x * 100.0

def hook():
    return None

def defaulted(x, y=2.0):
    return x * y

def reads_twice(x):
    a = x * SCALE
    b = callee()
    return a + x * SCALE + b

def counts(x):
    return len(x) + 1

def calls_helper(x):
    a = helper(x)
    hook()
    return a + helper(x)

def loops(n):
    s = 0.0
    for i in range(n):
        s += SCALE
        callee()
    return s

def calls_defaulted(x):
    return defaulted(x) + 1

def sums_nested(x):
    def half(y):
        return y / 2 + SCALE

    def quarter(y):
        return half(half(y))
    return sum(quarter(k) for k in range(int(x)))

def maps_helper(xs):
    total = sum(map(helper, xs))
    for y in map(helper, xs):
        hook()
        total += y
    return total, list(map(len, [xs, xs]))
"""
_numbers = itertools.count()


def make_module():
    """The source above as a module of its own, with lines that ljit can read."""
    name = f"<variables {next(_numbers)}>"
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), name)
    module = types.ModuleType("variables")
    exec(compile(SOURCE, name, "exec"), module.__dict__)
    return module


def outcome(function, args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


def set_scale(module, call):
    module.SCALE = float(call)


def retype_scale(module, call):
    module.SCALE = (1, 2.5, np.arange(3.0), 2**70)[call % 4]


def delete_scale(module, call):
    if call == 4:
        del module.SCALE
    elif call == 5:
        module.SCALE = 7.0


def shadow_len(module, call):
    if call == 4:
        module.len = lambda x: 77
    elif call == 7:
        del module.len


def replace_helper(module, call):
    if call == 4:
        exec("def helper(x): return x * 5.0", module.__dict__)
    elif call == 7:
        module.helper = float


def redefine_during_the_call(module, call):
    if call == 4:
        module.hook = module.redefine


def redefine_always(module, call):
    module.hook = module.redefine


def change_defaults(module, call):
    function = getattr(module.defaulted, "__wrapped__", module.defaulted)
    function.__defaults__ = {4: (10.0,), 7: ()}.get(call, function.__defaults__)


def shadow_map(module, call):
    if call == 4:
        module.map = lambda function, xs: [function(x) + 1.0 for x in xs]
    elif call == 7:
        del module.map


def shadow_sum(module, call):
    if call == 4:
        module.sum = lambda items: [*items, 0.5]
    elif call == 7:
        del module.sum


def nothing(module, call):
    pass


CASES = [
    ("reads_twice", nothing, (3.0,)),
    ("reads_twice", set_scale, (3.0,)),
    ("reads_twice", retype_scale, (3.0,)),
    ("reads_twice", delete_scale, (3.0,)),
    ("loops", nothing, (1000,)),
    ("loops", nothing, (5,)),
    ("loops", set_scale, (5,)),
    ("loops", retype_scale, (300,)),
    ("counts", shadow_len, ([1, 2],)),
    ("calls_helper", replace_helper, (2.0,)),
    ("calls_helper", redefine_during_the_call, (2.0,)),
    ("calls_helper", redefine_always, (2.0,)),
    ("defaulted", change_defaults, (2.0,)),
    ("calls_defaulted", change_defaults, (2.0,)),
    ("sums_nested", shadow_sum, (3.0,)),
    ("sums_nested", retype_scale, (3.0,)),
    ("maps_helper", replace_helper, ((2.0, 3.0),)),
    ("maps_helper", redefine_during_the_call, ((2.0, 3.0),)),
    ("maps_helper", redefine_always, ((2.0, 3.0),)),
    ("maps_helper", shadow_len, ((2.0, 3.0),)),
    ("maps_helper", shadow_map, ((2.0, 3.0),)),
]


@pytest.mark.parametrize(
    ("name", "change", "args"), CASES, ids=[f"{n}-{c.__name__}-{a}" for n, c, a in CASES]
)
def test_changed_variables_are_seen(name, change, args):
    plain, mine = make_module(), make_module()
    setattr(mine, name, ljit.jit(getattr(mine, name)))
    for call in range(10):
        for module in (plain, mine):
            change(module, call)
        expected = outcome(getattr(plain, name), args)
        actual = outcome(getattr(mine, name), args)
        assert compare(expected, actual) is None, f"call {call}"
    assert sum(info.compiles for info in getattr(mine, name).specializations) <= 5


def make_closure():
    factor = 1.0

    def change(value):
        nonlocal factor
        factor = value

    def delete():
        nonlocal factor
        del factor

    def scaled(x):
        return x * factor

    def changes_meanwhile(x):
        before = x * factor
        change(factor + 1)
        return before + x * factor

    return change, delete, scaled, changes_meanwhile


@pytest.mark.parametrize("which", [2, 3])
def test_changed_cells_are_seen(which):
    plain, mine = make_closure(), make_closure()
    compiled = ljit.jit(mine[which])
    for call in range(16):
        for made in (plain, mine):
            if call % 3 == 0:
                made[0](float(call))
            if call == 8:
                made[0](3)
            if call == 10:
                made[1]()
            if call == 11:
                made[0](2**70)
        expected, actual = outcome(plain[which], (2.0,)), outcome(compiled, (2.0,))
        assert compare(expected, actual) is None, f"call {call}"


def roots(x):
    return math.sqrt(x) + np.sqrt(x)


def test_patched_module_attributes_are_seen(monkeypatch):
    compiled = ljit.jit(roots)
    for call in range(16):
        if call == 4:
            monkeypatch.setattr(math, "sqrt", lambda x: 5.0)
        elif call == 8:
            monkeypatch.setattr(np, "sqrt", lambda x: 7.0)
        elif call == 12:
            monkeypatch.undo()
        assert compare(roots(4.0), compiled(4.0)) is None, f"call {call}"


def test_a_global_that_changes_each_call_becomes_a_variable():
    module = make_module()
    compiled = module.reads_twice = ljit.jit(module.reads_twice)
    for call in range(50):
        module.SCALE = float(call)
        assert compiled(1.0) == 2 * call + 1
    (info,) = compiled.specializations
    assert info.state == "native"
    assert info.compiles <= 4


def test_recursion_goes_through_the_name():
    def make():
        module = types.ModuleType("recursive")
        source = "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\n"
        name = f"<variables {next(_numbers)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), module.__dict__)
        return module

    module = make()
    compiled = module.fact = ljit.jit(module.fact)
    for n in (3, 10, 25, 10):
        assert compiled(n) == math.factorial(n)
    module.fact = lambda n: 5
    assert compiled(10) == 50
    module.fact = float
    assert compare(compiled(3), 6.0) is None
    assert compiled(10) == 90.0


_changing: object = 0


def test_variables_that_always_change_are_read_without_a_call_of_python():
    counted = 0

    def count() -> None:
        global _changing
        nonlocal counted
        _changing = counted = counted + 1

    @ljit.jit
    def sum_of_counts(n):
        total = 0
        for _ in range(n):
            count()
            total += _changing + counted
        return total

    assert [sum_of_counts(2) for _ in range(6)] == [6, 14, 22, 30, 38, 46]
    text = sum_of_counts.dump_llvm()
    assert "@global." in text
    assert "@cell." in text


def test_a_variable_that_comes_and_goes_is_looked_up_each_time():
    @ljit.jit
    def next_one(n):
        return _comes_and_goes + n  # noqa: F821 (it has no value)

    names = next_one.__globals__
    for value in (1, 2, 3, 2.5, 4, "text", 5):
        for _ in range(2):
            with pytest.raises(NameError, match="name '_comes_and_goes' is not defined"):
                next_one(1)
        names["_comes_and_goes"] = value
        if value == "text":
            with pytest.raises(TypeError):
                next_one(1)
        else:
            assert next_one(1) == value + 1
        del names["_comes_and_goes"]


def _imports(x):
    import math
    from math import cos as c

    return math.sin(x) + c(x)


def test_imports_in_functions_see_modules_change(monkeypatch):
    fn = ljit.jit(_imports)
    for _ in range(3):
        assert fn(0.5) == _imports(0.5)
    assert "calls Python" not in fn.explain()
    monkeypatch.setattr(math, "sin", lambda x: 10.0)
    assert fn(0.5) == _imports(0.5) == 10.0 + math.cos(0.5)
    monkeypatch.setattr(math, "cos", lambda x: 20.0)
    assert fn(0.5) == _imports(0.5) == 30.0
    other = types.ModuleType("math")
    other.sin = other.cos = lambda x: "a"
    monkeypatch.setitem(sys.modules, "math", other)
    assert fn(0.5) == _imports(0.5) == "aa"
    monkeypatch.delattr(other, "cos")
    with pytest.raises(ImportError, match="cannot import name 'cos' from 'math'"):
        fn(0.5)
    monkeypatch.undo()
    assert fn(0.5) == _imports(0.5)


def test_imports_in_functions_ask_the_import_hook(monkeypatch):
    fn = ljit.jit(_imports)
    for _ in range(3):
        fn(0.5)
    asked = []

    def load(name, *args):
        asked.append((name, *args[2:]))
        return plain(name, *args)

    plain = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", load)
    assert fn(0.5) == _imports(0.5)
    monkeypatch.undo()
    asked = [call for call in asked if call[0] == "math"]
    assert asked == [("math", None, 0), ("math", ("cos",), 0)] * 2


NAMED_AS_BUILTINS = """
def eval(position):
    total = 0
    for i in range(position):
        total += i * position
    return total

def best(positions, first=3):
    return max([eval(p) for p in positions]) + first * eval(2)

def shown(first=3):
    return eval("first") + len(dir())

def total_of_vars():
    total = 0
    for x in vars:
        total += x
    return total

def nested(exec, positions):
    def run(p):
        return exec(p) + 1
    return [run(p) for p in positions]

def within(exec):
    def run(p):
        total = 0
        for i in range(p):
            total += exec(i) + i
        return total
    return run
"""


def named_as_builtins():
    lines = NAMED_AS_BUILTINS.splitlines(keepends=True)
    linecache.cache["<named as builtins>"] = (
        len(NAMED_AS_BUILTINS),
        None,
        lines,
        "<named as builtins>",
    )
    made = types.ModuleType("named_as_builtins")
    exec(compile(NAMED_AS_BUILTINS, "<named as builtins>", "exec"), vars(made))
    return made


def test_functions_named_as_those_that_look_at_frames_are_like_others():
    plain, module = named_as_builtins(), named_as_builtins()
    with ljit.config.overridden(cold_calls=False):
        module.eval = ljit.jit(module.eval)
        best = module.best = ljit.jit(module.best)
        run, plain_run = ljit.jit(module.within(module.eval)), plain.within(plain.eval)
        nested = ljit.jit(module.nested)
        for _ in range(3):
            assert best([1, 5, 3]) == plain.best([1, 5, 3])
            assert run(6) == plain_run(6)
            assert nested(plain.eval, [4, 5]) == plain.nested(plain.eval, [4, 5])
        for found in (best, run, nested):
            assert sum(s.calls for s in found.specializations), found.explain()


def test_a_name_that_is_a_builtin_again_has_the_function_translated_anew():
    module = named_as_builtins()
    with ljit.config.overridden(cold_calls=False):
        module.dir = lambda: [1]
        shown, own = ljit.jit(module.shown), module.eval
        module.eval = lambda text: len(text)
        for _ in range(3):
            assert shown() == 6
        assert sum(s.calls for s in shown.specializations)
        del module.eval, module.dir
        for _ in range(3):
            assert shown() == 4  # the variable itself, and the only one
        module.eval, module.dir = own, lambda: []
        with pytest.raises(TypeError, match="cannot be interpreted"):
            shown()


def test_a_variable_named_as_a_builtin_may_be_bound_again_and_again():
    module = named_as_builtins()
    with ljit.config.overridden(cold_calls=False):
        module.vars = [1]
        total = ljit.jit(module.total_of_vars)
        total()
        executor = total._executor
        for n in range(1, 8):
            module.vars = list(range(n))
            assert total() == sum(range(n))
        assert total._executor is executor  # not translated anew
        assert [s.state.partition(",")[0] for s in total.specializations] == ["native"]


def test_what_a_module_has_may_change_where_the_module_is_an_argument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = types.ModuleType("given")
    given.f = abs  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "given", given)

    @ljit.jit
    def f(m, x):
        return m.f(x)

    assert [f(given, -2) for _ in range(3)] == [2, 2, 2]
    given.f = float  # type: ignore[attr-defined]
    assert [type(f(given, -2)) for _ in range(3)] == [float] * 3
    monkeypatch.delitem(sys.modules, "given")
    assert [f(given, -2) for _ in range(3)] == [-2.0] * 3
    del given.f
    for _ in range(3):
        with pytest.raises(AttributeError, match="'given' has no attribute 'f'"):
            f(given, -2)


def test_any_number_of_modules_may_be_arguments() -> None:
    @ljit.jit
    def f(m):
        return m.__name__

    modules = [m for m in sys.modules.values() if type(m) is types.ModuleType][:40]
    for m in modules * 2:
        assert f(m) == m.__name__
