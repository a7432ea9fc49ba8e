"""The interface to the extension: it checks arguments, makes arrays contiguous, calls the core, and names the results.

No other module imports ``pychunk._core``. ``pychunk._engine.reference`` has the same functions, slow and obvious.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._util.checkout import add_build
from .data.blocks import Blocks
from .data.cuts import Cuts
from .data.features import Features
from .data.headings import Headings
from .data.plan import Plan, Traits
from .data.ragged import Ragged
from .data.request import Request
from .data.tokens import Tokens

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "pychunk does not support free-threaded Python, and this Python runs without its lock; use the ordinary build "
        f"of Python {sys.version_info.major}.{sys.version_info.minor} (not the one whose name ends in t)"
    )

# pybind11 takes the lock of the main interpreter. In a sub-interpreter, loading the extension would wait for ever.
_interpreter, _main_interpreter = (
    ctypes.PYFUNCTYPE(ctypes.c_void_p)((f"PyInterpreterState_{name}", ctypes.pythonapi))() for name in ("Get", "Main")
)
if _interpreter != _main_interpreter:
    raise ImportError(
        "pychunk runs only in Python's main interpreter, but was imported in a sub-interpreter; import it in the main "
        "one (under mod_wsgi: WSGIApplicationGroup %{GLOBAL}), or in a separate process"
    )

if importlib.util.find_spec("pychunk._core") is None:
    add_build("pychunk")
try:
    from .. import _core
except ImportError as error:
    if "PYCHUNK_ISA" in str(error):
        raise ImportError(str(error)) from None
    raise ImportError(
        f"pychunk's extension cannot be loaded ({error}). In a checkout, Python takes the source folder for the "
        "installed package: build the extension there with `pip install .`, or run Python in another folder"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from .data.models import PairHead, TableOfRows, Template, TokenCounter, TokenTable, TopicHead
    from .data.pieces import PieceVocabulary

__all__ = [
    "Cancellation",
    "ChunkColumns",
    "Folding",
    "KeptSentences",
    "PostingsMaker",
    "SortedTerms",
    "WordCharacters",
    "adjacent_sums",
    "agglomerate",
    "available_isas",
    "best_rows",
    "best_rows_of_groups",
    "block_hashes",
    "block_words",
    "bm25_scores",
    "byte_pair",
    "bytes_of_characters",
    "category_runs",
    "class_probability",
    "compressed_vectors",
    "count_alive",
    "count_characters",
    "count_tokens",
    "cuts",
    "default_threads",
    "dot",
    "embedding_bags",
    "encode_byte_pair",
    "encode_passages",
    "encode_pieces",
    "encode_static",
    "encode_words",
    "extend_row_hashes",
    "find_invalid_utf8",
    "find_keys",
    "find_told",
    "hash128",
    "heading_texts",
    "headings",
    "html_work",
    "int8_bert",
    "isa",
    "joined",
    "json_rows",
    "languages",
    "lower_of_text",
    "markdown_blocks",
    "method_traits",
    "near_copies",
    "noise_columns",
    "noise_network",
    "normalized_rows",
    "pair_rows",
    "piece_tokenizer",
    "plan_batches",
    "pool",
    "put_reasons",
    "python_tables",
    "scan",
    "scan_top",
    "segment",
    "span_pairs",
    "span_vectors",
    "split",
    "split_texts",
    "thresholds",
    "token_windows",
    "tokenize",
    "topic_inputs",
    "unicode_tables",
    "unit_sums",
    "version",
    "walk_html",
    "weighted_bags",
    "wiki_text",
    "without_brackets",
    "without_elements",
    "word_lists",
    "work",
]

version: str = _core.__version__
hash128 = _core.hash128
near_copies = _core.near_copies
read_json_lines, json_keys = _core.read_json_lines, _core.json_keys
json_rows, joined = _core.json_rows, _core.joined
Bzip2Reader = _core.Bzip2Reader
#: The types of a JSON value. ``read_json_lines`` returns positions in this list. A "surrogate" is a string with half of
#: a surrogate pair.
JSON_KINDS = ("missing", "null", "string", "integer", "float", "boolean", "array", "object", "surrogate")
unicode_tables = _core.unicode_tables
category_runs = _core.category_runs
word_lists = _core.word_lists
dot = _core.dot
isa, available_isas = _core.isa, _core.available_isas
default_threads = _core.default_threads
WordCharacters = _core.WordCharacters
Folding = _core.Folding
Cancellation = _core.Cancellation
ChunkColumns = _core.ChunkColumns
KeptSentences = _core.KeptSentences
#: The rows that :func:`unit_sums` adds: their numbers, int64[n], and the rows, float32[m, dim].
Added: TypeAlias = "tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]"
PostingsMaker = _core.PostingsMaker
SortedTerms = _core.SortedTerms
best_rows, best_rows_of_groups = _core.best_rows, _core.best_rows_of_groups
bm25_scores, count_alive = _core.bm25_scores, _core.count_alive
python_tables = _core.python_tables

_tokenizers: weakref.WeakKeyDictionary[Any, _core.WordPiece] = weakref.WeakKeyDictionary()


def word_piece(encoder: TokenTable) -> _core.WordPiece:
    """Return the native tokenizer of a vocabulary.

    It is built only once for each, because this takes some 10 ms for 30,522 tokens.
    """
    found = _tokenizers.get(encoder)
    if found is None:
        found = _tokenizers[encoder] = _core.WordPiece(encoder.vocabulary, **encoder.tokenizer_options)
    return found


def token_counter(tokenizer: TokenCounter) -> _core.TokenCounter:
    """Return the counter of a tokenizer's tokens."""
    core = tokenizer.core
    if isinstance(core, _core.TokenCounter):
        return core
    return _core.TokenCounter.of_function(tokenizer) if core is None else _core.TokenCounter(core)


