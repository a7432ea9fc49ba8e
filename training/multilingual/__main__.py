"""Train the multilingual table: an int8 row for each of XLM-R's pieces that cover the training text.

The teacher is multilingual-e5-small. The cosine of its vectors of unrelated sentences is about 0.74, and vectors of one
language have a common part. The mean vector of a sentence's language is therefore subtracted, which brings translations
closer and leaves what a sentence is about. A sentence and its English translation learn the same vector, the mean of
both. The fit is that of ``pychunk train static``. Frequent words come from the package wordfreq.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk._util.checksums import sha256
from pychunk.training import static_fit
from pychunk.training.static_eval import score, sentence_vectors, unit
from pychunk.training.teacher import Teacher, import_torch
from pychunk.training.token_bags import Bags
from pychunk.training.train_options import add_out, add_plan, command, names, new_parser, plan_from

from .texts import GENERAL, SOURCES

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]

NAME = "pychunk-multilingual-256"
#: The weight of its cosines in a hybrid search. As questions, headings of manuals in 27 languages find their sections
#: best with BM25's weight at 4, not 1.5 (`python bench/encoders/fusion_weight.py`).
COSINE_WEIGHT = 0.375
#: The languages with a full share of text; all others that the sources have get a tenth.
LANGUAGES = (
    "en", "uk", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "ru", "el", "tr",
    "ar", "fa", "hi", "bn", "zh", "ja", "ko", "th", "vi", "id", "ro", "hu", "fi", "sv",
)  # fmt: skip
#: The teacher was trained with this in front of texts that are compared with each other.
PROMPT = "query: "
#: One sentence in so many documents of a language is held out for measuring.
HELD_OUT = 25
#: A language with fewer held-out sentences is not measured.
LEAST_HELD_OUT = 100
#: `<s>`, `<pad>`, `</s>` and `<unk>`, which have no meaning of their own.
SPECIAL = 4


@dataclass
class Texts:
    """Distinct texts with their languages, and the documents, as row numbers, to learn from and to measure with."""

    texts: list[str]
    languages: list[str]
    learn: list[npt.NDArray[np.int64]]
    measure: dict[str, list[npt.NDArray[np.int64]]]
    pairs: npt.NDArray[np.int64]


def gather(folder: Path, share: int, words: int, seed: int) -> Texts:
    """Read at most ``share`` sentences, ``share / 2`` pairs and the most frequent words of each language."""
    import wordfreq

    random = np.random.default_rng(seed)
    rows: dict[tuple[str, str], int] = {}

    def row(language: str, text: str) -> int:
        return rows.setdefault((language, text), len(rows))

    by_language: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    with (folder / "documents.jsonl").open(encoding="utf-8") as stream:
        for line in stream:
            document = json.loads(line)
            by_language[document["language"]].append((document["source"], document["sentences"]))
    learn: list[npt.NDArray[np.int64]] = []
    measure: dict[str, list[npt.NDArray[np.int64]]] = {}
    for language, documents in sorted(by_language.items()):
        # One after the other of each source, so that no source fills the share of a language.
        sources: dict[str, list[list[str]]] = defaultdict(list)
        for at in random.permutation(len(documents)):
            sources[documents[at][0]].append(documents[at][1])
        left = share if language in LANGUAGES else share // 10
        kept = measured = 0
        taken: dict[str, int] = dict.fromkeys(sources, 0)
        # General text counts four times as much as manuals of software.
        weight = {name: 4 if name in GENERAL else 1 for name in sources}
        while left > 0 and any(sources.values()):
            source = min((name for name in sources if sources[name]), key=lambda name: taken[name] / weight[name])
            sentences = sources[source].pop()[: max(1, left)]
            found = np.array([row(language, text) for text in sentences])
            taken[source] += len(found)
            left -= len(found)
            kept += 1
            if len(found) >= 8 and kept % HELD_OUT == 0:
                measure.setdefault(language, []).append(found)
                measured += len(found)
            else:
                learn.append(found)
        logger.info("%s: %s, %d sentences held out", language, dict(taken), measured)
        if language in wordfreq.available_languages():
            frequent = wordfreq.top_n_list(language, words if language in LANGUAGES else words // 5)
            groups = random.permutation(np.array([row(language, word) for word in frequent]))
            learn += np.array_split(groups, max(1, len(groups) // 16))
    held = {int(each) for documents in measure.values() for document in documents for each in document}
    learn = [document[[int(each) not in held for each in document]] for document in learn]
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with (folder / "pairs.jsonl").open(encoding="utf-8") as stream:
        for line in stream:
            pair = json.loads(line)
            pairs[pair["language"]].append((pair["text"], pair["english"]))
    linked: list[tuple[int, int]] = []
    for language, found_pairs in sorted(pairs.items()):
        most = share // 2 if language in LANGUAGES else share // 20
        chosen = random.permutation(len(found_pairs))[:most]
        own = [(row(language, found_pairs[at][0]), row("en", found_pairs[at][1])) for at in chosen]
        own = [pair for pair in own if pair[0] not in held and pair[1] not in held]
        linked += own
        flat = np.array(own).reshape(-1)
        learn += np.array_split(flat, max(1, len(flat) // 16))
    learn = [document for document in learn if len(document)]
    texts = list(rows)
    return Texts([text for _, text in texts], [language for language, _ in texts], learn, measure, np.array(linked))


def prune(full: Any, texts: Texts, size: int) -> tuple[str, npt.NDArray[np.int64]]:
    """Return the tokenizer with the ``size`` pieces that most text needs, as JSON, and their old ids.

    Each language counts by the shares of its pieces. All single characters stay, so that nothing is unknown that the
    full tokenizer knows.
    """
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for start in range(0, len(texts.texts), 20_000):
        part = texts.texts[start : start + 20_000]
        for language, encoded in zip(
            texts.languages[start:], full.encode_batch(part, add_special_tokens=False), strict=False
        ):
            counts[language].update(encoded.ids)
    facts = json.loads(full.to_str())
    vocabulary = facts["model"]["vocab"]
    weight = np.zeros(len(vocabulary))
    for own in counts.values():
        total = sum(own.values()) + 50_000  # Little text says little of what is frequent.
        for piece, count in own.items():
            if piece < len(weight):
                weight[piece] = max(weight[piece], count / total)
    single = np.array([len(piece) == 1 for piece, _ in vocabulary])
    single[:SPECIAL] = True
    weight[single] = np.inf
    kept = np.sort(np.argsort(-weight, kind="stable")[:size])
    facts["model"]["vocab"] = [vocabulary[piece] for piece in kept]
    facts["added_tokens"] = [token for token in facts["added_tokens"] if token["id"] < SPECIAL]
    facts["post_processor"] = facts["truncation"] = facts["padding"] = None
    logger.info("%d pieces, %d of them single characters", len(kept), int(single.sum()))
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":")), kept.astype(np.int64)


def bags_of(tokenizer: Any, texts: Sequence[str]) -> Bags:
    """Return the ids of texts without special pieces."""
    ids: list[npt.NDArray[np.int32]] = []
    lengths = [0]
    for start in range(0, len(texts), 20_000):
        for encoded in tokenizer.encode_batch(list(texts[start : start + 20_000]), add_special_tokens=False):
            found = np.array(encoded.ids, np.int32)
            ids.append(found[found >= SPECIAL])
            lengths.append(len(ids[-1]))
    return Bags(np.concatenate(ids), np.cumsum(lengths).astype(np.int64))


def lessons(vectors: Any, texts: Texts) -> F32:
    """Return the vectors to learn: without their languages' means, and equal for translations."""
    found: F32 = np.array(vectors, np.float32)
    languages = np.array(texts.languages)
    for language in np.unique(languages):
        own = languages == language
        found[own] -= found[own].mean(axis=0)
    scale(found)
    first, second = texts.pairs.T
    sums = found.copy()
    np.add.at(sums, first, found[second])
    # An English text has many translations, whose mean counts as much as its own vector.
    rows, at, linked = np.unique(second, return_inverse=True, return_counts=True)
    others = np.zeros((len(rows), found.shape[1]), np.float32)
    np.add.at(others, at, found[first])
    sums[rows] += others / linked[:, None].astype(np.float32)
    return scale(sums)


