"""segment() on texts from a grammar of all of Unicode, with every method and option.

Each case is checked for the promises of the documentation. Spans are exact, and no text is lost or repeated. Limits
hold when a chunk's text is counted by itself, and short chunks are joined. The chunks are the same in any batch,
container, number of threads and copy of the Segmenter. Some cases also run on every instruction set and in the
reference.
"""

from __future__ import annotations

import logging
import os
import pickle
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import IO, Any

import numpy as np
import pyarrow as pa

import pychunk
from pychunk._engine import native

from . import ROOT
from .random_texts import make_text

# --------------------------------------------------------------------------------------------------------------- cases


@dataclass(frozen=True)
class Case:
    """Documents, options of the Segmenter, and the arguments that each document has."""

    texts: tuple[str, ...]
    options: dict[str, Any]
    #: Keywords of a call that hold one value for each document, and seed the given vectors.
    given: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    container: str = "list"
    cut: int = 0
    extras: tuple[str, ...] = ()


#: The containers of texts; each must give the chunks of the plain list.
CONTAINERS: dict[str, Callable[[list[str], int], Any]] = {
    "list": lambda texts, cut: texts,
    "generator": lambda texts, cut: (text for text in texts),
    "string": lambda texts, cut: pa.array(texts, pa.string()),
    "large_string": lambda texts, cut: pa.array(texts, pa.large_string()),
    "string_view": lambda texts, cut: pa.array(texts, pa.string()).cast(pa.string_view()),
    "binary": lambda texts, cut: pa.array([text.encode() for text in texts], pa.binary()),
    "dictionary": lambda texts, cut: pa.array(texts, pa.string()).dictionary_encode(),
    "slice": lambda texts, cut: pa.array(["x é. Y"] * cut + texts + ["中. Z"]).slice(cut, len(texts)),
    "pieces": lambda texts, cut: pa.chunked_array([texts[:cut], texts[cut:]], pa.string()),
    "slices": lambda texts, cut: pa.chunked_array(
        [pa.array(["é", *texts]).slice(1, cut), pa.array([*texts, "z"]).slice(cut, len(texts) - cut)]
    ),
    "table": lambda texts, cut: pa.table({"n": range(len(texts)), "body": pa.array(texts, pa.string())}),
    "batch": lambda texts, cut: pa.record_batch({"text": pa.array(texts), "other": pa.array(texts)}),
}  # fmt: skip

ALL = ("sentence", "paragraph", "page", "fixed", "recursive", "semantic", "cluster", "pic", "nsp")
SIZES = (1, 2, 3, 5, 8, 20, 50, 200)
SEPARATORS = (["\n\n", "\n", " ", ""], [". ", " ", ""], ["."], ["\n"], ["", "a"], ["aa", "a", ""], ["。", "！", ""])


def _options(rng: random.Random) -> dict[str, Any]:
    method = rng.choice(ALL)
    options: dict[str, Any] = {"method": method}
    if method == "nsp":
        options["encoder"] = "static"
        options["threshold"] = rng.choice([0.2, 0.5, ("percentile", 40), ("std", 0.5), ("iqr", 0.1)])
    if method in ("fixed", "recursive"):
        options["size"] = rng.choice(SIZES)
        options["unit"] = rng.choice(["tokens", "words", "characters"])
    if method == "recursive" and rng.random() < 0.4:
        options["separators"] = list(rng.choice(SEPARATORS))
    of_text = "separators" in options  # whose pieces are not sentences
    if method in ("fixed", "recursive") and not of_text and rng.random() < 0.3:
        options["balance"] = True
    if rng.random() < 0.5:
        options["keep_together"] = not of_text and rng.random() < 0.3
    if method == "semantic":
        options["threshold"] = rng.choice(
            [0.3, ("percentile", 20), ("percentile", 95), ("std", 1), ("iqr", 0.5), ("gradient", 80)]
        )
        options["window"] = rng.choice([1, 1, 1, 2, 5, 1000])
    if method == "pic":
        options["summary"] = rng.choice(["extractive", "mean", "lead", "title", "given", "sentence", "random"])
        options["k"] = rng.choice([0.0, 0.5, -1.0, 3.0])
    if rng.random() < 0.6:
        options["max_tokens"] = rng.choice([None, *SIZES])
    limit = options.get("max_tokens", "auto")
    if method == "cluster" and limit is None:
        options["max_tokens"] = 50
        limit = 50
    if not of_text and rng.random() < 0.4:
        options["min_tokens"] = rng.choice([n for n in (1, 2, 5, 10, 40) if not isinstance(limit, int) or n <= limit])
    bound = options["size"] if method in ("fixed", "recursive") else limit
    if rng.random() < 0.3:
        wanted = rng.choice([1, 2, 5, 15])
        if not isinstance(bound, int) or wanted < bound:
            options["overlap"] = wanted
    options["vectors"] = rng.choice([None, None, None, "chunk", "sentence"])
    if rng.random() < 0.2:
        options["unwrap_lines"] = rng.choice([False, True])
    options["threads"] = rng.choice([1, 1, 1, 2, 3])
    return options


