"""Train the static encoder: a table of int8 rows, one for each WordPiece token, that approximates MiniLM.

A sentence's vector is the unit-length sum of its tokens' rows, so encoding takes only look-ups and additions. The table
is made in three steps. The teacher encodes every vocabulary token alone. These vectors are centred, reduced and
weighted by frequency; this plain distillation is the start. Then the rows are fitted, so that sums over real sentences
have the directions of the teacher's vectors of those sentences. The rows' lengths contain the weights. One scale
applies to all rows and cancels in the norm, so the file contains nothing but integers. Pass the folder as
``encoder="DIR"``.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._util.checksums import sha256
from . import static_fit
from .corpus import Document, read_split, sample_runs, whole_documents
from .static_eval import Scores, score, sentence_vectors, unit
from .teacher import Floats, Teacher, import_torch, public_name
from .token_bags import Bags, tokenize, without_meaning
from .train_options import (
    add_held_out,
    add_out,
    add_plan,
    add_teacher,
    cache_home,
    command,
    names,
    new_parser,
    plan_from,
)

logger = logging.getLogger(__name__)

FORMAT = 1
NAME = "pychunk-static-en-256"
#: The options, in addition to the plan's, that the table depends on.
SHOWN = ("sentences", "run", "held_out", "dim", "smooth", "teacher_dtype")


@dataclass(frozen=True)
class Sample:
    """Distinct sentences with the teacher's unit vectors, and the documents as row numbers in reading order."""

    bags: Bags
    vectors: Floats
    documents: list[npt.NDArray[np.int64]]

    def sentences(self) -> int:
        """Return the number of sentences in all documents together, with repetitions."""
        return sum(len(rows) for rows in self.documents)


@dataclass(frozen=True)
class TrainingData:
    """The data for fitting and measuring."""

    vocabulary: list[str]
    token_vectors: npt.NDArray[np.float32]
    training: Sample
    held_out: Sample
    projection: npt.NDArray[np.float32]


def _sample(documents: Sequence[Document], teacher: Teacher, vocabulary: Sequence[str], store: str) -> Sample:
    rows: dict[str, int] = {}
    numbered = [
        np.array([rows.setdefault(sentence, len(rows)) for sentence in document.sentences], dtype=np.int64)
        for document in documents
    ]
    sentences = list(rows)
    return Sample(tokenize(sentences, vocabulary), teacher.encode_cached(sentences, store), numbered)


def gather(options: argparse.Namespace) -> TrainingData:
    """Read the articles, and compute every required teacher vector or take it from the cache.

    Held-out sentences, which are for measuring, and the tokens' own vectors, on which rare tokens depend, are computed
    in float32. The vectors to learn from are computed in ``--teacher-dtype``.
    """
    learn, keep = read_split(options.articles, options.seed, options.held_out)
    precise = Teacher(options.teacher, "float32", options.cache)
    vocabulary = precise.vocabulary()
    held_out = _sample(whole_documents(keep), precise, vocabulary, "float32")
    token_vectors = precise.encode_tokens()
    token_vectors[without_meaning(vocabulary)] = 0
    quick = Teacher(options.teacher, options.teacher_dtype, options.cache)
    runs = sample_runs(learn, options.sentences, options.run, options.seed)
    training = _sample(runs, quick, vocabulary, "float16")
    projection = static_fit.fit_projection(training.vectors, options.dim)
    return TrainingData(vocabulary, token_vectors, training, held_out, projection)


def measure(table: npt.NDArray[Any], material: TrainingData) -> Scores:
    """Return the scores of ``table`` (float or int8) on the held-out articles."""
    sample = material.held_out
    teacher = unit(sample.vectors)
    reduced = unit(teacher @ material.projection)
    return score(sentence_vectors(table, sample.bags), teacher, reduced, sample.documents)


def train(
    material: TrainingData, plan: static_fit.Plan, smooth: float
) -> tuple[npt.NDArray[np.int8], dict[str, Scores]]:
    """Fit and round the table.

    Returns:
        The int8 table, and held-out scores under the keys ``baseline`` (the table before the fit), ``float`` (after the
        fit) and ``int8`` (as it is written).
    """
    sample = material.training
    lengths = np.diff(sample.bags.offsets)
    # A sentence without known tokens has no vector, so there is nothing to learn from it.
    documents = [rows[lengths[rows] > 0] for rows in sample.documents]
    documents = [rows for rows in documents if len(rows)]
    counts = sample.bags.take(np.concatenate(documents)).counts(len(material.vocabulary))
    start = static_fit.initial_table(material.token_vectors, material.projection, counts, smooth)
    scores = {"baseline": measure(start, material)}
    logger.info("baseline %s", scores["baseline"].rounded())
    reduced = unit(sample.vectors @ material.projection).astype(np.float32)
    lesson = static_fit.Lesson(sample.bags, sample.vectors, reduced, documents)
    warm = static_fit.fit(start, lesson, plan, plan.warm)
    prior = static_fit.predicted_rows(material.token_vectors, warm, counts, smooth)
    fitted = static_fit.fit(prior, lesson, plan, plan.epochs)
    scores["float"] = measure(fitted, material)
    logger.info("float    %s", scores["float"].rounded())
    table = static_fit.quantize(fitted, static_fit.quantization_step(fitted, counts))
    scores["int8"] = measure(table, material)
    logger.info("int8     %s", scores["int8"].rounded())
    return table, scores


