"""The tables of the UNLP 2026 paper on its leaflets, from splitting to whole systems, next to the paper's figures.

Every row searches with pychunk alone: BM25 of character 4-grams of whole pages, unless the row says otherwise. Rows
with vectors use the static encoder, which knows English, and the multilingual one. The paper's rows are for 41
documents and 460 questions, ours for the 30 and 262 of medicine. They therefore give an impression of the distance, not
of which is better. If you have the task's whole folder, pass it with ``--leaflets``. More tables show the paired
differences that vectors and stages make, and what augmentation and document evidence do to other questions.

    pip install . ./data/pychunk-multilingual
    python bench/papers/unlp.py --data ../shared/data -o bench/results/unlp.json
    python bench/papers/unlp.py --leaflets UNLP --only table2 --only pdf
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pychunk.evaluation import datasets, runner, systems
from pychunk.evaluation.measures import intervals
from pychunk.evaluation.reports import report
from pychunk.evaluation.retrieval_setups import Strategy
from pychunk.index import Bm25

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: The paper's names of our measures, and the columns of a row that are no measure.
NAMES = {
    "accuracy doc": "Accuracy_doc",
    "accuracy page": "Accuracy_page",
    **{f"page recall@{k}": f"Recall@{k}" for k in runner.PAGE_CUTOFFS},
}
INDEX = {"bm25": "ngrams"}
FINAL = Strategy("sparse", augment="head", document_weight=1.0)
PAPER = "the paper"
#: Tables 3 to 5 of the paper in percent: Accuracy_doc, Accuracy_page, Recall@1, @3, @5, and @20 (table 5: @10).
SPLITTERS: dict[str, tuple[str, tuple[float, ...]]] = {
    "recursive (600, 0)": ("recursive:size=600", (89.70, 80.47, 53.94, 69.70, 76.77, 87.68)),
    "recursive (800, 0)": ("recursive:size=800", (89.90, 80.30, 51.92, 69.50, 76.97, 88.28)),
    "recursive (1200, 0)": ("recursive:size=1200", (92.12, 81.45, 52.32, 69.70, 74.75, 87.48)),
    "recursive (1200, 300)": ("recursive:size=1200,overlap=300", (91.52, 81.95, 53.94, 70.91, 77.17, 87.88)),
    "recursive (800, 300)": ("recursive:size=800,overlap=300", (89.70, 80.24, 53.94, 70.91, 77.98, 88.49)),
    "full page": ("page", (95.56, 84.64, 54.55, 71.11, 75.76, 87.07)),
    "sentence (600, 0)": ("fixed:size=600", (92.73, 83.22, 53.33, 67.48, 74.34, 86.87)),
    "sentence (800, 0)": ("fixed:size=800", (94.14, 83.35, 49.09, 65.66, 71.72, 83.43)),
    "sentence (1200, 0)": ("fixed:size=1200", (94.34, 83.77, 48.89, 67.07, 71.72, 84.04)),
    "cluster (1600, 500)": ("cluster:max_tokens=1600,min_tokens=500", (93.94, 82.42, 48.49, 63.64, 68.08, 79.80)),
    "cluster (1200, 300)": ("cluster:max_tokens=1200,min_tokens=300", (93.33, 81.46, 45.46, 63.43, 70.10, 82.02)),
}
MULTILINGUAL = "multilingual"
#: A row of table 4: its name, how pages are found, the encoder of its vectors, and the paper's figures; without a
#: strategy, the row is the paper's alone.
RETRIEVAL: list[tuple[str, Strategy | None, str, tuple[float, ...] | None]] = [
    ("dense", Strategy("dense"), "static", (95.56, 84.64, 54.55, 71.11, 75.76, 87.07)),
    ("dense", Strategy("dense"), MULTILINGUAL, None),
    ("hybrid", Strategy("hybrid"), "static", (86.67, 77.22, 50.30, 71.11, 75.56, 88.08)),
    ("hybrid", Strategy("hybrid"), MULTILINGUAL, None),
    ("BM25", Strategy("sparse"), "", None),
    ("BM25, feedback", Strategy("sparse", rewrite="feedback"), "", None),
    ("BM25, HyDE", None, "", (91.31, 81.44, 54.34, 70.91, 76.97, 88.28)),
    ("BM25, document evidence", Strategy("sparse", document_weight=1.0), "", None),
    ("dense, augmented", Strategy("dense", augment="head"), "static", (98.18, 88.68, 63.03, 85.25, 89.29, 96.16)),
    ("dense, augmented", Strategy("dense", augment="head"), MULTILINGUAL, None),
    ("hybrid, augmented", Strategy("hybrid", augment="head"), "static", (92.53, 84.42, 60.00, 82.83, 88.08, 96.36)),
    ("hybrid, augmented", Strategy("hybrid", augment="head"), MULTILINGUAL, None),
    *(
        ("hybrid, augmented, document evidence", Strategy("hybrid", augment="head", document_weight=1.0), name, None)
        for name in ("static", MULTILINGUAL)
    ),
    ("BM25, augmented", Strategy("sparse", augment="head"), "", None),
    ("BM25, augmented, feedback", Strategy("sparse", augment="head", rewrite="feedback"), "", None),
    ("BM25, augmented, HyDE", None, "", (97.98, 89.15, 62.83, 85.05, 88.89, 96.16)),
    ("BM25, augmented, document evidence", FINAL, "", None),
]
RERANKERS = {
    "none": (95.56, 84.64, 54.55, 71.11, 75.76, 81.21),
    "BGE Reranker v2-m3": (93.13, 85.94, 64.24, 77.58, 80.81, 85.05),
    "logprob": (88.48, 83.38, 67.07, 79.60, 83.23, 86.46),
    "none, augmented": (98.18, 88.68, 63.03, 85.25, 89.29, 93.74),
    "BGE Reranker v2-m3, augmented": (99.78, 95.35, 78.96, 93.49, 95.23, 96.53),
    "logprob, augmented": (98.92, 94.92, 80.26, 91.76, 94.36, 96.31),
}
SYSTEMS = {
    "approach A (an LLM call a chunk, BGE reranker)": (99.78, 95.35, 78.96, 93.49, 95.23, 96.53, 97.61),
    "approach B (an LLM call a document, BGE reranker)": (99.78, 94.70, 78.52, 91.54, 94.14, 96.75, 96.96),
}
#: The measures shown for questions about other texts, by their kind.
ELSEWHERE = {
    "answers": ("strict hits@1", "strict hits@5", "strict hits in 500 words"),
    "references": ("recall@5", "IoU@5", "recall in 500 words"),
}
Values = Mapping[str, np.ndarray]


class Leaflets:
    """The leaflets with their questions; cuts and searches are cached."""

    def __init__(self, data: datasets.Dataset, rerank: str | None = None) -> None:
        self.data, self.rerank = data, rerank
        self._encoders: dict[str, tuple[systems.Encoder, np.ndarray]] = {}
        self._cut: dict[tuple[str, str], systems.SystemChunks] = {}

    def encoder(self, name: str) -> tuple[systems.Encoder, np.ndarray]:
        """Return an encoder, and the vectors of the questions."""
        if name not in self._encoders:
            encoder = systems.Encoder(name)
            self._encoders[name] = encoder, encoder.encode([each.text for each in self.data.questions])
        return self._encoders[name]

    def cut(self, method: str, encoder: str) -> systems.SystemChunks:
        """Return chunks of ``page``, or of ``recursive:size=600,overlap=300``, in characters."""
        if (method, encoder) not in self._cut:
            name, _, rest = method.partition(":")
            options: dict[str, Any] = {
                key: int(value) for key, value in (one.split("=") for one in rest.split(",") if one)
            }
            options |= {"unit": "characters"} if options else {}
            self._cut[method, encoder] = systems.by_method(name, options, self.data, self.encoder(encoder)[0])
        return self._cut[method, encoder]

    def row(
        self,
        name: str,
        how: Strategy,
        method: str = "page",
        index: Mapping[str, Any] = INDEX,
        encoder: str = "static",
    ) -> tuple[dict[str, Any], Values]:
        """Return a row of a table, and its values for each question."""
        model, asked = self.encoder(encoder)
        chunked = self.cut(method, encoder)
        found = runner.retrieve(chunked, self.data, model, how, asked, index)
        values, _ = runner.measure(found, self.data, model)
        own = {NAMES[key]: value for key, value in values.items()}
        by = "BM25" if how.mode == "sparse" else f"{encoder} encoder" + (" and BM25" if how.mode == "hybrid" else "")
        row: dict[str, Any] = {"row": name, "found by": by}
        row |= {key: intervals.interval(value)._asdict() for key, value in own.items()}
        row |= {
            "words in top 5": round(float(found.words[:, :5].sum(axis=1).mean())),
            "ms a question": round(found.milliseconds, 2),
            "tokens encoded": 0 if how.mode == "sparse" else found.tokens,
        }
        return row, own


def of_paper(name: str, figures: tuple[float, ...], last: str = "Recall@20") -> dict[str, Any]:
    """Return a row of the paper's, as shares."""
    keys = ["Accuracy_doc", "Accuracy_page", "Recall@1", "Recall@3", "Recall@5"]
    keys += ["Recall@10", "Recall@20"] if len(figures) == 7 else [last]
    row = {"row": name, "found by": PAPER}
    return {**row, **{key: round(value / 100, 4) for key, value in zip(keys, figures, strict=True)}}


