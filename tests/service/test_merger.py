"""Batches of requests: a full queue, cancelled jobs, long requests."""

import asyncio
import gc
import weakref

import pytest

pytest.importorskip("msgspec")

from pychunk.service import http, segmentation
from pychunk.service.merger import Job, Merger
from pychunk.service.request_error import RequestError


def test_a_full_queue_is_429_and_a_cancelled_job_does_not_run():
    ran, sizes = [], []

    async def main():
        begun, go = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def run(jobs):
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(go.wait(), loop).result()
            ran.append([job.work for job in jobs])
            return [job.work for job in jobs]

        merger = Merger(run, 3, sizes.append)
        tasks = [asyncio.ensure_future(merger.result(Job("key", 0, 10)))]
        await begun.wait()
        tasks += [asyncio.ensure_future(merger.result(Job("key" if n < 3 else "other", n, 10))) for n in (1, 2, 3)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError) as refused:
            await merger.result(Job("key", 4, 10))
        assert refused.value.status == 429
        assert refused.value.headers == {"Retry-After": "1"}
        tasks[2].cancel()
        await asyncio.sleep(0)
        go.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [each for each in results if not isinstance(each, BaseException)] == [0, 1, 3]
        assert isinstance(results[2], asyncio.CancelledError)
        merger.close()

    asyncio.run(main())
    assert ran == [[0], [1], [3]]
    assert sizes == [1, 1, 1]


def test_a_long_request_ends_if_nobody_waits():
    async def main():
        sizes = []
        merger = Merger(lambda jobs: segmentation.run(jobs, 1, 1 << 30), 3, sizes.append)
        options = b'{"method":"semantic","window":1000000}'  # some minutes of work
        slow = segmentation.Documents(["Cats purr. " * 90_000], None, {}, "text", options, http.JSON)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(merger.result(Job("slow", slow, 990_000)), 0.5)
        quick = segmentation.Documents(["Cats purr."], None, {}, "text", b"{}", http.JSON)
        answer = await merger.result(Job("quick", quick, 10))
        merger.close()
        return answer, sizes

    answer, sizes = asyncio.run(main())
    assert b"Cats purr." in answer
    assert sizes == [1, 1]


def test_the_text_of_a_request_is_freed_with_its_answer():
    """The garbage collector runs too rarely for texts in cycles of objects: 150 MB of them stayed in a worker."""

    class Text(str):
        __slots__ = ("__weakref__",)

    def run(jobs):
        if jobs[0].key == "raises":
            raise OSError("no disk")
        return [ValueError("a bad text") if job.key == "bad" else job.work for job in jobs]

    async def main():
        merger = Merger(run, 3, lambda jobs: None)
        texts = []
        for key in ("good", "bad", "raises", "cancelled"):
            text = Text("Cats purr.")
            texts.append(weakref.ref(text))
            task = asyncio.ensure_future(merger.result(Job(key, text, 10)))
            await asyncio.sleep(0)
            if key == "cancelled":
                task.cancel()
            await asyncio.wait([task])
            del task, text
        await asyncio.wait_for(merger.result(Job("last", "", 0)), 60)
        merger.close()
        return [text() for text in texts]

    gc.disable()
    try:
        assert asyncio.run(main()) == [None] * 4
    finally:
        gc.enable()
