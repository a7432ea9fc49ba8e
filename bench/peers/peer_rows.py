"""The rows of bench/peers/throughput.py: pychunk and its peers, each with a function that prepares it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

Run = Callable[[], int]


def pychunk_row(method: str | None, threads: int, **options: object) -> Callable[[list[str]], Run]:
    def prepare(texts: list[str]) -> Run:
        import pyarrow as pa

        import pychunk

        segmenter = pychunk.Segmenter(method, placement=pychunk.Placement(threads=threads), **options)
        array = pa.array(texts, pa.large_string())
        segmenter(array[:2])
        return lambda: len(segmenter(array))

    return prepare


def each(make: Callable[[], Callable[[str], object]]) -> Callable[[list[str]], Run]:
    def prepare(texts: list[str]) -> Run:
        split = make()
        split(texts[0])
        return lambda: sum(len(split(text)) for text in texts)

    return prepare


def static_model() -> str:
    """Return a model2vec model distilled from MiniLM during the run, and kept for the run's other rows."""
    folder = Path(os.environ["PYCHUNK_BENCH_MODELS"]) / "model2vec"
    if not folder.is_dir():
        from model2vec.distill import distill

        from pychunk.training.teacher import default_teacher

        distill(model_name=default_teacher(), pca_dims=256).save_pretrained(str(folder))
    return str(folder)


def chonkie_semantic() -> Callable[[str], object]:
    from chonkie import SemanticChunker
    from chonkie.embeddings import Model2VecEmbeddings
    from model2vec import StaticModel

    model = Model2VecEmbeddings(StaticModel.from_pretrained(static_model()))
    return SemanticChunker(embedding_model=model, chunk_size=512).chunk


def minilm() -> object:
    """Return the sentence-transformers model that the slow recipes run."""
    from sentence_transformers import SentenceTransformer

    from pychunk.training.teacher import default_teacher

    return SentenceTransformer(default_teacher(), device="cpu")


def chonkie_minilm() -> Callable[[str], object]:
    from chonkie import SemanticChunker
    from chonkie.embeddings import SentenceTransformerEmbeddings

    return SemanticChunker(embedding_model=SentenceTransformerEmbeddings(minilm()), chunk_size=512).chunk


def langchain_semantic() -> Callable[[str], object]:
    from langchain_core.embeddings import Embeddings
    from langchain_experimental.text_splitter import SemanticChunker

    model = minilm()

    class MiniLM(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return model.encode(texts).tolist()

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    return SemanticChunker(MiniLM()).split_text


def llamaindex_semantic() -> Callable[[str], object]:
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser

    model = minilm()

    class MiniLM(BaseEmbedding):
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return model.encode(texts).tolist()

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    # Its default splitter downloads punkt; both get the same sentences here.
    parser = SemanticSplitterNodeParser(embed_model=MiniLM(), sentence_splitter=punkt_split())
    return lambda text: parser.get_nodes_from_documents([Document(text=text)])


def sentence_transformers_loop() -> Callable[[str], object]:
    """Return the work of a careful script: one call for a document's sentences, cosine, percentile."""
    import numpy as np

    import pychunk

    model = minilm()

    def split(text: str) -> object:
        spans = pychunk.split_sentences(text)
        vectors = model.encode([text[a:b] for a, b in spans[0]], normalize_embeddings=True, batch_size=128)
        adjacent = (vectors[1:] * vectors[:-1]).sum(axis=1)
        return np.split(np.arange(len(vectors)), np.flatnonzero(adjacent < np.percentile(adjacent, 20)) + 1)

    return split


def o200k() -> object:
    """Return tiktoken's encoding o200k, whose vocabulary is in the package quicktok-v1."""
    import tiktoken

    from pychunk._engine.data.patterns import PATTERNS

    return tiktoken.Encoding("o200k", pat_str=PATTERNS["o200k"][0], mergeable_ranks=ranks("o200k"), special_tokens={})


def ranks(name: str) -> dict[bytes, int]:
    """Return the tokens of a vocabulary in the package quicktok-v1, with their ranks."""
    import importlib.util
    import struct

    package = importlib.util.find_spec("quicktok")
    if package is None or package.origin is None:
        raise ImportError('the vocabulary is in a package: pip install "quicktok-v1==0.4.0"')
    data, at, found = (Path(package.origin).parent / "data" / f"{name}.vocab").read_bytes(), 4, {}
    while at < len(data):
        (length,) = struct.unpack_from("<H", data, at)
        (found[data[at + 2 : at + 2 + length]],) = struct.unpack_from("<I", data, at + 2 + length)
        at += 6 + length
    return found


def o200k_row(method: str, threads: int, **options: object) -> Callable[[list[str]], Run]:
    def prepare(texts: list[str]) -> Run:
        return pychunk_row(method, threads, tokenizer=o200k(), **options)(texts)

    return prepare


def chonkie_o200k() -> Callable[[str], object]:
    from chonkie import RecursiveChunker

    return RecursiveChunker(tokenizer=o200k(), chunk_size=512).chunk


def semchunk_o200k() -> Callable[[str], object]:
    import semchunk

    return semchunk.chunkerify(o200k(), 512)


def text_splitter_o200k() -> Callable[[str], object]:
    from semantic_text_splitter import TextSplitter

    encoding = o200k()
    return TextSplitter.from_callback(lambda text: len(encoding.encode_ordinary(text)), 512).chunks


def langchain_o200k() -> Callable[[str], object]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    encoding = o200k()
    return RecursiveCharacterTextSplitter(
        chunk_size=512, chunk_overlap=0, length_function=lambda text: len(encoding.encode_ordinary(text))
    ).split_text


def chonkie_recursive() -> Callable[[str], object]:
    from chonkie import RecursiveChunker

    return RecursiveChunker(tokenizer=tokenizer(), chunk_size=200).chunk


def langchain_recursive() -> Callable[[str], object]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=0).split_text