def table2(leaflets: Leaflets) -> list[dict[str, Any]]:
    """Return the table of whole systems."""
    rows = [
        leaflets.row("no model: 4-grams, head, document evidence", FINAL)[0],
        leaflets.row("the same, asked with the six options", replace(FINAL, rewrite="options"))[0],
    ]
    return rows + [of_paper(name, figures) for name, figures in SYSTEMS.items()]


def table3(leaflets: Leaflets) -> list[dict[str, Any]]:
    """Return the table of splitters, with BM25 of 4-grams and nothing else."""
    rows = []
    for name, (method, figures) in SPLITTERS.items():
        row = leaflets.row(name, Strategy("sparse"), method)[0]
        rows.append(row | {"found by": "BM25, cut by static encoder"} if method.startswith("cluster") else row)
        rows.append(of_paper(name, figures))
    return rows


def table4(leaflets: Leaflets) -> list[dict[str, Any]]:
    """Return the table of ways to find whole pages."""
    rows = []
    for name, how, encoder, figures in RETRIEVAL:
        if how is not None:
            rows.append(leaflets.row(name, how, encoder=encoder or "static")[0])
        if figures is not None:
            rows.append(of_paper(name, figures))
    return rows


def vectors(leaflets: Leaflets) -> list[dict[str, Any]]:
    """Return what the multilingual vectors add, on the same questions; an interval with 0 shows no effect."""
    rows = []
    for name, more, less in (
        ("hybrid, minus BM25", Strategy("hybrid"), Strategy("sparse")),
        ("dense, augmented, minus dense", Strategy("dense", augment="head"), Strategy("dense")),
        (
            "hybrid, augmented, minus BM25, augmented",
            Strategy("hybrid", augment="head"),
            replace(FINAL, document_weight=0),
        ),
        ("hybrid, all but the options, minus BM25 so", replace(FINAL, mode="hybrid"), FINAL),
    ):
        (_, one), (_, two) = (leaflets.row(name, how, encoder=MULTILINGUAL) for how in (more, less))
        gain = {key: intervals.paired(one[key], two[key])._asdict() for key in NAMES.values()}
        rows.append({"row": name, "found by": f"{MULTILINGUAL} encoder", **gain})
    return rows


