"""Edit locality: the share of an article's chunks that keep their `text_id` if one sentence is put first.

An edit changes at least the chunk that the new sentence joins. The share that this one chunk leaves is the most that a
method can keep, unless the sentence is a chunk by itself. Methods that use facts about the whole document, such as a
percentile of its cosines, can change chunks anywhere.

    python bench/stages/edit_locality.py --save bench/results/edit_locality.json
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import pychunk
from pychunk.evaluation.measures import intervals

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

#: The sentence that is put before every article.
FIRST = "This sentence is new. "
#: The methods with their defaults, and the facts by which each one cuts.
METHODS: dict[str, tuple[dict[str, Any], str]] = {
    "default": ({}, "the sentences around a boundary, little by the document's mean vector and the words before"),
    "topic": ({"method": "topic"}, "as the default"),
    "recursive": ({"method": "recursive"}, "where the chunk before ends"),
    "structure": ({"method": "structure"}, "where the chunk before in the section ends"),
    "fixed": ({"method": "fixed"}, "where the chunk before ends"),
    "sentence": ({"method": "sentence"}, "the sentence"),
    "paragraph": ({"method": "paragraph"}, "the paragraph"),
    "nsp, static": ({"method": "nsp", "encoder": "static"}, "the two sentences at a boundary"),
    "semantic": ({"method": "semantic"}, "a percentile of all cosines of the document"),
    "cluster": ({"method": "cluster"}, "the mean of all cosines of the document, the best sum over the document"),
    "pic": ({"method": "pic"}, "the document's summary, the mean of all cosines to it"),
}


def changed(texts: Sequence[str], options: dict[str, Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of chunks of each article, and the number of those that the sentence changes."""
    segmenter = pychunk.Segmenter(**options)
    ids = [str(row) for row in range(len(texts))]
    before, after = (segmenter(each, ids=ids) for each in (texts, [FIRST + text for text in texts]))
    kept = np.isin(before.table["text_id"].to_pylist(), after.table["text_id"].to_pylist())
    document = np.asarray(before.table["document_index"], np.int64)
    return np.bincount(document, minlength=len(texts)), np.bincount(document[~kept], minlength=len(texts))


def measured(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row for each method. Intervals are over articles."""
    rows = []
    for name, (options, facts) in METHODS.items():
        chunks, lost = changed(texts, options)
        sums = np.stack([chunks, lost], 1)
        share = intervals.of_sums(sums, lambda each: 100 * (1 - each[1] / each[0]))
        rows.append(
            {
                "method": name,
                "kept, %": {key: round(value, 1) for key, value in share._asdict().items()},
                "all but one, %": round(100 * (1 - len(texts) / int(chunks.sum())), 1),
                "chunks an article": round(float(chunks.mean()), 1),
                "changed an article": round(float(lost.mean()), 2),
                "most": int(lost.max()),
                "articles with more than one, %": round(100 * float((lost > 1).mean()), 1),
                "cuts by": facts,
            }
        )
    return rows


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--articles", type=int, default=200, metavar="N", help="number of articles (default: 200)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/edit_locality.json")
    options = parser.parse_args()
    table = pq.read_table(Path(options.data) / "wiki" / "articles.parquet", columns=["text"])
    texts = table["text"].slice(0, options.articles).to_pylist()
    rows = measured(texts)
    for row in rows:
        print(*(f"{value:.1f}" if isinstance(value, float) else value for value in row.values()), sep=" | ")
    if options.save:
        record.save(
            options.save,
            "Edit locality",
            {"articles": len(texts), "rows": rows},
            about=(
                "One sentence is put before each article of Wikipedia. `kept`: the share of the articles' chunks whose "
                "`text_id` the new chunks have, too. `all but one`: that share if one chunk of each article changed, "
                "which is the one that the sentence joins. `changed an article`: the mean number of chunks that "
                "changed; `most`: the largest number. `cuts by`: what decides where a chunk ends."
            ),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
