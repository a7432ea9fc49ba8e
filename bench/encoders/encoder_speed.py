"""A comparison of pychunk's MiniLM with sentence-transformers and plain ONNX Runtime, on the same sentences.

Each row encodes the same real sentences on the same number of threads. The rows take turns in one process, and the
table shows medians. The floor is the rate of float32 matrix products of the model's own shapes, measured in the same
run.

    pychunk model get minilm
    pip install ".[bench]" && python bench/encoders/encoder_speed.py --data ../shared/data
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk._engine import native
from pychunk._engine.arrow import flat_text
from pychunk.encoders import registry
from pychunk.encoders.cross_encoder import PairScorer
from pychunk.encoders.runtime import cpu_batches
from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.encoders.transformer import TransformerEncoder

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from training.random_bert import random_bert

ABOUT = (
    'MiniLM\'s sentence vectors by several programs, which run in turn; cells are medians. "Of the product rate" is '
    "the share of the rate at which the machine computes bare float32 products of the model's shapes. \"Pychunk is "
    "times\" is the speed of pychunk divided by that of the row's program."
)
HIDDEN, WIDE, LAYERS = 384, 1536, 6
#: The [rows of the weight, columns] of the products in one layer.
SHAPES = [(HIDDEN, 3 * HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, WIDE), (WIDE, HIDDEN)]
#: The pairs that are scored.
PAIRS = 600


def load_sentences(data: Path, count: int) -> list[str]:
    """Return sentences of articles, in reading order."""
    file = pq.ParquetFile(data / "wiki" / "articles.parquet")
    found: list[str] = []
    for batch in file.iter_batches(batch_size=50, columns=["text"]):
        texts = batch.column("text").to_pylist()
        for text, spans in zip(texts, pychunk.split_sentences(texts), strict=True):
            found += [text[a:b].strip() for a, b in spans]
        if len(found) >= count:
            return found[:count]
    return found


def matrix_rate(threads: int) -> float:
    """Return the median GFLOP/s of float32 products [2048, k] x [k, n] of the model's shapes, one stream a thread."""
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for k, n in SHAPES:
            weight = numpy_helper.from_array(np.random.default_rng(0).normal(size=(k, n)).astype(np.float32), "w")
            value = helper.make_tensor_value_info
            graph = helper.make_graph(
                [helper.make_node("MatMul", ["x", "w"], ["y"])],
                "product",
                [value("x", TensorProto.FLOAT, ["rows", k])],
                [value("y", TensorProto.FLOAT, ["rows", n])],
                [weight],
            )
            path = Path(folder) / f"{k}x{n}.onnx"
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
            path.write_bytes(model.SerializeToString())
            runs.append(ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]))
    inputs = [np.ones((cpu_batches.BATCH_TOKENS, k), np.float32) for k, _ in SHAPES]
    flops = sum(2 * cpu_batches.BATCH_TOKENS * k * n for k, n in SHAPES)

    def work(_: int) -> None:
        for run, x in zip(runs, inputs, strict=True):
            run.run(None, {"x": x})

    rates = []
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
        for _ in range(15):
            begun = time.perf_counter()
            list(pool.map(work, range(2 * threads)))
            rates.append(2 * threads * flops / (time.perf_counter() - begun) / 1e9)
    return statistics.median(rates)


def model_flops(lengths: np.ndarray) -> float:
    """Return the multiplications and additions for rows of these lengths: all products and attention's two."""
    products = 2 * sum(k * n for k, n in SHAPES) * lengths.sum()
    attention = 4 * HIDDEN * (lengths.astype(np.float64) ** 2).sum()
    return float(LAYERS * (products + attention))


def plain_onnx(encoder: TransformerEncoder, sentences: list[str], threads: int) -> Callable[[], np.ndarray]:
    """Return a simple script's encoder: tokenizers pads batches of 32 in reading order, one session on all threads."""
    import onnxruntime as ort
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(encoder.path / encoder.facts.tokenizer))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(encoder.facts.max_length)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(str(encoder.path / "model.onnx"), options, providers=["CPUExecutionProvider"])

    def run() -> np.ndarray:
        parts = []
        for begin in range(0, len(sentences), 32):
            found = tokenizer.encode_batch(sentences[begin : begin + 32])
            ids = np.array([each.ids for each in found], np.int32)
            mask = np.array([each.attention_mask for each in found], np.int32)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = session.run(None, feed)[0]
            sums = (states * mask[:, :, None]).sum(axis=1)
            parts.append(sums / np.linalg.norm(sums, axis=1, keepdims=True))
        return np.concatenate(parts)

    return run


def sentence_transformers(sentences: list[str], threads: int, size: int) -> Callable[[], np.ndarray] | None:
    """Return sentence-transformers' float32 encoder in torch, which sorts by length itself, if it is installed."""
    try:
        import torch
        from sentence_transformers import SentenceTransformer

        from pychunk.training.teacher import default_teacher
    except ImportError:
        return None
    torch.set_num_threads(threads)
    model = SentenceTransformer(default_teacher(), device="cpu")
    model.max_seq_length = 256
    return lambda: model.encode(sentences, batch_size=size, normalize_embeddings=True, show_progress_bar=False)


