"""The run of several systems on one dataset, with the same questions, encoder and index. Results are plain JSON."""

from __future__ import annotations

import math
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from ..augmentation import augment
from ..augmentation.augment import How
from ..defaults import SEARCH
from ..index.index import Index
from ..index.options import Ranking
from ..llm.account import Account, Counts
from . import hierarchies
from .datasets import Dataset, Question
from .judges.answer_generation import AnswerSetup
from .measures import boundaries, metrics, page_accuracy, span_overlap
from .measures.intervals import interval, paired
from .reports.costs import LLMUsage
from .retrieval_setups import STRATEGIES, Strategy, named
from .systems import Encoder, SystemChunks, count_tokens, pooled

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The ways to search chunks. dense scores a chunk by the vector of its best sentence, sparse by BM25, hybrid by both.
#: recipe encodes each chunk's text as a whole, as most pipelines do, and recipe+bm25 adds BM25.
MODES = tuple(STRATEGIES)
CUTOFFS = (1, 3, 5, 20)
#: The cutoffs for pages, as in the UNLP paper.
PAGE_CUTOFFS = (1, 3, 5, 10, 20)
#: The cutoffs of measures that are means over the retrieved chunks: 3 as in the NSP paper, and 5 as in the PIC paper.
AVERAGED = (3, 5)
#: The most important measures of each kind of dataset, whose differences the terminal shows.
PRIMARY = {
    "answers": ["strict hits@5", "strict hits in 500 words"],
    "references": ["recall@5", "IoU@5"],
    "pages": ["accuracy page", "page recall@5"],
    "boundaries": ["windowdiff", "boundary F1"],
}
BUDGETS = (50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000)


@dataclass(frozen=True)
class SearchResults:
    """The best chunks of each question.

    Attributes:
        chunked: The chunks that were searched.
        rows: The rows of ``chunked.table`` that each of the q questions finds, best first, int64[q, depth]; -1 for
            none.
        words: The number of words of each of these chunks, int64[q, depth].
        index_bytes: The size of the index.
        tokens: The number of tokens that were encoded.
        pages: The page of each hit, if the questions ask for pages.
        milliseconds: The time for each question, with all questions in one call.
        hits: The hits of each question, if they were requested.
        plain: The number of questions that were searched unchanged, because a model gave no usable rewriting.
        seconds: The time to build the index, including the vectors that only the index needs.
        contexts: The calls, tokens and cost of a model that wrote contexts.
        planned: The levels that were searched, if chunks are nodes of levels.
    """

    chunked: SystemChunks
    rows: I64
    words: I64
    index_bytes: int
    tokens: int
    pages: I64 | None = None
    milliseconds: float = math.nan
    hits: Sequence[Sequence[Any]] = ()
    plain: int = 0
    seconds: float = math.nan
    contexts: Counts = field(default_factory=Counts)
    planned: hierarchies.LevelPlans | None = None