def count_each(
    tokenizer: TokenCounter, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the number of tokens of each consecutive span of a text, with white space at its ends, int64[n]."""
    return token_counter(tokenizer).count_each(_contiguous(text, np.uint8), _contiguous(bounds, np.int64))


def counter_after(
    words: _core.BytePair, added: list[str], nfc: _core.Folding | None, normalized: list[str]
) -> _core.TokenCounter:
    """Return a counter that finds added tokens and normalizes texts to NFC before it counts the tokens of words.

    Args:
        words: The tokenizer of the text between added tokens.
        added: The added tokens that are found in a text as it is.
        nfc: A folding to NFC; None if texts are not normalized.
        normalized: The added tokens that are then found in the normalized text.
    """
    return _core.TokenCounter(words, added, nfc, normalized)


def count_tokens(
    tokenizer: TokenCounter, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the number of tokens of each consecutive span of a text, without white space at its ends, int64[n]."""
    return token_counter(tokenizer).count(_contiguous(text, np.uint8), _contiguous(bounds, np.int64))


def _contiguous(values: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.ascontiguousarray(values, dtype=dtype)


def _arguments(request: Request) -> _core.Arguments:
    """Return the arguments that the core reads by attribute, with native objects in place of Python's models."""
    tokenizer, counter = request.tokenizer, request.counter
    # A counter in Python is called while the GIL is held, so threads of the core cannot help. It may use several cores
    # itself.
    serial = counter is not None and counter.core is None
    return _core.Arguments(
        request.with_(threads=1) if serial else request,
        None if tokenizer is None else word_piece(tokenizer),
        None if counter is None else token_counter(counter),
        None if request.pair_head is None else _pair_head(request.pair_head),
        None if request.topic_head is None else _topic_head(request.topic_head),
        _fallback(tokenizer),
    )


_pair_heads: weakref.WeakKeyDictionary[Any, _core.PairHead] = weakref.WeakKeyDictionary()


def _pair_head(head: PairHead) -> _core.PairHead:
    found = _pair_heads.get(head)
    if found is None:
        found = _pair_heads[head] = _core.PairHead(
            head.first, head.second, head.product, head.bias, head.out, head.out_bias
        )
    return found


_topic_heads: weakref.WeakKeyDictionary[Any, _core.TopicHead] = weakref.WeakKeyDictionary()


def _topic_head(head: TopicHead) -> _core.TopicHead:
    found = _topic_heads.get(head)
    if found is None:
        found = _topic_heads[head] = _core.TopicHead(head.parts, head.layers, head.dilations, head.out_bias, head.words)
    return found


#: A vocabulary with at least this many single ideographs was made for Chinese or Japanese. BERT's English one has 488.
_KNOWN_IDEOGRAPHS = 2000
_fallbacks: weakref.WeakKeyDictionary[Any, npt.NDArray[np.uint8]] = weakref.WeakKeyDictionary()


def _fallback(encoder: TokenTable | None) -> npt.NDArray[np.uint8] | None:
    return None if encoder is None else fallback_tokens(encoder)


def fallback_tokens(encoder: TokenTable) -> npt.NDArray[np.uint8]:
    """Return for each token of a vocabulary whether it tells little about a text, as [UNK] and single letters do.

    The result is uint8, with 1 for such tokens.
    """
    found = _fallbacks.get(encoder)
    if found is None:
        unknown = encoder.tokenizer_options.get("unknown", "[UNK]")
        lengths = {1, 3, len(unknown), len(unknown) + 2}  # this quick test excludes most of 30,000 tokens
        flags = [len(token) in lengths and _says_little(token, unknown) for token in encoder.vocabulary]
        ideographs = [
            at for at, flag in enumerate(flags) if flag and "\u4e00" <= encoder.vocabulary[at][-1] <= "\u9fff"
        ]
        if len(ideographs) >= _KNOWN_IDEOGRAPHS:
            for at in ideographs:
                flags[at] = False
        found = _fallbacks[encoder] = np.array(flags, dtype=np.uint8)
    return found


def _says_little(token: str, unknown: str) -> bool:
    bare = token.removeprefix("##")
    return bare == unknown or (len(bare) == 1 and bare.isalpha())


def fallback_share(encoder: TokenTable, text: npt.NDArray[np.uint8]) -> float:
    """Return the share of a text's tokens that are [UNK] or single letters, or 0 for a text without tokens."""
    ids = encoder.tokens_of(text, np.array([0, len(text)], np.int64)).ids
    return float(fallback_tokens(encoder)[ids].mean()) if len(ids) else 0.0


def segment(request: Request) -> dict[str, Any]:
    """Return the columns of a batch's chunk table by name. ``text`` and ``chunk_id`` are flat bytes."""
    columns: dict[str, Any] = _run(_core.segment, request)
    return columns


def _run(call: Callable[..., Any], request: Request, *more: Any) -> Any:
    """Return what a function of the core returns for a request.

    Raises:
        ValueError: The core rejects the request. Vectors are checked first, so that of several errors the same one is
            raised on any number of threads.
    """
    try:
        return call(_arguments(request), *more)
    except ValueError as error:
        rejected = error
    if request.features.vectors is not None:
        request.features.vectors.flat()  # reading the vectors checks them
    try:
        raise rejected
    finally:
        del rejected  # Its traceback holds this frame, and thus itself and the text.


def cuts(request: Request, *, held: bool = False) -> Cuts:
    """Return the cuts of the request's method, before chunks are fitted to the budget.

    With ``held``, scores of pairs are those that the method compares with its threshold. They differ from the other
    scores if the method's ``window`` is more than one sentence.
    """
    found = _run(_core.cuts, request, held)
    score = Ragged(found["score"], found["score_offsets"]) if "score" in found else None
    return Cuts(found["first"], found["offsets"], found.get("relevance"), score, found["pairs"], found["reason"])


def method_traits() -> dict[str, Traits]:
    """Return the traits of the native methods by name."""
    return {name: Traits(*facts) for name, facts in _core.method_traits().items()}


def work() -> tuple[int, int]:
    """Return how many bytes the core has split into sentences, and how many it has tokenized, since its import.

    The work of the reference engine is not counted.
    """
    return _core.work()


def adjacent_sums(request: Request) -> tuple[int, int]:
    """Return (sum, count) of the scores of neighbouring sentences in a batch. The sum is in units of 2**-32."""
    sums: tuple[int, int] = _run(_core.adjacent_sums, request)
    return sums


def thresholds(plan: Plan, scores: Ragged, *, threads: int) -> npt.NDArray[np.float64]:
    """Return the threshold of each document, float64[k].

    The scores are cosines to the summary for ``pic``, otherwise scores of neighbouring sentences. The threshold is NaN
    for a document without scores, and for ``threshold="gradient"``, which compares slopes and not scores.
    """
    return _core.thresholds(plan, _contiguous(scores.values, np.float32), scores.offsets, threads)


def split(request: Request) -> tuple[Ragged, Ragged]:
    """Return the first byte of each sentence in its document, and the sentences' flags.

    If the request has page starts, no sentence crosses the start of a page, except inside a block.
    """
    starts, offsets, flags = _core.split_sentences(_arguments(request))
    return Ragged(starts, offsets), Ragged(flags, offsets)


def headings(request: Request) -> Headings:
    """Return the sections of a request's documents and their headings. The plan's method must cut by headings."""
    return Headings(*_core.headings(_arguments(request)))


def span_vectors(
    vectors: npt.NDArray[np.float32],
    weights: npt.NDArray[np.int64],
    doc_offsets: npt.NDArray[np.int64],
    levels: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    *,
    threads: int,
) -> list[npt.NDArray[np.float32]]:
    """Return the vectors of the nodes of each level: weighted sums of the sentences' vectors, scaled to unit length.

    Each level is a pair of arrays: the first sentence of each node, and the sentence after its last. Vectors are added
    in order, as for a chunk's vector. If all sentences of a node have weight 0, they count equally.
    """
    rows, own = _contiguous(vectors, np.float32), _contiguous(weights, np.int64)
    return _core.span_vectors(rows, own, _contiguous(doc_offsets, np.int64), list(levels), threads)


def compressed_vectors(
    parts: Sequence[npt.NDArray[np.float32]],
    vectors: npt.NDArray[np.float32],
    tokens: npt.NDArray[np.int64],
    doc_offsets: npt.NDArray[np.int64],
    levels: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    *,
    threads: int,
) -> list[npt.NDArray[np.float32]]:
    """Return the vectors of the nodes of each level, computed by a compression encoder.

    ``parts`` are the encoder's arrays, in the order of csrc/vectors/compressor.h. For ``levels`` see
    :func:`span_vectors`.
    """
    rows, own = _contiguous(vectors, np.float32), _contiguous(tokens, np.int64)
    model = [_contiguous(part, np.float32) for part in parts]
    return _core.compressed_vectors(model, rows, own, _contiguous(doc_offsets, np.int64), list(levels), threads)


def agglomerate(
    vectors: npt.NDArray[np.float32],
    weights: npt.NDArray[np.int64],
    doc_offsets: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    branching: int,
    *,
    threads: int,
) -> list[npt.NDArray[np.int64]]:
    """Return the levels of a tree for each document, which joins neighbouring nodes by their cosine.

    ``first`` holds the first sentence of each node of the lowest level. Each returned level is the first sentences of
    its nodes. A node has at most ``branching`` children.
    """
    own, documents, nodes = (_contiguous(values, np.int64) for values in (weights, doc_offsets, first))
    return _core.agglomerate(_contiguous(vectors, np.float32), own, documents, nodes, branching, threads)


def most_central(
    vectors: npt.NDArray[np.float32],
    first: npt.NDArray[np.int64],
    since: npt.NDArray[np.int64],
    until: npt.NDArray[np.int64],
    *,
    threads: int,
) -> npt.NDArray[np.int64]:
    """Return for each of n chunks the most central sentence of the chunks around it, as int64[n].

    The chunks around chunk i are ``since[i]`` up to ``until[i]``, without i itself. If there are none, the result is
    -1. ``first``, int64[n + 1], holds each chunk's first row of ``vectors``. csrc/vectors/extractive_summary.h defines
    which sentence is central.
    """
    own, borders = _contiguous(vectors, np.float32), _contiguous(first, np.int64)
    return _core.most_central(own, borders, _contiguous(since, np.int64), _contiguous(until, np.int64), threads)


def token_windows(
    tokens: npt.NDArray[np.int64], doc_offsets: npt.NDArray[np.int64], sizes: list[int]
) -> list[npt.NDArray[np.int64]]:
    """Return for each size the first sentences of consecutive windows, each with as many sentences as fit the size.

    ``sizes`` are numbers of tokens, in increasing order. Each window consists of windows of the size before.
    """
    return _core.token_windows(_contiguous(tokens, np.int64), _contiguous(doc_offsets, np.int64), sizes)


def split_texts(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], *, unwrap_lines: str | bool = "auto", threads: int
) -> tuple[Ragged, Ragged]:
    """Return the sentences of texts without blocks or pages, as :func:`split` does. The texts must be valid UTF-8."""
    return split(Request(Features(text, offsets), Plan("sentence", unwrap_lines=unwrap_lines), threads=threads))


def heading_texts(sources: list[str], document: str) -> list[str]:
    """Return the texts of headings, whose Markdown is ``sources``.

    ``document`` is the whole document, because it defines the labels of links in its headings.
    """
    return _core.heading_texts(sources, document)


def without_elements(page: str, opaque: Callable[[str, str], str]) -> str:
    """Return wikitext without comments and what must not be parsed; see `.reference.parsing.wiki_elements`."""
    return _core.without_elements(page, opaque)


def without_brackets(text: str, render: Callable[[str], str], is_hidden: Callable[[str, bool], bool]) -> str:
    """Return wikitext without templates, links and tables; see `.reference.parsing.wiki_brackets`."""
    return _core.without_brackets(text, render, is_hidden)


def wiki_text(
    page: str, held: list[str], entity: Callable[[str], str], most_blocks: int
) -> tuple[str, tuple[str, list[int], list[int]] | None]:
    """Return the plain text of wikitext without brackets, and its blocks; see `.reference.parsing.wiki_lines`."""
    return _core.wiki_text(page, held, entity, most_blocks)


def markdown_blocks(text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], *, threads: int) -> Blocks:
    """Return the blocks of documents in Markdown, in characters of each document. The texts must be valid UTF-8."""
    found = _core.markdown_blocks(text, offsets, threads)
    return Blocks(*found, markup=np.ones(len(found[1]), np.bool_))


