"""Levels of documents with removed spans, which are no text at any level, while the nodes still cover documents."""

import json
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from command_line import invoke
from hierarchies import FIVE, LEVELS, TEXT, check_same, check_tiles
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Hierarchy
from pychunk._engine import native
from pychunk._engine.reference import engine as reference
from pychunk.index.store.context_column import counted
from pychunk.inputs import TextBatch
from pychunk.levels.hierarchy_builder import hierarchy_by
from pychunk.levels.pooling import POOLINGS, pooled
from pychunk.levels.removed_sentences import WORDLESS
from pychunk.levels.similarity_trees import agglomerated

DATA = Path(os.environ.get("PYCHUNK_DATA", "none"))
Spans = list[tuple[int, int]]
EXACT = {"keep_together": False, "max_tokens": None, "min_tokens": 0, "vectors": "chunk"}


@st.composite
def cleaned_texts(draw: st.DrawFn) -> tuple[str, Spans]:
    """Draw a text and its removed spans, which do not overlap."""
    text = draw(TEXT)
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    return text, list(pairwise(places))[:: draw(st.sampled_from([1, 2]))]


BATCHES = st.lists(cleaned_texts(), max_size=4)


def parted(batch: list[tuple[str, Spans]]) -> tuple[list[str], list[Spans]]:
    return [text for text, _ in batch], [spans for _, spans in batch]


def made(batch: list[tuple[str, Spans]], levels: list, method: str = "fixed", **options: object) -> Hierarchy:
    texts, spans = parted(batch)
    return pychunk.segment_levels(texts, levels, method, vectors="sentence", columns={"removed": spans}, **options)


def letters(text: str, spans: Spans = (), start: int = 0, end: int | None = None) -> str:
    """Return the characters from start to end that are no white space and in no span."""
    end = len(text) if end is None else end
    gone = {at for a, b in spans for at in range(a, b)}
    return "".join(text[at] for at in range(start, end) if at not in gone and not text[at].isspace())


@settings(max_examples=60, deadline=None)
@given(batch=BATCHES, levels=LEVELS)
def test_nodes_tile_and_begin_with_kept_sentences(batch: list, levels: list) -> None:
    found = made(batch, levels)
    check_tiles(found, parted(batch)[0])
    if found.removed is None:
        return
    documents = set(found.doc_offsets.tolist())
    for level in found.levels[1:]:
        begins = [first for first in found.first(level)[:-1].tolist() if first not in documents]
        assert not found.removed[begins].any()
    assert not found.tokens[found.removed].any()
    assert not found.vectors("sentence")[found.removed].any()
    for level in found.levels:
        assert found.token_counts(level).sum() == found.tokens.sum()
        assert np.isfinite(found.vectors(level)).all()


@settings(max_examples=80, deadline=None)
@given(batch=BATCHES, levels=LEVELS)
def test_texts_are_the_kept_text(batch: list, levels: list) -> None:
    found = made(batch, levels)
    for level in found.levels:
        texts, documents = found.texts_of(level), found.documents_of(level)
        assert all(text == text.strip() for text in texts)
        for row, (text, spans) in enumerate(batch):
            own = "".join(each for each, document in zip(texts, documents, strict=True) if document == row)
            assert letters(own) == letters(text, spans)


@settings(max_examples=80, deadline=None)
@given(batch=BATCHES, levels=LEVELS)
def test_chunks_are_exact_and_end_outside_of_holes(batch: list, levels: list) -> None:
    found = made(batch, levels)
    table = found.chunks().table
    rows = table.to_pylist()
    assert len({(row["document_index"], row["start"], row["end"]) for row in rows}) == len(rows)
    assert ("holes" in table.column_names) == any(row.get("holes") for row in rows)
    words = counted(table)[0].to_pylist()
    of_levels: dict[str, list[str]] = {str(level): [] for level in found.levels}
    for row, counts in zip(rows, words, strict=True):
        text, spans = batch[row["document_index"]]
        start, end, holes = row["start"], row["end"], row.get("holes")
        assert row["text"] == text[start:end]
        assert not any(a <= at < b for a, b in spans for at in (start, end - 1))
        assert holes is None or holes
        inner = [(hole["start"], hole["end"]) for hole in holes or ()]
        assert all(start < a < b < end for a, b in inner)
        assert all(before[1] <= after[0] for before, after in pairwise(inner))
        kept = letters(text, spans, start, end)
        assert kept
        assert letters(text, inner, start, end) == kept == letters(counts)
        for level in row["levels"]:
            of_levels[level].append(kept)
    for level in found.levels:
        assert sorted(of_levels[str(level)]) == sorted(filter(None, map(letters, found.texts_of(level))))


