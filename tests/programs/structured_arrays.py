"""Structured arrays: their records and fields, read and written, as values, and of dtypes that are no plain ones."""

import numpy as np

from tests.programs.harness import program

PLAIN = np.dtype([("x", np.float64), ("y", np.float64), ("n", np.int64)])
MIXED = np.dtype(
    [("flag", "?"), ("b", "u1"), ("h", "f2"), ("z", "c8"), ("p", "f4", 3), ("m", "i2", (2, 2))],
    align=True,
)
PACKED = np.dtype([("n", "i1"), ("x", "f8"), ("z", "c16"), ("h", "f2"), ("k", "u8")])
NESTED = np.dtype([("id", "i8"), ("at", PLAIN), ("name", "S4")])
SWAPPED = np.dtype([("x", ">f8"), ("y", "f8")])
OVERLAID = np.dtype(
    {"names": ["x", "low", "high"], "formats": ["f8", "u4", "u4"], "offsets": [0, 0, 4]}
)


def filled(dtype, *shape, seed=0):
    """Records with small numbers in them, the same each time."""
    rng = np.random.default_rng(seed)
    made = np.zeros(shape, dtype)
    fill(made, rng)
    return made


def fill(a, rng):
    for name in a.dtype.names or ():
        part = a[name]
        if part.dtype.names:
            fill(part, rng)
        elif part.dtype.kind != "S":
            part[...] = rng.integers(0, 5, part.shape)


def read_only(dtype):
    a = filled(dtype, 4)
    a.flags.writeable = False
    return a


def plain(*shape):
    return filled(PLAIN, *(shape or (7,)))


@program(
    lambda: (plain(),),
    lambda: (plain()[::-2],),
    lambda: (plain(0),),
    lambda: (filled(PLAIN.descr, 3),),  # an equal dtype, another object
    lambda: (filled(SWAPPED, 3),),
    lambda: (filled([("y", "f4"), ("x", "i4")], 3),),
)
def by_fields(a):
    s = 0.0
    for i in range(len(a)):
        s += a["x"][i] * 2 + a["y"][i]
    return s


@program(
    lambda: (plain(),), lambda: (plain()[1::2],), lambda: (filled(PACKED, 4),), lambda: (plain(1),)
)
def by_records(a):
    s, t = 0.0, 0
    for i in range(len(a)):
        s += a[i]["x"]
        r = a[-i - 1]
        t += r["n"]
        r["x"] = s
    return s, t, a["x"].sum()


@program(
    lambda: (plain(),),
    lambda: (filled(PLAIN, 3, 2),),
    lambda: (filled(PACKED, 3),),
    lambda: ([1, 2],),
)
def iterated(a):
    s = 0
    for k, r in enumerate(a):
        s += r["n"].sum() * k
    for r, q in zip(a, reversed(a)):
        s += r["n"].sum() - 2 * q["n"].sum()
    return s


@program(lambda: (plain(3, 4),), lambda: (plain(3, 4).T,), lambda: (plain(4, 3)[1:, ::-1],))
def in_two_axes(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]["x"] * a["y"][i, j]
            a[i][j]["n"] += i
    return s, a["n"].sum(axis=0), a.size, a.ndim


@program(lambda: (filled(MIXED, 5),), lambda: (filled(MIXED, 4)[::-1],))
def all_kinds(a):
    s = 0.0
    for r in a:
        if r["flag"]:
            s += r["b"] + r["h"]
        s += r["z"].imag + r["p"][1] * r["m"][0, 1]
        r["p"][2] = s
        r["m"] += 1
        r["flag"] = s > 3
    a["h"] = a["h"] + 1
    return s, a["p"].sum(axis=0), a["m"][1], a["flag"]


@program(lambda: (filled(PACKED, 5),), lambda: (filled(PACKED, 6)[::2],))
def where_nothing_is_aligned(a):
    for i in range(len(a)):
        r = a[i]
        r["x"] = r["x"] * 2 + r["n"]
        r["z"] = r["z"] + 1j
        r["h"] = r["h"] / 2
        r["k"] = r["k"] + np.uint64(2**63)
    return a["x"].sum(), a["z"] * 2, a["k"]


@program(
    lambda: (filled(PACKED, 5),),
    lambda: (filled(PACKED, 3, 2),),
    lambda: (filled(PACKED, 6)[::-2],),
)
def views_that_are_not_aligned(a):
    x, s = a["x"], 0.0
    for i in range(len(a)):
        a["x"][i] += 2
        a["h"][i] = a["k"][i]
        s = s + x[i] + a["z"][-1 - i]
    b = x[1:]
    return s, x, b * 2, x.flags.aligned, x.base is a, len(x), x.shape, a["x"].sum()


