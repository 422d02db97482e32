"""Draws from Python's `random`: each number and the state behind it are Python's, whoever else draws or patches."""

import random

import numpy as np
import pytest

import ljit


@pytest.fixture(autouse=True)
def keep_state():
    """The hidden stream of `random` is everybody's."""
    state = random.getstate()
    yield
    random.setstate(state)


OWN = random.Random(5)
SYSTEM = random.SystemRandom()


def all_functions(n):
    out = []
    for i in range(n):
        out.append(random.random())
        out.append(random.uniform(i, 10))
        out.append(random.uniform(-1.5, 3))
        out.append(random.randint(1, 6))
        out.append(random.randint(-(2**40), 2**40))
        out.append(random.randrange(i + 1))
        out.append(random.randrange(-5, i + 5))
        out.append(random.getrandbits(1))
        out.append(random.getrandbits(32))
        out.append(random.getrandbits(33))
        out.append(random.getrandbits(63))
        out.append(random.expovariate(2.5))
        out.append(random.expovariate(2))
        out.append(OWN.random())
        out.append(OWN.uniform(1, 2))
        out.append(OWN.randrange(2**62))
    return out


def outcome(function, *args, seed=3):
    random.seed(seed)
    OWN.seed(seed + 1)
    try:
        result = function(*args)
    except Exception as error:
        result = type(error), str(error)
    text = (
        [(type(x), repr(x)) for x in result] if isinstance(result, list | tuple) else repr(result)
    )
    return text, random.getstate(), OWN.getstate()


def agree(function, compiled, *args):
    assert outcome(compiled, *args) == outcome(function, *args)


def test_the_streams_are_pythons():
    compiled = ljit.jit(all_functions, strict=True)
    for n in (2, 3, 50, 700, 700):
        agree(all_functions, compiled, n)
    assert [info.bailouts for info in compiled.specializations] == [0]
    text = str(compiled.graph_for(3))
    names = ("random", "uniform", "randint", "randrange", "getrandbits", "expovariate")
    assert all(f"random::{name}(" in text for name in names)
    assert "py::call" not in text


def draw_some(n):
    total = 0.0
    for _ in range(n):
        total += random.random()
    return total


def test_draws_inside_and_outside_take_turns():
    compiled = ljit.jit(draw_some)
    for n in (1, 2, 311, 312, 313, 623, 624, 625, 1):
        random.seed(n)
        expected = [
            draw_some(n),
            random.random(),
            random.getrandbits(7),
            draw_some(n),
            random.gauss(0, 1),
        ]
        random.seed(n)
        found = [
            compiled(n),
            random.random(),
            random.getrandbits(7),
            compiled(n),
            random.gauss(0, 1),
        ]
        assert found == expected


def test_an_odd_place_in_the_state_is_gone_on_from():
    compiled = ljit.jit(draw_some)
    compiled(3), compiled(3)
    for used in (621, 622, 623, 624):
        random.seed(9)
        random.getrandbits(32 * used)
        state = random.getstate()
        expected = draw_some(4), random.getstate()
        random.setstate(state)
        assert (compiled(4), random.getstate()) == expected


def seeded(n):
    out = []
    for i in range(n):
        if i % 3 == 0:
            random.seed(i)
        out.append(random.random())
        items = [1, 2, 3, 4]
        random.shuffle(items)
        out.append(items[0])
        out.append(random.choice(items))
        out.append(random.gauss(0.0, 1.0))
    return out


def test_seeding_and_boxed_draws_between_are_seen():
    compiled = ljit.jit(seeded, strict=True)
    for n in (3, 4, 30, 31):
        agree(seeded, compiled, n)


def dice(a, b):
    return random.randint(a, b), random.randrange(a, b), random.uniform(a, b)


@pytest.mark.parametrize(
    "args",
    [(3, 1), (2, 2), (0, 2**63 - 1), (-(2**63), 2**63 - 1), (0.5, 1), (1.0, 5.0), ("a", 2), (2**70, 2**71),
     (True, 5), (np.int64(1), np.int64(9)), (float("nan"), 1), (-1, -1)],
)  # fmt: skip
def test_odd_arguments_are_pythons_affair(args):
    compiled = ljit.jit(dice)
    for given in ((1, 6), (1, 6), (1, 6), args, args, args, (1, 6)):
        agree(dice, compiled, *given)


def step_and_bits(k):
    return random.randrange(0, 100, 7), random.getrandbits(k)