def walk_html(page: npt.NDArray[np.uint8], *, images: bool = False, targets: bool = False) -> tuple[Any, ...] | None:
    """Return the text, blocks and elements of a page: the fields of :class:`.data.html_document.HtmlDocument`.

    The page must be valid UTF-8, in the form in which lexbor writes a parsed page; otherwise the result is None. The
    field ``words`` is returned as two arrays, values and offsets.

    Args:
        page: uint8, the page.
        images: Whether an image that is alone in its paragraph and has a description becomes a block.
        targets: Whether links are written as in Markdown, with their targets.
    """
    return _core.walk_html(page, images, targets)


def block_words(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], stop_words: str, marks: str, *, first: int, last: int
) -> tuple[npt.NDArray[Any], ...]:
    """Return facts about the words of b texts, as five arrays.

    Four arrays have length b: the number of words, of stop words and of hashed words in each text, and whether its last
    character ends a sentence. The fifth holds the hashes, text by text. If a text has more than ``first + last`` words,
    only the first and the last ones are hashed. ``marks`` are removed from both ends of a word before it is hashed.

    Args:
        text: Valid UTF-8 in lower case.
        offsets: int64[b + 1].
        stop_words: Stop words, one per line.
        marks: Characters that are no part of a word.
        first: The most words at the start of a text that are hashed.
        last: The most words at the end of a text that are hashed.
    """
    return _core.block_words(text, offsets, stop_words, marks, first, last)


