"""Structured arrays in native code: which accesses make no objects, and which arrays it takes."""

import numpy as np
import pytest

import ljit

FIELDS = [("x", "f8"), ("n", "i8"), ("p", "f4", 2)]


def of_fields(a):
    s = 0.0
    for i in range(len(a)):
        s += a["x"][i] * a["n"][i]
        a["x"][i] = s
    return s


def of_records(a):
    s = 0.0
    for i in range(len(a)):
        r = a[i]
        s += r["x"] * a[i]["n"] + r["p"][1]
        r["x"] = s
    return s


def of_each(a):
    s = 0.0
    for k, r in enumerate(a):
        s += r["x"] * k
        r["n"] += 1
    return s


def whole(a):
    a["x"] = a["x"] * a["n"] + 1
    a["n"] = 0


def of_two(a):
    r, q = a
    for k, p in zip(range(9), a[::-1]):
        r["x"] += p["x"] * k
    q["n"] = 3
    return r["x"]


def made(a):
    for i in range(len(a)):
        a[i] = (i, i * 2, i)
    return a["x"][1]


PACKED = [("n", "i4"), ("x", "f8"), ("k", "i2")]


@pytest.mark.parametrize(
    ("function", "fields"),
    [(f, FIELDS) for f in (of_fields, of_records, of_each, of_two, whole)]
    + [(f, PACKED) for f in (of_fields, of_each, of_two, made)],
)
def test_numbers_in_records_are_read_and_written_without_objects(function, fields):
    compiled, a = ljit.jit(function), np.ones(2, fields)
    for _ in range(3):
        compiled(a.copy())
    graph = str(compiled.graph_for(a))
    assert "np::field" in graph
    assert "Object[numpy.void]" not in graph
    assert "py::setitem" not in graph
    assert "calls Python" not in compiled.explain()


def test_native_code_takes_arrays_with_an_equal_dtype_and_no_others():
    compiled = ljit.jit(of_records)
    for _ in range(4):
        a = np.ones(5, np.dtype(FIELDS))  # an object of its own
        assert compiled(a) == of_records(np.ones(5, FIELDS))
    assert "0 bailouts" in compiled.explain()
    assert "1 specialisation" in compiled.explain()
    other = np.ones(5, [("n", "i8"), ("x", "f8"), ("p", "f4", 2)])
    assert compiled(other.copy()) == of_records(other)


def test_renamed_fields_are_seen():
    compiled = ljit.jit(of_fields)
    for names in (("x", "n", "p"), ("x", "n", "p"), ("n", "x", "p"), ("x", "p", "n")):
        a = np.ones(5, np.dtype(FIELDS))
        if names[2] == "p":
            a["n"] = 2
            a.dtype.names = names
            assert compiled(a.copy()) == of_fields(a)
        else:
            a.dtype.names = names
            with pytest.raises(ValueError, match="ambiguous|sequence|size"):
                compiled(a)


def test_an_array_that_is_renamed_in_place_is_another_one():
    compiled, a = ljit.jit(of_fields), np.ones(5, np.dtype(FIELDS))
    a["n"] = 3
    for _ in range(3):
        compiled(a.copy())
    a.dtype.names = ("n", "x", "p")
    expected = of_fields(a.copy())
    assert compiled(a.copy()) == expected


NESTED = [("at", FIELDS), ("k", "i4")]


@pytest.mark.parametrize("other", [(np.record, NESTED), [("at", (np.record, FIELDS)), ("k", "i4")]])
def test_records_of_another_class_are_none_though_the_dtypes_are_equal(other):
    compiled = ljit.jit(lambda a: (a[1], a["at"][2]))
    for dtype in (NESTED, NESTED, NESTED, other, NESTED):
        a = np.zeros(3, dtype)
        assert a.dtype == np.dtype(NESTED)
        assert list(map(type, compiled(a))) == [type(a[1]), type(a["at"][2])]


def test_a_loop_that_checks_in_front_of_it_asks_where_records_lie():
    """The ints that become floats are looked at in front of the loop, if nothing in it stores to them."""

    def stored(a, x, n, r):
        for k in range(len(n)):
            r[0]["x"] = 3
            n[k] = x[k]
        return np.may_share_memory(a[0], x)

    compiled = ljit.jit(stored)
    for _ in range(3):
        for x in (np.arange(5.0), None):
            results = []
            for function in (compiled, stored):
                a, n = np.zeros(5, FIELDS), np.zeros(5, int)
                a["x"] = 2
                results.append(
                    (function(a, a["x"] if x is None else x, n, a), n.tolist(), a.tobytes())
                )
            assert results[0] == results[1]


def kept_and_stored(a):
    x, r, s = a["x"], a[0], 0.0
    for k in range(2):
        a["n"][-1] = k * 2
        s += r["p"][0]
        a["n"] = k
        a["n"][-1] = x[-1]
        s += x[-1]
        r["x"] = 3
    return s, x.tolist(), a.tobytes()


@pytest.mark.parametrize("size", [3, 40])
def test_a_record_from_in_front_of_a_loop_that_stores_to_it(size):
    compiled = ljit.jit(kept_and_stored)
    for _ in range(4):
        a = np.zeros(size, FIELDS)
        a["x"] = np.arange(size)
        assert compiled(a.copy()) == kept_and_stored(a)


def test_a_record_that_is_kept_is_numpys():
    compiled, a = ljit.jit(lambda a, i: a[i]), np.ones(5, FIELDS)
    for _ in range(3):
        r = compiled(a, 2)
    assert type(r) is np.void
    assert r.base is a
    r["x"] = 9
    assert a[2]["x"] == 9
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(a, 1)["x"] = 3