def pair_rates(sentences: list[str], threads: int, rounds: int) -> list[dict[str, float | str]]:
    """Return pairs a second of a cross-encoder with MiniLM's shapes, in float32 and in 8 bits, which take turns.

    A pair is a sentence and a chunk of at most 110 words. The weights are random: they change no shape, so no time.
    """
    chunks = pychunk.segment(" ".join(sentences), "recursive", size=110).texts[:PAIRS]
    text, bounds = flat_text(pa.array([*sentences[: len(chunks)], *chunks], pa.large_string()))
    first = np.arange(len(chunks))
    with tempfile.TemporaryDirectory() as folder:
        path = random_bert(Path(folder), "pairs", layers=LAYERS, hidden=HIDDEN)
        scorers = {"float32": PairScorer(path), "int8": PairScorer(path, runtime=ModelPlacement.of(precision="int8"))}
        taken: dict[str, list[float]] = {name: [] for name in scorers}
        for _ in range(rounds):
            for name, scorer in scorers.items():
                begun = time.perf_counter()
                logits = scorer.logits(text, bounds, first, first + len(chunks), threads=threads)
                taken[name].append(time.perf_counter() - begun)
                assert np.isfinite(logits).all()
    return [{"precision": name, "pairs/s": len(chunks) / statistics.median(each)} for name, each in taken.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds wiki/articles.parquet")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=native.default_threads())
    parser.add_argument("--batch-tokens", type=int, nargs="*", default=[cpu_batches.BATCH_TOKENS])
    parser.add_argument("--openvino", action="store_true", help="also pychunk on OpenVINO")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    sentences = load_sentences(options.data, options.sentences)
    text, bounds = flat_text(pa.array(sentences, pa.large_string()))
    encoder = registry.vector_encoder(options.encoder)
    assert isinstance(encoder, TransformerEncoder), "this compares transformers"
    rows = native.pair_rows(encoder.tokens_of(text, bounds), np.arange(len(sentences)), None, encoder.facts.template)
    lengths = rows.lengths()
    order, borders = native.plan_batches(lengths, budget=cpu_batches.BATCH_TOKENS, least=cpu_batches.LEAST_TOKENS)
    computed = sum((b - a) * lengths[order[a]] for a, b in pairwise(borders))
    print(f"{len(sentences):,} sentences, {lengths.sum():,} tokens, {options.threads} threads; ", end="")
    print(f"{lengths.sum() / computed:.1%} of the tokens that pychunk computes are real")

    jobs: dict[str, Callable[[], np.ndarray]] = {}
    for tokens in options.batch_tokens:
        jobs[f"pychunk, {tokens} tokens"] = lambda tokens=tokens: encoder.encode_spans(
            text, bounds, threads=options.threads, batch_tokens=tokens
        )
    int8 = TransformerEncoder(encoder.path, runtime=ModelPlacement.of(precision="int8"))
    jobs["pychunk in 8 bits"] = lambda: int8.encode_spans(text, bounds, threads=options.threads)
    if options.openvino:
        other = TransformerEncoder(encoder.path, runtime="openvino")
        jobs["pychunk on OpenVINO"] = lambda: other.encode_spans(text, bounds, threads=options.threads)
    for size in (8, 16, 32):
        job = sentence_transformers(sentences, options.threads, size)
        if job is not None:
            jobs[f"sentence-transformers, {size}"] = job
    jobs["ONNX Runtime, batches of 32"] = plain_onnx(encoder, sentences, options.threads)
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    rates, answers = [], {}
    for _ in range(options.rounds):
        rates.append(matrix_rate(options.threads))
        for name, job in jobs.items():
            begun = time.perf_counter()
            answers[name] = job()
            seconds[name].append(time.perf_counter() - begun)
    rate = statistics.median(rates)
    first = next(iter(jobs))
    print(f"float32 products on the model's shapes: {rate:.0f} GFLOP/s\n")
    print(f"{'':30}sentences/s   pychunk is   of the product rate   least cosine")
    found = []
    for name, taken in seconds.items():
        cosine = float((answers[name] * answers[first]).sum(axis=1).min())
        assert cosine > 0.99, f"{name} computes something else"
        median = statistics.median(taken)
        share = model_flops(lengths) / median / 1e9 / rate
        ratio = median / statistics.median(seconds[first])
        print(f"{name:30}{len(sentences) / median:11.1f}{ratio:12.2f}x{share:22.1%}{cosine:15.5f}")
        cells = {"sentences/s": len(sentences) / median, "pychunk is times": ratio}
        found.append({"row": name, **cells, "of the product rate": share, "least cosine": cosine})
    pairs = pair_rates(sentences, options.threads, options.rounds)
    print("\npairs of a sentence and a chunk of 110 words a second, MiniLM's shapes with random weights")
    for row in pairs:
        print(f"  {row['precision']}: {row['pairs/s']:.1f}")
    if options.save:
        figures = {"sentences": len(sentences), "real tokens": float(lengths.sum() / computed), "GFLOP/s": rate}
        packages = ("onnxruntime", "openvino", "torch", "sentence-transformers")
        title = "Transformer encoders compared with their peers"
        figures |= {"rows": found, "Pairs of a sentence and a chunk, random weights": pairs}
        record.save(options.save, title, figures, about=ABOUT, packages=packages, encoder=encoder.fingerprint)


if __name__ == "__main__":
    main()
