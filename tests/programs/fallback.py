"""Syntax that is not translated: the function stays CPython's, with the same results."""

import contextlib

import numpy as np

from tests.programs.harness import Args, program


@program(lambda: (np.array([1.0, 0.0]),), is_translated=False)
def errstate_that_raises(a):
    try:
        with np.errstate(divide="raise"):
            return 1 / a
    except FloatingPointError as error:
        return str(error)


@program(lambda: (np.array([1.0, 0.0]),), is_translated=False)
def a_manager_made_before_that_raises(a):
    loud = np.errstate(all="raise")
    try:
        with loud:
            return 1 / a
    except FloatingPointError as error:
        return str(error)


@program(lambda: (np.array([1.0, 0.0]),), is_translated=False)
def settings_that_raise_for_a_while(a):
    before = np.seterr(divide="raise")
    try:
        return 1 / a
    except FloatingPointError as error:
        return str(error)
    finally:
        np.seterr(**before)


@program(lambda: (np.array([1.0, 0.0]),), is_translated=False)
def settings_of_an_import_that_raise(a):
    import numpy as own
    from numpy import seterr

    try:
        with own.errstate(divide="raise"):
            return 1 / a
    except FloatingPointError as error:
        before = seterr(all="raise")
        try:
            return 1 / a, str(error)
        except FloatingPointError:
            return str(error)
        finally:
            seterr(**before)


@program(lambda: (np, np.array([1.0, 0.0])), is_translated=False)
def settings_of_a_module_in_a_variable_that_raise(xp, a):
    try:
        with xp.errstate(divide="raise"):
            return 1 / a
    except FloatingPointError as error:
        return str(error)


@contextlib.contextmanager
def strictly():
    with np.errstate(all="raise"):
        yield


def raise_from_now_on(setting="raise"):
    return np.seterr(divide=setting)


@program(lambda: ([*np.array([1.0, 0.0]), np.float64(4)],), is_translated=False)
def settings_of_a_context_manager_that_raise(values):
    results = []
    for value in values:
        with strictly():
            try:
                results.append(1 / value)
            except FloatingPointError as error:
                results.append(str(error))
    return results, 1 / values[1]


class Strictly:
    def __enter__(self):
        self.before = np.seterr(all="raise")

    def __exit__(self, *_):
        np.seterr(**self.before)


class StillStrictly(Strictly):
    """Has its methods from another class."""


def strict_items(values):
    with np.errstate(divide="raise"):
        yield from values


@program(lambda: (np.array([1.0, 0.0]),), is_translated=False)
def settings_of_an_object_that_raise(a):
    try:
        with StillStrictly():
            return 1 / a
    except FloatingPointError as error:
        return str(error)


@program(lambda: ([*np.array([1.0, 0.0])],), is_translated=False)
def settings_of_a_generator_that_raise(values):
    results = []
    for value in strict_items(values):
        try:
            results.append(1 / value)
        except FloatingPointError as error:
            results.append(str(error))
    return results


@program(lambda: (np.array([1.0, 0.0]),), is_translated=False)
def settings_of_a_function_that_raise(a):
    before = raise_from_now_on()
    try:
        return 1 / a
    except FloatingPointError as error:
        return str(error)
    finally:
        np.seterr(**before)


@program(lambda: (3,), is_translated=False)
def local_class(n):
    class Point:
        scale = 2

        def size(self):
            return n * self.scale

    return Point().size()


SHADOWED = 1


@program(lambda: (3,), is_translated=False)
def global_in_a_nested_function_beside_a_local(n):
    SHADOWED = n  # noqa: N806  # which is the point

    def add(x):
        global SHADOWED
        SHADOWED = x

    add(n + 1)
    return SHADOWED


@program(lambda: (3,), is_translated=False)
def deletes_a_global(n):
    global MADE
    MADE = n
    made = MADE
    del MADE
    return made


@program(lambda: (2,), is_translated=False)
def uses_locals(n):
    x = n + 1
    return sorted(locals().items())


@program(lambda: (3,), is_translated=False)
def uses_eval(n):
    return eval("n * 2")


@program(lambda: (np.arange(10.0), 3_000_000), is_translated=False)
def resized_behind_a_view(a, n):
    """NumPy refuses: it counts references, of which a view in native code is none."""
    view = a[1:]
    a.resize(n)
    return view.sum()


@program(lambda: (np.arange(10.0), 3_000_000), is_translated=False)
def resized_by_a_method_that_is_kept(a, n):
    view, resize = a[1:], a.resize
    resize(n)
    return view.sum()


@program(lambda: (np.arange(10.0), 3_000_000), is_translated=False)
def resized_by_a_method_that_is_asked_for(a, n):
    view = a[1:]
    getattr(a, "resize")(n)  # noqa: B009
    return view.sum()


@program(lambda: (np.arange(10.0), 3_000_000), is_translated=False)
def resized_by_the_function_of_the_class(a, n):
    view = a[1:]
    np.ndarray.resize(a, n, refcheck=True)
    return view.sum()


def view_of(a):
    return a[1:]


@program(lambda: (10, 3_000_000, "resize"))
def resized_by_a_method_of_unknown_name(size, n, name):
    """References to the owner are counted for views without objects, too."""
    a = np.arange(size) * 0.5
    grid, view = a.reshape(2, -1).T, view_of(a)
    found = []
    for i in range(3):
        pair = (a[i:], i)
        try:
            getattr(a, name)(n)
        except ValueError as error:
            found.append((str(error), pair[0].sum(), pair[1]))
    return grid, view, found, a


class Series:
    def __init__(self):
        self.values = np.zeros(2)

    def append(self, k, value):
        if k >= self.values.size:
            self.values.resize(2 * self.values.size)
        self.values[k] = value


@program(lambda: (20,), is_translated=False)
def resized_without_views(n):
    values, series = np.zeros(2), Series()
    for i in range(n):
        if i >= values.size:
            values.resize(2 * values.size)
        values[i] = i
        series.append(i, i)
    return values, series.values