def retrieve(
    chunked: SystemChunks,
    data: Dataset,
    encoder: Encoder,
    how: str | Strategy,
    vectors: Any,
    options: Mapping[str, Any],
    *,
    hits: bool = False,
    spent: LLMUsage | None = None,
) -> SearchResults:
    """Index the chunks and search them for all questions.

    Args:
        chunked: The chunks.
        data: The dataset.
        encoder: The encoder of the evaluation.
        how: A strategy, or the name of one.
        vectors: The vectors of the questions, float32[q, dim].
        options: Options of :meth:`pychunk.Index.create`, such as ``bm25``, and the ``ranking`` of the search.
        hits: Whether to keep the hits.
        spent: The usage of a model, if a model is asked. The usage for contexts is moved from it to the result.
    """
    strategy = named(how)
    own_words = chunked.words
    levelled = chunked.levelled
    short = float(own_words.mean()) / (2 if levelled else 1)  # many nodes of levels are shorter than the mean
    depth = int(np.clip(np.ceil(1.5 * BUDGETS[-1] / max(1.0, short)), CUTOFFS[-1], 200))
    create = {key: value for key, value in options.items() if key != "ranking"}
    ranking = options.get("ranking") or Ranking()
    if ranking.document_weight != SEARCH.document_weight:
        raise ValueError(
            f"document_weight={ranking.document_weight} cannot be set in Ranking here: pass "
            "Strategy(document_weight=...) instead"
        )
    ranking = replace(ranking, document_weight=strategy.document_weight)
    recipe = strategy.recipe
    if levelled is not None:
        ranking = replace(ranking, fusion=cast(Any, levelled.fusion))
    before, begun = encoder.tokens, time.perf_counter()
    table = pooled(chunked, encoder) if recipe else chunked.table
    if strategy.augment is not None:
        there = table["document_index"].unique()
        known = {"title": pa.array(data.titles, pa.large_string()).take(there)} if data.titles else None
        table = _augmented(table, strategy.augment, known)
    tokens = encoder.tokens - before if recipe else count_tokens(data.documents)
    tokens = max(tokens, chunked.cutting) if chunked.reused and not recipe else tokens + chunked.cutting
    with tempfile.TemporaryDirectory() as folder:
        layout = "chunk" if recipe or levelled else "sentence"
        with Index.create(Path(folder) / "index", **encoder.index, vectors=layout, **create) as index:
            index.add(table)
            index.save()
            made = time.perf_counter() - begun
            contexts = Counts() if spent is None else spent.take()
            size = index.info["bytes"]
            texts = strategy.queries(data.questions)
            queries: Any = texts if strategy.rewrite is not None or vectors is None else (texts, vectors)
            mode: Any = strategy.mode
            index.rank("warm", 1, "sparse" if index.info["terms"] else "dense")  # opens the saved index
            planned = None
            if levelled is not None:
                planned = hierarchies.planned(index, levelled, [each.text for each in data.questions])
            begun, pages_found = time.perf_counter(), None
            lists: Sequence[Sequence[Any]] = ()
            if strategy.rerank is None and strategy.rewrite is None and data.kind != "pages" and not hits:
                if planned is None:
                    rows, _ = index.rank(queries, depth, mode, ranking=ranking)
                else:
                    rows, _ = hierarchies.ranked(index, planned.pairs, texts, vectors, depth, mode, ranking)
            else:
                depth = max(CUTOFFS[-1], strategy.depth) if strategy.rerank else depth
                if planned is None:
                    lists = index.search(queries, depth, mode, ranking=ranking, stages=strategy.stages)
                else:
                    lists = hierarchies.searched(index, planned.pairs, queries, depth, mode, ranking, strategy.stages)
                rows, pages_found = _searched(lists, depth)
            seconds = time.perf_counter() - begun
    words = np.where(rows >= 0, own_words[rows], 0)
    each = 1000 * seconds / max(1, len(data.questions))
    plain = sum(bool(own) and "rewrite" in own[0].scores for own in lists)
    kept = lists if hits else ()
    return SearchResults(chunked, rows, words, size, tokens, pages_found, each, kept, plain, made, contexts, planned)


def _augmented(table: pa.Table, how: How, known: Mapping[str, Any] | None) -> pa.Table:
    """Return the table with contexts. If the method made contexts, as ``proposition`` does, new ones follow them."""
    if "context" not in table.column_names:
        return augment(table, how, columns=known)
    table = table.append_column("own context", table["context"]).drop_columns(["context"])
    several = how if isinstance(how, (list, tuple)) else [how]
    return augment(table, ["column:own context", *several], columns=known).drop_columns(["own context"])


def _searched(lists: Sequence[Sequence[Any]], depth: int) -> tuple[I64, I64 | None]:
    """Return (rows, pages) of the hits, int64[q, depth] each, -1 for missing hits; pages are None if no hit has one."""
    rows, paged = np.full((2, len(lists), depth), -1, np.int64)
    for number, hits in enumerate(lists):
        rows[number, : len(hits)] = [hit.row for hit in hits]
        paged[number, : len(hits)] = [hit.page or -1 for hit in hits]
    return rows, paged if (paged >= 0).any() else None


def measure(found: SearchResults, data: Dataset, encoder: Encoder) -> tuple[dict[str, F64], F64]:
    """Return the values of each measure, float64[questions], and the hits within budgets, float64[questions, budgets].

    Hits within budgets are, for each question, the share of what it asks for that is found within each of BUDGETS.
    """
    values, within = {"answers": _answers, "references": _references, "pages": _pages}[data.kind](found, data)
    top = found.rows[:, :5]
    if data.kind == "answers":
        answers = encoder.remembered(first_answers(data))
        vectors = found.chunked.vectors
        values |= {f"answer cosine@{k}": metrics.cosine_at_k(answers, vectors, top[:, :k]) for k in AVERAGED}
    kinds = found.chunked.table["relevance"].to_pylist() if "relevance" in found.chunked.table.column_names else []
    if any(kind is not None for kind in kinds):
        relevant = np.array([kind == "relevant" for kind in kinds])[top] & (top >= 0)
        values["relevant among top 5"] = relevant.sum(axis=1) / np.maximum(1, (top >= 0).sum(axis=1))
    return values, within


