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

#: The resolution at which a page is drawn, in dots per inch.
DPI = 200
#: The most pixels of a drawn page or of an image. A page of A4 has 4 million.
MAX_PIXELS = 100_000_000
#: The most pages of an image file.
MAX_PAGES = 2_000
#: If the mean confidence of a page's lines is lower, the page is also read turned by a quarter, a half and three
#: quarters, until it is not. Level pages have 0.93 and more, and pages upside down 0.5 to 0.7.
_TURNED = 0.8
#: A part of a page ends at empty rows of this number. A short line on an empty page is found only in such a part.
_GAP = 60
#: The most rows and columns of a part, which RapidOCR would scale to 2,000. A longer part is divided at empty rows or
#: columns in its last half, else so that two parts have _SHARED rows in common.
_TALL, _WIDE, _SHARED = 2_400, 3_000, 160
#: The empty pixels around a part, the least of its sides, and the most widths in a height: of a wider image, RapidOCR
#: reads one line.
_MARGIN, _LEAST, _RATIO = 40, 64, 7
#: The least difference between a pixel with ink and the background, of 255: 6 times the usual difference of a pixel,
#: within these limits. Letters of a light grey, 235, differ by 20, and the grain of paper is seldom above 8.
_INK, _MOST_INK = 12, 48
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
    # By default, the detector enlarges a small part until its shorter side has 736 pixels, in ten times the time.
    sides = {"Det.limit_type": "max", "Det.limit_side_len": 2000}
    return RapidOCR(params={"Global.log_level": "critical", "Global.use_cls": False, **threads, **sides})


class Reading(NamedTuple):
    """The result of reading a page.

    Attributes:
        words: The words.
        confidence: The mean confidence of the lines, 0 to 1; 0 without lines.
        worth: This mean if upright lines count as 0.
        turns: The quarter turns to the left after which the page was read. The words have the places that they have
            after these turns.
        note: What a person should know about the result; "" for nothing.
    """

    words: PageWords
    confidence: float
    worth: float
    turns: int = 0
    note: str = ""


def recognized(pixels: Pixels, width: float, height: float) -> Reading:
    """Read an image.

    Args:
        pixels: The image in blue, green and red, uint8[rows, columns, 3].
        width: The width of the page in points.
        height: The height of the page in points.
    """
    best = _read(pixels, width, height)
    order = (1, 3, 2) if best.worth < best.confidence / 2 else (2, 1, 3)  # most lines are upright, or not
    for turns in order if best.confidence > 0 and best.worth < _TURNED else ():
        sides = (height, width) if turns % 2 else (width, height)
        found = _read(np.ascontiguousarray(np.rot90(pixels, turns)), *sides)._replace(turns=turns)
        best = max(best, found, key=lambda each: each.worth)
        if best.worth >= _TURNED:
            break
    if not best.words.texts:
        return best if pixels.min() == pixels.max() else best._replace(note="no text was recognized in its image")
    if best.confidence < _TURNED:
        said = f"its text was recognized with a confidence of {best.confidence:.2f}, so check it"
        return best._replace(note=said)
    return best


def _read(pixels: Pixels, width: float, height: float) -> Reading:
    """Read a page that is not turned, part by part."""
    texts: list[str] = []
    corners = [np.empty((0, 4, 2))]
    scores: list[float] = []
    background, parts = parts_of(pixels)
    for part in parts:
        shown, left, top = _padded(pixels, part, background)
        try:
            found = _engine()(shown)
        except Exception as error:  # ONNX Runtime and OpenCV have errors of their own for too little memory
            if re.search("bad_alloc|Insufficient memory|Failed to allocate", str(error)):
                raise MemoryError(str(error)) from None
            raise
        if found.txts is None:
            continue
        boxes = np.asarray(found.boxes, np.float64).reshape(-1, 4, 2) + np.array([left, top])
        middle = boxes[:, :, 1].mean(axis=1)
        own = (middle >= part.first) & (middle < part.last)
        texts += [text for text, here in zip(found.txts, own.tolist(), strict=True) if here]
        scores += [float(score) for score, here in zip(found.scores, own.tolist(), strict=True) if here]
        corners.append(boxes[own])
    if not texts:
        return Reading(PageWords.empty(width, height), 0.0, 0.0)
    places = np.concatenate(corners) * [width / pixels.shape[1], height / pixels.shape[0]]
    sure = np.array(scores)
    words = words_of(texts, places, width, height)
    return Reading(words, float(sure.mean()), float((sure * ~_upright(texts, places)).mean()))


class Part(NamedTuple):
    """A part of an image: its rows and columns, and the rows [first, last) in which the middles of its lines are."""

    top: int
    bottom: int
    left: int
    right: int
    first: float
    last: float


