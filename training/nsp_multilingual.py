"""Train the next-sentence network on pairs of multilingual vectors.

No cross-encoder teaches it: it learns whether two sentences are neighbours or strangers, in documents of many languages
and in translated news. Half of the news are held out, the chapters of manuals on which sections are measured, and every
text of the languages of ``--unseen``.

    python -m training.nsp_multilingual --texts texts --manuals manuals.parquet --unseen tr ko --out model
"""

from __future__ import annotations

import argparse
import json
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import pychunk
from pychunk.encoders import registry, static_nsp
from pychunk.training.model_folder import write_facts
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import add_out, add_plan, command, names, new_parser, run, setting

from . import nsp_eval, nsp_pairs, nsp_static
from .cards import nsp_multilingual_card
from .multilingual.examples import held_out, parallel
from .multilingual.texts import clean

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]

#: The sentences of a language at most, and the fewest of a document.
MOST, LONG = 16_000, 8
#: The sources of documents that the chapters of manuals stand for, because they have a part that is held out.
CHAPTERS = {"libreoffice", "gnome", "handbook"}


@dataclass(frozen=True)
class Plan:
    """The settings of the training; ``--help`` shows each field's ``metadata["help"]``."""

    pairs: int = setting(16_000, "pairs to learn from in each language at most, half of them neighbours")
    same: float = setting(0.7, "share of the strangers that come from the same document")
    hidden: int = setting(32, "width of the network")
    epochs: int = setting(10, "passes over the pairs")
    batch: int = setting(1024, "pairs in a step")
    rate: float = setting(2e-3, "Adam's initial learning rate")
    seed: int = setting(0, "seed of the pairs and of the initial weights")


@dataclass(frozen=True)
class Documents:
    """The vectors of sentences, float32[n, dim], and the documents as runs of sentences."""

    vectors: F32
    documents: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.vectors)


def learned(texts: Path, manuals: Path, unseen: Sequence[str], seed: int) -> dict[str, list[list[str]]]:
    """Return the documents of each language to learn from, in random order."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    with (texts / "documents.jsonl").open(encoding="utf-8") as stream:
        for line in stream:
            document = json.loads(line)
            if len(document["sentences"]) >= LONG and document["source"] not in CHAPTERS:
                found[document["language"]].append(document["sentences"])
    chapters = [chapter for chapter in pq.read_table(manuals).to_pylist() if chapter["part"] == "train"]
    cut = pychunk.segment(["\n\n".join(chapter["lines"]) for chapter in chapters], "sentence").table
    for row, sentence in zip(cut["document_index"].to_pylist(), cut["text"].to_pylist(), strict=True):
        chapters[row].setdefault("sentences", []).append(clean(sentence))
    for chapter in chapters:
        found[chapter["language"]].append(chapter["sentences"])
    for article in parallel(texts):
        if not held_out(article):
            for language, sentences in article.items():
                found[language].append(sentences)
    random = np.random.default_rng(seed)
    shuffled = {language: [own[at] for at in random.permutation(len(own))] for language, own in sorted(found.items())}
    enough = {language: own for language, own in shuffled.items() if sum(map(len, own)) >= 100 * LONG}
    return {language: own for language, own in enough.items() if language not in unseen}


def vectors_of(encoder: Any, documents: Sequence[Sequence[str]], most: int = MOST) -> Documents:
    """Return the vectors of the first documents, up to a number of sentences."""
    ends = np.cumsum([len(document) for document in documents])
    kept = max(1, int(np.searchsorted(ends, most, side="right")))
    lines = [sentence for document in documents[:kept] for sentence in document]
    return Documents(encoder.encode_queries(lines), np.r_[0, ends[:kept]])


def train(options: argparse.Namespace) -> None:
    """Train the network, measure it in each language of the news, and write it."""
    torch = import_torch()
    torch.set_num_threads(options.threads)
    encoder: Any = registry.vector_encoder(options.encoder)
    documents = learned(options.texts, options.manuals, options.unseen, options.seed)
    known, rows, first, second, wanted = 0, [], [], [], []
    for at, (language, own) in enumerate(documents.items()):
        made = vectors_of(encoder, own)
        pairs = nsp_pairs.draw(made.documents, min(options.pairs, len(made)), options.same, (options.seed, at))
        logger.info("%s: %d sentences, %d pairs", language, len(made), len(pairs))
        rows.append(made.vectors)
        first.append(pairs.first + known)
        second.append(pairs.second + known)
        wanted.append(pairs.kind)
        known += len(made)
    vectors = np.concatenate(rows)
    pairs = nsp_pairs.Pairs(np.concatenate(first), np.concatenate(second), np.concatenate(wanted))
    follows = pairs.kind == nsp_pairs.NEXT
    model = nsp_static.network(vectors.shape[1], options.hidden, options.seed)
    nsp_static.fit(model, vectors, pairs, follows.astype(np.float32), options)
    threshold = nsp_static.predict(model, vectors, pairs.take(follows)).mean(dtype=np.float64)
    facts = {
        "encoder": encoder.fingerprint,
        "hidden": options.hidden,
        "threshold": round(float(threshold), 4),
        "licence": "Apache-2.0",
        "seed": options.seed,
        "languages": len(documents),
        "unseen": options.unseen,
        "pairs": len(pairs),
        "metrics": measured(model, encoder, options.texts),
        "command": command("python -m training.nsp_multilingual", options, names(Plan))
        + (f" --unseen {' '.join(options.unseen)}" if options.unseen else ""),
    }
    stored = {"name": "pychunk-nsp-static-multilingual", **nsp_static.write_model(options.out, model), **facts}
    write_facts(options.out / static_nsp.FACTS, stored, nsp_multilingual_card.card(stored))


def measured(model: Any, encoder: Any, texts: Path) -> dict[str, dict[str, float]]:
    """Return the measures of the network in each language, and areas of cosines, on news that were held out."""
    articles = [article for article in parallel(texts) if held_out(article)]
    found = {}
    for language in sorted(articles[0]):
        made = vectors_of(encoder, [article[language] for article in articles])
        pairs = nsp_pairs.draw(made.documents, 8 * len(made), 0.5, 1)
        cosines = (made.vectors[pairs.first] * made.vectors[pairs.second]).sum(axis=1)
        alone = nsp_eval.score((cosines + 1) / 2, pairs.kind).rounded()
        found[language] = nsp_eval.score(nsp_static.predict(model, made.vectors, pairs), pairs.kind).rounded()
        found[language] |= {"cosine_other": alone["auc_other"], "cosine_same": alone["auc_same"]}
    for name in ("auc_other", "auc_same"):
        logger.info("%s: %s", name, {language: each[name] for language, each in found.items()})
    return found


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("python -m training.nsp_multilingual", __doc__)
    made.add_argument("--texts", type=Path, required=True, help="folder that training.multilingual.texts wrote")
    made.add_argument("--manuals", type=Path, required=True, help="file that training.manuals wrote")
    made.add_argument("--encoder", default="multilingual", metavar="NAME", help="(default: %(default)s)")
    made.add_argument("--unseen", nargs="*", default=[], metavar="LANGUAGE", help="languages that are left out")
    made.add_argument("--threads", type=int, default=2, help="threads of torch (default: %(default)s)")
    add_out(made)
    add_plan(made, Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the network, and return the process's exit status."""
    return run(train, parser().parse_args(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
