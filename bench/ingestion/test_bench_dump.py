"""The throughput on a gigabyte of text, streamed in batches, so that it is never in memory at once.

Run it with ``pytest bench/ingestion/test_bench_dump.py -m long --benchmark-only --benchmark-json=FILE``. The floor is a
checksum of the same bytes in the same run, with which ``bench/regression/throughput_page.py`` compares commits.
"""

import itertools
import time
import zlib

import pyarrow as pa
import pytest

import pychunk
from pychunk.benchmark.synthetic_texts import Author

BYTES = 1_000_000_000


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.benchmark(group="dump")
@pytest.mark.parametrize("method", ["recursive", "topic"])
def test_dump(benchmark, method: str) -> None:
    author = Author(seed=20240229)
    texts = [author.document(sections=1 + number % 6) for number in range(640)]
    batch, size = pa.array(texts, pa.large_string()), sum(len(text.encode()) for text in texts)
    times = -(-BYTES // size)
    segmenter = pychunk.Segmenter(method, placement=pychunk.Placement(threads=1))  # as the floor

    def chunks() -> int:
        return sum(len(out) for out in segmenter.stream(itertools.repeat(batch, times)))

    joined = "".join(texts).encode()
    begun = time.perf_counter()
    for _ in range(times):
        zlib.crc32(joined)
    floor = time.perf_counter() - begun
    benchmark.extra_info.update({"MB": times * size / 1e6, "floor s": floor})
    assert benchmark.pedantic(chunks, rounds=1) == times * len(segmenter(batch))