def parts_of(pixels: Pixels) -> tuple[npt.NDArray[np.uint8], list[Part]]:
    """Return the background colour of an image, and its parts with ink, from top to bottom.

    Example:
        >>> image = np.full((500, 300, 3), 255, np.uint8)
        >>> image[50:60, 20:90] = image[400:410, 30:40] = 0
        >>> [part[:4] for part in parts_of(image)[1]]
        [(50, 60, 20, 90), (400, 410, 30, 40)]
    """
    sample = pixels[:: max(1, len(pixels) // 500), :: max(1, pixels.shape[1] // 500)]
    colour = np.median(sample, axis=(0, 1)).astype(np.uint8)
    usual = float(np.median((np.maximum(sample, colour) - np.minimum(sample, colour)).max(axis=2)))
    least = min(max(_INK, 6 * usual), _MOST_INK)
    ink = (np.maximum(pixels, colour) - np.minimum(pixels, colour)).max(axis=2) > least
    parts = []
    for top, bottom, first, last in _divided(ink.any(axis=1), _GAP, _TALL, _SHARED):
        for left, right, *_ in _divided(ink[top:bottom].any(axis=0), ink.shape[1], _WIDE, 0):
            parts.append(Part(top, bottom, left, right, first, last))
    return colour, parts


def _divided(ink: npt.NDArray[np.bool_], gap: int, most: int, shared: int) -> list[tuple[int, int, float, float]]:
    """Return (begin, end, first, last) of runs with ink, which gaps separate; long ones are divided.

    If a run is divided where it has ink, its parts have ``shared`` places in common. Each part then owns the places
    from ``first`` to ``last``, half of the common ones.
    """
    places = np.flatnonzero(ink)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > gap)
    runs = zip(places[[0, *(breaks + 1)]].tolist(), (places[[*breaks, -1]] + 1).tolist(), strict=True)
    found = []
    for begin, end in runs:
        first = -np.inf
        while end - begin > most:
            empty = np.flatnonzero(~ink[begin + most // 2 : begin + most])
            if len(empty):
                cut = begin + most // 2 + int(empty[len(empty) // 2])
                found.append((begin, cut, first, np.inf))
                begin, first = cut, -np.inf
            else:
                cut = begin + most
                found.append((begin, cut, first, cut - shared / 2))
                begin, first = cut - shared, cut - shared / 2
        found.append((begin, end, first, np.inf))
    return found


def _padded(pixels: Pixels, part: Part, background: npt.NDArray[np.uint8]) -> tuple[Pixels, int, int]:
    """Return a part of an image with empty pixels around it, and where its first pixel is in the image."""
    rows, columns = part.bottom - part.top, part.right - part.left
    wide = max(columns + 2 * _MARGIN, _LEAST)
    high = max(rows + 2 * _MARGIN, _LEAST, wide // _RATIO)
    shown = np.empty((high, wide, 3), np.uint8)
    shown[:] = background
    top, left = (high - rows) // 2, (wide - columns) // 2
    shown[top : top + rows, left : left + columns] = pixels[part.top : part.bottom, part.left : part.right]
    return shown, part.left - left, part.top - top


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


def read_page(page: Any) -> Reading:
    """Read a page of ``pypdfium2``."""
    width, height = page.get_size()
    scale = min(DPI / 72, math.sqrt(MAX_PIXELS / max(1.0, width * height)))
    pixels = page.render(scale=scale).to_numpy()
    return recognized(np.ascontiguousarray(pixels[..., :3]), width, height)


def read_pages(data: bytes) -> list[Reading]:
    """Read each page of an image file. A pixel is a point.

    Raises:
        ValueError: The file cannot be read as an image, or is too large.
    """
    _engine()  # Pillow comes with RapidOCR, so this reports both
    from PIL import Image, UnidentifiedImageError

    if not data:
        raise ValueError("an empty file: save or download it again")
    most, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None  # the limit below says what to do
    found = []
    try:
        with Image.open(io.BytesIO(data)) as image:
            count = getattr(image, "n_frames", 1)
            if count > MAX_PAGES:
                raise ValueError(f"it has {count:,} pages; at most {MAX_PAGES:,} are read: divide the file")
            for number in range(count):
                image.seek(number)
                size = image.size[0] * image.size[1]
                if size > MAX_PIXELS:
                    raise ValueError(f"it has {size:,} pixels; at most {MAX_PIXELS:,} are read: scale it down")
                pixels = _pixels_of(image)
                found.append(recognized(pixels, *map(float, pixels.shape[1::-1])))
    except UnidentifiedImageError:
        raise ValueError("no readable image: it is damaged, or of an unknown format; save it again") from None
    except (OSError, SyntaxError) as error:
        raise ValueError(f"no readable image: {error}; save or download it again") from None
    finally:
        Image.MAX_IMAGE_PIXELS = most
    return found


def _pixels_of(image: Any) -> Pixels:
    """Return the pixels of an image as a person sees it, in blue, green and red."""
    from PIL import Image, ImageOps

    if image.mode == "F":  # without a range of its own
        values = np.nan_to_num(np.asarray(image, np.float64))
        low, high = values.min(), values.max()
        image = Image.fromarray(np.uint8(255 * (values - low) / max(high - low, 1e-9)))
    shown = ImageOps.exif_transpose(image).convert("RGBA")
    opaque = np.asarray(shown)[np.asarray(shown)[..., 3] > 127]
    is_light = 0 < len(opaque) < shown.size[0] * shown.size[1] and opaque[:, :3].mean() > 200  # on a dark background
    paper = Image.new("RGBA", shown.size, "black" if is_light else "white")
    return np.ascontiguousarray(np.asarray(Image.alpha_composite(paper, shown))[..., 2::-1])
