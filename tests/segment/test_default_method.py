"""The method that cuts by default, and the length of its chunks."""

import inspect
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import pychunk
from pychunk.cli.main import app
from pychunk.inputs import language_warning

ENGLISH = "The red panda lives in the mountains. It eats bamboo. They also climb trees at night. " * 30
#: Text of four words, which the English vocabulary has only as letters.
UKRAINIAN = "Препарат знімає біль. Він діє швидко. " * 60


def spans(batch: pychunk.ChunkBatch) -> list[tuple[int, int, int]]:
    return list(zip(*(batch.table[name].to_pylist() for name in ("document_index", "start", "end")), strict=True))


def test_the_default_is_topic_within_64_to_200_tokens() -> None:
    named = pychunk.segment(ENGLISH, "topic", size=150, min_tokens=64, max_tokens=200)
    assert spans(pychunk.segment(ENGLISH)) == spans(named)
    assert len(named) > 1
    assert max(named.table["tokens"].to_pylist()) <= 200
    assert min(named.table["tokens"].to_pylist()) >= 64


def test_every_way_in_has_the_same_default() -> None:
    from pychunk.integrations import chunking_evaluation, ray, spark

    ways = [pychunk.segment, pychunk.Segmenter, ray.segment, spark.segment, chunking_evaluation.PychunkChunker]
    assert [inspect.signature(way).parameters["method"].default for way in ways] == [None] * len(ways)