def tokenizer() -> object:
    import tokenizers

    from pychunk.encoders.static_encoder import SHIPPED

    made = tokenizers.BertWordPieceTokenizer(str(SHIPPED / "vocab.txt"), lowercase=True)
    return made._tokenizer


def text_splitter(tokens: bool) -> Callable[[], Callable[[str], object]]:
    def make() -> Callable[[str], object]:
        from semantic_text_splitter import TextSplitter

        if tokens:
            return TextSplitter.from_huggingface_tokenizer(tokenizer(), 200).chunks
        return TextSplitter(1000).chunks

    return make


def semchunk_tokens() -> Callable[[str], object]:
    import semchunk

    hugging_face = tokenizer()
    return semchunk.chunkerify(lambda text: len(hugging_face.encode(text, add_special_tokens=False).ids), 200)


def sentencex_split() -> Callable[[str], object]:
    import sentencex

    return lambda text: list(sentencex.segment("en", text))


def blingfire_split() -> Callable[[str], object]:
    import blingfire

    return lambda text: blingfire.text_to_sentences(text).split("\n")


def punkt_split() -> Callable[[str], object]:
    """Return Punkt with its untrained parameters, because the trained ones need a download."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer().tokenize


def pysbd_split() -> Callable[[str], object]:
    import pysbd

    return pysbd.Segmenter(language="en", clean=False).segment


def hugging_face_ids() -> Callable[[str], object]:
    encoder = tokenizer()
    return lambda text: encoder.encode(text, add_special_tokens=False).ids


def nanotoken_ids() -> Callable[[str], object]:
    import nanotoken

    encoder = nanotoken.WordPieceTokenizer.from_json(tokenizer().to_str())
    return encoder.encode


def tokie_ids(texts: list[str]) -> Run:
    import tempfile

    import tokie

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokenizer.json"
        file.write_text(tokenizer().to_str())
        encoder = tokie.Tokenizer.from_json(str(file))
    encoder.encode(texts[0][:100])
    return lambda: len(encoder.encode_batch_flat(texts, add_special_tokens=False)[0])


def split_only(texts: list[str]) -> Run:
    import pyarrow as pa

    from pychunk._engine import native
    from pychunk._engine.arrow import flat_text

    text, offsets = flat_text(pa.array(texts, pa.large_string()))
    return lambda: len(native.split_texts(text, offsets, threads=1)[1].values)


def wordpiece_only(byte_spans: bool) -> Callable[[list[str]], Run]:
    def prepare(texts: list[str]) -> Run:
        import pyarrow as pa

        from pychunk._engine import native
        from pychunk._engine.arrow import flat_text
        from pychunk.encoders import static_encoder

        # Texts are encoded 64 articles at a time; ids are dropped, as in every row here.
        batches = [flat_text(pa.array(texts[i : i + 64], pa.large_string())) for i in range(0, len(texts), 64)]
        encoder = static_encoder.load()
        native.encode_words(encoder, batches[0][0][:10], batches[0][1][:1])
        return lambda: sum(
            len(native.encode_words(encoder, text, offsets, byte_spans=byte_spans)[0]) for text, offsets in batches
        )

    return prepare


#: Groups whose rows read the timed text with empty caches, because word caches decide how tokenizers compare.
COLD = {"WordPiece, cold"}
#: group -> name -> (MB of text, the function that prepares it); the first row of a group is pychunk.
ROWS: dict[str, dict[str, tuple[float, Callable[[list[str]], Run]]]] = {
    "by meaning": {
        "pychunk default (topic), 1 thread": (60, pychunk_row(None, 1)),
        "pychunk default (topic), 2 threads": (60, pychunk_row(None, 2)),
        "pychunk pic, 1 thread": (60, pychunk_row("pic", 1)),
        "pychunk pic, 2 threads": (60, pychunk_row("pic", 2)),
        "pychunk semantic, 1 thread": (60, pychunk_row("semantic", 1)),
        "pychunk nsp, static, 2 threads": (60, pychunk_row("nsp", 2, encoder="static")),
        "chonkie semantic, model2vec": (2, each(chonkie_semantic)),
        "chonkie semantic, MiniLM": (0.05, each(chonkie_minilm)),
        "LangChain semantic, MiniLM": (0.05, each(langchain_semantic)),
        "LlamaIndex semantic, MiniLM": (0.05, each(llamaindex_semantic)),
        "a loop over MiniLM": (0.1, each(sentence_transformers_loop)),
    },
    "by tokens": {
        "pychunk recursive, 1 thread": (60, pychunk_row("recursive", 1)),
        "pychunk fixed, 1 thread": (60, pychunk_row("fixed", 1)),
        "chonkie recursive": (4, each(chonkie_recursive)),
        "semantic-text-splitter": (2, each(text_splitter(True))),
        "semchunk": (1, each(semchunk_tokens)),
    },
    "by 512 tokens of o200k": {
        "pychunk recursive, 1 thread": (60, o200k_row("recursive", 1, size=512)),
        "pychunk fixed, 1 thread": (60, o200k_row("fixed", 1, size=512)),
        "pychunk structure, 1 thread": (60, o200k_row("structure", 1, max_tokens=512)),
        "pychunk default (topic), 1 thread": (60, o200k_row("topic", 1, max_tokens=512)),
        "semantic-text-splitter": (1, each(text_splitter_o200k)),
        "chonkie recursive": (1, each(chonkie_o200k)),
        "semchunk": (1, each(semchunk_o200k)),
        "LangChain recursive": (1, each(langchain_o200k)),
    },
    "by characters": {
        "pychunk recursive, 1 thread": (60, pychunk_row("recursive", 1, size=1000, unit="characters")),
        "pychunk recursive, 2 threads": (60, pychunk_row("recursive", 2, size=1000, unit="characters")),
        "semantic-text-splitter": (60, each(text_splitter(False))),
        "LangChain recursive": (20, each(langchain_recursive)),
    },
    "sentences": {
        "pychunk split, 1 thread": (60, split_only),
        "sentencex": (10, each(sentencex_split)),
        "blingfire": (10, each(blingfire_split)),
        "punkt (untrained)": (4, each(punkt_split)),
        "pysbd": (0.3, each(pysbd_split)),
    },
    "WordPiece, cold": {
        "pychunk, with offsets, 1 thread": (60, wordpiece_only(True)),
        "pychunk, 1 thread": (60, wordpiece_only(False)),
        "nanotoken, 1 thread": (60, each(nanotoken_ids)),
        "tokie, 2 threads": (60, tokie_ids),
        "tokenizers": (4, each(hugging_face_ids)),
    },
}
