"""The experiment of "Next Sentence Prediction with BERT as a Dynamic Chunking Mechanism" on SQuAD v2 dev.

Paragraphs are cut into sentences, by the cosine of neighbouring sentences, and by next-sentence probability;
thresholds are means over a sample of 30 % of the answerable questions (seed 42), measures are over the other 70 %.
Chunks are retrieved by MiniLM (k = 3) from the question's paragraph, its article, or the whole corpus: the paper does
not say which.

    pychunk model get minilm
    python bench/nsp_squad.py --data ../shared/data --bert-base 300
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import record

import pychunk
from pychunk.encoders import registry
from pychunk.evaluation import metrics

#: Recall, precision, semantic precision at 3 and minutes on an A100, as the paper's table 2 prints them.
PAPER = {
    "sentence": (0.9371, 0.0547, 0.2994, 3),
    "cosine": (0.9829, 0.0340, 0.3198, 44),
    "nsp": (0.9834, 0.0344, 0.3211, 27),
}
COLUMNS = ("recall@3", "precision@3", "semantic precision@3", "words", "std")
POOLS = ("paragraph", "article", "corpus")
K = 3


@dataclass
class Squad:
    paragraphs: list[str]
    article: np.ndarray  # of each paragraph
    questions: list[str]
    answers: list[list[str]]
    paragraph: np.ndarray  # of each question

    def fold(self, test: bool) -> np.ndarray:
        """Question numbers of the sample (30 %) or of the test fold, seed 42."""
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
                    # The standard file has {"text": ..., "answer_start": ...}; some copies keep the text alone.
                    given = question["answers"]
                    found.answers.append([each if isinstance(each, str) else each["text"] for each in given])
                    paragraph.append(len(found.paragraphs))
            found.paragraphs.append(part["context"])
            article.append(number)
    found.article, found.paragraph = np.array(article), np.array(paragraph)
    return found


def top_chunks(questions: np.ndarray, chunks: np.ndarray, allowed: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Rows of the K most similar chunks of each question among those of its own pool; -1 where there are fewer."""
    top = np.full((len(questions), K), -1)
    for pool in np.unique(wanted):
        rows = np.flatnonzero(allowed == pool)
        asked = np.flatnonzero(wanted == pool)
        best = np.argsort(-(questions[asked] @ chunks[rows].T), axis=1, kind="stable")[:, :K]
        top[asked[:, None], np.arange(best.shape[1])] = rows[best]
    return top


def show(name: str, values: list[float], paper: tuple[float, ...] | None) -> None:
    cells = " ".join(f"{value:9.4f}" for value in values[:3]) + f" {values[3]:8.1f} {values[4]:7.1f}"
    beside = (
        "" if paper is None else "   paper: " + " ".join(f"{value:.4f}" for value in paper[:3]) + f", {paper[3]} min"
    )
    print(f"  {name:22}{cells}{beside}")


