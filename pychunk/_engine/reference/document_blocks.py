"""The effects of blocks and removed spans: where sentences end, and which sentences are kept together."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import groupby
from typing import NamedTuple

from ..data.blocks import (
    BLOCK_KINDS,
    CAPTION,
    CODE,
    FRONT_MATTER,
    HEADING,
    ITEM,
    PARAGRAPH,
    QUOTE,
    TABLE,
    TERM,
    Blocks,
)
from .cohesion import Break, Cohesion
from .text.characters import STOPS, is_letter
from .text.graphemes import count_words
from .text.sentence_splitter import PARAGRAPH as PARAGRAPH_START
from .text.sentence_splitter import flags_of_gap

ROWS = (TABLE, CODE, FRONT_MATTER)
#: The kinds of block that are one sentence each, however many full stops they contain.
WHOLE = (HEADING, TERM)
#: The most words and bytes of a run-in heading, which is the first sentence of a paragraph.
RUN_IN_WORDS, RUN_IN_BYTES = 5, 100
#: The most consecutive terms that share one definition. More than these are a list of terms without definitions.
TERM_RUN = 8
#: The most words of a label, and the fewest bytes of the text that it labels.
LABEL_WORDS, LABELLED_BYTES = 3, 40
_TAG = re.compile("</?[A-Za-z][^<>]*>")
#: The beginnings of lines of code that continue or end the construct of the lines before, such as ``else`` and ``}``.
_CLOSES = re.compile(
    r"[})\]]|```|~~~|\Z|(case|catch|done|elif|else|end|esac|except|fi|finally|rescue|until|while)(?![a-z])"
)
assert len(BLOCK_KINDS) == 10


class Block(NamedTuple):
    kind: int
    level: int
    start: int  # characters
    end: int
    markup: bool  # whether the text is source with inline markup


def blocks_of(blocks: Blocks | None, row: int, data: bytes) -> list[Block]:
    """Return the blocks of one document, in characters."""
    if blocks is None:
        return []
    own = slice(int(blocks.offsets[row]), int(blocks.offsets[row + 1]))
    columns = (blocks.kind[own], blocks.level[own], blocks.start[own], blocks.end[own])
    found = zip(*(column.tolist() for column in columns), strict=True)
    markup = [False] * (own.stop - own.start) if blocks.markup is None else blocks.markup[own].tolist()
    return [
        Block(kind, level, len(data[:a].decode()), len(data[:b].decode()), source)
        for (kind, level, a, b), source in zip(found, markup, strict=True)
    ]


def _first(text: str, begin: int, end: int) -> int | None:
    return next((at for at in range(begin, end) if not text[at].isspace()), None)


def cut(
    text: str, starts: list[int], flags: list[int], blocks: list[Block], removed: list[tuple[int, int]], own: bool
) -> tuple[list[int], list[int]]:
    """Return the (starts, flags) of sentences after cutting them at the boundaries of blocks and of removed spans.

    ``own`` says that the engine made the sentences, and not the caller. Then sentences are also joined inside headings
    and terms, and cut at the lines of tables and code.
    """
    if not starts:
        return starts, flags
    marks: set[int | None] = set()
    nexts = [*(block.start for block in blocks[1:]), len(text)]
    inside: set[int] = set()  # positions at which no sentence begins, if the engine makes the sentences
    for block, after in zip(blocks, nexts, strict=False):
        marks |= {_first(text, block.start, after), _first(text, block.end, after)}
        if own and block.kind in ROWS:
            marks |= {_first(text, i + 1, block.end) for i in range(block.start, block.end) if text[i] in "\r\n"}
        if own and block.kind in (*WHOLE, *ROWS):
            inside |= set(range(block.start + 1, block.end))
        elif own and block.markup:
            for tag in _TAG.finditer(text, block.start, block.end):
                inside |= set(range(tag.start() + 1, tag.end()))
    for span in removed:
        marks |= {_first(text, at, len(text)) for at in span}
    at_marks = {at for at in marks if at is not None}
    known = dict(zip(starts, flags, strict=True))
    first = starts[0]
    begins = {first} | {at for at in starts if at not in inside} | at_marks
    out: list[int] = []
    of: list[int] = []
    for at in sorted(begins):
        if at in at_marks and out and not text[out[-1] : at].strip():
            of[-1] |= PARAGRAPH_START
            if at not in known:
                continue
        flag = known.get(at)
        if flag is None:
            flag = flags_of_gap(text[len(text[:at].rstrip()) : at])
        out.append(at)
        of.append(flag | PARAGRAPH_START if at in at_marks else flag)
    return out, of


def block_of(text: str, starts: list[int], ends: list[int], blocks: list[Block]) -> list[int]:
    """Return for each sentence the number of the block in or after which it begins, or -1 if there is none."""
    firsts = [block.start for block in blocks]
    found = [_first(text, a, b) for a, b in zip(starts, ends, strict=True)]
    return [bisect_right(firsts, b if at is None else at) - 1 for at, b in zip(found, ends, strict=True)]


def find_removed(text: str, starts: list[int], ends: list[int], removed: list[tuple[int, int]]) -> list[bool]:
    """Return for each sentence whether it is removed."""
    found = [_first(text, a, b) for a, b in zip(starts, ends, strict=True)]
    return [at is not None and any(a <= at < b for a, b in removed) for at in found]


def levels(blocks: list[Block], own: list[int], removed: list[bool]) -> list[int]:
    """Return the level of each sentence that is a heading, and 0 for other sentences and removed ones."""
    return [0 if gone else level(blocks, own, s) for s, gone in enumerate(removed)]


def level(blocks: list[Block], own: list[int], s: int) -> int:
    """Return the level of a sentence that is a heading, even if it is removed; 0 if it is no heading."""
    b = own[s]
    heads = b >= 0 and blocks[b].kind == HEADING and (s == 0 or own[s - 1] != b)
    return min(max(blocks[b].level, 1), 255) if heads else 0


def introduces_heading(blocks: list[Block], b: int) -> bool:
    """Return whether a block is code with a level that is directly before a heading.

    Comments and decorators above a definition are such code. The section of the heading begins with the code.
    """
    code = b >= 0 and blocks[b].kind == CODE and blocks[b].level > 0
    return code and b + 1 < len(blocks) and blocks[b + 1].kind == HEADING


def _runs_in(sentence: str) -> bool:
    """Return whether the first sentence of a block is short enough for a run-in heading."""
    return len(sentence.encode()) <= RUN_IN_BYTES and count_words(sentence) <= RUN_IN_WORDS


def _labels(sentence: str, following: str, listed: bool) -> bool:
    """Return whether a block is a label, such as "Note", of the block after it, which is a list if ``listed``."""
    if len(sentence.encode()) > RUN_IN_BYTES or not (listed or len(following.encode()) >= LABELLED_BYTES):
        return False
    ends = sentence[-1:] in {*STOPS, ",", ";"}
    return is_letter(sentence[:1] or " ") and not ends and count_words(sentence) <= LABEL_WORDS


def is_delimiter(row: str) -> bool:
    """Return whether a row consists of bars, dashes and colons, as the row below the head of a table does."""
    return "-" in row and not row.strip("|:- \t")


def is_fence(row: str) -> bool:
    """Return whether a line of code is a fence of ``` or ~~~, which may name the language."""
    return row.startswith(("```", "~~~"))


