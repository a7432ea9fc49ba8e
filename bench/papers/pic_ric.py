"""Real instructions (RIC): each question cuts its own article, compared with PIC's cuts by the article's summary.

Chunks are found in the article, by their text encoded as one and by their best sentence. A cut by the question may gain
only because its chunks are longer. The tables therefore show the words returned, and hits within a budget of words. The
paper's table 4 is about answers by an LLM, another measure.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np

import pychunk
from pychunk.evaluation import datasets
from pychunk.evaluation.measures import intervals, metrics
from pychunk.evaluation.systems import Encoder
from pychunk.inputs.document_columns import DocumentColumns

BUDGETS = (250, 500)
MEASURES = ("hits@1", "hits@5", *(f"hits in {budget} words" for budget in BUDGETS), "words in top 1", "words in top 5")
FOUND_BY = ("whole chunk", "best sentence")
#: The number of questions cut and encoded together; the clock is read between two such blocks.
BLOCK = 32

plain = functools.cache(metrics.normalize_answer)


def measured(texts: list[str], words: np.ndarray, scores: np.ndarray, answers: list[str]) -> list[float]:
    """Return the MEASURES of one question: its article's chunks in the order of their scores."""
    order = np.argsort(-scores, kind="stable")
    depth = max(5, int((words[order].cumsum() <= BUDGETS[-1]).sum()))
    top = order[:depth]
    held = metrics.answer_shares([plain(texts[row]) for row in top], answers) > 0
    within = metrics.hits_within_words(held[None], words[top][None], BUDGETS)[0]
    spent = [float(words[top[:k]].sum()) for k in (1, 5)]
    return [float(held[:1].any()), float(held[:5].any()), *within.tolist(), *spent]


def by_question(
    data: datasets.Dataset,
    encoder: Encoder,
    questions: np.ndarray,
    own: list[np.ndarray],
    minutes: float,
    limit: int | None,
) -> dict[str, np.ndarray]:
    """Return float64[questions, FOUND_BY, MEASURES] for "RIC" and "PIC", as many seeded questions as the time allows.

    ``questions`` are the questions' vectors, [questions, d]. ``own`` are the vectors of each article's sentences.
    """
    order = np.random.default_rng(0).permutation(len(data.questions))[:limit]
    starts = [np.array([a for a, _ in spans]) for spans in pychunk.split_sentences(data.documents)]
    cutters = {"RIC": pychunk.Segmenter("pic", summary="given", max_tokens=None, keep_together=False, min_tokens=0)}
    cutters["PIC"] = pychunk.Segmenter("pic", max_tokens=None, keep_together=False, min_tokens=0)
    values: dict[str, list[list[list[float]]]] = {name: [] for name in cutters}
    begun = time.monotonic()
    for first in range(0, len(order), BLOCK):
        if time.monotonic() - begun > 60 * minutes:
            break
        block = order[first : first + BLOCK]
        articles = [data.questions[number].document for number in block]
        for name, cutter in cutters.items():
            vectors = [own[article] for article in articles]
            columns: DocumentColumns = {"sentence_vectors": vectors}
            if name == "RIC":
                columns["summaries"] = questions[block]
            table = cutter([data.documents[each] for each in articles], columns=columns).table
            texts = table["text"].to_pylist()
            whole = encoder.remembered(texts)  # articles recur, and with them many of their chunks
            words = np.array([len(text.split()) for text in texts])
            begins = np.searchsorted(np.asarray(table["document_index"]), np.arange(len(block) + 1))
            for i, number in enumerate(block):
                rows = slice(begins[i], begins[i + 1])
                heads = np.searchsorted(starts[articles[i]], np.asarray(table["start"])[rows])
                best = np.maximum.reduceat(vectors[i] @ questions[number], heads)
                answers = [metrics.normalize_answer(answer) for answer in data.questions[number].answers]
                scores = (whole[rows] @ questions[number], best)
                values[name].append([measured(texts[rows], words[rows], each, answers) for each in scores])
    return {name: np.array(each) for name, each in values.items()}


def table(values: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return rows of RIC, PIC and their difference on the same questions, by both ways to find chunks."""
    ric, pic = values["RIC"], values["PIC"]
    rows = []
    for i, found_by in enumerate(FOUND_BY):
        for name, cells in (("RIC", ric), ("PIC", pic), ("RIC minus PIC", ric - pic)):
            each = {measure: intervals.interval(cells[:, i, j])._asdict() for j, measure in enumerate(MEASURES)}
            rows.append({"found by": found_by, "cut by": name, "questions": len(cells), **each})
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    print(f"\neach question cuts its own article (RIC), {rows[0]['questions']:,} questions, found in that article")
    for each in rows:
        print(f"  {each['found by'] + ', ' + each['cut by']}")
        for measure in MEASURES:
            cell, digits = each[measure], 1 if measure.startswith("words") else 3
            low, high = (f"{cell[end]:.{digits}f}" for end in ("low", "high"))
            print(f"    {measure:20}{cell['mean']:9.{digits}f} ({low} to {high})")
