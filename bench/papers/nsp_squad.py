"""The experiment of "Next Sentence Prediction with BERT as a Dynamic Chunking Mechanism" on SQuAD v2 dev.

Paragraphs are cut into sentences, by the cosine of neighbouring sentences, and by next-sentence probability. Thresholds
are means over a sample of 30 % of the answerable questions (seed 42), and measures use the other 70 %. MiniLM retrieves
chunks (k = 3) from the question's paragraph, its article, or the whole corpus, because the paper does not say which.
Every measure has its 95 % bootstrap interval, and every row its difference from another one on the same questions. The
paper's model is not shipped. If you have it, the last command adds its row:

    pychunk model get minilm
    python bench/papers/nsp_squad.py --data ../shared/data --bert-base 300 --html nsp.html
    pychunk export BERT -o bert && python bench/papers/nsp_squad.py --nsp bert
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console

import pychunk
from pychunk.encoders import registry
from pychunk.evaluation.measures import intervals, metrics
from pychunk.evaluation.reports import report

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: Recall, precision, semantic precision at 3 and minutes on an A100, as the paper's table 2 prints them. Its models are
#: a BERT-base, fine-tuned for the second row, so that no row here is the same experiment.
PAPER = {
    "sentence": (0.9371, 0.0547, 0.2994, 3),
    "cosine": (0.9829, 0.0340, 0.3198, 44),
    "nsp": (0.9834, 0.0344, 0.3211, 27),
}
MEASURES = ("recall@3", "precision@3", "semantic precision@3")
POOLS = ("paragraph", "article", "corpus")
K = 3
INT8 = pychunk.Placement(precision="int8")
#: The row that a row's difference is taken from; "cosine" for a row that is not named here.
AGAINST = {"nsp, static": "cosine, static", "nsp, int8": "nsp"}
#: Lengths of chunks in words, in bins of ten; the last holds all longer ones.
EDGES = np.arange(0, 260, 10)


@dataclass
class Squad:
    paragraphs: list[str]
    article: np.ndarray  # of each paragraph
    questions: list[str]
    answers: list[list[str]]
    paragraph: np.ndarray  # of each question

    def fold(self, test: bool) -> np.ndarray:
        """Return the question numbers of the sample (30 %) or of the test fold, seed 42."""
        order = np.random.default_rng(42).permutation(len(self.questions))
        border = int(0.3 * len(order))
        return np.sort(order[border:] if test else order[:border])


def read(file: Path) -> Squad:
    found = Squad([], np.empty(0), [], [], np.empty(0))
    article, paragraph = [], []
    for number, each in enumerate(json.loads(file.read_text(encoding="utf-8"))["data"]):
        for part in each["paragraphs"]:
            for question in part["qas"]:
                if not question.get("is_impossible"):
                    found.questions.append(question["question"])
                    # The standard file has {"text": ..., "answer_start": ...}; some copies keep only the text.
                    given = question["answers"]
                    found.answers.append([each if isinstance(each, str) else each["text"] for each in given])
                    paragraph.append(len(found.paragraphs))
            found.paragraphs.append(part["context"])
            article.append(number)
    found.article, found.paragraph = np.array(article), np.array(paragraph)
    return found


def top_chunks(questions: np.ndarray, chunks: np.ndarray, allowed: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the rows of the K most similar chunks of each question in its own pool; -1 if there are fewer."""
    top = np.full((len(questions), K), -1)
    for pool in np.unique(wanted):
        rows = np.flatnonzero(allowed == pool)
        asked = np.flatnonzero(wanted == pool)
        best = np.argsort(-(questions[asked] @ chunks[rows].T), axis=1, kind="stable")[:, :K]
        top[asked[:, None], np.arange(best.shape[1])] = rows[best]
    return top


@dataclass
class Row:
    """A way to cut: its chunks' lengths, and a value for each question, measure and pool."""

    encoder: str  # the encoder that it cuts by; "" for none
    threshold: float | None
    seconds: float
    words: np.ndarray
    values: dict[tuple[str, str], np.ndarray]  # indexed by pool and measure


