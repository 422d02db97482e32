"""Objects with finalizers live as long as CPython's variables have them, in the first call and in later ones."""

import itertools
import sys

import numpy as np
import pytest

import ljit
from ljit.ops.containers.iteration import HAS_NEXT
from ljit.ops.containers.iteration_rules import is_view
from ljit.runtime import callees

CALLS = 5


def numbers(log, name, n=5):
    log.append(f"{name} begins")
    try:
        yield from range(n)
    finally:
        log.append(f"{name} is closed")


def same(x):
    return x


def variables_keep_generators(k):
    log = []
    a, b, c, d, e = (numbers(log, name) for name in "abcde")
    for x in a:
        if x == k:
            break
    log.append("behind")
    for i, _ in enumerate(b):
        if i == k:
            break
    log.append("behind")
    for x in itertools.islice(c, 2):
        log.append(x)
    log.append("behind")
    for x in same(d):
        if x == k:
            break
    log.append("behind")
    for _, x in zip(range(3), e):
        if x == k:
            break
    log.append("behind")
    for x in (log_of_last := numbers(log, "f")):
        if x == k:
            break
    log.append("behind")
    return log[:], log_of_last.__name__


def test_variables_keep_the_generators_of_loops_that_are_left():
    compiled = ljit.jit(variables_keep_generators)
    for _ in range(CALLS):
        for k in (0, 3, 9):
            assert compiled(k) == variables_keep_generators(k)


class Resource:
    def __init__(self, log, name):
        self.log = log
        self.name = name

    def __del__(self):
        self.log.append(f"{self.name} is gone")


def test_objects_in_variables_that_nothing_reads_live_to_the_end():
    def work(log, n):
        _kept = Resource(log, "kept")
        for i in range(n):
            log.append(i)
        if n > 2:
            _inner = Resource(log, "inner")
        for i in range(n):
            log.append(i)
        return log[:]

    compiled = ljit.jit(work)
    for _ in range(CALLS):
        assert compiled([], 3) == [0, 1, 2, 0, 1, 2]


def test_functions_that_are_arguments_give_iterators_that_are_asked_natively():
    def total(make, n):
        result = 0.0
        for x in make(n):
            result += x
        return result

    compiled = ljit.jit(total)
    for make in (range, list_of, numbers_without_log, range):
        for _ in range(CALLS):
            assert compiled(make, 4) == total(make, 4)
    asked = [n for n in compiled.graph_for(numbers_without_log, 4).walk() if n.op is HAS_NEXT]
    assert asked and all(is_view(n.inputs[0].type) for n in asked)


def list_of(n):
    return [i * 0.5 for i in range(n)]


def numbers_without_log(n):
    for i in range(n):
        yield i * 2


class Parent(Resource):
    def child(self):
        return Resource(self.log, f"child of {self.name}")

    def number(self):
        return len(self.log)

    def plus(self, x):
        return len(self.log) + x

    def __getitem__(self, index):
        return index + 1


def identity(x):
    return x


def temporaries(log, n, call):
    log.append(Parent(log, "a").number() + 1)
    log.append("behind")
    log.append(Parent(log, "b").child().name)
    log.append(Parent(log, "c")[n])
    log.append(Parent(log, "i").plus(n + 1))
    log.append(Parent(log, "j").child().name + "!")
    log.append(call(str, Parent(log, "d").child()) != "")
    log.append(next(numbers(log, "e")))
    log.append(next(x for x in numbers(log, "h") if x))
    log.append(list(itertools.islice(numbers(log, "f"), 2)))
    log.append(dict(zip([1, 2], numbers(log, "g"), strict=False)))
    for i in range(n):
        log.append(Parent(log, i).number() * 2)
        log.append(Parent(log, i).plus(i * 2))
        log.append(call(str, Parent(log, i).child()) != "")
    data = bytearray(b"abcdef")
    for i in range(n):
        log.append(int.from_bytes(memoryview(data)[i:4], "big"))
        data.append(i)  # BufferError while there is a view
    log.append("end")
    return log[:]


def apply(function, x):
    return function(x)


