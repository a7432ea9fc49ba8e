"""segment(): the contract on arbitrary Unicode, and its inputs and outputs."""

import base64
import itertools
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sentence_splitter import TEXTS

import pychunk
from pychunk._engine.reference.document import token_ids
from pychunk._engine.reference.text import wordpiece
from pychunk.encoders import static_encoder
from pychunk.methods import METHODS

PLAIN = sorted(name for name in METHODS.keys() - {"precomputed", "proposition"} if METHODS[name]().is_native)


def own_options(method: str) -> dict[str, object]:
    """Return options that make next-sentence prediction as fast as static; test_nsp.py has the cross-encoder."""
    return {"encoder": "static"} if method == "nsp" else {}


WORDS = st.sampled_from(
    ["Cats", "purr", "loudly", "the", "sun", "burns", "hydrogen", ".", "!", "\n", "é", "中", "x" * 130]
)
PROSE = st.lists(WORDS, max_size=80).map(" ".join)
DOCUMENTS = st.lists(st.one_of(TEXTS, PROSE), max_size=6)


def tokens_in(text: str) -> int:
    """Return tokens as budgets count them: an unknown word counts a fourth of its characters."""
    encoder = static_encoder.load()
    return wordpiece.count(text, token_ids(encoder), encoder.tokenizer_options)


def check_exact(texts: list[str], out: pychunk.ChunkBatch, *, overlap: bool = False) -> None:
    for text, chunks in zip(texts, out.by_document(), strict=True):
        covered = np.zeros(len(text), dtype=int)
        for position, chunk in enumerate(chunks):
            assert chunk.chunk_index == position
            assert text[chunk.start : chunk.end] == chunk.text == chunk.text.strip() != ""
            assert text.encode()[chunk.start_byte : chunk.end_byte].decode() == chunk.text
            covered[chunk.start : chunk.end] += 1
        for before, after in itertools.pairwise(chunks):
            assert before.start <= after.start  # an overlap may hold all of a short chunk
            assert before.end <= after.end
            assert after.overlap == max(0, before.end - after.start)
        solid = np.array([not c.isspace() for c in text], dtype=bool)
        assert (covered[solid] >= 1).all()
        if not overlap:
            assert (covered <= 1).all()


@pytest.mark.parametrize("method", PLAIN)
@settings(max_examples=30, deadline=None)
@given(texts=DOCUMENTS, max_tokens=st.sampled_from([None, 3, 20]))
def test_chunks_are_exact_and_fit(method: str, texts: list[str], max_tokens: int | None) -> None:
    out = pychunk.segment(texts, method, max_tokens=max_tokens, **own_options(method))
    check_exact(texts, out)
    if max_tokens:
        for chunk in out:
            assert chunk.tokens <= max_tokens or len(chunk.text) == 1


@settings(max_examples=60, deadline=None)
@given(texts=DOCUMENTS, method=st.sampled_from(PLAIN), overlap=st.integers(1, 15))
def test_overlap_repeats_whole_sentences_within_the_budget(texts: list[str], method: str, overlap: int) -> None:
    out = pychunk.segment(texts, method, max_tokens=20, overlap=overlap, **own_options(method))
    check_exact(texts, out, overlap=True)
    assert all(chunk.tokens <= 20 or len(chunk.text) == 1 for chunk in out)


@settings(max_examples=40, deadline=None)
@given(texts=DOCUMENTS, method=st.sampled_from(PLAIN), data=st.data())
def test_batch_order_and_threads_change_nothing(texts: list[str], method: str, data: st.DataObject) -> None:
    options = {"max_tokens": 20, "min_tokens": 0 if method == "recursive" else 5, "vectors": "chunk"}
    options.update(own_options(method))
    whole = pychunk.segment(texts, method, placement=pychunk.Placement(threads=1), **options)
    assert pychunk.segment(texts, method, placement=pychunk.Placement(threads=2), **options).table.equals(whole.table)
    order = data.draw(st.permutations(range(len(texts))))
    shuffled = pychunk.segment([texts[i] for i in order], method, **options).by_document()
    alone = [pychunk.segment(text, method, **options).by_document()[0] for text in texts]
    for position, i in enumerate(order):
        for mine, single in zip(shuffled[position], alone[i], strict=True):
            assert (mine.text_id, mine.text) == (single.text_id, single.text)
            assert (mine.start, mine.chunk_id, mine.relevance, mine.score, mine.vector) == (
                single.start, single.chunk_id, single.relevance, single.score, single.vector
            )  # fmt: skip


