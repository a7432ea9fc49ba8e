"""The reader of the words of PDF pages, with their positions; a word of any length takes five calls of PDFium."""

from __future__ import annotations

import contextlib
import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._engine.data.superscripts import script_text
from .homoglyphs import in_one_script

if TYPE_CHECKING:
    import numpy.typing as npt

#: The maximum number of characters of one page that are read; a page of dense print has 10,000.
MAX_CHARACTERS = 500_000
#: If more than this share of a page's characters have no Unicode value, its font counts as lacking a character map.
UNMAPPED = 0.3
#: The maximum number of form fields that are read on a page, the largest size of their text in points, and the flag
#: with which PDF marks a password field.
_FIELDS, _FIELD_SIZE, _PASSWORD = 2_000, 10.0, 1 << 13
#: The value of ``PageWords.angle`` from which words are slanted, neither level nor upright; and the minimum angle by
#: which they differ from level and upright words, in quarter turns.
SLANTED, _SLANT = 4, 0.08
#: The maximum numbers of a page's objects that are checked: to distinguish a scan from an empty page, and to find drawn
#: lines.
_OBJECTS, _DRAWN = 200, 5_000
#: A word ends at white space, or after a hyphen at the end of a line. PDFium returns such a hyphen as U+0002 or U+FFFE.
_WORD = re.compile(r"[^\s\x02\ufffe]+[\x02\ufffe]?|[\x02\ufffe]")
_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|sfbx|-bd\b", re.IGNORECASE)
_MONO = re.compile(
    r"courier|mono|consol|menlo|typewriter|fixed|cmtt|cmvtt|sltt|cmsltt|sftt|t1xtt|lmtt|nimbusmon|inconsolata",
    re.IGNORECASE,
)
#: The names of fonts that are not bold. The names of TeX's fonts are letters and a size. By the width of its stems,
#: CMR10 would have the weight 744.
_LIGHT = re.compile(
    r"regular|roman|book|light|italic|oblique|mt$|(?:^|\+)(?:cm|ec|sf|tc)(?:r|rm|ti|sl|ss|si|csc|cc|mi|sy|u)\d",
    re.IGNORECASE,
)
_FIXED_PITCH, _FORCE_BOLD = 1, 1 << 18
#: The weight from which a font is bold if its name does not show its weight. PDFium guesses the weight from the width
#: of the letters' stems; a width of 80 is weight 400.
_BOLD_WEIGHT = 650
#: The range of heights of raised and lowered characters, and the smallest distances of their feet above and below the
#: baseline, all in heights of the word's highest letter.
_SCRIPT, _RAISED, _LOWERED = (0.4, 0.85), 0.15, 0.05
#: The largest height of characters that are clearly raised, and the distance of their feet above the baseline from
#: which they are clearly raised. The third number is the greatest distance from the baseline of letters on it.
_AS_HIGH, _HIGH, _LEVEL = 1.05, 0.3, 0.05
#: The units after which a raised figure is an exponent, not a note mark. The same holds after any single letter.
_UNITS = frozenset((
    "mm", "cm", "dm", "km", "nm", "\u00b5m", "\u03bcm", "ft", "in", "yd", "mi", "kg", "ms", "sec", "мм", "см", "дм",
    "км", "кг",
))  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]*$")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d$")
#: The ways in which text is drawn invisibly: not at all, or in white.
_NO_INK, _WHITE_INK = 1, 2
#: A colour is white if its red, green and blue are at least ``_WHITE``; it is invisible if its opacity is below
#: ``_CLEAR``. Both are of at most 255.
_WHITE, _CLEAR = 250, 5
#: The font size in points below which text is invisible.
_TINY = 1.0
_Spans = list[tuple[int, int]]
_Font = tuple[float, bool, bool, int, bool, int]
_HALF = re.compile(r"[\ud800-\udfff]")
#: The smallest gap within a word that may be a space, and the least difference between a space and the gaps between
#: letters, in font sizes. The spaces of most fonts are 0.2 to 0.35 wide, and 0.15 if text is set tightly.
_SPACE, _WIDER = 0.1, 0.12
#: The characters with which no word begins, such as dots that lead to a page number.
_CLOSING = frozenset(".,;:!?)]}’”»\u2026-\x02\ufffe")
#: The characters that are replaced: two of PDFium's are hyphens, and other control characters have no meaning.
_CHANGED = dict.fromkeys((*range(9), *range(14, 28), 127), "\ufffd") | {0x02: "-", 0xFFFE: "-"}


