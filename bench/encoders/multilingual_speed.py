"""The speed of `pic` with the multilingual table compared with the English one, and of the detection of languages.

    pip install ./data/pychunk-multilingual
    python bench/encoders/multilingual_speed.py

Both tables cut the same new text in turns on one core, so that no text was read in a round before. Times are
processor time, and the ratio is the median of the rounds' ratios. The text is English Wikipedia, and for the detection
also XQuAD in all its languages.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench.inputs import add_data

ROUND = 6_000_000


def rounds(texts: list[str], count: int) -> Iterator[tuple[list[str], int]]:
    """Yield consecutive texts of ROUND bytes or a little more, and the number of their bytes."""
    own: list[str] = []
    size = 0
    for text in texts:
        own.append(text)
        size += len(text.encode())
        if size >= ROUND:
            yield own, size
            own, size, count = [], 0, count - 1
            if count == 0:
                return
    if count:
        raise SystemExit(f"the data has {count} rounds too few: pass a smaller --rounds")


def rate(call: Callable[[list[str]], Any], texts: list[str], size: int) -> float:
    """Return the MB that the call reads in a second of the processor, after checking that it answers for each text."""
    begin = time.process_time()
    answers = call(texts)
    seconds = time.process_time() - begin
    assert len(answers) >= len(texts)
    return size / 1e6 / seconds


def paragraphs(data: Path) -> list[str]:
    """Return the paragraphs of XQuAD in all languages."""
    found = []
    for file in sorted((data / "xquad").glob("xquad.*.json")):
        articles = json.loads(file.read_text(encoding="utf-8"))["data"]
        found += [each["context"] for article in articles for each in article["paragraphs"]]
    return found


def main() -> None:
    """Print the rates and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="of 6 MB each (default: %(default)s)")
    options = parser.parse_args()
    one = pychunk.Placement(threads=1)
    segmenters = {name: pychunk.Segmenter("pic", encoder=name, placement=one) for name in ("static", "multilingual")}
    texts = pq.read_table(Path(options.data) / "wiki" / "articles.parquet", columns=["text"])["text"].to_pylist()
    for segmenter in segmenters.values():
        segmenter(texts[-50:])
    rates: dict[str, list[float]] = {name: [] for name in segmenters}
    for own, size in rounds(texts[:-50], options.rounds):
        for name, segmenter in segmenters.items():
            rates[name].append(rate(segmenter, own, size))
    for name, found in rates.items():
        print(f"pic, {name}: {statistics.median(found):.1f} MB/s")
    ratios = [other / english for english, other in zip(rates["static"], rates["multilingual"], strict=True)]
    low, middle, high = statistics.quantiles(ratios)
    print(f"multilingual / static: {middle:.3f}, half of the rounds from {low:.3f} to {high:.3f}")
    detect = functools.partial(pychunk.detect_languages, threads=1)
    for name, read in (("Wikipedia", texts[: len(texts) // 20]), ("XQuAD", paragraphs(Path(options.data)))):
        size = sum(len(text.encode()) for text in read)
        found = [rate(detect, read, size) for _ in range(5)]
        print(f"detect_languages, {name}: {statistics.median(found):.0f} MB/s")


if __name__ == "__main__":
    main()
