"""Checks behind the sums of trips that run side by side are made for all of these, in front of their stores."""

import math

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def blur(image, out):
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            s = 0.0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    s += image[y + dy, x + dx]
            out[y, x] = int(s / 9.0)


def blur_of_some(image, out):
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            s = 0.0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    s += image[y + dy, x + dx]
            if s > 900.0:
                out[y, x] = int(s / 9.0)


def added_to_what_was_there(image, out):
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            s = 0.0
            for dy in range(-1, 2):
                s += image[y + dy, x]
            out[y, x] = int(s / 9.0) + int(out[y, x]) // 2


def image_with(changes=()):
    image = np.arange(7 * 30.0).reshape(7, 30) * 7919 % 255
    for place, value in changes:
        image[place] = value
    return image, np.full((7, 30), 8, np.uint8)


def outcome(function, args):
    try:
        return function(*args), args
    except (ValueError, OverflowError) as error:
        return str(error), args


def graph_of(f):
    return str(f.graph_for(*image_with()))


@pytest.mark.parametrize("function", [blur, blur_of_some, added_to_what_was_there])
def test_all_stores_are_those_of_the_program(function):
    f = ljit.jit(function)
    failures = [((3, 17), math.nan), ((5, 28), 1e6), ((1, 1), -1e5), ((2, 9), 1e300)]
    for changes in ([], [], [], failures[:1], [], failures[1:2], failures[2:], failures[3:], []):
        expected = outcome(function, image_with(changes))
        assert compare(expected, outcome(f, image_with(changes))) is None


@pytest.mark.parametrize("function", [blur, blur_of_some])
def test_every_check_may_fail(function):
    f = ljit.jit(function)
    for _ in range(3):
        f(*image_with())
    for _ in fail_each_guard(f):
        assert compare(outcome(function, image_with()), outcome(f, image_with())) is None


def test_checks_are_made_in_front_until_one_fails():
    f = ljit.jit(blur)
    for _ in range(3):
        f(*image_with())
    assert "checks='made'" in graph_of(f)
    assert "'in front'" in graph_of(f)
    for _ in range(3):
        assert compare(*(outcome(g, image_with([((3, 17), -1e4)])) for g in (blur, f))) is None
    assert "checks='made'" not in graph_of(f)
    assert "lanes=8" in graph_of(f)


def test_what_is_stored_is_not_read_for_checks_in_front():
    f = ljit.jit(added_to_what_was_there)
    for _ in range(3):
        f(*image_with())
    assert "lanes=8" in graph_of(f)
    assert "checks='made'" not in graph_of(f)


def test_arrays_that_overlap_are_gone_through_in_turns():
    f = ljit.jit(blur)
    for is_shared in (False, False, False, True, False, True):
        results = []
        for g in (blur, f):
            image, _ = image_with()
            out = image if is_shared else np.zeros_like(image)
            results.append(outcome(g, (image, out)))
        assert compare(*results) is None
