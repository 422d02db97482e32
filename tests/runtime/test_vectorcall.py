"""The function type: falls back to ``__call__``, binds, is collected; the slot works."""

from __future__ import annotations

import ctypes
import dis
import gc
import sys
import types
import weakref

import pytest

from ljit.runtime.vectorcall import (
    get_vectorcall,
    make_function_type,
    set_vectorcall,
    vectorcall_place,
)


class _Base:
    """A callable for tests."""

    def __init__(self, tag: object = None) -> None:
        self.tag = tag

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.tag, args, kwargs


Callable = make_function_type(_Base)


def test_type_keeps_name_module_and_doc_of_its_base():
    assert (Callable.__name__, Callable.__module__) == ("_Base", __name__)
    assert Callable.__doc__ == "A callable for tests."
    assert isinstance(Callable(), _Base)


def test_empty_slot_falls_back_to_dunder_call_for_every_kind_of_call():
    f = Callable("t")
    args, kwargs = (1, 2), {"k": 3}
    for _ in range(50):  # so that CPython's specialising interpreter sees it often
        assert f() == ("t", (), {})
        assert f(1, 2) == ("t", (1, 2), {})
        assert f(1, k=3) == ("t", (1,), {"k": 3})
        assert f(*args) == ("t", (1, 2), {})
        assert f(*args, **kwargs) == ("t", (1, 2), {"k": 3})
    assert list(map(f, [1])) == [("t", (1,), {})]
    assert get_vectorcall(f) == 0


def test_objects_have_a_dict_and_weak_references_and_are_collected_in_cycles():
    f = Callable()
    f.extra = f
    ref = weakref.ref(f)
    assert f.__dict__ == {"tag": None, "extra": f}
    del f
    gc.collect()
    assert ref() is None


def test_calls_of_methods_are_specialised_by_cpython():
    class Holder:
        def __init__(self) -> None:
            self.value = 1

        method = Callable("t")

    def call(x: Holder) -> object:
        return x.method(1)

    holder = Holder()
    for _ in range(100):
        assert call(holder) == ("t", (holder, 1), {})
    names = [i.opname for i in dis.get_instructions(call, adaptive=True)]
    assert any(name.startswith(("LOAD_METHOD_WITH", "LOAD_ATTR_METHOD_")) for name in names), names


def test_attributes_of_the_type_cannot_be_set():
    with pytest.raises(TypeError, match="immutable type"):
        Callable.__get__ = None


def test_a_plain_function_has_what_its_calls_jump_to_where_it_is_looked_for():
    def same(x: object) -> object:
        return x

    place = ctypes.c_void_p.from_address(id(same) + vectorcall_place(type(same)))
    objects = ctypes.py_object * 1
    kind = (ctypes.py_object, ctypes.py_object, objects, ctypes.c_size_t, ctypes.c_void_p)
    entry = ctypes.PYFUNCTYPE(*kind)(place.value)
    assert entry(same, objects("text"), 1, None) == "text"


def test_instances_do_not_leak_references_to_the_type():
    Callable()
    before = sys.getrefcount(Callable)
    for _ in range(1000):
        Callable()
    assert sys.getrefcount(Callable) == before


def test_binds_as_a_method_and_not_on_the_class():
    class C:
        m = Callable("m")

    c = C()
    for _ in range(50):
        assert c.m(1) == ("m", (c, 1), {})
    assert isinstance(c.m, types.MethodType)
    assert c.m.__self__ is c
    assert C.m is C.__dict__["m"]
    bind = type(C.m).__get__
    assert bind(C.m, c).__func__ is C.m
    assert bind(C.m, c, C) == c.m
    assert bind(C.m, None, C) is C.m
    with pytest.raises(TypeError):
        bind(C.m, None)
    c.__dict__["m"] = "shadow"
    assert c.m == "shadow"


def test_type_cannot_be_subclassed():
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Sub", (Callable,), {})


_VECTORCALL = ctypes.PYFUNCTYPE(
    ctypes.py_object,
    ctypes.py_object,
    ctypes.POINTER(ctypes.py_object),
    ctypes.c_size_t,
    ctypes.c_void_p,
)


def test_calls_jump_to_the_slot_until_it_is_cleared():
    @_VECTORCALL
    def entry(self, args, nargsf, kwnames):
        count = nargsf & ~(1 << 63)
        return "native", self.tag, [args[i] for i in range(count)], kwnames is not None

    f, g = Callable("f"), Callable("g")
    address = ctypes.cast(entry, ctypes.c_void_p).value
    set_vectorcall(f, address)
    assert get_vectorcall(f) == address

    class C:
        m = f

    c = C()
    for _ in range(50):
        assert f(1, 2) == ("native", "f", [1, 2], False)
        assert f(*(1,)) == ("native", "f", [1], False)
        assert f(1, k=2) == ("native", "f", [1], True)
        assert c.m(3) == ("native", "f", [c, 3], False)
        assert g(1) == ("g", (1,), {})
    set_vectorcall(f, 0)
    assert f(1) == ("f", (1,), {})
