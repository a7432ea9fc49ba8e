"""Trains the model of noise: which blocks of a page are content, from pages whose text people marked (WCXB).

The pages are parted by domain into five; each part is scored by networks that learned from the others, and these
figures, and the calibration, go into the card. The model that is written learned from all.
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

from ..parsing.noise import best_threshold, judged
from ..parsing.noise_model import FACTS, SHIPPED, WEIGHTS, NoiseModel
from . import noise_card
from .noise_fit import Plan, fit
from .noise_pages import FOLDS, Page, f1, read_pages
from .options import add_out, add_plan, cache_home, command, names, new_parser, plan_from, run
from .teacher import import_torch
from .written import write_facts, write_weights

logger = logging.getLogger(__name__)

#: Factors of the logits that are tried for the calibration.
SCALES = (0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
#: Of those whose F1 is as good but for this the largest is taken: it keeps the least noise (.6 and not .5: F1 .8752 and
#: .8753, of articles .9561 and .9551).
EQUAL = 0.0005
_pages: list[Page] = []


def default_pages() -> Path | None:
    """``wcxb/dev.parquet`` in $PYCHUNK_DATA."""
    folder = os.environ.get("PYCHUNK_DATA")
    return Path(folder, "wcxb", "dev.parquet") if folder else None


def folds_folder() -> Path:
    """Where the networks of the five parts are kept, for measuring."""
    return cache_home() / "noise"


def _fit_fold(job: tuple[int, Plan]) -> dict[str, npt.NDArray[Any]]:
    """Weights from all pages but those of one part; -1: from all."""
    fold, plan = job
    import_torch().set_num_threads(1)
    return fit([page for page in _pages if page.fold != fold], plan)


def kept_words(model: NoiseModel, page: Page) -> list[str]:
    """The words of the blocks that are kept of a page."""
    content, _ = judged(model, page.features)
    least = best_threshold(content, page.features) if len(content) else 0.0
    return [word for words, share in zip(page.words, content.tolist(), strict=True) if share > least for word in words]


def measured(models: Sequence[NoiseModel], pages: Sequence[Page]) -> list[float]:
    """F1 of each page, by the model that has not seen it."""
    return [f1(kept_words(models[page.fold], page), page.wanted) for page in pages]


def train(options: argparse.Namespace) -> None:
    plan = plan_from(Plan, options)
    global _pages
    _pages = read_pages(options.pages, options.threads, options.limit)
    logger.info("%d pages of %d blocks", len(_pages), sum(len(page.words) for page in _pages))
    jobs = [(fold, plan) for fold in (*range(FOLDS), -1)]
    with ProcessPoolExecutor(options.threads, get_context("fork")) as pool:  # the pages are there
        stored = list(pool.map(_fit_fold, jobs))
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
        "seed": plan.seed,
        "licence": "Apache-2.0",
        "pages": len(_pages),
        "metrics": {
            kind: {"pages": len(values), "f1": round(float(np.mean(values)), 4)} for kind, values in rows.items()
        },
        "command": command("noise", options, names(Plan)),
    }
    logger.info("%s", json.dumps(facts["metrics"], indent=2))
    write_facts(options.out / FACTS, facts, noise_card.card(facts))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = new_parser("noise", __doc__)
    made.add_argument(
        "--pages",
        type=Path,
        default=default_pages(),
        metavar="FILE",
        help="parquet file with columns html, main_content, page_type and url (default: wcxb/dev.parquet in "
        "$PYCHUNK_DATA)",
    )
    made.add_argument("--limit", type=int, default=0, help="pages; 0: all (default)")
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="processes (default: one a CPU)")
    add_out(made, SHIPPED)
    add_plan(made, Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model; the process's exit status."""
    made = parser()
    options = made.parse_args(arguments)
    if options.pages is None:
        made.error("no pages to learn from: name them with --pages, or set PYCHUNK_DATA")
    return run(train, options)


if __name__ == "__main__":
    raise SystemExit(main())