def _spans(rng: random.Random, text: str) -> list[tuple[int, int]]:
    """Return given sentences at any places, with gaps, none only of white space."""
    if not text.strip():
        return []
    starts = sorted({rng.randrange(len(text)) for _ in range(rng.choice([1, 2, 5]))})
    ends = [*starts[1:], len(text)]
    return [(start, rng.randrange(start + 1, end + 1)) for start, end in zip(starts, ends)]


def make(rng: random.Random) -> Case:
    texts = tuple(make_text(rng) for _ in range(rng.choice([1, 1, 1, 1, 2, 4])))
    options = _options(rng)
    given: dict[str, tuple[Any, ...]] = {}
    if rng.random() < 0.15:
        given["sentence_spans"] = tuple(_spans(rng, text) for text in texts)
    elif rng.random() < 0.15:
        given["page_starts"] = tuple(
            sorted({rng.randrange(len(text)) for _ in range(rng.choice([0, 1, 4]))}) if text else [] for text in texts
        )
    if "page_starts" not in given and options["method"] != "nsp" and rng.random() < 0.15:
        given["sentence_vectors"] = tuple(rng.randrange(1000) for _ in texts)
    if options.get("summary") in ("given", "title"):
        if "sentence_vectors" in given:
            options["summary"] = "mean"
        else:
            given["summaries" if options["summary"] == "given" else "titles"] = tuple(
                rng.choice(["Cats", "", "中文", "a dog. the end", "\0"]) for _ in texts
            )
    if rng.random() < 0.3:
        given["ids"] = tuple(range(len(texts))) if rng.random() < 0.5 else tuple(f"é{i}" for i in range(len(texts)))
    extras = [
        name
        for name, share in (("reference", 0.02), ("sets", 0.05), ("pickle", 0.02), ("order", 0.3))
        if rng.random() < share
    ]
    container = rng.choice(list(CONTAINERS)) if rng.random() < 0.5 else "list"
    return Case(texts, options, given, container, rng.randrange(len(texts) + 1), tuple(extras))


# -------------------------------------------------------------------------------------------------------------- checks


def count_tokens(texts: list[str]) -> list[int]:
    """Return the tokens of each text by itself, as budgets count them: each is given as one sentence."""
    found = [0] * len(texts)
    spans = [[(0, len(text))] if text.strip() else [] for text in texts]
    counted = pychunk.segment(
        texts, "sentence", columns={"sentence_spans": spans}, max_tokens=2**62, placement=pychunk.Placement(threads=1)
    ).table
    for row, tokens in zip(counted["document_index"].to_pylist(), counted["tokens"].to_pylist(), strict=True):
        found[row] = tokens
    return found


def lengths_of(texts: list[str], unit: str) -> list[int]:
    """Return lengths in tokens, words or characters."""
    if unit == "tokens":
        return count_tokens(texts)
    return [len(text.split()) if unit == "words" else len(text) for text in texts]


def options_of(case: Case, **changes: Any) -> dict[str, Any]:
    """Return the options of a Segmenter for a case, with some changed; a case names only the placement's threads."""
    options = {**case.options, **changes}
    threads = options.pop("threads")
    return {**options, "placement": pychunk.Placement(threads=threads)}


def arguments_of(case: Case, rows: slice = slice(None)) -> dict[str, Any]:
    """Return keywords of the call for some of the documents, with vectors from their seeds, many of them equal."""
    texts = case.texts[rows]
    made: dict[str, Any] = {name: list(values[rows]) for name, values in case.given.items()}
    if "sentence_vectors" in made:
        spans = made.get("sentence_spans") or pychunk.split_sentences(
            list(texts), unwrap_lines=case.options.get("unwrap_lines", "auto")
        )
        made["sentence_vectors"] = [
            np.random.default_rng(seed).integers(-1, 3, (len(own), 4)).astype(np.float32)
            for seed, own in zip(made["sentence_vectors"], spans)
        ]
    return {"ids": made.pop("ids", None), "columns": made}