@dataclass(frozen=True)
class PageWords:
    """The n words of a page in the order of the file, with a note about problems of the page.

    Attributes:
        texts: n strings without white space.
        box: float64[n, 4], left, top, right, bottom in points from the page's top left.
        size: float64[n], the size of the font, in points.
        bold: bool[n], whether the word is bold.
        mono: bool[n], whether all letters of the font are equally wide.
        angle: int64[n], the number of quarter turns, to the left, by which each word is turned; 0 for text that reads
            from left to right. For a slanted word it is ``SLANTED`` plus the degrees by which it is turned to the left.
        width, height: The size of the page, in points.
        drawn: float64[m, 4], the boxes of drawn lines, such as borders of cells.
        unmapped: The number of characters that the file does not map to Unicode.
        note: The reason why text is missing; "" if none is.
        hidden: bool[n], whether the word is invisible: not drawn, white on white, too small, or off the page. None if
            all words are visible.
    """

    texts: list[str]
    box: npt.NDArray[np.float64]
    size: npt.NDArray[np.float64]
    bold: npt.NDArray[np.bool_]
    mono: npt.NDArray[np.bool_]
    angle: npt.NDArray[np.int64]
    width: float
    height: float
    drawn: npt.NDArray[np.float64]
    unmapped: int = 0
    note: str = ""
    hidden: npt.NDArray[np.bool_] | None = None

    @classmethod
    def empty(cls, width: float, height: float, note: str = "") -> PageWords:
        """Return a page without words."""
        none = np.empty(0)
        no = none.astype(bool)
        boxes = none.reshape(0, 4)
        return cls([], boxes, none, no, no, none.astype(np.int64), width, height, boxes, 0, note)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of characters of each word."""
        return np.fromiter(map(len, self.texts), np.int64, len(self.texts))

    def where(self, wanted: npt.NDArray[np.bool_], box: npt.NDArray[np.float64] | None = None) -> PageWords:
        """Return the words for which ``wanted`` is true, with the positions in ``box`` if that is passed."""
        texts = [text for text, one in zip(self.texts, wanted.tolist(), strict=True) if one]
        found = self.box if box is None else box
        return PageWords(
            texts,
            found[wanted],
            self.size[wanted],
            self.bold[wanted],
            self.mono[wanted],
            self.angle[wanted],
            self.width,
            self.height,
            self.drawn,
            hidden=None if self.hidden is None else self.hidden[wanted],
        )


class WordReader:
    """A reader of the words of one open ``pypdfium2.PdfDocument``.

    Only one thread of a process may read at a time.
    """

    def __init__(self, document: Any) -> None:
        import pypdfium2
        import pypdfium2.raw as raw

        self._document, self._raw = document, raw
        self._form: Any = None  # the environment for reading form fields, which must exist before pages are loaded
        if document.get_formtype() in (raw.FORMTYPE_ACRO_FORM, raw.FORMTYPE_XFA_FOREGROUND):
            with contextlib.suppress(pypdfium2.PdfiumError):
                document.init_forms()
                self._form = document.formenv
        # These prototypes take addresses. The conversion of arguments for pypdfium2's own prototypes takes twice as
        # long as the call.
        loose = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        of_char = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
        self._box = loose(_address(raw.FPDFText_GetLooseCharBox))
        self._object = of_char(_address(raw.FPDFText_GetTextObject))
        self._matrix_of = loose(_address(raw.FPDFText_GetMatrix))
        self._size_of = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int)(
            _address(raw.FPDFText_GetFontSize)
        )
        of_object = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        self._mode = of_object(_address(raw.FPDFTextObj_GetTextRenderMode))
        self._font_of = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(_address(raw.FPDFTextObj_GetFont))
        self._fill = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p,) * 5)(_address(raw.FPDFPageObj_GetFillColor))
        self._is_strange = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
            _address(raw.FPDFText_HasUnicodeMapError)
        )
        self._matrix = raw.FS_MATRIX()
        self._colour = (ctypes.c_uint * 4)()
        self._styles: dict[int, tuple[bool, bool]] = {}  # the style of each font, by its address: bold, and mono

    def page(self, number: int) -> PageWords:
        """Return the words of page ``number``, from 0; a page that PDFium cannot read is empty and has a note."""
        raw = self._raw
        page = raw.FPDF_LoadPage(self._document, number)
        if not page:
            return PageWords.empty(0.0, 0.0, "cannot be read: the page is damaged")
        text = None
        try:
            text = raw.FPDFText_LoadPage(page)
            frame = _Frame(raw, page)
            if not text:
                return PageWords.empty(frame.width, frame.height, "cannot be read: its text is damaged")
            found = self._words(page, text, frame)
            return self._with_fields(page, frame, found) if self._form else found
        finally:
            if text:
                raw.FPDFText_ClosePage(text)
            raw.FPDF_ClosePage(page)

    def _words(self, page: Any, text: Any, frame: _Frame) -> PageWords:
        raw = self._raw
        count = raw.FPDFText_CountChars(text)
        if count > MAX_CHARACTERS:
            return PageWords.empty(
                frame.width, frame.height, f"has {count:,} characters; at most {MAX_CHARACTERS:,} are read"
            )
        shown = self._text(text, count)
        scripts: dict[int, bool] = {}
        spans, pointers = self._parted(text, shown, [found.span() for found in _WORD.finditer(shown)], scripts)
        shown = in_one_script(shown.translate(_CHANGED))
        texts = [shown[begin:end] for begin, end in spans]
        handle = ctypes.cast(text, ctypes.c_void_p).value
        glued: set[int] = set()
        for i in sorted({bisect_right(spans, (place, len(shown))) - 1 for place in scripts}):
            begin, end = spans[i]
            texts[i] = _with_scripts(shown, begin, end, scripts)
            if i + 1 < len(spans) and end - 1 in scripts and _CLOSING.issuperset(texts[i + 1]):
                left, top, right, bottom = self._boxes(handle, [end - 1, spans[i + 1][0]]).T.tolist()
                if abs(left[1] - right[0]) < _SPACE * (top[1] - bottom[1]):
                    # There is no gap. PDFium inserted a space only because the baseline changes.
                    texts[i] += texts[i + 1]
                    spans[i] = begin, spans[i + 1][1]
                    glued.add(i + 1)
        if glued:
            kept = [i for i in range(len(spans)) if i not in glued]
            texts, spans, pointers = [texts[i] for i in kept], [spans[i] for i in kept], [pointers[i] for i in kept]
        if _HALF.search(shown):
            texts = [_whole(text) for text in texts]
        if not spans:
            note = "no text, only images: a scan" if self._has_image(page) else ""
            return PageWords.empty(frame.width, frame.height, note)
        handle = ctypes.cast(text, ctypes.c_void_p).value
        boxes = np.zeros((2, len(spans), 4), np.float32)
        first, last = [begin for begin, _ in spans], [end - 1 for _, end in spans]
        at = boxes.ctypes.data
        list(map(self._box, repeat(handle), first, range(at, at + 16 * len(spans), 16)))
        at += 16 * len(spans)
        list(map(self._box, repeat(handle), last, range(at, at + 16 * len(spans), 16)))
        fonts: dict[int | None, _Font] = {}
        for begin, pointer in zip(first, pointers, strict=True):
            if pointer not in fonts:
                fonts[pointer] = self._font(handle, begin, pointer, frame.turns)
        size, bold, mono, angle, strange, ink = zip(*[fonts[pointer] for pointer in pointers], strict=True)
        unmapped = shown.count("\ufffd")
        if any(strange):
            unmapped = sum(len(said) if odd else said.count("\ufffd") for said, odd in zip(texts, strange, strict=True))
        note = ""
        if unmapped > UNMAPPED * sum(map(len, texts)):
            note = "a font without a character map: the file does not say which characters it shows"
        sizes, placed, drawn = np.array(size, np.float64), frame.placed(boxes), self._lines(page, frame)
        lengths = np.array(last) - np.array(first) + 1
        return PageWords(
            texts,
            placed,
            sizes,
            np.array(bold, bool),
            np.array(mono, bool),
            np.array(angle, np.int64),
            frame.width,
            frame.height,
            drawn,
            unmapped,
            note,
            self._hidden(page, frame, placed, sizes, np.array(ink, np.int8), lengths),
        )

    def _with_fields(self, page: Any, frame: _Frame, words: PageWords) -> PageWords:
        """Add the values of a page's form fields to its words, with equally wide letters in the fields' boxes."""
        raw, box = self._raw, self._raw.FS_RECTF()
        texts: list[str] = []
        places: list[tuple[float, float, float, float]] = []
        sizes: list[float] = []
        for i in range(min(_FIELDS, raw.FPDFPage_GetAnnotCount(page))):
            annotation = raw.FPDFPage_GetAnnot(page, i)
            if not annotation:
                continue
            said = self._value(annotation).split()
            if said and raw.FPDFAnnot_GetRect(annotation, box):
                step = (box.right - box.left) / max(sum(map(len, said)) + len(said), 1)
                step, at = min(step, 0.5 * _FIELD_SIZE), box.left
                size = min(box.top - box.bottom, _FIELD_SIZE)
                middle = (box.top + box.bottom) / 2
                for word in said:
                    texts.append(word)
                    places.append((at, middle + size / 2, at + step * len(word), middle - size / 2))
                    sizes.append(size)
                    at += step * (len(word) + 1)
            raw.FPDFPage_CloseAnnot(annotation)
        if not texts:
            return words
        boxes, no = np.array(places, np.float32), np.zeros(len(texts), bool)
        return PageWords(
            words.texts + texts,
            np.concatenate((words.box, frame.placed(np.stack((boxes, boxes))))),
            np.concatenate((words.size, sizes)),
            np.concatenate((words.bold, no)),
            np.concatenate((words.mono, no)),
            np.concatenate((words.angle, np.zeros(len(texts), np.int64))),
            words.width,
            words.height,
            words.drawn,
            words.unmapped,
            "" if words.note.startswith("no text") else words.note,
            None if words.hidden is None else np.concatenate((words.hidden, no)),
        )

    def _value(self, annotation: Any) -> str:
        """Return the value of a text field or a list, if it is visible and not a password."""
        raw = self._raw
        if raw.FPDFAnnot_GetSubtype(annotation) != raw.FPDF_ANNOT_WIDGET:
            return ""
        if raw.FPDFAnnot_GetFlags(annotation) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW):
            return ""
        kind = raw.FPDFAnnot_GetFormFieldType(self._form, annotation)
        if kind not in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
            return ""
        if kind == raw.FPDF_FORMFIELD_TEXTFIELD and raw.FPDFAnnot_GetFormFieldFlags(self._form, annotation) & _PASSWORD:
            return ""
        length = raw.FPDFAnnot_GetFormFieldValue(self._form, annotation, None, 0)
        if not 2 < length <= 2 * MAX_CHARACTERS:
            return ""
        buffer = (ctypes.c_ushort * (length // 2))()
        raw.FPDFAnnot_GetFormFieldValue(self._form, annotation, buffer, length)
        return bytes(buffer)[:-2].decode("utf-16-le", "replace").replace("\0", " ").translate(_CHANGED)

    def _hidden(
        self,
        page: Any,
        frame: _Frame,
        box: npt.NDArray[np.float64],
        size: npt.NDArray[np.float64],
        ink: npt.NDArray[np.int8],
        lengths: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.bool_] | None:
        """Return which words are invisible (bool[n]); None if all words are visible.

        If most of a page's text is not drawn, and the page has images, the text is the result of OCR for these images.
        It therefore counts as visible.
        """
        left, top, right, bottom = box.T
        hidden = (right < 0) | (left > frame.width) | (bottom < 0) | (top > frame.height)
        hidden |= (size < _TINY) & (np.minimum(bottom - top, right - left) < 2 * _TINY)
        unseen = ink == _NO_INK
        if unseen.any() and (2 * lengths[unseen].sum() < lengths.sum() or not self._grounds(page, frame, white=True)):
            hidden |= unseen
        pale = (ink == _WHITE_INK) & ~hidden
        if pale.any():
            grounds = np.array(self._grounds(page, frame, white=False)).reshape(-1, 4)
            for i in np.flatnonzero(pale).tolist():
                x, y = (left[i] + right[i]) / 2, (top[i] + bottom[i]) / 2
                on = (grounds[:, 0] <= x) & (x <= grounds[:, 2]) & (grounds[:, 1] <= y) & (y <= grounds[:, 3])
                hidden[i] = not on.any()
        return hidden if hidden.any() else None

    def _grounds(self, page: Any, frame: _Frame, white: bool) -> list[list[float]]:
        """Return the boxes of a page's images, shades, forms and filled areas; with ``white`` also of white areas."""
        raw = self._raw
        left, bottom, right, top = (ctypes.c_float() for _ in range(4))
        mode, stroke = ctypes.c_int(), ctypes.c_int()
        found = []
        for i in range(min(_DRAWN, raw.FPDFPage_CountObjects(page))):
            thing = raw.FPDFPage_GetObject(page, i)
            kind = raw.FPDFPageObj_GetType(thing)
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                continue
            if kind == raw.FPDF_PAGEOBJ_PATH and not white:
                raw.FPDFPath_GetDrawMode(thing, mode, stroke)
                if not mode.value or self._is_pale(thing):
                    continue
            if raw.FPDFPageObj_GetBounds(thing, left, bottom, right, top):
                found.append((left.value, top.value, right.value, bottom.value))
        boxes = np.array(found, np.float32).reshape(-1, 4)
        placed: list[list[float]] = frame.placed(np.stack((boxes, boxes))).tolist()
        return placed

    def _is_pale(self, thing: Any) -> bool:
        """Return whether the object at an address is filled in white, or is transparent."""
        at = ctypes.addressof(self._colour)
        if not self._fill(thing, at, at + 4, at + 8, at + 12):
            return False
        red, green, blue, alpha = self._colour
        return alpha < _CLEAR or min(red, green, blue) >= _WHITE

    def _ink(self, pointer: int | None, mode: int) -> int:
        """Return how a text object is drawn: 0 for a visible colour, ``_WHITE_INK``, or ``_NO_INK``."""
        raw = self._raw
        if not pointer:
            return 0
        if mode == raw.FPDF_TEXTRENDERMODE_INVISIBLE:
            return _NO_INK
        filled = mode in (raw.FPDF_TEXTRENDERMODE_FILL, raw.FPDF_TEXTRENDERMODE_FILL_CLIP)
        return _WHITE_INK if filled and self._is_pale(pointer) else 0

    def _text(self, text: Any, count: int) -> str:
        """Return the page's characters in UTF-16 units, as PDFium counts them; one outside the BMP is two units.

        A character without a Unicode value is U+FFFD.
        """
        raw = self._raw
        buffer = (ctypes.c_ushort * (2 * count + 2))()
        written = raw.FPDFText_GetText(text, 0, count, buffer) - 1 if count else 0
        if written != count:  # PDFium leaves out characters without a Unicode value
            codes = map(raw.FPDFText_GetUnicode, repeat(text), range(count))
            return "".join([chr(code) if 0 < code < 0x110000 else "\ufffd" for code in codes])
        shown = bytes(buffer)[: 2 * count].decode("utf-16-le", "replace")
        return shown if len(shown) == count else "".join(map(chr, buffer[:count]))

    def _parted(
        self, text: Any, shown: str, spans: _Spans, scripts: dict[int, bool]
    ) -> tuple[_Spans, list[int | None]]:
        """Return the spans of words, split at gaps for which the file has no space, and the words' text objects.

        PDFium decides by the widths of the letters around a gap whether a word ends, and so misses some gaps of 0.18
        font sizes. The words that it joins consist of several text objects. A gap in such a word is a space if it is
        clearly wider than the gaps between letters of its line, and not much narrower than the line's spaces. In
        letterspaced text, the gaps between letters are wide, too. ``scripts`` is filled with the positions of
        characters that are raised (True) or lowered (False).
        """
        handle = ctypes.cast(text, ctypes.c_void_p).value
        first = list(map(self._object, repeat(handle), [begin for begin, _ in spans]))
        last = list(map(self._object, repeat(handle), [end - 1 for _, end in spans]))
        pieced = [i for i, (one, other) in enumerate(zip(first, last, strict=True)) if one != other]
        if not pieced:
            return spans, first
        pieced = self._with_gaps(handle, [spans[i] for i in pieced], pieced, scripts)
        if not pieced:
            return spans, first
        begins, ends = np.array(spans).T
        boxes = self._boxes(handle, range(len(shown)))
        lines: dict[bool, tuple[npt.NDArray[np.intp], ...]] = {}
        parted: set[int] = set()
        done = 0
        for i in pieced:
            if i < done:
                continue
            size, level = self._em(text, spans[i][0])
            if level not in lines:
                lines[level] = _lines_of_words(boxes if level else boxes[:, ::-1], begins, ends)
            gaps, between, breaks = lines[level]
            line = np.searchsorted(breaks, i, "right")
            low, done = int(breaks[line - 1]), int(breaks[line])
            within = np.arange(begins[low] + 1, ends[done - 1])
            inside = np.ones(len(within), bool)
            for j in range(low, done - 1):
                inside[ends[j] - begins[low] - 1 : begins[j + 1] - begins[low]] = False
            places = within[inside]
            found = gaps[places] / size
            narrow = max(float(np.sort(found)[len(found) // 4]), 0.0)
            space = float(np.median(between[low : done - 1])) / size if done - low > 1 else 0.0
            wide = found >= narrow + max(_WIDER, (space - narrow) / 2)
            parted.update(place for place in places[wide].tolist() if shown[place] not in _CLOSING)
        if not parted:
            return spans, first
        cuts = sorted(parted)
        whole = [
            pair
            for begin, end in spans
            for pair in pairwise([begin, *cuts[bisect_right(cuts, begin) : bisect_left(cuts, end)], end])
        ]
        return whole, list(map(self._object, repeat(handle), [begin for begin, _ in whole]))

    def _with_gaps(
        self, handle: int | None, spans: _Spans, numbers: Sequence[int], scripts: dict[int, bool]
    ) -> list[int]:
        """Return the numbers of the words that contain a gap of about ``_SPACE`` or more; also fill ``scripts``."""
        placed = [place for begin, end in spans for place in range(begin, end)]
        left, top, right, bottom = self._boxes(handle, placed).T
        across = np.maximum(left[1:] - right[:-1], left[:-1] - right[1:])
        along = np.maximum(bottom[1:] - top[:-1], bottom[:-1] - top[1:])
        wide = np.maximum(across, along) > 0.7 * _SPACE * np.maximum(top - bottom, right - left)[1:]
        of = np.repeat(np.arange(len(spans)), [end - begin for begin, end in spans])
        wide &= of[1:] == of[:-1]
        head = np.concatenate(([0], np.cumsum([end - begin for begin, end in spans])[:-1]))[of]
        height, rise = top - bottom, bottom - bottom[head]
        # The height of a word is that of its highest letter on the baseline, because lower-case letters may be as high
        # as raised figures.
        level = np.where(abs(rise) <= _LEVEL * height[head], height, 0.0)
        base = np.maximum(np.maximum.reduceat(level, np.unique(head)), height[np.unique(head)])[of]
        most = np.where(rise > _HIGH * base, _AS_HIGH, _SCRIPT[1])
        small = (height > _SCRIPT[0] * base) & (height < most * base)
        small &= (top > bottom[head]) & (bottom < bottom[head] + base)
        for i in np.flatnonzero(small & ((rise > _RAISED * base) | (rise < -_LOWERED * base))).tolist():
            scripts[placed[i]] = bool(rise[i] > 0)
        return [numbers[i] for i in np.unique(of[1:][wide]).tolist()]

    def _boxes(self, handle: int | None, places: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return the left, top, right and bottom of characters in PDFium's coordinates, from the bottom left."""
        boxes = np.zeros((len(places), 4), np.float32)
        at = boxes.ctypes.data
        list(map(self._box, repeat(handle), places, range(at, at + 16 * len(places), 16)))
        return np.nan_to_num(boxes).astype(np.float64)

    def _em(self, text: Any, index: int) -> tuple[float, bool]:
        """Return the font size of a character along its line, in points, and whether the line is nearer to level."""
        size, matrix = self._raw.FPDFText_GetFontSize(text, index), self._raw.FS_MATRIX()
        if not self._raw.FPDFText_GetMatrix(text, index, matrix):
            return max(abs(size), 0.01), True
        size = abs(size) * (math.hypot(matrix.a, matrix.b) or 1.0)
        return max(size, 0.01) if math.isfinite(size) else 1e9, abs(matrix.a) >= abs(matrix.b)

    def _font(self, text: int | None, index: int, pointer: int | None, turns: int) -> _Font:
        """Return a character's size in points, whether it is bold and mono, its angle, whether it is unmapped, and ink.

        These values are the same for all characters of one text object.
        """
        matrix = self._matrix
        size = self._size_of(text, index)
        angle = 0.0
        if self._matrix_of(text, index, ctypes.addressof(matrix)):
            size *= math.hypot(matrix.c, matrix.d) or 1.0
            angle = math.atan2(matrix.b, matrix.a) / (math.pi / 2)
        size = abs(size) if math.isfinite(size) else 0.0
        strange = self._is_strange(text, index) == 1
        mode = self._mode(pointer) if pointer else 0
        return size, *self._style(pointer, mode), _turned(angle - turns), strange, self._ink(pointer, mode)

    def _style(self, pointer: int | None, mode: int) -> tuple[bool, bool]:
        """Return whether a text object is bold, and whether its letters are equally wide."""
        raw = self._raw
        address = self._font_of(pointer) if pointer else None
        if not address:
            return False, False
        known = self._styles.get(address)
        if known is None:
            font = ctypes.cast(address, raw.FPDF_FONT)
            name = ctypes.create_string_buffer(256)
            raw.FPDFFont_GetBaseFontName(font, name, 256)
            said, flags = name.value.decode("latin-1"), raw.FPDFFont_GetFlags(font)
            bold = bool(_BOLD.search(said)) or bool(flags & _FORCE_BOLD)
            if not bold and not _LIGHT.search(said):
                bold = raw.FPDFFont_GetWeight(font) >= _BOLD_WEIGHT
            known = self._styles[address] = bold, bool(_MONO.search(said)) or bool(flags & _FIXED_PITCH)
        bold, mono = known
        return bold or mode == raw.FPDF_TEXTRENDERMODE_FILL_STROKE, mono

    def _lines(self, page: Any, frame: _Frame) -> npt.NDArray[np.float64]:
        """Return the boxes of the page's paths."""
        raw = self._raw
        left, bottom, right, top = (ctypes.c_float() for _ in range(4))
        found = []
        for i in range(min(_DRAWN, raw.FPDFPage_CountObjects(page))):
            thing = raw.FPDFPage_GetObject(page, i)
            if raw.FPDFPageObj_GetType(thing) == raw.FPDF_PAGEOBJ_PATH and raw.FPDFPageObj_GetBounds(
                thing, left, bottom, right, top
            ):
                found.append((left.value, top.value, right.value, bottom.value))
        boxes = np.array(found, np.float32).reshape(-1, 4)
        return frame.placed(np.stack((boxes, boxes)))

    def _has_image(self, page: Any) -> bool:
        raw = self._raw
        for i in range(min(_OBJECTS, raw.FPDFPage_CountObjects(page))):
            kind = raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, i))
            if kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM):
                return True
        return False


class _Frame:
    """The map from a page's user space to the visible page, which may be cropped and turned by quarter turns."""

    def __init__(self, raw: Any, page: Any) -> None:
        box = raw.FS_RECTF()
        self._box = (0.0, 792.0, 612.0, 0.0)
        if raw.FPDF_GetPageBoundingBox(page, box):
            self._box = (box.left, box.top, box.right, box.bottom)
        self.turns = raw.FPDFPage_GetRotation(page) % 4
        width, height = self._box[2] - self._box[0], self._box[1] - self._box[3]
        self.width, self.height = (height, width) if self.turns % 2 else (width, height)

    def placed(self, boxes: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """Return (left, top, right, bottom) of each word from the page's top left.

        ``boxes`` has the shape [first and last character, word, 4]. PDFium's boxes are left, top, right, bottom, from
        the bottom left.
        """
        left, top, right, bottom = self._box
        low, high = boxes[..., 0].min(0) - left, boxes[..., 2].max(0) - left
        near, far = top - boxes[..., 1].max(0), top - boxes[..., 3].min(0)
        width, height = right - left, top - bottom
        turned = {
            0: (low, near, high, far),
            1: (height - far, low, height - near, high),
            2: (width - high, height - far, width - low, height - near),
            3: (near, width - high, far, width - low),
        }[self.turns]
        found: npt.NDArray[np.float64] = np.stack(turned, axis=1).astype(np.float64)
        found[~np.isfinite(found)] = 0.0
        return found.clip(-1e6, 1e6)


def _with_scripts(shown: str, begin: int, end: int, scripts: dict[int, bool]) -> str:
    """Return a word with its raised and lowered characters written as in HTML: ``10^6``, ``x_i``, ``end.[3]``.

    Raised figures after a word that is not a unit, or after a year, are a note mark.
    """
    said = shown[begin]
    for script, group in groupby(range(begin + 1, end), scripts.get):
        part, tail = "".join([shown[place] for place in group]), said[-24:]
        if script is None or not part.isascii() or not any(map(str.isalnum, tail)):
            said += part
            continue
        word = _LETTERS.search(tail.rstrip(")]"))
        note = part.isdecimal() and bool(_YEAR.search(tail) or (word and len(word[0]) > 1 and word[0] not in _UNITS))
        said += script_text(script, script and note, tail, part)
    return said


def _lines_of_words(
    boxes: npt.NDArray[np.float64], begins: npt.NDArray[np.intp], ends: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[Any], ...]:
    """Return three arrays: the gap before each character, the gap between successive words, and each line's first word.

    The third array ends with the number of words.
    """
    left, top, right, bottom = boxes.T
    gaps = np.zeros(len(boxes))
    gaps[1:] = np.maximum(left[1:] - right[:-1], left[:-1] - right[1:])
    last, after = ends[:-1] - 1, begins[1:]
    between = np.maximum(left[after] - right[last], left[last] - right[after])
    overlap = np.minimum(top[after], top[last]) - np.maximum(bottom[after], bottom[last])
    beside = overlap > 0.5 * np.minimum(top[after] - bottom[after], top[last] - bottom[last])
    return gaps, between, np.array([0, *(np.flatnonzero(~beside) + 1).tolist(), len(begins)])


def _turned(quarters: float) -> int:
    """Convert quarter turns to the form of ``PageWords.angle``."""
    if not math.isfinite(quarters) or abs(quarters - round(quarters)) < _SLANT:
        return round(quarters) % 4 if math.isfinite(quarters) else 0
    return SLANTED + round(90 * quarters) % 360


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _whole(text: str) -> str:
    """Join the two UTF-16 units of each character outside the BMP to one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