def scale(rows: F32) -> F32:
    """Scale rows to unit length, in place: 1.7 million copies of 384 float64 do not fit into 24 GB."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    np.divide(rows, norms, out=rows, where=norms > 0)
    return rows


def fit(
    bags: Bags, targets: F32, token_vectors: F32, texts: Texts, options: argparse.Namespace
) -> tuple[npt.NDArray[np.int8], F32]:
    """Return the table, and the vectors to learn in its width."""
    lengths = np.diff(bags.offsets)
    documents = [rows[lengths[rows] > 0] for rows in texts.learn]
    documents = [rows for rows in documents if len(rows)]
    plan = plan_from(static_fit.Plan, options)
    projection = static_fit.fit_projection(targets, options.dim)
    counts = bags.take(np.concatenate(documents)).counts(len(token_vectors))
    reduced = scale(targets @ projection)
    if options.fitted:
        fitted: F32 = np.load(options.fitted / "static.npy").astype(np.float32)
    else:
        start = static_fit.initial_table(token_vectors, projection, counts, options.smooth)
        lesson = static_fit.Lesson(bags, targets, reduced, documents)
        warm = static_fit.fit(start, lesson, plan, plan.warm)
        prior = static_fit.predicted_rows(token_vectors, warm, counts, options.smooth)
        fitted = static_fit.fit(prior, lesson, plan, plan.epochs)
    weighted = weigh(fitted, frequencies(bags, texts, len(fitted)), options.rarity)
    return static_fit.quantize(weighted, static_fit.quantization_step(weighted, counts)), reduced


def frequencies(bags: Bags, texts: Texts, size: int) -> npt.NDArray[np.float64]:
    """Return the share of each piece among the pieces of a language, in the language that uses it most, float64[size].

    Little text says little of what is frequent: each language counts as if it had 50,000 pieces more.
    """
    languages, found = np.array(texts.languages), np.zeros(size)
    for language in np.unique(languages):
        counts = bags.take(np.flatnonzero(languages == language)).counts(size)
        found = np.maximum(found, counts / (counts.sum() + 50_000))
    return found


def weigh(rows: F32, frequency: npt.NDArray[np.float64], rarity: float) -> F32:
    """Return the rows with the length ``rarity / (rarity + frequency)`` and their own directions.

    The lengths of fitted rows reach their right values for frequent pieces alone. Rare ones stay too short, so that
    function words decide: with these lengths, the right paragraph of XQuAD in Russian is first for 0.54 of the
    questions, and for 0.47 with the fitted ones.
    """
    found = scale(rows.copy())
    found *= (rarity / (rarity + frequency))[:, None].astype(np.float32)
    return found


def measure(
    table: npt.NDArray[np.int8], bags: Bags, vectors: Any, reduced: F32, texts: Texts
) -> dict[str, dict[str, float]]:
    """Return the scores of the table on the held-out documents of each language with enough of them."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    figures: dict[str, dict[str, float]] = {}
    for language, held in sorted(texts.measure.items()):
        order = np.unique(np.concatenate(held))
        if len(order) < LEAST_HELD_OUT:
            continue
        place = {int(row): at for at, row in enumerate(order)}
        numbered = [np.array([place[int(row)] for row in document]) for document in held]
        mine = sentence_vectors(table, bags.take(order))
        figures[language] = score(
            mine, unit(vectors[order] - mean), reduced[order].astype(np.float64), numbered
        ).rounded()
        logger.info("%s %s", language, figures[language])
    return figures