@pytest.mark.slow
def test_instruction_sets_give_the_same_bits(articles: list[str]) -> None:
    code = (
        "import sys, pyarrow as pa, pyarrow.parquet as pq, hashlib, pychunk\n"
        "texts = sys.stdin.read().split('\\0')\n"
        "for method in ('pic', 'semantic', 'cluster', 'fixed', 'recursive', 'nsp', 'topic'):\n"
        "    out = pychunk.segment(texts, method, encoder='static', vectors='chunk', max_tokens=100)\n"
        "    table = out.table.combine_chunks()\n"
        "    sink = pa.BufferOutputStream()\n"
        "    with pa.ipc.new_stream(sink, table.schema) as writer: writer.write_table(table)\n"
        "    print(method, hashlib.sha256(sink.getvalue()).hexdigest())\n"
        "print(pychunk.backend()['isa'], file=sys.stderr)\n"
    )
    printed = set()
    for isa in pychunk.backend()["isas"]:
        run = subprocess.run(
            [sys.executable, "-c", code], input="\0".join(articles[:20]), capture_output=True, text=True, check=True,
            cwd=os.sep,
            env={**os.environ, "PYCHUNK_ISA": isa},
        )  # fmt: skip
        assert run.stderr.strip() == isa
        printed.add(run.stdout)
    assert len(printed) == 1


def test_an_impossible_instruction_set_raises() -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import pychunk; pychunk.backend()"], capture_output=True, cwd=os.sep, text=True,
        env={**os.environ, "PYCHUNK_ISA": "sse9"},
    )  # fmt: skip
    assert run.returncode != 0
    assert "PYCHUNK_ISA must be one of: baseline" in run.stderr


def test_articles_are_exact(articles: list[str]) -> None:
    for method in PLAIN:
        # a transformer reads pairs for minutes
        some = [text[:3000] for text in articles[:2]] if method == "nsp" else articles[:15]
        check_exact(some, pychunk.segment(some, method))


TEXT = "Cats purr. Dogs bark at night. The sun is a star. Stars burn hydrogen. Both sleep a lot."


def test_every_kind_of_input_gives_the_same_chunks() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = [TEXT, "", "Second document. It is short."]
    expected = pychunk.segment(texts).table
    inputs = [
        tuple(texts),
        (text for text in texts),
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.array(texts).cast(pa.string_view()),
        pa.array([text.encode() for text in texts], pa.binary()),
        pa.array(texts).dictionary_encode(),
        pa.array(["x", *texts, "y"]).slice(1, 3),
        pa.chunked_array([texts[:1], texts[1:]]),
        pa.table({"n": [1, 2, 3], "body": texts}),
        pa.record_batch({"text": texts, "other": texts}),
        pd.Series(texts),
        pd.DataFrame({"text": texts, "n": [1, 2, 3]}),
        pl.Series(texts),
        pl.DataFrame({"text": texts}),
        np.array(texts, dtype=object),
    ]
    for value in inputs:
        assert pychunk.segment(value).table.equals(expected), type(value)


