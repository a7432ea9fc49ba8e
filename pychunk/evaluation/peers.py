"""The chunkers of other packages with one interface, for `pychunk eval --peers`.

A peer runs as its users run it, without overlap. Only its embeddings are replaced with the caller's ``encode``, so that
every peer gets the same vectors. Importing this module imports no peer. A peer that is not installed or does not work
is listed as absent with the reason. Nothing replaces it.

``available()`` returns the peers that work. ``peer.chunker(100, encode)`` returns a function from a text to the spans
of its chunks, of about 100 words each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

import numpy as np
import numpy.typing as npt

#: A function from texts to unit vectors, float32[n, d].
Encode = Callable[[list[str]], npt.NDArray[np.float32]]
#: A chunk as a peer returns it: its text and, if the peer reports it, its first character.
Piece = tuple[str, "int | None"]
Span = tuple[int, int]

#: The characters of a word of English prose with its space. Peers that count characters need it to convert sizes.
CHARACTERS_PER_WORD = 6.0
#: The tokens of a word of English prose in cl100k_base, which Chroma's chunker always counts with.
TOKENS_PER_WORD = 1.3


@dataclass(frozen=True)
class Peer:
    """A chunker of another package.

    Attributes:
        name: The name in reports.
        package: The name of the chunker's package, as `pip` knows it.
        install: The command that installs the package.
        needs_encode: Whether the chunker embeds sentences.
        make: A function from (size in words, encode) to a function from a text to pieces. The second function does only
            the peer's own work, so it is the one to time. The size is the length of the longest chunk for peers with a
            limit, and the mean length for peers with only a threshold.
    """

    name: str
    package: str
    install: str
    needs_encode: bool
    make: Callable[[float, Encode], Callable[[str], list[Piece]]]

    @property
    def version(self) -> str:
        """The package and its installed version, such as ``chonkie 1.7.0``.

        It raises PackageNotFoundError if the package is not installed.
        """
        return f"{self.package} {metadata.version(self.package)}"

    def chunker(self, words: float, encode: Encode | None = None) -> Callable[[str], list[Span]]:
        """Return a function from a text to its chunks as (start, end) in characters, without white space at the edges.

        Args:
            words: The size of a chunk in words.
            encode: The encoder, required if ``needs_encode`` is set.

        Raises:
            ValueError: ``words`` is not above 0, or ``encode`` is missing.
        """
        if words <= 0:
            raise ValueError(f"words must be above 0, got {words}")
        if encode is None and self.needs_encode:
            raise ValueError(
                f"{self.name} embeds sentences and needs encode=, a function from texts to vectors; got None"
            )
        pieces = self.make(words, encode or _no_encode)
        return lambda text: locate(text, pieces(text), self.name)


@dataclass(frozen=True)
class MissingPeer:
    """A peer that could not be run, and the reason."""

    name: str
    reason: str


def available() -> tuple[list[Peer], list[MissingPeer]]:
    """Import and try all peers, and return those that can chunk a short text, and the others with the reason."""
    usable, absent = [], []
    for peer in PEERS:
        try:
            metadata.version(peer.package)
            peer.chunker(10, _probe)("A short text. It has three sentences. They are used to try a peer.")
        except metadata.PackageNotFoundError:
            absent.append(MissingPeer(peer.name, f"not installed: {peer.install}"))
        except Exception as error:  # the report gives any error of a peer as the reason why its row is missing
            absent.append(MissingPeer(peer.name, f"{peer.version}: {type(error).__name__}: {error}"))
        else:
            usable.append(peer)
    return usable, absent


def locate(text: str, pieces: Iterable[Piece], peer: str = "peer") -> list[Span]:
    """Return the spans of chunks in their text, without blank chunks.

    A start that the peer reports is used if the chunk is at that position and no earlier chunk reaches into it. It can
    be wrong, because some peers search for their chunks, and find an earlier copy of the text. Otherwise, the function
    searches for the chunk after the end of the previous one. It ignores white space, because some peers join sentences
    with a space that is not in the text.

    Raises:
        ValueError: A chunk is not in the text.
    """
    kept = [i for i, character in enumerate(text) if not character.isspace()]
    dense = "".join(text.split())
    spans: list[Span] = []
    done = 0  # the number of characters of `dense` in earlier chunks
    for piece, start in pieces:
        wanted = "".join(piece.split())
        if not wanted:
            continue
        at = -1
        if start is not None and start >= 0 and text.startswith(piece, start):
            at = bisect_left(kept, start)
        if at < done:
            at = dense.find(wanted, done)
        if at < 0:
            raise ValueError(
                f"{peer}: chunk {len(spans)} is not in the text after character {_end(spans)}: {piece!r:.80}; "
                "chunks must be parts of the text, in order"
            )
        done = at + len(wanted)
        spans.append((kept[at], kept[done - 1] + 1))
    return spans


def _end(spans: list[Span]) -> int:
    return spans[-1][1] if spans else 0


def _no_encode(texts: list[str]) -> npt.NDArray[np.float32]:
    raise AssertionError("a chunker that should not need vectors asked for them")


def _probe(texts: list[str]) -> npt.NDArray[np.float32]:
    return np.asarray(np.eye(len(texts), 8) + 0.1, np.float32)


def _words(text: str) -> int:
    return len(text.split())


def _limit(words: float, per_word: float = 1.0) -> int:
    return max(1, round(words * per_word))


def _langchain_recursive(words: float, _: Encode) -> Callable[[str], list[Piece]]:
    splitters = import_module("langchain_text_splitters")
    made = splitters.RecursiveCharacterTextSplitter(
        chunk_size=_limit(words, CHARACTERS_PER_WORD), chunk_overlap=0, add_start_index=True
    )
    return lambda text: [(part.page_content, part.metadata["start_index"]) for part in made.create_documents([text])]


def _langchain_semantic(words: float, encode: Encode) -> Callable[[str], list[Piece]]:
    semantic = import_module("langchain_experimental.text_splitter").SemanticChunker

    class Embeddings:  # SemanticChunker needs no more
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return _lists(encode(texts))

    # This peer can only aim at a number of chunks, which differs for every text.
    return lambda text: [
        (chunk, None)
        for chunk in semantic(Embeddings(), number_of_chunks=_limit(_words(text) / words)).split_text(text)
    ]


def _llama_index_sentence(words: float, _: Encode) -> Callable[[str], list[Piece]]:
    made = import_module("llama_index.core.node_parser").SentenceSplitter(
        chunk_size=_limit(words), chunk_overlap=0, tokenizer=str.split
    )
    return lambda text: [(chunk, None) for chunk in made.split_text(text)]


def _llama_index_semantic(words: float, encode: Encode) -> Callable[[str], list[Piece]]:
    base: Any = import_module("llama_index.core.embeddings").BaseEmbedding
    parser = import_module("llama_index.core.node_parser").SemanticSplitterNodeParser
    document = import_module("llama_index.core").Document

    class Embeddings(base):  # type: ignore[misc]  # the package has no type information if it is not installed
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return _lists(encode(texts))

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    made = parser(embed_model=Embeddings(embed_batch_size=2048))

    def split(text: str) -> list[Piece]:
        # Its only setting is the percentile of distances above which it cuts. 95 means a cut at every 20th sentence.
        gaps = len(made.sentence_splitter(text)) - 1
        cuts = _limit(_words(text) / words) - 1
        made.breakpoint_percentile_threshold = round(100 * (1 - min(1.0, cuts / max(1, gaps))))
        nodes = made.get_nodes_from_documents([document(text=text)])
        return [(node.get_content(), node.start_char_idx) for node in nodes]

    return split


def _chonkie_recursive(words: float, _: Encode) -> Callable[[str], list[Piece]]:
    made = import_module("chonkie").RecursiveChunker(
        tokenizer="character", chunk_size=_limit(words, CHARACTERS_PER_WORD)
    )
    return lambda text: [(chunk.text, chunk.start_index) for chunk in made.chunk(text)]


def _chonkie_semantic(words: float, encode: Encode) -> Callable[[str], list[Piece]]:
    base: Any = import_module("chonkie.embeddings").BaseEmbeddings

    class Embeddings(base):  # type: ignore[misc]  # see above
        @property
        def dimension(self) -> int:
            return len(self.embed("dimension"))

        def embed(self, text: str) -> npt.NDArray[np.float32]:
            return self.embed_batch([text])[0]

        def embed_batch(self, texts: list[str]) -> list[npt.NDArray[np.float32]]:
            return list(encode(texts))

        def get_tokenizer(self) -> str:
            return "character"

    made = import_module("chonkie").SemanticChunker(
        embedding_model=Embeddings(), chunk_size=_limit(words, CHARACTERS_PER_WORD)
    )
    return lambda text: [(chunk.text, chunk.start_index) for chunk in made.chunk(text)]


def _semchunk(words: float, _: Encode) -> Callable[[str], list[Piece]]:
    made = import_module("semchunk").chunkerify(_words, _limit(words))

    def split(text: str) -> list[Piece]:
        chunks, offsets = made(text, offsets=True)
        return [(chunk, start) for chunk, (start, _) in zip(chunks, offsets, strict=True)]

    return split


def _semantic_text_splitter(words: float, _: Encode) -> Callable[[str], list[Piece]]:
    made = import_module("semantic_text_splitter").TextSplitter(_limit(words, CHARACTERS_PER_WORD))
    return lambda text: [(chunk, start) for start, chunk in made.chunk_indices(text)]


def _chroma_cluster(words: float, encode: Encode) -> Callable[[str], list[Piece]]:
    size = _limit(words, TOKENS_PER_WORD)
    # Its defaults are pieces of 50 tokens for chunks of 200 and 400. It makes no cuts if fewer than two pieces fit in a
    # chunk.
    piece = max(1, min(50, size // 4))
    made = import_module("chunking_evaluation.chunking").ClusterSemanticChunker(
        embedding_function=lambda texts: _lists(encode(texts)), max_chunk_size=size, min_chunk_size=piece
    )
    # It fails on a text that gives no piece.
    return lambda text: [(chunk, None) for chunk in made.split_text(text)] if text.strip() else []


def _lists(vectors: npt.NDArray[np.float32]) -> list[list[float]]:
    return [[float(x) for x in vector] for vector in vectors]


PEERS = (
    Peer(
        "LangChain recursive",
        "langchain-text-splitters",
        "pip install langchain-text-splitters",
        False,
        _langchain_recursive,
    ),
    Peer(
        "LangChain semantic", "langchain-experimental", "pip install langchain-experimental", True, _langchain_semantic
    ),
    Peer("LlamaIndex sentence", "llama-index-core", "pip install llama-index-core", False, _llama_index_sentence),
    Peer("LlamaIndex semantic", "llama-index-core", "pip install llama-index-core", True, _llama_index_semantic),
    Peer("chonkie recursive", "chonkie", "pip install chonkie", False, _chonkie_recursive),
    Peer("chonkie semantic", "chonkie", 'pip install "chonkie[semantic]"', True, _chonkie_semantic),
    Peer("semchunk", "semchunk", "pip install semchunk", False, _semchunk),
    Peer(
        "semantic-text-splitter",
        "semantic-text-splitter",
        "pip install semantic-text-splitter",
        False,
        _semantic_text_splitter,
    ),
    Peer(
        "Chroma cluster",
        "chunking_evaluation",
        "pip install git+https://github.com/brandonstarxel/chunking_evaluation",
        True,
        _chroma_cluster,
    ),
)