@program(lambda: (filled([("b", "i1"), ("p", "f8", (2,)), ("m", "i4", (2, 2))], 4),))
def subarrays_that_are_not_aligned(a):
    s = 0.0
    for r in a:
        p = r["p"]
        p[0] = s
        s += p[1] + r["m"][1, 0] * a["p"][2, 1]
        r["m"][0, 1] = 7
    try:
        a["p"][4, 0] = 1
    except IndexError as error:
        return s, a, str(error)
    return s


@program(
    lambda: (plain(), 2.5),
    lambda: (plain(), 7),
    lambda: (plain(), np.nan),
    lambda: (filled(PLAIN.descr, 6), np.float32(1.5)),
    lambda: (filled([("a", "u1"), ("b", "f4"), ("c", "?")], 5), 3),
    lambda: (filled([("a", "u1"), ("b", "f4"), ("c", "?")], 5), 300),
    lambda: (filled(MIXED, 3), 1),
    lambda: (filled([("a", "i4"), ("b", "i4")], 3), 1),
)
def tuples_become_records(a, x):
    for i in range(len(a)):
        a[i] = (x, i * 2, a[i - 1][2])
        a[-i - 1] = x, x, x
    return a


@program(
    lambda: (read_only(PACKED), 0), lambda: (filled(PACKED, 2), 5), lambda: (filled(PACKED, 2), 1)
)
def tuples_that_cannot_be_stored(a, i):
    try:
        a[i] = (1, 2.0, 3j, 0.5, 6)
    except (ValueError, IndexError) as error:
        return str(error), a
    a["x"][i] = 4
    return a


@program(lambda: (filled(NESTED, 4),), lambda: (filled(NESTED, 5)[1::2],))
def nested(a):
    s = 0.0
    for i in range(len(a)):
        s += a["at"]["x"][i] + a[i]["at"]["y"] + a["at"][i]["n"]
        a["at"]["y"][i] = s
        if a[i]["name"] == b"":
            a[i]["name"] = b"none"
    return s, a["at"], a["name"]


@program(lambda: (filled(OVERLAID, 4),))
def overlaid(a):
    for i in range(len(a)):
        a[i]["x"] = 1.5 + i
        a["low"][i] += a[i]["high"]
    return a["x"], a[1]["low"]


@program(
    lambda: (plain(), 2.7), lambda: (plain(), 3), lambda: (plain(), True), lambda: (plain(), np.nan)
)
def stored_numbers(a, value):
    for i in range(3):
        a[i]["n"] = value
        a[i]["x"] = value
    a["y"] = value
    return a


@program(lambda: (filled([("b", "u1")], 4), 250), lambda: (filled([("b", "u1")], 4), -1))
def stored_numbers_that_do_not_fit(a, value):
    for i in range(len(a)):
        a[i]["b"] = value + i * 2
    return a


@program(lambda: (filled([("b", "u1")], 4), 250))
def stored_scalars_that_do_not_fit(a, value):
    for i in range(len(a)):
        a[i]["b"] = np.int64(value + i * 2)
    return a


@program(
    lambda: (plain(), (1.0, 2.0, 3)),
    lambda: (plain(), plain()[3]),
    lambda: (plain(), 4),
    lambda: (plain(), [1, 2]),
    lambda: (plain(), "x"),
)
def stored_records(a, value):
    a[1] = value
    a[2] = a[1]
    return a[2], a


@program(
    lambda: (plain(), 3), lambda: (plain(), -8), lambda: (plain(), 7), lambda: (plain(), np.int8(2))
)
def at_an_index(a, i):
    r = a[i]
    r["n"] += 1
    return r["n"], r


@program(
    lambda: (plain(), "x"), lambda: (plain(), "n"), lambda: (plain(), "none"), lambda: (plain(), 0)
)
def a_field_in_a_variable(a, name):
    s = 0
    for r in a:
        s += r[name]
    return s + a[name][1]


@program(lambda: (plain(),))
def no_such_field(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]["x"]
    return s + a[0]["z"]


@program(lambda: (plain(),))
def no_such_field_to_store(a):
    for i in range(len(a)):
        a[i]["x"] = 2
        a["z"] = 3
    return a


@program(lambda: (plain(),), lambda: (filled(PACKED, 4),))
def kept(a):
    """Records are objects where they are kept, and share the array's memory."""
    found, first = [], None
    for r in a:
        if r["n"] > 1:
            found.append(r)
        if first is None or r["x"] > first["x"]:
            first = r
    first["x"] = 100
    return found, first, first.base is a, first["x"], (first, a[0]), type(first)


