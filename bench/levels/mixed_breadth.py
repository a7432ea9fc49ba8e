"""Fixed levels, all levels, planners and the oracle on questions of mixed breadth about articles new to planners.

Every way but one searches one index of sentences, plain chunks, paragraphs, sections and documents. It returns its hits
in order until the budget of words is spent, and cuts the last hit off. The measure is the character F1 of that text
against the text that answers the question. "Plain chunks" searches an index of plain chunks alone.

A plan is right if its range of levels scores as much as the best of all ranges. That share leaves out questions that no
range finds. The oracle takes the best range of each question. `breadth known` takes the range that is best for the
question's breadth on the training questions. `bag of words` guesses that breadth by naive Bayes over the words of the
training questions, in full or stripped.

The same ways are compared on ordinary questions, of SQuAD and of Chroma's evaluation (:mod:`.plain_questions`).
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import pychunk
from pychunk.evaluation import hierarchies
from pychunk.evaluation.measures import intervals
from pychunk.index import Ranking
from pychunk.index.planners import planner
from pychunk.index.planners.model_planner import ModelPlanner, model
from pychunk.index.planners.planner import Metadata
from pychunk.training import breadth, breadth_levels
from pychunk.training.breadth import BUDGETS, LEVELS, Questions

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.levels import plain_questions, plan_choices
from bench.levels.plain_questions import RANGES, compared, told_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
#: The kinds of questions: what each asks for, and its source.
WHAT = {
    "sentence": "a sentence (SQuAD, Chroma)",
    "passages": "several passages (Chroma)",
    "section": "a section (Wikipedia)",
    "document": "an article (Wikipedia, SQuAD)",
}
VERSIONS = {"text": "as asked", "stripped": "stripped"}
KINDS = ("narrow", "middle", "broad")
WORDS = 500
MIDDLE = BUDGETS.index(WORDS)
#: The queries processed at a time.
BATCH = 256


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="in all; 0: all (default)")
    parser.add_argument("--split", choices=("test", "validation"), default="test", help="articles (default: test)")
    parser.add_argument("--threads", type=int, default=None, metavar="N")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/smartchunk.json")
    return parser.parse_args()


class Bag:
    """A naive Bayes classifier over words, with add-one smoothing."""

    def __init__(self, texts: Sequence[str], kinds: Sequence[str]) -> None:
        self.kinds = sorted(set(kinds))
        counts = {kind: Counter[str]() for kind in self.kinds}
        for text, kind in zip(texts, kinds, strict=True):
            counts[kind].update(self.words(text))
        known = set().union(*counts.values())
        totals = {kind: sum(own.values()) + len(known) for kind, own in counts.items()}
        self.weights = {
            word: np.array([np.log((counts[kind][word] + 1) / totals[kind]) for kind in self.kinds]) for word in known
        }

    @staticmethod
    def words(text: str) -> list[str]:
        return re.findall(r"\w+|[^\w\s]", text.casefold())

    def __call__(self, text: str) -> str:
        found = [self.weights[word] for word in self.words(text) if word in self.weights]
        return self.kinds[int(np.sum(found, axis=0).argmax())] if found else self.kinds[0]


def planned(own: planner.Planner, queries: Sequence[str], told: Sequence[Metadata]) -> tuple[I64, int, float]:
    """Return the ranges that a planner chooses, int64[questions, budgets], its failures and milliseconds a plan."""
    found = np.zeros((len(queries), len(BUDGETS)), np.int64)
    failed, begin = 0, time.process_time()
    for place, words in enumerate(BUDGETS):
        for row, (query, each) in enumerate(zip(queries, told, strict=True)):
            plan = planner.decide(own, query, replace(each, words=words))
            found[row, place] = RANGES.index((plan.low, plan.high))
            failed += plan.failed
    return found, failed, (time.process_time() - begin) * 1000 / max(1, found.size)


def always(pair: tuple[str, str], count: int) -> I64:
    return np.full((count, len(BUDGETS)), RANGES.index(pair), np.int64)


def by_kind(kinds: Sequence[str], best: dict[str, tuple[str, str]]) -> I64:
    own = np.array([RANGES.index(best[kind]) for kind in kinds], np.int64)
    return np.repeat(own[:, None], len(BUDGETS), axis=1)


def chosen(f1: F64, choice: I64) -> F64:
    """Return float64[questions, budgets]: the F1 of the chosen ranges."""
    return np.take_along_axis(f1, choice[:, None, :], axis=1)[:, 0, :]


def right(f1: F64, own: F64) -> float:
    """Return the share of findable questions for which a way is as good as the best range, within 500 words."""
    best = f1[:, :, MIDDLE].max(axis=1)
    found = best > 0
    return float(np.mean(own[found, MIDDLE] >= best[found] - 1e-12)) if found.any() else 0.0


def across(index: pychunk.Index, data: Questions, queries: Sequence[str], measure: breadth.Measure) -> F64:
    """Return float64[questions, budgets] of all levels, with each level's scores on a scale of its own."""
    places = [np.asarray(index.table[name], np.int64) for name in ("document_index", "start", "end")]
    found = np.zeros((len(queries), len(BUDGETS)))
    for first in range(0, len(queries), BATCH):
        asked = list(queries[first : first + BATCH])
        pair = (LEVELS[0], LEVELS[-1])
        rows, _ = index.rank(asked, breadth_levels.HITS, ranking=Ranking(fusion="levels", levels=pair))
        for number, own in enumerate(rows, first):
            spans = [each[own[own >= 0]] for each in places]
            found[number] = [measure.f1(data.questions[number], *spans, words) for words in BUDGETS]
    return found