def find_keys(page: npt.NDArray[np.uint8], keys: list[bytes]) -> list[list[int]]:
    """Return the positions of each key in a page. Keys begin with a quotation mark."""
    return _core.find_keys(page, keys)


def lower_of_text(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8] | None:
    """Return UTF-8 in lower case, uint8[n], or None if the text may hold a letter whose lower case is not known here.

    ``csrc/parsing/block_words.h`` lists the known characters. The lower case has as many bytes as the text.
    """
    return _core.lower_of_text(text)


def find_told(
    text: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    told: npt.NDArray[np.uint8],
    *,
    least: int,
    most: int,
) -> npt.NDArray[np.uint8]:
    """Return for each block of a page whether its first letters and digits are in the text ``told``, uint8[b].

    The result is 0 for no, 1 for yes, and 2 for blocks that begin with other letters than Latin ones; see
    ``csrc/parsing/html/html_bytes.h``.
    """
    return _core.find_told(text, start, end, told, least, most)


def html_work(
    page: npt.NDArray[np.uint8], *, open: int, formatting: int, options: int, attributes: int, names: int
) -> tuple[int, int, bool]:
    """Return the work of an HTML parser on a page: (nodes, steps, whether a limit is exceeded).

    csrc/parsing/html/html_work.h defines these numbers and the limits.
    """
    return _core.html_work(page, open, formatting, options, attributes, names)