@pytest.mark.parametrize("command", ["segment", "ingest", "index"])
def test_commands_cut_as_segment_does(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(ENGLISH, encoding="utf-8")
    output = tmp_path / ("out.parquet" if command == "segment" else "out")
    done = CliRunner().invoke(app, [command, str(tmp_path / "a.txt"), "-o", str(output)])
    assert done.exit_code == 0, done.output
    if command == "index":
        with pychunk.Index.open(output) as index:
            found = index.table
    else:
        import pyarrow.parquet as pq

        found = pq.read_table(output if command == "segment" else output / "part-000000.parquet")
    assert sorted(found["start"].to_pylist()) == [start for _, start, _ in spans(pychunk.segment(ENGLISH))]


def test_options_of_one_method_name_it() -> None:
    assert pychunk.Segmenter(summary="lead").method.name == "pic"
    assert pychunk.Segmenter(separators=["\n"]).method.name == "recursive"
    assert pychunk.Segmenter(size=300).plan.size == 300
    assert pychunk.Segmenter(window=2).method.name == "semantic"
    with pytest.raises(ValueError, match=r"'topic' has no option 'threshold'.*'semantic' and 'nsp'"):
        pychunk.Segmenter(threshold=0.5)  # an option of two methods


def test_given_limits_are_kept() -> None:
    assert pychunk.Segmenter(max_tokens=None).plan.max_tokens == 0
    assert (pychunk.Segmenter(max_tokens=80).plan.max_tokens, pychunk.Segmenter(max_tokens=80).plan.min_tokens) == (
        80,
        40,
    )
    assert max(pychunk.segment(UKRAINIAN, max_tokens=80).table["tokens"].to_pylist()) <= 80


@pytest.mark.parametrize("method", [None, "pic", "semantic", "cluster", "topic"])
def test_automatic_limits_count_characters_where_words_fall_to_letters(method: str | None) -> None:
    chunks = pychunk.segment(UKRAINIAN, method)
    most = 4 * chunks.metadata["options"]["max_tokens"]
    lengths = [len(text) for text in chunks.texts]
    assert max(lengths) <= most
    assert sum(lengths) / len(lengths) > 200  # while 200 tokens of letters would be some 230 characters
    assert pychunk.segment(UKRAINIAN.replace("і", "i"), method).texts  # letters of two scripts


def test_chinese_keeps_limits_in_tokens() -> None:
    chunks = pychunk.segment("红熊猫住在山里。它们也吃竹子。" * 80)
    assert max(chunks.table["tokens"].to_pylist()) <= 200


def test_another_encoder_cuts_by_pic(tiny_encoder: Path) -> None:
    pytest.importorskip("onnxruntime")
    named = pychunk.segment(ENGLISH, "pic", encoder=tiny_encoder)
    assert spans(pychunk.segment(ENGLISH, encoder=tiny_encoder)) == spans(named)
    with pytest.raises(ValueError, match="topic model"):
        pychunk.Segmenter(encoder=tiny_encoder, size=100)  # an option of topic
    beside = pychunk.segment(ENGLISH, vectors=pychunk.Vectors("chunk", tiny_encoder))
    assert spans(beside) == spans(pychunk.segment(ENGLISH, encoder="static"))
    assert beside.metadata["vector_encoder"].startswith("random-bert")


def test_leaflets_are_cut_as_long_as_english(data: Path) -> None:
    leaflets = sorted((data / "unlp2026").glob("**/*.txt"))[:10]
    chunks = pychunk.segment([each.read_text(encoding="utf-8") for each in leaflets])
    words = [len(text.split()) for text in chunks.texts]
    assert 35 < sum(words) / len(words) < 130
    assert max(map(len, chunks.texts)) <= 800


GUIDE = "# Cats\n\nThey purr when they are content.\n\n# Stars\n\nThey burn hydrogen for ages."
BLOCKS = [[("heading", 1, 0, 6), ("paragraph", 0, 8, 40), ("heading", 1, 42, 49), ("paragraph", 0, 51, 79)]]


def test_documents_with_blocks_are_cut_by_structure() -> None:
    plain, blocks = pychunk.Segmenter(), pychunk.segment([GUIDE], columns={"blocks": BLOCKS})
    assert blocks.metadata["method"] == "structure"
    assert blocks.texts == [GUIDE]
    assert plain([GUIDE], columns={"blocks": BLOCKS}).texts == blocks.texts
    assert plain([GUIDE]).metadata["method"] == "topic"
    assert pychunk.segment([GUIDE], "sentence", columns={"blocks": BLOCKS}).metadata["method"] == "sentence"
    assert pychunk.segment([GUIDE], summary="lead", columns={"blocks": BLOCKS}).metadata["method"] == "pic"


def test_structure_is_as_long_in_another_script() -> None:
    english, other = (pychunk.segment(text, "structure") for text in (ENGLISH, UKRAINIAN))
    for chunks in (english, other):
        lengths = [len(text) for text in chunks.texts]
        assert max(lengths) <= 800 + (chunks is english) * 400
        assert sum(lengths) / len(lengths) > 500
    assert max(english.table["tokens"].to_pylist()) <= 200
    assert max(map(len, pychunk.segment(ENGLISH, "structure", unit="characters").texts)) <= 800
    assert max(pychunk.segment(UKRAINIAN, "structure", max_tokens=200).table["tokens"].to_pylist()) <= 200
    assert max(pychunk.segment(ENGLISH, "structure", size=300).table["tokens"].to_pylist()) > 200


def test_what_readers_say_of_documents_is_taken_by_its_type() -> None:
    from pychunk._engine.data.blocks import Blocks
    from pychunk.parsing.block_columns import blocks_to_arrow

    table = pa.table({"text": [GUIDE], "blocks": blocks_to_arrow(Blocks.of(BLOCKS))})
    assert pychunk.segment(table).texts == [GUIDE]
    chance = pa.table({"text": [GUIDE], "blocks": [3]})  # a column of that name that says something else
    assert pychunk.segment(chance, columns={"text": "text"}).metadata["method"] == "topic"


@pytest.mark.parametrize("method", ["semantic", "pic"])
def test_the_document_of_another_script_is_named(
    method: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["Cats purr.", "Café crème.", UKRAINIAN, UKRAINIAN]
    table = pa.table({"id": list("abcd"), "text": texts, "file": ["x.csv"] * 4})
    monkeypatch.setattr(language_warning, "_warned", set())
    for batch, said in ((table, "in document 2 ('c' of x.csv): the"), (texts, "in document 2: the"), (table[:2], "")):
        language_warning._warned.clear()
        caplog.clear()
        with caplog.at_level(logging.WARNING, "pychunk"):
            options: dict[str, Any] = {"columns": {"text": "text"}, "ids": "id"} if isinstance(batch, pa.Table) else {}
            pychunk.Segmenter(method)(batch, **options)
        told = [record.getMessage() for record in caplog.records if "single letters or unknown" in record.getMessage()]
        assert len(told) == bool(said)
        assert all(said in each for each in told)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"method": "pic"}, ["is cut by", "a method that takes any encoder"]),
        (
            {"method": "pic", "vectors": "chunk"},
            ["is cut by", "has vectors that carry little meaning", "leave such text to BM25"],
        ),
        (
            {"method": "page", "vectors": "sentence"},
            ["text in other scripts has vectors", "a model of this language as encoder=, or"],
        ),
        ({"method": "page"}, []),
    ],
)
def test_what_another_script_means_depends_on_what_vectors_are_for(
    options: dict[str, Any], told: list[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_warning, "_warned", set())
    with caplog.at_level(logging.WARNING, "pychunk"):
        pychunk.segment([UKRAINIAN], **options)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == bool(told)
    assert all(part in messages[0] for part in told)
    assert not messages or ("is cut by" in messages[0]) == (options["method"] == "pic")


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({"method": "fixed", "size": 50}, True),
        ({"method": "sentence", "max_tokens": 30}, True),
        ({"method": "fixed", "size": 50, "unit": "characters", "max_tokens": 30}, True),
        ({"method": "cluster", "max_tokens": 30}, True),
        ({"method": "fixed", "size": 50, "unit": "characters"}, False),
        ({"method": "cluster", "max_tokens": 30, "unit": "characters"}, False),
        ({"method": "topic"}, False),
    ],
)
def test_a_budget_in_tokens_that_are_letters_is_told_of_with_the_unit_to_use(
    options: dict[str, Any], warned: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_warning, "_warned", set())
    with caplog.at_level(logging.WARNING, "pychunk"):
        for _ in range(2):
            pychunk.segment([UKRAINIAN], **options)
    told = [record.getMessage() for record in caplog.records if 'unit="characters"' in record.getMessage()]
    assert len(told) == warned


def test_a_size_is_never_cut_short_without_a_word() -> None:
    text = " ".join(f"Sentence {at} says a little of the pump and its valve." for at in range(400))
    assert 200 < max(pychunk.segment(text, size=512).table["tokens"].to_pylist()) <= 512
    assert max(pychunk.segment(text, max_tokens=100).table["tokens"].to_pylist()) <= 100
    assert max(pychunk.segment(text, size=512, max_tokens=100).table["tokens"].to_pylist()) <= 100


def test_sentence_vectors_of_the_caller_are_cut_by_pic() -> None:
    texts = ["Cats purr. Dogs bark. Stars shine. Suns burn. " * 40]
    vectors = [np.repeat(np.eye(4), 40, axis=0)]
    for options in ({}, {"max_tokens": 100}):
        found = pychunk.segment(texts, columns={"sentence_vectors": vectors}, **options)
        assert found.metadata["method"] == "pic"
        assert spans(found) == spans(pychunk.segment(texts, "pic", columns={"sentence_vectors": vectors}, **options))
    for named in ({"method": "topic"}, {"size": 100}):
        with pytest.raises(ValueError, match=r"method 'topic' reads vectors of .* such as method='pic'"):
            pychunk.segment(texts, columns={"sentence_vectors": vectors}, **named)
