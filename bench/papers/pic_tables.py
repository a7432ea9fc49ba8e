"""The tables of "Pseudo-Instruction Chunking" (PIC) on SQuAD: methods, summaries, thresholds, RIC.

The data is SQuAD v2 dev, with all articles as one corpus. Every chunk is found in two ways: by its text encoded as a
whole, as in the paper, and by its best sentence with BM25, as pychunk recommends. Hits@k is as in the paper: an answer
occurs in one of the top k chunks. The paper's corpus is all of Wikipedia and its encoder bge-large, so that only the
order of rows can be compared. An LLM wrote its summaries, so that no row here is its PIC. Lengths are also measured on
Wikipedia articles.

    pychunk model get minilm
    python bench/papers/pic_tables.py --data ../shared/data --encoder minilm --save bench/results/pic_squad.json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pychunk
from pychunk.evaluation import datasets, runner, systems
from pychunk.evaluation.measures import intervals, metrics
from pychunk.evaluation.systems import Encoder
from pychunk.index import Bm25
from pychunk.inputs.document_columns import DocumentColumns

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.papers import pic_lengths, pic_ric

WHOLE = {"max_tokens": None, "keep_together": False, "min_tokens": 0}  # every cut of the method, as in the paper
PIC, SEMANTIC, OTHER = "PIC, extractive", "semantic, percentile 20", "summary of another document"
#: Every way to cut, once.
CUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "sentence": ("sentence", {"keep_together": False}),
    "paragraph": ("paragraph", WHOLE),
    "fixed, 100 words": ("fixed", {"size": 100, "unit": "words", "keep_together": False}),
    SEMANTIC: ("semantic", WHOLE),
    PIC: ("pic", WHOLE),
    "recursive, 110 words": ("recursive", {"size": 110, "unit": "words"}),
    **{f"semantic, percentile {p}": ("semantic", {**WHOLE, "threshold": ("percentile", p)}) for p in (5, 35, 50)},
    "mean of the sentences": ("pic", {**WHOLE, "summary": "mean"}),
    "lead": ("pic", {**WHOLE, "summary": "lead"}),
    "title": ("pic", {**WHOLE, "summary": "title"}),
    "one sentence": ("pic", {**WHOLE, "summary": "sentence"}),
    OTHER: ("pic", {**WHOLE, "summary": "given"}),
    "random direction": ("pic", {**WHOLE, "summary": "random"}),
    **{f"k = {k:+}": ("pic", {**WHOLE, "k": float(k)}) for k in (-2, -1, 1, 2)},
}
TABLES = {
    "methods": ["sentence", "paragraph", "fixed, 100 words", SEMANTIC, PIC, "recursive, 110 words"],
    "percentiles": ["semantic, percentile 5", SEMANTIC, "semantic, percentile 35", "semantic, percentile 50"],
    "summaries": [PIC, "mean of the sentences", "lead", "title", "one sentence", OTHER, "random direction"],
    "thresholds": ["k = -2", "k = -1", PIC, "k = +1", "k = +2"],
}
TITLES = {
    "methods": "methods",
    "percentiles": "the semantic baseline's percentile",
    "summaries": "where PIC's summary comes from",
    "thresholds": "PIC's threshold: mean + k deviations; without k: 0",
}
#: The paper's Hits@5 and @20, the average of its six data sets and on SQuAD (tables 1 and 3), next to the rows that cut
#: in the same way. It does not say whether its percentile is of a document's similarities, as here, or of all.
PAPER = {
    "sentence": (40.4, 53.3, 39.9, 52.6),
    "paragraph": (48.0, 60.8, 44.4, 57.9),
    "fixed, 100 words": (54.5, 66.8, 47.1, 63.1),
    SEMANTIC: (56.0, 67.4, 46.8, 61.2),
    "mean of the sentences": (55.8, 67.0, 50.3, 64.3),
    "one sentence": (54.9, 65.9, 49.2, 62.2),
    OTHER: (54.6, 65.7, 49.1, 62.4),
}
#: The paper's rows without a row here: they cut by an LLM's summary, or have an LLM rewrite the text.
PAPER_ALONE = {"PIC, an LLM's summaries": (58.4, 69.5, 53.0, 67.0), "proposition": (57.7, 68.9, 56.0, 68.5)}
PAPER_CELLS = ("average hits@5", "average hits@20", "SQuAD hits@5", "SQuAD hits@20")
#: The percentage of relevant chunks among those found on SQuAD (table 5; with an LLM's summaries).
PAPER_RELEVANT = {"top 5": 60.7, "top 20": 57.9, "hold the answer": 65.8}
MODES = ("recipe", "hybrid")
SHOWN = ("hits@5", "hits@20", "strict hits in 500 words")
ABOUT = (
    'SQuAD v2 dev, all articles as one corpus. In mode "recipe", a chunk is found by one vector, and in mode "hybrid" '
    "by its best sentence and BM25. Hits@k is the share of questions of which an answer occurs in one of the top k "
    'chunks. In the table of relevant chunks, "hold the answer" means the chunks among the top 20 that hold an answer. '
    "In the table of RIC, only the chunks of the question's own article are searched. Intervals are over questions. "
    "Only those of lengths, and of the share of relevant chunks among all chunks, are over documents."
)


class Remembering(Encoder):
    """An encoder that encodes each text once, since the ways to cut have many chunks in common."""

    def encode(self, texts: Any) -> np.ndarray:
        return self.remembered(list(texts))


def titles(file: Path) -> list[str]:
    return [each["title"].replace("_", " ") for each in json.loads(file.read_text(encoding="utf-8"))["data"]]


def derangement(count: int, seed: int = 0) -> np.ndarray:
    """Return a random permutation without fixed points, each with the same probability; int64[count]."""
    if count < 2:
        raise ValueError(f"a document's summary can be another one's only among two or more; got {count}")
    rng = np.random.default_rng(seed)
    while True:  # one of e permutations does
        order = rng.permutation(count)
        if (order != np.arange(count)).all():
            return order


@dataclass
class Squad:
    """The corpus, encoded: sentences once, for cutting and for the index, by one encoder as in the paper."""

    data: datasets.Dataset
    encoder: Encoder
    titles: list[str]
    questions: np.ndarray = field(init=False)  # vectors
    sentences: list[np.ndarray] = field(init=False)  # vectors of each article's sentences

    def __post_init__(self) -> None:
        texts = self.data.documents
        self.questions = self.encoder.encode([question.text for question in self.data.questions])
        spans = pychunk.split_sentences(texts)
        every = self.encoder.encode([text[a:b] for text, own in zip(texts, spans) for a, b in own])
        self.sentences = np.split(every, np.cumsum([len(each) for each in spans])[:-1])

    def cut(self, name: str) -> systems.SystemChunks:
        method, options = CUTS[name]
        columns: DocumentColumns = {}
        if name == "title":
            columns["titles"] = self.encoder.encode(self.titles)
        if name == OTHER:
            columns["summaries"] = self.summaries()[derangement(len(self.data.documents))]
        return self.chunked(method, options, columns)

    def chunked(self, method: str, options: dict[str, Any], columns: DocumentColumns) -> systems.SystemChunks:
        """Return all articles, cut by the vectors of their sentences; ``said`` has further arguments for each."""
        cutter = pychunk.Segmenter(method, vectors="sentence", **options)
        table = cutter(
            self.data.documents, ids=self.data.ids, columns={"sentence_vectors": self.sentences, **columns}
        ).table
        facts = {b"pychunk": json.dumps({"vector_encoder": self.encoder.model.fingerprint}).encode()}
        return systems.SystemChunks(method, table.replace_schema_metadata(facts), 0.0)

    def summaries(self) -> np.ndarray:
        """Return the vector of each article's own extractive summary, [articles, d]."""
        made = pychunk.Segmenter("pic", summaries_out=True, **WHOLE)
        found = made(self.data.documents, columns={"sentence_vectors": self.sentences}).summaries
        return np.array(found["vector"].to_pylist(), np.float32)


