"""Train the rows of the multilingual table on texts that belong together (InfoNCE).

``python -m training.multilingual`` fits rows to the vectors of a teacher. This command takes that table and its pieces,
and makes the vector of a query closest to a sentence of its own passage among all passages of a batch, and the other
way round: parts of sentences and what is around them, headings and sections, titles and paragraphs, translations.

Half of the parallel articles are held out. It prints how well the cosines of their sentences agree with the teacher's,
and how often the nearest of all English sentences is the translation.

    python -m training.multilingual.contrast --texts texts --manuals manuals.parquet --articles articles.parquet \
        --start fitted --teacher e5-small --out model

Source: A. van den Oord, Y. Li, O. Vinyals, "Representation Learning with Contrastive Predictive Coding", 2018.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk._engine.arrow import flat_texts
from pychunk._util.checksums import sha256
from pychunk.encoders.registry import vector_encoder
from pychunk.training import static_fit
from pychunk.training.static_eval import score, sentence_vectors, unit
from pychunk.training.teacher import import_torch
from pychunk.training.token_bags import Bags
from pychunk.training.train_options import (
    add_articles,
    add_out,
    add_plan,
    command,
    names,
    new_parser,
    plan_from,
    setting,
)

from .__main__ import LANGUAGES, SPECIAL
from .examples import Batch, Examples, held_out, parallel
from .texts import SOURCES

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]

#: The steps between two states that are kept, from which an interrupted training goes on.
KEPT = 500
#: The languages whose cosines are compared with the teacher's.
MEASURED = ("uk", "ru", "de", "zh", "ar", "en", "es", "th", "hi", "tr")


@dataclass(frozen=True)
class Plan:
    """The settings of the training; ``--help`` shows each field's ``metadata["help"]``."""

    steps: int = setting(6000, "steps")
    batch: int = setting(1024, "queries in a step")
    rate: float = setting(0.002, "Adam's highest learning rate; most rows are about 1 long at the start")
    search: float = setting(0.04, "temperature of queries and passages in one language")
    translation: float = setting(0.1, "temperature of translations")
    seed: int = setting(0, "seed of the order of the examples")


def loss(rows: Any, batch: Batch, temperature: float) -> Any:
    """Return the cross-entropy of finding each query's passage, and each passage's query, in a batch.

    The similarity of a query and a passage is the cosine of the query and the passage's nearest sentence, as in search.
    """
    torch = import_torch()
    queries, sentences = vectors(rows, batch.queries), vectors(rows, batch.sentences)
    size = len(queries)
    owners = torch.tensor(batch.owners).expand(size, -1)
    cosines = queries @ sentences.T / temperature
    nearest = torch.full((size, size), -np.inf).scatter_reduce(1, owners, cosines, "amax")
    right = torch.arange(size)
    entropy = torch.nn.functional.cross_entropy
    return (entropy(nearest, right) + entropy(nearest.T, right)) / 2


def vectors(rows: Any, texts: Sequence[npt.NDArray[np.int32]]) -> Any:
    """Return the unit vectors of texts, which are the sums of their pieces' rows."""
    torch = import_torch()
    offsets = np.cumsum([0, *(len(ids) for ids in texts)])
    ids = torch.from_numpy(np.concatenate(texts).astype(np.int64))
    sums = torch.nn.functional.embedding_bag(
        ids, rows, torch.from_numpy(offsets), mode="sum", include_last_offset=True, sparse=True
    )
    return torch.nn.functional.normalize(sums, dim=1)


def train(start: F32, examples: Examples, plan: Plan, state: Path) -> F32:
    """Return the trained rows. ``state`` is a file from which an interrupted training goes on.

    Raises:
        ValueError: The file is of a training with other settings, rows or texts.
    """
    torch = import_torch()
    rows = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimizer = torch.optim.SparseAdam([rows], lr=plan.rate, betas=(0.9, 0.99))
    first, losses, begun = 0, list[float](), time.monotonic()
    made = {"plan": plan, "start": float(np.abs(start).sum(dtype=np.float64)), "texts": len(examples.offsets)}
    if state.is_file():
        kept = torch.load(state, weights_only=False)
        if kept["made"] != made:
            raise ValueError(
                f"{state} is of a training with other settings, rows or texts: delete it, or pass another --out"
            )
        first, examples.random.bit_generator.state = kept["step"], kept["random"]
        rows.data.copy_(kept["rows"])
        optimizer.load_state_dict(kept["optimizer"])
        logger.info("going on after step %d", first)
    batches = examples.batches(plan.batch)
    for step in range(first, plan.steps):
        batch, translated = next(batches)
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * min((step + 1) / 200, max(0.02, 1 - step / plan.steps))
        found = loss(rows, batch, plan.translation if translated else plan.search)
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        losses.append(float(found.detach()))
        if (step + 1) % KEPT == 0:
            logger.info("step %d: loss %.3f, %.0f s", step + 1, np.mean(losses[-KEPT:]), time.monotonic() - begun)
            kept = {"made": made, "step": step + 1, "random": examples.random.bit_generator.state, "rows": rows.data}
            torch.save(kept | {"optimizer": optimizer.state_dict()}, state.with_suffix(".new"))
            os.replace(state.with_suffix(".new"), state)
    trained: F32 = rows.detach().numpy()
    return trained


