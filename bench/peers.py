"""pychunk and its peers on the same text in one run: MB/s, ratio to pychunk, peak memory of the process.

Each row runs in a process of its own, so that caches are cold and peak memory is its own; peers that are not installed
are listed as such. A slow peer gets a smaller share of the text (its MB are printed).

    pip install ".[bench]" && python bench/peers.py --data ../shared/data
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

Run = Callable[[], int]


def load(data: Path, megabytes: float) -> list[str]:
    import pyarrow.parquet as pq

    texts: list[str] = []
    size = 0
    for batch in pq.ParquetFile(data / "wiki" / "articles.parquet").iter_batches(batch_size=64, columns=["text"]):
        for text in batch.column("text").to_pylist():
            texts.append(text)
            size += len(text.encode())
            if size >= megabytes * 1e6:
                return texts
    return texts


def pychunk_row(method: str, threads: int, **options: object) -> Callable[[list[str]], Run]:
    def prepare(texts: list[str]) -> Run:
        import pyarrow as pa

        import pychunk

        segmenter = pychunk.Segmenter(method, threads=threads, **options)
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
    """A model2vec model distilled from MiniLM on the spot, kept for the run's other rows."""
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


def chonkie_recursive() -> Callable[[str], object]:
    from chonkie import RecursiveChunker

    return RecursiveChunker(tokenizer=tokenizer(), chunk_size=200).chunk


def langchain_recursive() -> Callable[[str], object]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=0).split_text


def tokenizer() -> object:
    import tokenizers

    from pychunk.encoders.static import SHIPPED

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


def hugging_face_ids() -> Callable[[str], object]:
    encoder = tokenizer()
    return lambda text: encoder.encode(text, add_special_tokens=False).ids


def nanotoken_ids() -> Callable[[str], object]:
    import nanotoken

    encoder = nanotoken.WordPieceTokenizer.from_json(tokenizer().to_str())
    return encoder.encode


def split_only(texts: list[str]) -> Run:
    import pyarrow as pa

    from pychunk import _native
    from pychunk._arrow import flat_text

    text, offsets = flat_text(pa.array(texts, pa.large_string()))
    return lambda: len(_native.split_sentences(text, offsets, wrap=True, threads=1)[2])


def wordpiece_only(texts: list[str]) -> Run:
    import pyarrow as pa

    from pychunk import _native
    from pychunk._arrow import flat_text
    from pychunk.encoders import static

    text, offsets = flat_text(pa.array(texts, pa.large_string()))
    encoder = static.load()
    _native.encode_words(encoder, text[:10], offsets[:1])
    return lambda: len(_native.encode_words(encoder, text, offsets, byte_spans=True)[0])


#: group -> name -> (MB of text, how to prepare it); the first row of a group is pychunk.
ROWS: dict[str, dict[str, tuple[float, Callable[[list[str]], Run]]]] = {
    "by meaning": {
        "pychunk pic, 1 thread": (60, pychunk_row("pic", 1)),
        "pychunk pic, 2 threads": (60, pychunk_row("pic", 2)),
        "pychunk semantic, 1 thread": (60, pychunk_row("semantic", 1)),
        "chonkie semantic, model2vec": (2, each(chonkie_semantic)),
    },
    "by tokens": {
        "pychunk recursive, 1 thread": (60, pychunk_row("recursive", 1)),
        "pychunk fixed, 1 thread": (60, pychunk_row("fixed", 1)),
        "chonkie recursive": (4, each(chonkie_recursive)),
        "semantic-text-splitter": (2, each(text_splitter(True))),
        "semchunk": (1, each(semchunk_tokens)),
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
    },
    "WordPiece, cold": {
        "pychunk, with offsets, 1 thread": (60, wordpiece_only),
        "nanotoken": (60, each(nanotoken_ids)),
        "tokenizers": (4, each(hugging_face_ids)),
    },
}


def child(group: str, name: str, data: Path) -> None:
    """One row, in this process: the time of one cold run, the count as the asserted answer, peak memory."""
    megabytes, prepare = ROWS[group][name]
    texts = load(data, megabytes)
    size = sum(len(text.encode()) for text in texts)
    try:
        run = prepare(texts)
    except (ImportError, AttributeError) as error:
        print(json.dumps({"missing": str(error)}))
        return
    begun = time.perf_counter()
    count = run()
    taken = time.perf_counter() - begun
    assert count > size / 20_000, f"{name} returned {count} pieces of {size} bytes"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rate": size / taken / 1e6, "MB": size / 1e6, "count": count, "peak": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds wiki/articles.parquet")
    parser.add_argument("--rounds", type=int, default=3, help="cold runs of each row, interleaved (default: 3)")
    parser.add_argument("--group", choices=list(ROWS), help="only this group")
    parser.add_argument("--child", nargs=2, metavar=("GROUP", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child, options.data)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as models:
        environment = {**os.environ, "PYCHUNK_BENCH_MODELS": os.environ.get("PYCHUNK_BENCH_MODELS", models)}
        for group, rows in ROWS.items():
            if options.group not in (None, group):
                continue
            found: dict[str, list[dict[str, float]]] = {name: [] for name in rows}
            for _ in range(options.rounds):
                for name in rows:
                    command = [sys.executable, __file__, "--data", str(options.data), "--child", group, name]
                    result = subprocess.run(command, capture_output=True, text=True, env=environment)
                    last = (result.stdout.strip().splitlines() or ["{}"])[-1]
                    found[name].append(
                        json.loads(last) if result.returncode == 0 else {"missing": result.stderr[-200:]}
                    )
            print(f"\n{group:34}{'MB/s':>10}{'pychunk is':>14}{'peak MB':>10}{'of MB':>8}")
            first = None
            for name, runs in found.items():
                if "rate" not in runs[0]:
                    print(f"{name:34}  not run: {str(runs[0].get('missing', '?')).strip().splitlines()[-1][:80]}")
                    continue
                rate = statistics.median(run["rate"] for run in runs)
                first = first or rate
                print(f"{name:34}{rate:>10.2f}{first / rate:>13.1f}x{runs[0]['peak']:>10.0f}{runs[0]['MB']:>8.0f}")


if __name__ == "__main__":
    main()
