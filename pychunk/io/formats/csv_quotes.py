"""The search for the ends of CSV rows, by the rules of Arrow's parser: only a quote that begins a field opens it.

A quoted field ends with a quote before a separator or a line end. If another character follows that quote, the field
was not meant as quoted, as in ``5,"Never again, he wrote``. Its row is then at fault, and the next line begins a new
row. One pass over the quotes finds such faults. If all quotes pair up, the pass needs only a few array operations.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_CR, _LF, _QUOTE = 0x0D, 0x0A, 0x22
_ENDS = b"\r\n"
#: The advice in dead letters about quotes.
ADVICE = "if quotes are ordinary characters, pass quotes=False"
#: A quoted field of several lines is suspicious if each line has as many separators as a row. The lines after the first
#: must have at least this number of separators in all, because prose, too, may have a line with one comma.
_FIELDS_ALIKE = 3

#: The number of bytes or quotes that are processed at a time, to limit the memory of arrays.
_PIECE = 1 << 22

Integers = npt.NDArray[np.signedinteger[Any]]


class Cut(NamedTuple):
    """The rows that some bytes of a file consist of.

    Attributes:
        ends: The end of each row, after its line break.
        lines: The number of lines up to the end of each row.
        bad: The rows at fault, by their numbers, with the reasons.
        told: The rows that are read as one row but may be several, by their numbers, with the reasons.
        is_open: Whether the last quote is not closed.
    """

    ends: Integers
    lines: Integers
    bad: dict[int, str]
    told: dict[int, str]
    is_open: bool


class _Toggles(NamedTuple):
    """The positions of the quotes that begin and end fields, in alternation (``at``).

    ``faults`` has a pair for each quote that only seems to begin a field: its position, and the position of the quote
    that seems to close it, or -1 if there is none.
    """

    at: Integers
    faults: list[tuple[int, int]]


def cut(
    data: bytes,
    separator: bytes,
    line: int,
    fields: int,
    *,
    quotes: bool,
    last: bool,
    give_up: bool = False,
    within: bool = False,
) -> Cut:
    """Return the rows of bytes that begin in line number ``line``.

    Args:
        data: The bytes.
        separator: The separator of fields.
        line: The number of the first line.
        fields: The number of fields of a row; 0 if it is not known yet.
        quotes: Whether quotes enclose fields.
        last: Whether nothing follows these bytes; else an LF may follow a CR at their end.
        give_up: Whether a quote that is not closed counts as a fault, if most lines after it look like rows.
        within: Whether the first byte is an added quote, which stands for the lost beginning of a long quoted field.
    """
    values = np.frombuffer(data, np.uint8)
    at = _breaks(data, values)
    if not last and data.endswith(b"\r"):
        at = at[:-1]
    if not quotes or b'"' not in data:
        return Cut(at + 1, np.arange(1, len(at) + 1), {}, {}, is_open=False)

    def hopeless(mark: int, marks: Integers) -> bool:
        return _look_like_rows(values, separator, at, mark, marks, fields)

    toggles = _toggles(values, separator, at, hopeless if give_up and fields else None, within=within)
    outside = ~_are_inside(toggles, at)
    found = _rows(at, outside, toggles, line)
    if fields < 2 or within or len(found.ends) == len(at):
        return found
    return _without_pairs(data, values, separator, line, fields, at, outside, toggles, found)


def fields_of(data: bytes, begins: Integers, separator: bytes, *, quotes: bool) -> Integers:
    """Return the number of fields of each row. The rows begin at the bytes ``begins``, and none is at fault."""
    values = np.frombuffer(data, np.uint8)
    separators = _places(values == separator[0])
    if quotes and b'"' in data:
        toggles = _toggles(values, separator, _breaks(data, values), None, within=False)
        separators = separators[~_are_inside(toggles, separators)]
    return np.diff(np.searchsorted(separators, np.append(begins, len(data)))) + 1


def _rows(at: Integers, outside: npt.NDArray[np.bool_], toggles: _Toggles, line: int) -> Cut:
    ends, lines = at[outside] + 1, np.flatnonzero(outside) + 1
    bad: dict[int, str] = {}
    for begin, close in toggles.faults:
        row = int(np.searchsorted(ends, begin, side="right"))
        if row < len(ends):
            bad.setdefault(row, _fault(line, at, begin, close))
    return Cut(ends, lines, bad, {}, is_open=len(toggles.at) % 2 == 1)


def _fault(line: int, at: Integers, begin: int, close: int) -> str:
    if close < 0:
        return f"a field begins with a quote that is not closed; {ADVICE}"
    first, last = (line + int(np.searchsorted(at, each)) for each in (begin, close))
    where = f" in line {last:,}" if last > first else ""
    return (
        f"a field begins with a quote, and the quote that seems to close it{where} is followed by neither a separator "
        f'nor a line end: write quotes inside of the field twice (""); {ADVICE}'
    )


def _breaks(data: bytes, values: npt.NDArray[np.uint8]) -> Integers:
    """Return the position of the last byte of each line break."""
    breaks = values == _LF
    if b"\r" in data:
        returns = values == _CR
        returns[:-1] &= ~breaks[1:]  # CR LF is one line break
        breaks |= returns
    return _places(breaks)


def _places(chosen: npt.NDArray[np.bool_]) -> Integers:
    """Return the positions of the chosen bytes.

    This takes half the memory of ``np.flatnonzero()``, which matters because a row of 64 MB may be all quotes.
    """
    found = np.empty(np.count_nonzero(chosen), np.int32)
    filled = 0
    for begin in range(0, len(chosen), _PIECE):
        some = np.flatnonzero(chosen[begin : begin + _PIECE])
        found[filled : filled + len(some)] = some + begin
        filled += len(some)
    return found


def _are_inside(toggles: _Toggles, places: Integers) -> npt.NDArray[np.bool_]:
    """Return a mask of the positions that are inside quoted fields."""
    found = np.empty(len(places), bool)
    for begin in range(0, len(places), _PIECE):
        some = slice(begin, begin + _PIECE)
        found[some] = np.searchsorted(toggles.at, places[some]) % 2
    return found


def _toggles(
    values: npt.NDArray[np.uint8],
    separator: bytes,
    breaks: Integers,
    hopeless: Callable[[int, Integers], bool] | None,
    *,
    within: bool,
) -> _Toggles:
    marks = _places(values == _QUOTE)
    borders = np.zeros(256, bool)
    borders[[separator[0], _LF, _CR]] = True
    begins, ends, doubled = (np.empty(len(marks), bool) for _ in range(3))
    for at in range(0, len(marks), _PIECE):
        some = slice(at, at + _PIECE)
        begins[some] = borders[values[np.maximum(marks[some] - 1, 0)]]
        following = np.minimum(marks[some] + 1, len(values) - 1)
        ends[some] = borders[values[following]]
        doubled[some] = (values[following] == _QUOTE) & (following > marks[some])
    begins[0] |= marks[0] == 0
    ends[-1] |= marks[-1] == len(values) - 1
    # Quotes begin and end fields in alternation. A doubled quote inside a field fits this, too: the first quote of the
    # two ends the field, and the second begins it again.
    again = np.append(False, doubled[:-1])
    pair_up = (begins[0::2] | again[0::2]).all() and (ends[1::2] | doubled[1::2]).all()
    if pair_up and (len(marks) % 2 == 0 or hopeless is None):
        return _Toggles(marks, [])
    return _walked(marks, begins, ends, doubled, breaks, hopeless, within=within)


def _walked(
    marks: Integers,
    begins: npt.NDArray[np.bool_],
    ends: npt.NDArray[np.bool_],
    doubled: npt.NDArray[np.bool_],
    breaks: Integers,
    hopeless: Callable[[int, Integers], bool] | None,
    *,
    within: bool,
) -> _Toggles:
    """Return the quotes that begin and end quoted fields. Inside other fields, a quote is an ordinary character.

    ``hopeless`` decides whether a quote that is not closed is a fault. If it is None, no such quote is a fault.
    """
    found = array("i")
    faults: list[tuple[int, int]] = []
    places, begin, end, twice = marks.data, begins.data, ends.data, doubled.data
    count = len(places)
    this = 0
    while this < count:
        if not begin[this]:
            this += 1
            continue
        first = places[this]
        this += 1
        while this < count and twice[this]:
            this += 2
        if this < count and end[this]:
            found.extend((first, places[this]))
            this += 1
            continue
        if this >= count and (hopeless is None or not hopeless(first, marks)):
            found.append(first)
            break
        close = places[this] if this < count else -1
        if within and first == 0 and close > 0:  # the row was already reported, and ends with this line
            found.extend((first, close))
        else:
            faults.append((first, close))
        line = int(np.searchsorted(breaks, close if within and first == 0 else first))
        if line == len(breaks):
            break
        this = bisect_right(places, int(breaks[line]))
    return _Toggles(np.asarray(found), faults)


def _fields_alike(values: npt.NDArray[np.uint8], separator: bytes, at: Integers, fields: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the lines that have as many separators as a row of ``fields`` fields without quotes."""
    separators = _places(values == separator[0])
    alike = np.empty(len(at), bool)
    before = 0
    for begin in range(0, len(at), _PIECE):
        count = np.searchsorted(separators, at[begin : begin + _PIECE])
        alike[begin : begin + _PIECE] = np.diff(count, prepend=before) == fields - 1
        before = count[-1]
    return alike


