"""Texts on which a tokenizer is compared with its library, and the comparison."""

import json
import random
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from pychunk._engine import native
from pychunk.tokenizers.unigram import SentencePieceTokenizer

#: Texts in which normalizing, white space or unknown characters matter.
CASES = [
    "",
    " ",
    "  ",
    " a",
    "a ",
    " a  b ",
    "\u2581a",
    "a\u2581",
    "a\u2581\u2581b",
    "foo of  <sep>x",
    "\ufb01 \u00bd a",
]
CASES += [
    "\ue123\ue124 \ue125 \ue126x",
    "\u4e2d\u56fd\u4eba\u6c11 12345",
    "a\u3000b \u00a8x",
    "x\t\n x",
    "a\x01",
    "a  \x01 b",
]
CASES += [
    "\u00e9 e\u0301 a\r\nb",
    "<s> <unk> <0x41>",
    "\u0627\u0600 b",
    "x \u0308y",
    "\u0e01\u0e33\u0e25\u0e31\u0e07",
    "\ud55c\u1100\u1161",
]
CASES += [
    "\u200b",
    "a\u200bb",
    "\u00e9\u200d",
    "\U0001f44d\U0001f3fd!",
    "don't -- stop...",
    "=" * 90,
    "a" * 300,
    "ab" * 300,
]


def texts_of(data: Path, kinds: Iterable[str], share: float = 1.0) -> Iterator[str]:
    """Yield the articles of Wikipedia, the strings of XQuAD, or the modules of Python's library, or a share of them."""
    drawn = random.Random(1)
    for kind in kinds:
        for text in _READERS[kind](data):
            if drawn.random() < share:
                yield text


def _wiki(data: Path) -> Iterator[str]:
    for batch in pq.ParquetFile(data / "wiki" / "articles.parquet").iter_batches(200, columns=["text"]):
        yield from batch.column(0).to_pylist()


def _xquad(data: Path) -> Iterator[str]:
    for path in sorted((data / "xquad").glob("*.json")):
        yield from _strings(json.loads(path.read_text(encoding="utf-8")))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _code(data: Path) -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield path.read_text(encoding="utf-8", errors="replace")


_READERS: dict[str, Callable[[Path], Iterator[str]]] = {"wiki": _wiki, "xquad": _xquad, "code": _code}


def tokens_of(tokenizer: SentencePieceTokenizer, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the ids of a text, and the bytes of each token."""
    data = np.frombuffer(text.encode(), np.uint8)
    bounds = np.array([0, len(data)], np.int64)
    tokens, spans = tokenizer.encode(data, bounds)
    assert native.encode_pieces(tokenizer.core, data, bounds, "ids")[0].tolist() == tokens.ids.tolist()
    assert tokenizer.count(data, bounds).tolist() == [len(tokens.ids)]
    return tokens.ids.tolist(), [(int(a), int(b)) for a, b in spans]


def in_characters(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    data = np.frombuffer(text.encode(), np.uint8)
    before = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
    return [(int(before[a]), int(before[b])) for a, b in spans]


@contextmanager
def errors_name(what: str) -> Iterator[None]:
    """Accept a ValueError if its message contains a text, such as the name of a damaged file."""
    try:
        yield
    except ValueError as error:
        if what not in str(error):
            raise
