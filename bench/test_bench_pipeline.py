"""Throughput of every stage and of the whole pipeline; answers are asserted, a NumPy baseline stands in the group.

pytest bench --benchmark-only
"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk import _native
from pychunk._arrow import flat_text

TEXT = (
    "The river rises in the hills above the town. It flows past old mills, most of which are ruins today! Was it "
    "always so? Dr. Allen (1901-1980) thought that 3.5 million people had lived on its banks, e.g. in Upper Dale.\n"
)


def corpus() -> pa.LargeStringArray:
    """About 8 MB: Wikipedia articles where there are any, else repeated prose."""
    data = Path(os.environ.get("PYCHUNK_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    file = data / "wiki" / "articles.parquet"
    if not file.is_file():
        return pa.array([f"{TEXT * 60}{i}" for i in range(600)], pa.large_string())
    import pyarrow.parquet as pq

    return next(pq.ParquetFile(file).iter_batches(batch_size=500, columns=["text"])).column("text")


@pytest.fixture(scope="module")
def texts() -> pa.LargeStringArray:
    return corpus()


def measure(benchmark, texts, call):
    benchmark.extra_info["MB"] = flat_text(texts)[0].size / 1e6
    return benchmark.pedantic(call, rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="split")
def test_split(benchmark, texts) -> None:
    text, offsets = flat_text(texts)
    spans, _, flags = measure(benchmark, texts, lambda: _native.split_sentences(text, offsets, wrap=True, threads=1))
    assert (spans[1:, 0] >= spans[:-1, 1][: len(spans) - 1]).mean() > 0.9
    assert len(flags) == len(spans)


@pytest.mark.benchmark(group="WordPiece")
def test_wordpiece(benchmark, texts) -> None:
    text, offsets = flat_text(texts)
    encoder = pychunk.Segmenter().encoder
    ids, token_offsets, _ = measure(
        benchmark, texts, lambda: _native.encode_words(encoder, text, offsets, byte_spans=True)
    )
    assert token_offsets[-1] == len(ids)


@pytest.mark.benchmark(group="WordPiece")
def test_wordpiece_by_tokenizers(benchmark, texts) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    encoder = pychunk.Segmenter().encoder
    model = tokenizers.models.WordPiece({t: i for i, t in enumerate(encoder.vocabulary)}, unk_token="[UNK]")
    baseline = tokenizers.Tokenizer(model)
    baseline.normalizer = tokenizers.normalizers.BertNormalizer()
    baseline.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    few = texts.slice(0, 50)
    found = measure(benchmark, few, lambda: baseline.encode_batch(few.to_pylist(), add_special_tokens=False))
    text, offsets = flat_text(few)
    assert sum(len(encoding.ids) for encoding in found) == len(_native.encode_words(encoder, text, offsets)[0])


@pytest.mark.benchmark(group="encode")
def test_encode(benchmark, texts) -> None:
    encoder = pychunk.Segmenter().encoder
    vectors = measure(benchmark, texts, lambda: encoder.encode(texts, threads=1))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.benchmark(group="encode")
def test_encode_by_numpy(benchmark, texts) -> None:
    encoder = pychunk.Segmenter().encoder
    few = texts.slice(0, 50)
    text, offsets = flat_text(few)
    ids, token_offsets, _ = _native.encode_words(encoder, text, offsets)

    def encode() -> np.ndarray:
        sums = np.add.reduceat(encoder.table[ids].astype(np.int32), token_offsets[:-1])
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    assert np.allclose(measure(benchmark, few, encode), encoder.encode(few), atol=1e-6)


@pytest.mark.benchmark(group="pipeline")
@pytest.mark.parametrize("method", ["pic", "semantic", "cluster", "fixed", "recursive", "sentence"])
@pytest.mark.parametrize("threads", [1, 2])
def test_segment(benchmark, texts, method: str, threads: int) -> None:
    out = measure(benchmark, texts, lambda: pychunk.segment(texts, method, threads=threads))
    lengths = out.table.column("end_byte").to_numpy() - out.table.column("start_byte").to_numpy()
    assert 0.95 < lengths.sum() / flat_text(texts)[0].size <= 1.0


@pytest.mark.benchmark(group="one document")
def test_one_document_of_5_kb(benchmark) -> None:
    document = (TEXT * 25)[:5000]
    out = benchmark(pychunk.segment, document)
    assert all(document[chunk.start : chunk.end] == chunk.text for chunk in out)