def run(case: Case, documents: Any = None, rows: slice = slice(None), **changes: Any) -> pychunk.ChunkBatch:
    """Return the chunks of a case, or of some of its documents, with some options changed."""
    texts = list(case.texts[rows]) if documents is None else documents
    arguments = arguments_of(case, rows)
    if hasattr(documents, "column_names") or isinstance(documents, pa.RecordBatch):
        arguments["columns"]["text"] = "body" if "body" in documents.schema.names else "text"
    return pychunk.segment(texts, **options_of(case, **changes), **arguments)


def same(found: Any, expected: Any, what: str) -> None:
    """Raise if two tables do not hold the same rows, to the last bit."""
    if found.equals(expected):
        return
    for name in expected.column_names:
        if name not in found.column_names or not found[name].equals(expected[name]):
            mine = found[name].to_pylist() if name in found.column_names else "no such column"
            raise AssertionError(
                f"{what}: column {name} differs: {str(mine)[:300]}, not {str(expected[name].to_pylist())[:300]}"
            )
    raise AssertionError(f"{what}: columns {found.column_names}, not {expected.column_names}")


def check_exact(case: Case, by_document: list[list[pychunk.Chunk]]) -> None:
    """Check that spans are exact and in order, and hold all but white space, once unless chunks overlap."""
    repeats = bool(case.options.get("overlap"))
    for row, (text, chunks) in enumerate(zip(case.texts, by_document, strict=True)):
        data = text.encode()
        covered = np.zeros(len(text) + 1, np.int32)
        before = None
        for place, chunk in enumerate(chunks):
            here = f"document {row}, chunk {place}"
            called = (chunk.document_index, chunk.chunk_index)
            assert called == (row, place), f"{here} is called {called[0]}, {called[1]}"
            assert text[chunk.start : chunk.end] == chunk.text, f"{here}: characters {chunk.start}:{chunk.end}"
            assert data[chunk.start_byte : chunk.end_byte] == chunk.text.encode(), f"{here}: bytes"
            assert chunk.text == chunk.text.strip() != "", f"{here} is white space or has it at an edge"
            covered[chunk.start] += 1
            covered[chunk.end] -= 1
            if before is not None:
                assert before.start <= chunk.start, f"{here} goes back"
                assert before.end <= chunk.end, f"{here} ends before the one before it"
                assert chunk.overlap == max(0, before.end - chunk.start), f"{here}: overlap {chunk.overlap}"
                assert repeats or chunk.start >= before.end, f"{here} repeats text"
            before = chunk
        depth = np.cumsum(covered)[:-1]
        lost = [i for i, c in enumerate(text) if depth[i] == 0 and not c.isspace()]
        assert not lost, f"document {row}: lost characters {lost[:10]}"


def check_limits(case: Case, chunks: list[pychunk.Chunk]) -> None:
    """Check max_tokens and size on each chunk's own text, and that the column tokens agrees."""
    options = case.options
    max_tokens = options.get("max_tokens", "auto")
    by_characters = pychunk.Segmenter(**options_of(case)).plan.auto_limits
    if max_tokens == "auto":
        max_tokens = 512 if options["method"] in ("pic", "semantic", "cluster", "nsp") else None
    bounds = [("tokens", max_tokens, "max_tokens")] if max_tokens else []
    ends_in_characters = options.get("separators") is None or "" in options["separators"]
    if options["method"] == "fixed" or (options["method"] == "recursive" and ends_in_characters):
        bounds.append((options["unit"], options["size"], "size"))
    texts = [chunk.text for chunk in chunks]
    tokens = count_tokens(texts)
    for chunk, count in zip(chunks, tokens, strict=True):
        assert chunk.tokens in (None, count), f"tokens of {chunk.text[:80]!r}: {chunk.tokens}, counted {count}"
    for unit, bound, name in bounds:
        lengths = tokens if unit == "tokens" else lengths_of(texts, unit)
        for chunk, text, length in zip(chunks, texts, lengths, strict=True):
            # A default size may count characters, four a token, if words fall to pieces.
            other = by_characters and name == "max_tokens" and not case.texts[chunk.document_index].isascii()
            instead = other and len(text) <= 4 * bound
            assert length <= bound or len(text) == 1 or instead, f"{name}={bound}: {length} {unit} in {text[:80]!r}"


