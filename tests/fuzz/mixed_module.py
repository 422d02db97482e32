"""What the modules of random programs of everyday statements have beside the random function."""

from __future__ import annotations

__all__ = ["COMMON"]

COMMON = """
import math
import sys
import numpy as np
from functools import reduce

LOG = []
K = 3

def note(x):
    LOG.append(str(x))
    return x

class Vec:
    size = 2
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def __add__(self, o):
        if isinstance(o, Vec):
            return Vec(self.x + o.x, self.y + o.y)
        return Vec(self.x + o, self.y + o)
    def __radd__(self, o):
        return Vec(o + self.x, o + self.y)
    def __sub__(self, o):
        if not isinstance(o, Vec):
            return NotImplemented
        return Vec(self.x - o.x, self.y - o.y)
    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)
    __rmul__ = __mul__
    def __iadd__(self, o):
        self.x += o.x if isinstance(o, Vec) else o
        return self
    def __neg__(self):
        return Vec(-self.x, -self.y)
    def __abs__(self):
        return abs(self.x) + abs(self.y)
    def __eq__(self, o):
        return isinstance(o, Vec) and self.x == o.x and self.y == o.y
    def __lt__(self, o):
        return (self.x, self.y) < (o.x, o.y)
    def __hash__(self):
        return hash((self.x, self.y))
    def __getitem__(self, i):
        if i == 0:
            return self.x
        if i == 1:
            return self.y
        raise IndexError("no such part: " + str(i))
    def __setitem__(self, i, v):
        if i % 2:
            self.y = v
        else:
            self.x = v
    def __len__(self):
        return self.size
    def __bool__(self):
        return self.x != 0
    def __contains__(self, v):
        return v == self.x or v == self.y
    def __iter__(self):
        yield self.x
        yield self.y
    def __call__(self, k=1):
        return self.x * k - self.y
    def __repr__(self):
        return f"Vec({self.x!r}, {self.y!r})"
    @property
    def norm(self):
        return self.x * self.x + self.y * self.y
    @norm.setter
    def norm(self, v):
        self.x = v
    @classmethod
    def of(cls, k):
        return cls(k, k + 1)
    @staticmethod
    def twice(k):
        return k * 2
    def step(self, k):
        self.x, self.y = self.y, self.x - k
        return self

class Far(Vec):
    size = 3
    def __mul__(self, k):
        return Far(self.x * k + 1, self.y)
    def step(self, k):
        super().step(k + 1)
        return self
    def __lt__(self, o):
        return NotImplemented

class Slim:
    __slots__ = ("v", "w")
    __match_args__ = ("v", "w")
    def __init__(self, v, w=0):
        self.v = v
        self.w = w
    def __index__(self):
        return self.v
    def __enter__(self):
        note("in")
        return self
    def __exit__(self, kind, error, tb):
        note("out " + str(kind and kind.__name__))
        return kind is ZeroDivisionError

def helper(p, q=2, *rest, **named):
    if q == 0:
        raise ValueError("q is zero")
    return p // q + len(rest) - len(named)

def gcd(p, q):
    while q:
        p, q = q, p % q
    return p

def fact(k):
    return 1 if k < 2 else k * fact(k - 1)

def steps(k):
    for i in range(k):
        got = i * 2
        yield got - 1

def sys_exc():
    e = sys.exc_info()[1]
    # what ran last at the limit of recursion is a matter of a few frames
    return type(e).__name__ + ("" if isinstance(e, RecursionError) else str(e))

def cut(z):
    try:
        return 3 if z.bit_length() > 300 else z
    except AttributeError:
        return z
"""