@dataclass
class Row:
    """A way to cut: its entries in the tables; Hits@5 of each question and the chunks found, by mode."""

    cells: dict[str, Any]
    hits: dict[str, np.ndarray]
    found: dict[str, runner.SearchResults]


def all_measured(squad: Squad, processes: int) -> dict[str, Row]:
    """Return every row: all texts are encoded, then processes that inherit the vectors search the rows.

    One process takes 45 seconds a row to ask 5,928 questions in two ways.
    """
    chunked = {name: squad.cut(name) for name in CUTS}
    squad.encoder.encode([text for each in chunked.values() for text in each.table["text"].to_pylist()])
    squad.encoder.encode(runner.first_answers(squad.data))
    if processes == 1:
        return {name: measured(name, each, squad) for name, each in chunked.items()}
    # The fork must precede FAISS's first run: its threads would be missing in a child, which would wait for them
    # forever.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        _inherited.update(squad=squad, chunked=chunked)
        return dict(zip(chunked, pool.map(_measured, chunked)))


#: Processes inherit this: pickling only the vectors would take as long as the searches.
_inherited: dict[str, Any] = {}


def _measured(name: str) -> Row:
    return measured(name, _inherited["chunked"][name], _inherited["squad"])


def measured(name: str, chunked: systems.SystemChunks, squad: Squad) -> Row:
    row = Row({"name": name, **pic_lengths.lengths(chunked.table), "modes": {}}, {}, {})
    options = {"bm25": Bm25(stemmer="english")}
    for mode in MODES:
        found = runner.retrieve(chunked, squad.data, squad.encoder, mode, squad.questions, options)
        values, _ = runner.measure(found, squad.data, squad.encoder)
        values["words in top 5"] = found.words[:, :5].sum(axis=1).astype(np.float64)
        cells = {measure: intervals.interval(values[measure])._asdict() for measure in (*SHOWN, "words in top 5")}
        row.cells["modes"][mode] = cells
        row.hits[mode], row.found[mode] = values["hits@5"], found
    return row