def first_answers(data: Dataset) -> list[str]:
    """Return the first answer of each question, empty if it has none."""
    return [question.answers[0] if question.answers else "" for question in data.questions]


def _answers(found: SearchResults, data: Dataset) -> tuple[dict[str, F64], F64]:
    document, start, end = (_column(found, name) for name in ("document_index", "start", "end"))
    lengths = [max(1, len(metrics.normalize_answer(text).split())) for text in found.chunked.table["text"].to_pylist()]
    shares = np.zeros(found.rows.shape)
    strict = _in_paragraph(found, data)
    for i, question in enumerate(data.questions):
        placed = _holds_place(question, document[i], start[i], end[i])
        if question.spans:
            strict[i] = placed
        for j, row in enumerate(found.rows[i]):
            if row < 0:
                break
            held = question.answers if placed[j] else data.gold.held(i, document[i, j], start[i, j], end[i, j])
            if held:
                words = max(len(metrics.normalize_answer(answer).split()) for answer in held)
                shares[i, j] = min(1.0, max(1, words) / lengths[row])
    values = {f"strict hits@{k}": metrics.hits(shares[:, :k], strict[:, :k]) for k in CUTOFFS}
    values |= {f"hits@{k}": metrics.hits(shares[:, :k]) for k in CUTOFFS}
    values |= {f"answer precision@{k}": metrics.precision_at_k(shares[:, :k]) for k in AVERAGED}
    within = metrics.hits_within_words((shares > 0) & strict, found.words, BUDGETS)
    values["strict hits in 500 words"] = within[:, BUDGETS.index(500)]
    return values, within


def _holds_place(question: Question, document: I64, start: I64, end: I64) -> npt.NDArray[np.bool_]:
    """Return which chunks contain a whole span of the question, bool[chunks]; none if it has no spans."""
    held = np.zeros(len(document), np.bool_)
    for first, last in question.spans:
        held |= (document == question.document) & (start <= first) & (last <= end)
    return held


def _in_paragraph(found: SearchResults, data: Dataset) -> npt.NDArray[np.bool_]:
    if any(question.paragraph is None for question in data.questions):
        gold = np.array([question.document for question in data.questions])
        return np.asarray((_column(found, "document_index") == gold[:, None]) | (gold[:, None] < 0))
    gold = np.array([(each.document, *(each.paragraph or (0, 0))) for each in data.questions])
    both = np.stack([_column(found, "start"), _column(found, "end")], axis=2)
    return metrics.in_paragraph(_column(found, "document_index"), both, gold)


def _column(found: SearchResults, name: str) -> I64:
    values = np.asarray(found.chunked.table[name], np.int64)
    return np.where(found.rows >= 0, values[found.rows], -1)


def _references(found: SearchResults, data: Dataset) -> tuple[dict[str, F64], F64]:
    document, start, end = (_column(found, name) for name in ("document_index", "start", "end"))
    values: dict[str, list[float]] = {}
    within = np.zeros((len(data.questions), len(BUDGETS)))
    spent = found.words.cumsum(axis=1)
    by_document = _spans_by_document(found.chunked, data)
    for i, question in enumerate(data.questions):
        own = document[i] == question.document

        def scores(count: int, i: int = i, own: Any = own, question: Question = question) -> span_overlap.SpanScores:
            chosen = np.stack([start[i, :count][own[:count]], end[i, :count][own[:count]]], axis=1)
            away = (end[i, :count] - start[i, :count])[~own[:count] & (found.rows[i, :count] >= 0)]
            return span_overlap.span_scores(chosen, question.spans, elsewhere=int(away.sum()))

        best = scores(5)
        row = {"recall@5": best.recall, "precision@5": best.precision, "IoU@5": best.iou}
        row |= {f"recall@{k}": scores(k).recall for k in (1, 3)}
        row["precision omega"] = span_overlap.precision_omega(by_document[question.document], question.spans)
        within[i] = [
            scores(int((spent[i] <= budget).sum())).recall if spent[i, 0] <= budget else 0.0 for budget in BUDGETS
        ]
        row["recall in 500 words"] = float(within[i, BUDGETS.index(500)])
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return {name: np.array(each, np.float64) for name, each in values.items()}, within


