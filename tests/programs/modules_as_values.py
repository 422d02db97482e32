"""Modules that come as arguments, defaults, attributes and items, and through variables: what they have is known."""

import math
from types import ModuleType, SimpleNamespace

import numpy as np

from tests.programs.harness import program


def softmax(x, xp=np):
    y = xp.exp(x - xp.max(x))
    return y / xp.sum(y)


def made(**attributes):
    module = ModuleType("made")
    vars(module).update(attributes)
    return module


@program(lambda: (np, np.arange(4.0)), lambda: (math, 2.0), lambda: (np, 2.0))
def a_module_given(xp, x):
    return xp.exp(x) * xp.pi


@program(lambda: (np.arange(4.0),), lambda: (np.ones((2, 3)), np), lambda: (np.ones(3), math))
def a_module_by_default(x, xp=np):
    return xp.sqrt(x).sum()


@program(lambda: (np.arange(5.0),), lambda: (np.ones(5, np.float32),))
def handed_on(x):
    return softmax(x) + softmax(x, np)


@program(lambda: (math, [1.0, 4.0]), lambda: (np, [1.0, 4.0]), lambda: (math, [1.0, -4.0]))
def in_a_loop(m, xs):
    total = 0.0
    for x in xs:
        total += m.sqrt(x)
    return total


@program(lambda: (SimpleNamespace(xp=np), np.arange(3)), lambda: (SimpleNamespace(xp=math), 3))
def of_an_object(config, x):
    return config.xp.sin(x) + config.xp.pi


@program(lambda: ([np, math, np, np],), lambda: ([np] * 4,), lambda: ([math] * 4,))
def items(modules):
    return [m.floor(2.5 + i) for i, m in enumerate(modules)]


@program(lambda: (True,), lambda: (False,))
def chosen(is_array):
    m = np if is_array else math
    return m.sqrt(2.0), m is np, m == math, isinstance(m, ModuleType)


@program(lambda: (abs, -2.0), lambda: (float, 2), lambda: (None, 1))
def one_that_nobody_imports(f, x):
    m = made(f=f) if f else made()
    return m.f(x)


@program(lambda: (math,), lambda: (np,))
def a_name_that_is_not_there(m):
    return m.no_such_name


@program(lambda: (2, 3), lambda: (0.5, 3))
def stored_to(k, n):
    m = made(k=k)
    for i in range(n):
        m.k += i
    return m.k


@program(lambda: (np,), lambda: (math,))
def as_an_object(m):
    found = {m: 1}
    found[m] += 1
    return m.__name__, len(found), found[m], repr(m)[:8], [m] * 2 == [m, m], type(m)