def differences(rows: dict[str, Row]) -> list[dict[str, Any]]:
    """Return Hits@5 of every row minus PIC's, or for percentiles minus the 20th's, on the same questions."""
    out = []
    for table, names in TABLES.items():
        against = SEMANTIC if table == "percentiles" else PIC
        for name in names:
            if name != against:
                cells = {
                    f"{mode} hits@5": intervals.paired(rows[name].hits[mode], rows[against].hits[mode])._asdict()
                    for mode in MODES
                }
                out.append({"table": table, "name": name, "minus": against, **cells})
    return out


def relevant_shares(row: Row, data: datasets.Dataset) -> list[dict[str, Any]]:
    """Return table 5: the share of relevant chunks in the top 5, the top 20, those with an answer, and all."""
    table = row.found[MODES[0]].chunked.table
    relevant = np.array([kind == "relevant" for kind in table["relevance"].to_pylist()])
    plain = [metrics.normalize_answer(text) for text in table["text"].to_pylist()]
    wanted = [[metrics.normalize_answer(answer) for answer in question.answers] for question in data.questions]
    document = np.asarray(table["document_index"])
    everything = share(np.bincount(document[relevant], minlength=document.max() + 1), np.bincount(document))
    rows = []
    for mode, found in row.found.items():
        top = found.rows[:, :20]
        there = top >= 0
        texts = [[plain[each] if each >= 0 else "" for each in own] for own in top]
        held = np.array([metrics.answer_shares(own, answers) > 0 for own, answers in zip(texts, wanted)])
        among = {"top 5": there & (np.arange(top.shape[1]) < 5), "top 20": there, "hold the answer": there & held}
        shares = {name: share((relevant[top] & each).sum(axis=1), each.sum(axis=1)) for name, each in among.items()}
        rows.append({"found by": mode, **shares, "all chunks": everything})
    return rows


def share(some: np.ndarray, of: np.ndarray) -> dict[str, float]:
    """Return the ratio of the sums of counts by question or by document."""
    return intervals.of_sums(np.stack([some, of], axis=1), lambda sums: sums[0] / sums[1])._asdict()