def test_what_no_variable_has_is_gone_behind_its_expression(monkeypatch):
    monkeypatch.setattr(callees, "_function_to_inline", lambda _kind: None)
    compiled = ljit.jit(temporaries)
    for n in (3, 0, 3):
        for _ in range(CALLS):
            assert compiled([], n, apply) == temporaries([], n, apply)
    assert compiled.run_interpreted([], 3, apply) == temporaries([], 3, apply)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_files_are_written_when_no_variable_has_them(tmp_path):
    @ljit.jit
    def copy(path, text, n):
        total = 0.0
        for i in range(n):
            total += i
        open(path, "w").write(text)  # noqa: SIM115
        return total, open(path).read()  # noqa: SIM115

    for i in range(CALLS):
        assert copy(tmp_path / str(i), f"text {i}", 3) == (3.0, f"text {i}")


def test_objects_that_other_names_have_live_on():
    """In lists that native code takes apart, in variables bound within the expression, and in what the call keeps."""

    def work(log, n):
        items = [Resource(log, "item")]
        log.append(items[0].name)
        log.append((bound := Resource(log, "bound")).name)
        kept = []
        log.append(kept.append(Resource(log, "kept")))
        pair = identity((Resource(log, "first"), n))
        log.append(pair[1])
        for i in range(n):
            log.append(Resource(log, i).log is log)
        log.append("end")
        return log[:], bound.name, len(kept)

    compiled = ljit.jit(work)
    for _ in range(CALLS):
        found, *rest = compiled([], 2)
        assert found[-1] == "end"
        assert not {f"{name} is gone" for name in ("item", "bound", "kept", "first")} & set(found)
        assert rest == ["bound", 1]


def save(path, text):
    file = open(path, "w")  # noqa: SIM115
    if not text:
        return None
    return file.write(text)


def pair(log, n):
    _first = Parent(log, "first")
    for i in range(n):
        if i == 3:
            return None
    second = Parent(log, "second")
    return second.number() + 1


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_variables_of_functions_that_are_inlined_end_with_them(tmp_path):
    def work(path, log, n):
        save(path, "text")
        found = [open(path).read()]  # noqa: SIM115
        found.append(pair(log, n) is None)
        log.append("behind")
        return found, save(path, ""), open(path).read(), log[:]  # noqa: SIM115

    compiled = ljit.jit(work)
    for n in (0, 2):
        for _ in range(CALLS):
            assert compiled(tmp_path / "file", [], n) == work(tmp_path / "file", [], n)
    # left in the middle: its objects live on to the end of native code
    assert compiled(tmp_path / "file", [], 5)[:-1] == work(tmp_path / "file", [], 5)[:-1]


def append_with_defaults(table, keys, out):
    for key in keys:
        made = table[key].get(key, dict())
        table[key][key] = made
        out.append(made)


def test_a_default_that_is_given_lives_on():
    def references(function):
        out = []
        function({1000: {}, 1001: {}, 1002: {}}, [1000, 1001, 1002], out)
        return [sys.getrefcount(made) for made in out]

    wanted = references(append_with_defaults)[:-1]  # the last one may live on in the variable
    compiled = ljit.jit(append_with_defaults)
    for _ in range(3):
        assert references(compiled)[:-1] == wanted


def sent_until_it_raises(log):
    numbers_sent = numbers(log, "a")
    next(numbers_sent)
    return numbers_sent.send(log.missing)


def test_a_profile_does_not_keep_the_object_of_a_method_that_was_called():
    compiled = ljit.jit(sent_until_it_raises)
    for _ in range(CALLS):
        log = []
        with pytest.raises(AttributeError):
            compiled(log)
        assert log == ["a begins", "a is closed"]


@pytest.mark.parametrize("base", [int, float, complex, np.float64, str, object])
def test_objects_of_a_users_class_die_with_the_call_that_made_them(base):
    dead = []

    class Number(base):
        def __del__(self):
            dead.append(type(self))

    @ljit.jit
    def makes_two():
        x = Number() or Number()
        return x is None

    for call in range(1, CALLS):
        assert not makes_two()
        assert len(dead) == call * (2 if base in (int, float, complex, np.float64, str) else 1)