def _spans_by_document(chunked: SystemChunks, data: Dataset) -> list[I64]:
    document = np.asarray(chunked.table["document_index"], np.int64)
    both = np.stack([np.asarray(chunked.table[name], np.int64) for name in ("start", "end")], axis=1)
    return [both[document == number] for number in range(len(data.documents))]


def _pages(found: SearchResults, data: Dataset) -> tuple[dict[str, F64], F64]:
    document, page = _column(found, "document_index"), found.pages
    if page is None:  # chunks without pages count for the page on which they begin
        start = _column(found, "start")
        page = np.zeros_like(start)
        for number, starts in enumerate(data.page_starts):
            own = document == number
            page[own] = page_accuracy.pages_at(starts, start[own])
    gold = np.array([question.document for question in data.questions])
    gold_page = np.array([question.page or 0 for question in data.questions])
    counts = np.array([len(starts) for starts in data.page_starts])[gold]
    values = {
        "accuracy doc": page_accuracy.accuracy_doc(document[:, 0], gold),
        "accuracy page": page_accuracy.accuracy_page(document[:, 0], page[:, 0], gold, gold_page, counts),
    }
    for k in PAGE_CUTOFFS:
        values[f"page recall@{k}"] = page_accuracy.page_recall_at_k(document[:, :k], page[:, :k], gold, gold_page)
    held = (document == gold[:, None]) & (page == gold_page[:, None])
    return values, metrics.hits_within_words(held, found.words, BUDGETS)


def measure_boundaries(chunked: SystemChunks, data: Dataset) -> dict[str, F64]:
    """Return Pk, WindowDiff and boundary F1 of each document's chunks compared with its sections, in sentences."""
    from ..api import split_sentences

    units = split_sentences(data.documents)
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
    makers: Sequence[Callable[[], SystemChunks]],
    encoder: Encoder | Sequence[Encoder],
    modes: Sequence[str | Strategy],
    options: Mapping[str, Any],
    *,
    seed: int = 0,
    step: Callable[[str], None] = lambda _: None,
    judging: Callable[[SystemChunks], list[Any]] | None = None,
    answering: AnswerSetup | None = None,
    account: Account | None = None,
) -> dict[str, Any]:
    """Run all systems and return results in the form that :mod:`pychunk.evaluation.reports.report` shows.

    Args:
        data: The dataset.
        makers: Functions that each make one system's chunks. All other rows are compared with the row of the first
            system in the first mode.
        encoder: The encoder of all systems, or one for each maker.
        modes: Strategies, or their names from :data:`MODES`. A dataset of boundaries uses none.
        options: Options of :meth:`pychunk.Index.create`, such as ``bm25``, and the ``ranking`` of the search.
        seed: The seed of the intervals.
        step: A function that receives a description of each step.
        judging: A function that returns the rows under ``judged`` for the chunks of one system
            (:func:`~.judge_rows.judged_rows`).
        answering: The settings for a model that answers the questions from each row's hits. The measures of its answers
            are added to those of the row.
        account: The account of the client of a model that is asked, for the costs of each row.
    """
    if answering is not None:
        answering.check(data)
    judged: list[Any] = []
    notes = [*data.notes, *_nowhere(data)]
    rows: list[dict[str, Any]] = []
    values: list[dict[str, F64]] = []
    encoders = [encoder] * len(makers) if isinstance(encoder, Encoder) else list(encoder)
    asking = data.questions and any(named(mode).mode != "sparse" for mode in modes)
    texts = [question.text for question in data.questions]
    by_encoder = {id(each): each.asked(texts) if asking else None for each in encoders}
    spent = LLMUsage(account)
    for make, encoder in zip(makers, encoders, strict=True):
        step("cutting")
        spent.take()
        chunked = make()
        asked = spent, spent.take()
        for row, own in _rows(
            chunked, data, encoder, modes, options, by_encoder[id(encoder)], seed, step, answering, notes, judged, asked
        ):
            rows.append(row)
            values.append(own)
        if judging is not None:
            judged += judging(chunked)
    return {
        "dataset": {
            "name": data.name,
            "kind": data.kind,
            "documents": len(data.documents),
            "questions": len(data.questions),
            "without an answer": len(data.gold.nowhere) if data.kind == "answers" else 0,
            "words": sum(len(text.split()) for text in data.documents),
        },
        "encoder": ", ".join(dict.fromkeys(str(each.model.fingerprint) for each in encoders)),
        "command": " ".join(["pychunk", *sys.argv[1:]]),
        "machine": f"{platform.processor() or platform.machine()}, {native.default_threads()} threads",
        "versions": _versions(),
        "rows": rows,
        "differences": _differences(rows, values, seed),
        "primary": PRIMARY[data.kind],
        "judged": judged,
        "notes": notes,
        "absent": [],
    }


