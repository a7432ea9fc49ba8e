"""The process whose workloads instructions.py counts; its argument is the library with the requests to callgrind."""

import ctypes
import gc
import importlib
import itertools
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

#: Modules of others that pychunk imports. Some environments import them at their start, so they are not counted.
KNOWN = ["dataclasses", "hashlib", "importlib.util", "json", "logging", "numpy.typing", "pkgutil", "urllib.parse"]
#: The encoder of other languages reads the texts in these letters, so that it has to search for pieces of most words.
CYRILLIC = str.maketrans("abcdefghijklmnoprstuvz", "абцдефгхийклмнопрстувз")


def page(author, markup: str) -> str:
    """Return a document with headings, paragraphs, lists and a table; as HTML also with a menu and a footer."""
    parts = []
    for number in range(12):
        heading, *sentences = (author.sentence() for _ in range(10))
        text, items, cells = " ".join(sentences[:5]), sentences[5:7], sentences[7:9]
        if markup == "html":
            listed = "".join(f"<li>{item}</li>" for item in items)
            row = "".join(f"<td>{cell}</td>" for cell in cells)
            parts.append(
                f"<h2 id=h{number}>{heading}</h2>\n<p>{text}</p><ul>{listed}</ul><table><tr>{row}</tr></table>"
            )
        else:
            listed = "\n".join(f"- {item}" for item in items)
            row = " | ".join(cells)
            parts.append(f"## {heading}\n\n{text}\n\n{listed}\n\n| a | b |\n| --- | --- |\n| {row} |\n")
    if markup != "html":
        return "\n".join(parts)
    menu = "<nav>" + "".join(f"<a href=/{number}>Part {number}</a>" for number in range(20)) + "</nav>"
    return f"<!doctype html><title>Page</title>{menu}<main>{''.join(parts)}</main><footer>All rights</footer>"


def workloads(folder: Path):
    """Return the calls that are counted, by name. Parts of a workload are counted apart, so that no sum hides one."""
    import pychunk
    from pychunk._engine import native
    from pychunk._engine.arrow import flat_text
    from pychunk.benchmark.synthetic_texts import VOCABULARY, Author
    from pychunk.encoders.registry import vector_encoder

    author = Author(seed=20240229)
    texts = [author.document(sections=1 + number % 6) for number in range(24)]
    foreign = [text.lower().translate(CYRILLIC) for text in texts]
    flat = flat_text(pa.array(texts, pa.large_string()))
    pages = {markup: [page(author, markup) for _ in range(3)] for markup in ("html", "markdown")}
    parsed = pychunk.parse(pages["markdown"], "markdown")
    one = pychunk.Placement(threads=1)
    segmenters = {name: pychunk.Segmenter(name, placement=one) for name in ("sentence", "pic", "semantic", "topic")}
    pieces = vector_encoder("multilingual")
    multilingual = pychunk.Segmenter("pic", encoder="multilingual", placement=one)
    recursive = pychunk.Segmenter("recursive", size=200, unit="tokens", placement=one)
    structure = pychunk.Segmenter("structure", placement=one)
    chunks = pychunk.Segmenter("recursive", size=60, unit="tokens", vectors="sentence", placement=one)(texts)
    queries = [author.sentence() for _ in range(8)]
    names = (folder / f"{number:03}.idx" for number in itertools.count())

    def add():
        with pychunk.Index.create(next(names), placement=one) as index:
            index.add(chunks)

    add()
    index = pychunk.Index.open(folder / "000.idx", placement=one)
    return {
        "splitting": lambda: native.split_texts(*flat, threads=1),
        "tokenizing: WordPiece": lambda: pychunk.tokenize(texts, VOCABULARY, threads=1),
        "tokenizing: o200k": lambda: pychunk.tokenize(texts, "o200k_base", threads=1),
        "tokenizing: pieces": lambda: pieces.tokens_of(*flat_text(pa.array(foreign, pa.large_string())), 1),
        **{name: lambda name=name: segmenters[name](texts) for name in segmenters},
        "pic: multilingual": lambda: multilingual(foreign),
        "recursive": lambda: recursive(texts),
        "structure": lambda: structure(parsed),
        "reading: HTML": lambda: pychunk.parse(pages["html"], "html"),
        "reading: Markdown": lambda: pychunk.parse(pages["markdown"], "markdown"),
        "index: add": add,
        "index: search": lambda: index.search(queries, k=5),
    }


def main() -> None:
    requests = ctypes.CDLL(sys.argv[1])
    for name in KNOWN:
        importlib.import_module(name)
    sys.meta_path[:] = [each for each in sys.meta_path if "distutils" not in type(each).__module__]  # setuptools' own
    gc.disable()
    requests.begin()
    importlib.import_module("pychunk")
    requests.end(b"import")
    gc.enable()
    with tempfile.TemporaryDirectory() as folder:
        for name, call in workloads(Path(folder)).items():
            call()  # imports, caches and models that load on first use are not counted
            call()
            gc.collect()
            gc.disable()  # else a workload's allocations would decide in which other one a collection falls
            requests.begin()
            call()
            requests.end(name.encode())
            gc.enable()


if __name__ == "__main__":
    main()