def test_ids_come_back_and_make_the_chunk_id() -> None:
    table = pa.table({"key": [7, 8], "text": [TEXT, TEXT]})
    out = pychunk.segment(table, ids="key", columns={"text": "text"})
    assert set(out.table.column("document_id").to_pylist()) == {7, 8}
    ids = out.table.column("chunk_id").to_pylist()
    assert len(set(ids)) == len(ids)
    assert ids == pychunk.segment([TEXT, TEXT], ids=[7, 8]).table.column("chunk_id").to_pylist()
    same = pychunk.segment([TEXT, TEXT]).table.column("chunk_id").to_pylist()
    assert len(set(same)) == len(same) // 2


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ([TEXT, None], ValueError, "row 1: the text is null"),
        ([TEXT, float("nan")], ValueError, "row 1: the text is null"),
        ([TEXT, 3], TypeError, "row 1: the text must be str, got int"),
        ([b"x"], TypeError, "row 0: the text must be str, got bytes"),
        (["ok", "\ud800"], ValueError, "row 1: lone surrogate U\\+D800 at character 0"),
        (pa.array(["a", None]), ValueError, "row 1: the text is null"),
        (pa.array([b"a", b"b\xff"], pa.binary()), ValueError, "row 1: invalid UTF-8 at byte 1"),
        (pa.array([b"a\xe2", b"\x82\xac"], pa.binary()), ValueError, "row 0: invalid UTF-8 at byte 1"),
        (pa.array([1, 2]), TypeError, "must be strings"),
        (b"bytes", TypeError, "must be str, got bytes"),
        (7, TypeError, "documents must be a str"),
        (pa.table({"a": ["x"], "b": ["y"]}), ValueError, "the string columns are: a, b"),
    ],
)  # fmt: skip
def test_bad_input_names_the_row(bad: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pychunk.segment(bad)


def test_skipped_rows_keep_their_numbers() -> None:
    out = pychunk.segment(["A cat.", None, "A dog.", 5], "sentence", on_error="skip")
    assert out.table.column("document_index").to_pylist() == [0, 2]
    assert [error.row for error in out.errors] == [1, 3]
    assert len(out.by_document()) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pics"}, "unknown method 'pics'; choose one of pic,"),
        ({"sise": 3}, "has no option 'sise'; its options are size, model"),
        ({"encoder": "nope"}, "unknown encoder"),
        ({"max_tokens": 0}, "max_tokens must be a whole number of at least 1; got 0"),
        ({"vectors": "all"}, "vectors must be None, 'chunk' or 'sentence'"),
        ({"placement": "gpu"}, "device must be 'auto', 'cpu', 'cuda' or 'cuda:<number>'; got 'gpu'"),
        ({"placement": pychunk.Placement("gpu")}, "device must be 'auto', 'cpu', 'cuda' or 'cuda:<number>'; got 'gpu'"),
        ({"min_tokens": 600}, "min_tokens must be at most max_tokens"),
        ({"overlap": 512}, "overlap must be less than"),
        ({"summary": "given"}, "needs columns={'summaries': ...}"),
        ({"summary": "best"}, "summary must be one of"),
        ({"method": "semantic", "threshold": ("percentile", 120)}, "from 0 to 100"),
    ],
)  # fmt: skip
def test_bad_options_name_the_choices(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pychunk.segment(TEXT, **options)


def test_hard_documents() -> None:
    line = "x" * 10_000_000
    out = pychunk.segment(line, "sentence", max_tokens=512)
    assert "".join(chunk.text for chunk in out) == line
    assert max(chunk.tokens for chunk in out) <= 512
    assert len(pychunk.segment([""] * 100_000)) == 0
    sentence = "word " * 50_000
    chunks = list(pychunk.segment(sentence))
    assert sum(chunk.text.count("word") for chunk in chunks) == 50_000
    assert max(chunk.tokens for chunk in chunks) <= 512
    assert pychunk.segment("a\x00b. C\x00.", "sentence").table.column("text").to_pylist() == [
        "a\x00b.",
        "C\x00.",
    ]


# White space to str.isspace that BERT drops, so that the words on its two sides are one word with other tokens.
DROPPED = ["\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f", "\x85"]
PIECES = st.sampled_from(
    [
        *("unfamiliar", "taxpayers", "a", "b", "Cats purr.", "Dogs bark. ", "x" * 120, "q" * 60, "é" * 50, "中国人。"),
        *("ありがとう。", "រ។", "\u0301", "\u200b", "-", ".", "https://x.org/a?b=c", "한국어"),
    ]
)
GAPS = st.sampled_from([" ", " ", "\n", "\n\n", "", "\u2028", "\xa0", *DROPPED])
FUSED = st.lists(st.tuples(PIECES, GAPS).map("".join), max_size=50).map("".join)


@settings(max_examples=80, deadline=None)
@given(
    text=FUSED,
    method=st.sampled_from(PLAIN),
    max_tokens=st.sampled_from([5, 12, 30]),
    min_tokens=st.sampled_from([0, 2, 5]),
    overlap=st.sampled_from([0, 0, 2]),
    keep_together=st.booleans(),
)
def test_limits_hold_where_chunks_are_counted_again(
    text: str, method: str, max_tokens: int, min_tokens: int, overlap: int, keep_together: bool
) -> None:
    options: dict[str, object] = {
        "max_tokens": max_tokens,
        "overlap": overlap,
        **own_options(method),
        "keep_together": keep_together,
    }
    if method != "recursive":
        options["min_tokens"] = min_tokens
    chunks = pychunk.segment(text, method, **options).by_document()[0]
    for chunk in chunks:
        assert chunk.tokens == tokens_in(chunk.text)
        assert chunk.tokens <= max_tokens or len(chunk.text) == 1
    for before, after in itertools.pairwise(chunks):
        assert before.start <= after.start
        assert before.end < after.end
        assert after.overlap == max(0, before.end - after.start)
        # With cohesion, and by structure, a short chunk does not join one of another section.
        joins = method not in ("recursive", "structure") and not keep_together
        if joins and not overlap and min(before.tokens, after.tokens) < min_tokens:
            assert tokens_in(text[before.start : after.end]) > max_tokens


@pytest.mark.parametrize("gap", DROPPED)
def test_words_that_become_one_are_counted_as_one(gap: str) -> None:
    words = [
        "unfamiliar",
        "taxpayers",
        "sweatshirt",
        "subdivided",
        "republican",
        "multiplied",
        "milwaukee",
        "everywhere",
    ]
    for method, options in (("fixed", {"size": 20}), ("recursive", {"size": 20}), ("pic", {"max_tokens": 20})):
        chunks = list(pychunk.segment(gap.join(words), method, **options))
        assert sum(chunk.text.count("e") for chunk in chunks) == gap.join(words).count("e")
        assert all(chunk.tokens == tokens_in(chunk.text) <= 20 for chunk in chunks)


def test_sizes_hold_for_pieces_of_words() -> None:
    noise = base64.b64encode(random.Random(1).randbytes(700)).decode()
    page = f"<a href='data:image/png;base64,{noise}'>" + "<td class='x'>cell</td>" * 200
    for size in (25, 50, 128):
        for text in (noise, page):
            chunks = list(pychunk.segment(text, "recursive", size=size, max_tokens=10**6))
            assert "".join(chunk.text for chunk in chunks).replace(" ", "") == text.replace(" ", "")
            assert all(chunk.tokens == tokens_in(chunk.text) <= size for chunk in chunks)


def test_what_cutting_leaves_short_is_joined() -> None:
    text = "Alpha beta gamma delta epsilon. " * 20 + "Short."
    chunks = list(pychunk.segment(text, "paragraph", max_tokens=40, min_tokens=20))
    assert [chunk.tokens for chunk in chunks] == [36, 36, 12, 38]  # 12 and 36 are more than 40
    # The rest of a cut sentence joins the following text.
    long = "word " * 43 + "end."
    out = pychunk.segment(f"{long} Cats purr. Dogs bark.", "sentence", max_tokens=40, min_tokens=10)
    assert [chunk.text for chunk in out] == [("word " * 40).strip(), "word word word end. Cats purr. Dogs bark."]


def test_merged_chunks_take_the_kind_that_holds_more_tokens() -> None:
    texts = ["Cats purr. " + "word " * 44 + "end. Dogs bark."]
    scores = np.array([0.1, 0.9, 0.1])
    vectors = np.stack([scores, np.sqrt(1 - scores**2)], axis=1)
    out = pychunk.segment(
        texts, "pic", summary="given", max_tokens=40, min_tokens=10, encoder="static",
        columns={"summaries": np.array([[1.0, 0.0]]), "sentence_vectors": [vectors]},
    )  # fmt: skip
    assert [(chunk.tokens, chunk.relevance) for chunk in out] == [(4, "irrelevant"), (40, "relevant"), (9, "relevant")]
    assert out.table["score"].to_pylist()[2] == pytest.approx(0.5)


@pytest.mark.slow
def test_starts_and_overlaps_of_pieces_that_are_cut(articles: list[str]) -> None:
    text = "One two three four five six. " * 3
    ladder = ["\n\n", "\n", " ", ""]
    out = pychunk.segment(text, "recursive", separators=ladder, size=60, overlap=30, unit="characters", max_tokens=5)
    spans = [(chunk.start, chunk.end, chunk.overlap) for chunk in out]
    assert spans == [(0, 23, 0), (24, 42, 0), (43, 57, 0), (43, 61, 14), (62, 81, 0), (82, 86, 0)]
    of_sentences = pychunk.segment(text, "recursive", size=60, overlap=30, unit="characters", max_tokens=5)
    pieces = [(chunk.start, chunk.end) for chunk in of_sentences]  # of a sentence: nothing is repeated
    assert pieces == [(0, 23), (24, 28), (29, 52), (53, 57), (58, 81), (82, 86)]
    for separators in (None, ladder):
        out = pychunk.segment(
            articles, "recursive", separators=separators, size=1000, overlap=200, unit="characters", max_tokens=128
        )
        for chunks in out.by_document():
            for before, after in itertools.pairwise(chunks):
                assert before.start <= after.start
                assert before.end < after.end or (before.end == after.end and separators)  # as in LangChain
                assert after.overlap == max(0, before.end - after.start) <= 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "method", "options"),
    [
        ("中文没有空格", "recursive", {"size": 200, "unit": "characters", "max_tokens": None}),
        ("été chaud ", "pic", {}),
        ("»", "recursive", {"size": 1, "unit": "characters", "max_tokens": None}),
    ],
)
def test_time_is_linear_in_a_sentence_that_must_be_cut(text: str, method: str, options: dict) -> None:
    """Earlier each chunk counted from the sentence's start: 8 times the text took 64 times as long."""
    segmenter = pychunk.Segmenter(method, placement=pychunk.Placement(threads=1), **options)

    def cpu_seconds(size: int) -> float:
        document = text * (size // len(text.encode()))
        times = []
        for _ in range(2):
            begin = time.process_time()
            segmenter(document)
            times.append(time.process_time() - begin)
        return min(times)

    size = 100_000 if text == "»" else 400_000
    assert cpu_seconds(8 * size) < 24 * cpu_seconds(size)


def test_a_size_without_bounds_cuts_nowhere() -> None:
    text = "One two. Three four.\n\nFive six."
    for unit in ("tokens", "words", "characters"):
        out = pychunk.segment(text, "recursive", size=2**62, unit=unit, max_tokens=None)
        assert [chunk.text for chunk in out] == [text]


def test_pic_case_study() -> None:
    """The paper's table 9 has similarities 0.493 0.445 0.572 0.557 0.703.

    The mean is between 0.493 and 0.557, so that the chunks are {1, 2} {3, 4, 5}.
    """
    similarities = np.array([0.493, 0.445, 0.572, 0.557, 0.703])
    vectors = np.stack([similarities, np.sqrt(1 - similarities**2)], axis=1)
    text = "Ants ate. Bees buzz. Cats purr. Dogs bark. Eels swim."
    out = pychunk.segment(
        text,
        "pic",
        summary="given",
        columns={"summaries": np.array([[1.0, 0.0]]), "sentence_vectors": vectors},
        max_tokens=None,
        keep_together=False,
        min_tokens=0,
    )
    assert [chunk.text for chunk in out] == ["Ants ate. Bees buzz.", "Cats purr. Dogs bark. Eels swim."]
    assert [chunk.relevance for chunk in out] == ["irrelevant", "relevant"]
    assert np.allclose([chunk.score for chunk in out], [0.469, 0.610667])


def test_vectors_from_elsewhere() -> None:
    spans = pychunk.split_sentences(TEXT)[0]
    vectors = np.random.default_rng(0).normal(size=(len(spans), 7))
    ours = pychunk.segment(TEXT, "semantic", columns={"sentence_vectors": vectors})
    given = pychunk.segment([TEXT], "semantic", columns={"sentence_vectors": [vectors], "sentence_spans": [spans]})
    assert ours.table.equals(given.table)
    with pytest.raises(ValueError, match="one row for each sentence; got 4 rows for 5 sentences"):
        pychunk.segment(TEXT, columns={"sentence_vectors": vectors[:4]})
    with pytest.raises(ValueError, match="must be finite"):
        pychunk.segment(TEXT, columns={"sentence_vectors": vectors * np.nan})
    with pytest.raises(ValueError, match="must increase"):
        pychunk.segment(TEXT, columns={"sentence_vectors": vectors[:2], "sentence_spans": [(5, 10), (0, 4)]})
    with pytest.raises(ValueError, match="must increase"):
        pychunk.segment(TEXT, columns={"sentence_vectors": vectors[:1], "sentence_spans": [(4, 4)]})
    for wrong in ([(1, 2, 3), (4,)], [[1, 2, 3]], np.zeros((2, 3))):
        with pytest.raises(ValueError, match=r"document 0 must be \(start, end\) pairs"):
            pychunk.segment([TEXT], columns={"sentence_vectors": [vectors[:2]], "sentence_spans": [wrong]})
    with pytest.raises(ValueError, match="of document 1 must increase"):
        pychunk.segment(
            [TEXT, TEXT], columns={"sentence_vectors": vectors[:3], "sentence_spans": [[(0, 9)], [(0, 9), (3, 20)]]}
        )


def test_vector_columns() -> None:
    out = pychunk.segment(TEXT, "fixed", size=8, unit="words", vectors="chunk").table
    vectors = np.stack(out.column("vector").to_pylist())
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for chunk in pychunk.segment(TEXT, "fixed", size=8, unit="words", vectors="sentence"):
        assert "".join(TEXT[s["start"] : s["end"]] for s in chunk.sentences).replace(" ", "") == chunk.text.replace(
            " ", ""
        )
        assert all(len(s["vector"]) == 256 for s in chunk.sentences)


def test_pages() -> None:
    out = pychunk.segment("Page one. More.\fPage two.", "page")
    assert out.table.column("page").to_pylist() == [1, 2]
    out = pychunk.segment("Page one runs on here.", "page", columns={"page_starts": [0, 9]})
    assert [chunk.text for chunk in out] == ["Page one", "runs on here."]


def test_segmenter_pickles_streams_fits_and_is_shared_by_threads() -> None:
    segmenter = pickle.loads(pickle.dumps(pychunk.Segmenter("semantic", threshold=0.3)))
    expected = segmenter([TEXT]).table
    results: list[pa.Table] = []
    workers = [threading.Thread(target=lambda: results.append(segmenter([TEXT]).table)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(result.equals(expected) for result in results)
    assert [out.table.column("document_index").to_pylist()[0] for out in segmenter.stream([[TEXT], [TEXT, TEXT]])] == [
        0,
        1,
    ]
    fitted = pychunk.Segmenter("semantic").fit([TEXT])
    assert fitted.plan.threshold == "value"
    assert pickle.loads(pickle.dumps(fitted)).plan == fitted.plan
    with pytest.raises(ValueError, match="no threshold to fit"):
        pychunk.Segmenter("pic").fit([TEXT])


def test_pool_survives_a_fork() -> None:
    pychunk.segment([TEXT] * 50, placement=pychunk.Placement(threads=2))
    child = os.fork()
    if child == 0:
        os._exit(0 if len(pychunk.segment([TEXT * 50] * 300, placement=pychunk.Placement(threads=2))) > 0 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_metadata_says_what_was_asked_for() -> None:
    out = pychunk.segment(["One. Two."], summary="title", columns={"titles": ["One"]})
    assert out.metadata["options"]["summary"] == "title"
    assert pychunk.segment("One. Two.", "sentence").metadata["options"]["summary"] == "extractive"


def test_metadata_and_exports() -> None:
    out = pychunk.segment(TEXT, k=0.5)
    assert out.metadata["method"] == "pic"
    assert out.metadata["options"]["k"] == 0.5
    assert pa.table(out).equals(out.table)
    assert len(out.to_pandas()) == len(out.to_polars()) == len(out)
    assert out.metadata["encoder"].startswith("pychunk-static")


@pytest.mark.slow
def test_memory_used_again_does_not_touch_earlier_results() -> None:
    texts = [f"Sentence {i} of a long document, number {j}. " * 20 for j in range(40) for i in range(200)]
    first = pychunk.segment(texts, "sentence")  # 7 MB of text: blocks that are kept for the next call
    expected = first.table.to_pydict()
    del first
    second = pychunk.segment(texts, "sentence")
    pychunk.segment([text.upper() for text in texts], "sentence")
    assert second.table.to_pydict() == expected


@pytest.mark.parametrize(("column", "size"), [("sentences", 40), ("vector", 4)])
def test_vectors_of_many_blocks_are_those_of_each_document_alone(column: str, size: int) -> None:
    """They have 15 MB: threads write in turn to what is joined later, and a document continues where another ended."""
    texts = [f"{' '.join(f'Line {i} of {d}.' for i in range(d % 7 * 40))} End." for d in range(120)]
    made = pychunk.Segmenter(
        "fixed",
        size=size,
        unit="words",
        vectors="chunk" if column == "vector" else "sentence",
        placement=pychunk.Placement(threads=3),
    )
    for _ in range(2):  # the second time in memory that the first one released
        found = made(texts).table
        for d in (0, 1, 6, 41, 118, 119):
            own = found.filter(np.asarray(found["document_index"]) == d)
            alone = made([texts[d]]).table
            assert own[column].to_pylist() == alone[column].to_pylist()


@settings(max_examples=40, deadline=None)
@given(texts=DOCUMENTS, summary=st.sampled_from(["extractive", "lead", "sentence"]))
def test_summaries_hang_on_their_document_alone(texts: list[str], summary: str) -> None:
    def told(batch: list[str], threads: int) -> list[dict[str, Any]]:
        out = pychunk.segment(
            batch, "pic", summary=summary, summaries_out=True, placement=pychunk.Placement(threads=threads)
        )
        assert out.summaries is not None
        return [
            {name: value for name, value in row.items() if name != "document_index"}
            for row in out.summaries.to_pylist()
        ]

    together = told(texts, 3)
    assert together == [row for text in texts for row in told([text], 1)]
    for text, row in zip(texts, together, strict=True):
        for sentence in row["sentences"] or ():
            assert text[sentence["start"] : sentence["end"]] == sentence["text"]


@pytest.mark.parametrize(("unit", "most", "least"), [("characters", 90, 30), ("words", 12, 4), ("tokens", 16, 5)])
def test_cluster_counts_its_limits_and_overlap_in_its_unit(unit: str, most: int, least: int) -> None:
    text = "Cats purr when they are content. They sleep by day. The sun is a star. Stars burn hydrogen. " * 5
    measure = {"characters": len, "words": lambda each: len(each.split()), "tokens": None}[unit]
    options: dict[str, Any] = {"unit": unit, "max_tokens": most, "min_tokens": least, "keep_together": False}
    for overlap in (0, least):
        table = pychunk.segment(text, "cluster", overlap=overlap, **options).table
        lengths = (
            table["tokens"].to_pylist() if measure is None else [measure(each) for each in table["text"].to_pylist()]
        )
        assert max(lengths) <= most
        assert min(lengths) >= least
        assert len(lengths) > 5
        repeated = [each[:of] for each, of in zip(table["text"].to_pylist(), table["overlap"].to_pylist(), strict=True)]
        assert any(repeated) == bool(overlap)
        assert measure is None or max(map(measure, repeated)) <= overlap
    with pytest.raises(ValueError, match="unit must be one of tokens, words, characters; got 'lines'"):
        pychunk.Segmenter("cluster", unit="lines")