def evaluate(squad: Squad, encoder: Any, cutters: dict[str, pychunk.Segmenter], limit: int | None) -> dict[str, Row]:
    sample, test = squad.fold(test=False), squad.fold(test=True)[:limit]
    learn = [squad.paragraphs[i] for i in np.unique(squad.paragraph[sample])]
    questions = encoder.encode([squad.questions[i] for i in test])
    answers = encoder.encode([squad.answers[i][0] for i in test])
    gold = [[metrics.normalize_answer(answer) for answer in squad.answers[i]] for i in test]
    own = squad.paragraph[test]
    asked = {"paragraph": own, "article": squad.article[own], "corpus": np.zeros_like(own)}
    rows = {}
    for name, segmenter in cutters.items():
        if segmenter.method.fitted_threshold:
            segmenter = segmenter.fit(learn)
        begun = time.perf_counter()
        chunks = segmenter(squad.paragraphs)
        seconds = time.perf_counter() - begun
        paragraph = chunks.table["document_index"].to_numpy()
        texts = chunks.table["text"].to_pylist()
        assert "".join("".join(texts).split()) == "".join("".join(squad.paragraphs).split()), f"{name} lost text"
        vectors = encoder.encode(pa.array(texts, pa.large_string()))
        plain = [metrics.normalize_answer(text) for text in texts]
        pools = {"paragraph": paragraph, "article": squad.article[paragraph], "corpus": np.zeros_like(paragraph)}
        threshold = segmenter.plan.threshold_value if segmenter.method.fitted_threshold else None
        words = np.array([len(text.split()) for text in texts])
        cut_by = chunks.metadata["encoder"] if segmenter.method.needs else ""
        rows[name] = Row(cut_by, threshold, seconds, words, {})
        for pool in POOLS:
            top = top_chunks(questions, vectors, pools[pool], asked[pool])
            found = [[plain[c] if c >= 0 else "" for c in row] for row in top]
            shares = np.array([metrics.answer_shares(row, wanted) for row, wanted in zip(found, gold, strict=True)])
            cells = (
                metrics.recall_at_k(shares),
                metrics.precision_at_k(shares),
                metrics.cosine_at_k(answers, vectors, top),
            )
            rows[name].values |= {(pool, measure): cell for measure, cell in zip(MEASURES, cells, strict=True)}
    return rows


def means(rows: dict[str, Row], pool: str) -> list[dict[str, Any]]:
    """Return the rows of the table of one pool."""
    return [
        {
            "pool": pool,
            "method": name,
            **{measure: intervals.interval(row.values[pool, measure])._asdict() for measure in MEASURES},
            "words": float(row.words.mean()),
            "std": float(row.words.std()),
            "chunks": len(row.words),
            "chunking seconds": row.seconds,
            "encoder": row.encoder,
            "threshold": row.threshold,
        }
        for name, row in rows.items()
    ]


def differences(rows: dict[str, Row], pool: str) -> list[dict[str, Any]]:
    """Return each row minus another one, on the same questions of one pool."""
    return [
        {
            "pool": pool,
            "method": name,
            "minus": against,
            **{
                measure: intervals.paired(row.values[pool, measure], rows[against].values[pool, measure])._asdict()
                for measure in MEASURES
            },
        }
        for name, row in rows.items()
        if (against := AGAINST.get(name, "cosine")) != name
    ]


def counted(row: Row) -> list[int]:
    """Return the number of chunks in each bin of EDGES."""
    return np.histogram(np.minimum(row.words, EDGES[-1] - 1), bins=EDGES)[0].tolist()


def lengths(rows: dict[str, Row]) -> list[dict[str, Any]]:
    """Return the paper's figure 1 as rows: the number of chunks of each length, for each way to cut."""
    bins = [f"{low} to {low + 9}" for low in EDGES[:-2]] + [f"{EDGES[-2]} or more"]
    counts = {name: counted(row) for name, row in rows.items()}
    return [{"words": label, **{name: counts[name][i] for name in rows}} for i, label in enumerate(bins)]


def shown(rows: dict[str, Row], squad: Squad, table: list[dict[str, Any]], minus: list[dict[str, Any]]) -> dict:
    """Return the input of :mod:`pychunk.evaluation.reports.report`: measures of all pools, differences, lengths."""
    return {
        "dataset": {
            "name": "next-sentence prediction on SQuAD",
            "kind": "answers",
            "documents": len(squad.paragraphs),
            "questions": len(next(iter(rows.values())).values[POOLS[0], MEASURES[0]]),
            "words": sum(len(text.split()) for text in squad.paragraphs),
        },
        "command": record.started_by(),
        "machine": record.machine(),
        "versions": record.versions(["onnxruntime"]),
        "rows": [
            {
                "name": name,
                "encoder": row.encoder,
                "measures": {
                    f"{measure}, {each['pool']}": each[measure]
                    for each in table
                    if each["method"] == name
                    for measure in MEASURES
                },
                "lengths": {
                    "edges": EDGES.tolist(),
                    "counts": counted(row),
                    "mean": float(row.words.mean()),
                    "std": float(row.words.std()),
                    "chunks": len(row.words),
                },
                "cost": {"words a chunk": float(row.words.mean()), "chunk seconds": row.seconds},
            }
            for name, row in rows.items()
        ],
        "differences": [
            {"measure": f"{measure}, {each['pool']}", "row": each["method"], "against": each["minus"], **each[measure]}
            for each in minus
            for measure in MEASURES
        ],
    }