def show(title: str, rows: list[dict[str, Any]]) -> None:
    for mode in MODES:
        # The paper finds each chunk by one vector.
        paper = PAPER if mode == "recipe" else {}
        print(f"\n{title}, {mode}")
        beside = f"paper: {', '.join(PAPER_CELLS)}" if paper else ""
        measures = "".join(f"{measure:>28}" for measure in (*SHOWN, "words in top 5"))
        print(f"  {'':28}{'words a chunk':>28}{'std':>28}{measures}   {beside}".rstrip())
        for each in rows:
            cells = each["modes"][mode]
            words = [each["words"], each["std"], cells["words in top 5"]]
            first, second, last = (f"{pic_lengths.written(cell):>28}" for cell in words)
            hits = "".join(f"{written(cells[measure]):>28}" for measure in SHOWN)
            beside = ", ".join(map(str, paper.get(each["name"], ())))
            print(f"  {each['name']:28}{first}{second}{hits}{last}   {beside}".rstrip())


def written(cell: dict[str, float]) -> str:
    return f"{cell['mean']:.3f} ({cell['low']:.3f} to {cell['high']:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument(
        "--data", type=Path, default=Path(default), help="folder that holds squad/dev-v2.0.json, wiki/articles.parquet"
    )
    parser.add_argument("--encoder", default="minilm", help="of chunks and questions (default: minilm)")
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--articles", type=int, metavar="N", help="of Wikipedia, for lengths (default: all)")
    parser.add_argument(
        "--sample", type=int, default=1000, metavar="N", help="of them, with the encoder (default: 1000)"
    )
    parser.add_argument("--ric", type=int, metavar="N", help="questions of the RIC table (default: all that fit)")
    parser.add_argument("--ric-minutes", type=float, default=10, metavar="M", help="that they may take (default: 10)")
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("--processes", type=int, default=cpus, metavar="N", help="that search (default: one a CPU)")
    parser.add_argument("-o", "--output", "--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    file = options.data / "squad" / "dev-v2.0.json"
    data = datasets.squad(file, options.limit)
    encoder = Remembering(options.encoder)
    print(f"{len(data.questions):,} questions, {len(data.documents)} articles, encoder {options.encoder}")
    squad = Squad(data, encoder, titles(file))

    rows = all_measured(squad, options.processes)
    for table, names in TABLES.items():
        show(TITLES[table], [rows[name].cells for name in names])
    for name, cells in PAPER_ALONE.items():
        print(f"  the paper's {name}: {', '.join(map(str, cells))}, for which there is no row here")
    minus = differences(rows)
    print("\nHits@5 minus another row's, on the same questions")
    for each in minus:
        cells = "".join(f"  {mode} {written(each[f'{mode} hits@5']):>25}" for mode in MODES)
        print(f"  {each['name']:28} minus {each['minus']:26}{cells}")
    relevant = relevant_shares(rows[PIC], data)
    print("\nshare of PIC's relevant chunks among those found; hold the answer: of the top 20")
    for each in relevant:
        cells = {name: cell for name, cell in each.items() if name != "found by"}
        print(f"  {each['found by']:8}" + "".join(f"  {name}: {written(cell)}" for name, cell in cells.items()))
    print("  the paper's, of an LLM's summaries, %: " + ", ".join(f"{k}: {v}" for k, v in PAPER_RELEVANT.items()))
    lengths = pic_lengths.wikipedia(
        options.data / "wiki" / "articles.parquet", encoder, options.articles, options.sample
    )
    pic_lengths.show(lengths)
    cut_by_questions = pic_ric.by_question(
        data, encoder, squad.questions, squad.sentences, options.ric_minutes, options.ric
    )
    ric = pic_ric.table(cut_by_questions)
    pic_ric.show(ric)
    if options.output:
        paper = [{"name": name, **dict(zip(PAPER_CELLS, cells))} for name, cells in (PAPER | PAPER_ALONE).items()]
        figures = {
            "questions": len(data.questions),
            **{table: [rows[name].cells for name in names] for table, names in TABLES.items()},
            "differences": minus,
            "relevant chunks": relevant,
            "lengths over Wikipedia": lengths,
            "RIC": ric,
            "the paper's hits": paper,
            "the paper's relevant chunks, %": [PAPER_RELEVANT],
            "the paper's lengths": [
                {"name": name, "words": mean, "std": std} for name, (mean, std) in pic_lengths.PAPER.items()
            ],
        }
        title, packages = "The tables of the PIC paper on SQuAD", ("onnxruntime", "faiss-cpu")
        fingerprint = encoder.model.fingerprint
        record.save(options.output, title, figures, about=ABOUT, packages=packages, encoder=fingerprint)


if __name__ == "__main__":
    main()