def table5(leaflets: Leaflets) -> list[dict[str, Any]]:
    """Return the table of rerankers of the best 20."""
    rows = [leaflets.row("none", Strategy("sparse"))[0], leaflets.row("none, augmented", FINAL)[0]]
    if leaflets.rerank is not None:
        rows += [
            leaflets.row(f"{leaflets.rerank}", Strategy("sparse", rerank=leaflets.rerank))[0],
            leaflets.row(f"{leaflets.rerank}, augmented", replace(FINAL, rerank=leaflets.rerank))[0],
        ]
    return rows + [of_paper(name, figures, "Recall@10") for name, figures in RERANKERS.items()]


def stages(leaflets: Leaflets) -> list[dict[str, Any]]:
    """Return what the final rows lose without each stage, on the same questions; an interval with 0 shows no effect."""
    whole = replace(FINAL, rewrite="options")
    bases: dict[str, tuple[Strategy, list[tuple[str, Strategy, str, Mapping[str, Any]]]]] = {
        "all stages": (
            whole,
            [
                ("without the options", FINAL, "page", INDEX),
                ("without document evidence", replace(whole, document_weight=0.0), "page", INDEX),
                ("without augmentation", replace(whole, augment=None), "page", INDEX),
                ("without n-grams (words)", whole, "page", {"bm25": "words"}),
                ("without pages (recursive, 1,200 characters)", whole, "recursive:size=1200", INDEX),
            ],
        ),
        "all but the options": (
            FINAL,
            [
                ("without document evidence", replace(FINAL, document_weight=0.0), "page", INDEX),
                ("without augmentation", replace(FINAL, augment=None), "page", INDEX),
                ("without n-grams (words)", FINAL, "page", {"bm25": "words"}),
                ("without pages (recursive, 1,200 characters)", FINAL, "recursive:size=1200", INDEX),
            ],
        ),
    }
    rows = []
    for base, (final, without) in bases.items():
        row, values = leaflets.row(base, final)
        rows.append(row)
        for name, how, method, index in without:
            _, own = leaflets.row(name, how, method, index)
            lost = {key: intervals.paired(own[key], values[key])._asdict() for key in NAMES.values()}
            rows.append({"row": f"{name}, minus {base}", "found by": "BM25", **lost})
    return rows