@settings(max_examples=50, deadline=None)
@given(batch=BATCHES, levels=LEVELS)
def test_tokens_and_vectors_are_those_of_chunks_of_the_same_text(batch: list, levels: list) -> None:
    found = made(batch, levels)
    texts, spans = parted(batch)
    for level in found.levels:
        columns = {"cuts": found.cuts(level), "removed": spans}
        chunks = pychunk.segment(texts, "precomputed", columns=columns, **EXACT)
        document = np.asarray(chunks.table["document_index"])
        node = np.searchsorted(found.doc_offsets, found.first(level)[:-1], "right") - 1
        start = found.spans(level)[0]
        own = [
            int(np.flatnonzero((node == row) & (start <= at))[-1])
            for row, at in zip(document.tolist(), chunks.table["start"].to_pylist(), strict=True)
        ]
        sums = np.bincount(own, np.asarray(chunks.table["tokens"]), minlength=found.count(level))
        if level == "sentence":  # Tokens of a longer chunk are those of its whole text, where words may be joined.
            assert sums.astype(int).tolist() == found.token_counts(level).tolist()
        whole = np.bincount(own, minlength=found.count(level)) == 1
        for at, text, vector in zip(own, chunks.texts, chunks.vectors, strict=True):
            if whole[at]:
                assert found.texts_of(level)[at] == text
                np.testing.assert_allclose(found.vectors(level)[at], vector, atol=3e-7)


@settings(max_examples=30, deadline=None)
@given(batch=BATCHES, levels=LEVELS)
def test_a_table_keeps_removed_sentences(batch: list, levels: list, tmp_path_factory: pytest.TempPathFactory) -> None:
    batch = [(text, spans) for text, spans in batch if text.strip()]  # a blank document has no row
    found = made(batch, levels)
    path = tmp_path_factory.mktemp("levels") / "levels.parquet"
    found.write(path)
    table = found.to_arrow()
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    assert ("removed" in table.column_names) == (found.removed is not None)
    for again in (Hierarchy.from_arrow(table), Hierarchy.from_arrow(shuffled), Hierarchy.read(path)):
        check_same(found, again)
        assert (again.removed is None) == (found.removed is None)
        if found.removed is not None:
            np.testing.assert_array_equal(found.removed, again.removed)
        assert again.chunks().table.equals(found.chunks().table)


@settings(max_examples=30, deadline=None)
@given(batch=BATCHES, levels=LEVELS)
def test_documents_without_holes_are_as_before(batch: list, levels: list) -> None:
    texts = parted(batch)[0]
    plain = pychunk.segment_levels(texts, levels, "fixed", vectors="sentence")
    check_same(made([(text, []) for text in texts], levels), plain)
    beside = made([*batch, *((text, []) for text in texts)], levels)  # the documents with holes come first
    for level in plain.levels:
        own = beside.documents_of(level) >= len(batch)
        assert plain.texts_of(level) == [t for t, here in zip(beside.texts_of(level), own, strict=True) if here]
        np.testing.assert_array_equal(plain.vectors(level), beside.vectors(level)[own])


