"""Dicts and sets give and take what they do in CPython, whatever their keys are and wherever these lie."""

from __future__ import annotations

import copy
import gc
import sys
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

from ljit.codegen.layouts import hash_layout
from tests.codegen.harness import Compiled
from tests.ops.python_harness import attempt, describe

MODULUS = 2**61 - 1
NAN = float("nan")
INTS = (
    *(0, 1, -1, -2, 5, -5, 256, 257, 2**30 - 1, 2**30, -(2**30), 2**31, 2**60),
    *(k * MODULUS + d for k in (-4, -3, -2, -1, 1, 2, 3, 4) for d in (-2, -1, 0, 1, 2)),
    *(2**63 - 1, -(2**63), 2**62, -(2**62)),
)
INTS = tuple(k for k in INTS if -(2**63) <= k < 2**63)
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e300,
    -1e-300,
    2.0**61,
    float("inf"),
    float("-inf"),
    NAN,
    5e-324,
    -1.5e-310,
    *(3.7 * 2.0**k for k in (-70, -33, -7, 8, 9, 10, 57, 58, 59, 60, 61, 70)),
)
PAIRS = tuple((a, b) for a in INTS[:9] for b in INTS[-9:]) + ((-1, -1), (0, 0), (-2, -1))
MIXED = tuple((a, b) for a in (0, -1, 7) for b in (0.0, 0.5, float("inf"), NAN))
NUMPYS = {
    "np.int64": tuple(map(np.int64, INTS[::3])),
    "np.int8": tuple(map(np.int8, (0, 1, -1, -2, 127, -128))),
    "np.uint32": tuple(map(np.uint32, (0, 1, 5, 2**32 - 1))),
    "np.float64": tuple(np.float64(x) for x in FLOATS[:12] if x == x),
    "np.float32": tuple(map(np.float32, (0.0, -0.0, 0.5, 0.1, 1e30, float("inf")))),
}
TEXTS = ("", "a", "b", "\0", "\xe4", "\u20ac", "\U0001f600", "ab", "a" * 300, "a\xe4", "a\u20ac")
TEXTS += tuple(f"key {k}" for k in range(300))
NAMED = tuple((text, k % 3) for k, text in enumerate(TEXTS[:40]))
KEYS = {"int": INTS, "float": FLOATS, "(int, int)": PAIRS, "(int, float)": MIXED, **NUMPYS}
KEYS |= {"str": TEXTS, "(str, int)": NAMED}
#: keys that are equal to others, or have their hashes
OTHERS = (
    True,
    False,
    1.0,
    -1.0,
    2.0**61,
    np.int64(5),
    np.float64(0.5),
    2**64,
    "a",
    (0, 0.0),
    (True, 1),
    (1.0,),
    None,
)


class Same:
    """Has the hash of a number, and may be equal to it."""

    def __init__(self, number, is_equal):
        self.number, self.is_equal = number, is_equal

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        return self.is_equal and self.number == other

    def __deepcopy__(self, _memo):
        return self

    def __repr__(self):
        return f"Same({self.number}, {self.is_equal})"


class Text(str):
    """Has the hash of a str, and may be equal to it."""

    def __hash__(self):
        return super().__hash__()

    def __eq__(self, other):
        return len(self) < 3 and super().__eq__(other)


class Attributes:
    """Objects whose attributes share their keys."""

    def __init__(self):
        self.a = 1
        self.b = 2


def _tables():
    """Dicts of which some keys were taken out, few and many, of one class and of several."""
    for keys in KEYS.values():
        for count in (3, len(keys)):
            table = dict.fromkeys(keys[:count], 7)
            table.pop(keys[1], None)
            yield table
        yield {**dict.fromkeys(OTHERS, 0.5), **dict.fromkeys(keys, 1000)}
    yield {}
    yield {"text": 1}
    yield dict.fromkeys(range(70_000), 1)
    yield {k << 20: k for k in range(300)}
    yield {Same(k, is_equal=bool(k & 1)): k for k in INTS if k != 0}
    yield {Text(text): 3 for text in TEXTS[:20]}
    yield {**{Text(text): 3 for text in TEXTS[:20:2]}, **dict.fromkeys(TEXTS[1:20:2], 4)}
    yield vars(Attributes())