def break_code(
    spans: list[tuple[int, int]], text: str, own: list[int], blocks: list[Block], breaks: list[Break]
) -> None:
    """Set the breaks between lines of code: breaks before a definition are stronger than those inside one."""
    for b, block in enumerate(blocks):
        rows = [s for s, each in enumerate(own) if each == b]
        if block.kind != CODE or not rows:
            continue
        lines = {s: text[slice(*spans[s])] for s in rows}
        before = {s: re.search(r"[ \t]*\Z", text[: spans[s][0]]) for s in rows}
        indented = {s: sum(4 if c == "\t" else 1 for c in found[0]) for s, found in before.items() if found}
        least = min((indented[s] for s in rows if not is_fence(lines[s])), default=0)
        for s in rows[1:]:
            if breaks[s] >= Break.PAGE:
                continue
            inside = indented[s] > least or _CLOSES.match(lines[s]) is not None
            blank = breaks[s] == Break.BLANK_LINE
            deeper = indented[s] > indented[s - 1]
            if not inside:
                breaks[s] = Break.BLANK_LINE if blank else Break.LINE
            elif blank:
                breaks[s] = Break.LINE
            elif deeper or lines[s].startswith(("}", ")", "]")) or _is_open(lines[s - 1]):
                breaks[s] = Break.PIECE
            else:
                breaks[s] = Break.SENTENCE


