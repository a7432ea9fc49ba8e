"""The numerical features of a page's blocks, which the noise model reads, as in csrc/parsing/noise_features.h."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.blocks import Blocks

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The number of elements above a block whose names the model reads, and the number of branching elements above a block
#: whose content it reads.
_PATH, _LEVELS = 12, 5

#: The classes of characters that are counted, such as digits and capitals. One more class, of all characters beyond
#: ASCII, follows them.
_SORTS = ("0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", ",", ".!?", ":;", "$%@#", "|/>", "()[]\"'")
_SORT_OF = np.zeros(129, np.uint8)
for _number, _members in enumerate(_SORTS):
    _SORT_OF[[ord(member) for member in _members]] = _number + 1
_SORT_OF[128] = len(_SORTS) + 1


def noise_columns(
    text: npt.NDArray[np.uint8], blocks: Blocks, kinds: int, facts: Mapping[str, Any], words: Sequence[Any]
) -> tuple[npt.NDArray[Any], ...]:
    """Return the result of :func:`pychunk._engine.native.noise_columns`."""
    content = text.tobytes().decode()
    count = len(blocks.kind)
    bodies = [content[start:end] for start, end in zip(blocks.start.tolist(), blocks.end.tolist(), strict=True)]

    # Words.
    numbers: dict[str, int] = {}
    sizes, stops, hash_counts, ends_sentence, hashes, title = words
    owner = np.repeat(np.arange(count), hash_counts)
    in_title = np.bincount(owner[np.isin(hashes, title)], minlength=count)
    words_stops = np.stack([sizes, stops, in_title / np.maximum(hash_counts, 1), ends_sentence], axis=1)
    copy = np.array([numbers.setdefault(body, len(numbers)) for body in bodies], np.int64)
    repeats = np.bincount(copy)[copy].astype(np.float64)

    # Characters.
    counts = _characters(content, blocks.start, blocks.end)

    chars = facts["text_chars"].astype(np.float64)
    linked = facts["link_chars"].astype(np.float64)
    links = facts["links"].astype(np.float64)
    words_ = words_stops[:, 0]
    total = np.concatenate([[0.0], np.cumsum(chars)])
    position = np.arange(count, dtype=np.float64)
    length = np.maximum(chars, 1.0)
    of_kind = (blocks.kind[:, None] == np.arange(kinds)).astype(np.float64)
    first_heading = np.flatnonzero((blocks.kind == 1) & (blocks.level == 1))
    from_h1 = position - (first_heading[0] if len(first_heading) else count)
    last_heading = np.maximum.accumulate(np.where(blocks.kind == 1, np.arange(count), -1)) if count else position
    columns = [
        _log(chars) / 2,
        _log(words_) / 2,
        _ratio(linked, length) * 4,
        _log(links),
        _ratio(chars, words_) / 4,
        _ratio(words_stops[:, 1], words_) * 6,
        words_stops[:, 2] * 4,
        words_stops[:, 3] * 2,
        *(np.minimum(_ratio(counts[:, each], length) * (4 if each < 2 else 16), 4) for each in range(9)),
        of_kind * 2,
        blocks.level.astype(np.float64),
        facts["hidden"].astype(np.float64) * 2,
        _log(repeats - 1),
        facts["depth"][facts["element"]].astype(np.float64) / 8,
        _ratio(position, np.full(count, float(count))) * 4,
        _ratio(total[:-1], np.full(count, total[-1])) * 4,
        np.full(count, _log(np.array([float(count)]))[0] / 4),
        np.full(count, _log(np.array([total[-1]]))[0] / 4),
        np.clip(from_h1 / 8, -4, 4),
        _log(np.abs(from_h1)) / 2 * np.sign(from_h1),
        _log(position - last_heading) / 2,
        np.full(count, float(len(first_heading) > 0)),
    ]

    # The tree: the content of each element, as sums over its blocks.
    elements = len(facts["parent"])
    rows = np.arange(elements)
    first = np.searchsorted(facts["element"], rows)
    last = np.searchsorted(facts["element"], facts["last"])
    inside = last - first
    parent = np.maximum(facts["parent"], 0).astype(np.int64)
    top = np.where(inside[parent] == inside, parent, rows)
    while not np.array_equal(further := top[top], top):
        top = further
    per_block = np.column_stack([chars, linked, words_, words_stops[:, 1], counts[:, 3], repeats > 1, of_kind[:, 1]])
    running = np.concatenate([np.zeros((1, per_block.shape[1])), np.cumsum(per_block, axis=0)])
    above = np.zeros((_LEVELS, count), np.int64)
    at = facts["element"].astype(np.int64)
    for level in range(_LEVELS):
        at = parent[top[at]]
        above[level] = at
        within = running[last[at]] - running[first[at]]
        many = inside[at].astype(np.float64)
        columns += [
            _log(within[:, 0]) / 2,
            _ratio(within[:, 0], np.full(count, total[-1])) * 4,
            _ratio(within[:, 1], within[:, 0]) * 4,
            _ratio(within[:, 3], within[:, 2]) * 6,
            _log(_ratio(within[:, 2], many)),
            _log(many) / 2,
            np.minimum(_ratio(within[:, 4] * 16, within[:, 0]), 4),
            _ratio(within[:, 5], many) * 4,
            _ratio(within[:, 6], many) * 4,
            _ratio(position - first[at], many) * 2,
            facts["depth"][at].astype(np.float64) / 8,
        ]

    # Blocks whose elements have the same names, such as posts, cards and menu entries.
    names = facts["names"].astype(np.uint64)
    name = np.add.reduceat(np.append(names, 0), facts["name_offsets"][:-1]) if elements else names
    name = np.where(np.diff(facts["name_offsets"]) > 0, name, 0)
    one, two = parent[facts["element"]], parent[parent[facts["element"]]]
    sign = (
        name[facts["element"]] + name[one] * np.uint64(31) + name[two] * np.uint64(961) + blocks.kind.astype(np.uint64)
    )
    _, inverse, members = np.unique(sign, return_inverse=True, return_counts=True)
    like = inverse.reshape(-1).astype(np.int64)
    alike = members[like].astype(np.float64)
    summed = np.zeros((len(members), 4))
    np.add.at(summed, like, np.column_stack([chars, linked, words_, words_stops[:, 1]]))
    summed = summed[like]
    columns += [
        _log(alike) / 2,
        _log(_ratio(summed[:, 0], alike)) / 2,
        _ratio(summed[:, 1], summed[:, 0]) * 4,
        _ratio(summed[:, 3], summed[:, 2]) * 6,
    ]

    # The title, and the element that contains the most prose: each paragraph of prose votes for its ancestors.
    prose = np.maximum(chars - linked, 0) * (chars - linked >= 80) * (chars >= 2 * linked)
    votes = np.bincount(above[0], prose, minlength=elements) + np.bincount(above[1], prose, minlength=elements) / 2
    main = int(np.argmax(votes)) if count else 0
    alike_title = np.flatnonzero((words_stops[:, 2] >= 0.6) & (words_ >= 3) & (words_ <= 30))
    headings = alike_title[blocks.kind[alike_title] == 1]
    anchor = int(headings[0]) if len(headings) else int(first_heading[0]) if len(first_heading) else -1
    begins, ends = (float(first[main]), float(last[main])) if count else (0.0, 0.0)
    inside_main = (position >= begins) & (position < ends)
    columns += [
        inside_main * 2.0,
        np.clip((position - begins) / 8, -4, 4),
        np.clip((position - ends) / 8, -4, 4),
        _log(np.maximum(position - ends + 1, 0)),
        _ratio(running[last[main], 0] - running[first[main], 0], total[-1]) * 4 + np.zeros(count),
        np.clip((position - anchor) / 8, -4, 4) if anchor >= 0 else np.zeros(count),
        (position >= anchor) * 1.0 if anchor >= 0 else np.full(count, -1.0),
        facts["told"] * 4.0,
        _log(np.full(count, float(facts["told"].sum()))),
    ]
    for level in range(_LEVELS):
        at = above[level]
        columns += [
            votes[at] / max(1.0, float(votes.max())) * 2 if count else position,
            ((first[at] <= begins) & (last[at] >= ends)) * 2.0,
            ((first[at] <= anchor) & (last[at] > anchor)) * 2.0,
            _ratio(np.maximum(votes[at], 1), np.maximum(running[last[at], 0] - running[first[at], 0], 1)) * 2,
        ]

    dense = np.column_stack(columns)
    dense = np.rint(np.clip(dense, -8, 8) * 64) / 64
    near = np.stack([facts["element"].astype(np.int64), one, two])
    return dense, near, _above(facts["parent"], two), above, like, copy


def _log(values: F64) -> F64:
    """Return log2(1 + values), interpolated linearly between powers of two, so that float64 represents it exactly."""
    part, power = np.frexp(values + 1.0)
    return np.asarray(power - 2 + 2 * part, np.float64)


def _ratio(part: F64, whole: F64) -> F64:
    return np.asarray(part / np.maximum(whole, 1.0), np.float64)


def _characters(content: str, start: I64, end: I64) -> F64:
    """Return float64[b, 9], the number of characters of each class in each block."""
    width = len(_SORTS) + 2
    sorts = _SORT_OF[np.minimum(np.frombuffer(content.encode("utf-32-le", "replace"), np.uint32), 128)]
    found = np.flatnonzero(sorts)
    block = np.searchsorted(start, found, side="right") - 1
    inside = (block >= 0) & (found < end[block])
    keys = block[inside] * width + sorts[found[inside]]
    return np.bincount(keys, minlength=len(start) * width).reshape(-1, width)[:, 1:].astype(np.float64)


def _above(parents: npt.NDArray[np.int32], under: I64) -> I64:
    """Return the rows of the twelve elements above each element of ``under``, int64[12, n]; -1 above the root."""
    parent = np.append(parents, -1).astype(np.int64)
    rows = np.empty((_PATH, len(under)), np.int64)
    at = under
    for level in range(_PATH):
        at = parent[at]
        rows[level] = at
    return rows
