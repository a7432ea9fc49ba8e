"""Candidates for the default method of `segment`, `ingest` and `index`, and other packages, compared on data.

Every way to cut is measured on the same texts with the static encoder:

- questions (SQuAD v2 dev and chunking-evaluation, found by best sentence and BM25): strict Hits@1, @5 and of any rank,
  where only chunks count that fit wholly into the first 500 words read. On SQuAD a hit holds an answer and is in its
  paragraph, on chunking-evaluation it holds a whole reference span. Differences are to `recursive`, on the same
  questions.
- Wikipedia articles with their heading lines hidden: F1, Pk and WindowDiff of section starts, with line breaks and
  without.
- all texts: short chunks (under 50 characters), chunks that begin with a pronoun or a connective, the place in the
  chunk of headings that people marked, and the five intrinsic measures of pychunk/evaluation/measures/intrinsic.py.

Other packages get a size that makes their chunks, on the average of each corpus, as long as those of --beside. Figures
of documents have intervals over documents, those of questions over questions.

    python bench/retrieval/defaults.py --data ../shared/data --save bench/results/defaults.json
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from pychunk.defaults import CHUNKS
from pychunk.evaluation import datasets, peers, runner, systems
from pychunk.evaluation.measures import chunk_starts, intervals, intrinsic, plain_text_blocks
from pychunk.evaluation.systems import Encoder, SystemChunks
from pychunk.index import Bm25, Ranking

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.papers import pic_lengths
from bench.retrieval import defaults_texts
from bench.retrieval.defaults_texts import Corpus

RECURSIVE, OLD, DEFAULT = "recursive, 110 words", "pic, every cut", "the default"
#: Every way to cut: method and options.
CANDIDATES: dict[str, tuple[str | None, dict[str, Any]]] = {
    DEFAULT: (None, {}),
    "pic": ("pic", {}),
    OLD: ("pic", {"keep_together": False, "min_tokens": 0}),
    "semantic": ("semantic", {}),
    "cluster": ("cluster", {}),
    "nsp, static": ("nsp", {"encoder": "static"}),
    RECURSIVE: ("recursive", {"size": 110, "unit": "words"}),
    "recursive, 200 words": ("recursive", {"size": 200, "unit": "words"}),
    "fixed, 100 words": ("fixed", {"size": 100, "unit": "words"}),
    "topic": ("topic", {}),
    "topic, up to 200 tokens": ("topic", {"size": 150, "max_tokens": 200}),
}
#: The way to cut whose length other packages match by default.
BESIDE = (DEFAULT,)
#: The options that the documentation recommends for an index.
INDEX = {"bm25": Bm25(stemmer="english", k1=0.9, b=0.4), "ranking": Ranking(bm25_weight=1.5)}
READ = 500  # words
#: The number of questions drawn from each set; all 5,928 of SQuAD would take three times as long.
QUESTIONS, ARTICLES, PAGES = 2000, 300, 200
HITS = ("strict hits@1", "strict hits@5", "strict hits")
SECTIONS = {"boundary F1": "F1", "pk": "Pk", "windowdiff": "WindowDiff"}
#: The words and tokens of a block, or of headings with the next sentence, that every method could keep in one chunk.
WHOLE = (100, 512)
#: Sizes in words that are neither parts of an idea nor more than one.
LEAST, MOST = 40, 400
#: The section F1 of PIC's cuts when defaults were first compared; a default should have three times as much.
BEFORE = 0.087
ABOUT = (
    "Static encoder; seeded samples of questions, articles and pages. Hits: within the first 500 words read, hybrid "
    "search. Chunks of other packages are as long on the "
    "average as those of the method named. Headings are those that a page's HTML, WikiExtractor's full stops or the "
    "law on leaflets mark, where the sentence that follows fits into 100 words with them. Those behind scraps stand in "
    "their chunk behind under 50 characters, which a cut before them would leave alone; of the others it is said apart "
    "which share begins its chunk. Intervals are over "
    "documents, of hits over questions."
)


@dataclass
class Texts:
    """A corpus with all that the measures of its chunks need, made once for all ways to cut."""

    corpus: Corpus
    encoder: Encoder

    def __post_init__(self) -> None:
        data = self.corpus.data
        spans, vectors = self.encoder.sentences(data)
        self.sentences = [np.array(own, np.int64).reshape(-1, 2) for own in spans]
        self.vectors = np.split(vectors, np.cumsum([len(own) for own in spans])[:-1])
        self.refers = [
            np.array([chunk_starts.refers_back(text[a:b]) for a, b in own], bool)
            for text, own in zip(data.documents, spans)
        ]
        pages = data.page_starts or [[0]] * len(data.documents)
        headings = self.corpus.headings or [[]] * len(data.documents)
        every = list(zip(data.documents, headings, pages))
        self.blocks = [
            np.array(
                [s for s in plain_text_blocks.find_blocks(text, own, page).tolist() if fits(text[s[0] : s[1]])],
                np.int64,
            )
            for text, own, page in every
        ]
        self.headings = [
            defaults_texts.with_what_follows(text, own, page, spans, fits)
            for (text, own, page), spans in zip(every, self.sentences)
        ]


def fits(text: str) -> bool:
    """Return whether every method could keep it in one chunk."""
    return len(text.split()) <= WHOLE[0] and systems.count_tokens([text]) <= WHOLE[1]


def spans_of(chunked: SystemChunks, documents: int) -> list[np.ndarray]:
    """Return, for each document, int64[chunks, 2] in characters."""
    document = np.asarray(chunked.table["document_index"], np.int64)
    both = np.stack([np.asarray(chunked.table[name], np.int64) for name in ("start", "end")], axis=1)
    return [both[document == number] for number in range(documents)]


def form(chunked: SystemChunks, texts: Texts) -> dict[str, Any]:
    """Return the length, beginning and content of chunks: means and shares with intervals over documents."""
    found: dict[str, list[tuple[float, float]]] = {}
    documents = texts.corpus.data.documents
    for number, (text, spans) in enumerate(zip(documents, spans_of(chunked, len(documents)))):
        words = np.array([len(text[a:b].split()) for a, b in spans], np.int64)
        rows = chunk_starts.holders(texts.sentences[number][:, 0], spans)
        vectors = texts.vectors[number]
        places = chunk_starts.heading_places(text, texts.headings[number], spans)
        dangling = sum(chunk_starts.refers_back(text[a:b]) for a, b in spans[1:])
        own: dict[str, tuple[float, float]] = {
            "words": (words.sum(), len(words)),
            "scraps": ((np.diff(spans, axis=1) < CHUNKS.short).sum(), len(words)),
            "dangling": (dangling, len(words)),
            "headings begin": (places.begin, sum(places)),
            "headings alone": (places.alone, sum(places)),
            "headings end": (places.end, sum(places)),
            "headings behind scraps": (places.behind, sum(places)),
            "headings begin, the others": (places.begin, sum(places) - places.behind),
            "references": intrinsic.reference_completeness(texts.refers[number], rows),
            "cohesion": intrinsic.intrachunk_cohesion(vectors, rows),
            "coherence": intrinsic.contextual_coherence(vectors, rows),
            "blocks": intrinsic.block_integrity(texts.blocks[number], spans),
            "sizes": intrinsic.size_compliance(words, least=LEAST, most=MOST),
        }
        for name, pair in own.items():
            found.setdefault(name, []).append(pair)
    return {name: cell for name, pairs in found.items() if (cell := ratio(pairs)) is not None}


def ratio(pairs: Sequence[tuple[float, float]]) -> dict[str, float] | None:
    """Return the ratio of two sums over documents, or None if there is nothing to count."""
    parts = np.array(pairs, np.float64)
    if not parts[:, 1].sum():
        return None
    return intervals.of_sums(parts, lambda sums: sums[0] / sums[1])._asdict()


def sections(chunked: SystemChunks, data: datasets.Dataset) -> dict[str, Any]:
    values = runner.measure_boundaries(chunked, data)
    return {shown: intervals.interval(values[name])._asdict() for name, shown in SECTIONS.items()}


def hits(chunked: SystemChunks, data: datasets.Dataset, encoder: Encoder, vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Return for each question whether the first, the first five or any chunks within the words read have a hit."""
    found = runner.retrieve(chunked, data, encoder, "hybrid", vectors, INDEX)
    inside = found.words.cumsum(axis=1) <= READ
    held = strict(found, data, inside) & inside & (found.rows >= 0)
    return {name: held[:, :depth].any(axis=1).astype(np.float64) for name, depth in zip(HITS, (1, 5, None))}


