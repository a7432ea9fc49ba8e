from collections.abc import Callable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__version__: str

def isa() -> str: ...
def available_isas() -> list[str]: ...
def default_threads() -> int: ...
def find_invalid_utf8(text: npt.NDArray[np.uint8]) -> int: ...
def count_characters(text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]: ...

class Bzip2Reader:
    """A reader of consecutive bzip2 streams."""

    error: str
    stream_begin: int
    is_unfinished: bool
    is_proven: bool

    def __init__(self) -> None: ...
    def feed(self, data: npt.NDArray[np.uint8]) -> None: ...
    def next(self) -> bytes | None: ...

def read_json_lines(
    data: npt.NDArray[np.uint8], wanted: list[str]
) -> tuple[
    npt.NDArray[np.int64],
    list[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.uint8]]],
    list[tuple[int, int, int, str]],
]: ...
def json_keys(data: npt.NDArray[np.uint8]) -> list[tuple[str, int]]: ...
def json_rows(batch: object, borders: npt.NDArray[np.int64]) -> list[bytes]: ...
def joined(parts: list[bytes]) -> bytes: ...
def heading_texts(sources: list[str], document: str) -> list[str]: ...
def without_elements(page: str, opaque: Callable[[str, str], str]) -> str: ...
def without_brackets(text: str, render: Callable[[str], str], is_hidden: Callable[[str, bool], bool]) -> str: ...
def wiki_text(
    page: str, held: list[str], entity: Callable[[str], str], most_blocks: int
) -> tuple[str, tuple[str, list[int], list[int]] | None]: ...
def markdown_blocks(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], threads: int = 1
) -> tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int8],
    npt.NDArray[np.int16],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
]: ...
def walk_html(
    page: npt.NDArray[np.uint8],
    images: bool,
    targets: bool,
) -> (
    tuple[
        str,
        npt.NDArray[np.int64],
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.int64],
        str,
    ]
    | None
): ...
def html_work(
    page: npt.NDArray[np.uint8], open: int, formatting: int, options: int, attributes: int, names: int
) -> tuple[int, int, bool]: ...
def find_keys(page: npt.NDArray[np.uint8], keys: list[bytes]) -> list[list[int]]: ...
def lower_of_text(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8] | None: ...
def find_told(
    text: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    told: npt.NDArray[np.uint8],
    least: int,
    most: int,
) -> npt.NDArray[np.uint8]: ...
def put_reasons(
    names: npt.NDArray[np.uint32],
    name_offsets: npt.NDArray[np.int64],
    last: npt.NDArray[np.int32],
    element: npt.NDArray[np.int32],
    text_chars: npt.NDArray[np.int32],
    known: npt.NDArray[np.uint32],
    reasons: npt.NDArray[np.int64],
    why: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]: ...
