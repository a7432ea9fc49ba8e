"""The weight of a table's cosines in a hybrid search: headings of translated manuals as questions for their sections.

Every language is a corpus of the sections of its manuals, without their headings. A heading that occurs once is a
question, and its section the answer. The columns are vectors alone, BM25 alone, and both with weights of BM25, where
the cosine has the weight 1. Each is the share of headings whose section is found first, and the last row is the mean
over languages. `python -m training.manuals` makes the file; `validation` chose the weight, and `test` confirms it. With
`--english`, English headings ask for the same sections in each other language. The columns then are vectors alone and
the hybrid search as it is, first and among the first five.

    python bench/encoders/fusion_weight.py manuals.parquet --part validation
    python bench/encoders/fusion_weight.py manuals.parquet --english
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pychunk
from pychunk.encoders import registry
from pychunk.encoders.piece_encoder import PieceEncoder
from pychunk.index import Ranking

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from training.manuals import sections

#: The weights of BM25 that are tried, where the cosine has 1. The default is 1.5.
WEIGHTS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0)
#: The fewest characters of a section and of a heading, the fewest questions of a language, and the most.
SECTION, HEADING, LEAST, MOST = 120, 9, 150, 1500
#: The fewest English headings for the sections of a language.
LEAST_TRANSLATED = 60


def long_sections(chapters: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the heading, without its number, and the text of each section."""
    found: dict[str, str] = {}
    for chapter in chapters:
        for heading, text in sections(chapter):
            if heading and len(text) > SECTION:
                found.setdefault(text, heading)
    return [(heading, text) for text, heading in found.items()]


def found_first(own: list[tuple[str, str]], encoder: str) -> dict[str, float]:
    """Return the share of headings whose section is found first, for each way to search."""
    often = Counter(heading.lower() for heading, _ in own)
    asked = [(heading, row) for row, (heading, _) in enumerate(own) if often[heading.lower()] == 1]
    asked = [each for each in asked if len(each[0]) >= HEADING][:MOST]
    if len(asked) < LEAST:
        return {}
    questions, wanted = [heading for heading, _ in asked], np.array([row for _, row in asked])
    ways: dict[str, dict[str, Any]] = {"dense": {"mode": "dense"}, "bm25": {"mode": "sparse"}}
    ways |= {f"{weight:g}": {"ranking": Ranking(bm25_weight=weight)} for weight in WEIGHTS}
    with tempfile.TemporaryDirectory() as folder:
        index = pychunk.Index.create(Path(folder) / "manuals.idx", encoder=encoder)
        texts, ids = [text for _, text in own], [str(row) for row in range(len(own))]
        index.add(pychunk.segment(texts, vectors="sentence", encoder=encoder, ids=ids))
        hits = {way: index.search(questions, k=1, **options) for way, options in ways.items()}
        index.close(discard=True)
    firsts = {way: np.array([int(each[0].document_id) if each else -1 for each in own]) for way, own in hits.items()}
    return {"questions": len(asked)} | {way: float((first == wanted).mean()) for way, first in firsts.items()}


def found_from_english(
    chapters: list[dict[str, Any]], english: dict[str, dict[str, Any]], encoder: str
) -> dict[str, float]:
    """Return the share of sections whose English heading, and whose own, finds them first and among five."""
    own: list[tuple[str, str, str]] = []
    for chapter in chapters:
        other = english.get(chapter["name"])
        if other is not None and sum(other["headings"]) == sum(chapter["headings"]):
            pairs = zip(sections(chapter), sections(other), strict=True)
            own += [(first[0], second[0], first[1]) for first, second in pairs if len(first[1]) > SECTION]
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        index = pychunk.Index.create(Path(folder) / "manuals.idx", encoder=encoder)
        texts, ids = [text for *_, text in own], [str(row) for row in range(len(own))]
        index.add(pychunk.segment(texts, vectors="sentence", encoder=encoder, ids=ids))
        for asked, column in (("English", 1), ("own", 0)):
            often = Counter(each[column].lower() for each in own)
            rows = [
                row for row, each in enumerate(own) if often[each[column].lower()] == 1 and len(each[column]) >= HEADING
            ]
            if len(rows) < LEAST_TRANSLATED:
                index.close(discard=True)
                return {}
            figures[f"questions, {asked}"] = len(rows)
            for mode in ("dense", "hybrid"):
                found = index.search([own[row][column] for row in rows], k=25, mode=mode)
                places = [list(dict.fromkeys(int(hit.document_id) for hit in hits))[:5] for hits in found]
                first = [row in place[:1] for row, place in zip(rows, places, strict=True)]
                five = [row in place for row, place in zip(rows, places, strict=True)]
                figures |= {f"{asked}, {mode}": float(np.mean(first)), f"{asked}, {mode}, five": float(np.mean(five))}
        index.close(discard=True)
    return figures


def main() -> None:
    """Print a row for each language, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, help="what python -m training.manuals wrote")
    parser.add_argument("--part", default="validation", choices=("train", "validation", "test"))
    parser.add_argument("--encoder", default="multilingual")
    parser.add_argument("--english", action="store_true", help="ask with English headings")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write all figures as JSON")
    options = parser.parse_args()
    encoder = registry.vector_encoder(options.encoder)
    if isinstance(encoder, PieceEncoder) and not options.english:
        encoder.cosine_weight = 1.0  # otherwise the weight that was chosen would count, too
    chapters: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for chapter in pq.read_table(options.manuals).to_pylist():
        if chapter["part"] == options.part:
            chapters[chapter["language"]].append(chapter)
    english = {chapter["name"]: chapter for chapter in chapters["en"]}
    rows = []
    for language, own in sorted(chapters.items()):
        if options.english:
            figures = found_from_english(own, english, options.encoder) if language != "en" else {}
        else:
            figures = found_first(long_sections(own), options.encoder)
        if figures:
            rows.append({"language": language} | figures)
            print(
                ", ".join(
                    f"{key}: {value:.3f}" if isinstance(value, float) else f"{value}" for key, value in rows[-1].items()
                ),
                flush=True,
            )
    ways = [way for way in rows[0] if not way.startswith(("language", "questions"))] if rows else []
    means = {way: float(np.mean([row[way] for row in rows])) for way in ways}
    print("mean: " + ", ".join(f"{way}: {mean:.4f}" for way, mean in means.items()))
    if options.save:
        about = " ".join((__doc__ or "").split("\n\n")[1].split())
        record.save(
            options.save, "The weight of cosines", {"rows": rows, "means": means}, about=about, encoder=options.encoder
        )


if __name__ == "__main__":
    main()
