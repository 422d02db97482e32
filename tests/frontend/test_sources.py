"""The source of a function is found whatever it stands beside, and never a wrong one."""

from __future__ import annotations

import ast
import linecache
import warnings
from dataclasses import InitVar, dataclass, field, make_dataclass

import pytest

from ljit.errors import SourceUnavailableError
from ljit.frontend import sources
from ljit.frontend.emitting.emit import build_graph
from ljit.frontend.sources import find_source, mangle
from tests.frontend.harness import function_of


def function_of_this_file():
    return 1


def text_of(fn):
    """The text that the found node spans."""
    found = find_source(fn)
    where = found.ranges.of(found.node)
    lines = list(found.ranges.source.lines[where.line - 1 : where.end_line])
    lines[-1] = lines[-1][: where.end_column]
    lines[0] = lines[0][where.column :]
    return "\n".join(lines)


def test_each_of_several_lambdas_on_a_line_is_found():
    text = "fs = [lambda: 1, lambda: 1, lambda x=lambda: 2: x, lambda: lambda: 3]"
    one, again, default, nested = function_of(text, "fs")
    assert text_of(one) == text_of(again) == "lambda: 1"
    if one.__code__ != again.__code__:  # CPython 3.12 up to some patch makes one code of both
        assert find_source(one).node.col_offset != find_source(again).node.col_offset
    assert text_of(default) == "lambda x=lambda: 2: x"
    assert text_of(default()) == "lambda: 2"
    assert text_of(nested) == "lambda: lambda: 3"
    assert text_of(nested()) == "lambda: 3"


def test_functions_nested_forty_deep_are_found():
    lambdas = "".join(f"lambda x{k}: " for k in range(40))
    one, other = function_of(f"fs = [{lambdas}x0 + 1, {lambdas}x0 + 2]", "fs")
    assert text_of(one) == f"{lambdas}x0 + 1"
    assert text_of(other) == f"{lambdas}x0 + 2"


def test_functions_in_statements_that_share_a_line_are_found():
    text = "f = (\n    lambda: 1); g = (lambda:\n    2); h = lambda: 3"
    for name, expected in (("f", "lambda: 1"), ("g", "lambda:\n    2"), ("h", "lambda: 3")):
        assert text_of(function_of(text, name)) == expected


def test_of_a_long_module_only_the_statements_around_a_function_are_looked_at(monkeypatch):
    text = "".join(f"def f{number}(x):\n    return x + {number}\n" for number in range(500))
    fn, looked, look = function_of(text, "f250"), [], sources._first_line
    monkeypatch.setattr(sources, "_first_line", lambda node: looked.append(node) or look(node))
    assert text_of(fn) == "def f250(x):\n    return x + 250"
    assert len(looked) < 60


def test_columns_are_characters_where_names_and_texts_are_not_ascii():
    text = "é = 'ü'; ö = lambda ß: ('äöü' + ß); z = lambda: 'é'"
    assert text_of(function_of(text, "ö")) == "lambda ß: ('äöü' + ß)"
    assert text_of(function_of(text, "z")) == "lambda: 'é'"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["    ", "\t", " "])
def test_tabs_and_line_ends_keep_their_columns(end, indent):
    text = end.join(["if True:", indent + "def f(x):", indent * 2 + "return  x", ""])
    assert text_of(function_of(text)).splitlines()[1] == indent * 2 + "return  x"


def test_decorated_functions_are_found_under_and_over_other_decorators():
    text = (
        "def same(fn):\n    return fn\n"
        "@same\n@(lambda fn: fn)\ndef f(x):\n    return x\n"
        "def g(x): return x\n"
    )
    assert text_of(function_of(text)) == "def f(x):\n    return x"
    assert text_of(function_of(text, "g")) == "def g(x): return x"


def test_functions_of_one_name_are_told_apart():
    text = "def f(): return 1\nf1 = f\ndef f(): return 2\nfs = [f1, f]\n"
    first, second = function_of(text, "fs")
    assert text_of(first) == "def f(): return 1"
    assert text_of(second) == "def f(): return 2"


def test_closures_methods_and_private_names_compile_to_the_same_code():
    text = """
import math
def outer(k):
    class _C:
        def __m(self): return self.__x + k
        def get(self): return self.__m, lambda: __class__, math.sin(k)
    return _C()
c = outer(1)
fs = [c._C__m.__func__, c.get.__func__, c.get()[1]] if hasattr(c, 'x') else [type(c).__dict__['_C__m'], type(c).get]
"""
    for fn in function_of(text, "fs"):
        assert text_of(fn).startswith("def ")
    assert find_source(function_of(text, "fs")[0]).class_name == "_C"


def test_calls_of_imported_modules_compile_to_the_same_code():
    text = "try:\n    import math\nexcept ImportError:\n    math = None\ndef f(x): return math.sin(x)\n"
    assert text_of(function_of(text)) == "def f(x): return math.sin(x)"


def test_functions_of_a_file_share_its_text():
    """It would be kept once for each function that was called."""
    first, second = (find_source(fn).ranges.source for fn in (text_of, function_of_this_file))
    assert first.lines is second.lines


def test_future_annotations_compile_to_the_same_code():
    text = "from __future__ import annotations\ndef f(x: int):\n    def g(y: nowhere): return y\n    return g(x)\n"
    assert text_of(function_of(text)).startswith("def f(x: int)")