def _look_like_rows(
    values: npt.NDArray[np.uint8], separator: bytes, at: Integers, mark: int, marks: Integers, fields: int
) -> bool:
    """Return whether most lines after the line of a quote look like rows without quotes."""
    first = int(np.searchsorted(at, mark)) + 1
    alike = _fields_alike(values, separator, at, fields)
    with_quotes = np.searchsorted(at, marks)
    alike[with_quotes[with_quotes < len(at)]] = False
    filled = np.diff(at, prepend=-1) > 2
    return bool(2 * np.count_nonzero(alike[first:]) > np.count_nonzero(filled[first:]))


def _without_pairs(
    data: bytes,
    values: npt.NDArray[np.uint8],
    separator: bytes,
    line: int,
    fields: int,
    at: Integers,
    outside: npt.NDArray[np.bool_],
    toggles: _Toggles,
    found: Cut,
) -> Cut:
    """Return the rows after splitting those that two quotes join by mistake.

    This is about rows of several lines, each of which has as many separators as a row. Such a row is split if it is at
    fault, or if all its lines together do not have the number of fields of a row. Otherwise it stays one row, as the
    file says, and is reported in ``told``.
    """
    before = np.append(0, found.lines[:-1])
    count = found.lines - before
    alike = np.cumsum(np.append(False, _fields_alike(values, separator, at, fields)), dtype=np.int32)
    rows = (count > 1) & (alike[found.lines] - alike[before] == count)
    if separator != b"\t":
        rows &= (count - 1) * (fields - 1) >= _FIELDS_ALIKE
    apart: list[tuple[int, int]] = []
    told: dict[int, int] = {}  # by the byte at which the row begins
    for row in np.flatnonzero(rows).tolist():
        begin, end = int(found.ends[row - 1]) if row else 0, int(found.ends[row])
        if b'""' in data[begin:end]:
            continue  # the field may hold a table with quoted fields of its own
        separators = begin + np.flatnonzero(values[begin:end] == separator[0])
        own = int(np.count_nonzero(~_are_inside(toggles, separators))) + 1
        if row in found.bad or own != fields:
            apart.append((begin, end))
            outside[int(before[row]) : int(found.lines[row])] = True
        else:
            told[begin] = int(count[row])
    parted = np.array(apart, np.int64).ravel()
    faults = [each for each in toggles.faults if np.searchsorted(parted, each[0], side="right") % 2 == 0]
    for begin, end in apart:
        for first, close in _line_faults(data[begin:end], separator):
            faults.append((begin + first, close if close < 0 else begin + close))
    rows_apart = _rows(at, outside, toggles._replace(faults=faults), line) if apart else found
    starts = np.append(0, rows_apart.ends[:-1])
    return rows_apart._replace(
        is_open=found.is_open,
        told={
            int(np.searchsorted(starts, begin)): (
                f"a quoted field goes on for {lines:,} lines, each of which has the {fields} fields of a row. They are "
                f"read as one row: check that the quote at the field's beginning is meant; {ADVICE}"
            )
            for begin, lines in told.items()
        },
    )


def _line_faults(data: bytes, separator: bytes) -> list[tuple[int, int]]:
    """Return the quotes at fault in some lines, with each line parsed separately."""
    found = []
    begin = 0
    for own in data.splitlines(keepends=True):
        if b'"' in own:
            values = np.frombuffer(own, np.uint8)
            toggles = _toggles(values, separator, _breaks(own, values), lambda *_: True, within=False)
            found += [(begin + first, close if close < 0 else begin + close) for first, close in toggles.faults]
        begin += len(own)
    return found
