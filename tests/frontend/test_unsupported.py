"""What is not translated says so, at the right place and with a way out; what is refused would have been wrong."""

from __future__ import annotations

import collections
import enum
import sys
import typing

import pytest

import ljit
from ljit.errors import UnsupportedSyntaxError
from ljit.frontend.emitting.emit import build_graph
from tests.frontend.harness import function_of


def name_of_caller():
    return sys._getframe(1).f_code.co_name


WARNINGS_IN_COMPREHENSIONS = (  # which have no frames of their own later
    [
        (
            "[warnings.warn('x') for _ in y]",
            "warn\\(\\) in a nested function or a compre",
            "warnings.warn('x')",
        )
    ]
    if sys.version_info < (3, 12)
    else []
)


@pytest.mark.parametrize(
    ("body", "message", "caret"),
    [
        ("try: pass\n    except x:\n      def g(): raise\n      g()", "in except clauses only", "raise"),
        ("global z\n    try: pass\n    except x as z: pass", "except as z, a global", "except x as z: pass"),
        ("try: pass\n    except* ValueError: pass", r"try/except\* is not translated", "try: pass"),
        ("yield 1", "a generator", "yield 1"),
        ("yield from x", "a generator", "yield from x"),
        ("x = [(yield)]", "a generator", "yield"),
        ("return 1\n    yield 2", "a generator", "yield 2"),
        ("return (lambda: (yield))()", "a generator", "yield"),
        ("return lambda y=(yield): y", "a generator", "yield"),
        ("def g(*, y=(yield 3)): pass", "a generator", "yield 3"),
        ("@(yield 4)\n    def g(): pass", "a generator", "yield 4"),
        ("class C: pass", "a class in a function", "class C: pass"),
        ("async def g(): pass", "async code", "async def g(): pass"),
        ("def g():\n      global z\n    z = 1\n    g()", "where a function around has a z", "global z"),
        ("global z\n    del z", "del of a global", "z"),
        ("def g():\n      z = 1\n      def k():\n        nonlocal z\n        z = 2\n      h(k)\n    g()", "may be bound again", "def k():"),
        ("raise", "raise without an exception", "raise"),
        ("return locals()", "locals\\(\\) looks at the frame", "locals()"),
        ("return vars()", "vars\\(\\) looks at the frame", "vars()"),
        ("return super().x", "super\\(\\) looks at the frame", "super()"),
        ("return eval('1')", "eval\\(\\) looks at the frame", "eval('1')"),
        ("x = exec", "exec\\(\\) looks at the frame", "exec"),
        ("for x in globals(): pass", "globals\\(\\) looks at the frame", "globals()"),
        ("return sys._getframe(0)", "_getframe\\(\\) looks at the frame", "sys._getframe(0)"),
        ("return type('C', (), {})", "type\\(\\) looks at the frame that calls it", "type('C', (), {})"),
        ("x.y.resize(3)", "resize\\(\\) counts the references", "x.y.resize"),
        ("x.resize(3, refcheck=y)", "resize\\(\\) counts the references", "x.resize"),
        ("x.resize(3, refcheck=True)", "resize\\(\\) counts the references", "x.resize"),
        ("x.resize(*y)", "resize\\(\\) counts the references", "x.resize"),
        ("z = x.resize\n    z(3)", "resize\\(\\) counts the references", "x.resize"),
        ("getattr(x, 'resize')(3)", "resize\\(\\) counts the references", "getattr(x, 'resize')"),
        ("np.ndarray.resize(x, 3)", "resize\\(\\) counts the references", "np.ndarray.resize"),
        *WARNINGS_IN_COMPREHENSIONS,
        ("def g(): warn('x')\n    g()", "warn\\(\\) in a nested function", "warn('x')"),
        ("warn(*x)", "warn\\(\\) in a nested function or a comprehension, or with stars", "warn(*x)"),
        ("x = warn", "warn\\(\\) looks at the frame", "warn"),
        ("def g():\n      z = 1\n      f = lambda: z\n      z = 2\n      return f\n    g()", "'z' may be bound again", "lambda: z"),
        ("def g():\n      def k(): return k()\n      return k()\n    g()", "'k' is recursive", "k()"),
        ("return (lambda x: x)()", "the arguments do not fit", "(lambda x: x)()"),
        ("return [(lambda: x) for x in y]", "'x' may be bound again", "lambda: x"),
        ("def g(): return sum((z := x) for x in y)\n    g()", "'z' is bound by :=", "((z := x) for x in y)"),
        ("async def g(): pass", "async code", "async def g(): pass"),
        ("x = [await y for y in z]", "async code", "await y"),
    ],
)  # fmt: skip
def test_what_is_not_translated_is_refused_at_its_place(body, message, caret):
    kind = "async def" if "await" in body else "def"
    fn = function_of(f"{kind} f():\n    {body}\n")
    if kind == "async def":
        message, caret = "async code", "async def f():"
    with pytest.raises(UnsupportedSyntaxError, match=message) as info:
        build_graph(fn)
    first, *_, line, carets = str(info.value).split("\n")
    assert "; " in first, "it says what to do"
    marked = line[carets.index("^") : carets.rindex("^") + 1]
    assert marked == caret