@settings(max_examples=40, deadline=None)
@given(batch=BATCHES, levels=LEVELS, method=st.sampled_from(["paragraph", "semantic", "structure"]))
def test_the_native_core_equals_the_reference_with_holes(batch: list, levels: list, method: str) -> None:
    texts, spans = parted(batch)
    segmenter = pychunk.Segmenter(method, vectors="sentence", max_tokens=30)
    found = hierarchy_by(segmenter, texts, levels, columns={"removed": spans})
    segmenter.engine = reference
    try:
        check_same(found, hierarchy_by(segmenter, texts, levels, columns={"removed": spans}))
    finally:
        segmenter.engine = native


@settings(max_examples=30, deadline=None)
@given(batch=BATCHES)
def test_poolings_and_trees_leave_removed_sentences_out(batch: list) -> None:
    found = made(batch, ["sentence", "paragraph", "document"], pooling="compressor")
    plain = made(batch, ["sentence", "paragraph", "document"])
    has_text = np.array(list(map(bool, found.texts_of("document"))), bool)
    for pooling in POOLINGS:
        vectors = pooled(plain, "document", pooling)
        assert not vectors[~has_text].any()
        assert np.isfinite(vectors).all()
        if pooling == "compressor":
            np.testing.assert_allclose(vectors, found.vectors("document"), atol=1e-6)
    for base in ("sentence", "paragraph"):
        tree = agglomerated(plain, 2, base=base)
        check_tiles(tree, parted(batch)[0])
        for level in tree.levels:
            kept = "".join(letters(text, spans) for text, spans in batch)
            assert "".join(map(letters, tree.texts_of(level))) == kept


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(batch=BATCHES, levels=LEVELS)
def test_nothing_depends_on_the_batch_with_holes(batch: list, levels: list) -> None:
    whole = made(batch, levels, "semantic")
    for row, document in enumerate(batch):
        alone = made([document], levels, "semantic")
        for level in whole.levels:
            here = whole.documents_of(level) == row
            assert alone.texts_of(level) == [t for t, own in zip(whole.texts_of(level), here, strict=True) if own]
            np.testing.assert_array_equal(alone.vectors(level), whole.vectors(level)[here])


def cut(text: str, levels: list, *gone: str) -> Hierarchy:
    """Return the hierarchy of a text from which each passage in ``gone`` is removed at its first occurrence."""
    spans = sorted((text.index(each), text.index(each) + len(each)) for each in gone)
    return made([(text, spans)], levels)


def test_a_hole_ends_a_paragraph_only_with_a_line_break() -> None:
    text = "Cats purr [edit] by day.\n\nPage 1\n\nDogs bark."
    found = cut(text, ["paragraph", "document"], "[edit]", "Page 1")
    assert found.texts_of("paragraph") == ["Cats purr by day.", "Dogs bark."]
    assert found.texts_of("document") == ["Cats purr by day.\n\nDogs bark."]
    assert found.texts_of("sentence") == ["Cats purr", "", "by day.", "", "Dogs bark."]
    document = found.chunks().table.to_pylist()[-1]
    assert document["text"] == text
    assert document["holes"] == [{"start": 10, "end": 16}, {"start": 26, "end": 32}]
    assert document["levels"] == ["document"]


def test_a_heading_stays_with_its_text_across_a_hole() -> None:
    text = "# Cats [edit]\n\nThey purr.\n\n## Food [change]\n\nMice.\n\n## Sleep\n\nBy day."
    spans = [(text.index(each), text.index(each) + len(each)) for each in ("[edit]", "[change]")]
    columns = {"removed": [spans], "blocks": pychunk.parsing.markdown.blocks_of([text])}
    found = pychunk.segment_levels([text], ["paragraph", "section"], columns=columns)
    assert found.texts_of("paragraph") == ["# Cats\n\nThey purr.", "## Food\n\nMice.", "## Sleep\n\nBy day."]
    assert found.texts_of("section") == found.texts_of("paragraph")


def test_a_page_begins_after_its_header() -> None:
    text = "Leaflet\nOne. Two.\n1\fLeaflet\nThree.\n2\fLeaflet\n3"
    at = [i for i in range(len(text)) if text.startswith("Leaflet", i)]
    spans = [(i, i + 7) for i in at] + [(i, i + 1) for i, c in enumerate(text) if c in "123"]
    found = made([(text, sorted(spans))], ["page", "document"])
    assert found.texts_of("page") == ["One. Two.", "Three."]
    rows = found.chunks().table.to_pylist()
    assert {row["text"] for row in rows if "page" in row["levels"]} == {"One. Two.", "Three."}