def energy(r, scale):
    return r["x"] * r["y"] * scale


def larger(r, q):
    return r if r["n"] > q["n"] else q


@program(lambda: (plain(),), lambda: (plain()[::-1],))
def given_to_functions(a):
    s, best = 0.0, a[0]
    for i in range(len(a)):
        s += energy(a[i], 2.0) + energy(a[i], i)
        best = larger(a[i], best)
    return s, best


@program(lambda: (plain()[2],), lambda: (plain()[1],), lambda: (filled(PACKED, 2)[1],))
def a_record_as_argument(r):
    s = 0.0
    for _ in range(3):
        s += r["x"]
        r["x"] = s
    return s, r["n"], r


@program(lambda: (plain(),), lambda: (plain(1),))
def methods(a):
    r = a[0]
    return r.tolist(), len(r), r[1], r.dtype, r.nbytes, str(r), r == a[-1], r.item(), a[0].copy()


@program(lambda: (plain(),))
def unpacked(a):
    s = 0
    for x, y, n in a:
        s += x * y + n
    return s


@program(lambda: (plain(),), lambda: (plain(4, 2),))
def as_a_whole(a):
    b = a[1:]
    c = np.sort(b, order="n", axis=0)
    return (
        a == a,
        b["x"] + 1,
        c,
        a[["x", "n"]],
        a.view(np.int64),
        np.zeros_like(a),
        a.dtype,
        a.nbytes,
    )


@program(lambda: (plain(),), lambda: (plain(0),))
def sums_of_fields(a):
    d = np.sqrt(a["x"] ** 2 + a["y"] ** 2)
    a["x"] = a["y"]
    a["y"] += d
    a["n"] = np.arange(len(a))
    return d.sum(), (a["x"] * a["n"]).sum(), a["y"].max() if len(a) else None


@program(lambda: (plain(),))
def swapped_fields(a):
    """Fields lie in the same memory, but none shares its elements with another."""
    a["x"], a["y"] = a["y"].copy(), a["x"].copy()
    for i in range(len(a)):
        a["x"][i], a["y"][i] = a["y"][i], a["x"][i]
    return a


@program(lambda: (read_only(PLAIN),), lambda: (plain(),))
def no_stores(a):
    s = 0.0
    for r in a:
        s += r["x"]
    try:
        a[0]["x"] = s
    except ValueError as error:
        return s, str(error), a[1]
    return s, a[0], a["y"].flags.writeable


@program(lambda: (plain(), lambda a: a.sort(order="x")), lambda: (plain(), lambda a: None))
def changed_by_others(a, change):
    s = 0.0
    for i in range(len(a)):
        s += a[i]["x"] * i
        if i == 2:
            change(a)
    return s


def reshape(a):
    a.shape = (len(a) // 2, 2)


@program(
    lambda: (plain(6), reshape), lambda: (plain(6), lambda a: None), lambda: (plain(4), reshape)
)
def reshaped_by_others(a, change):
    s = []
    for i in range(2):
        s.append(a[i]["x"])
        if i == 0:
            change(a)
    return s


def rename(a):
    a.dtype.names = ("y", "x", "n")


@program(
    lambda: (filled(PLAIN.descr, 4), rename),
    lambda: (filled(PLAIN.descr, 4), lambda a: None),
    lambda: (filled(PLAIN.descr, 4), rename),
)
def renamed_by_others(a, change):
    s = []
    for r in a:
        s.append((r["x"], a["y"][0]))
        change(a)
    return s


@program(lambda: (plain(),), lambda: (plain(3),))
def carried(a):
    best, k = a[0], 0
    while k < len(a):
        if a[k]["n"] >= best["n"]:
            best = a[k]
        k += 1
    best["n"] = 50
    return best, a


@program(lambda: (plain(),), lambda: (plain()[::3],))
def fields_under_names(a):
    x, n = a["x"], a["n"]
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * n[i]
        x[i] = s
    return s, x, x.base is a, a


@program(lambda: (plain().view(np.recarray),), lambda: (np.rec.array(plain()),))
def record_arrays(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i].x * a.y[i]
    return s, a[1]


@program(lambda: (filled(MIXED, 0),), lambda: (filled(MIXED, 1),))
def few(a):
    s = 0.0
    for r in a:
        s += r["p"].sum() + r["m"].max()
    return s, a["p"].shape


@program(lambda: (np.array(plain()[1]),), lambda: (filled(PLAIN),))
def no_axes(a):
    a["x"] = a["y"] + 1
    return a["x"], a[()]["n"], a.shape, a
