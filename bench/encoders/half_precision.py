"""A count of how often half precision moves a cut, compared with MiniLM's sentence vectors in float32.

Every scheme encodes the same sentences of randomly chosen articles. The same call then cuts each document from its
float32 vectors and from the scheme's, and the chunks are compared. Schemes named fp16 and bf16 run in torch on the
device. The others are computed in float32, and every value that a GPU would hold in float16 is rounded to float16. A
GPU's tensor cores sum in float32 too, so that only the order of additions differs.

    pychunk model get minilm
    pip install ".[torch]" && python bench/encoders/half_precision.py --data ../shared/data --documents 60
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch.nn import functional

import pychunk
from pychunk._engine import native
from pychunk._engine.arrow import flat_text
from pychunk.encoders.files import model_dir
from pychunk.encoders.runtime import cpu_batches
from pychunk.encoders.runtime.bert_torch import BertTorch
from pychunk.tokenizers.sources import of_model

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

METHODS: dict[str, dict[str, Any]] = {
    "pic extractive": {"method": "pic", "summary": "extractive"},
    "pic mean": {"method": "pic", "summary": "mean"},
    "semantic": {"method": "semantic"},
}
#: The margin within which sentences are encoded again, then the margin within which whole documents are; 0 for none.
AGAIN = ((1e-3, 0.0), (2e-3, 0.0), (5e-3, 0.0), (1e-3, 1e-5), (1e-3, 3e-5))
#: Another device may cut differently at a score that is this near to its threshold, as the documentation says.
NEAR = 1e-3

LEGEND = """
equal: per cent of documents with float32's chunks. median, largest: of |score - float32's|. threshold: the
largest |threshold - float32's| of a document. cuts: those that only one of both has; near: per cent of them whose
float32 score is within 1e-3 of its threshold. Pairs of margins: per cent of documents equal once the sentences within
the first margin, then documents within the second one, have float32's vectors (in brackets the per cent of all
sentences that were encoded again)."""


def half(x: torch.Tensor) -> torch.Tensor:
    """Return the values rounded to float16, held in float32."""
    return x.half().float()


def as_it_is(x: torch.Tensor) -> torch.Tensor:
    return x


@dataclass(frozen=True)
class Rounding:
    """A choice of what is rounded to float16: states between layers, inputs and weights of products, attention."""

    states: bool = False
    inputs: bool = True
    weights: bool = True
    attention: bool = True
    #: Inputs and weights are sums of two float16 each; the three larger of the four products are computed.
    three_products: bool = False


class Emulated(BertTorch):
    """A BERT whose values are rounded as :class:`Rounding` says."""

    def __init__(self, path: Path, rounding: Rounding) -> None:
        super().__init__(path, "cpu", "fp32")
        self.rounding = rounding
        self.state = half if rounding.states else as_it_is
        with torch.inference_mode():
            if rounding.weights:
                for each in (self._words, self._places):
                    each.copy_(half(each))
            if rounding.states:  # biases and norms have the precision of the states that they are added to
                for pair in (self._norm, *(pair for layer in self._layers for pair in layer)):
                    pair.bias.copy_(half(pair.bias))
                    if pair.weight.ndim == 1:
                        pair.weight.copy_(half(pair.weight))

    def _normed(self, state: torch.Tensor, norm: Any) -> torch.Tensor:
        return self.state(super()._normed(self.state(state), norm))

    def product(self, x: torch.Tensor, layer: Any) -> torch.Tensor:
        weight = layer.weight
        if self.rounding.three_products:
            high, weight_high = half(x), half(weight)
            low, weight_low = half(x - high), half(weight - weight_high)
            terms = [functional.linear(*pair) for pair in ((high, weight_low), (low, weight_high), (high, weight_high))]
            return terms[0] + terms[1] + terms[2] + layer.bias
        x = half(x) if self.rounding.inputs else x
        weight = half(weight) if self.rounding.weights else weight
        return self.state(functional.linear(x, weight, layer.bias))

    def _layer(self, layer: Any, state: torch.Tensor, mask: torch.Tensor | None, *, last: bool) -> torch.Tensor:
        rows, width, dim = state.shape
        head = half if self.rounding.attention else as_it_is
        parts = head(self.product(state, layer.qkv)).view(rows, width, 3, self.heads, dim // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(2, 3) * query.shape[3] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        # Flash kernels round exp(score - largest) and divide by the float32 sum at the end.
        powers = torch.exp(scores - scores.amax(3, keepdim=True))
        mixed = head(head(powers) @ value / powers.sum(3, keepdim=True)).transpose(1, 2).flatten(2)
        state = self._normed(state + self.product(mixed, layer.mixed), layer.mixed_norm)
        wide = functional.gelu(self.product(state, layer.wide), approximate=self.approximate)
        return self._normed(state + self.product(self.state(wide), layer.narrow), layer.norm)


def schemes(path: Path, device: str) -> dict[str, Callable[[], BertTorch]]:
    """Return the makers of models by name; all others are compared with the first."""
    return {
        "fp32": lambda: BertTorch(path, device, "fp32"),
        "fp16": lambda: BertTorch(path, device, "fp16"),
        "bf16": lambda: BertTorch(path, device, "bf16"),
        "fp16 emulated": lambda: Emulated(path, Rounding(states=True)),
        "states fp32": lambda: Emulated(path, Rounding()),
        "+ attention fp32": lambda: Emulated(path, Rounding(attention=False)),
        "+ weights fp32": lambda: Emulated(path, Rounding(weights=False, attention=False)),
        "three products": lambda: Emulated(path, Rounding(weights=False, attention=False, three_products=True)),
    }


class Sentences:
    """The sentences of documents, tokenised once."""

    def __init__(self, path: Path, texts: list[str]) -> None:
        self.facts = model_dir.read(path, "vectors")
        spans = pychunk.split_sentences(texts)
        self.counts = np.array([len(each) for each in spans])
        found = [text[a:b] for text, each in zip(texts, spans) for a, b in each]
        tokenizer = of_model(path / self.facts.tokenizer)
        self.ids = tokenizer.tokens_of(*flat_text(pa.array(found, pa.large_string())))

    def __len__(self) -> int:
        return int(self.counts.sum())

    def encode(self, bert: BertTorch, chosen: npt.NDArray[np.int64] | None = None) -> F32:
        """Return the unit vectors of all sentences, or of the chosen ones."""
        numbers = np.arange(len(self)) if chosen is None else chosen
        rows = native.pair_rows(self.ids, numbers, None, self.facts.template)
        lengths = rows.lengths()
        out = np.zeros((len(numbers), self.facts.dim), np.float32)
        budget = cpu_batches.BATCH_TOKENS if bert.device.type == "cpu" else 1 << 16
        order, borders = native.plan_batches(lengths, budget=budget, least=cpu_batches.LEAST_TOKENS)
        for start, end in pairwise(borders):
            batch = order[start:end]
            ids = np.empty((len(batch), int(lengths[batch[0]])), np.int32)
            rows.fill(batch, ids.shape[1], ids, None, None)
            own = lengths[batch]
            short = torch.from_numpy(own.astype(np.int32)).to(bert.device) if own.min() < own.max() else None
            states = bert.forward(torch.from_numpy(ids).to(bert.device), short)
            native.pool(states.float().cpu().numpy(), batch, lengths, out, pooling="mean", unit=True)
        return out


def articles(data: Path, count: int, seed: int) -> list[str]:
    """Return a random sample of articles, in the order of the file."""
    column = pq.read_table(data / "wiki" / "articles.parquet", columns=["text"]).column("text")
    rows = np.sort(np.random.default_rng(seed).choice(len(column), count, replace=False))
    return [column[int(row)].as_py() for row in rows]


def direction(vectors: F64) -> F64:
    """Return the sum of the rows, scaled to unit length."""
    total = vectors.sum(axis=0)
    return np.asarray(total / np.linalg.norm(total), np.float64)


def extractive(vectors: F64, margin: float = 0.0) -> tuple[list[int], set[int]]:
    """Return the sentences of the extractive summary, and those that a change of merits by ``margin`` could add."""
    centrality = vectors @ direction(vectors)
    chosen: list[int] = []
    nearly: set[int] = set()
    for _ in range(min(5, 1 + len(vectors) // 20)):
        merit = centrality - (0.5 * (vectors @ vectors[chosen].T).max(axis=1) if chosen else 0.0)
        merit[chosen] = -np.inf
        nearly |= set(np.flatnonzero(merit >= merit.max() - margin).tolist())
        chosen.append(int(merit.argmax()))
    return chosen, nearly


def scores(method: str, vectors: F32) -> tuple[F64, float]:
    """Return the scores of one document's sentences or boundaries, and their threshold, in float64."""
    wide = vectors.astype(np.float64)
    if method == "semantic":
        cosines = (wide[:-1] * wide[1:]).sum(axis=1)
        return cosines, float(np.percentile(cosines, 20)) if len(cosines) else 0.0
    found = wide @ direction(wide[extractive(wide)[0]] if method == "pic extractive" else wide)
    return found, float(found.mean())


