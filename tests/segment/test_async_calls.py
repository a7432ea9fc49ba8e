"""Calls from an event loop give what calls without one give, and a cancelled task leaves no work, thread or file."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import pychunk
from pychunk import async_calls
from pychunk._engine import native

TEXTS = [f"Cats number {i} purr. Dogs bark at {i}. " * (i % 7 + 1) for i in range(64)]
#: A call with this text takes seconds, so that it is under way when it is cancelled.
LONG = ["Cats purr when they are content. Dogs bark at night, and owls fly. " * 3000] * 400


def python_threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def test_64_tasks_get_what_64_calls_get_and_leave_no_thread() -> None:
    seg, before = pychunk.Segmenter("sentence"), python_threads()

    async def main() -> list[Any]:
        return await asyncio.gather(*(seg.acall(text, ids=[i]) for i, text in enumerate(TEXTS)))

    assert [out.to_list() for out in asyncio.run(main())] == [
        seg(text, ids=[i]).to_list() for i, text in enumerate(TEXTS)
    ]
    assert python_threads() == before


def test_at_most_as_many_calls_run_at_a_time_as_there_are_threads() -> None:
    limit, running, go_on = max(2, native.default_threads()), [], threading.Event()

    def work() -> None:
        running.append(threading.get_ident())
        go_on.wait()

    async def main() -> None:
        tasks = [asyncio.ensure_future(async_calls.in_thread(work)) for _ in range(64)]
        while len(running) < limit:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)  # Others would begin now if there were places.
        assert len(running) == limit
        go_on.set()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert len(running) == 64


def test_a_cancelled_task_ends_its_native_call() -> None:
    seg, done, started = pychunk.Segmenter("pic"), threading.Event(), threading.Event()
    ended: list[type[BaseException] | None] = []

    def work() -> None:
        started.set()
        try:
            seg(LONG)
            ended.append(None)
        except BaseException as error:
            ended.append(type(error))
            raise
        finally:
            done.set()

    async def main() -> None:
        task = asyncio.ensure_future(async_calls.in_thread(work))
        await asyncio.get_running_loop().run_in_executor(None, started.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())  # It waits for the threads of the executor.
    assert done.is_set()
    assert ended == [KeyboardInterrupt]
    assert seg("Cats purr.").texts == ["Cats purr."]


def test_cancelled_tasks_give_their_places_to_others() -> None:
    seg = pychunk.Segmenter("sentence")

    async def main() -> int:
        tasks = [asyncio.ensure_future(seg.acall(text)) for text in TEXTS]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [out.texts for out in found[1::2]] == [seg(text).texts for text in TEXTS[1::2]]
        assert all(isinstance(out, asyncio.CancelledError) for out in found[::2])
        return len(await seg.acall(TEXTS))

    assert asyncio.run(main()) == len(seg(TEXTS))


def test_an_error_of_a_call_is_raised_in_its_task() -> None:
    seg = pychunk.Segmenter("sentence")

    async def main() -> None:
        with pytest.raises(TypeError, match="a call of a Segmenter has no argument"):
            await seg.acall("A cat.", encoder="static")
        with pytest.raises(TypeError, match="a call of a Segmenter has no argument"):
            [out async for out in seg.astream(["A cat."], encoder="static")]
        with pytest.raises(TypeError):
            [out async for out in seg.astream([["A cat."], [5]])]

    asyncio.run(main())


@pytest.mark.parametrize("is_async", [False, True])
def test_a_stream_yields_what_the_synchronous_one_yields(is_async: bool) -> None:
    seg, batches = pychunk.Segmenter("sentence"), [TEXTS[i : i + 5] for i in range(0, len(TEXTS), 5)]

    async def read() -> AsyncIterator[list[str]]:
        for batch in batches:
            await asyncio.sleep(0)
            yield batch

    async def main() -> list[Any]:
        return [out.to_list() async for out in seg.astream(read() if is_async else iter(batches))]

    assert asyncio.run(main()) == [out.to_list() for out in seg.stream(batches)]


def test_a_slow_reader_of_a_stream_slows_down_its_source() -> None:
    seg, read = pychunk.Segmenter("sentence"), 0

    def source() -> Iterator[list[str]]:
        nonlocal read
        for text in TEXTS:
            read += 1
            yield [text]

    async def main() -> None:
        taken = 0
        async for _ in seg.astream(source()):
            taken += 1
            await asyncio.sleep(0.001)
            assert read <= taken + async_calls.AHEAD

    asyncio.run(main())
    assert read == len(TEXTS)


def test_the_first_chunks_of_a_stream_do_not_wait_for_the_next_batch() -> None:
    seg = pychunk.Segmenter("sentence")

    async def main() -> None:
        taken = asyncio.Event()

        async def source() -> AsyncIterator[list[str]]:
            yield ["Cats purr."]
            await taken.wait()
            yield ["Dogs bark."]

        found = []
        async for out in seg.astream(source()):
            taken.set()
            found += out.texts
        assert found == ["Cats purr.", "Dogs bark."]

    asyncio.run(main())


def test_a_stream_that_is_left_closes_its_source_and_ends_its_tasks() -> None:
    seg, closed = pychunk.Segmenter("sentence"), []

    async def source() -> AsyncIterator[list[str]]:
        try:
            for text in TEXTS:
                yield [text]
        finally:
            closed.append(True)

    async def main() -> None:
        stream = seg.astream(source())
        assert (await anext(stream)).texts == seg(TEXTS[0]).texts
        await stream.aclose()
        assert closed == [True]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    before = python_threads()
    asyncio.run(main())
    assert python_threads() == before


def test_searches_of_many_tasks_equal_those_one_after_the_other(tmp_path: Path) -> None:
    chunks = pychunk.segment(TEXTS, "sentence", vectors="sentence", ids=list(map(str, range(len(TEXTS)))))
    with pychunk.Index.create(tmp_path / "i") as index:
        index.add(chunks)
        index.save()
        files = sorted(os.listdir(tmp_path / "i"))

        async def main() -> list[Any]:
            tasks = [asyncio.ensure_future(index.asearch(f"who barks at {i}", 3)) for i in range(64)]
            await asyncio.sleep(0)
            for task in tasks[::4]:
                task.cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

        for i, found in enumerate(asyncio.run(main())):
            if i % 4 == 0:
                assert isinstance(found, asyncio.CancelledError)
            else:
                assert found == index.search(f"who barks at {i}", 3)
        assert sorted(os.listdir(tmp_path / "i")) == files


def test_a_cancelled_call_is_cancelled_before_it_begins() -> None:
    stop = native.Cancellation()
    stop.cancel()
    with stop, pytest.raises(KeyboardInterrupt, match="the call was cancelled"):
        pychunk.Segmenter("sentence")("Cats purr.")
    assert pychunk.Segmenter("sentence")("Cats purr.").texts == ["Cats purr."]
