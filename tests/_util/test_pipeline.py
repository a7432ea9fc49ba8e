"""The bounded pipeline keeps order, passes errors on, respects its bounds, and always ends."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk._util.pipeline import Pipeline


@given(items=st.lists(st.integers()), stages=st.integers(0, 4), depth=st.integers(1, 3))
def test_items_come_out_in_order(items: list[int], stages: int, depth: int) -> None:
    assert list(Pipeline(items, [lambda x: x + 1] * stages, depth)) == [item + stages for item in items]


def pipeline_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("pychunk-stage")]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_error_comes_after_what_went_before_it_and_ends_all(bad: int) -> None:
    def fail(item: int) -> int:
        if item == 3:
            raise ValueError("three")
        return item

    stages = [lambda x: x, lambda x: x, lambda x: x]
    stages[bad] = fail
    running = iter(Pipeline(range(100), stages))
    assert [next(running) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(running)
    assert not pipeline_threads()


@pytest.mark.parametrize("number", range(4))
def test_ctrl_c_while_the_threads_start_ends_them(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start, begun = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        begun.append(thread)
        if len(begun) == number + 1:
            raise KeyboardInterrupt

    worked = []
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(Pipeline(range(10**9), [lambda x: x, worked.append, lambda x: x]))
    assert not any(thread.is_alive() for thread in begun)
    assert len(begun) == number + 1


def test_an_error_of_the_items() -> None:
    def items():
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(Pipeline(items(), [str]))


def test_no_more_is_read_than_waits() -> None:
    read = []

    def items():
        for i in range(1000):
            read.append(i)
            yield i

    running = iter(Pipeline(items(), [lambda x: x], depth=2))
    next(running)
    time.sleep(0.3)
    assert len(read) <= 9  # two lines of two, one in each of three stages, one given, one read ahead
    running.close()
    assert not pipeline_threads()


def test_stages_overlap_and_say_how_busy_they_were() -> None:
    ahead = threading.Event()

    def first(item: int) -> int:
        if item == 1:
            ahead.set()
        time.sleep(0.02)
        return item

    def second(item: int) -> int:
        # Item 0 waits here until the stage before is at item 1. If stages took turns, it would wait forever.
        assert ahead.wait(timeout=30)
        time.sleep(0.02)
        return item

    staged, begun = Pipeline(range(5), [first, second]), time.perf_counter()
    assert list(staged) == list(range(5))
    wall = time.perf_counter() - begun
    assert all(0.1 <= busy <= wall for busy in staged.busy[1:])