def time_bert_base(squad: Squad, sentences: int) -> None:
    """Time both methods with a BERT-base of random weights, which takes as long as a trained one."""
    from training.random_bert import random_bert

    texts: list[str] = []
    spans = pychunk.split_sentences(squad.paragraphs)
    while sum(map(len, spans[: len(texts)])) < sentences:
        texts.append(squad.paragraphs[len(texts)])
    with tempfile.TemporaryDirectory() as folder:
        taken = {}
        for method, task in (("semantic", "vectors"), ("nsp", "pairs")):
            path = random_bert(Path(folder) / task, task)
            segmenter = pychunk.Segmenter(method, encoder=path, threshold=0.5)
            segmenter(texts[:2])
            begun = time.perf_counter()
            segmenter(texts)
            taken[method] = time.perf_counter() - begun
    count = sum(map(len, spans[: len(texts)]))
    print(
        f"\nBERT-base (random weights), {count} sentences: ",
        end="",
    )
    print(f"cosine {taken['semantic']:.1f} s, nsp {taken['nsp']:.1f} s, {taken['nsp'] / taken['semantic']:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds squad/dev-v2.0.json")
    parser.add_argument(
        "--encoder", default="minilm", help="retriever, and encoder of the cosine row (default: minilm)"
    )
    parser.add_argument("--limit", type=int, help="only the first N questions of the test fold")
    parser.add_argument("--bert-base", type=int, default=0, metavar="N", help="time a BERT-base on N sentences, too")
    parser.add_argument(
        "--nsp", type=Path, metavar="DIR", help="a row more: a next-sentence model that pychunk export wrote"
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write them as one page with histograms")
    options = parser.parse_args()
    squad = read(options.data / "squad" / "dev-v2.0.json")
    print(f"{len(squad.questions):,} answerable questions on {len(squad.paragraphs):,} paragraphs; ", end="")
    print(f"test fold {len(squad.fold(test=True)):,}, k = {K}, backend {pychunk.backend()['threads']} threads")
    cutters = {
        "cosine": pychunk.Segmenter(
            "semantic", encoder=options.encoder, max_tokens=None, keep_together=False, min_tokens=0
        ),
        "sentence": pychunk.Segmenter("sentence", keep_together=False),
        "nsp": pychunk.Segmenter("nsp", max_tokens=None, keep_together=False, min_tokens=0),
        "cosine, int8": pychunk.Segmenter(
            "semantic", encoder=options.encoder, max_tokens=None, keep_together=False, min_tokens=0, placement=INT8
        ),
        "nsp, int8": pychunk.Segmenter("nsp", max_tokens=None, keep_together=False, min_tokens=0, placement=INT8),
        "cosine, static": pychunk.Segmenter("semantic", max_tokens=None, keep_together=False, min_tokens=0),
        "nsp, static": pychunk.Segmenter("nsp", encoder="static", max_tokens=None, keep_together=False, min_tokens=0),
    }
    if options.nsp:
        cutters[f"nsp, {options.nsp.resolve().name}"] = pychunk.Segmenter(
            "nsp", encoder=options.nsp, max_tokens=None, keep_together=False, min_tokens=0
        )
    encoder = registry.vector_encoder(options.encoder)
    rows = evaluate(squad, encoder, cutters, options.limit)
    table = [row for pool in POOLS for row in means(rows, pool)]
    minus = [row for pool in POOLS for row in differences(rows, pool)]
    results = shown(rows, squad, table, minus)
    report.print_table(results, Console())
    for name, row in rows.items():
        fitted = "" if row.threshold is None else f", threshold {row.threshold:.4f}"
        print(f"{name}: {row.words.mean():.1f} ± {row.words.std():.1f} words a chunk{fitted}")
    ratio, ratio8 = (rows[f"nsp{each}"].seconds / rows[f"cosine{each}"].seconds for each in ("", ", int8"))
    print(f"chunking time, nsp / cosine = {ratio:.2f}, with int8 {ratio8:.2f}")
    print("the paper's table 2, of other models (nsp / cosine = 0.61):")
    for name, cells in PAPER.items():
        print(f"  {name:10}" + " ".join(f"{value:.4f}" for value in cells[:3]) + f", {cells[3]} min on an A100")
    if options.html:
        options.html.write_text(report.html(results), encoding="utf-8")
    if options.save:
        beside = (*MEASURES, "minutes, A100")
        paper = [{"method": name, **dict(zip(beside, cells))} for name, cells in PAPER.items()]
        about = (
            'SQuAD v2 dev, cut within paragraphs. Each chunk is found by one vector. "Pool" names the chunks that are '
            "searched for a question: those of its paragraph, of its article, or of the whole corpus. Measures are "
            "over 70 % of the questions; the other 30 % served to fit the thresholds. Semantic precision is the cosine "
            "between the vector of the answer and the vector of the chunk's whole text."
        )
        figures = {
            "questions": results["dataset"]["questions"],
            "rows": table,
            "differences": minus,
            "chunk lengths": lengths(rows),
            "the paper's": paper,
        }
        title = "Next-sentence prediction on SQuAD"
        record.save(options.save, title, figures, about=about, packages=["onnxruntime"], encoder=encoder.fingerprint)
    if options.bert_base:
        time_bert_base(squad, options.bert_base)


if __name__ == "__main__":
    main()
