"""The recognition of text in images, by RapidOCR: pages of a PDF that have no text, and files of images."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .pdf_words import PageWords

if TYPE_CHECKING:
    import numpy.typing as npt

    Pixels = npt.NDArray[np.uint8]

#: The resolution at which a page is drawn, in dots per inch. RapidOCR makes images of more than 2,000 pixels smaller.
DPI = 200
#: The most pixels of a drawn page or of an image. A page of A4 has 4 million.
MAX_PIXELS = 100_000_000
#: The most pages of an image file.
MAX_PAGES = 2_000
#: If the mean confidence of a page's lines is lower, the page is also read turned by a quarter, a half and three
#: quarters, until it is not. Level pages have 0.93 and more, and pages upside down 0.5 to 0.7.
_TURNED = 0.8
#: The height of a recognized line in sizes of its font.
_HEIGHT = 1.4
#: Lines whose size differs from the usual one of their page by less than this share have the usual size, because
#: recognized heights vary with the letters of a line.
_ALIKE = 0.25


def missing() -> ImportError:
    """Return the error for a missing RapidOCR."""
    return ImportError('recognizing text in images needs rapidocr: pip install "pychunk-native[ocr]"')


@cache
def _engine() -> Any:
    """Return RapidOCR with the models of its package; it downloads nothing. One thread gives the same result anywhere.

    Raises:
        ImportError: RapidOCR is not installed.
    """
    try:
        from rapidocr import RapidOCR
    except ImportError:
        raise missing() from None
    runtime = "EngineConfig.onnxruntime."
    threads = {f"{runtime}{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    # Of lines of more than 80 letters, the classifier takes many to be upside down that are not. With it, 86 % of the
    # words of five drawn pages of Wikipedia were right, and 99 % without it.
    return RapidOCR(params={"Global.log_level": "critical", "Global.use_cls": False, **threads})


def recognized(pixels: Pixels, width: float, height: float) -> tuple[PageWords, float]:
    """Return the words in an image, and the mean confidence of their lines from 0 to 1 (0 without words).

    If the page is turned, the words have the places that they have after it is turned back.

    Args:
        pixels: The image in blue, green and red, uint8[rows, columns, 3].
        width: The width of the page in points.
        height: The height of the page in points.
    """
    if pixels.min() == pixels.max():  # an empty page
        return PageWords.empty(width, height), 0.0
    best = _read(pixels, width, height)
    order = (1, 3, 2) if best.worth < best.confidence / 2 else (2, 1, 3)  # most lines are upright, or not
    for turns in order if best.worth < _TURNED else ():
        sides = (height, width) if turns % 2 else (width, height)
        found = _read(np.ascontiguousarray(np.rot90(pixels, turns)), *sides)
        best = max(best, found, key=lambda each: each.worth)
        if best.worth >= _TURNED:
            break
    return best.words, best.confidence


class _Reading(NamedTuple):
    """The words of a page, the mean confidence of its lines, and that mean if upright lines count as 0."""

    words: PageWords
    confidence: float
    worth: float


def _read(pixels: Pixels, width: float, height: float) -> _Reading:
    """Read a page that is not turned."""
    try:
        found = _engine()(pixels)
    except Exception as error:  # ONNX Runtime and OpenCV have errors of their own for too little memory
        if re.search("bad_alloc|Insufficient memory|Failed to allocate", str(error)):
            raise MemoryError(str(error)) from None
        raise
    if found.txts is None or not len(found.txts):
        return _Reading(PageWords.empty(width, height), 0.0, 0.0)
    corners = np.asarray(found.boxes, np.float64) * [width / pixels.shape[1], height / pixels.shape[0]]
    scores = np.array(found.scores, np.float64)
    words = words_of(found.txts, corners, width, height)
    return _Reading(words, float(scores.mean()), float((scores * ~_upright(found.txts, corners)).mean()))


def _upright(texts: Sequence[str], corners: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return which lines run from top to bottom; RapidOCR turns these before it reads them."""
    along = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    across = np.linalg.norm(corners[:, 3] - corners[:, 0], axis=1)
    return np.asarray((across > 1.5 * along) & (np.array([len(text) for text in texts]) > 1))