def plain_f1(data: Questions, queries: Sequence[str], measure: breadth.Measure, threads: int | None) -> F64:
    """Return float64[questions, budgets] of an index that has plain chunks alone."""
    ids, placement = [str(row) for row in range(len(data.documents))], pychunk.Placement(threads=threads)
    cut: dict[str, Any] = hierarchies.CHUNKS
    chunks = pychunk.segment(data.documents, **cut, vectors="sentence", ids=ids, placement=placement)
    found = np.zeros((len(queries), len(BUDGETS)))
    with (
        tempfile.TemporaryDirectory() as folder,
        pychunk.Index.create(Path(folder) / "plain", bm25=pychunk.index.Bm25(stemmer="english")) as index,
    ):
        index.add(chunks)
        index.save()
        places = [np.asarray(index.table[name], np.int64) for name in ("document_index", "start", "end")]
        for first in range(0, len(queries), BATCH):
            rows, _ = index.rank(list(queries[first : first + BATCH]), breadth_levels.HITS)
            for number, own in enumerate(rows, first):
                spans = [each[own[own >= 0]] for each in places]
                found[number] = [measure.f1(data.questions[number], *spans, words) for words in BUDGETS]
    return found


def rows_of(f1: F64, ways: dict[str, I64], kinds: Sequence[str], others: dict[str, F64]) -> list[dict[str, Any]]:
    """Return a row for each way: F1 within each budget, by breadth within 500 words, and how often it is right."""
    group = np.array(kinds)
    learned = chosen(f1, ways["learned"])
    rows = []
    scores = {name: chosen(f1, choice) for name, choice in ways.items()}
    for name, own in (scores | others).items():
        row: dict[str, Any] = {"levels": name}
        row |= {
            f"F1 within {words}": intervals.interval(own[:, place])._asdict() for place, words in enumerate(BUDGETS)
        }
        row["learned minus this, within 500"] = intervals.paired(learned[:, MIDDLE], own[:, MIDDLE])._asdict()
        row |= {kind: float(own[group == kind, MIDDLE].mean()) for kind in KINDS}
        row["right"] = right(f1, own)
        rows.append(row)
    return rows