def test_windows_count_only_kept_tokens() -> None:
    text = "One two. Menu menu menu menu. Three four. Five six."
    found = cut(text, [6, 12], "Menu menu menu menu.")
    assert found.texts_of(6) == ["One two. Three four.", "Five six."]
    assert found.token_counts(6).tolist() == [6, 3]


def test_a_document_of_removed_text_alone_has_no_row() -> None:
    found = made([("Menu. Home.", [(0, 11)]), ("Cats purr.", [])], ["paragraph", "document"])
    assert found.texts_of("document") == ["", "Cats purr."]
    assert found.chunks().texts == ["Cats purr."]
    assert "holes" not in found.chunks().table.column_names
    assert not found.vectors("document")[0].any()
    assert found.removed.tolist() == [True, True, False]


def test_blank_sentences_of_the_caller_end_no_node() -> None:
    text = "One. Gone. \n\n"
    columns = {"sentence_spans": [[(0, 5), (5, 11), (11, 13)]], "removed": [[(5, 10)]]}
    found = pychunk.segment_levels([text], ["document"], columns=columns)
    assert found.chunks().texts == ["One."]


def test_badges_stay_in_any_batch() -> None:
    badge, hidden = ("[![a](b)](c) Cats.", [[(0, 12, "badge", 1.0)]]), ("Menu. Dogs.", [[(0, 5, "menu", 1.0)]])
    for documents in ([badge], [badge, hidden]):
        spans = [each for _, own in documents for each in own]
        found = pychunk.segment_levels([text for text, _ in documents], ["document"], columns={"removed": spans})
        assert found.texts_of("document") == ["[![a](b)](c) Cats.", "Dogs."][: len(documents)]


PAGE = """<html><head><title>Cats</title></head><body><nav><a href="/">Home</a> <a href="/shop">Webshop</a></nav>
<h1>Cats</h1><p>Cats purr by day and sleep at night, as every owner knows.</p>
<h2>Food</h2><p>Mice taste good to cats. Fish tastes good to them, too.</p>
<footer><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer></body></html>"""


def indexed(folder: Path, *files: Path) -> Path:
    """Return an index of sections and documents, which the command line built."""
    path = folder / "made.idx"
    done = invoke(["index", *map(str, files), "-o", str(path), "--levels", "section,document"])
    assert done.exit_code == 0, done.output
    return path