def bags_of(encoder: Any, texts: Sequence[str]) -> Bags:
    """Return the pieces of texts."""
    parts = [encoder.tokens_of(*flat_texts(texts[start : start + 500_000])) for start in range(0, len(texts), 500_000)]
    lengths = np.concatenate([[0], *(np.diff(part.offsets) for part in parts)])
    return Bags(np.concatenate([part.ids for part in parts]), np.cumsum(lengths))


def measure(table: npt.NDArray[np.int8], encoder: Any, texts: Path, teacher: str) -> dict[str, Any]:
    """Return how far cosines agree with the teacher's, and how often translations are found, on held-out articles.

    The nearest of all English sentences must be the translation, and the other way round; each language counts both.
    """
    articles = [article for article in parallel(texts) if held_out(article)]
    ends = np.cumsum([len(article["en"]) for article in articles])
    documents = np.split(np.arange(ends[-1]), ends[:-1])
    lines = {language: [line for each in articles for line in each[language]] for language in articles[0]}
    own = {language: sentence_vectors(table, bags_of(encoder, held)) for language, held in lines.items()}
    figures: dict[str, Any] = {"sentences": int(ends[-1]), "teacher": {}, "translations": {}}
    taught_by = vector_encoder(teacher)
    for language in MEASURED:
        taught = taught_by.encode_queries(lines[language])
        centred = unit(taught - taught.mean(axis=0))
        # The width differs, so that there is no cosine to compare.
        agreed = score(own[language], centred, own[language], documents).rounded()
        figures["teacher"][language] = {name: agreed[name] for name in ("adjacent", "to_mean")}
        logger.info("%s %s", language, figures["teacher"][language])
    right = np.arange(ends[-1])
    for language in sorted(own.keys() - {"en"}):
        cosines = own[language] @ own["en"].T
        found = (cosines.argmax(axis=1) == right).mean() + (cosines.argmax(axis=0) == right).mean()
        figures["translations"][language] = round(float(found) / 2, 4)
    logger.info("%s", figures["translations"])
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the rows, measure them, and write the table."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    made = new_parser("python -m training.multilingual.contrast", __doc__)
    add = made.add_argument
    add("--texts", type=Path, required=True, help="folder that training.multilingual.texts wrote")
    add("--manuals", type=Path, required=True, help="file that training.manuals wrote")
    add("--start", type=Path, required=True, metavar="DIR", help="folder of the table that training.multilingual wrote")
    add("--unseen", nargs="*", default=[], metavar="LANGUAGE", help="languages whose headings are left out")
    add("--teacher", default="e5-small", metavar="NAME", help="encoder to compare with (default: %(default)s)")
    add("--threads", type=int, default=os.cpu_count() or 1, help="threads of torch (default: all)")
    add_articles(made, "id, title and text")
    add_out(made)
    add_plan(made, Plan())
    options = made.parse_args(arguments)
    torch = import_torch()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    plan, begun = plan_from(Plan, options), time.monotonic()
    facts = json.loads((options.start / "static.json").read_text(encoding="utf-8"))
    encoder = vector_encoder(str(options.start))
    start: F32 = np.load(options.start / facts["table"]).astype(np.float32)
    start[:SPECIAL] = 0
    lengths = np.linalg.norm(start[SPECIAL:], axis=1)
    start /= np.median(lengths)
    examples = Examples(options.texts, options.manuals, options.articles, LANGUAGES, options.unseen, plan.seed)
    count = len(examples.rows.texts)
    bags = bags_of(encoder, examples.rows.texts)
    examples.tokenize(bags)
    logger.info("%d texts after %.0f s", count, time.monotonic() - begun)
    options.out.mkdir(parents=True, exist_ok=True)
    state = options.out / "state.pt"
    rows = train(start, examples, plan, state)
    table = static_fit.quantize(rows, static_fit.quantization_step(rows, bags.counts(len(rows))))
    np.save(options.out / facts["table"], np.ascontiguousarray(table), allow_pickle=False)
    if options.out.resolve() != options.start.resolve():
        shutil.copy(options.start / facts["tokenizer"], options.out)
    facts.pop("metrics", None)  # those of the table that is replaced
    facts |= {
        "table_sha256": sha256(options.out / facts["table"]),
        "sources": facts["sources"] | SOURCES,
        "contrast": {
            "command": command("python -m training.multilingual.contrast", options, names(Plan))
            + (f" --unseen {' '.join(options.unseen)}" if options.unseen else ""),
            "texts": count,
            **measure(table, encoder, options.texts, options.teacher),
        },
    }
    (options.out / "static.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    state.unlink(missing_ok=True)
    logger.info("wrote %s after %.0f s", options.out, time.monotonic() - begun)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