def hybrid_rows(f1: dict[str, F64], ways: dict[str, I64]) -> list[dict[str, Any]]:
    """Return rows with and without BM25 at the same levels: F1 within 500 words, and the gain by BM25."""
    rows = []
    for name in ("fixed", "rules", "learned", "oracle"):
        choice = {mode: own.argmax(axis=1) if name == "oracle" else ways[name] for mode, own in f1.items()}
        got = {mode: chosen(f1[mode], choice[mode])[:, MIDDLE] for mode in f1}
        row: dict[str, Any] = {"levels": name}
        row |= {f"F1, {mode}": intervals.interval(own)._asdict() for mode, own in got.items()}
        row["hybrid minus dense"] = intervals.paired(got["hybrid"], got["dense"])._asdict()
        rows.append(row)
    return rows


def shown(cell: dict[str, float], sign: str = "") -> str:
    return f"{cell['mean']:{sign}.4f} ({cell['low']:{sign}.4f} to {cell['high']:{sign}.4f})"


class Searched(NamedTuple):
    """The outcome of one version of the questions: F1 of each range of levels, and a planner's inputs for a query."""

    queries: list[str]
    f1: F64
    told: list[Metadata]
    first_pass: float
    calibrated: F64
    dense: F64
    plain: F64
    sizes: list[dict[str, Any]]


def searched(
    index: pychunk.Index, data: Questions, version: str, measure: breadth.Measure, threads: int | None
) -> Searched:
    queries = [getattr(question, version) for question in data.questions]
    f1 = breadth_levels.scores_of_ranges(index, data, queries, measure=measure).f1
    begin = time.process_time()
    told = index.plan_metadata(queries)
    first_pass = (time.process_time() - begin) * 1000 / len(queries)
    calibrated = across(index, data, queries, measure)
    dense = breadth_levels.scores_of_ranges(index, data, queries, measure=measure, mode="dense").f1
    plain = plain_f1(data, queries, measure, threads)
    choice, _, _ = planned(ModelPlanner(), queries, told)
    own_kinds = [WHAT[question.kind] for question in data.questions]
    sizes = plan_choices.chosen(index, own_kinds, queries, [RANGES[row] for row in choice[:, MIDDLE]])
    print(f"searched, {VERSIONS[version]}", flush=True)
    return Searched(queries, f1, told, first_pass, calibrated, dense, plain, sizes)


def ways_of(found: Searched, name: str, kinds: Sequence[str], guessed: Sequence[str]) -> tuple[dict[str, I64], list]:
    """Return the ranges that every way chooses, by its name, and the planners' costs."""
    best = {kind: (pair[0], pair[1]) for kind, pair in model().facts["best_of_breadth"].items()}
    ways: dict[str, I64] = {told_of(pair): always(pair, len(kinds)) for pair in RANGES}
    makers: dict[str, Callable[[], planner.Planner]] = {
        "fixed": planner.FixedLevels,
        "rules": lambda: planner.load("rules"),
        "learned": ModelPlanner,
    }
    costs = []
    for named, make in makers.items():
        ways[named], failed, spent = planned(make(), found.queries, found.told)
        pass_time = found.first_pass if named == "learned" else 0.0
        cost = {"planner": named, "version": name, "ms a plan": spent, "ms a first pass": pass_time}
        costs.append({**cost, "failed": failed})
    ways["bag of words"] = by_kind(guessed, best)
    ways["breadth known"] = by_kind(kinds, best)
    ways["oracle"] = found.f1.argmax(axis=1)
    labels = breadth.pseudo_labels(found.f1[:, :, MIDDLE])
    commonest = int(np.bincount(labels[labels >= 0]).argmax())
    ways[f"majority class ({told_of(RANGES[commonest])})"] = always(RANGES[commonest], len(kinds))
    return ways, costs


