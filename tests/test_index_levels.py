"""`pychunk index --levels` and `pychunk search --levels`."""

import json
import pickle
import re
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke

import pychunk
from pychunk.levels.segmenting import NodeSegmenter

pytest.importorskip("faiss")

TEXTS = {
    "cats": "Cats\n\nCats purr. They sleep by day.\n\nFood\n\nMice taste good. Fish, too.",
    "stars": "Stars burn hydrogen. The sun is a star.",
}


def run(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def refused(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 2, done.output
    return " ".join(done.output.split())


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    table = pa.table({"id": list(TEXTS), "text": list(TEXTS.values()), "year": [2001, 2002]})
    pq.write_table(table, tmp_path / "documents.parquet")
    return tmp_path / "documents.parquet"


def hits_of(index: Path, query: str, *flags: object) -> list[dict]:
    return json.loads(run("search", index, query, "--json", *flags))["hits"]


def test_an_index_of_levels_from_the_command_line(tmp_path: Path, documents: Path) -> None:
    index, levels = tmp_path / "levels.idx", "sentence,paragraph,section,document"
    build = ("index", documents, "--id-column", "id", "--keep", "year", "-o", index, "--levels", levels)
    assert "2 documents added" in run(*build)
    found = pychunk.segment(list(TEXTS.values()), levels=levels.split(","))
    with pychunk.Index.open(index) as made:
        assert len(made) == len(found)
        assert made.info["vectors"] == "chunk"
    for level in levels.split(","):
        hits = hits_of(index, "When do cats sleep?", "-k", 99, "--levels", level)
        assert sorted(hit["text"] for hit in hits) == sorted(found.texts_of(level))
        assert all(hit["metadata"]["year"] == {"cats": 2001, "stars": 2002}[hit["id"]] for hit in hits)
    hits = hits_of(index, "When do cats sleep?", "-k", 99, "--levels", "paragraph,document")
    assert all({"paragraph", "section", "document"} & set(hit["metadata"]["levels"]) for hit in hits)
    assert "2 kept" in run(*build)  # nothing changed
    assert "2 replaced" in run(*build[:-1], "sentence,document")  # other levels
    assert len(hits_of(index, "cats", "-k", 99, "--levels", "document")) == 2
    assert "no level 'section' in this index" in refused("search", index, "cats", "--levels", "section")


def test_what_the_command_refuses(tmp_path: Path, documents: Path) -> None:
    index = tmp_path / "plain.idx"
    assert "unknown level 'word'" in refused("index", documents, "-o", index, "--levels", "word")
    assert "from fine to coarse" in refused("index", documents, "-o", index, "--levels", "document,section")
    told = refused("index", documents, "-o", index, "--levels", "document", "--vectors", "sentence")
    assert "--levels needs an index of chunk vectors" in told
    run("index", documents, "-o", index)
    told = refused("index", documents, "-o", index, "--levels", "document")
    assert "this one is of sentence vectors: name a new folder" in told
    assert "--vectors is" not in told  # which nobody said
    for flags in (["--levels", "document"], ["--plan", "rules"]):
        assert "make one by pychunk index --levels" in refused("search", index, "cats", *flags)
    told = refused("index", documents, "-o", tmp_path / "c.idx", "--levels", "document,section")
    assert "got document, section" in told
    told = refused("index", documents, "-o", tmp_path / "c.idx", "--levels", "document", "-m", "semantic")
    assert "--method changes nothing with --levels document" in told
    told = refused("index", documents, "-o", tmp_path / "a.idx", "--levels", "document", "--augment", "head")
    assert "--levels goes without --augment" in told
    pychunk.segment("One.").write(tmp_path / "chunks.parquet")
    told = refused("index", tmp_path / "chunks.parquet", "-o", tmp_path / "b.idx", "--levels", "document")
    assert "--levels cuts documents" in told
    assert not (tmp_path / "a.idx").exists()


def test_scores_across_levels_are_explained_once(tmp_path: Path, documents: Path) -> None:
    index = tmp_path / "levels.idx"
    run("index", documents, "-o", index, "--levels", "sentence,paragraph,document")
    both = ("search", index, "cats", "stars", "-k", 1)
    for flags in (["--levels", "sentence,document"], ["--plan", "rules"]):
        assert run(*both, *flags).count("scores are bits") == 1
        assert "scores are bits" not in run(*both, *flags, "--json")
    shown = run(*both, "--levels", "document")  # cosines and BM25, as in any index
    assert "scores are bits" not in shown
    assert re.search(r"chunk \d+, (paragraph to )?document  \d", shown)
    told = refused(*both, "--rerank", "features")
    assert "this index of levels has none: leave out --rerank, or take a cross-encoder, such as --rerank rera" in told


def test_an_index_of_levels_without_nodes_says_so(tmp_path: Path) -> None:
    (tmp_path / "blank.txt").write_text(" ")
    index = tmp_path / "levels.idx"
    told = run("index", tmp_path / "blank.txt", "-o", index, "--levels", "sentence,document")
    assert "no document has text" in told
    assert re.search(r"0 chunks in [\d.]+ (bytes|kB), of levels sentence,document", run("index", "--verify", index))
    for flags in (["--levels", "sentence,document"], ["--plan", "learned"], []):
        told = run("search", index, "cats", *flags)
        assert "holds no chunks: add documents" in told
        assert "nothing found" not in told


def test_levels_are_remembered(tmp_path: Path, documents: Path) -> None:
    build = ("index", documents, "--id-column", "id", "-o", tmp_path / "levels.idx")
    run(*build, "--levels", "sentence,paragraph,document")
    assert "2 kept" in run(*build)
    assert len(hits_of(tmp_path / "levels.idx", "cats", "-k", 99, "--levels", "document")) == 2
    assert "--method changes nothing" in refused(*build, "-m", "semantic")
    assert "2 replaced" in run(*build, "--levels", "sentence,group", "-m", "sentence")
    assert "2 kept" in run(*build, "-m", "sentence")


def test_pages_of_html_have_levels_once_nothing_is_left_out_of_them(tmp_path: Path) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    page = "<html><body><nav><a href='/'>Home</a> <a href='/b'>Contact</a></nav><p>Cats purr by day.</p></body></html>"
    (tmp_path / "page.html").write_text(page)
    build = ("index", tmp_path / "page.html", "-o", tmp_path / "page.idx", "--levels", "sentence,document", "--noise")
    assert "--noise off" in refused(*build, "rules")
    assert "1 document added" in run(*build, "off")


def test_options_of_cutting_are_refused_with_chunks(tmp_path: Path) -> None:
    pychunk.segment("One.").write(tmp_path / "chunks.parquet")
    told = refused("index", tmp_path / "chunks.parquet", "-o", tmp_path / "a.idx", "-m", "semantic")
    assert "--method says how to cut documents" in told
    run("index", tmp_path / "chunks.parquet", "-o", tmp_path / "a.idx", "--threads", 1)
    assert "is an index: name it before the questions" in refused("search", "cats", tmp_path / "a.idx")


def test_a_segmenter_of_nodes() -> None:
    seg = NodeSegmenter(["paragraph", "document"], vectors="chunk", on_error="skip")
    ids = [uuid.UUID(int=number) for number in range(3)]
    table = pa.table({"text": ["One. Two.\n\nThree.", None, "Four."], "year": [1, 2, 3]})
    out = seg(table, ids=ids, keep=["year"], first_document=5)
    assert [error.row for error in out.errors] == [6]
    assert out.table["document"].to_pylist() == [5] * 5 + [7]
    assert out.table["year"].to_pylist() == [1] * 5 + [3]
    assert out.table["levels"].to_pylist()[-1] == ["sentence", "paragraph", "document"]
    assert b"uuid" in out.table.schema.metadata.values()
    again = pickle.loads(pickle.dumps(seg))
    assert again(table, ids=ids).texts == out.texts
    assert repr(seg) == "NodeSegmenter(vectors='chunk', on_error='skip', levels=['sentence', 'paragraph', 'document'])"
    assert repr(NodeSegmenter(["document"])) == "NodeSegmenter(levels=['sentence', 'document'])"