def nearest(method: str, vectors: F32) -> float:
    """Return the least distance of a score from its threshold, except a percentile's own score, the threshold."""
    found, threshold = scores(method, vectors)
    off = np.abs(found - threshold)
    return float(off[off > 0].min(initial=1.0))


def touched(method: str, vectors: F32, margin: float) -> list[int]:
    """Return the sentences of one document whose vectors affect a decision that is within ``margin`` of changing."""
    found, threshold = scores(method, vectors)
    near = {int(i) for i in np.flatnonzero(np.abs(found - threshold) < margin)}
    if method == "semantic":
        near |= {i + 1 for i in near}
    if method == "pic extractive":
        near |= extractive(vectors.astype(np.float64), margin)[1]
    return sorted(near)


def mixed(method: str, cheap: F32, exact: F32, margin: float, whole: float) -> tuple[F32, npt.NDArray[np.bool_]]:
    """Return one document's vectors, and which of them are exact.

    The sentences within ``margin`` of a decision are exact. A small change in the other sentences' vectors moves the
    threshold a little. If a score is then still within ``whole`` of the threshold, all sentences are exact.
    """
    again = np.zeros(len(cheap), bool)
    again[touched(method, cheap, margin)] = True
    vectors = np.where(again[:, None], exact, cheap)
    if nearest(method, vectors) < whole:
        again[:] = True
    return np.where(again[:, None], exact, cheap), again