def test_what_a_function_imports_or_names_itself_is_known():
    import collections as closed_over

    def of_an_import(x):
        from collections import namedtuple

        return x, namedtuple("point", "a b").__module__

    def of_a_module(x):
        import typing as t

        return x, t.TypeVar("T").__module__, t.NamedTuple("point", [("a", int)]).__module__

    def of_a_closure(x):
        return x, closed_over.namedtuple("point", "a b").__module__

    def of_builtins(x):
        import builtins

        return sorted(builtins.locals())

    def of_a_frame(x):
        from sys import _getframe

        return x, _getframe().f_code.co_name

    def of_another_name(x):
        look, made = vars, list
        other = made = type
        return x, made("point", (), {"x": 1}).__module__, sorted(look()), other

    for function in (
        of_an_import,
        of_a_module,
        of_a_closure,
        of_builtins,
        of_a_frame,
        of_another_name,
    ):
        compiled = ljit.jit(function)
        for k in range(3):
            assert compiled(k) == function(k)
        assert "looks at the frame" in compiled.explain()


def test_warnings_of_an_imported_function_name_its_line():
    def warning_of_its_own(x):
        from warnings import warn

        warn("one")
        return x

    compiled = ljit.jit(warning_of_its_own)
    for k in range(4):
        with pytest.warns(UserWarning) as caught:
            assert compiled(k) == k
        line = warning_of_its_own.__code__.co_firstlineno + 3
        assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]


def test_functions_that_look_at_their_callers_find_them():
    def classes(x):
        point = collections.namedtuple("point", "a b")
        return point(x, 1), point.__module__, enum.Enum("Color", "RED BLUE").__module__

    def names(x):
        return x, name_of_caller()

    def classes_of_typing(x):
        point = typing.NamedTuple("point", [("a", int)])
        return point(x), point.__module__, typing.NewType("Length", int).__module__

    def classes_of_metaclasses(x):
        return x, Meta("Made", (), {"x": 1}).__module__

    for function in (classes, names, classes_of_typing, classes_of_metaclasses):
        compiled = ljit.jit(function)
        for k in range(3):
            assert compiled(k) == function(k)
        assert "looks at the frame that calls it" in compiled.explain()
    assert "py::call" in str(build_graph(function_of("def f(x): return type(x)")))


class Meta(type):
    """Makes classes of the module that calls it."""


class Asked:
    """An object that does not like to be asked for attributes."""

    @property
    def __class__(self):
        raise RuntimeError("asked for its class")

    def __getattr__(self, name):
        raise RuntimeError(f"asked for {name}")

    def __call__(self, x):
        return x


ASKED = None  # pytest looks at what is here


def test_callees_are_not_asked_for_attributes(monkeypatch):
    monkeypatch.setitem(globals(), "ASKED", Asked())

    def calls(x):
        return ASKED(x)

    assert "py::call" in str(build_graph(calls))


def test_an_endless_inlining_is_refused():
    lines = ["def f(x):", "    def g0(x): return [x + 1 for y in x]"]
    for i in range(1, 14):
        lines.append(f"    def g{i}(x): return g{i - 1}(x), g{i - 1}(x)")
    text = "\n".join([*lines, "    return g13(x)\n"])
    with pytest.raises(UnsupportedSyntaxError, match="too large"):
        build_graph(function_of(text))


def test_an_expression_nested_too_deeply_is_refused():
    fn = function_of("def f(x): return " + "+".join(["x"] * 800))
    with pytest.raises(UnsupportedSyntaxError, match="nested too deeply"):
        build_graph(fn)


def test_names_of_local_functions_may_shadow_frame_builtins():
    fn = function_of("def f(eval, vars):\n    return eval(1) + vars()\n")
    assert "py::call" in str(build_graph(fn))