def check_short(case: Case, chunks: list[pychunk.Chunk]) -> None:
    """Check that no chunk under min_tokens fits with a neighbour; cohesion may keep those of two sections apart."""
    options, plan = case.options, pychunk.Segmenter(**options_of(case)).plan
    least = plan.min_tokens
    if not least or plan.overlap or plan.keep_together:
        return
    if plan.traits.sized and options["unit"] == "words":
        return  # a word across a sentence boundary counts once in each part, so that less fits than the text suggests
    most = options.get("max_tokens", "auto")
    if most == "auto":
        most = 512 if options["method"] in ("pic", "semantic", "cluster", "nsp") else None
    pairs = [
        (a, b, case.texts[a.document_index][a.start : b.end])
        for a, b in zip(chunks, chunks[1:])
        if a.document_index == b.document_index and min(a.tokens or 0, b.tokens or 0) < least
        if case.texts[a.document_index].isascii() or not plan.auto_limits  # otherwise characters may count
    ]
    bounds = [("tokens", most)] if most else []
    if plan.traits.sized:
        bounds.append((options["unit"], options["size"]))
    joined = [text for _, _, text in pairs]
    lengths = [lengths_of(joined, unit) for unit, _ in bounds]
    for i, (a, b, _) in enumerate(pairs):
        fits = all(own[i] <= bound for own, (_, bound) in zip(lengths, bounds, strict=True))
        assert not fits, (
            f"min_tokens={least}: {a.text[:60]!r} ({a.tokens}) and {b.text[:60]!r} ({b.tokens}) fit together"
        )


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class Twin:
    """A process with another instruction set, kept for all cases; it ends when its input ends."""

    def __init__(self, isa: str) -> None:
        self.isa = isa
        code = f"import sys; sys.path.append({str(ROOT)!r}); from {__name__} import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYCHUNK_ISA": isa},
            # in the checkout Python would import its pychunk/ instead of the installed package
            cwd=tempfile.gettempdir(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def table(self, case: Case) -> pa.Table:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        _send(stdin, case)
        found = _receive(stdout)
        if isinstance(found, str):
            raise AssertionError(f"{self.isa}: {found}")
        return pa.ipc.open_stream(found).read_all()


def _send(to: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    to.write(struct.pack("<q", len(data)) + data)
    to.flush()


def _receive(source: IO[bytes]) -> Any:
    head = source.read(8)
    if len(head) < 8:
        raise EOFError("the other process ended")
    return pickle.loads(source.read(struct.unpack("<q", head)[0]))


def serve() -> None:
    """Run a twin: read cases, write tables, until the other side ends."""
    logging.disable(logging.WARNING)
    while True:
        try:
            case = _receive(sys.stdin.buffer)
        except EOFError:
            return
        answer: bytes | str
        try:
            table = run(case).table
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            answer = sink.getvalue().to_pybytes()
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        try:
            _send(sys.stdout.buffer, answer)
        except BrokenPipeError:
            os._exit(0)  # a normal exit would flush the pipe once more


_twins: dict[str, Twin] = {}


def twins() -> list[Twin]:
    """Return the twins of the instruction sets that this process itself does not use."""
    for isa in native.available_isas():
        if isa != native.isa() and isa not in _twins:
            _twins[isa] = Twin(isa)
    return list(_twins.values())


def check(case: Case) -> None:
    """Raise if a promise does not hold."""
    out = run(case)
    by_document = out.by_document()
    chunks = [chunk for own in by_document for chunk in own]
    check_exact(case, by_document)
    check_limits(case, chunks)
    check_short(case, chunks)
    whole = out.table.replace_schema_metadata(None)
    documents = CONTAINERS[case.container](list(case.texts), case.cut)
    if case.container != "list":
        same(run(case, documents).table, whole, f"as {case.container}")
    if case.options["threads"] > 1:
        same(run(case, threads=1).table, whole, "by one thread")
    if len(case.texts) > 1:
        parts = [run(case, rows=rows) for rows in (slice(case.cut), slice(case.cut, None)) if case.texts[rows]]
        for part, first in zip(parts, (0, case.cut) if case.cut else (0,)):
            rows = part.table["document_index"].to_numpy() + first
            table = part.table.set_column(0, "document_index", pa.array(rows, pa.int64())).replace_schema_metadata(None)
            numbers = whole["document_index"].to_numpy()
            inside = (numbers >= first) & (numbers < first + part.documents)
            own = whole.filter(pa.array(inside, pa.bool_()))
            same(table, own, f"in batches of {case.cut} and {len(case.texts) - case.cut}")
    if "order" in case.extras and len(case.texts) > 1:
        backwards = run(
            replace(case, texts=case.texts[::-1], given={name: values[::-1] for name, values in case.given.items()})
        ).by_document()
        for there, here in zip(backwards[::-1], by_document, strict=True):
            mine, others = (
                [
                    (c.text, c.start, c.relevance, c.score, c.vector, c.tokens, c.overlap, c.chunk_id, c.text_id)
                    for c in of
                ]
                for of in (there, here)
            )
            assert mine == others, "in reverse order"
    if "pickle" in case.extras:
        options = {"on_error": "raise", **options_of(case)}
        copied = pickle.loads(pickle.dumps(pychunk.Segmenter(**options)))
        same(copied(list(case.texts), **arguments_of(case)).table, whole, "by a copied Segmenter")
    if "sets" in case.extras:
        for twin in twins():
            same(twin.table(case), whole, f"with {twin.isa}")
    if "reference" in case.extras and sum(map(len, case.texts)) <= 1500:
        with _environment("PYCHUNK_BACKEND", "reference"):
            found = run(case).table
        same(found, whole, "in the reference")


# ----------------------------------------------------------------------------------------------------------- shrinking

#: Options with the value that has no effect; ``method`` stays.
PLAIN = {"threads": 1, "vectors": None}
NEEDED = ("method", "encoder", "size", "unit", "threads")


def _keep(case: Case, rows: list[int]) -> Case:
    given = {name: tuple(values[row] for row in rows) for name, values in case.given.items()}
    return replace(case, texts=tuple(case.texts[row] for row in rows), given=given, cut=min(case.cut, len(rows)))


def _with_text(case: Case, row: int, text: str) -> Case:
    texts = (*case.texts[:row], text, *case.texts[row + 1 :])
    given = dict(case.given)
    if "sentence_spans" in given:
        own = [(a, min(b, len(text))) for a, b in given["sentence_spans"][row] if a < len(text)] if text.strip() else []
        if text.strip() and not own:
            own = [(0, len(text))]
        given["sentence_spans"] = (*given["sentence_spans"][:row], own, *given["sentence_spans"][row + 1 :])
    if "page_starts" in given:
        own = [a for a in given["page_starts"][row] if a < len(text)]
        given["page_starts"] = (*given["page_starts"][:row], own, *given["page_starts"][row + 1 :])
    return replace(case, texts=texts, given=given)


def simpler(case: Case) -> Iterator[Case]:
    """Yield cases with fewer documents, options and arguments, and with shorter texts."""
    for extra in case.extras:
        yield replace(case, extras=tuple(name for name in case.extras if name != extra))
    if len(case.texts) > 1:
        for row in range(len(case.texts)):
            yield _keep(case, [row])
        for row in range(len(case.texts)):
            yield _keep(case, [other for other in range(len(case.texts)) if other != row])
    if case.container != "list":
        yield replace(case, container="list")
    for name in case.given:
        if name not in ("summaries", "titles"):
            yield replace(case, given={other: values for other, values in case.given.items() if other != name})
    for name, value in case.options.items():
        if name in PLAIN and value != PLAIN[name]:
            yield replace(case, options={**case.options, name: PLAIN[name]})
        elif name == "summary" and value in ("given", "title"):
            given = {other: values for other, values in case.given.items() if other not in ("summaries", "titles")}
            yield replace(case, options={**case.options, "summary": "mean"}, given=given)
        elif name not in NEEDED and name not in PLAIN:
            yield replace(case, options={other: v for other, v in case.options.items() if other != name})
    for row, text in enumerate(case.texts):
        length = len(text)
        step = length // 2
        while step >= 1:
            for begin in range(0, length, step):
                yield _with_text(case, row, text[:begin] + text[begin + step :])
            step //= 2
    for row, text in enumerate(case.texts):
        if len(text) <= 80:
            for i, c in enumerate(text):
                for plain in ("a", " ", "."):
                    if c != plain and ord(c) > 0x7F:
                        yield _with_text(case, row, text[:i] + plain + text[i + 1 :])


def test(case: Case) -> str:
    """Return a pytest function that fails like the case."""
    fields = [f"texts={case.texts!a}", f"options={case.options!a}"]
    if case.given:
        fields.append(f"given={case.given!a}")
    if case.container != "list" or case.cut:
        fields += [f"container={case.container!r}", f"cut={case.cut}"]
    if case.extras:
        fields.append(f"extras={case.extras!r}")
    body = "".join(f"        {line},\n" for line in fields)
    return (
        "from tests.fuzz.segmenting import Case, check\n\n\n"
        f"def test_segmenting_as_found() -> None:\n    case = Case(\n{body}    )\n    check(case)\n"
    )


class Target:
    """The target of segment() for the runner of tests/fuzz."""

    name = "segmenting"
    make = staticmethod(make)
    check = staticmethod(check)
    simpler = staticmethod(simpler)
    test = staticmethod(test)


target = Target()
