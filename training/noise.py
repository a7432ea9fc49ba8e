"""Train the noise model, which tells the blocks of a page that are content, from pages with marked text (WCXB).

The pages are split by domain into five parts. Networks that learned from the other parts score each part. The figures
and the calibration of these networks go into the card. The written model learned from all parts. Its labels come partly
from teachers, which are networks that learned from the marks alone and judge pages that they have not seen. If a
network leaves a part out, its teachers do so, too.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk.parsing.html.noise import best_threshold, judged
from pychunk.parsing.html.noise_model import FACTS, SHIPPED, WEIGHTS, NoiseModel
from pychunk.training.model_folder import write_facts, write_weights
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import add_out, add_plan, cache_home, command, names, new_parser, plan_from, run

from .cards import noise_card
from .noise_fit import Plan, fit
from .noise_pages import FOLDS, Page, f1, read_pages

logger = logging.getLogger(__name__)

#: The factors of the logits that are tried for the calibration.
SCALES = (0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
#: The largest difference of F1 that counts as none. Of factors that are equal in this sense, the largest is chosen,
#: because it keeps the least noise.
#: This rule chose 0.8 (F1 0.8790, on articles 0.9590) and not 0.7 (F1 0.8792, on articles 0.9586).
EQUAL = 0.0005
#: The factor of the logits of teachers, which calibrates their answers by making them less certain.
TEACHER_SCALE = 0.5
_pages: list[Page] = []


def default_pages() -> Path | None:
    """Return ``wcxb/dev.parquet`` in $PYCHUNK_DATA."""
    folder = os.environ.get("PYCHUNK_DATA")
    return Path(folder, "wcxb", "dev.parquet") if folder else None


def folds_folder() -> Path:
    """Return the folder of the networks of the five parts, which are for measuring."""
    return cache_home() / "noise"


_Weights = dict[str, npt.NDArray[Any]]
_Told = dict[int, npt.NDArray[np.float64]]


def _fit(job: tuple[tuple[int, ...], Plan, _Told | None]) -> _Weights:
    """Return weights learned from all pages except the pages of some parts.

    The job may contain the answers of teachers by page, which are used in addition to the marks.
    """
    without, plan, told = job
    import_torch().set_num_threads(1)
    rows = [row for row, page in enumerate(_pages) if page.fold not in without]
    return fit([_pages[row] for row in rows], plan, [told[row] for row in rows] if told else None)


def _say(job: tuple[_Weights, int]) -> _Told:
    """Return a network's answers for the pages of a part, by page."""
    stored, fold = job
    model = NoiseModel.of(stored, {"scale": TEACHER_SCALE})
    return {row: model.content(page.features) for row, page in enumerate(_pages) if page.fold == fold}


def teachers_of(without: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    """Return for each part the parts that its teacher leaves out: that part, and those that its pupil must not know.

    >>> teachers_of((3,))
    {0: (0, 3), 1: (1, 3), 2: (2, 3), 4: (3, 4)}
    """
    return {fold: tuple(sorted({*without, fold})) for fold in range(FOLDS) if fold not in without}


def fitted(plan: Plan, threads: int) -> list[_Weights]:
    """Return for each part the network that learned from the other parts, and last the network of all pages."""
    pupils: list[tuple[int, ...]] = [*((fold,) for fold in range(FOLDS)), ()]
    with ProcessPoolExecutor(threads, get_context("fork")) as pool:  # forked processes inherit the pages
        if not plan.taught:
            return list(pool.map(_fit, [(without, plan, None) for without in pupils]))
        teachers = sorted({each for pupil in pupils for each in teachers_of(pupil).values()}, key=len)
        stored = dict(zip(teachers, pool.map(_fit, [(each, plan, None) for each in teachers]), strict=True))
        logger.info("%d networks teach", len(stored))
        told: list[_Told] = []
        for pupil in pupils:
            answers = pool.map(_say, [(stored[without], fold) for fold, without in teachers_of(pupil).items()])
            told.append({row: said for part in answers for row, said in part.items()})
        return list(pool.map(_fit, [(without, plan, said) for without, said in zip(pupils, told, strict=True)]))


def kept_words(model: NoiseModel, page: Page) -> list[str]:
    """Return the words of a page's blocks that are kept."""
    content, _ = judged(model, page.features)
    least = best_threshold(content, page.features) if len(content) else 0.0
    return [word for words, share in zip(page.words, content.tolist(), strict=True) if share > least for word in words]


def measured(models: Sequence[NoiseModel], pages: Sequence[Page]) -> list[float]:
    """Return the F1 of each page, by the model that has not seen it."""
    return [f1(kept_words(models[page.fold], page), page.wanted) for page in pages]


def train(options: argparse.Namespace) -> None:
    """Train the noise model, choose its calibration, and write it with its card and the networks of the folds."""
    plan = plan_from(Plan, options)
    global _pages
    _pages = read_pages(options.pages, options.threads, options.limit)
    logger.info("%d pages of %d blocks", len(_pages), sum(len(page.words) for page in _pages))
    stored = fitted(plan, options.threads)
    tried: list[tuple[float, list[float]]] = []
    for scale in SCALES:
        tried.append((scale, measured([NoiseModel.of(each, {"scale": scale}) for each in stored[:FOLDS]], _pages)))
        logger.info("logits times %.1f: F1 %.4f", scale, np.mean(tried[-1][1]))
    best = max(float(np.mean(values)) for _, values in tried)
    scale, found = max(each for each in tried if float(np.mean(each[1])) >= best - EQUAL)
    for fold, each in enumerate(stored[:FOLDS]):
        write_weights(folds_folder() / f"fold_{fold}.npz", {**each, "scale": np.array(scale)}, compressed=True)
    kinds: defaultdict[str, list[float]] = defaultdict(list)
    for page, value in zip(_pages, found, strict=True):
        kinds[page.kind].append(value)
    rows = {"all": found, **dict(sorted(kinds.items()))}
    facts = {
        "format": 1,
        "name": "pychunk-noise-html",
        **write_weights(options.out / WEIGHTS, stored[FOLDS], compressed=True),
        "scale": scale,
        "nets": plan.nets,
        "taught": plan.taught,
        "foreign": plan.foreign,
        "unnamed": plan.unnamed,
        "seed": plan.seed,
        "licence": "Apache-2.0",
        "pages": len(_pages),
        "metrics": {
            kind: {"pages": len(values), "f1": round(float(np.mean(values)), 4)} for kind, values in rows.items()
        },
        "command": command("python -m training.noise", options, names(Plan)),
    }
    logger.info("%s", json.dumps(facts["metrics"], indent=2))
    write_facts(options.out / FACTS, facts, noise_card.card(facts))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("python -m training.noise", __doc__)
    made.add_argument(
        "--pages",
        type=Path,
        default=default_pages(),
        metavar="FILE",
        help="parquet file with columns html, main_content, page_type and url (default: wcxb/dev.parquet in "
        "$PYCHUNK_DATA)",
    )
    made.add_argument("--limit", type=int, default=0, help="number of pages; 0: all (default)")
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="processes (default: one for each CPU)")
    add_out(made, SHIPPED)
    add_plan(made, Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model, and return the process's exit status."""
    made = parser()
    options = made.parse_args(arguments)
    if options.pages is None:
        made.error("no pages to learn from: pass --pages, or set PYCHUNK_DATA")
    return run(train, options)


if __name__ == "__main__":
    raise SystemExit(main())