def hits_of(index: Path, query: str, level: str) -> list[dict]:
    done = invoke(["search", str(index), query, "--levels", level, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["hits"]


def test_markdown_and_html_are_indexed_at_levels(tmp_path: Path) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    page, notes = tmp_path / "page.html", tmp_path / "notes.md"
    page.write_text(PAGE)
    notes.write_text("# Dogs [![build](b.svg)](ci)\n\nDogs bark at night.\n\n## Food\n\nBones.\n")
    assert pychunk.segment(pychunk.read(page)).removed.num_rows
    index = indexed(tmp_path, page, notes)
    best = hits_of(index, "What tastes good to cats?", "section")[0]
    assert best["text"].startswith("## Food")
    assert "Imprint" not in best["text"]
    assert "Webshop" not in best["text"]
    assert hits_of(index, "When do dogs bark?", "document")[0]["document_id"] == str(notes)
    with pychunk.Index.open(index) as opened:
        terms = opened.search("Webshop", mode="sparse")[0]
        assert not terms


def test_a_pdf_with_headers_is_indexed_at_levels(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
    from pdf_texts import running_pages
    from pdfs import made as pdf

    (tmp_path / "foxes.pdf").write_bytes(pdf(running_pages(5)))
    index = indexed(tmp_path, tmp_path / "foxes.pdf")
    hit = hits_of(index, "Journal of Foxes", "document")[0]
    assert not hit["text"].startswith("Journal of Foxes")
    with pychunk.Index.open(index) as opened:
        assert not opened.search("Journal", mode="sparse")[0]  # the header is in holes, whose words do not count


def check_real(documents: TextBatch, count: int, cleaned: int) -> None:
    """Check that nodes tile documents, of which at least ``cleaned`` have removed spans, and hold no removed text."""
    found = pychunk.segment_levels(documents, FIVE, vectors="sentence")
    assert found.documents == count
    assert (found.removed is not None) == (cleaned > 0)
    texts = found.texts.to_pylist()
    check_tiles(found, texts)
    spans: list[Spans] = [[] for _ in texts]
    for row in pychunk.segment(documents).removed.to_pylist():
        if row["reason"] not in WORDLESS:
            spans[row["document_index"]].append((row["start"], row["end"]))
    assert sum(map(bool, spans)) >= cleaned
    for level in found.levels:
        own = [""] * count
        for document, text in zip(found.documents_of(level).tolist(), found.texts_of(level), strict=True):
            own[document] += text
        for text, kept, gone in zip(texts, own, spans, strict=True):
            assert letters(kept) == letters(text, gone)
    for row in found.chunks().table.select(["document_index", "start", "end", "text"]).to_pylist():
        assert row["text"] == texts[row["document_index"]][row["start"] : row["end"]]


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "unlp2026").is_dir(), reason="PYCHUNK_DATA names no folder with unlp2026")
def test_leaflets_have_all_levels() -> None:
    pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
    files = sorted((DATA / "unlp2026" / "medicine" / "pdf").glob("*.pdf"))[:30]
    check_real(pychunk.read(files), len(files), cleaned=0)  # None of them has headers.


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "wcxb").is_dir(), reason="PYCHUNK_DATA names no folder with wcxb")
def test_web_pages_have_all_levels(tmp_path: Path) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    import pyarrow.parquet as pq

    batches = pq.ParquetFile(DATA / "wcxb" / "dev.parquet").iter_batches(60, columns=["html"])
    files = []
    for number, html in enumerate(next(batches)["html"].to_pylist()):
        files.append(tmp_path / f"{number}.html")
        files[-1].write_bytes(html)
    check_real(pychunk.read(files), len(files), cleaned=40)


def test_an_index_counts_no_words_of_holes_after_it_is_rewritten(tmp_path: Path) -> None:
    holed = [("Cats purr. Gone menu. Mice hide.", [(11, 21)]), ("Dogs bark. Gone home. They dig.", [(11, 21)])]
    texts, spans = parted(holed)
    found = pychunk.segment_levels(
        texts, ["document"], vectors="chunk", ids=["cats", "dogs"], columns={"removed": spans}
    )
    with pychunk.Index.create(tmp_path / "made.idx", vectors="chunk") as made_index:
        made_index.add(found.chunks())
        made_index.add(pychunk.segment_levels("Rain falls.", ["document"], vectors="chunk", ids=["rain"]).chunks())
        made_index.save()
        made_index.remove(["cats", "rain"])  # More than half of the rows, so that saving writes the others again.
        made_index.save()
    with pychunk.Index.open(tmp_path / "made.idx", verify=True) as opened:
        assert not opened.search("gone", mode="sparse")[0]
        hit = opened.search("bark dig", k=1, mode="sparse")[0][0]
        assert hit.text == texts[1]
        assert "holes" not in hit.metadata


def test_an_llm_reads_nodes_without_removed_text() -> None:
    from pychunk.augmentation.chunk_documents import Document

    found = cut("Cats purr. Gone menu. Mice hide.", ["document"], "Gone menu.")
    texts = Document(0, None, found.chunks().table).texts
    assert texts[-1].split() == ["Cats", "purr.", "Mice", "hide."]


def test_a_column_of_the_user_named_holes_is_ignored() -> None:
    table = pa.table({"text": ["One."], "start": [0], "holes": [[18]]})
    assert counted(table)[0].to_pylist() == ["One."]