def write(
    out: Path,
    table: npt.NDArray[np.int8],
    material: TrainingData,
    scores: dict[str, Scores],
    options: argparse.Namespace,
) -> None:
    """Write ``static.npy``, ``vocab.txt`` and ``static.json`` into ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "static.npy", np.ascontiguousarray(table), allow_pickle=False)
    (out / "vocab.txt").write_bytes(("\n".join(material.vocabulary) + "\n").encode())
    facts = {
        "format": FORMAT,
        "name": NAME,
        "dim": table.shape[1],
        "tokens": table.shape[0],
        "dtype": "int8",
        "table": "static.npy",
        "table_sha256": sha256(out / "static.npy"),
        "vocab": "vocab.txt",
        "vocab_sha256": sha256(out / "vocab.txt"),
        "lowercase": True,
        "strip_accents": True,
        "language": "en",
        "licence": "Apache-2.0",
        "teacher": public_name(options.teacher),
        "teacher_dtype": options.teacher_dtype,
        "seed": options.seed,
        "sentences": material.training.sentences(),
        "distinct_sentences": len(material.training.bags),
        "epochs": options.epochs,
        "held_out_articles": len(material.held_out.documents),
        "held_out_sentences": material.held_out.sentences(),
        "metrics": {name: value.rounded() for name, value in scores.items()},
        "command": command("pychunk train static", options, [*SHOWN, *names(static_fit.Plan)]),
    }
    (out / "static.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser(
        "pychunk train static",
        __doc__,
        "Most of the time goes into the teacher's vectors, which are cached in shards. You can interrupt the command\n"
        "at any time and run it again. examples:\n"
        "  pychunk train static --articles FILE --sentences 20000 --epochs 2 --out trial   a trial in minutes\n"
        "  pychunk train static --articles FILE --out table                                all sentences of the file\n"
        "  pychunk train static --articles FILE --out table --evaluate                     measure a table",
    )
    add = made.add_argument
    add_held_out(made)
    add_teacher(made, "model directory or hub name")
    add(
        "--teacher-dtype",
        choices=["bfloat16", "float32"],
        default="bfloat16",
        help="precision of the vectors to learn from; those for measuring are float32 (default: %(default)s)",
    )
    add_out(made)
    add(
        "--cache",
        type=Path,
        default=cache_home(),
        metavar="DIR",
        help="folder of teacher vectors, kept between runs (default: the user's cache)",
    )
    add(
        "--sentences",
        type=int,
        default=1_000_000,
        help="maximum number of sentences to learn from (default: %(default)s)",
    )
    add(
        "--run",
        type=int,
        default=64,
        help="number of adjacent sentences taken from an article at a time (default: %(default)s)",
    )
    add("--dim", type=int, default=256, help="width of the table (default: %(default)s)")
    add(
        "--smooth",
        type=float,
        default=3e-4,
        help="a in the weight a / (a + p) of a token with frequency p, at the start (default: %(default)s)",
    )
    add_plan(made, static_fit.Plan())
    add(
        "--evaluate",
        action="store_true",
        help="measure the table in --out on the held-out articles; train nothing",
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the table, or measure the existing one, and return the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    options = parser().parse_args(arguments)
    begun = time.monotonic()
    try:
        torch = import_torch()
        torch.set_num_threads(options.threads)
        torch.use_deterministic_algorithms(True)
        material = gather(options)
        logger.info("teacher vectors ready after %.0f s", time.monotonic() - begun)
        if options.evaluate:
            table = np.load(options.out / "static.npy", mmap_mode="r", allow_pickle=False)
            logger.info("%s", json.dumps(measure(table, material).rounded(), indent=2))
            return 0
        plan = plan_from(static_fit.Plan, options)
        table, scores = train(material, plan, options.smooth)
        write(options.out, table, material, scores, options)
    except KeyboardInterrupt:
        logger.info("interrupted; finished teacher vectors are in %s and the next run will use them", options.cache)
        return 130
    logger.info("wrote %s after %.0f s", options.out / "static.npy", time.monotonic() - begun)
    return 0
