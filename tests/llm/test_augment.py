"""Contexts of chunks: the result of each way, the chunks that it reads, and its refusals."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import pychunk
from pychunk._engine import native
from pychunk._util.reprs import whole_words
from pychunk.augmentation import Document, context_windows
from pychunk.cli.main import app
from pychunk.inputs.texts import PartialRowError

TEXTS = ["Aspirin, for adults. Take it with food.  Never twice a day.", "One.", "", "Compass. Keep it dry."]


def sentences(texts: Any = TEXTS, **options: Any) -> Any:
    return pychunk.segment(texts, "sentence", keep_together=False, **options)


def contexts(chunks: Any) -> list[str]:
    found: list[str] = getattr(chunks, "table", chunks)["context"].to_pylist()
    return found


def test_the_head_of_a_document_stands_beside_each_of_its_chunks_which_stay_what_they_are() -> None:
    plain = sentences(ids=list("abcd"))
    found = pychunk.augment(plain, "head", characters=24)
    assert contexts(found) == ["Aspirin, for adults."] * 3 + ["One."] + ["Compass. Keep it dry."] * 2
    assert found.table.drop_columns(["context"]).equals(plain.table)
    assert (found.documents, found.metadata["augment"]) == (4, ["head:characters=24"])
    assert contexts(sentences(augment="head:characters=24")) == contexts(found)
    assert contexts(pychunk.augment(plain.table)) == [" ".join(TEXTS[0].split())] * 3 + ["One."] + [TEXTS[3]] * 2
    assert pychunk.segment([], augment="head").table.schema.field("context").type == pa.large_string()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab é。.\n\t中"), max_size=60), max_size=4), st.integers(1, 40))
def test_a_head_is_of_the_text_alone_however_it_is_cut(texts: list[str], characters: int) -> None:
    how = f"head:characters={characters}"
    for options in (
        {"method": "sentence", "keep_together": False},
        {"method": "fixed", "size": 3, "unit": "characters"},
    ):
        found = pychunk.segment(texts, augment=how, **options)
        for chunk, context in zip(found, contexts(found), strict=True):
            assert context == whole_words(" ".join(texts[chunk.document_index].split()), characters)
            assert len(context) <= characters
            assert texts[chunk.document_index][chunk.start : chunk.end] == chunk.text
    lapping = pychunk.segment(texts, "fixed", size=4, unit="words", overlap=2, keep_together=False, augment=how)
    assert all(
        c == whole_words(" ".join(texts[d].split()), characters)
        for d, c in zip(lapping.table["document_index"].to_pylist(), contexts(lapping), strict=True)
    )


def test_a_head_of_white_space_reads_on_and_one_of_a_long_word_is_cut() -> None:
    assert contexts(sentences([" " * 900 + "Far" + " " * 900 + "away."], augment="head:characters=6")) == ["Far"]
    page = pychunk.segment(["Far" + " " * 900 + "away."], "page", augment="head:characters=9")
    assert contexts(page) == ["Far away."]
    assert contexts(sentences(["a " + "中" * 20], augment="head:characters=9")) == ["a " + "中" * 7]


def test_titles_columns_and_headings() -> None:
    table = pa.table({"text": TEXTS, "title": ["Leaflet", None, "x", "Manual"], "year": [1, 2, 3, 4]})
    found = sentences(table, columns={"text": "text"}, metadata_columns=["year"], augment=["title", "column:year"])
    assert contexts(found) == ["Leaflet\n1"] * 3 + ["2"] + ["Manual\n4"] * 2
    assert "title" not in found.table.column_names
    later = pychunk.Segmenter("sentence", keep_together=False, augment="title")(
        table, columns={"text": "text"}, first_document=7
    )
    assert contexts(later) == ["Leaflet"] * 3 + [""] + ["Manual"] * 2
    for name in ("pandas", "polars"):
        frame = pytest.importorskip(name).DataFrame(table.to_pydict())
        assert contexts(sentences(frame, columns={"text": "text"}, augment="title")) == contexts(later)
    plain = sentences(table, columns={"text": "text"}, metadata_columns=["title"])
    assert contexts(pychunk.augment(plain, "title")) == contexts(later)
    assert contexts(pychunk.augment(sentences(), "column:x", columns={"x": "abd"})) == list("aaabdd")
    marked = "# Cats\n\nThey purr.\n\n## Food\n\nFish is best of all that there is to eat.\n"
    kinds = [("heading", 1, 0, 6), ("paragraph", 0, 8, 18), ("heading", 2, 20, 27), ("paragraph", 0, 29, 71)]
    tree = pychunk.segment([marked], "structure", size=5, columns={"blocks": [kinds]}, augment="path")
    assert contexts(tree) == [" > ".join(chunk.path) for chunk in tree]
    assert "Cats > Food" in contexts(tree) or "Cats" in contexts(tree)


def test_a_function_gets_documents_and_gives_a_string_for_each_or_for_each_chunk() -> None:
    met: list[Document] = []

    def mine(documents: list[Document]) -> list[Any]:
        met.extend(documents)
        return [each.texts[-1] if len(each.texts) < 3 else [f"{each.id}{i}" for i in range(3)] for each in documents]

    assert contexts(sentences(ids=list("abcd"), augment=mine)) == [*("a0", "a1", "a2"), "One.", *["Keep it dry."] * 2]
    assert [(each.index, each.id, len(each.texts)) for each in met] == [(0, "a", 3), (1, "b", 1), (3, "d", 2)]
    many = sentences([f"{i}." for i in range(150)], augment=lambda documents: [str(len(documents))] * len(documents))
    assert contexts(many) == ["64"] * 128 + ["22"] * 22


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: 1 / 0, "stage '.*lambda.*' failed for 3 documents, 0 to 3: ZeroDivisionError: division by zero"),
        (lambda _: None, "must return a list with a string for each of 3 documents, 0 to 3; got None"),
        (lambda _: "abc", "must return a list with a string for each of 3 documents, 0 to 3; got 'abc'"),
        (lambda _: ["a"], r"returned 1 value for 3 documents, 0 to 3; expected one for each"),
        (lambda _: ["a", None, "b"], r"returned None for document 1 \('b'\)"),
        (lambda _: ["a", "b", ["c"]], r"returned 1 string for 2 chunks of document 3 \('d'\)"),
        (lambda _: ["a", "b", ["c", None]], r"returned None for chunk 1 of document 3 \('d'\)"),
        (lambda _: ["a", "b", ["c", "\ud800"]], r"a lone surrogate at character 0 for chunk 1 of document 3 \('d'\)"),
        (
            lambda _: ["a", "b\ud800", "c"],
            r"text with a lone surrogate at character 1 for document 1 \('b'\); remove it",
        ),
    ],
)
def test_a_function_that_fails_is_named_with_the_document(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pychunk.augment(sentences(ids=list("abcd")), function)


@pytest.mark.parametrize(
    ("what", "reason"), [(None, "returned None for document 1"), (3, "failed for document 1: Zero")]
)
def test_documents_of_which_a_function_makes_nothing_have_no_context_where_they_may(what: Any, reason: str) -> None:
    def mine(documents: list[Document]) -> list[Any]:
        return [what and what // 0 if each.id == "b" else f"about {each.id}" for each in documents]

    batch = ["Cats purr. They sleep.", "Dogs bark.", None, "Stars burn."]
    with pytest.raises(ValueError, match=r"augment stage .*mine'"):
        sentences([text for text in batch if text], ids=list("abd"), augment=mine)
    chunks = sentences(batch, ids=list("abcd"), augment=[mine, "head:characters=4"], on_error="skip")
    assert contexts(chunks) == ["about a\nCats"] * 2 + ["Dogs", "about d\nStar"]
    assert [error.row for error in chunks.errors] == [1, 2]
    assert reason in chunks.errors[0].reason
    assert isinstance(chunks.errors[0], PartialRowError)
    every = sentences(batch[:2], augment=lambda _: [], on_error="skip")
    assert contexts(every) == [""] * 3
    assert [error.row for error in every.errors] == [0, 1]


def test_what_is_no_way_or_makes_no_sense_is_refused() -> None:
    plain = sentences()
    for how, message in (
        ("heads", r"must be one of head, title, .*column:NAME, or a function; got 'heads'"),
        ("head:size=3", r"head has no option 'size': choose from 'characters'"),
        ("head:characters=0", r"head's characters must be a whole number from 1; got '0'"),
        ("title:n=3", r"title has no option 'n': it has none"),
        ("column", "write column:NAME"),
        ([], "got an empty list"),
        ("title", r"no column 'title': segment with metadata_columns=\['title'\]"),
        ("path", "no column 'path': cut by method 'structure'"),
        ("column:year", r"no column 'year': segment with metadata_columns=\['year'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            pychunk.augment(plain, how)
    with pytest.raises(TypeError, match="must be one of head"):
        pychunk.augment(plain, 3)  # type: ignore[arg-type]  # what it must refuse
    with pytest.raises(ValueError, match="head has no option 'size'"):
        pychunk.Segmenter(augment="head:size=3")
    with pytest.raises(ValueError, match="already have a column 'context'"):
        pychunk.augment(pychunk.augment(plain))
    with pytest.raises(ValueError, match=r"'x' must have one value for each document.*got 2 values for 3 documents"):
        pychunk.augment(plain, "column:x", columns={"x": "ab"})
    with pytest.raises(ValueError, match="missing: document_index, chunk_index, start"):
        pychunk.augment(pa.table({"text": ["a"]}))


def test_a_run_with_a_function_goes_on_in_another_process(tmp_path: Path) -> None:
    """A function's address in memory is not part of a run's facts."""
    (tmp_path / "a.txt").write_text(TEXTS[0])

    def run() -> bool:
        def mine(documents: list[Document]) -> list[str]:
            return ["beside"] * len(documents)

        out = tmp_path / "shards"
        return pychunk.ingest.ingest(tmp_path / "a.txt", out, method="sentence", augment=mine, resume=True).did_nothing

    assert [run(), run()] == [False, True]
    assert set(contexts(pq.read_table(tmp_path / "shards" / "part-000000.parquet"))) == {"beside"}


def test_chunks_with_contexts_are_shown_with_hits(tmp_path: Path) -> None:
    """The same chunks are made again with vectors for it, from texts alone, without a title."""
    pytest.importorskip("faiss")
    table = pa.table({"text": TEXTS, "title": ["Leaflet", "b", "c", "Manual"]})
    found = sentences(table, columns={"text": "text"}, augment="title")
    assert "Aspirin" in found.view(tmp_path / "x.html", queries=["food"]).html


def test_windows_by_hand() -> None:
    """Documents have seven chunks, four and one; four others are read around each chunk."""
    first, end = context_windows.around(np.full(7, 7), np.arange(7), 4)
    assert [list(range(a, b)) for a, b in zip(first.tolist(), end.tolist(), strict=True)] == [
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 3, 4, 5],
        [2, 3, 4, 5, 6],
        [2, 3, 4, 5, 6],
        [2, 3, 4, 5, 6],
    ]
    first, end = context_windows.around(np.array([4, 4, 1]), np.array([0, 3, 0]), 4)
    assert (first.tolist(), end.tolist()) == ([0, 0, 0], [4, 4, 1])
    texts = [str(i) for i in range(20)]
    long, short = (Document(0, None, pa.table({"text": each})) for each in (texts, texts[:10]))
    assert long.excerpt().split("\n\n") == [*texts[:5], "[... 10 chunks left out ...]", *texts[15:]]
    assert long.excerpt(5).split("\n\n") == [*texts[:2], "[... 15 chunks left out ...]", *texts[17:]]
    assert short.excerpt().split("\n\n") == texts[:10]
    assert [long.around(i).split("\n\n") for i in (0, 9, 19)] == [texts[:5], texts[7:12], texts[15:]]


def test_commands_add_contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(TEXTS[0])
    Path("b.txt").write_text(TEXTS[3])
    runner, cut = CliRunner(), ["-m", "sentence", "--no-keep-together", "--augment", "head:characters=24"]

    def run(*words: str) -> Any:
        done = runner.invoke(app, list(words))
        assert done.exit_code == 0, done.output
        return done

    run("segment", "a.txt", "b.txt", "-o", "c.parquet", *cut)
    expected = ["Aspirin, for adults."] * 3 + ["Compass. Keep it dry."] * 2
    assert contexts(pq.read_table("c.parquet")) == expected
    Path("folder").mkdir()
    for name in "ab":
        Path(f"{name}.txt").rename(f"folder/{name}.txt")
    run("ingest", "folder", "-o", "shards", *cut)
    assert contexts(pq.read_table("shards/part-000000.parquet")) == expected
    for _ in range(2):
        told = run("index", "folder", "-o", "x.idx", *cut).output
    assert "2 kept" in told
    assert "no column context" not in told
    assert "1 document added" not in told
    refused = runner.invoke(app, ["index", "folder", "-o", "y.idx", *cut[:-1], "title"])
    assert "segment with metadata_columns=" in refused.output.replace("\n", " ")
    with pychunk.Index.open("x.idx") as index:
        assert [hit.text for hit in index.search("aspirin twice", 9, "sparse")[0]] == [
            "Never twice a day.",
            "Aspirin, for adults.",
            "Take it with food.",
        ]
        assert {hit.context for hit in index.search("aspirin", 9, "sparse")[0]} == {expected[0]}


def vectors_of(table: pa.Table, chunk: int) -> tuple[list[str], Any]:
    """Return the sentences of a chunk with their vectors."""
    row = table.slice(chunk, 1).to_pylist()[0]
    found = [
        (row["text"][each["start"] - row["start"] : each["end"] - row["start"]], each["vector"])
        for each in row["sentences"]
    ]
    return [" ".join(text.split()) for text, _ in found], np.array([vector for _, vector in found])


@pytest.mark.parametrize("window", [1, 3, 4])
def test_a_neighbour_is_the_most_central_sentence_around_a_chunk(window: int) -> None:
    """It is compared with the definition, for documents of seven chunks, three and one."""
    words = ["cats", "dogs", "sun", "moon", "bread", "law", "sea", "war", "tax", "ship", "rain", "song", "oil", "ants"]
    said = [
        [f"The {words[(3 * i + j) % 14]} of {words[(5 * i + 4 * j) % 14]} is new." for j in range(2)] for i in range(11)
    ]
    documents = [said[:7], said[7:10], said[10:]]
    texts = ["\n\n".join(" ".join(each) for each in document) for document in documents]
    table = pychunk.segment(texts, "paragraph", keep_together=False, vectors="sentence").table
    assert table["chunk_index"].to_pylist() == [*range(7), *range(3), 0]
    found = contexts(pychunk.augment(table, "neighbours", window=window))
    assert found == contexts(pychunk.augment(table.drop_columns(["sentences"]), "neighbours", window=window))
    first = 0
    for count in (7, 3, 1):
        for place in range(count):
            begin = min(max(0, place - window // 2), max(0, count - 1 - window))
            own = [first + i for i in range(begin, min(count, begin + window + 1)) if i != place]
            assert len(own) == min(window, count - 1)
            sentences = [each for chunk in own for each in zip(*vectors_of(table, chunk), strict=True)]
            centre = sum((vector for _, vector in sentences), np.zeros(256))
            scores = [float(vector @ centre) for _, vector in sentences]
            near = [text for (text, _), score in zip(sentences, scores, strict=True) if score > max(scores) - 0.02]
            assert found[first + place] in (near or [""])
        first += count


def most_central(vectors: Any, first: Any, since: Any, until: Any) -> list[int]:
    """Return the choice of csrc/vectors/extractive_summary.h in integers, which Python has at any size."""
    whole = [[int(each) for each in row] for row in np.rint(vectors.astype(np.float64) * 2048)]
    best = []
    for chunk, (begin, end) in enumerate(zip(since.tolist(), until.tolist(), strict=True)):
        rows = [row for c in range(begin, end) if c != chunk for row in range(first[c], first[c + 1])]
        around = [sum(column) for column in zip(*(whole[row] for row in rows))]
        # Of two equally near integers the even one counts, as Python rounds a fraction.
        scores = [round(Fraction(sum(a * b for a, b in zip(whole[row], around)), 2048 * 2048 // 256)) for row in rows]
        best.append(rows[scores.index(max(scores))] if rows else -1)
    return best


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dim", [1, 7, 8, 19])
def test_the_most_central_sentence_is_that_of_whole_numbers(dim: int, threads: int) -> None:
    """Documents have many chunks, one and none with a sentence; so few vectors occur that many are equal."""
    random = np.random.default_rng(dim)
    sizes = [40, 1, 3, 5, 0, 2]
    counts = random.integers(0, 4, sum(sizes))
    counts[41:44] = 0
    first = np.concatenate([[0], np.cumsum(counts)])
    kinds = random.standard_normal((6, dim))
    vectors = (kinds / np.linalg.norm(kinds, axis=1, keepdims=True)).astype(np.float32)[
        random.integers(0, 6, first[-1])
    ]
    vectors[::11] = 0
    since, until, begin = [], [], 0
    for size in sizes:
        low, high = context_windows.around(np.full(size, size), np.arange(size), 4)
        since, until, begin = [*since, *(low + begin)], [*until, *(high + begin)], begin + size
    bounds = first, np.array(since), np.array(until)
    found = native.most_central(vectors, *bounds, threads=threads)
    assert found.tolist() == most_central(vectors, *bounds)
    assert (found[41:44] == -1).all()
    far = np.zeros(len(since), np.int64), np.full(len(since), len(since))
    np.testing.assert_array_equal(
        native.most_central(vectors, first, *far, threads=threads), most_central(vectors, first, *far)
    )


def test_windows_that_are_none_are_refused() -> None:
    vectors, first = np.ones((2, 4), np.float32), np.arange(3)
    for since, until in (([0, 0], [1, 1]), ([1, 0], [2, 2]), ([0, 0], [2, 3]), ([-1, 0], [2, 2]), ([0], [2])):
        with pytest.raises(ValueError, match=r"window must contain its chunk|since and until must each have"):
            native.most_central(vectors, first, np.array(since), np.array(until), threads=1)
    with pytest.raises(ValueError, match="doc_offsets must run from 0 to 2"):
        native.most_central(vectors, np.array([0, 1]), np.array([0]), np.array([1]), threads=1)


def test_a_summary_holds_the_most_central_sentences_of_the_ends_in_their_order() -> None:
    ends = ["Cats purr when content.", "Cats sleep by day.", "Taxes are due in May.", "Cats and dogs sleep by day."]
    text = "\n\n".join(
        [*ends[:2], *[f"The moon is {i} days old, as the night sky shows." for i in range(9)], *ends[2:]]
    )
    chunks = pychunk.segment([text, ends[0], ""], "paragraph", keep_together=False, vectors="sentence")
    found = contexts(pychunk.augment(chunks, "summary:window=4,characters=60"))
    assert found == ["Cats sleep by day. Cats and dogs sleep by day."] * 13 + [ends[0]]
    assert contexts(pychunk.augment(chunks, "summary:window=4"))[0] == " ".join(ends)
    assert contexts(pychunk.augment(chunks, "summary:window=4,characters=9"))[0] in ("Cats", "Cats and")
    assert "moon" in contexts(pychunk.augment(chunks, "summary"))[0]
    assert all(len(each) <= 60 for each in found)
    repeated = pychunk.segment(["Buy now. Buy now. Cats purr."], "sentence", keep_together=False)
    assert contexts(pychunk.augment(repeated, "summary"))[0] == "Buy now. Cats purr."
    assert contexts(pychunk.segment([], augment="summary")) == contexts(pychunk.segment([], augment="neighbours")) == []