TABLES = list(_tables())


def _check(f, evaluate, cases):
    for operands in cases:
        expected = attempt(evaluate, operands)
        assert attempt(f, operands).text == expected.text, operands[1:]


def _items(table):
    return [*table, *(table.values() if isinstance(table, dict) else ())]


def _contents(table, known):
    """Keys and values in their order: which object each is, or how it reads if it is none of those known."""
    return [id(x) if id(x) in known else describe(x) for x in _items(table)]


def _called(function, *operands):
    try:
        return describe(function(*operands))
    except Exception as error:  # noqa: BLE001  # compared by the caller
        return f"{type(error).__name__}: {error}"


def _check_on_copies(f, evaluate, table, arguments):
    """As `_check` with a table in front: that is copied and compared, as a text it would take far longer."""
    known = set(map(id, _items(table)))
    for rest in arguments:
        expected, found = table.copy(), table.copy()
        assert _called(f, found, *rest) == _called(evaluate, expected, *rest), rest
        assert _contents(found, known) == _contents(expected, known), rest


def _unit(params, op, result="%r"):
    names = [p.split(" : ")[0] for p in params]
    return Compiled(f"""
graph({", ".join(params)}):
  prim::Snapshot[at='before:0', names=('x0',)]({names[0]})
  {op}
  return ({result})
""")


def _keys(key):
    """A NaN is another one than those in the tables: native code does not know which object a number is."""
    more = (3, 2**20, 299 << 20, 69_999) if key == "int" else ()
    if key == "str":
        return ["".join(k) for k in map(list, TEXTS)]  # not the objects in the tables
    return copy.deepcopy((*KEYS[key], *more), {id(NAN): float("nan")})


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("op", ["py::contains", "py::not_contains"])
def test_in_tells_whether_there_is_an_equal_key(op, key):
    params = [f"%k : {key}", "%x : Object[builtins.CLASS]"]
    for cls in (dict, set, frozenset):
        named = [p.replace("CLASS", cls.__name__) for p in params]
        f = _unit(named, f"%r : bool = {op}(%k, %x)")
        want = op == "py::contains"
        for table in TABLES:
            x = cls(table)
            for k in _keys(key):
                assert f(k, x) is ((k in x) is want), k


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("cls", [dict, defaultdict, OrderedDict])
def test_items_of_dicts_are_those_of_equal_keys(cls, key):
    params = [f"%x : Object[{cls.__module__}.{cls.__name__}]", f"%k : {key}"]
    f = _unit(params, "%r : Any = py::getitem(%x, %k)")
    makers = {defaultdict: lambda table: defaultdict(list, table)}
    for table in TABLES[:-6] + TABLES[-3:]:
        x = makers.get(cls, cls)(table)
        _check_on_copies(f, lambda x, k: x[k], x, [(k,) for k in _keys(key)])


METHODS = {
    dict: (("get", 1), ("get", 2), ("pop", 1), ("pop", 2), ("setdefault", 2)),
    OrderedDict: (("get", 2), ("pop", 2), ("setdefault", 2)),
    set: (("add", 1), ("discard", 1), ("remove", 1)),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("cls", "name", "count"), [(c, *m) for c in METHODS for m in METHODS[c]])
def test_methods_find_equal_keys(cls, name, count, key):
    params = [f"%x : Object[{cls.__module__}.{cls.__name__}]", f"%k : {key}", "%d : float"][
        : count + 1
    ]
    operands = ", ".join(p.split(" : ")[0] for p in params)
    f = _unit(params, f"%r : Any = py::call_method[name={name!r}, kwnames=()]({operands})")
    rest = (2.5,) * (count - 1)
    keys = [k for k in _keys(key)[:20] if "nan" not in repr(k)]  # whose hash is its address
    for table in TABLES[:-6] + TABLES[-3:]:
        cases = [(k, *rest) for k in keys]
        _check_on_copies(f, lambda x, *args: getattr(x, name)(*args), cls(table), cases)