def noise_columns(
    text: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    kind: npt.NDArray[np.int8],
    level: npt.NDArray[np.int16],
    kinds: int,
    element: npt.NDArray[np.int32],
    text_chars: npt.NDArray[np.int32],
    link_chars: npt.NDArray[np.int32],
    links: npt.NDArray[np.int16],
    hidden: npt.NDArray[np.uint8],
    told: npt.NDArray[np.uint8],
    parent: npt.NDArray[np.int32],
    last: npt.NDArray[np.int32],
    depth: npt.NDArray[np.int16],
    names: npt.NDArray[np.uint32],
    name_offsets: npt.NDArray[np.int64],
    words: npt.NDArray[np.int64],
    stops: npt.NDArray[np.int64],
    hashed: npt.NDArray[np.int64],
    ends_sentence: npt.NDArray[np.uint8],
    hashes: npt.NDArray[np.uint32],
    title: npt.NDArray[np.uint32],
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
]: ...
def block_words(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], stop_words: str, marks: str, first: int, last: int
) -> tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int64],
    npt.NDArray[np.uint8],
    npt.NDArray[np.uint32],
]: ...
def hash128(data: bytes) -> str: ...
def near_copies(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], share: float, band: int, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]: ...
def block_hashes(data: npt.NDArray[np.uint8], size: int, threads: int) -> npt.NDArray[np.uint32]: ...
def extend_row_hashes(
    data: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], states: npt.NDArray[np.uint64], threads: int
) -> npt.NDArray[np.uint64]: ...
def unicode_tables() -> dict[str, list[int]]: ...
def word_lists() -> dict[str, str]: ...
def normalized_rows(vectors: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], int]: ...
def unit_sums(
    vectors: npt.NDArray[np.float32], chosen: npt.NDArray[np.int64], added: npt.NDArray[np.float32], threads: int
) -> npt.NDArray[np.float32]: ...
def dot(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> float: ...
def headings(
    arguments: Arguments,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]: ...
def span_vectors(
    vectors: npt.NDArray[np.float32],
    weights: npt.NDArray[np.int64],
    doc_offsets: npt.NDArray[np.int64],
    levels: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    threads: int,
) -> list[npt.NDArray[np.float32]]: ...
def compressed_vectors(
    parts: list[npt.NDArray[np.float32]],
    vectors: npt.NDArray[np.float32],
    tokens: npt.NDArray[np.int64],
    doc_offsets: npt.NDArray[np.int64],
    levels: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    threads: int,
) -> list[npt.NDArray[np.float32]]: ...
def agglomerate(
    vectors: npt.NDArray[np.float32],
    weights: npt.NDArray[np.int64],
    doc_offsets: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    branching: int,
    threads: int,
) -> list[npt.NDArray[np.int64]]: ...
def most_central(
    vectors: npt.NDArray[np.float32],
    first: npt.NDArray[np.int64],
    since: npt.NDArray[np.int64],
    until: npt.NDArray[np.int64],
    threads: int,
) -> npt.NDArray[np.int64]: ...
def token_windows(
    tokens: npt.NDArray[np.int64], doc_offsets: npt.NDArray[np.int64], sizes: list[int]
) -> list[npt.NDArray[np.int64]]: ...
def split_sentences(
    arguments: Arguments,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]: ...
def encode_static(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    tokenizer: WordPiece,
    table: npt.NDArray[np.int8],
    threads: int = 1,
) -> npt.NDArray[np.float32]: ...
def encode_passages(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    tokenizer: WordPiece,
    table: npt.NDArray[np.int8],
    threads: int = 1,
) -> npt.NDArray[np.float32]: ...
def weighted_bags(
    table: npt.NDArray[np.int16],
    rows: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float32],
    offsets: npt.NDArray[np.int64],
    threads: int = 1,
) -> npt.NDArray[np.float32]: ...
def embedding_bags(
    table: npt.NDArray[np.int8], ids: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64], threads: int = 1
) -> npt.NDArray[np.float32]: ...

class WordPiece:
    def __init__(
        self,
        vocabulary: list[str],
        lowercase: bool = True,
        strip_accents: bool = True,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        unknown: str = "[UNK]",
        prefix: str = "##",
        max_word_characters: int = 100,
    ) -> None: ...
    def encode(
        self, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], byte_spans: bool = False, threads: int = 1
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]: ...
    @property
    def vocabulary_size(self) -> int: ...
    @property
    def unknown_id(self) -> int: ...

class BytePair:
    def __init__(
        self,
        tokens: bytes,
        offsets: npt.NDArray[np.int64],
        ids: npt.NDArray[np.int32],
        merges: npt.NDArray[np.int32] | None,
        whole_words: bool,
        pattern: str,
    ) -> None: ...
    def encode(
        self,
        text: npt.NDArray[np.uint8],
        bounds: npt.NDArray[np.int64],
        ids: bool = True,
        byte_spans: bool = False,
        threads: int = 1,
    ) -> tuple[
        npt.NDArray[np.int32] | None, npt.NDArray[np.int64], npt.NDArray[np.int64] | None, npt.NDArray[np.int64]
    ]: ...
    def pretokens(self, text: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]: ...
    @property
    def vocabulary_size(self) -> int: ...

def category_runs() -> list[int]: ...

class TokenCounter:
    @overload
    def __init__(self, tokenizer: WordPiece | BytePair | SentencePiece) -> None: ...
    @overload
    def __init__(self, tokenizer: BytePair, added: list[str], nfc: Folding | None, normalized: list[str]) -> None: ...
    @staticmethod
    def of_function(tokenizer: Any) -> TokenCounter: ...
    def count(self, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]: ...
    def count_each(self, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]: ...

class Languages:
    def __init__(
        self,
        letters: npt.NDArray[np.uint32],
        lower: npt.NDArray[np.uint32],
        alone: npt.NDArray[np.uint8],
        written_in: npt.NDArray[np.uint8],
        weights: npt.NDArray[np.int8],
    ) -> None: ...
    def detect(
        self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], threads: int
    ) -> npt.NDArray[np.int32]: ...
    def classes(
        self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]: ...

class SentencePiece:
    def __init__(
        self,
        pieces: list[bytes],
        scores: list[float],
        kinds: list[int],
        rules: str,
        model: str,
        character_map: bytes,
        join_spaces: bool,
        strip_left: bool,
        strip_right: bool,
        split_at_white: bool,
        prefix: str,
        unknown: int,
        bytes: list[int],
        cache: bool,
    ) -> None: ...
    def encode(
        self, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], fields: str, trims: bool, threads: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64] | None]: ...
    @property
    def vocabulary_size(self) -> int: ...