def noise_columns(
    text: npt.NDArray[np.uint8], blocks: Blocks, kinds: int, facts: Mapping[str, Any], words: Sequence[Any]
) -> tuple[npt.NDArray[Any], ...]:
    """Return the features of a page's blocks for the noise model: (dense, near, path, above, like, copy).

    csrc/parsing/noise_features.h has their shapes (``NoiseColumns``).

    Args:
        text: The page's text in UTF-8.
        blocks: The blocks, in characters of the text.
        kinds: The number of kinds of block that have a column.
        facts: Further arrays of the page, by their names in ``NoiseBlocks`` of the same file.
        words: The result of :func:`block_words`, followed by the hashes of the title's words in increasing order.
    """
    given = {name: np.ascontiguousarray(values) for name, values in facts.items()}
    start, end = np.ascontiguousarray(blocks.start), np.ascontiguousarray(blocks.end)
    return _core.noise_columns(
        text, start, end, blocks.kind, blocks.level, kinds, **given, **dict(zip(_WORDS, words, strict=True))
    )


_WORDS = ("words", "stops", "hashed", "ends_sentence", "hashes", "title")


def put_reasons(page: Mapping[str, npt.NDArray[Any]], **named: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the reasons for which to remove each block, int64[b], from the names of the elements around it.

    The result is the array ``why`` with these reasons added. ``page`` and ``named``, which includes ``why``, hold
    arrays by their names in ``csrc/parsing/noise_names.h``.
    """
    return _core.put_reasons(**{name: np.ascontiguousarray(values) for name, values in {**page, **named}.items()})


def noise_network(**model: Any) -> Callable[[Mapping[str, npt.NDArray[Any]]], npt.NDArray[np.int64]]:
    """Return a function of a page that computes int64[b, nets]: each network's output for each of the page's b blocks.

    The outputs are in multiples of 2^-18. The page is a mapping of arrays by their names in
    ``csrc/parsing/noise_net.h``.

    Args:
        **model: ``vocabulary``, ``neighbours``, ``windows`` and ``nets``, which the same file describes, and the number
            of ``groups`` of a page. Each layer of a network is (weights int16[outputs, inputs], bias int32[outputs]),
            in multiples of 1 / 1024.
    """
    network = _core.NoiseNetwork(**model)

    def sums(page: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
        return network.sums(**{name: np.ascontiguousarray(values) for name, values in page.items()})

    return sums


def span_pairs(rows: Sequence[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return the numbers of lists of pairs, int64[2 n], and the offsets of each list's pairs, int64[k + 1].

    Return None if the rows hold anything but lists of pairs of whole numbers.
    """
    return _core.span_pairs(list(rows))


def bytes_of_characters(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    characters: Ragged,
    what: str,
    *,
    first_row: int,
    threads: int,
) -> Ragged:
    """Convert increasing positions of each document from characters to bytes.

    Raises:
        ValueError: A position does not increase, or is beyond the text. The message names ``what`` and the document.
    """
    found = _core.bytes_of_characters(text, offsets, *characters, what, first_row, threads)
    return characters.like(found)


def pair_rows(
    tokens: Tokens,
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64] | None,
    template: Template,
) -> _core.ModelRows:
    """Return the input rows of a transformer. Row i is sentence ``first[i]``, followed by ``second[i]`` if given."""
    prefix, middle, suffix = (np.array(part, np.int32) for part in (template.prefix, template.middle, template.suffix))
    around = (prefix, middle, suffix, template.pad, template.max_length)
    return _core.ModelRows(tokens.ids, tokens.offsets, first, second, *around)


def int8_bert(
    arrays: Sequence[npt.NDArray[np.float32]], heads: int, epsilon: float, tanh: bool, first_only: bool
) -> _core.Bert:
    """Return a BERT of weights in the order of ``csrc/bert/bert.h``; its products are of bytes.

    Raises:
        ValueError: A weight is not finite, or a size is not one that the core computes.
    """
    return _core.Bert([_contiguous(each, np.float32) for each in arrays], heads, epsilon, tanh, first_only)