def write(
    options: argparse.Namespace,
    table: npt.NDArray[np.int8],
    tokenizer_json: str,
    texts: Texts,
    figures: dict[str, dict[str, float]],
) -> None:
    """Write ``static.npy``, ``tokenizer.json`` and ``static.json``."""
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "static.npy", np.ascontiguousarray(table), allow_pickle=False)
    (out / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")
    facts = {
        "format": 1,
        "name": NAME,
        "dim": table.shape[1],
        "tokens": table.shape[0],
        "dtype": "int8",
        "cosine_weight": COSINE_WEIGHT,
        "table": "static.npy",
        "table_sha256": sha256(out / "static.npy"),
        "tokenizer": "tokenizer.json",
        "tokenizer_sha256": sha256(out / "tokenizer.json"),
        "languages": sorted(set(texts.languages)),
        "full": sorted(LANGUAGES),
        "sources": SOURCES | {"words": ("wordfreq of PyPI: frequent words", "CC-BY-SA-4.0")},
        "licence": "MIT",
        "teacher": "intfloat/multilingual-e5-small",
        "seed": options.seed,
        "texts": len(texts.texts),
        "pairs": len(texts.pairs),
        "metrics": figures,
        "command": command(
            "python -m training.multilingual",
            options,
            ["share", "words", "pieces", "dim", "smooth", "rarity", *names(static_fit.Plan)],
        ),
    }
    (out / "static.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the table."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    made = new_parser("python -m training.multilingual", __doc__)
    add = made.add_argument
    add("--texts", type=Path, required=True, help="folder that training.multilingual.texts wrote")
    add("--teacher", required=True, metavar="DIR", help="folder of multilingual-e5-small, which `training.e5` writes")
    add("--cache", type=Path, required=True, metavar="DIR", help="folder of teacher vectors, kept between runs")
    add("--share", type=int, default=12_000, help="sentences of a language, and twice its pairs (default: %(default)s)")
    add("--words", type=int, default=12_000, help="frequent words of a language (default: %(default)s)")
    add("--pieces", type=int, default=109_000, help="rows of the table (default: %(default)s)")
    add("--dim", type=int, default=256, help="width of the table (default: %(default)s)")
    add("--smooth", type=float, default=3e-4, help="a in the weight a / (a + p) of a piece (default: %(default)s)")
    add("--rarity", type=float, default=3e-3, help="a in the length a / (a + p) of a row (default: %(default)s)")
    add("--fitted", type=Path, metavar="DIR", help="folder of an earlier run, whose rows are not fitted again")
    add("--threads", type=int, default=os.cpu_count() or 1, help="threads of torch (default: all)")
    add_out(made)
    add_plan(made, static_fit.Plan(epochs=8))
    options = made.parse_args(arguments)
    begun = time.monotonic()
    torch = import_torch()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    from tokenizers import Tokenizer

    texts = gather(options.texts, options.share, options.words, options.seed)
    logger.info("%d texts, %d pairs, %.0f s", len(texts.texts), len(texts.pairs), time.monotonic() - begun)
    teacher = Teacher(options.teacher, "bfloat16", options.cache)
    vectors = teacher.encode_cached([PROMPT + text for text in texts.texts], "float16")
    full = Tokenizer.from_file(str(Path(options.teacher) / "tokenizer.json"))
    full.no_padding()
    full.no_truncation()
    tokenizer_json, kept = prune(full, texts, options.pieces)
    prompt = full.encode(PROMPT + "a", add_special_tokens=False).ids[:-1]
    file = options.cache / f"pieces-{options.pieces}-{options.share}-{options.words}.npy"
    if not file.is_file():
        np.save(file, teacher.encode_ids([[0, *prompt, int(piece), 2] for piece in kept]))
    token_vectors: F32 = np.load(file)
    token_vectors[:SPECIAL] = 0
    logger.info("teacher vectors ready after %.0f s", time.monotonic() - begun)

    targets = lessons(vectors, texts)
    bags = bags_of(Tokenizer.from_str(tokenizer_json), texts.texts)
    table, reduced = fit(bags, targets, token_vectors, texts, options)
    figures = measure(table, bags, vectors, reduced, texts)
    write(options, table, tokenizer_json, texts, figures)
    logger.info("wrote %s after %.0f s", options.out, time.monotonic() - begun)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