def _nowhere(data: Dataset) -> list[str]:
    """Return a note about questions that no chunk can answer.

    Raises:
        ValueError: No chunk can answer any question.
    """
    lost = data.gold.nowhere if data.kind == "answers" else []
    if not lost:
        return []
    first, count = data.questions[lost[0]], len(data.questions)
    where = "any document" if first.document < 0 else f"document {data.ids[first.document]!r:.60}"
    said = (
        f"question {lost[0] + 1}, {first.text!r:.60}, has the answer {first.answers[0]!r:.60}, which is not in {where}"
    )
    if len(lost) == count:
        raise ValueError(
            f"no question of {count:,} has an answer in its document, so no chunk can contain one; the first, {said}. "
            "Correct the answers or documents. If 'document' contains ids, pass documents= with the file of their texts"
        )
    have = "1 question has" if len(lost) == 1 else f"{len(lost)} questions have"
    return [
        f"{have} no answer in the document, of {count}, and {'counts' if len(lost) == 1 else 'count'} as missed: {said}"
    ]


def _rows(
    chunked: SystemChunks,
    data: Dataset,
    encoder: Encoder,
    modes: Sequence[str | Strategy],
    options: Mapping[str, Any],
    vectors: Any,
    seed: int,
    step: Callable[[str], None],
    answering: AnswerSetup | None,
    notes: list[str],
    judged: list[Any],
    asked: tuple[LLMUsage, Counts],
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
        spent, made = asked
        found = retrieve(chunked, data, encoder, mode, vectors, options, hits=answering is not None, spent=spent)
        own, within = measure(found, data, encoder)
        name = f"{chunked.name}, {mode}"
        if found.plain:
            one = found.plain == 1
            were = "1 question was searched unchanged" if one else f"{found.plain} questions were searched unchanged"
            notes.append(f"{name}: {were}, because the model gave no usable rewriting of {'it' if one else 'them'}")
        if answering is not None:
            values, answers = answering(found.hits, data)
            own |= values
            judged += answering.rows(name, answers, data, seed)
            if answers.failed:
                row_first, why = answers.failed[0]
                count = len(answers.failed)
                lack = "1 answer lacks" if count == 1 else f"{count} answers lack"
                notes.append(f"{name}: {lack} text or sources; question {row_first}: {why}")
        made = Counts(**vars(made))
        made.add(found.contexts)
        of_model = spent.costs(made, spent.take(), len(data.questions))
        bands = [interval(column, seed=seed) for column in within.T]
        yield (
            {
                **row,
                "name": name,
                "mode": str(mode),
                "measures": {name: interval(each, seed=seed)._asdict() for name, each in own.items()},
                "within": {
                    "words": list(BUDGETS),
                    "share": [band.mean for band in bands],
                    "low": [band.low for band in bands],
                    "high": [band.high for band in bands],
                },
                "cost": _cost(chunked, found) | of_model,
                "levels": None if found.planned is None else hierarchies.chosen(chunked, found.rows, found.planned),
            },
            own,
        )


def _cost(chunked: SystemChunks, found: SearchResults | None) -> dict[str, Any]:
    cost: dict[str, Any] = {
        "words a chunk": float(chunked.words.mean()),
        "chunk seconds": chunked.seconds,
        "encoder tokens": chunked.cutting,
    }
    if found is not None:
        cost |= {
            "encoder tokens": found.tokens,
            "index bytes": found.index_bytes,
            "index seconds": found.seconds,
            "words in top 5": float(found.words[:, :5].sum(axis=1).mean()),
            "ms a plan": None if found.planned is None else found.planned.milliseconds,
            "ms a question": found.milliseconds,
        }
    return cost


def _differences(rows: Sequence[Mapping[str, Any]], values: Sequence[Mapping[str, F64]], seed: int) -> list[Any]:
    """Return the difference of every row from the first, on the same questions."""
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
    found = {"pychunk": native.version, "python": platform.python_version()}
    for package in ("numpy", "faiss-cpu", "onnxruntime"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