def chunks(method: str, texts: list[str], vectors: F32) -> list[list[tuple[int, int]]]:
    out = pychunk.segment(texts, columns={"sentence_vectors": vectors}, **METHODS[method])
    return [[(chunk.start, chunk.end) for chunk in rows] for rows in out.by_document()]


def equal(found: list[Any], expected: list[Any]) -> float:
    """Return the percentage of documents with the same chunks."""
    return 100 * sum(a == b for a, b in zip(found, expected)) / len(expected)


@dataclass
class Sample:
    """Documents, the starts of their sentences, and their float32 vectors."""

    texts: list[str]
    starts: list[npt.NDArray[np.int64]]
    exact: list[F32]

    def cuts(self, method: str, vectors: list[F32]) -> list[list[tuple[int, int]]]:
        return chunks(method, self.texts, np.concatenate(vectors))

    def distances(self, method: str, row: int, other: list[tuple[int, int]], own: list[tuple[int, int]]) -> list[float]:
        """Return, for each cut that one of two results lacks, its float32 score's distance from the threshold."""
        found, threshold = scores(method, self.exact[row])
        off = np.abs(found - threshold)
        out = []
        for start in {a for a, _ in other} ^ {a for a, _ in own}:
            i = max(1, int(np.searchsorted(self.starts[row], start, "right")) - 1)
            out.append(float(off[i - 1] if method == "semantic" else off[i - 1 : i + 1].min()))
        return out


def report_nearness(sample: Sample) -> list[dict[str, Any]]:
    """Print how small an error must be: the share of documents with a float32 score that near to its threshold."""
    limits = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    print(f"\n{'documents with a score within':32}" + "".join(f"{limit:>10.0e}" for limit in limits))
    rows = []
    for method in METHODS:
        found = np.array([nearest(method, vectors) for vectors in sample.exact])
        shares = [100 * float(np.mean(found < limit)) for limit in limits]
        print(f"{method:32}" + "".join(f"{share:>9.1f}%" for share in shares))
        rows.append({"method": method, **{f"{limit:.0e}": share for limit, share in zip(limits, shares)}})
    return rows


