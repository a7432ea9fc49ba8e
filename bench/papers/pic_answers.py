"""An LLM's answers to SQuAD's questions, by the way to cut: the PIC paper's tables 2 to 4 and figure 2(a).

Each command makes one table. It needs an endpoint, and first prints the expected calls and tokens. It prints each row
when the row is done, and the cache keeps the answers: a run that was stopped continues from there.

    python bench/papers/pic_answers.py table2 --data ../shared/data --encoder minilm --dry-run
    PYCHUNK_LLM_URL=... PYCHUNK_LLM_MODEL=... PYCHUNK_LLM_KEY=... python bench/papers/pic_answers.py table2 --data ...
    python -m tests.helpers.llm_server --squad ../shared/data/squad/dev-v2.0.json &  # answers from what it is shown

``table2`` compares ways to cut. ``table3`` compares sources of PIC's summary, for the half about answers. ``table4``
uses real questions as summaries (RIC). ``figure2a`` varies PIC's threshold. As in the paper, an LLM writes PIC's
summaries, each chunk is found by one vector, and the LLM reads the best 5 and 20. In table 4 it reads the best 5 of the
question's own article. The column "held" says whether the chunks shown hold an answer. Exact match above it is what the
LLM knew without them.

These points differ from the paper. The data is SQuAD alone, of six data sets, and in table 4 replaces NaturalQuestions
and Qasper. The prompts are ours. Propositions also belong to passages of 100 words, but a passage is found by its best
proposition and shown in its own words.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import pychunk
from pychunk.answers import Answer, from_hits
from pychunk.evaluation import datasets, runner, systems
from pychunk.evaluation.measures import answer_accuracy, intervals, metrics
from pychunk.index import Bm25
from pychunk.index.search.hits import Hit
from pychunk.llm import LLM
from pychunk.llm.llm_summaries import Summariser

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.papers import pic_tables
from bench.papers.pic_tables import SEMANTIC, WHOLE, Remembering, Squad

PIC, OTHER, RIC, PROPOSITION = "PIC", "PIC, summary of another document", "RIC", "proposition"
#: The passages from which propositions are extracted.
PASSAGES = "fixed, 100 words"
#: PIC's thresholds, mean + k deviations; k = 0 is PIC.
THRESHOLDS = {f"PIC, k = {k:+}": float(k) for k in (-2, -1, 1, 2)}
LOW, HIGH = list(THRESHOLDS)[:2], list(THRESHOLDS)[2:]
TABLES = {
    "table2": ["sentence", "paragraph", PASSAGES, SEMANTIC, PROPOSITION, PIC],
    "table3": [PIC, OTHER, "one sentence", "mean of the sentences"],
    "table4": [SEMANTIC, PROPOSITION, PIC, RIC],
    "figure2a": [*LOW, PIC, *HIGH],
}
#: The numbers of best chunks that the LLM is shown.
TOP = {"table2": (5, 20), "table3": (5, 20), "table4": (5,), "figure2a": (5, 20)}
MEASURES = ("exact match", "F1", "held")
#: The number of questions that cut their own articles together.
BLOCK = 32


class Asked(Squad):
    """The corpus, cut by an LLM's summaries, and the chunks that each question is shown."""

    def __init__(self, data: datasets.Dataset, encoder: Remembering, llm: LLM) -> None:
        super().__init__(data, encoder, data.titles)
        self.llm = llm

    @cached_property
    def written(self) -> np.ndarray:
        """The vector of each article's summary, float32[articles, d], with one call an article."""
        texts, notes = Summariser(self.llm)(self.data.documents)
        for row, note in notes:
            print(f"{self.data.ids[row]}: {note}", flush=True)
        return self.encoder.encode(texts)

    @cached_property
    def stated(self) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of all propositions, float32[n, d], and the start of each passage's, int64[passages + 1].

        If a passage has no proposition, its own vector replaces it.
        """
        table = pychunk.augment(self.cut(PROPOSITION).table, "propositions:llm", llm=self.llm)
        both = zip(table["context"].to_pylist(), table["text"].to_pylist())
        units = [context.split("\n") if context else [text] for context, text in both]
        return self.encoder.encode([each for own in units for each in own]), np.cumsum([0, *map(len, units)])

    def scores(self, name: str, table: pa.Table, rows: np.ndarray, question: np.ndarray) -> np.ndarray:
        """Return the scores of a chunk table's rows, one after the other; float32[rows]."""
        if name != PROPOSITION:
            return self.encoder.encode(table["text"].take(rows).to_pylist()) @ question
        vectors, firsts = self.stated
        begin, end = firsts[rows[0]], firsts[rows[-1] + 1]
        return np.maximum.reduceat(vectors[begin:end] @ question, firsts[rows] - begin)

    def cut(self, name: str) -> systems.SystemChunks:
        if name == PROPOSITION:
            return super().cut(PASSAGES)
        if name not in (PIC, OTHER, *THRESHOLDS):
            return super().cut(name)
        order = np.arange(len(self.written))
        order = pic_tables.derangement(len(order)) if name == OTHER else order
        options = {**WHOLE, "summary": "given", "k": THRESHOLDS.get(name, 0.0)}
        return self.chunked("pic", options, {"summaries": self.written[order]})

    def found(self, name: str, most: int) -> Iterator[list[Hit]]:
        """Yield the best chunks of all articles for each question."""
        chunked = self.cut(name)
        if name == PROPOSITION:
            every = np.arange(chunked.table.num_rows)
            for question in self.questions:
                yield hits(chunked.table, best(self.scores(name, chunked.table, every, question), every, most))
            return
        options = {"bm25": Bm25(stemmer="english")}
        found = runner.retrieve(chunked, self.data, self.encoder, "recipe", self.questions, options)
        for rows in found.rows[:, :most]:
            yield hits(chunked.table, rows[rows >= 0])

    def found_in_own(self, name: str, most: int) -> Iterator[list[Hit]]:
        """Yield the best chunks of its own article for each question; for RIC the question cuts the article."""
        asked = np.array([question.document for question in self.data.questions])
        once = None if name == RIC else self.cut(name).table
        cutter = pychunk.Segmenter("pic", summary="given", **WHOLE)
        for first in range(0, len(asked), BLOCK):
            block = np.arange(first, min(first + BLOCK, len(asked)))
            own = asked[block]
            if once is None:
                vectors = [self.sentences[each] for each in own]
                table = cutter(
                    [self.data.documents[each] for each in own],
                    ids=[self.data.ids[each] for each in own],
                    columns={"sentence_vectors": vectors, "summaries": self.questions[block]},
                ).table
                holds = np.arange(len(block))
            else:
                table, holds = once, own
            document = np.asarray(table["document_index"])
            for number, wanted in zip(block, holds):
                rows = np.flatnonzero(document == wanted)
                scores = self.scores(name, table, rows, self.questions[number])
                found = hits(table, best(scores, rows, most))
                yield [replace(hit, document_index=int(asked[number])) for hit in found]