VALUES = {
    "int": (3, 2**40),
    "float": (0.5,),
    "bool": (True,),
    "str": ("text",),
    "None": (None,),
    "Any": ([1], 2, 0.5),
    "List[int]": ([1],),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("cls", [dict, defaultdict, OrderedDict])
def test_values_of_dicts_are_replaced(cls, value):
    name = f"{cls.__module__}.{cls.__name__}"
    f = _unit(
        [f"%x : Object[{name}]", "%k : int", f"%v : {value}"], "py::setitem(%x, %k, %v)", "%x"
    )
    before = (1, 1000, 2**40, 0.5, "old", None, True, [2])

    def store(x, k, v):
        x[k] = v
        return x

    for new in VALUES[value]:
        for old in before:
            x = cls() if cls is not defaultdict else defaultdict(list)
            x.update({1: old, 5: 7})
            _check(f, store, [(x, k, new) for k in (1, 2, -1)])


def test_a_value_that_others_have_keeps_its_digits():
    f = _unit(
        ["%x : Object[builtins.dict]", "%k : int", "%v : int"], "py::setitem(%x, %k, %v)", "%x"
    )
    value = int("123456")
    x = {1: value}
    f(x, 1, 654321)
    assert (value, x) == (123456, {1: 654321})


def test_a_dict_is_known_to_the_garbage_collector_once_it_has_to_be():
    f = _unit(
        ["%x : Object[builtins.dict]", "%k : int", "%v : List[int]"],
        "py::setitem(%x, %k, %v)",
        "%x",
    )
    x = dict([(1, 2)])
    f(x, 1, [3])
    assert gc.is_tracked(x)


def test_references_to_keys_and_values_are_counted():
    key, value, default = (1, 2**70), object(), object()
    text = "".join(["te", "xt"])
    x = {(1, 2): value, 5: value, **{k: default for k in range(900, 905)}, text: value}
    s = {5, 6}
    get = _unit(["%x : Object[builtins.dict]", "%k : int"], "%r : Any = py::getitem(%x, %k)")
    either = _unit(
        ["%x : Object[builtins.dict]", "%k : int", "%d : Any"],
        "%r : Any = py::call_method[name='get', kwnames=()](%x, %k, %d)",
    )
    add = _unit(
        ["%x : Object[builtins.set]", "%k : int"],
        "%r : Any = py::call_method[name='add', kwnames=()](%x, %k)",
    )

    named = _unit(["%x : Object[builtins.dict]", "%k : str"], "%r : Any = py::getitem(%x, %k)")

    def counts():
        return [sys.getrefcount(v) for v in (key, value, default, x, s, text)]

    before = counts()
    for _ in range(50):
        assert get(x, 5) is value
        assert named(x, text) is value
        assert named(x, "text") is value
        assert either(x, 5, default) is value
        assert either(x, 6, default) is default
        assert add(s, 5) is None
        with pytest.raises(KeyError):
            get(x, 77)
    assert counts() == before


def test_the_layout_is_known_to_the_interpreters_that_are_supported():
    assert hash_layout.is_known() == (sys.version_info < (3, 14))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("LINEAR_PROBES", 0),
        ("PERTURB_SHIFT", 4),
        ("ENTRY_SIZE", 16),
        ("SET_MASK", 24),
        ("KEYS_KIND", 8),
        ("TEXT_ENTRY_SIZE", 24),
        ("TEXT_KEYS", 3),
    ],
)
def test_another_layout_is_noticed(monkeypatch, name, wrong):
    monkeypatch.setattr(hash_layout, name, wrong)
    assert not hash_layout.is_known.__wrapped__()