def show(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        cells = "  ".join(shown(row[f"F1 within {words}"]) for words in BUDGETS)
        minus = shown(row["learned minus this, within 500"], "+")
        parts = " ".join(f"{kind} {row[kind]:.3f}" for kind in KINDS)
        print(f"  {row['levels']:38} {cells}  learned minus this {minus}  {parts}  right {row['right']:.3f}")


def summary(found: Searched, ways: dict[str, I64]) -> list[dict[str, Any]]:
    """Return the rows of :func:`.plain_questions.compared` within 500 words."""
    f1 = {name: chosen(found.f1, choice)[:, MIDDLE] for name, choice in ways.items()}
    fixed = max(map(told_of, RANGES), key=lambda name: float(f1[name].mean()))
    named = {"plain chunks": found.plain[:, MIDDLE], f"best fixed levels ({fixed})": f1[fixed]}
    named |= {"all levels": f1[told_of((LEVELS[0], LEVELS[-1]))]}
    return compared(named | {name: f1[name] for name in ("bag of words", "learned", "oracle")})


def tell(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    for row in rows:
        minus = [f"{name} {shown(row[name], '+')}" for name in ("learned minus this", "this minus plain chunks")]
        print(f"  {row['levels']:38} {shown(row['mean'])}  {'  '.join(minus)}")


def main() -> None:
    """Print the tables and save them."""
    options = arguments()
    data = breadth.load(options.data, options.split, options.questions)
    training = breadth.load(options.data, "train")
    kinds = [question.breadth for question in data.questions]
    bags = {
        version: Bag(
            [getattr(each, version) for each in training.questions], [each.breadth for each in training.questions]
        )
        for version in VERSIONS
    }
    print(f"{len(kinds):,} questions about {len(data.documents):,} documents")
    measure = breadth.Measure(data.documents)
    with tempfile.TemporaryDirectory() as folder:
        index = breadth_levels.index_of(data, Path(folder) / "index", threads=options.threads)
        index.save()  # this creates the scales of the levels
        every = {version: searched(index, data, version, measure, options.threads) for version in VERSIONS}
        nodes = len(index)
        index.close(discard=True)
    tables: dict[str, Any] = {}
    planners = []
    best = {kind: (pair[0], pair[1]) for kind, pair in model().facts["best_of_breadth"].items()}
    for title, (own, named) in plain_questions.sets(options.data).items():
        tables[f"{title}: {named}"] = plain_questions.rows_of(plain_questions.asked(own, named), bags["text"], best)
    for version, name in VERSIONS.items():
        found = every[version]
        guessed = [bags[version](query) for query in found.queries]
        ways, costs = ways_of(found, name, kinds, guessed)
        planners += costs
        share = float(np.mean([one == other for one, other in zip(guessed, kinds, strict=True)]))
        others = {"plain chunks": found.plain, "all levels, fusion levels": found.calibrated}
        rows = rows_of(found.f1, ways, kinds, others)
        tables[f"{len(kinds):,} questions of mixed breadth, {name}: F1 within 500"] = summary(found, ways)
        tables[f"Questions {name}"] = rows
        tables[f"With BM25 and without, {name}"] = hybrid_rows({"hybrid": found.f1, "dense": found.dense}, ways)
        tables[f"Levels that the learned planner chose, {name}"] = found.sizes
        print(f"\n{name}; the bag of words guesses {share:.3f} of the breadths")
        tables[f"breadths that the bag of words guesses, {name}"] = round(share, 4)
        show(rows)
    tables["Planners"] = planners
    for name, value in tables.items():
        if isinstance(value, list) and "this minus plain chunks" in value[0]:
            tell(name, value)
        elif isinstance(value, list) and not name.startswith("Questions "):
            print(f"\n{name}", *value, sep="\n  ")
    if options.save:
        record.save(
            options.save,
            "Planners of levels on questions of mixed breadth",
            {"questions": len(kinds), "documents": len(data.documents), "nodes": nodes, "levels": ", ".join(LEVELS)}
            | tables,
            about=(
                "Character F1 between the text that answers a question and the first 150, 500 or 1,500 words that a "
                "search returns. A third of the questions ask for a sentence (narrow), a third for a section or "
                "several passages (middle), and a third for an article (broad). No planner was trained on the "
                'articles. "Right" is the share of questions for which the chosen levels have as high an F1 as the '
                "best levels, within 500 words; questions that no levels answer are left out. Differences are paired."
            ),
            packages=("faiss-cpu", "PyStemmer"),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