def evaluate(squad: Squad, encoder: object, rows: dict[str, pychunk.Segmenter], limit: int | None) -> list[dict]:
    sample, test = squad.fold(test=False), squad.fold(test=True)[:limit]
    learn = [squad.paragraphs[i] for i in np.unique(squad.paragraph[sample])]
    questions = encoder.encode([squad.questions[i] for i in test])
    answers = encoder.encode([squad.answers[i][0] for i in test])
    gold = [[metrics.normalize_answer(answer) for answer in squad.answers[i]] for i in test]
    results, seconds = {}, {}
    for name, segmenter in rows.items():
        if segmenter.method.fitted_threshold:
            segmenter = segmenter.fit(learn)
        begun = time.perf_counter()
        chunks = segmenter(squad.paragraphs)
        seconds[name] = time.perf_counter() - begun
        paragraph = chunks.table["document"].to_numpy()
        texts = chunks.table["text"].to_pylist()
        assert "".join("".join(texts).split()) == "".join("".join(squad.paragraphs).split()), f"{name} lost text"
        vectors = encoder.encode(pa.array(texts, pa.large_string()))
        plain = [metrics.normalize_answer(text) for text in texts]
        words = np.array([len(text.split()) for text in texts])
        pools = {"paragraph": paragraph, "article": squad.article[paragraph], "corpus": np.zeros_like(paragraph)}
        own = squad.paragraph[test]
        asked = {"paragraph": own, "article": squad.article[own], "corpus": np.zeros_like(own)}
        for pool in POOLS:
            top = top_chunks(questions, vectors, pools[pool], asked[pool])
            shares = np.array(
                [
                    metrics.answer_shares([plain[c] if c >= 0 else "" for c in row], wanted)
                    for row, wanted in zip(top, gold, strict=True)
                ]
            )
            figures = (
                metrics.recall_at_k(shares),
                metrics.precision_at_k(shares),
                metrics.cosine_at_k(answers, vectors, top),
            )
            results[pool, name] = [*(float(figure.mean()) for figure in figures), words.mean(), words.std()]
    for pool in POOLS:
        print(f"\npool: {pool:17}recall@3 precision  semantic   words     std")
        for name in rows:
            show(name, results[pool, name], PAPER.get(name))
    print("\nchunking time, seconds (encoding included)")
    for name, taken in seconds.items():
        print(f"  {name:22}{taken:9.2f}")
    print(f"  nsp / cosine = {seconds['nsp'] / seconds['cosine']:.2f} (paper: 0.61)")
    for name, segmenter in rows.items():
        if segmenter.method.fitted_threshold:
            print(f"  threshold of {name}: {segmenter.plan.threshold_value:.4f}")
    return [
        {"pool": pool, "method": name, **dict(zip(COLUMNS, results[pool, name])), "chunking seconds": seconds[name]}
        for pool in POOLS
        for name in rows
    ]


def time_bert_base(squad: Squad, sentences: int) -> None:
    """Both methods with a BERT-base of random weights, which takes as long as a trained one."""
    from pychunk.training.random_bert import random_bert

    texts: list[str] = []
    spans = pychunk.sentences(squad.paragraphs)
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
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds squad/dev-v2.0.json")
    parser.add_argument(
        "--encoder", default="minilm", help="retriever, and encoder of the cosine row (default: minilm)"
    )
    parser.add_argument("--limit", type=int, help="only the first N questions of the test fold")
    parser.add_argument("--bert-base", type=int, default=0, metavar="N", help="time a BERT-base on N sentences, too")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    squad = read(options.data / "squad" / "dev-v2.0.json")
    print(f"{len(squad.questions):,} answerable questions on {len(squad.paragraphs):,} paragraphs; ", end="")
    print(f"test fold {len(squad.fold(test=True)):,}, k = {K}, backend {pychunk.backend()['threads']} threads")
    rows = {
        "sentence": pychunk.Segmenter("sentence"),
        "cosine": pychunk.Segmenter("semantic", encoder=options.encoder, max_tokens=None),
        "nsp": pychunk.Segmenter("nsp", max_tokens=None),
        "cosine, static": pychunk.Segmenter("semantic", max_tokens=None),
        "nsp, static": pychunk.Segmenter("nsp", encoder="static", max_tokens=None),
    }
    found = evaluate(squad, registry.vector_encoder(options.encoder), rows, options.limit)
    if options.save:
        beside = (*COLUMNS[:3], "minutes, A100")
        paper = [{"method": name, **dict(zip(beside, cells))} for name, cells in PAPER.items()]
        about = "Chunks of SQuAD v2 dev's paragraphs, found by one MiniLM vector each, for 70 % of the questions."
        packages = ("onnxruntime",)
        figures = {"rows": found, "the paper's": paper}
        record.save(options.save, "Next-sentence prediction on SQuAD", figures, about=about, packages=packages)
    if options.bert_base:
        time_bert_base(squad, options.bert_base)


if __name__ == "__main__":
    main()