def strict(found: runner.SearchResults, data: datasets.Dataset, wanted: np.ndarray) -> np.ndarray:
    """Return which of the chunks found are hits, bool[questions, depth]; only ``wanted`` ones are checked."""
    table, rows = found.chunked.table, found.rows
    document, start, end = (np.asarray(table[name], np.int64)[rows] for name in ("document_index", "start", "end"))
    held = np.zeros(rows.shape, bool)
    for i, question in enumerate(data.questions):
        for j in np.flatnonzero(wanted[i] & (rows[i] >= 0) & (document[i] == question.document)):
            if question.spans:
                held[i, j] = any(start[i, j] <= a and b <= end[i, j] for a, b in question.spans)
                continue
            first, last = question.paragraph or (0, len(data.documents[question.document]))
            within = start[i, j] < last and first < end[i, j]
            held[i, j] = within and bool(data.gold.held(i, question.document, start[i, j], end[i, j]))
    return held


def cuts(
    data: datasets.Dataset, encoder: Encoder, beside: Sequence[str], usable: Sequence[peers.Peer]
) -> Iterator[tuple[dict[str, str], SystemChunks]]:
    """Yield the beginning of a row and the chunks, for every candidate and then for every peer at each length."""
    lengths = {}
    for name, (method, options) in CANDIDATES.items():
        chunked = systems.by_method(method, options, data, encoder, name)
        lengths[name] = float(chunked.words.mean())
        yield {"method": name, "as long as": ""}, chunked
    for name in beside:
        for peer in usable:
            yield {"method": peer.name, "as long as": name}, systems.by_peer(peer, lengths[name], data, encoder)


