"""Sine and cosine of one number are one call of the C library, with the bits of the two."""

import math
import re
import sys

import numpy as np
import pytest

import ljit

HALVES = np.random.default_rng(1).uniform(-1.0, 1.0, 2000)
ODD = np.array([0.0, -0.0, math.nan, -math.nan, 5e-324, 1e-30, 1e22, math.pi / 2, 1.797e308])


def circle(angles):
    points = np.empty((len(angles), 2))
    for i in range(len(angles)):
        points[i, 0] = math.cos(angles[i])
        points[i, 1] = math.sin(angles[i])
    return points


def filled(angles, points):
    for i in range(len(angles)):
        points[i, 0] = math.sin(angles[i])
        points[i, 1] = math.cos(angles[i])


@pytest.mark.parametrize("angles", [HALVES, HALVES * 3, HALVES * 100, HALVES * 1e12, ODD, ODD[:0]])
def test_bits_are_those_of_sine_and_cosine(angles):
    native = ljit.jit(circle)
    for _ in range(3):
        found = native(angles)
    assert native.specializations[0].state == "native"
    assert found.view(np.int64).tolist() == circle(angles).view(np.int64).tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries have no such function")
def test_one_call_gives_both():
    native = ljit.jit(circle)
    for _ in range(3):
        native(HALVES)
    assert re.findall(r"call\w*\s+(\w*(?:sin|cos))\b", native.dump_asm()) == ["sincos"]


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
def test_infinities_raise_behind_the_stores_of_earlier_trips(infinite):
    native = ljit.jit(filled)
    for _ in range(3):
        native(HALVES[:4], np.zeros((4, 2)))
    angles = np.array([0.5, 1.5, infinite, 2.5])
    found, wanted = np.zeros((4, 2)), np.zeros((4, 2))
    with pytest.raises(ValueError) as theirs:
        filled(angles, wanted)
    with pytest.raises(ValueError) as ours:
        native(angles, found)
    assert str(ours.value) == str(theirs.value)
    assert found.tolist() == wanted.tolist()