def test_steps_and_counts_of_bits():
    compiled = ljit.jit(step_and_bits)
    for k in (1, 5, 63, 64, 0, 100, -1, 31):
        agree(step_and_bits, compiled, k)


def some_functions(n):
    out = []
    for i in range(n):
        out.append(random.random() + random.uniform(0, 1))
        out.append(random.randint(0, i) + OWN.random())
    return out


def test_patched_functions_are_seen(monkeypatch):
    compiled = ljit.jit(some_functions)
    for _ in range(3):
        agree(some_functions, compiled, 5)
    for owner, name in (
        (random, "random"), (random._inst, "random"), (random.Random, "random"), (OWN, "random"),
        (random.Random, "getrandbits"), (random.Random, "_randbelow"), (random, "randint"),
        (random.Random, "randrange"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, lambda *args: 0, raising=False)
            agree(some_functions, compiled, 5)
        agree(some_functions, compiled, 5)


def test_a_stream_of_the_system_is_left_to_python():
    def f(n):
        return [SYSTEM.random() for _ in range(n)]

    compiled = ljit.jit(f)
    assert all(0 <= x < 1 for _ in range(4) for x in compiled(5))
    assert "random::random" not in str(compiled.graph_for(5))


class Counting(random.Random):
    def __init__(self):
        super().__init__(1)
        self.calls = 0

    def random(self):
        self.calls += 1
        return super().random()


COUNTING = Counting()


def counted(n):
    total = 0.0
    for _ in range(n):
        total += COUNTING.uniform(0, 1) + COUNTING.random()
    return total


def test_a_subclass_with_its_own_draws_keeps_them():
    compiled = ljit.jit(counted)
    for _ in range(4):
        COUNTING.__init__()
        expected = counted(10), COUNTING.calls
        COUNTING.__init__()
        assert (compiled(10), COUNTING.calls) == expected


def method_held(rng, n):
    draw, below = rng.random, rng.randrange
    total = 0.0
    for _ in range(n):
        total += draw() * below(10)
    return total


def test_generators_as_arguments():
    compiled = ljit.jit(method_held)
    for rng in (random.Random(1), random.Random(2), Counting(), random.Random(3)):
        state = rng.getstate()
        expected = method_held(rng, 20), rng.getstate()
        rng.setstate(state)
        assert (compiled(rng, 20), rng.getstate()) == expected


def chosen(xs, a, n):
    out = []
    for i in range(n):
        x = random.choice(xs)
        if i % 5 == 4:
            xs.append(float(i))
        out.append(x + random.choice(a))
        out.append(random.choice("abc") + str(random.choice((1, 2))))
    return out


def test_items_are_chosen_as_python_does():
    compiled = ljit.jit(chosen, strict=True)
    for xs in ([1, 2, 3], [5], [5], [1, 2.5], [], ["a"], [2**80, 1], list(range(1000)), [None]):
        for a in (np.arange(4), np.arange(3), np.ones(2), np.zeros((2, 2)), np.zeros(0)):
            lists = [list(xs), list(xs)]
            agree_on = [
                outcome(f, x, a.copy(), 12) for f, x in zip((chosen, compiled), lists, strict=True)
            ]
            assert agree_on[0] == agree_on[1], (xs, a)
            assert lists[0] == lists[1]


def faces(xs, n):
    total = 0
    for _ in range(n):
        total += random.choice(xs)
    return total


def test_items_of_lists_are_chosen_natively():
    compiled = ljit.jit(faces, strict=True)
    for xs in ([1, 2, 3], [4, 5], [4, 6, 2], [1, 2.5, 3], [1, 2, 3]):
        agree(faces, compiled, xs, 30)
    assert "random::choice" in str(compiled.graph_for([1, 2], 3))


def shuffled(xs, a, n):
    for _ in range(n):
        random.shuffle(xs)
        random.shuffle(a)
        xs.append(random.shuffle([1, 2]))
    return a.tolist()


def test_lists_and_arrays_are_shuffled_as_python_does():
    compiled = ljit.jit(shuffled, strict=True)
    arrays = (np.arange(4), np.arange(12)[::3], np.ones(0), np.arange(4.0), np.zeros((2, 2)))
    for xs in ([1, 2, 3], ["a", None, 2.5], [5], [], list(range(1000))):
        for a in arrays:
            for is_writable in (True, False):
                found = []
                for function in (shuffled, compiled):
                    items, array = list(xs), a.copy()
                    array.flags.writeable = is_writable
                    found.append((*outcome(function, items, array, 5), items, array.tolist()))
                assert found[0] == found[1], (xs, a)
    assert "random::shuffle" in str(compiled.graph_for([1, 2], np.arange(3), 3))


def gaussian(rng, n, mu, sigma):
    out = []
    for i in range(n):
        out.append(rng.gauss(mu, sigma))
        out.append(random.gauss(0.0, 1))
        out.append(rng.gauss(sigma=2.0) + random.gauss(i))
        if i % 7 == 3:
            out.append(rng.random())
        if i == 11:
            rng.gauss_next = sigma
    return out


class Guarded(random.Random):
    gauss_next = property(lambda self: 0.25, lambda self, value: None)


def test_gauss_keeps_every_second_number_in_the_object():
    compiled = ljit.jit(gaussian, strict=True)
    for make in (random.Random, random.Random, random.Random, Guarded):
        for mu, sigma in (
            (1.0, 2.0),
            (0, 1),
            (0.5, 3),
            (1.0, "a"),
            (1.0, 2.0),
            (np.float64(1), 1.0),
        ):
            pairs = []
            for function in (gaussian, compiled):
                rng = make(4)
                pairs.append((outcome(function, rng, 20, mu, sigma), rng.getstate()))
            assert pairs[0] == pairs[1], (mu, sigma)
    assert "random::gauss" in str(compiled.graph_for(random.Random(1), 4, 1.0, 2.0))


class Holder:
    def __init__(self, rng):
        self.rng = rng


def streams_everywhere(holder, rng, n):
    own = random.Random(n)
    total = 0.0
    for i in range(n):
        total += holder.rng.random() + rng.uniform(i, own.random()) * own.randrange(i + 1)
        total -= holder.rng.randint(0, int(rng.random() * 10))
    return total


def test_streams_in_variables_and_attributes_are_drawn_from_in_place():
    compiled = ljit.jit(streams_everywhere, strict=True)
    for seed in (1, 2, 3, 4):
        pairs = []
        for function in (streams_everywhere, compiled):
            holder, rng = Holder(random.Random(seed)), random.Random(-seed)
            pairs.append((function(holder, rng, 40), holder.rng.getstate(), rng.getstate()))
        assert pairs[0] == pairs[1]
    assert [info.bailouts for info in compiled.specializations] == [0]
    text = str(compiled.graph_for(Holder(random.Random(1)), random.Random(2), 3))
    assert text.count("random::") == 6


def test_an_attribute_that_hides_a_method_is_seen():
    compiled = ljit.jit(streams_everywhere, strict=True)
    for name in (None, None, None, "gauss_next", "uniform", "random", "getrandbits", None, "other"):
        pairs = []
        for function in (streams_everywhere, compiled):
            holder, rng = Holder(random.Random(1)), random.Random(2)
            if name is not None:
                setattr(rng, name, lambda *args: 0.5)
            pairs.append((function(holder, rng, 40), holder.rng.getstate(), rng.getstate()[:2]))
        assert pairs[0] == pairs[1]


def hidden_on_the_way(rng, n):
    total = 0.0
    for i in range(n):
        draw = rng.random
        if i == 7:
            rng.random = float
        total += draw() + rng.random()
    return total


def test_a_method_that_is_hidden_on_the_way():
    compiled = ljit.jit(hidden_on_the_way, strict=True)
    for _ in range(5):
        assert compiled(random.Random(1), 20) == hidden_on_the_way(random.Random(1), 20)


def drawn_by_a_variable(rng, n):
    draw = rng.random
    return [draw() for _ in range(n)]


def test_a_method_in_a_variable_is_read_as_any_attribute_where_objects_hid_it():
    compiled = ljit.jit(drawn_by_a_variable, strict=True, num_profiled_runs=0)
    rng = random.Random(1)
    compiled(rng, 3)
    for draw in (float, float, float, None, None, float):
        if draw is not None:
            rng.random = draw
        state = rng.getstate()
        expected = drawn_by_a_variable(rng, 3)
        rng.setstate(state)
        assert compiled(rng, 3) == expected
        vars(rng).pop("random", None)
    assert "py::getattr" in str(compiled.graph_for(rng, 3))


draw = random.random


def test_a_bound_method_of_a_global():
    def f(n):
        return [draw() for _ in range(n)]

    compiled = ljit.jit(f)
    for n in (3, 4, 5, 50):
        agree(f, compiled, n)
    assert "random::random" in str(compiled.graph_for(5))