def measured(corpus: Corpus, beside: Sequence[str], usable: Sequence[peers.Peer]) -> list[dict[str, Any]]:
    """Return a row for every way to cut: sections if headings are hidden, hits if there are questions."""
    data, encoder = corpus.data, Encoder("static")
    texts = None if data.boundaries else Texts(corpus, encoder)
    vectors = encoder.encode([question.text for question in data.questions]) if data.questions else None
    rows: list[dict[str, Any]] = []
    values: dict[str, dict[str, np.ndarray]] = {}
    begun = time.perf_counter()
    for row, chunked in cuts(data, encoder, beside, usable):
        if texts is None:
            row |= {"words": pic_lengths.lengths(chunked.table)["words"], **sections(chunked, data)}
        else:
            row |= form(chunked, texts)
        if vectors is not None:
            own = hits(chunked, data, encoder, vectors)
            values["/".join((row["method"], row["as long as"]))] = own
            row |= {name: intervals.interval(each)._asdict() for name, each in own.items()}
        rows.append(row)
        now = time.perf_counter()
        print(f"  {now - begun:5.1f} s  {corpus.name}: {row['method']}", file=sys.stderr, flush=True)
        begun = now
    if values:
        first = values[f"{RECURSIVE}/"]
        for row, own in zip(rows, values.values()):
            row |= {f"{name} minus": intervals.paired(own[name], first[name])._asdict() for name in HITS[:2]}
    return rows


