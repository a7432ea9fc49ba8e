"""Trees compared with levels of structure, on the questions of mixed breadth, within 500 words, and trees' costs.

Both trees start from windows of 128 tokens, as RAPTOR's from chunks of 100, and nothing is summarised. A node's vector
is the mean of its sentences' vectors by tokens. The first tree joins only neighbours (pychunk.levels.similarity_trees).

The second is RAPTOR's: a Gaussian mixture over all nodes of a document, whatever their positions. A node is in each
cluster to which it belongs with more than 0.1, and so on upwards. PCA to 10 dimensions replaces UMAP. The number of
clusters is the one with the least BIC out of three: half, one and two times the number that gives clusters of
`--branching`. A cluster is returned as its windows in their order. scikit-learn comes with the extra `train`.

The ranking of every node is by cosine alone; `all` is every level of a tree at once, RAPTOR's collapsed tree. The
script skips spans that overlap an earlier one, and cuts the last off at the end of the budget.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import pychunk
from pychunk._engine.data.ragged import offsets_of
from pychunk.evaluation.measures import intervals
from pychunk.levels.hierarchy_builder import hierarchy_by
from pychunk.levels.similarity_trees import agglomerated
from pychunk.training import breadth
from pychunk.training.breadth import BUDGETS

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
WORDS = 500
MIDDLE = BUDGETS.index(WORDS)
KINDS = ("narrow", "middle", "broad")
#: The levels of structure.
LEVELS = ("sentence", "paragraph", "section", "document")
#: The tokens of the windows that are the trees' leaves.
LEAF = 128
#: RAPTOR's dimensions of the mixture, and the least probability with which a node belongs to a cluster.
DIMENSIONS, SURE = 10, 0.1
#: The hits of each level, and the queries processed at a time.
HITS, BATCH = 150, 128


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="in all; 0: all (default)")
    parser.add_argument("--branching", type=int, default=5, metavar="N", help="nodes of a node (default: %(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/smartchunk_trees.json")
    return parser.parse_args()


@dataclass(frozen=True)
class Nodes:
    """The nodes of a level: vectors float32[m, d], and the spans [offsets[i], offsets[i + 1]) of each."""

    vectors: F32
    offsets: I64
    document: I64
    start: I64
    end: I64


def nodes_of(found: Any, level: Any) -> Nodes:
    """Return the nodes of a hierarchy, each of one span."""
    start, end = found.spans(level)
    return Nodes(found.vectors(level), np.arange(len(start) + 1), found.documents_of(level), start, end)


def mixture_tree(vectors: F32, weights: I64, branching: int) -> list[list[I64]]:
    """Return the levels of clusters of a document's leaves, finest first; the last level is one cluster of all."""
    from sklearn.decomposition import PCA
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    own = [np.array([leaf]) for leaf in range(len(vectors))]
    levels: list[list[I64]] = []
    while len(own) > branching:
        sums = np.stack([(weights[leaves, None] * vectors[leaves]).sum(0) for leaves in own])
        unit = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        reduced = PCA(min(DIMENSIONS, len(own) - 2), random_state=0).fit_transform(unit)
        counts = {max(1, len(own) * times // (2 * branching)) for times in (1, 2, 4)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = [GaussianMixture(count, random_state=0).fit(reduced) for count in sorted(counts)]
        best = min(fitted, key=lambda each: each.bic(reduced))
        shares = best.predict_proba(reduced)
        inside = (shares > SURE) | (shares == shares.max(axis=1, keepdims=True))
        members = [np.flatnonzero(column) for column in inside.T if column.any()]
        if len(members) >= len(own) or len(members) < 2:
            break
        own = [np.unique(np.concatenate([own[node] for node in nodes])) for nodes in members]
        levels.append(own)
    return [*levels, [np.arange(len(vectors))]]


def clusters(found: Any, leaf: Any, branching: int) -> list[Nodes]:
    """Return the levels of the mixtures' trees above a level of a hierarchy."""
    vectors, first = found.vectors(leaf), found.first(leaf)
    weights = np.add.reduceat(found.tokens, first[:-1])
    document, (start, end) = found.documents_of(leaf), found.spans(leaf)
    begins = np.searchsorted(document, np.arange(found.documents + 1))
    trees = [
        [
            [leaves + begin for leaves in own]
            for own in mixture_tree(vectors[begin:last], weights[begin:last], branching)
        ]
        for begin, last in pairwise(begins.tolist())
        if begin < last
    ]
    out = []
    for place in range(max(map(len, trees))):  # the root of a low tree is also at all levels above it
        own = [leaves for tree in trees for leaves in tree[min(place, len(tree) - 1)]]
        every = np.concatenate(own)
        offsets = offsets_of(np.array([len(leaves) for leaves in own], np.int64))
        sums = np.add.reduceat(weights[every, None] * vectors[every], offsets[:-1], axis=0)
        unit = (sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)).astype(np.float32)
        out.append(Nodes(unit, offsets, document[every], start[every], end[every]))
    return out


def best_of(nodes: Nodes, asked: F32) -> tuple[I64, F32]:
    """Return the best nodes of each query and their cosines, best first."""
    scores = asked @ nodes.vectors.T
    count = min(HITS, scores.shape[1])
    rows = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    own = np.take_along_axis(scores, rows, axis=1)
    order = np.lexsort((rows, -own))
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(own, order, axis=1)


def handed_over(levels: Sequence[Nodes], hits: Sequence[tuple[I64, F32]], number: int) -> tuple[I64, I64, I64]:
    """Return the spans of a query's hits in their order, of several levels by falling cosine."""
    level = np.concatenate([np.full(len(rows[number]), place) for place, (rows, _) in enumerate(hits)])
    rows = np.concatenate([rows[number] for rows, _ in hits])
    order = np.argsort(-np.concatenate([scores[number] for _, scores in hits]), kind="stable")[:HITS]
    parts = []
    for place, row in zip(level[order].tolist(), rows[order].tolist()):
        nodes = levels[place]
        parts.append(np.arange(nodes.offsets[row], nodes.offsets[row + 1]))
    documents, starts, ends = (
        np.concatenate([getattr(levels[place], name)[own] for place, own in zip(level[order].tolist(), parts)])
        for name in ("document", "start", "end")
    )
    return documents, starts, ends


def f1_of(data: Any, asked: F32, measure: Any, ways: dict[str, list[Nodes]]) -> dict[str, F64]:
    """Return float64[questions, budgets] for each way."""
    found = {name: np.zeros((len(asked), len(BUDGETS))) for name in ways}
    every = {id(nodes): nodes for levels in ways.values() for nodes in levels}
    for first in range(0, len(asked), BATCH):
        part = asked[first : first + BATCH]
        best = {key: best_of(nodes, part) for key, nodes in every.items()}
        for name, levels in ways.items():
            hits = [best[id(nodes)] for nodes in levels]
            for number in range(len(part)):
                spans = handed_over(levels, hits, number)
                question = data.questions[first + number]
                found[name][first + number] = [measure.f1(question, *spans, words) for words in BUDGETS]
    return found


def seconds_of(make: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """Return the result, and the least CPU seconds that it took."""
    spent = []
    for _ in range(repeats):
        begin = time.process_time()
        made = make()
        spent.append(time.process_time() - begin)
    return made, min(spent)


def main() -> None:
    """Print the table and save it."""
    options = arguments()
    data = breadth.load(options.data, "test", options.questions)
    segmenter = pychunk.Segmenter("structure", vectors="sentence", placement=pychunk.Placement(threads=1))
    print(f"{len(data.questions):,} questions about {len(data.documents):,} documents", flush=True)
    seconds: dict[str, float] = {}

    def levels(names: Sequence[Any]) -> Any:
        return hierarchy_by(segmenter, data.documents, names, columns={"blocks": data.blocks})

    bare, alone = seconds_of(lambda: levels(["sentence"]), 3)
    structure, seconds["levels of structure"] = seconds_of(lambda: levels(LEVELS), 3)
    leaves, windows = seconds_of(lambda: levels(["sentence", LEAF, "document"]), 3)
    joined, spent = seconds_of(lambda: agglomerated(leaves, options.branching, base=LEAF), 3)
    seconds["neighbours"] = windows + spent
    from_sentences, spent = seconds_of(lambda: agglomerated(bare, options.branching), 3)
    seconds["neighbours, from sentences"] = alone + spent
    mixed, spent = seconds_of(lambda: clusters(leaves, LEAF, options.branching))
    seconds["mixtures"] = windows + spent
    print({name: round(value, 3) for name, value in seconds.items()}, flush=True)

    trees = {
        "levels of structure": {str(level): nodes_of(structure, level) for level in LEVELS},
        "neighbours": {str(level): nodes_of(joined, level) for level in joined.levels[1:]},
        "neighbours, from sentences": {str(each): nodes_of(from_sentences, each) for each in from_sentences.levels},
        "mixtures": {
            str(LEAF): nodes_of(leaves, LEAF),
            **{f"tree {place}": nodes for place, nodes in enumerate(mixed, 1)},
        },
    }
    ways: dict[str, list[Nodes]] = {}
    of: dict[str, tuple[str, str]] = {}
    for tree, own in trees.items():
        alone_too = [(level, [nodes]) for level, nodes in list(own.items())[:4]]
        for level, nodes in [("all", list(own.values())), *alone_too]:
            ways[f"{tree}: {level}"], of[f"{tree}: {level}"] = nodes, (tree, level)
    measure = breadth.Measure(data.documents)
    asked = pychunk.embed(
        [question.text for question in data.questions], task="query", placement=pychunk.Placement(threads=1)
    )
    f1 = f1_of(data, asked, measure, ways)
    rows = rows_of([question.breadth for question in data.questions], f1, of, ways, seconds)
    for row in rows:
        print(row)
    if options.save:
        record.save(
            options.save,
            "Trees compared with levels of structure",
            {
                "questions": len(data.questions),
                "documents": len(data.documents),
                "branching": options.branching,
                "rows": rows,
            },
            about=(
                "Character F1 between the text that answers a question and the first 150, 500 or 1,500 words that a "
                'search by cosine alone returns. Level "all" is a search of all levels of a tree at once. The trees '
                '"neighbours" join only adjacent nodes. "Mixtures" are clusters as in RAPTOR, without summaries, and '
                'with PCA in place of UMAP. Both are built on windows of 128 tokens, except the neighbours "from '
                'sentences". Seconds are CPU time for all documents, from their text. The root of a document may be a '
                "node of several levels, and is then counted at each of them. Differences are paired."
            ),
            packages=("scikit-learn",),
            encoder=record.shipped(),
        )


def rows_of(
    kinds: Sequence[str],
    f1: dict[str, F64],
    of: dict[str, tuple[str, str]],
    ways: dict[str, list[Nodes]],
    seconds: dict[str, float],
) -> list[dict[str, Any]]:
    """Return a row for each way, with paired differences to all levels of structure."""
    group, base = np.array(kinds), f1["levels of structure: all"]
    rows = []
    for name, own in f1.items():
        tree, level = of[name]
        row: dict[str, Any] = {"tree": tree, "level": level, "nodes": sum(len(each.vectors) for each in ways[name])}
        row |= {f"F1 within {words}": _rounded(own[:, place]) for place, words in enumerate(BUDGETS)}
        minus = intervals.paired(own[:, MIDDLE], base[:, MIDDLE])._asdict()
        row["minus all levels of structure, within 500"] = {key: round(value, 4) for key, value in minus.items()}
        row |= {kind: round(float(own[group == kind, MIDDLE].mean()), 4) for kind in KINDS}
        row["seconds"] = round(seconds[tree], 3) if level == "all" else None
        rows.append(row)
    return rows


def _rounded(values: F64) -> dict[str, float]:
    return {key: round(value, 4) for key, value in intervals.interval(values)._asdict().items()}


if __name__ == "__main__":
    main()