class Bert:
    def __init__(
        self, arrays: list[npt.NDArray[np.float32]], heads: int, epsilon: float, tanh: bool, first_only: bool
    ) -> None: ...
    def forward(
        self, ids: npt.NDArray[np.int32], lengths: npt.NDArray[np.int32], types: npt.NDArray[np.int32] | None
    ) -> npt.NDArray[np.float32]: ...

class ModelRows:
    def __init__(
        self,
        ids: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        first: npt.NDArray[np.int64],
        second: npt.NDArray[np.int64] | None,
        prefix: npt.NDArray[np.int32],
        middle: npt.NDArray[np.int32],
        suffix: npt.NDArray[np.int32],
        pad: int,
        max_length: int,
    ) -> None: ...
    def lengths(self) -> npt.NDArray[np.int64]: ...
    def fill(
        self,
        chosen: npt.NDArray[np.int64],
        width: int,
        ids: npt.NDArray[np.integer[Any]],
        mask: npt.NDArray[np.integer[Any]] | None,
        types: npt.NDArray[np.integer[Any]] | None,
    ) -> None: ...

def plan_batches(
    lengths: npt.NDArray[np.int64], budget: int, least: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def pool(
    states: npt.NDArray[np.float32],
    chosen: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    pooling: str,
    unit: bool,
    out: npt.NDArray[np.float32],
) -> None: ...
def pool_half(
    states: npt.NDArray[np.uint16],
    chosen: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    pooling: str,
    unit: bool,
    out: npt.NDArray[np.float32],
) -> None: ...
def class_probability(
    logits: npt.NDArray[np.float32], chosen: npt.NDArray[np.int64], wanted: int, out: npt.NDArray[np.float32]
) -> None: ...
def class_probability_half(
    logits: npt.NDArray[np.uint16], chosen: npt.NDArray[np.int64], wanted: int, out: npt.NDArray[np.float32]
) -> None: ...
def pack_rows(
    vectors: npt.NDArray[np.float32], chosen: npt.NDArray[np.int64], added: npt.NDArray[np.float32], threads: int
) -> npt.NDArray[np.int8]: ...
def encode_rows(
    rows: npt.NDArray[Any], centroids: npt.NDArray[np.float32], dim: int, threads: int
) -> npt.NDArray[np.uint8]: ...
def best_by_codes(
    codes: list[npt.NDArray[np.uint8]],
    rows: list[int],
    centroids: npt.NDArray[np.float32],
    queries: npt.NDArray[np.float32],
    count: int,
    allowed: npt.NDArray[np.bool_] | None,
    threads: int,
) -> npt.NDArray[np.int64]: ...

class Scan:
    def __init__(
        self,
        arrays: list[npt.NDArray[Any]],
        dim: int,
        offsets: npt.NDArray[np.int64] | None = None,
    ) -> None: ...
    def top(
        self,
        queries: npt.NDArray[np.float32],
        count: int,
        allowed: npt.NDArray[np.bool_] | None = None,
        threads: int = 1,
        beside: npt.NDArray[np.float32] | None = None,
        weight: float = 1.0,
        groups: list[int] = ...,
        least: npt.NDArray[np.float32] | None = None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
    def set_groups(self, groups: npt.NDArray[np.int8]) -> None: ...
    def score_chunks(
        self, query: npt.NDArray[np.float32], chosen: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]: ...
    def score_rows(self, query: npt.NDArray[np.float32], chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]: ...

class TopicHead:
    def __init__(
        self,
        parts: list[npt.NDArray[np.float32]],
        layers: list[npt.NDArray[np.float32]],
        dilations: list[int],
        out_bias: float,
        words: npt.NDArray[np.uint64],
    ) -> None: ...

def topic_inputs(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    sentence_offsets: npt.NDArray[np.int64],
    flags: npt.NDArray[np.uint8],
    vectors: npt.NDArray[np.float32],
    words: npt.NDArray[np.uint64],
    threads: int = 1,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]: ...

class PairHead:
    def __init__(
        self,
        first: npt.NDArray[np.float32],
        second: npt.NDArray[np.float32],
        product: npt.NDArray[np.float32],
        bias: npt.NDArray[np.float32],
        out: npt.NDArray[np.float32],
        out_bias: float,
    ) -> None: ...

class Cancellation:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    def __enter__(self) -> Cancellation: ...
    def __exit__(self, *error: object) -> None: ...

class NoiseNetwork:
    def __init__(
        self,
        vocabulary: list[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int16]]],
        neighbours: list[int],
        windows: list[int],
        nets: list[list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]],
        groups: int,
    ) -> None: ...
    def sums(
        self,
        dense: npt.NDArray[np.float64],
        names: npt.NDArray[np.uint32],
        name_offsets: npt.NDArray[np.int64],
        near: npt.NDArray[np.int64],
        path: npt.NDArray[np.int64],
        wording: npt.NDArray[np.uint32],
        wording_rows: npt.NDArray[np.int64],
        about: npt.NDArray[np.uint32],
        groups: npt.NDArray[np.int64],
        weight: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.int64]: ...