def plan_batches(
    lengths: npt.NDArray[np.int64], *, budget: int, least: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Assign n rows to b batches, and return (row numbers int64[n], offsets of the batches int64[b + 1]).

    A batch holds rows of one length, up to ``budget`` tokens in total. A batch of fewer than ``least`` rows also takes
    shorter rows. The longest row of a batch comes first.
    """
    return _core.plan_batches(lengths, budget, least)


def pool(
    states: npt.NDArray[Any],
    chosen: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    out: npt.NDArray[np.float32],
    *,
    pooling: str,
    unit: bool,
) -> None:
    """Pool row i of ``states``, float32 or float16 [rows, length, dim], into the vector ``out[chosen[i]]``.

    ``pooling`` is ``mean``, over the first ``lengths[chosen[i]]`` tokens, or ``cls``, which takes the first token.
    """
    if states.dtype == np.float16:
        _core.pool_half(_contiguous(states, np.float16).view(np.uint16), chosen, lengths, pooling, unit, out)
    else:
        _core.pool(_contiguous(states, np.float32), chosen, lengths, pooling, unit, out)


def class_probability(
    logits: npt.NDArray[Any], chosen: npt.NDArray[np.int64], wanted: int, out: npt.NDArray[np.float32]
) -> None:
    """Write the probability of class ``wanted``, by the softmax of row i of ``logits``, to ``out[chosen[i]]``.

    ``logits`` is float32 or float16 [rows, classes].
    """
    if logits.dtype == np.float16:
        _core.class_probability_half(_contiguous(logits, np.float16).view(np.uint16), chosen, wanted, out)
    else:
        _core.class_probability(_contiguous(logits, np.float32), chosen, wanted, out)


def scan(arrays: Sequence[npt.NDArray[Any]], dim: int, offsets: npt.NDArray[np.int64] | None = None) -> _core.Scan:
    """Prepare an exact search over the rows of arrays of one type.

    Arrays are float16 or float32 [n, dim], or int8 [n, dim + 4]. An int8 row holds ``dim`` integers, and in the last 4
    bytes a float32 by which they are multiplied. Chunk i has the rows ``offsets[i]`` up to ``offsets[i + 1]``; without
    ``offsets``, each row is a chunk.
    """
    kinds = {array.dtype for array in arrays}
    if len(kinds) > 1 or kinds - {np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.int8)}:
        given = ", ".join(sorted(map(str, kinds)))
        raise ValueError(f"arrays must be all float16, all float32 or all int8; got {given}")
    bounds = None if offsets is None else _contiguous(offsets, np.int64)
    for kind in kinds - {np.dtype(np.float16)}:
        return _core.Scan([_contiguous(array, kind) for array in arrays], dim, bounds)
    return _core.Scan([_contiguous(array, np.float16).view(np.uint16) for array in arrays], dim, bounds)


#: The bytes for which it pays to start a further thread. One thread hashes them in less than a millisecond.
_HASHED = 1 << 22


def block_hashes(data: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.uint32]:
    """Return the low 32 bits of the hash of each consecutive block of ``size`` bytes."""
    return _core.block_hashes(data, size, min(default_threads(), 1 + data.size // _HASHED))


def extend_row_hashes(
    data: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], states: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Return the hash of each row's state and of its bytes, uint64[n, 2]; row i has the bytes from ``bounds[i]`` on.

    A row's state is a hash, too, so that a row of several columns is hashed column by column.
    """
    threads = min(default_threads(), 1 + data.size // _HASHED)
    return _core.extend_row_hashes(data, _contiguous(bounds, np.int64), _contiguous(states, np.uint64), threads)


def pack_rows(vectors: npt.NDArray[np.float32], added: Added | None = None) -> npt.NDArray[np.int8]:
    """Quantize vectors float32[n, dim], or their :func:`unit_sums`, to rows of bytes, int8[n, dim + 4].

    A row holds integers from -127 to 127, followed by a float32 by which they are multiplied.
    """
    return _core.pack_rows(_contiguous(vectors, np.float32), *_added(added), default_threads())


def encode_rows(rows: npt.NDArray[Any], centroids: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """Return the codes of stored rows by product quantization, uint8[groups, pieces, 16].

    A vector is divided into pieces, and the code of a piece is the number of the nearest of 16 centroids, which are
    [pieces, 16, width of a piece]. A group holds 32 rows. The rows have the formats of :func:`scan`. The number of
    pieces is rounded up to a multiple of four. ``pychunk._engine.reference.search.codes`` computes the same in NumPy.
    """
    dim = rows.shape[1] - (4 if rows.dtype == np.int8 else 0)
    own = _contiguous(rows, rows.dtype)
    bits = own.view(np.uint16) if own.dtype == np.float16 else own
    return _core.encode_rows(bits, _contiguous(centroids, np.float32), dim, default_threads())


def best_by_codes(
    codes: Sequence[npt.NDArray[np.uint8]],
    rows: Sequence[int],
    centroids: npt.NDArray[np.float32],
    queries: npt.NDArray[np.float32],
    count: int,
    allowed: npt.NDArray[np.bool_] | None = None,
    *,
    threads: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the rows with the highest scores by their codes, best first, int64[queries, count].

    If there are fewer than ``count`` rows, the rest is -1. ``rows`` holds the number of rows of each array of codes.
    Row numbers continue from one array to the next. ``threads=None`` means the default number.
    """
    mask = None if allowed is None else _contiguous(allowed, np.bool_)
    wanted = _contiguous(np.atleast_2d(queries), np.float32)
    books = _contiguous(centroids, np.float32)
    threads = default_threads() if threads is None else threads
    return _core.best_by_codes(list(codes), list(rows), books, wanted, min(count, 2**62), mask, threads)


def scan_top(
    kept: _core.Scan,
    queries: npt.NDArray[np.float32],
    count: int,
    allowed: npt.NDArray[np.bool_] | None = None,
    *,
    threads: int | None = None,
    beside: npt.NDArray[np.float32] | None = None,
    weight: float = 1.0,
    groups: Sequence[int] = (),
    least: npt.NDArray[np.float32] | None = None,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (scores, chunks, rows) of the ``count`` best chunks of each query.

    Args:
        kept: The prepared vectors, from :func:`scan`.
        queries: float32[queries, dim], or one query.
        count: The number of chunks per query.
        allowed: bool per chunk; False excludes it. None allows all.
        threads: The number of threads; None means the default number.
        beside: float32[queries, chunks]: further scores, which are multiplied by ``weight`` and added.
        weight: The factor of ``beside``.
        groups: The numbers of the groups of ``kept.set_groups`` that contain all allowed chunks.
        least: float32[queries]: for each query a score that at least ``count`` allowed chunks reach, or -inf if no such
            score is known.
    """
    wanted = _contiguous(np.atleast_2d(queries), np.float32)
    mask = None if allowed is None else _contiguous(allowed, np.bool_)
    other = None if beside is None else _contiguous(beside, np.float32)
    threads = default_threads() if threads is None else threads
    return kept.top(wanted, min(count, 2**62), mask, threads, other, weight, list(groups), least)


def count_characters(text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the number of characters of each document in valid UTF-8, int64[k]."""
    return _core.count_characters(text, offsets)


def find_invalid_utf8(text: npt.NDArray[np.uint8]) -> int:
    """Return the byte offset of the first byte that is not part of valid UTF-8, or -1."""
    return _core.find_invalid_utf8(text)


def normalized_rows(vectors: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], int]:
    """Return a float32 copy with rows of unit length, and the number of the first row with NaN or infinity, or -1.

    A row of zeros stays a row of zeros.
    """
    return _core.normalized_rows(np.ascontiguousarray(vectors, dtype=np.float32))


def _added(added: Added | None) -> Added:
    numbers, rows = added or (np.zeros(0), np.zeros((0, 0)))
    return _contiguous(numbers, np.int64), _contiguous(rows, np.float32)


def unit_sums(vectors: npt.NDArray[np.float32], added: Added) -> npt.NDArray[np.float32]:
    """Return each of n vectors plus a row of another matrix, scaled to unit length, float32[n, dim].

    If one of the two is zero, the vector does not change, not even in its last bit.

    Args:
        vectors: float32[n, dim].
        added: The row for each vector, int64[n], and the rows, float32[m, dim].
    """
    return _core.unit_sums(_contiguous(vectors, np.float32), *_added(added), default_threads())


def encode_static(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], encoder: TokenTable, *, threads: int
) -> npt.NDArray[np.float32]:
    """Return the unit vectors, float32[k, dim], of k texts."""
    return _core.encode_static(text, offsets, word_piece(encoder), encoder.table, threads)


def encode_passages(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], encoder: TokenTable, *, threads: int
) -> npt.NDArray[np.float32]:
    """Return the vectors, float32[k, dim], that chunks with these k texts have. A blank text has the zero vector."""
    return _core.encode_passages(text, offsets, word_piece(encoder), encoder.table, threads)


def embedding_bags(tokens: Tokens, encoder: TableOfRows, *, threads: int) -> npt.NDArray[np.float32]:
    """Return the unit vectors, float32[n, dim], of n sentences that are already tokenized."""
    return _core.embedding_bags(encoder.table, tokens.ids, tokens.offsets, threads)


def weighted_bags(
    table: npt.NDArray[np.int16],
    rows: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float32],
    offsets: npt.NDArray[np.int64],
    *,
    threads: int,
) -> npt.NDArray[np.float32]:
    """Return n unit vectors, float32[n, d]: the sums of runs of t rows of a table int16[v, d], times their weights.

    ``rows`` is int32[t] and ``weights`` float32[t]. Run i is ``rows[offsets[i]:offsets[i + 1]]``.
    """
    return _core.weighted_bags(
        _contiguous(table, np.int16),
        _contiguous(rows, np.int32),
        _contiguous(weights, np.float32),
        _contiguous(offsets, np.int64),
        threads,
    )


def encode_words(
    encoder: TokenTable,
    text: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
    *,
    byte_spans: bool = False,
    threads: int = 1,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64] | None]:
    """Return the t WordPiece ids of n consecutive spans of a text: (ids int32[t], offsets int64[n + 1], byte spans).

    ``bounds``, int64[n + 1], are the boundaries of the spans in bytes. The byte spans of tokens are None, unless
    ``byte_spans`` asks for them.
    """
    return word_piece(encoder).encode(text, bounds, byte_spans, threads)[:3]


def tokenize(
    encoder: TokenTable, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], *, threads: int = 1
) -> Tokens:
    """Return the WordPiece ids of consecutive spans of a text, and the number of tokens that budgets count for each."""
    ids, offsets, _, counts = word_piece(encoder).encode(text, bounds, False, threads)
    return Tokens(ids, offsets, counts)


def byte_pair(
    tokens: Sequence[bytes],
    ids: npt.NDArray[np.int32],
    merges: npt.NDArray[np.int32] | None,
    *,
    whole_words: bool,
    pattern: str,
) -> _core.BytePair:
    """Return a byte-level BPE tokenizer; csrc/tokens/byte_pair/byte_pair_vocabulary.h describes the arguments."""
    offsets = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)), out=offsets[1:])
    rows = None if merges is None else _contiguous(merges, np.int32).reshape(-1)
    return _core.BytePair(b"".join(tokens), offsets, _contiguous(ids, np.int32), rows, whole_words, pattern)


def encode_byte_pair(
    tokenizer: _core.BytePair,
    text: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
    *,
    ids: bool = True,
    byte_spans: bool = False,
    threads: int = 1,
) -> tuple[Tokens, npt.NDArray[np.int64] | None]:
    """Tokenize consecutive spans of a text, each by itself. Return the tokens, and their bytes int64[t, 2] or None.

    Without ``ids``, only the tokens' offsets and counts are computed, and their ids are an empty array.

    Raises:
        ValueError: The text is not valid UTF-8, or a bound is inside a character.
    """
    data = _contiguous(text, np.uint8)
    invalid = find_invalid_utf8(data)
    if invalid >= 0:
        raise ValueError(f"the text must be valid UTF-8; got byte {data[invalid]:#x} at {invalid}")
    found, offsets, spans, counts = tokenizer.encode(data, _contiguous(bounds, np.int64), ids, byte_spans, threads)
    return Tokens(np.empty(0, np.int32) if found is None else found, offsets, counts), spans


def piece_tokenizer(vocabulary: PieceVocabulary, *, cache: bool = True) -> _core.SentencePiece:
    """Return the native tokenizer of a SentencePiece vocabulary.

    With ``cache``, it keeps the tokens of words, in 8 MB for each thread at work. The results are the same without.

    Raises:
        ValueError: The vocabulary is damaged. The message names the field.
    """
    v = vocabulary
    text = [piece.encode() for piece in v.pieces]
    return _core.SentencePiece(
        text, _contiguous(v.scores, np.float64).tolist(), v.kinds.tolist(), v.rules, v.model, v.character_map,
        v.join_spaces, v.strip_left, v.strip_right, v.split_at_white, v.prefix, v.unknown, v.byte_ids, cache,
    )  # fmt: skip


def encode_pieces(
    tokenizer: _core.SentencePiece,
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    fields: str,
    *,
    trims: bool = False,
    threads: int = 1,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64] | None]:
    """Return the t tokens of n consecutive spans of valid UTF-8: (ids, offsets, counts, byte spans).

    With ``trims``, white space at the ends of a span is left out.

    They are int32[t], int64[n + 1], int64[n] and int64[t, 2]. With the fields ``"counts"`` there are no ids. Only with
    ``"byte_spans"`` there are byte spans, else they are None.
    """
    return tokenizer.encode(_contiguous(text, np.uint8), _contiguous(offsets, np.int64), fields, trims, threads)


def languages(
    letters: npt.NDArray[np.uint32],
    lower: npt.NDArray[np.uint32],
    alone: npt.NDArray[np.uint8],
    written_in: npt.NDArray[np.uint8],
    weights: npt.NDArray[np.int8],
) -> _core.Languages:
    """Return the l languages that a table tells apart.

    The arguments are ranges of letters with their script, uint32[n, 3]; letters with their lower case, uint32[m, 2];
    whether each letter of a script counts alone, uint8[s]; whether a language is written in a script, uint8[s, l]; and
    the weights of classes of trigrams, int8[2 ** k, l].
    """
    return _core.Languages(letters.reshape(-1), lower.reshape(-1), alone, written_in.reshape(-1), weights)


def topic_inputs(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    sentences: Ragged,
    flags: npt.NDArray[np.uint8],
    vectors: npt.NDArray[np.float32],
    words: npt.NDArray[np.uint64],
    *,
    threads: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Return the inputs of the topic network for n sentences, in addition to their vectors.

    They are (inputs float32[n, 17], classes of each sentence's first two words int32[n, 2]).
    """
    return _core.topic_inputs(text, offsets, *sentences, flags, vectors, words, threads)
