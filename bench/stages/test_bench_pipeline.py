"""The throughput of every stage and of the whole pipeline, each group with a NumPy baseline; answers are asserted.

Run it with ``pytest bench --benchmark-only``.
"""

import os
import re
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk._engine import native
from pychunk._engine.arrow import flat_text
from pychunk.encoders import static_encoder

TEXT = (
    "The river rises in the hills above the town. It flows past old mills, most of which are ruins today! Was it "
    "always so? Dr. Allen (1901-1980) thought that 3.5 million people had lived on its banks, e.g. in Upper Dale.\n"
)


def corpus() -> pa.LargeStringArray:
    """Return about 8 MB: Wikipedia articles if there are any, else repeated prose."""
    data = Path(os.environ.get("PYCHUNK_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
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


def tokenizer_of(encoder):
    """Return Hugging Face's tokenizer with the vocabulary of a pychunk encoder."""
    import tokenizers

    model = tokenizers.models.WordPiece({t: i for i, t in enumerate(encoder.vocabulary)}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return made


@pytest.mark.benchmark(group="split")
def test_split(benchmark, texts) -> None:
    text, offsets = flat_text(texts)
    starts, flags = measure(benchmark, texts, lambda: native.split_texts(text, offsets, threads=1))
    assert (np.diff(starts.values) > 0).mean() > 0.9
    assert len(flags.values) == len(starts.values)


@pytest.mark.benchmark(group="split")
def test_split_by_regex(benchmark, texts) -> None:
    few = texts.slice(0, 50).to_pylist()
    end = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|\n+")
    found = benchmark.pedantic(lambda: [end.split(text) for text in few], rounds=5, warmup_rounds=1)
    ours = sum(map(len, pychunk.split_sentences(few)))
    assert 0.8 < sum(sum(map(bool, pieces)) for pieces in found) / ours < 1.25


@pytest.mark.benchmark(group="WordPiece")
def test_wordpiece(benchmark, texts) -> None:
    text, offsets = flat_text(texts)
    encoder = static_encoder.load()
    ids, token_offsets, _ = measure(
        benchmark, texts, lambda: native.encode_words(encoder, text, offsets, byte_spans=True)
    )
    assert token_offsets[-1] == len(ids)


@pytest.mark.benchmark(group="WordPiece")
def test_wordpiece_by_tokenizers(benchmark, texts) -> None:
    pytest.importorskip("tokenizers")
    encoder = static_encoder.load()
    baseline = tokenizer_of(encoder)
    few = texts.slice(0, 50)
    found = measure(benchmark, few, lambda: baseline.encode_batch(few.to_pylist(), add_special_tokens=False))
    text, offsets = flat_text(few)
    assert sum(len(encoding.ids) for encoding in found) == len(native.encode_words(encoder, text, offsets)[0])


@pytest.mark.benchmark(group="encode")
def test_encode(benchmark, texts) -> None:
    encoder = static_encoder.load()
    vectors = measure(benchmark, texts, lambda: encoder.encode(texts, threads=1))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.benchmark(group="encode")
def test_encode_by_numpy(benchmark, texts) -> None:
    encoder = static_encoder.load()
    few = texts.slice(0, 50)
    text, offsets = flat_text(few)
    ids, token_offsets, _ = native.encode_words(encoder, text, offsets)

    def encode() -> np.ndarray:
        sums = np.add.reduceat(encoder.table[ids].astype(np.int32), token_offsets[:-1])
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    assert np.allclose(measure(benchmark, few, encode), encoder.encode(few), atol=1e-6)


@pytest.mark.benchmark(group="pipeline")
@pytest.mark.parametrize(
    "method", ["pic", "semantic", "nsp", "topic", "cluster", "fixed", "recursive", "structure", "sentence"]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_segment(benchmark, texts, method: str, threads: int) -> None:
    segmenter = pychunk.Segmenter(method, encoder="static", placement=pychunk.Placement(threads=threads))
    out = measure(benchmark, texts, lambda: segmenter(texts))
    lengths = out.table.column("end_byte").to_numpy() - out.table.column("start_byte").to_numpy()
    assert 0.95 < lengths.sum() / flat_text(texts)[0].size <= 1.0


def numpy_pic(few: list[str]) -> list[bool]:
    """Run the obvious PIC with the mean as summary: a loop over documents, tokens from `tokenizers`, then NumPy."""
    encoder = static_encoder.load()
    baseline = tokenizer_of(encoder)
    kinds: list[bool] = []
    for text, spans in zip(few, pychunk.split_sentences(few)):
        encodings = baseline.encode_batch([text[a:b] for a, b in spans], add_special_tokens=False)
        sums = np.stack([encoder.table[encoding.ids].astype(np.float32).sum(axis=0) for encoding in encodings])
        vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        summary = vectors.sum(axis=0)
        scores = vectors @ (summary / np.linalg.norm(summary))
        labels = scores >= scores.mean()
        kinds += labels[np.flatnonzero(np.diff(labels, prepend=~labels[:1]))].tolist()
    return kinds


@pytest.mark.benchmark(group="pipeline")
def test_pic_by_numpy(benchmark, texts) -> None:
    pytest.importorskip("tokenizers")
    few = texts.slice(0, 20)
    found = measure(benchmark, few, lambda: numpy_pic(few.to_pylist()))
    ours = (
        pychunk.segment(few, "pic", summary="mean", max_tokens=None, keep_together=False, min_tokens=0)
        .table.column("relevance")
        .to_pylist()
    )
    assert abs(len(found) - len(ours)) <= 0.01 * len(ours)  # a score may round to the other side of the mean


@pytest.fixture(scope="module")
def scored() -> tuple[list[str], list[np.ndarray], list[list[tuple[int, int]]]]:
    """Return 400 documents of 5 to 200 sentences with given vectors of 384 dimensions."""
    random = np.random.default_rng(0)
    lengths = random.integers(5, 200, size=400)
    documents = [". ".join("Sentence" for _ in range(n)) + "." for n in lengths]
    vectors = [random.normal(size=(n, 384)).astype(np.float32) + 0.3 for n in lengths]
    return documents, vectors, pychunk.split_sentences(documents)


def runs_of(given: np.ndarray) -> int:
    """Return chunks of one document; given vectors may have any length, so rows are scaled first, as pychunk does."""
    vectors = given / np.sqrt((given * given).sum(axis=1)).reshape(-1, 1)
    summary = vectors.sum(axis=0)
    scores = vectors @ (summary / np.sqrt((summary * summary).sum()))
    labels = scores >= scores.mean()
    return 1 + int((labels[1:] != labels[:-1]).sum())


@pytest.mark.benchmark(group="score and cut, vectors given")
def test_score(benchmark, scored) -> None:
    documents, vectors, spans = scored
    segmenter = pychunk.Segmenter(
        "pic",
        summary="mean",
        max_tokens=None,
        keep_together=False,
        min_tokens=0,
        placement=pychunk.Placement(threads=1),
    )
    joined = np.concatenate(vectors)
    out = benchmark(lambda: segmenter(documents, columns={"sentence_vectors": joined, "sentence_spans": spans}))
    assert abs(len(out) - sum(map(runs_of, vectors))) <= 0.01 * len(out)


@pytest.mark.benchmark(group="score and cut, vectors given")
def test_score_by_numpy(benchmark, scored) -> None:
    assert benchmark(lambda: sum(map(runs_of, scored[1]))) > len(scored[0])


@pytest.mark.benchmark(group="score and cut, vectors given")
def test_score_by_numba(benchmark, scored) -> None:
    compiled = pytest.importorskip("numba").njit(fastmath=False)(runs_of)
    found = benchmark(lambda: sum(compiled(vectors) for vectors in scored[1]))
    assert abs(found - sum(map(runs_of, scored[1]))) <= 0.01 * found


@pytest.mark.benchmark(group="one document")
def test_one_document_of_5_kb(benchmark) -> None:
    document = (TEXT * 25)[:5000]
    out = benchmark(pychunk.segment, document)
    assert all(document[chunk.start : chunk.end] == chunk.text for chunk in out)


@pytest.mark.benchmark(group="summaries")
def test_summaries_out_cost_at_most_a_twentieth(benchmark, texts) -> None:
    plain, told = (
        pychunk.Segmenter("pic", placement=pychunk.Placement(threads=1), summaries_out=out) for out in (False, True)
    )
    out = benchmark.pedantic(lambda: told(texts), rounds=3, warmup_rounds=1)
    assert out.table.equals(plain(texts).table)
    assert out.summaries.num_rows == len(texts)

    def cost() -> float:
        """Return the median of the ratios of CPU seconds, in turns."""
        ratios = []
        for _ in range(9):
            begun = time.process_time()
            plain(texts)
            between = time.process_time()
            told(texts)
            ratios.append((time.process_time() - between) / (between - begun))
        return float(np.median(ratios))

    assert any(cost() <= 1.05 for _ in range(5))  # some 3 % if the machine does no other work


@pytest.mark.benchmark(group="structure")
def test_structure_takes_at_most_twice_as_long_as_recursive(benchmark, texts) -> None:
    from pychunk._engine.data.blocks import Blocks

    lines = [list(re.finditer(r"\S[^\n]*", text)) for text in texts.to_pylist()]
    blocks = Blocks.of([[(kind_of(line[0]), 1, *line.span()) for line in own] for own in lines])
    structure, recursive = (
        pychunk.Segmenter(method, placement=pychunk.Placement(threads=1)) for method in ("structure", "recursive")
    )
    out = measure(benchmark, texts, lambda: structure(texts, columns={"blocks": blocks}))
    assert sum(map(len, out.texts)) > 0.95 * sum(map(len, texts.to_pylist()))

    def cost() -> float:
        """Return the median of the ratios of CPU seconds, in turns."""
        ratios = []
        for _ in range(5):
            begun = time.process_time()
            recursive(texts)
            between = time.process_time()
            structure(texts, columns={"blocks": blocks})
            ratios.append((time.process_time() - between) / (between - begun))
        return float(np.median(ratios))

    assert any(cost() <= 2 for _ in range(3))


def kind_of(line: str) -> str:
    """Return the kind of an article's line, in the way of a parser."""
    if line.startswith(("*", "-")):
        return "item"
    return "heading" if len(line) < 60 and line[-1] not in ".:?!" else "paragraph"