def elsewhere(data: Path, limit: int | None) -> list[dict[str, Any]]:
    """Return what the stages do to other questions, minus the recommended options there, on the same questions.

    ``worse`` lists all measures that are worse by more than the interval of the difference.
    """
    sets = [
        datasets.squad(data / "squad" / "dev-v2.0.json", limit),
        datasets.chunking_evaluation(data / "chunking_evaluation", limit),
    ]
    rows = []
    for own in sets:
        encoder = systems.Encoder("static")
        asked = encoder.encode([each.text for each in own.questions])
        chunked, headed = (
            systems.by_method(method, {"size": 110, "unit": "words"}, own, encoder)
            for method in ("recursive", "structure")
        )

        def values(
            how: Strategy, chunked: Any = chunked, own: Any = own, encoder: Any = encoder, asked: Any = asked
        ) -> Any:
            found = runner.retrieve(chunked, own, encoder, how, asked, {"bm25": Bm25(stemmer="english")})
            return runner.measure(found, own, encoder)[0]

        usual = values(Strategy("hybrid"))
        ways = ["head", *(["title"] if own.titles else []), "summary", "neighbours"]
        first = {f"measure {i}": intervals.interval(usual[m])._asdict() for i, m in enumerate(ELSEWHERE[own.kind], 1)}
        named = {"questions": own.name, "measures": ", ".join(ELSEWHERE[own.kind])}
        rows.append({**named, "row": "recommended", **first})
        for name, how in (
            *((f"augment={way}", Strategy("hybrid", augment=way)) for way in ways),
            ("document_weight=1", Strategy("hybrid", document_weight=1.0)),
            ("augment=head, document_weight=1", Strategy("hybrid", augment="head", document_weight=1.0)),
        ):
            rows.append({**named, "row": f"{name}, minus recommended", **_change(own.kind, values(how), usual)})
        # Only chunks of structure have headings, and in these texts without marks that method has to guess them.
        change = _change(
            own.kind, values(Strategy("hybrid", augment="path"), headed), values(Strategy("hybrid"), headed)
        )
        rows.append({**named, "row": "structure, augment=path, minus structure", **change})
    return rows