def _is_open(line: str) -> bool:
    """Return whether a line of code ends with an open bracket, a comma or an operator; a comment does not count."""
    for mark in (" //", " # "):
        line = line.partition(mark)[0]
    return line.rstrip(" \t").endswith((",", "(", "[", "{", "=", "&", "|", "+", "\\"))


def find_block_cohesion(
    sentences: list[str], blocks: list[Block], own: list[int], breaks: list[Break], cohesion: list[Cohesion]
) -> None:
    """Set the cohesion at the boundaries of blocks, and between the sentences of one block."""
    kinds = [blocks[b].kind if b >= 0 else PARAGRAPH for b in own]
    runs = [(kind, len(list(run))) for kind, run in groupby(kinds)]
    listed = [kind == TERM and run > TERM_RUN for kind, run in runs for _ in range(run)]
    for s in range(1, len(own)):
        if breaks[s] >= Break.PAGE:
            continue
        row = s - own.index(own[s])
        if own[s] == own[s - 1]:
            if kinds[s] in WHOLE:
                cohesion[s] = Cohesion.LEAD
            elif kinds[s] in ROWS:
                below = is_delimiter(sentences[s - 1]) or (row == 2 and is_delimiter(sentences[s]))
                heads = kinds[s] == TABLE and row <= 3 and (row == 1 or below)
                cohesion[s] = Cohesion.LEAD if heads else Cohesion.TRAIL
            elif row == 1 and cohesion[s] == Cohesion.OPEN and _runs_in(sentences[s - 1]):
                cohesion[s] = Cohesion.LEAD
            continue
        before, after = kinds[s - 1], kinds[s]
        alone = s == 1 or own[s - 2] != own[s - 1]
        prose = before in (PARAGRAPH, ITEM, QUOTE)
        if introduces_heading(blocks, own[s - 1]):
            cohesion[s] = Cohesion.LEAD
        elif after == HEADING or introduces_heading(blocks, own[s]):
            deeper = before == HEADING and blocks[own[s]].level > blocks[own[s - 1]].level
            cohesion[s] = Cohesion.LEAD if deeper else Cohesion.SECTION
        elif (
            (before in WHOLE and not (listed[s - 1] and listed[s]))
            or (after in (CODE, TABLE) and prose)
            or (before == CAPTION and after == TABLE)
        ):
            cohesion[s] = Cohesion.LEAD
        elif before == TABLE and after == CAPTION:
            cohesion[s] = Cohesion.TRAIL
        elif prose and after in (PARAGRAPH, ITEM, QUOTE) and alone:
            asks = sentences[s - 1][-1:] in ("?", "？")
            labels = before == PARAGRAPH and _labels(sentences[s - 1], sentences[s], after == ITEM)
            if asks or (labels and cohesion[s] == Cohesion.OPEN):
                cohesion[s] = Cohesion.LEAD
        elif (
            after == TERM and cohesion[s] == Cohesion.TRAIL
        ):  # a term without letters, such as "%%", stays with its definition
            cohesion[s] = Cohesion.OPEN
