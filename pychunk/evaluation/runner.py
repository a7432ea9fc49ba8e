"""Run contenders on a dataset: the same questions, the same encoder, the same index; results as plain JSON types."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..retrieval.index import Index
from . import boundaries, metrics, pages, spans
from .contenders import Chunked, Encoder, count_tokens, pooled
from .datasets import Dataset, Question
from .intervals import interval, paired

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: How chunks are found: by their best sentence with BM25 or without, by BM25, by their text encoded as a whole
#: (what most pipelines do), and that with BM25.
MODES = ("hybrid", "dense", "sparse", "recipe", "recipe+bm25")
CUTOFFS = (1, 3, 5, 20)
#: Those at which what the retrieved chunks are is averaged: the NSP paper's k, and one of two that the PIC paper has.
AVERAGED = (3, 5)
#: The measures that matter most, by kind of dataset: what the terminal shows differences of.
PRIMARY = {
    "answers": ["strict hits@5", "strict hits in 500 words"],
    "references": ["recall@5", "IoU@5"],
    "pages": ["accuracy page", "page recall@5"],
    "boundaries": ["windowdiff", "boundary F1"],
}
BUDGETS = (50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000)


@dataclass(frozen=True)
class Found:
    """The best chunks of each question: rows int64[q, depth] of ``chunked.table`` (-1: none), words of each."""

    chunked: Chunked
    rows: I64
    words: I64
    index_bytes: int
    tokens: int


def retrieve(
    chunked: Chunked, data: Dataset, encoder: Encoder, mode: str, vectors: Any, options: Mapping[str, Any]
) -> Found:
    """Index the chunks and ask all questions.

    Args:
        vectors: of the questions, float32[q, dim]. options: ``stemmer``, ``terms``, ``weight`` and so on.
    """
    own_words = chunked.words
    depth = int(np.clip(np.ceil(1.5 * BUDGETS[-1] / max(1.0, float(own_words.mean()))), CUTOFFS[-1], 200))
    search = {key: options[key] for key in ("weight", "fusion") if key in options}
    create = {key: value for key, value in options.items() if key not in search}
    recipe = mode.startswith("recipe")
    before = encoder.tokens
    table = pooled(chunked, encoder) if recipe else chunked.table
    tokens = encoder.tokens - before if recipe else count_tokens(data.documents)
    tokens = max(tokens, chunked.cutting) if chunked.reused and not recipe else tokens + chunked.cutting
    with tempfile.TemporaryDirectory() as folder:
        layout = "chunk" if recipe else "sentence"
        with Index.create(Path(folder) / "index", encoder=encoder.name, vectors=layout, **create) as index:
            index.add(table)
            index.save()
            how = {"recipe": "dense", "recipe+bm25": "hybrid"}.get(mode, mode)
            rows, _ = index.rank([each.text for each in data.questions], depth, how, query_vectors=vectors, **search)
            size = index.info["bytes"]
    words = np.where(rows >= 0, own_words[rows], 0)
    return Found(chunked, rows, words, size, tokens)


def measure(found: Found, data: Dataset, encoder: Encoder) -> tuple[dict[str, F64], F64]:
    """(values of each measure float64[q], share found within each of BUDGETS float64[q, budgets])."""
    values, within = {"answers": _answers, "references": _references, "pages": _pages}[data.kind](found, data)
    top = found.rows[:, :5]
    if data.kind == "answers":
        answers = encoder.remembered(first_answers(data))
        vectors = found.chunked.vectors
        values |= {f"answer cosine@{k}": metrics.cosine_at_k(answers, vectors, top[:, :k]) for k in AVERAGED}
    kinds = found.chunked.table["kind"].to_pylist() if "kind" in found.chunked.table.column_names else []
    if any(kind is not None for kind in kinds):
        relevant = np.array([kind == "relevant" for kind in kinds])[top] & (top >= 0)
        values["relevant among top 5"] = relevant.sum(axis=1) / np.maximum(1, (top >= 0).sum(axis=1))
    return values, within


def first_answers(data: Dataset) -> list[str]:
    """The first answer of each question; empty where it has none."""
    return [question.answers[0] if question.answers else "" for question in data.questions]


def _answers(found: Found, data: Dataset) -> tuple[dict[str, F64], F64]:
    table = found.chunked.table
    plain = [f" {metrics.normalize_answer(text)} " for text in table["text"].to_pylist()]
    lengths = np.array([max(1, len(text.split())) for text in plain])
    shares = np.zeros(found.rows.shape)
    for i, question in enumerate(data.questions):
        wanted = [f" {answer} " for answer in map(metrics.normalize_answer, question.answers) if answer]
        for j, row in enumerate(found.rows[i]):
            held = [len(answer.split()) for answer in wanted if row >= 0 and answer in plain[row]]
            shares[i, j] = max(held) / lengths[row] if held else 0.0
    strict = _in_paragraph(found, data)
    values = {f"strict hits@{k}": metrics.hits(shares[:, :k], strict[:, :k]) for k in CUTOFFS}
    values |= {f"hits@{k}": metrics.hits(shares[:, :k]) for k in CUTOFFS}
    values |= {f"answer precision@{k}": metrics.precision_at_k(shares[:, :k]) for k in AVERAGED}
    within = metrics.hits_within_words((shares > 0) & strict, found.words, BUDGETS)
    values["strict hits in 500 words"] = within[:, BUDGETS.index(500)]
    return values, within


def _in_paragraph(found: Found, data: Dataset) -> npt.NDArray[np.bool_]:
    if any(question.paragraph is None for question in data.questions):
        gold = np.array([question.document for question in data.questions])
        return np.asarray((_column(found, "document") == gold[:, None]) | (gold[:, None] < 0))
    gold = np.array([(each.document, *(each.paragraph or (0, 0))) for each in data.questions])
    both = np.stack([_column(found, "start"), _column(found, "end")], axis=2)
    return metrics.in_paragraph(_column(found, "document"), both, gold)


def _column(found: Found, name: str) -> I64:
    values = np.asarray(found.chunked.table[name], np.int64)
    return np.where(found.rows >= 0, values[found.rows], -1)


def _references(found: Found, data: Dataset) -> tuple[dict[str, F64], F64]:
    document, start, end = (_column(found, name) for name in ("document", "start", "end"))
    values: dict[str, list[float]] = {}
    within = np.zeros((len(data.questions), len(BUDGETS)))
    spent = found.words.cumsum(axis=1)
    by_document = _spans_by_document(found.chunked, data)
    for i, question in enumerate(data.questions):
        own = document[i] == question.document

        def scores(count: int, i: int = i, own: Any = own, question: Question = question) -> spans.SpanScores:
            chosen = np.stack([start[i, :count][own[:count]], end[i, :count][own[:count]]], axis=1)
            away = (end[i, :count] - start[i, :count])[~own[:count] & (found.rows[i, :count] >= 0)]
            return spans.span_scores(chosen, question.spans, elsewhere=int(away.sum()))

        best = scores(5)
        row = {"recall@5": best.recall, "precision@5": best.precision, "IoU@5": best.iou}
        row |= {f"recall@{k}": scores(k).recall for k in (1, 3)}
        row["precision omega"] = spans.precision_omega(by_document[question.document], question.spans)
        within[i] = [
            scores(int((spent[i] <= budget).sum())).recall if spent[i, 0] <= budget else 0.0 for budget in BUDGETS
        ]
        row["recall in 500 words"] = float(within[i, BUDGETS.index(500)])
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return {name: np.array(each, np.float64) for name, each in values.items()}, within


def _spans_by_document(chunked: Chunked, data: Dataset) -> list[I64]:
    document = np.asarray(chunked.table["document"], np.int64)
    both = np.stack([np.asarray(chunked.table[name], np.int64) for name in ("start", "end")], axis=1)
    return [both[document == number] for number in range(len(data.documents))]


def _pages(found: Found, data: Dataset) -> tuple[dict[str, F64], F64]:
    document, start = _column(found, "document"), _column(found, "start")
    page = np.zeros_like(start)
    for number, starts in enumerate(data.page_starts):
        own = document == number
        page[own] = pages.pages_at(starts, start[own])
    gold = np.array([question.document for question in data.questions])
    gold_page = np.array([question.page or 0 for question in data.questions])
    counts = np.array([len(starts) for starts in data.page_starts])[gold]
    values = {
        "accuracy doc": pages.accuracy_doc(document[:, 0], gold),
        "accuracy page": pages.accuracy_page(document[:, 0], page[:, 0], gold, gold_page, counts),
    }
    for k in CUTOFFS[1:]:
        values[f"page recall@{k}"] = pages.page_recall_at_k(document[:, :k], page[:, :k], gold, gold_page)
    held = (document == gold[:, None]) & (page == gold_page[:, None])
    return values, metrics.hits_within_words(held, found.words, BUDGETS)


def measure_boundaries(chunked: Chunked, data: Dataset) -> dict[str, F64]:
    """Pk, WindowDiff and boundary F1 of each document's chunks against its sections, in sentences."""
    from ..functions import sentences

    units = sentences(data.documents)
    cuts = _spans_by_document(chunked, data)
    values: dict[str, list[float]] = {"pk": [], "windowdiff": [], "boundary F1": []}
    for own, gold, found in zip(units, data.boundaries, cuts, strict=True):
        starts = [start for start, _ in own]
        if len(starts) < 2 or not gold:
            continue
        reference = boundaries.in_units(gold, starts)
        hypothesis = boundaries.in_units(found[1:, 0], starts)
        reference, hypothesis = (each[(each > 0) & (each < len(starts))] for each in (reference, hypothesis))
        if len(reference) == 0:
            continue
        values["pk"].append(boundaries.pk(reference, hypothesis, len(starts)))
        values["windowdiff"].append(boundaries.window_diff(reference, hypothesis, len(starts)))
        values["boundary F1"].append(boundaries.boundary_f1(reference, hypothesis, len(starts)).f1)
    return {name: np.array(each, np.float64) for name, each in values.items()}


