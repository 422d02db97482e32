"""Handlers of signals wait while code runs that they must not come into."""

import os
import signal
import threading

import pytest

from ljit.cpython.signals import handlers_wait

SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)


class Raised(Exception):
    pass


@pytest.fixture
def came():
    """The signals whose handlers have run."""
    seen = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: seen.append((number, frame is not None)))
    yield seen
    for number, handler in before.items():
        signal.signal(number, handler)


def raising(number, frame):
    raise Raised(number)


def test_a_handler_runs_once_behind_it_and_stands_in_its_place_again(came):
    handler = signal.getsignal(SIGNALS[0])
    with handlers_wait():
        signal.raise_signal(SIGNALS[0])
        signal.raise_signal(SIGNALS[0])
        assert not came
    assert came == [(SIGNALS[0], True)]
    assert signal.getsignal(SIGNALS[0]) is handler


def test_what_a_handler_raises_comes_behind_it_and_the_others_run_all_the_same(came):
    signal.signal(SIGNALS[0], raising)
    done = []
    with pytest.raises(Raised), handlers_wait():
        for number in SIGNALS:
            signal.raise_signal(number)
        done.append(True)
    assert done
    assert came == [(SIGNALS[1], True)]


def test_an_exception_goes_its_way_and_handlers_run(came):
    with pytest.raises(ZeroDivisionError), handlers_wait():  # noqa: PT012  # the signal comes before it
        signal.raise_signal(SIGNALS[0])
        raise ZeroDivisionError
    assert len(came) == 1


def test_handlers_wait_for_the_outermost(came):
    with handlers_wait():
        with handlers_wait():
            signal.raise_signal(SIGNALS[0])
        assert not came
    assert len(came) == 1


def test_a_handler_that_is_set_meanwhile_stays(came):
    with handlers_wait():
        signal.signal(SIGNALS[0], raising)
    assert signal.getsignal(SIGNALS[0]) is raising


def test_a_thread_that_runs_no_handlers_changes_nothing(came):
    found = []

    def work():
        with handlers_wait():
            found.append(signal.getsignal(SIGNALS[0]))

    handler = signal.getsignal(SIGNALS[0])
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [handler]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_meanwhile_runs_handlers_at_once():
    before = signal.signal(SIGNALS[0], lambda *_: os._exit(7))
    try:
        with handlers_wait():
            child = os.fork()
            if child == 0:
                signal.raise_signal(SIGNALS[0])
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        signal.signal(SIGNALS[0], before)
