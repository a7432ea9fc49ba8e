"""The commands `pychunk index --levels` and `pychunk search --levels`."""

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
from pychunk.levels.level_segmenter import NodeSegmenter

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
    build = ("index", documents, "--id-column", "id", "--metadata-columns", "year", "-o", index, "--levels", levels)
    assert "2 documents added" in run(*build)
    found = pychunk.segment_levels(list(TEXTS.values()), levels.split(","))
    with pychunk.Index.open(index) as made:
        assert len(made) == len(found)
        assert made.info["vectors"] == "chunk"
    for level in levels.split(","):
        hits = hits_of(index, "When do cats sleep?", "-k", 99, "--levels", level)
        assert sorted(hit["text"] for hit in hits) == sorted(found.texts_of(level))
        assert all(hit["metadata"]["year"] == {"cats": 2001, "stars": 2002}[hit["document_id"]] for hit in hits)
    hits = hits_of(index, "When do cats sleep?", "-k", 99, "--levels", "paragraph,document")
    assert all({"paragraph", "section", "document"} & set(hit["metadata"]["levels"]) for hit in hits)
    assert "2 kept" in run(*build)  # nothing changed
    assert "2 replaced" in run(*build[:-1], "sentence,document")  # other levels
    assert len(hits_of(index, "cats", "-k", 99, "--levels", "document")) == 2
    assert "no level 'section' in this index" in refused("search", index, "cats", "--levels", "section")


def test_what_the_command_refuses(tmp_path: Path, documents: Path) -> None:
    index = tmp_path / "plain.idx"
    assert "unknown level 'word'" in refused("index", documents, "-o", index, "--levels", "word")
    assert "unknown level ''" in refused("index", documents, "-o", index, "--levels", "")
    assert "from fine to coarse" in refused("index", documents, "-o", index, "--levels", "document,section")
    told = refused("index", documents, "-o", index, "--levels", "document", "--vectors", "sentence")
    assert "--levels needs an index with chunk vectors" in told
    run("index", documents, "-o", index)
    told = refused("index", documents, "-o", index, "--levels", "document")
    assert "this index has sentence vectors: name a new folder" in told
    assert "--vectors is" not in told  # which nobody named
    for flags in (["--levels", "document"], ["--plan", "rules"]):
        assert "make one with pychunk index --levels" in refused("search", index, "cats", *flags)
    told = refused("index", documents, "-o", tmp_path / "c.idx", "--levels", "document,section")
    assert "got document, section" in told
    told = refused("index", documents, "-o", tmp_path / "c.idx", "--levels", "document", "-m", "semantic")
    assert "--method changes nothing with --levels document" in told
    told = refused("index", documents, "-o", tmp_path / "a.idx", "--levels", "document", "--augment", "head")
    assert "--levels cannot be combined with --augment" in told
    pychunk.segment("One.").write(tmp_path / "chunks.parquet")
    told = refused("index", tmp_path / "chunks.parquet", "-o", tmp_path / "b.idx", "--levels", "document")
    assert "--levels cuts documents" in told
    assert not (tmp_path / "a.idx").exists()


def test_scores_across_levels_are_explained_once(tmp_path: Path, documents: Path) -> None:
    index = tmp_path / "levels.idx"
    run("index", documents, "-o", index, "--levels", "sentence,paragraph,document")
    both = ("search", index, "cats", "stars", "-k", 1)
    for flags in (["--levels", "sentence,document"], ["--plan", "rules"]):
        assert run(*both, *flags).count("scores are in bits") == 1
        assert "scores are in bits" not in run(*both, *flags, "--json")
    shown = run(*both, "--levels", "document")  # cosines and BM25, as in any index
    assert "scores are in bits" not in shown
    assert re.search(r"chunk \d+, (paragraph to )?document  \d", shown)
    told = refused(*both, "--expand", "1", "--parents")
    assert (
        "--parents needs a tree; got it with an expansion of 1: pass --expand subtree --parents or --expand sec" in told
    )
    told = refused(*both, "--rerank", "features")
    assert (
        "this index of levels has none: leave out --rerank features, or use a cross-encoder, such as --rerank rera"
        in told
    )


def test_an_index_of_levels_without_nodes_says_so(tmp_path: Path) -> None:
    (tmp_path / "blank.txt").write_text(" ")
    index = tmp_path / "levels.idx"
    told = run("index", tmp_path / "blank.txt", "-o", index, "--levels", "sentence,document")
    assert "no document has text" in told
    assert re.search(r"0 chunks in [\d.]+ (bytes|kB), levels sentence,document", run("index", "--verify", index))
    for flags in (["--levels", "sentence,document"], ["--plan", "learned"], []):
        told = run("search", index, "cats", *flags)
        assert "holds no chunks; add documents" in told
        assert "nothing found" not in told


def test_levels_are_remembered(tmp_path: Path, documents: Path) -> None:
    build = ("index", documents, "--id-column", "id", "-o", tmp_path / "levels.idx")
    run(*build, "--levels", "sentence,paragraph,document")
    assert "2 kept" in run(*build)
    assert len(hits_of(tmp_path / "levels.idx", "cats", "-k", 99, "--levels", "document")) == 2
    assert "--method changes nothing" in refused(*build, "-m", "semantic")
    told = run(*build, "--levels", "sentence,group", "-m", "sentence")
    assert "2 replaced" in told
    assert "documents that are not in this run keep their levels, sentence,paragraph,document" in told
    assert "2 kept" in run(*build, "-m", "sentence")