def test_a_file_that_does_not_parse_is_searched_for_the_function_alone():
    fn = function_of("if 1:\n  def f(x):\n      return x\n\ny = 1\n")
    lines, filename = linecache.cache[fn.__code__.co_filename][2], fn.__code__.co_filename
    changed = [*lines[:-1], "%magic of a notebook\n"]
    linecache.cache[filename] = (1, None, changed, filename)
    assert text_of(fn) == "def f(x):\n      return x"
    assert find_source(fn).node.lineno == 2
    assert find_source(fn).node.col_offset == 2


@pytest.mark.parametrize("action", ["error", "always"])
def test_what_cpython_warned_of_is_not_warned_of_again(action):
    text = (
        "def f(x):\n    def inner(y):\n        return y is 2, '\\d', x\n    return inner, x is 1\n"
        "def g(x): return x + 1 or (1)('\\q')\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functions = [function_of(text, name) for name in "fg"]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)
        before = [*warnings.filters]
        for fn in functions:
            assert text_of(fn).startswith(f"def {fn.__name__}(x)")
            build_graph(fn)
        assert warnings.filters == before
    assert seen == []


def test_a_changed_source_is_noticed():
    fn = function_of("def f(x):\n    return x + 1\n")
    filename = fn.__code__.co_filename
    linecache.cache[filename] = (1, None, ["def f(x):\n", "    return x + 2\n"], filename)
    with pytest.raises(SourceUnavailableError, match="changed after it was loaded"):
        find_source(fn)


def test_a_file_changed_on_disk_is_noticed(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(x):\n    return x + 1\n")
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    assert text_of(namespace["f"]).endswith("return x + 1")
    path.write_text("\n\ndef f(x):\n    return x + 100\n")
    with pytest.raises(SourceUnavailableError):
        find_source(namespace["f"])


def test_a_function_without_source_has_a_reason():
    namespace = {}
    exec(compile("def f(x): return x", "<text that nobody keeps>", "exec"), namespace)
    with pytest.raises(SourceUnavailableError, match="made by exec"):
        build_graph(namespace["f"])


def test_what_is_not_a_python_function_has_a_reason():
    with pytest.raises(SourceUnavailableError, match="not a function that is written in Python"):
        build_graph(len)


def test_a_function_that_is_warm_is_found():
    fn = function_of("def f(x):\n    for i in range(x): x += i * x.real\n    return x\n")
    for _ in range(200):
        fn(3)
    assert text_of(fn).startswith("def f(x):")


def test_a_function_with_an_assert_rewritten_by_pytest_is_found():
    def f(x):
        assert x > 0, "positive"
        return x

    assert any(name.startswith("@") for name in (*f.__code__.co_names, *f.__code__.co_varnames))
    assert text_of(f).startswith("def f(x):")


def test_coding_cookies_and_form_feeds_do_not_shift_lines(tmp_path):
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\nx = 'é'\n\x0c\ndef f(): return 'ä', 1\n".encode("latin-1"))
    namespace = {}
    exec(compile(path.read_bytes(), str(path), "exec"), namespace)
    assert text_of(namespace["f"]) == "def f(): return 'ä', 1"


@pytest.mark.parametrize(
    ("name", "class_name", "expected"),
    [
        ("__x", "C", "_C__x"),
        ("__x", "_C", "_C__x"),
        ("__x", "__", "__x"),
        ("__x__", "C", "__x__"),
        ("_x", "C", "_x"),
        ("__x", None, "__x"),
    ],
)
def test_private_names_are_mangled_as_by_cpython(name, class_name, expected):
    assert mangle(name, class_name) == expected


@dataclass
class Plain:
    x: float
    y: float = 2.0


@dataclass
class Filled:
    x: int
    items: list = field(default_factory=list)
    key: int = field(default=3, kw_only=True)
    unset: int = field(init=False, default=7)
    seen: dict = field(init=False, default_factory=dict)
    scale: InitVar[int] = 3

    def __post_init__(self, scale):
        self.x *= scale


@dataclass(frozen=True)
class Frozen:
    x: float
    self: int = 0
    items: list = field(default_factory=list)


@dataclass(slots=True)
class Slotted(Plain):
    z: float = 1.0
    kept: int = field(init=False, default=7)


@pytest.mark.parametrize(
    ("cls", "lines"),
    [
        (Plain, ["self.x = x", "self.y = y"]),
        (Filled, ["self.x = x", "self.items = ", "self.key", "self.seen = ", "self.__post_init__"]),
        (Frozen, ["", "", ""]),
        (Slotted, ["self.x = x", "self.y = y", "self.z = z", "self.kept = "]),
    ],
)
def test_constructors_of_dataclasses_are_written_anew(cls, lines):
    body = find_source(cls.__init__).node.body
    assert len(body) == len(lines)
    assert all(ast.unparse(one).startswith(line) for one, line in zip(body, lines, strict=True))


def test_other_functions_without_a_text_are_none_of_these():
    namespace = {}
    text = "class A:\n def __init__(self, x):\n  self.x=x + 1\n  self.y=x"
    exec(compile(text, "<string>", "exec"), namespace)
    empty = make_dataclass("Empty", [])
    for function in (namespace["A"].__init__, empty.__init__, Plain.__eq__):
        with pytest.raises(SourceUnavailableError):
            find_source(function)