def words_of(texts: Sequence[str], corners: npt.NDArray[np.float64], width: float, height: float) -> PageWords:
    """Return the words of n recognized lines, each with its share of its line's width.

    Args:
        texts: The lines.
        corners: float64[n, 4, 2], the corners of each line from the top left on, clockwise, in points.
        width: The width of the page in points.
        height: The height of the page in points.

    Example:
        >>> corners = np.array([[[10.0, 10], [60, 10], [60, 24], [10, 24]]])
        >>> words = words_of(("Cats purr.",), corners, 100, 100)
        >>> words.texts, words.size.tolist(), words.box[1].tolist()
        (['Cats', 'purr.'], [10.0, 10.0], [35.0, 12.0, 60.0, 22.0])
    """
    along = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    across = np.linalg.norm(corners[:, 3] - corners[:, 0], axis=1)
    upright = _upright(texts, corners)
    sizes = np.where(upright, along, across) / _HEIGHT
    usual = float(np.median(sizes))
    sizes[np.abs(sizes - usual) < _ALIKE * usual] = usual
    words: list[str] = []
    boxes: list[tuple[float, float, float, float]] = []
    of: list[int] = []
    for line, text in enumerate(texts):
        at = 0
        for word in text.split():
            begin = text.index(word, at)
            at = begin + len(word)
            words.append(word)
            boxes.append(_box(corners[line], begin / len(text), at / len(text), sizes[line], turned=upright[line]))
            of.append(line)
    no = np.zeros(len(words), np.bool_)
    angle = np.where(upright[of], 3, 0)
    place = np.array(boxes, np.float64).reshape(-1, 4)
    return PageWords(words, place, sizes[of], no, no.copy(), angle, width, height, np.empty((0, 4)))


def _box(
    corners: npt.NDArray[np.float64], begin: float, end: float, size: float, *, turned: bool
) -> tuple[float, float, float, float]:
    """Return the box of a part of a line, from and to these shares of its length; ``turned`` lines run downwards."""
    if turned:
        left, right = corners[:, 0].min(), corners[:, 0].max()
        top, bottom = corners[:, 1].min(), corners[:, 1].max()
        return left, top + begin * (bottom - top), right, top + end * (bottom - top)
    middles = (corners[[0, 1]] + corners[[3, 2]]) / 2
    first, last = (middles[0] + share * (middles[1] - middles[0]) for share in (begin, end))
    top, bottom = sorted((first[1], last[1]))
    middle = (top + bottom) / 2
    return first[0], middle - size / 2, last[0], middle + size / 2


def page_words(page: Any) -> tuple[PageWords, float]:
    """Return the words that are recognized on a page of ``pypdfium2``, and their mean confidence."""
    width, height = page.get_size()
    scale = min(DPI / 72, math.sqrt(MAX_PIXELS / max(1.0, width * height)))
    pixels = page.render(scale=scale).to_numpy()
    return recognized(np.ascontiguousarray(pixels[..., :3]), width, height)


def pages_of_image(data: bytes) -> list[tuple[PageWords, float]]:
    """Return the words of each page of an image file, and their mean confidence. A pixel is a point.

    Raises:
        ValueError: The file cannot be read as an image, or is too large.
    """
    _engine()  # Pillow comes with RapidOCR, so this reports both
    from PIL import Image, ImageOps

    found = []
    try:
        with Image.open(io.BytesIO(data)) as image:
            count = getattr(image, "n_frames", 1)
            if count > MAX_PAGES:
                raise ValueError(f"it has {count:,} pages; at most {MAX_PAGES:,} are read: divide the file")
            for number in range(count):
                image.seek(number)
                wide, high = image.size
                if wide * high > MAX_PIXELS:
                    raise ValueError(
                        f"it has {wide:,} x {high:,} pixels; at most {MAX_PIXELS:,} are read: scale it down"
                    )
                shown = ImageOps.exif_transpose(image).convert("RGBA")
                paper = Image.new("RGBA", shown.size, "white")
                pixels = np.asarray(Image.alpha_composite(paper, shown))[..., 2::-1]
                found.append(recognized(np.ascontiguousarray(pixels), *map(float, shown.size)))
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"no readable image: {error}; save or download it again") from None
    return found
