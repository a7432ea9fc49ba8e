"""Recognized text: the share of words that are right on drawn pages, clean and damaged, and pages a second.

Paragraphs of XQuAD are drawn in the default font of Pillow, at 200 dots per inch, and read as images, one at a time.

    python bench/ingestion/text_recognition.py --save bench/results/text_recognition.json
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from pychunk.parsing.pdf.pdf_document import read_image

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

#: The size of a page of A4 in pixels, the margin, the size of the letters (11 points), and the letters in a line.
PAGE, MARGIN, SIZE, WIDE = (1654, 2339), 160, 31, 84
#: The languages that the default font has letters for.
LANGUAGES = ("en", "de", "tr")


def noisy(page: Image.Image) -> Image.Image:
    """Return a page with grey noise."""
    noise = Image.frombytes("L", page.size, random.Random(0).randbytes(page.size[0] * page.size[1]))
    return Image.blend(page, noise, 0.3)


#: What happens to a page before it is read.
DAMAGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "none": lambda page: page,
    "blurred (1.5 pixels)": lambda page: page.filter(ImageFilter.GaussianBlur(1.5)),
    "noise (30 %)": noisy,
    "turned by 1.5 degrees": lambda page: page.rotate(1.5, fillcolor=255, resample=Image.Resampling.BICUBIC),
    "turned by 90 degrees": lambda page: page.rotate(90, expand=True),
    "100 dots per inch": lambda page: page.resize((page.width // 2, page.height // 2)),
}


def drawn(lines: list[str]) -> Image.Image:
    """Return a page with these lines."""
    page = Image.new("L", PAGE, 255)
    ImageDraw.Draw(page).multiline_text((MARGIN, MARGIN), "\n".join(lines), 0, ImageFont.load_default(SIZE), spacing=12)
    return page


def pages_of(file: Path, count: int) -> list[tuple[str, Image.Image]]:
    """Return the text and the image of pages with the paragraphs of a file of XQuAD."""
    data = json.loads(file.read_text(encoding="utf-8"))["data"]
    paragraphs = [" ".join(each["context"].split()) for article in data for each in article["paragraphs"]]
    lines: list[str] = []
    made = []
    for paragraph in paragraphs:
        own = [*textwrap.wrap(paragraph, WIDE, break_on_hyphens=False), ""]
        if len(lines) + len(own) > 45:
            made.append((" ".join(lines), drawn(lines)))
            lines = []
        lines += own
        if len(made) == count:
            break
    return made


def measured(pages: list[tuple[str, Image.Image]], damage: Callable[[Image.Image], Image.Image]) -> dict[str, Any]:
    """Return the share of words that are right, the mean confidence, and the seconds a page."""
    right = all_words = found_words = 0
    sure, spent = 0.0, 0.0
    for text, page in pages:
        out = io.BytesIO()
        damage(page).save(out, "PNG")
        begun = time.perf_counter()
        found = read_image(out.getvalue())
        spent += time.perf_counter() - begun
        wanted, had = Counter(text.split()), Counter(found.text.split())
        right += (wanted & had).total()
        all_words, found_words = all_words + wanted.total(), found_words + had.total()
        sure += found.facts["ocr"][0]["confidence"]
    return {
        "words": all_words,
        "recall": right / all_words,
        "precision": right / found_words,
        "mean confidence": sure / len(pages),
        "s a page": spent / len(pages),
    }


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--pages", type=int, default=4, metavar="N", help="number of pages of each kind (default: 4)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/text_recognition.json")
    options = parser.parse_args()
    rows = []
    read_image(_bytes(drawn(["The first page loads the models."])))
    for language in LANGUAGES:
        pages = pages_of(Path(options.data) / "xquad" / f"xquad.{language}.json", options.pages)
        for damage, change in DAMAGES.items() if language == "en" else [("none", DAMAGES["none"])]:
            rows.append({"language": language, "damage": damage, "pages": len(pages), **measured(pages, change)})
            print(", ".join(f"{key}: {value}" for key, value in rows[-1].items()), flush=True)
    if options.save:
        record.save(
            options.save,
            "Recognized text",
            {"rows": rows},
            about=(
                "Pages of 45 lines of 84 letters, drawn at 200 dots per inch and read by one process with one thread. "
                "`recall`: the words of the text that are found, with their punctuation; `precision`: the found words "
                "that are in the text. `s a page`: elapsed seconds from the file's bytes to text with blocks."
            ),
            packages=("rapidocr", "onnxruntime", "pillow"),
        )


def _bytes(page: Image.Image) -> bytes:
    out = io.BytesIO()
    page.save(out, "PNG")
    return out.getvalue()


if __name__ == "__main__":
    main()
