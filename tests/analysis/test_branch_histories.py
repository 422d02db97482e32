"""Which branches go either way, by their last outcomes."""

import ctypes
import random

import pytest

from ljit.analysis.branch_histories import BranchHistories, is_erratic, usual_outcome
from ljit.runtime.feedback import PlanFeedback


def text(outcomes):
    return "".join("01"[bool(x)] for x in outcomes)


def noise(seed, share, count=64):
    rng = random.Random(seed)
    return text(rng.random() < share for _ in range(count))


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_erratic(seed):
    assert is_erratic(noise(seed, 0.5))
    assert is_erratic(noise(seed, 0.6))


@pytest.mark.parametrize(
    "outcomes",
    [
        "",
        noise(1, 0.5, 31),  # tells little
        "0" * 64,
        "1" * 64,
        "01" * 32,
        "001" * 21,
        "0" * 30 + "1" * 34,
        "01101000" * 8,
        noise(2, 0.5, 12) * 5,
        noise(3, 0.03),
    ],
)
def test_what_is_always_so_or_comes_again_and_again_is_not(outcomes):
    assert not is_erratic(outcomes)


def test_the_interpreter_tells_outcomes_of_which_the_last_count():
    histories = BranchHistories()
    note = histories.recorder_of(7)
    for x in noise(5, 0.5):
        note(x == "1")
    assert histories.erratic() == {7}
    assert histories.recorder_of(7) == note
    for _ in range(64):
        note(True)
    assert histories.erratic() == set()


def test_native_code_has_a_word_for_each():
    histories = BranchHistories()
    word = ctypes.c_uint64.from_address(histories.address_of(3))
    assert (word.value, histories.erratic()) == (1, set())
    for x in noise(6, 0.5, 200):
        word.value = word.value << 1 | (x == "1")
    other = histories.address_of(4)
    assert histories.erratic() == {3}
    assert histories.names == {histories.address_of(3): "outcomes of 3", other: "outcomes of 4"}


@pytest.mark.parametrize(
    ("outcomes", "usual"),
    [
        ("1" * 64, True),
        ("0" * 40, False),
        ("0" * 30 + "11" + "0" * 32, False),
        ("0" * 30 + "111" + "0" * 31, None),
        ("1" * 31, None),  # tells little
        ("", None),
        ("01" * 32, None),
    ],
)
def test_what_nearly_always_came(outcomes, usual):
    assert usual_outcome(outcomes) is usual


def test_steady_branches_went_the_same_way_in_all_histories():
    histories, feedback = BranchHistories(), PlanFeedback()
    feedback.add_branches(histories)
    for origin, outcome in ((1, True), (2, False), (3, True)):
        note = histories.recorder_of(origin)
        for _ in range(64):
            note(outcome)
    word = ctypes.c_uint64.from_address(histories.address_of(3))
    assert feedback.steady_branches() == {1: True, 2: False, 3: True}
    word.value = 1 << 63  # 63 times false
    assert feedback.steady_branches() == {1: True, 2: False}
