"""Views whose objects are reshaped, or made read-only, by code that native code does not know."""

import numpy as np

from tests.programs.harness import program


def reshape(view):
    view.shape = (2, -1)


def ordinary():
    return (np.arange(8),)


@program(ordinary, lambda: (np.arange(8.0)[::-1],))
def made_in_each_trip(a):
    found = []
    for i in range(3):
        view = a[2 * i :]
        reshape(view)
        found.append(view.ndim)
        found.append(view.sum(axis=0))
    return found


@program(ordinary, lambda: (np.arange(12.0),))
def made_read_only_in_each_trip(a):
    found = []
    for i in range(2):
        view = a[2 * i :]
        view.setflags(write=False)
        try:
            view[0] = 7
        except ValueError as error:
            found.append(str(error))
        found.append(view.T.flags["WRITEABLE"])
    return found


@program(ordinary)
def rows_by_a_flag(a):
    found = []
    for row in a.reshape(2, 4):
        row.flags.writeable = False
        found.append(row.flags.writeable)
    return found


@program(ordinary)
def through_a_container(a):
    found = []
    for i in range(0, 6, 2):
        view = a[i:]
        by_name = {"view": view}
        by_name["view"].shape = (-1, 2)
        found.append(view.ndim)
    return found


@program(ordinary)
def carried_by_a_loop(a):
    found = []
    view = a[:]
    for i in range(4):
        reshape(view)
        found.append(view.ndim)
        view = a[i : 4 + i]
    return found


@program(ordinary)
def carried_crosswise(a):
    found = []
    view, other = a[:], a[:4]
    for _ in range(4):
        reshape(view)
        found.append((view.ndim, other.ndim))
        view, other = other, view
    return found, view, other


@program(ordinary)
def made_in_one_of_two_branches(a):
    found = []
    for i in range(4):
        if i % 2:
            view = a[:4]
        else:
            view = a[2:]
        reshape(view)
        found.append(view.ndim)
    return found


@program(ordinary)
def kept_in_a_list(a):
    found = []
    view = a[2:]
    found.append(view)
    found.append(view)
    found[-1].shape = (2, -1)
    return view.shape, found


@program(ordinary, lambda: (np.arange(20.0),))
def changed_now_and_then(a):
    found = []
    for i in range(5):
        view = a[i : i + 4]
        for k in range(3):
            if k == i:
                reshape(view)
            found.append(view.ndim)
            found.append(view[-1])
    return found


@program(
    lambda: (np.arange(5), np.arange(5), [].append),
    lambda: (np.arange(5), np.arange(5.0), [].append),
)
def beside_none(a, b, keep):
    # what has no parts, and the array behind it, begin at one place
    other = 3
    for i in range(4):
        other = None
        a, b = b, a
        keep(a)
        a[0] = a[0] // (i - 7)
    return other, a, b


@program(lambda: (np.arange(12.0) % 5, 3), lambda: (np.arange(4.0), 1), lambda: (np.arange(3.0), 3))
def read_before_the_store(x, w):
    """The view was there before the store, and so was what is computed of it."""
    s = np.cumsum(x)
    t = s[w - 1 :] / w
    s[w:] -= s[:-w]
    return t


@program(lambda: (np.arange(12.0) % 5, 3), lambda: (np.arange(4.0), 1), lambda: (np.arange(3.0), 3))
def read_before_and_behind_the_store(x, w):
    s = np.cumsum(x)
    v = s[w - 1 :]
    t = v * 2.0
    s[w:] -= s[:-w]
    return t + v


@program(lambda: (np.arange(12.0) % 5, 3), lambda: (np.arange(4.0), 1), lambda: (np.arange(3.0), 3))
def whole_views_of_sums(x, w):
    s = np.cumsum(x)
    v = s[:]
    t = v * 2.0
    s[w:] -= s[:-w]
    return t + v


def matrix(rows, columns):
    return (np.arange(float(rows * columns)).reshape(rows, columns) ** 2 % 17,)


@program(lambda: matrix(5, 40), lambda: matrix(1, 40), lambda: matrix(5, 1))
def whole_views_of_rows(x):
    largest = x.max(axis=1)
    column = largest[:, None]
    y = np.exp(x - column) / column
    largest[0] = 100.0
    return y, column


@program(lambda: matrix(5, 40), lambda: matrix(0, 40))
def whole_views_of_rows_are_given_back(x):
    largest = x.max(axis=1)
    column = largest[:, None]
    return largest, column, np.sqrt(np.abs(x - column)) + column