def run(
    data: Dataset,
    makers: Sequence[Callable[[], Chunked]],
    encoder: Encoder,
    modes: Sequence[str],
    options: Mapping[str, Any],
    *,
    seed: int = 0,
    step: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Results in the form that :mod:`pychunk.evaluation.report` shows.

    Args:
        makers: each makes one contender's chunks; the first one's first mode is what the others are compared with.
        modes: of :data:`MODES`; a dataset of boundaries has none.
        options: of :meth:`Index.create` and :meth:`Index.search`.
        step: told what is being done.
    """
    rows: list[dict[str, Any]] = []
    values: list[dict[str, F64]] = []
    vectors = None
    if data.questions and any(mode != "sparse" for mode in modes):
        vectors = encoder.encode([question.text for question in data.questions])
    for make in makers:
        step("cutting")
        chunked = make()
        for row, own in _rows(chunked, data, encoder, modes, options, vectors, seed, step):
            rows.append(row)
            values.append(own)
    return {
        "dataset": {
            "name": data.name,
            "kind": data.kind,
            "documents": len(data.documents),
            "questions": len(data.questions),
            "words": sum(len(text.split()) for text in data.documents),
        },
        "encoder": encoder.model.fingerprint,
        "command": " ".join(["pychunk", *sys.argv[1:]]),
        "machine": f"{platform.processor() or platform.machine()}, {_native.default_threads()} threads",
        "versions": _versions(),
        "rows": rows,
        "differences": _differences(rows, values, seed),
        "primary": PRIMARY[data.kind],
        "absent": [],
    }


def _rows(
    chunked: Chunked,
    data: Dataset,
    encoder: Encoder,
    modes: Sequence[str],
    options: Mapping[str, Any],
    vectors: Any,
    seed: int,
    step: Callable[[str], None],
) -> Iterator[tuple[dict[str, Any], dict[str, F64]]]:
    words = chunked.words
    counts, edges = np.histogram(np.minimum(words, 500), bins=np.arange(0, 520, 20))
    row: dict[str, Any] = {
        "options": {key: str(value) for key, value in chunked.options.items()},
        "peer": chunked.peer,
        "encoder": encoder.name,
        "lengths": {
            "edges": edges.tolist(),
            "counts": counts.tolist(),
            "mean": float(words.mean()),
            "std": float(words.std()),
            "chunks": len(words),
        },
    }
    if data.kind == "boundaries":
        own = measure_boundaries(chunked, data)
        shown = {name: interval(each, seed=seed)._asdict() for name, each in own.items()}
        yield {**row, "name": chunked.name, "mode": "", "measures": shown, "cost": _cost(chunked, None)}, own
        return
    for mode in modes:
        step(f"{chunked.name}, {mode}")
        found = retrieve(chunked, data, encoder, mode, vectors, options)
        own, within = measure(found, data, encoder)
        bands = [interval(column, seed=seed) for column in within.T]
        yield (
            {
                **row,
                "name": f"{chunked.name}, {mode}",
                "mode": mode,
                "measures": {name: interval(each, seed=seed)._asdict() for name, each in own.items()},
                "within": {
                    "words": list(BUDGETS),
                    "share": [band.mean for band in bands],
                    "low": [band.low for band in bands],
                    "high": [band.high for band in bands],
                },
                "cost": _cost(chunked, found),
            },
            own,
        )


def _cost(chunked: Chunked, found: Found | None) -> dict[str, Any]:
    cost: dict[str, Any] = {
        "words a chunk": float(chunked.words.mean()),
        "chunk seconds": chunked.seconds,
        "encoder tokens": chunked.cutting,
    }
    if found is not None:
        cost |= {
            "encoder tokens": found.tokens,
            "index bytes": found.index_bytes,
            "words in top 5": float(found.words[:, :5].sum(axis=1).mean()),
        }
    return cost


def _differences(rows: Sequence[Mapping[str, Any]], values: Sequence[Mapping[str, F64]], seed: int) -> list[Any]:
    """Every row against the first, on the same questions."""

    return [
        {
            "measure": measure,
            "row": row["name"],
            "against": rows[0]["name"],
            **_paired(own[measure], first, seed),
        }
        for measure, first in list(values[0].items() if values else [])
        for row, own in zip(rows[1:], values[1:], strict=True)
        if measure in own and len(own[measure]) == len(first)
    ]


def _paired(own: F64, first: F64, seed: int) -> dict[str, float]:
    return paired(own, first, seed=seed)._asdict()


def _versions() -> dict[str, str]:
    found = {"pychunk": _native.version, "python": platform.python_version()}
    for package in ("numpy", "faiss-cpu", "onnxruntime"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