def report(name: str, sample: Sample, cheap: list[F32]) -> list[dict[str, Any]]:
    rows = []
    for method in METHODS:
        expected = sample.cuts(method, sample.exact)
        found = sample.cuts(method, cheap)
        pairs = [(scores(method, a), scores(method, b)) for a, b in zip(cheap, sample.exact)]
        off = np.abs(np.concatenate([a - b for (a, _), (b, _) in pairs]))
        shift = max(abs(a - b) for (_, a), (_, b) in pairs)
        distances = [
            each
            for row, (a, b) in enumerate(zip(found, expected))
            if a != b
            for each in sample.distances(method, row, a, b)
        ]
        near = f"{100 * np.mean(np.array(distances) < NEAR):.0f}" if distances else "-"
        cells = [
            f"{equal(found, expected):8.1f}",
            f"{np.median(off):9.1e}{off.max():9.1e}{shift:10.1e}",
            f"{len(distances):6}{near:>6}",
        ]
        for margin, whole in AGAIN:
            again = [mixed(method, a, b, margin, whole) for a, b in zip(cheap, sample.exact)]
            share = 100 * np.mean(np.concatenate([rows for _, rows in again]))
            repaired = equal(sample.cuts(method, [vectors for vectors, _ in again]), expected)
            cells.append(f"{repaired:8.1f} ({share:4.1f})")
        print(f"{name:18}{method:16}" + "".join(cells), flush=True)
        errors = {"median": float(np.median(off)), "largest": float(off.max()), "threshold": float(shift)}
        near = float(100 * np.mean(np.array(distances) < NEAR)) if distances else None
        again = {f"{margin:g}, {whole:g}": cell.strip() for (margin, whole), cell in zip(AGAIN, cells[3:])}
        first = {"scheme": name, "method": method, "equal": equal(found, expected)}
        rows.append({**first, **errors, "cuts": len(distances), "near": near, **again})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PYCHUNK_DATA", "../shared/data")))
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--model", type=Path, default=model_dir.cached("minilm"))
    parser.add_argument("--schemes", nargs="*", help="names of schemes; default: all")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    given = parser.parse_args()
    path = given.model / "model.onnx"
    texts = articles(given.data, given.documents, given.seed)
    sentences = Sentences(given.model, texts)
    borders = np.cumsum(sentences.counts)[:-1]
    known = schemes(path, given.device)
    encoded: dict[str, list[F32]] = {}
    print(f"{len(texts)} articles, {len(sentences)} sentences, {given.device}, torch {torch.__version__}")
    for name in ["fp32", *(given.schemes or list(known)[1:])]:
        start = time.perf_counter()
        encoded[name] = np.split(sentences.encode(known[name]()), borders)
        print(f"{name:18}{len(sentences) / (time.perf_counter() - start):10.0f} sentences/s", flush=True)
    starts = [np.array([a for a, _ in spans], np.int64) for spans in pychunk.split_sentences(texts)]
    sample = Sample(texts, starts, encoded.pop("fp32"))
    near = report_nearness(sample)
    print(LEGEND)
    columns = "".join(f"{f'{margin:g}, {whole:g}':>15}" for margin, whole in AGAIN)
    print(
        f"{'scheme':18}{'method':16}{'equal':>8}{'median':>9}{'largest':>9}{'threshold':>10}{'cuts':>6}{'near':>6}{columns}"
    )
    rows = [row for name, vectors in encoded.items() for row in report(name, sample, vectors)]
    if given.save:
        figures = {"documents": len(texts), "sentences": len(sentences), "device": given.device}
        figures |= {"per cent of documents with a score within": near, "rows": rows}
        about, encoder = " ".join(LEGEND.split()), model_dir.read(given.model).fingerprint
        record.save(given.save, "Cuts in half precision", figures, about=about, packages=["torch"], encoder=encoder)


if __name__ == "__main__":
    main()
