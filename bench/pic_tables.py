"""The tables of "Pseudo-Instruction Chunking" (PIC) on the questions there are: methods, summaries, thresholds, RIC.

SQuAD v2 dev, all articles as one corpus, every chunk found in two ways: by its text encoded as a whole (what the paper
does) and by its best sentence with BM25 (what pychunk recommends). Hits@k as in the paper: an answer occurs in one of
the top k chunks. The paper's corpus is all of Wikipedia, its encoder bge-large: compare orders, not heights.

    pychunk model get minilm
    python bench/pic_tables.py --data ../shared/data --encoder minilm -o bench/results/pic_squad.json
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np
import record

import pychunk
from pychunk.evaluation import contenders, datasets, intervals, metrics, runner
from pychunk.evaluation.contenders import Encoder

WHOLE = {"max_tokens": None}
METHODS = {
    "sentence": ("sentence", {}, (40.4, 53.3)),
    "paragraph": ("paragraph", WHOLE, (48.0, 60.8)),
    "fixed, 100 words": ("fixed", {"size": 100, "unit": "words"}, (54.5, 66.8)),
    "semantic, percentile 20": ("semantic", WHOLE, (56.0, 67.4)),
    "PIC, extractive": ("pic", WHOLE, (58.4, 69.5)),
    "recursive, 110 words": ("recursive", {"size": 110, "unit": "words"}, None),
}
SUMMARIES = {
    "extractive": 58.4,  # the paper's summaries are an LLM's
    "mean": 55.8,
    "lead": None,
    "title": None,
    "random": 54.6,
    "sentence": 54.9,
}
THRESHOLDS = (-2.0, -1.0, 0.0, 1.0, 2.0)
MODES = ("recipe", "hybrid")
SHOWN = ("hits@5", "hits@20", "strict hits in 500 words")
ABOUT = (
    "SQuAD v2 dev, all articles as one corpus. recipe: one vector a chunk; hybrid: best sentence and BM25. "
    "Hits@k: an answer occurs in one of the top k chunks."
)


def titles(file: Path) -> list[str]:
    return [each["title"].replace("_", " ") for each in json.loads(file.read_text(encoding="utf-8"))["data"]]


def row(name: str, chunked: contenders.Chunked, data: datasets.Dataset, encoder: Encoder, vectors: np.ndarray) -> dict:
    words = chunked.words
    out = {
        "name": name,
        "chunks": len(words),
        "mean words": float(words.mean()),
        "std": float(words.std()),
        "modes": {},
    }
    relevant = np.array([kind == "relevant" for kind in chunked.table["kind"].to_pylist()])
    for mode in MODES:
        found = runner.retrieve(chunked, data, encoder, mode, vectors, {"stemmer": "english"})
        values, _ = runner.measure(found, data, encoder)
        cells = {measure: intervals.interval(values[measure])._asdict() for measure in SHOWN}
        cells["words in top 5"] = float(found.words[:, :5].sum(axis=1).mean())
        if relevant.any():
            top = found.rows[:, :5]
            cells["relevant among top 5"] = float(relevant[top][top >= 0].mean())
        out["modes"][mode] = cells
    return out


def show(title: str, rows: list[dict], paper: dict[str, object]) -> None:
    print(f"\n{title}")
    print(
        f"  {'':26}{'words':>12}  " + "".join(f"{mode + ' hits@5':>26}{'@20':>7}{'500 w':>7}" for mode in MODES), end=""
    )
    print("  relevant   paper")
    for each in rows:
        line = f"  {each['name']:26}{each['mean words']:6.1f}±{each['std']:<5.1f}  "
        for mode in MODES:
            cells = each["modes"][mode]
            five = cells["hits@5"]
            line += f"{five['mean']:12.3f} ({five['low']:.3f}-{five['high']:.3f})"
            line += f"{cells['hits@20']['mean']:7.3f}{cells['strict hits in 500 words']['mean']:7.3f}"
        share = each["modes"]["recipe"].get("relevant among top 5")
        given = paper.get(each["name"])
        print(line + (f"{share:10.2f}" if share is not None else " " * 10) + (f"   {given}" if given else ""))


def real_instruction(data: datasets.Dataset, encoder: Encoder, vectors: np.ndarray, count: int) -> dict:
    """RIC: each question cuts its own article; hits@1 and @5 among that article's chunks, against PIC's own summary."""
    order = np.sort(np.random.default_rng(0).permutation(len(data.questions))[:count])
    spans = pychunk.sentences(data.documents)
    flat = [text[a:b] for text, own in zip(data.documents, spans) for a, b in own]
    offsets = np.cumsum([0, *map(len, spans)])
    every = encoder.encode(flat)
    values: dict[str, list[list[float]]] = {"RIC": [], "PIC": []}
    cutters = {"RIC": pychunk.Segmenter("pic", summary="given", **WHOLE), "PIC": pychunk.Segmenter("pic", **WHOLE)}
    for number in order:
        question = data.questions[number]
        own = every[offsets[question.document] : offsets[question.document + 1]]
        wanted = [metrics.normalize_answer(answer) for answer in question.answers]
        for name, cutter in cutters.items():
            chunks = cutter(
                [data.documents[question.document]],
                sentence_vectors=[own],
                summaries=vectors[number : number + 1] if name == "RIC" else None,
            )
            starts = np.searchsorted([a for a, _ in spans[question.document]], np.asarray(chunks.table["start"]))
            best = np.argsort(-np.maximum.reduceat(own @ vectors[number], starts), kind="stable")[:5]
            texts = chunks.table["text"].take(best).to_pylist()
            held = metrics.answer_shares([metrics.normalize_answer(text) for text in texts], wanted) > 0
            values[name].append([float(held[:1].any()), float(held.any())])
    arrays = {name: np.array(each) for name, each in values.items()}
    return {
        "questions": count,
        **{
            f"{name} hits@{k}": intervals.interval(each[:, i])._asdict()
            for name, each in arrays.items()
            for i, k in enumerate((1, 5))
        },
        **{
            f"difference@{k}": intervals.paired(arrays["RIC"][:, i], arrays["PIC"][:, i])._asdict()
            for i, k in enumerate((1, 5))
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds squad/dev-v2.0.json")
    parser.add_argument("--encoder", default="minilm", help="of chunks and questions (default: minilm)")
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--ric", type=int, default=500, metavar="N", help="questions of the RIC table (default: 500)")
    parser.add_argument("-o", "--output", "--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    file = options.data / "squad" / "dev-v2.0.json"
    data = datasets.squad(file, options.limit)
    encoder = Encoder(options.encoder)
    vectors = encoder.encode([question.text for question in data.questions])
    print(f"{len(data.questions):,} questions, {len(data.documents)} articles, encoder {options.encoder}")

    # Sentences are encoded once, for cutting and for the index, as in the paper by one encoder.
    spans = pychunk.sentences(data.documents)
    every = encoder.encode([text[a:b] for text, own in zip(data.documents, spans) for a, b in own])
    own = np.split(every, np.cumsum([len(each) for each in spans])[:-1])
    facts = {b"pychunk": json.dumps({"vector_encoder": encoder.model.fingerprint}).encode()}

    def cut(method: str, more: dict, **arguments: object) -> contenders.Chunked:
        made = pychunk.Segmenter(method, vectors="sentence", **more)
        table = made(data.documents, ids=data.ids, sentence_vectors=own, **arguments).table
        return contenders.Chunked(method, table.replace_schema_metadata(facts), 0.0)

    tables = {"methods": [], "summaries": [], "thresholds": []}
    for name, (method, more, _) in METHODS.items():
        tables["methods"].append(row(name, cut(method, more), data, encoder, vectors))
    for name in SUMMARIES:
        arguments = {"titles": encoder.encode(titles(file))} if name == "title" else {}
        chunked = cut("pic", {**WHOLE, "summary": name}, **arguments)
        tables["summaries"].append(row(name, chunked, data, encoder, vectors))
    for k in THRESHOLDS:
        tables["thresholds"].append(row(f"k = {k:+.0f}", cut("pic", {**WHOLE, "k": k}), data, encoder, vectors))
    show("methods", tables["methods"], {name: paper for name, (_, _, paper) in METHODS.items()})
    show("where PIC's summary comes from", tables["summaries"], SUMMARIES)
    show("PIC's threshold: mean + k deviations", tables["thresholds"], {})
    ric = real_instruction(data, encoder, vectors, min(options.ric, len(data.questions)))
    print(f"\neach question cuts its own article (RIC), {ric['questions']} questions, best sentence, article pool")
    for name, value in ric.items():
        if name != "questions":
            print(f"  {name:16}{value['mean']:+.3f} ({value['low']:+.3f} to {value['high']:+.3f})")
    if options.output:
        figures = {"encoder": options.encoder, "questions": len(data.questions), **tables, "RIC": ric}
        packages = ("onnxruntime", "faiss-cpu")
        record.save(options.output, "The tables of the PIC paper on SQuAD", figures, about=ABOUT, packages=packages)


if __name__ == "__main__":
    main()