def best(scores: np.ndarray, rows: np.ndarray, most: int) -> np.ndarray:
    """Return the rows of the highest scores; the first of equal ones comes first."""
    return rows[np.argsort(-scores, kind="stable")[:most]]


def hits(table: pa.Table, rows: np.ndarray) -> list[Hit]:
    """Return rows of a chunk table, best first, in the form that a search returns."""
    names = ("document_index", "document_id", "chunk_index", "chunk_id", "start", "end", "text")
    picked = table.select(names).take(rows).to_pylist()
    return [Hit(int(row), **each, score=0.0, scores={}) for row, each in zip(rows, picked)]


def measured(squad: Asked, table: str, words: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield a row for each way to cut and number of chunks shown, with at most this many words."""
    questions = squad.data.questions
    gold = [question.answers for question in questions]
    for name in TABLES[table]:
        find = squad.found_in_own if table == "table4" else squad.found
        best = list(find(name, max(TOP[table])))
        for most in TOP[table]:
            shown = [own[:most] for own in best]
            said = from_hits(shown, [question.text for question in questions], llm=squad.llm, words=words)
            texts = [each.text for each in said]
            values = {
                "exact match": answer_accuracy.exact_match(texts, gold),
                "F1": answer_accuracy.token_f1(texts, gold),
                "held": held(said, squad.data),
            }
            cells = {measure: intervals.interval(values[measure])._asdict() for measure in MEASURES}
            yield {"name": name, "chunks shown": most, **cells, "no answer": sum(not text for text in texts)}


def held(said: Sequence[Answer], data: datasets.Dataset) -> np.ndarray:
    """Return 1 if a chunk that was shown holds an answer, as in Hits@k, else 0; float64[questions]."""
    plain, found = metrics.normalize_answer, []
    for each, question in zip(said, data.questions):
        texts = [plain(data.documents[part.document_index][part.start : part.end]) for part in each.shown]
        found.append(metrics.answer_shares(texts, [plain(answer) for answer in question.answers]).any())
    return np.array(found, np.float64)


def line(row: dict[str, Any]) -> str:
    cells = "".join(f"{pic_tables.written(row[measure]):>26}" for measure in MEASURES)
    return f"{row['name']:<34}{row['chunks shown']:>6}{cells}{row['no answer']:>11}"


def drawn(data: datasets.Dataset, most: int | None) -> datasets.Dataset:
    """Return the dataset with this many of its questions, drawn by a fixed seed, in order; None keeps all."""
    if most is None or most >= len(data.questions):
        return data
    rows = np.sort(np.random.default_rng(0).choice(len(data.questions), most, replace=False))
    return replace(data, questions=[data.questions[row] for row in rows])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds squad/dev-v2.0.json")
    parser.add_argument("--encoder", default="minilm", help="of chunks and questions (default: minilm)")
    parser.add_argument("--questions", type=int, metavar="N", help="drawn by a fixed seed (default: all)")
    parser.add_argument(
        "--words", type=int, metavar="N", help="longest text that is shown (default: all of the chunks)"
    )
    parser.add_argument("--dry-run", action="store_true", help="ask nothing, and say what it would take")
    parser.add_argument("--max-calls", type=int, metavar="N", help="stop there; what was answered is in the cache")
    parser.add_argument("-o", "--output", "--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args(arguments)
    data = drawn(datasets.squad(options.data / "squad" / "dev-v2.0.json"), options.questions)
    with LLM(dry_run=options.dry_run, max_calls=options.max_calls) as llm:
        squad, rows = Asked(data, Remembering(options.encoder), llm), []
        if not options.dry_run:
            head = "".join(f"{name:>26}" for name in MEASURES)
            print(f"{len(data.questions):,} questions, {llm.model}, encoder {options.encoder}")
            print(f"{options.table:<34}{'shown':>6}{head}{'no answer':>11}", flush=True)
        for row in measured(squad, options.table, options.words):
            rows.append(row)
            if not options.dry_run:
                print(line(row), flush=True)
        before, after = ("it would take ", ", and what has to be asked again") if options.dry_run else ("", "")
        print(f"{before}{llm.account.line()}{after}")
        if options.output and not options.dry_run:
            figures = {"questions": len(data.questions), "model": llm.model, options.table: rows}
            title, packages = f"Answers on SQuAD, the PIC paper's {options.table}", ("onnxruntime", "faiss-cpu")
            fingerprint = squad.encoder.model.fingerprint
            record.save(options.output, title, figures, packages=packages, encoder=fingerprint)


if __name__ == "__main__":
    main()