def _change(kind: str, found: Values, usual: Values) -> dict[str, Any]:
    """Return the gain of a row over the usual one on the same questions, and the measures that are worse."""
    change = {m: intervals.paired(found[m], usual[m]) for m in usual}
    main = {f"measure {i}": change[m]._asdict() for i, m in enumerate(ELSEWHERE[kind], 1)}
    better = {m: -1.0 if m in report.LOWER_IS_BETTER else 1.0 for m in usual}
    worse = [m for m, by in change.items() if max(better[m] * by.low, better[m] * by.high) < 0]
    return {**main, "worse": ", ".join(worse) or "none"}


TABLES: dict[str, tuple[str, Callable[[Leaflets], list[dict[str, Any]]]]] = {
    "table2": ("Table 2: whole systems", table2),
    "table3": ("Table 3: splitters, found by BM25 of 4-grams", table3),
    "table4": ("Table 4: retrieval of whole pages", table4),
    "table5": ("Table 5: rerankers", table5),
    "vectors": ("What multilingual vectors add", vectors),
    "stages": ("Each stage switched off", stages),
}


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print a table on the terminal, with intervals in brackets."""
    print(f"\n{title}")
    for row in rows:
        cells = [
            f"{key} {value['mean']:.3f} ({value['low']:.3f} to {value['high']:.3f})"
            if isinstance(value, dict)
            else f"{key} {value}"
            for key, value in row.items()
            if key not in ("row", "found by", "questions", "measures")
        ]
        heads = [str(row[key]) for key in ("questions", "row", "found by") if key in row]
        print(f"  {'; '.join(heads)}: {', '.join(cells)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with unlp2026/, squad/ and more")
    parser.add_argument(
        "--leaflets", type=Path, metavar="DIR", help="a folder in the task's form (default: unlp2026/ in the data)"
    )
    parser.add_argument("--only", action="append", choices=[*TABLES, "pdf", "elsewhere"], help="may be repeated")
    parser.add_argument("--rerank", help="a cross-encoder for table 5 (default: none)")
    parser.add_argument("--limit", type=int, help="only the first N questions of each set")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    wanted = options.only or [*TABLES, "pdf", "elsewhere"]
    folder = options.leaflets or options.data / "unlp2026"
    leaflets = Leaflets(datasets.unlp(folder, options.limit), options.rerank)
    figures: dict[str, Any] = {
        "documents": len(leaflets.data.documents),
        "pages": sum(map(len, leaflets.data.page_starts)),
        "questions": len(leaflets.data.questions),
    }
    for key, (title, make) in TABLES.items():
        if key in wanted:
            figures[title] = make(leaflets)
            show(title, figures[title])
    if "pdf" in wanted:
        title = "Read from the PDF files"
        figures[title] = table2(Leaflets(datasets.unlp(folder, options.limit, pdf=True)))[:2]
        show(title, figures[title])
    if "elsewhere" in wanted:
        title = "Augmentation and document evidence elsewhere"
        figures[title] = elsewhere(options.data, options.limit)
        show(title, figures[title])
    if options.output:
        about = (
            f"{figures['documents']} leaflets in Ukrainian, {figures['questions']} questions. The paper's rows are "
            "for 41 documents and 460 questions, found by vectors of Arctic-Embed-L v2.0 (568 million parameters). So "
            "they show how far apart the figures are, "
            "but not which system is better. Times are on one thread, while other work ran on the machine."
        )
        title = "Pages of leaflets compared with the UNLP 2026 paper"
        record.save(options.output, title, figures, about=about, packages=("pypdfium2",), encoder=record.shipped())


if __name__ == "__main__":
    main()