def test_options_of_cutting_are_refused_with_chunks(tmp_path: Path) -> None:
    pychunk.segment("One.").write(tmp_path / "chunks.parquet")
    told = refused("index", tmp_path / "chunks.parquet", "-o", tmp_path / "a.idx", "-m", "semantic")
    assert "--method applies to documents" in told
    run("index", tmp_path / "chunks.parquet", "-o", tmp_path / "a.idx", "--placement", "threads=1")
    assert "is an index; name it before the queries" in refused("search", "cats", tmp_path / "a.idx")


def test_a_segmenter_of_nodes() -> None:
    seg = NodeSegmenter(["paragraph", "document"], vectors="chunk", on_error="skip")
    ids = [uuid.UUID(int=number) for number in range(3)]
    table = pa.table({"text": ["One. Two.\n\nThree.", None, "Four."], "year": [1, 2, 3]})
    out = seg(table, ids=ids, metadata_columns=["year"], first_document=5)
    assert [error.row for error in out.errors] == [6]
    assert out.table["document_index"].to_pylist() == [5] * 5 + [7]
    assert out.table["year"].to_pylist() == [1] * 5 + [3]
    assert out.table["levels"].to_pylist()[-1] == ["sentence", "paragraph", "document"]
    assert b"uuid" in out.table.schema.metadata.values()
    titled = NodeSegmenter(["document"], "pic", summary="title", on_error="skip")
    out_of = titled(["One. Two.", "Three."], columns={"titles": ["One", None]}, first_document=5)
    assert [(error.row, error.reason) for error in out_of.errors] == [(6, "titles is null")]
    again = pickle.loads(pickle.dumps(seg))
    assert again(table, ids=ids).texts == out.texts
    assert repr(seg) == "NodeSegmenter(vectors='chunk', on_error='skip', levels=['sentence', 'paragraph', 'document'])"
    assert repr(NodeSegmenter(["document"])) == "NodeSegmenter(levels=['sentence', 'document'])"


def test_vectors_of_levels_by_the_compressor(tmp_path: Path, documents: Path) -> None:
    index, levels = tmp_path / "levels.idx", "sentence,section,document"
    build = ("index", documents, "--id-column", "id", "-o", index)
    run(*build, "--levels", levels, "--pooling", "compressor")
    ids = list(TEXTS)
    found = pychunk.segment_levels(list(TEXTS.values()), levels.split(","), vectors="chunk", ids=ids)
    made = pychunk.segment_levels(
        list(TEXTS.values()), levels.split(","), vectors="chunk", ids=ids, pooling="compressor"
    )
    with pychunk.Index.open(index) as opened, pychunk.Index.create(tmp_path / "again", vectors="chunk") as again:
        assert opened.info["pooling"] == made.metadata["pooling"] != "tokens"
        again.add(made.chunks())
        for queries in (["When do cats sleep?"], ["What burns?"]):
            assert [each.tolist() for each in opened.rank(queries)] == [each.tolist() for each in again.rank(queries)]
        with pytest.raises(
            ValueError, match=r"made by pooling 'pychunk-compressor-.*those of these chunks by 'tokens'"
        ):
            opened.add(found.chunks())
        assert len(opened) == len(made)
    with pychunk.Index.open(tmp_path / "again") as again:  # the given options are saved
        assert again.info["pooling"] == made.metadata["pooling"]
        with pytest.raises(ValueError, match="segment with the same pooling="):
            again.add(found.chunks())
    says = refused(*build, "--pooling", "tokens")
    assert "not by tokens (--pooling tokens): leave out --pooling" in says
    run(*build)  # as before, without the options
    assert "2 kept" in run(*build, "--pooling", "compressor")


def test_poolings_that_are_refused(tmp_path: Path, documents: Path) -> None:
    build = ("index", documents, "--id-column", "id", "-o", tmp_path / "levels.idx")
    assert "--pooling changes nothing without --levels; add --levels" in refused(*build, "--pooling", "tokens")
    levels = ("--levels", "sentence,document")
    assert "pooling must be 'tokens', 'compressor' or the folder" in refused(*build, *levels, "--pooling", "mean")
    assert not (tmp_path / "levels.idx").exists()
    with pytest.raises(ValueError, match="pooling must be 'tokens', 'compressor' or the folder"):
        NodeSegmenter(["document"], pooling="mean")
    assert pickle.loads(pickle.dumps(NodeSegmenter(["document"], pooling="compressor"))).pooling == "compressor"


def test_a_compressor_of_another_encoder_is_refused_by_its_fingerprint() -> None:
    made = NodeSegmenter(["sentence", "document"], "sentence", vectors="chunk", pooling="compressor")
    given = {"sentence_vectors": [[[1.0, 0.0], [0.0, 1.0]]], "sentence_spans": [[[0, 5], [5, 9]]]}
    with pytest.raises(ValueError, match=r"are for vectors of pychunk-static-en-256:.*these are of"):
        made(["One. Two."], columns=given)