class KeptSentences:
    def __init__(self) -> None: ...
    def keep(self, spans: npt.NDArray[np.int64]) -> None: ...

class ChunkColumns:
    def __init__(self, columns: list[tuple[str, str, list[str]]]) -> None: ...
    def batch(self, arrays: dict[str, Any]) -> tuple[object, int]: ...

class Arguments:
    def __init__(
        self,
        request: Any,
        tokenizer: WordPiece | None,
        counter: TokenCounter | None,
        pair_head: PairHead | None,
        topic_head: TopicHead | None,
        fallback: npt.NDArray[np.uint8] | None,
    ) -> None: ...

def thresholds(
    plan: Any, scores: npt.NDArray[np.float32], offsets: npt.NDArray[np.int64], threads: int = 1
) -> npt.NDArray[np.float64]: ...
def span_pairs(rows: list[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None: ...
def bytes_of_characters(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    values: npt.NDArray[np.int64],
    value_offsets: npt.NDArray[np.int64],
    what: str,
    first_row: int,
    threads: int,
) -> npt.NDArray[np.int64]: ...
def cuts(arguments: Arguments, held: bool = False) -> dict[str, Any]: ...
def method_traits() -> dict[str, tuple[frozenset[str], str, str, bool, bool]]: ...
def work() -> tuple[int, int]: ...
def segment(arguments: Arguments) -> dict[str, Any]: ...
def adjacent_sums(arguments: Arguments) -> tuple[int, int]: ...

class WordCharacters:
    def __init__(
        self,
        letters: npt.NDArray[np.uint32],
        marks: npt.NDArray[np.uint32],
        paired: npt.NDArray[np.uint32],
        tripled: npt.NDArray[np.uint32],
    ) -> None: ...

def python_tables(version: str) -> dict[str, npt.NDArray[np.uint32]] | None: ...

class Folding:
    def __init__(
        self,
        cases: npt.NDArray[np.uint32],
        decompositions: npt.NDArray[np.uint32],
        classes: npt.NDArray[np.uint32],
        compositions: npt.NDArray[np.uint32],
        ignored: npt.NDArray[np.uint32],
        plain: npt.NDArray[np.uint32],
    ) -> None: ...
    def fold(
        self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]: ...

class SortedTerms:
    def __init__(self, text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None: ...
    def find(self, wanted: list[bytes]) -> npt.NDArray[np.int64]: ...

class PostingsMaker:
    def __init__(
        self,
        characters: WordCharacters,
        folding: Folding | None,
        ngram: int,
        stem: Callable[[list[str]], list[str]] | None,
        stop_words: list[str],
        memory: int = ...,
        english: list[str] = ...,
        others: list[str] = ...,
    ) -> None: ...
    def count(
        self,
        text: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.int64],
        threads: int = 1,
        contexts: tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]] | None = None,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]: ...
    def finish(
        self,
        batches: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]],
        threads: int = 1,
    ) -> tuple[
        npt.NDArray[np.int8],
        npt.NDArray[np.int64],
        npt.NDArray[np.int64],
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
    ]: ...

def bm25_scores(
    parts: list[
        tuple[
            npt.NDArray[np.integer[Any]],
            npt.NDArray[np.integer[Any]],
            npt.NDArray[np.int64],
            npt.NDArray[np.int64],
            int,
        ]
    ],
    offsets: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float32],
    bounds: npt.NDArray[np.float32],
    base: npt.NDArray[np.float32],
    alive: npt.NDArray[np.bool_] | None = None,
    threads: int = 1,
) -> npt.NDArray[np.float32]: ...
def best_rows(
    scores: npt.NDArray[np.float32],
    count: int,
    allowed: npt.NDArray[np.bool_] | None = None,
    threads: int = 1,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def best_rows_of_groups(
    scores: npt.NDArray[np.float32],
    count: int,
    groups: npt.NDArray[np.int8],
    count_of_groups: int,
    threads: int = 1,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def count_alive(rows: npt.NDArray[np.integer[Any]], alive: npt.NDArray[np.bool_]) -> int: ...