def requirements(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, str]]:
    """Return, for every candidate, each requirement on a default with the worst value of all texts and its corpus."""
    rows = []
    for name in CANDIDATES:
        own = {corpus: next(row for row in each if row["method"] == name) for corpus, each in found.items()}
        old = {corpus: next(row for row in each if row["method"] == OLD) for corpus, each in found.items()}
        row = {"method": name}
        for measure in HITS[:2]:
            cells = [(each[f"{measure} minus"], where) for where, each in own.items() if f"{measure} minus" in each]
            cell, where = min(cells, key=lambda pair: pair[0]["high"])
            row[f"{measure} not below {RECURSIVE}"] = said(cell["high"] >= 0, written(cell, 3), where)
        cells = [(each["F1"]["mean"], where) for where, each in own.items() if "F1" in each]
        value, where = min(cells, key=itemgetter(0))
        row[f"section F1 3 x {BEFORE}"] = said(value >= 3 * BEFORE, f"{value:.3f}", where)
        shares = [
            (each["dangling"]["mean"] / old[where]["dangling"]["mean"], where)
            for where, each in own.items()
            if "dangling" in each and old[where]["dangling"]["mean"]
        ]
        value, where = max(shares, key=itemgetter(0))
        row["dangling at most half"] = said(value <= 0.5, f"x {value:.2f}", where)
        for title, measure, worst, good in (
            ("scraps <= 1 %", "scraps", max, lambda value: value <= 0.01),
            ("headings that begin >= 95 %", "headings begin", min, lambda value: value >= 0.95),
            (
                "headings not behind scraps that begin >= 95 %",
                "headings begin, the others",
                min,
                lambda value: value >= 0.95,
            ),
            ("headings alone 0", "headings alone", max, lambda value: value == 0),
            ("headings at the end 0", "headings end", max, lambda value: value == 0),
        ):
            cells = [(each[measure]["mean"], where) for where, each in own.items() if each.get(measure)]
            value, where = worst(cells, key=itemgetter(0))
            row[title] = said(good(value), f"{100 * value:.2f} %", where)
        rows.append(row)
    return rows


def said(holds: bool, value: str, where: str) -> str:
    return f"{'yes' if holds else 'no'}: {value}, {where}"


def written(cell: Any, digits: int = 1) -> str:
    """Return a share in per cent, or a number with more digits unchanged."""
    if not isinstance(cell, dict):
        return "" if cell is None else str(cell)
    factor = 100 if digits == 1 and abs(cell["high"]) <= 1 else 1
    low, mean, high = (f"{factor * cell[key]:.{digits}f}" for key in ("low", "mean", "high"))
    return f"{mean} ({low} to {high})"


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a table; shares are in per cent."""
    names = list(rows[0])
    cells = [names, *([written(row[name]) if name in row else "" for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    print(f"\n{title}")
    for line in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def corpora(data: Path, limit: int | None) -> list[Corpus]:
    """Return all texts, or only the first ``limit`` questions or documents of each set."""
    whole, bare = defaults_texts.wiki(data, limit or ARTICLES)
    one = [text.replace("\n", " ") for text in bare.data.documents]
    return [
        defaults_texts.squad(data, limit or QUESTIONS),
        Corpus("chunking evaluation", datasets.chunking_evaluation(data / "chunking_evaluation", limit)),
        bare,
        Corpus("Wikipedia, headings and line breaks hidden", replace(bare.data, documents=one)),
        whole,
        defaults_texts.web(data, limit or PAGES),
        defaults_texts.leaflets(data, limit),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(default),
        help="folder with squad/, chunking_evaluation/, wiki/, wcxb/, unlp2026/",
    )
    parser.add_argument("--limit", type=int, help="only so many questions, articles, web pages and leaflets")
    parser.add_argument(
        "--beside",
        action="append",
        choices=list(CANDIDATES),
        help="what other packages are as long as; may be repeated",
    )
    parser.add_argument("--no-peers", action="store_true", help="leave other packages out")
    parser.add_argument("-o", "--output", "--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    usable, absent = ([], []) if options.no_peers else peers.available()
    for each in absent:
        print(f"{each.name}: {each.reason}")
    beside = options.beside or BESIDE
    found = {corpus.name: measured(corpus, beside, usable) for corpus in corpora(options.data, options.limit)}
    for name, rows in found.items():
        show(name, rows)
    asked = requirements(found)
    print("\nwhat is asked of a default: the worst of all texts")
    for row in asked:
        print(f"  {row['method']}")
        for title, cell in row.items():
            if title != "method":
                print(f"    {title:48} {cell}")
    if options.output:
        about, packages = ABOUT, ("faiss-cpu", "PyStemmer", *dict.fromkeys(peer.package for peer in usable))
        figures = {"what is asked of a default": asked, **found, "absent": [vars(each) for each in absent]}
        title = "The choice of the default method"
        record.save(options.output, title, figures, about=about, packages=packages, encoder=record.shipped())


if __name__ == "__main__":
    main()
