"""Transformers as encoders: the same result in any batch, and errors that name the remedy."""

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pychunk
from pychunk._engine.arrow import flat_text
from pychunk._util.checksums import sha256
from pychunk.encoders import registry
from pychunk.encoders.files import model_dir

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from pychunk.encoders.transformer import TransformerEncoder

TEXTS = [
    "Cats purr when they are content. Dogs bark at night, as Dr. Who knows. The sun is a star. Stars burn hydrogen.",
    "One sentence.",
    "",
    "A long one follows. " + "word " * 700 + ". It ends. 東京 is a city! Naïve? Yes.",
    "First paragraph. Second sentence.\n\nThird one. A fourth: 3.14 and so on. Fifth.",
]


def sentences(texts: list[str]) -> list[str]:
    return [text[a:b] for text, spans in zip(texts, pychunk.split_sentences(texts)) for a, b in spans]


@pytest.fixture
def copy(tiny_encoder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_encoder, tmp_path / "copy"))


def change(path: Path, edit: object) -> None:
    """Rewrite the graph of a model directory, including its checksum."""
    graph = onnx.load(path / "model.onnx")
    edit(graph)
    (path / "model.onnx").write_bytes(graph.SerializeToString())
    facts = json.loads((path / "pychunk.json").read_text())
    facts["model_sha256"] = sha256(path / "model.onnx")
    (path / "pychunk.json").write_text(json.dumps(facts))


def test_vectors_do_not_depend_on_the_batch(tiny_encoder: Path) -> None:
    encoder = TransformerEncoder(tiny_encoder)
    texts = sentences(TEXTS)
    whole = encoder.encode(texts)
    assert whole.shape == (len(texts), 64)
    np.testing.assert_allclose(np.linalg.norm(whole, axis=1), 1, atol=1e-6)
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_allclose(whole, alone, atol=1e-6)
    for threads in (1, 2, 5):
        for tokens in (1, 40, 5000):
            flat = flat_text(pa.array(texts, pa.large_string()))
            found = encoder.encode_spans(*flat, threads=threads, batch_tokens=tokens)
            np.testing.assert_allclose(found, whole, atol=1e-6)


def test_chunks_do_not_depend_on_batch_threads_or_order(tiny_encoder: Path, tiny_pairs: Path) -> None:
    for options in (
        {"method": "pic", "encoder": tiny_encoder},
        {"method": "semantic", "encoder": tiny_encoder, "vectors": "chunk"},
        {"method": "nsp", "encoder": tiny_pairs, "threshold": ("percentile", 50)},
    ):
        expected = [chunk.text for chunk in pychunk.Segmenter(**options, placement=pychunk.Placement(threads=1))(TEXTS)]
        assert "".join("".join(expected).split()) == "".join("".join(TEXTS).split())
        assert [
            chunk.text for chunk in pychunk.Segmenter(**options, placement=pychunk.Placement(threads=2))(TEXTS)
        ] == expected
        one = pychunk.Segmenter(**options)
        assert [chunk.text for text in TEXTS for chunk in one(text)] == expected
        assert [chunk.text for part in (TEXTS[:1], TEXTS[1:]) for chunk in one(part)] == expected
        back = [[chunk.text for chunk in rows] for rows in one(TEXTS[::-1]).by_document()]
        assert [text for rows in back[::-1] for text in rows] == expected


@pytest.mark.parametrize(
    "options", [{"method": "pic"}, {"method": "cluster"}, {"method": "fixed", "size": 12}, {"method": "semantic"}]
)
def test_an_encoder_equals_its_vectors_given(tiny_encoder: Path, options: dict[str, object]) -> None:
    own = pychunk.segment(TEXTS, encoder=tiny_encoder, vectors="sentence", **options)
    given = pychunk.segment(
        TEXTS,
        columns={"sentence_vectors": TransformerEncoder(tiny_encoder).encode(sentences(TEXTS))},
        vectors="sentence",
        **options,
    )
    for name in ("document_index", "start", "end", "tokens", "relevance"):
        assert own.table[name].equals(given.table[name])


def test_pages_and_given_sentences_reach_the_encoder(tiny_encoder: Path) -> None:
    text = TEXTS[0]
    out = pychunk.segment(text, encoder=tiny_encoder, columns={"page_starts": [10, 50]}, vectors="sentence")
    spans = [(s["start"], s["end"]) for chunk in out for s in chunk.sentences]
    assert {10, 50} <= {start - (text[start - 1] == " ") for start, _ in spans} | {start for start, _ in spans}
    expected = TransformerEncoder(tiny_encoder).encode([text[a:b] for a, b in spans])
    found = np.array([s["vector"] for chunk in out for s in chunk.sentences])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    out = pychunk.segment(
        text, encoder=tiny_encoder, columns={"sentence_spans": [(0, 40), (40, len(text))]}, max_tokens=None
    )
    assert len(out) <= 2


def test_summaries_as_text_go_through_the_encoder(tiny_encoder: Path) -> None:
    encoder = TransformerEncoder(tiny_encoder)
    given = ["animals"] * len(TEXTS)
    by_text = pychunk.segment(TEXTS, encoder=tiny_encoder, summary="given", columns={"summaries": given})
    by_vector = pychunk.segment(
        TEXTS, encoder=tiny_encoder, summary="given", columns={"summaries": encoder.encode(given)}
    )
    assert by_text.table.equals(by_vector.table)


def test_one_encoder_cuts_and_another_fills_the_table(tiny_encoder: Path) -> None:
    plain = pychunk.segment(TEXTS)
    out = pychunk.segment(TEXTS, vectors=pychunk.Vectors("sentence", tiny_encoder))
    assert out.table["start"].equals(plain.table["start"])
    assert out.metadata["encoder"].startswith("pychunk-static")
    assert out.metadata["vector_encoder"].startswith("random-bert")
    assert out.metadata["runtime"].startswith("onnxruntime")
    assert out.metadata["precision"] == "fp32"
    assert len(next(iter(out)).sentences[0]["vector"]) == 64
    out = pychunk.segment(TEXTS, encoder=tiny_encoder, vectors=pychunk.Vectors("chunk", "static"))
    assert len(next(iter(out)).vector) == 256


def test_given_vectors_cut_and_another_encoder_fills_the_table_in_every_piece(tiny_encoder: Path) -> None:
    """The given vectors are numbered over all Arrow pieces, the encoder's over one: each has its own offsets."""
    texts = ["Alpha one. Beta two. Gamma three. Delta four. Epsilon five."] * 3
    spans = pychunk.split_sentences(texts)
    given = np.random.default_rng(4).normal(size=(sum(map(len, spans)), 8)).astype(np.float32)
    cuts = pychunk.segment(texts, "semantic", columns={"sentence_vectors": given}).table["text"].to_pylist()
    for name, column in (("chunk", "vector"), ("sentence", "sentences")):
        options = {"columns": {"sentence_vectors": given}, "vectors": pychunk.Vectors(name, tiny_encoder)}
        whole = pychunk.segment(texts, "semantic", **options)
        assert whole.table["text"].to_pylist() == cuts
        for pieces in ([texts[:1], texts[1:]], [texts[:2], texts[2:]], [[text] for text in texts]):
            found = pychunk.segment(pa.chunked_array(pieces), "semantic", **options)
            assert found.table.drop_columns([column]).equals(whole.table.drop_columns([column]))
            for mine, other in zip(found, whole, strict=True):
                if name == "chunk":
                    np.testing.assert_allclose(mine.vector, other.vector, atol=1e-6)
                else:
                    for a, b in zip(mine.sentences, other.sentences, strict=True):
                        np.testing.assert_allclose(a["vector"], b["vector"], atol=1e-6)


def test_empty_batches(tiny_encoder: Path) -> None:
    for batch in ([], [""], ["", "  "]):
        out = pychunk.segment(batch, encoder=tiny_encoder, vectors="chunk")
        assert len(out) == 0
    assert TransformerEncoder(tiny_encoder).encode([]).shape == (0, 64)


def test_progress_rises_to_the_end(tiny_encoder: Path) -> None:
    seen: list[tuple[int, int]] = []
    pychunk.segment(TEXTS * 30, encoder=tiny_encoder, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]
    assert len(seen) > 2


def test_an_interrupt_ends_all_threads(tiny_encoder: Path) -> None:
    encoder = TransformerEncoder(tiny_encoder)
    calls = []

    def interrupt(done: int, total: int) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoder.encode(sentences(TEXTS) * 40, threads=2, report=interrupt)
    assert len(calls) <= 2


def test_inputs_of_other_names_and_types(copy: Path) -> None:
    expected = TransformerEncoder(copy).encode(TEXTS[:2])

    def edit(graph: object) -> None:
        """Rename int64 ids to `tokens`, and replace the token types with zeros inside the graph."""
        from onnx import TensorProto, helper, numpy_helper

        inputs = {value.name: value for value in graph.graph.input}
        graph.graph.input.remove(inputs["token_type_ids"])
        inputs["input_ids"].name = "tokens"
        inputs["input_ids"].type.tensor_type.elem_type = TensorProto.INT64
        zero = numpy_helper.from_array(np.zeros(1, np.int32), "zero")
        graph.graph.initializer.append(zero)
        graph.graph.node.insert(0, helper.make_node("Cast", ["tokens"], ["input_ids"], to=TensorProto.INT32))
        graph.graph.node.insert(1, helper.make_node("Mul", ["input_ids", "zero"], ["token_type_ids"]))

    change(copy, edit)
    np.testing.assert_allclose(TransformerEncoder(copy).encode(TEXTS[:2]), expected, atol=1e-6)


def test_a_model_that_cannot_be_an_encoder_is_refused_with_the_reason(copy: Path) -> None:
    def floats(graph: object) -> None:
        graph.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT

    def two(graph: object) -> None:
        graph.graph.input[1].name = "more_ids"
        for node in graph.graph.node:
            node.input[:] = ["more_ids" if name == "attention_mask" else name for name in node.input]

    def whole_numbers(graph: object) -> None:
        graph.graph.node.append(onnx.helper.make_node("Cast", ["last_hidden_state"], ["n"], to=onnx.TensorProto.INT64))
        graph.graph.output[0].name = "n"
        graph.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64

    for edit, reason in (
        (floats, "cannot be loaded"),
        (two, "one input must be token ids"),
        (whole_numbers, "no output is floating-point with 2 or 3 dimensions"),
    ):
        kept = (copy / "model.onnx").read_bytes()
        change(copy, edit)
        with pytest.raises(ValueError, match=reason):
            TransformerEncoder(copy)
        (copy / "model.onnx").write_bytes(kept)


def test_damage_is_named(copy: Path, tmp_path: Path) -> None:
    data = (copy / "model.onnx").read_bytes()
    (copy / "model.onnx").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"model.onnx is damaged.*get or export the model again"):
        TransformerEncoder(copy)
    facts = json.loads((copy / "pychunk.json").read_text())
    facts["model_sha256"] = sha256(copy / "model.onnx")  # truncated before its checksum was computed
    (copy / "pychunk.json").write_text(json.dumps(facts))
    with pytest.raises(ValueError, match="cannot be loaded by ONNX Runtime"):
        TransformerEncoder(copy)
    (copy / "model.onnx").unlink()
    with pytest.raises(ValueError, match=r"model.onnx is missing; get or export"):
        TransformerEncoder(copy)
    (copy / "pychunk.json").write_text('{"format": 1')
    with pytest.raises(ValueError, match=r"pychunk.json is damaged.*export the model again"):
        TransformerEncoder(copy)
    (copy / "pychunk.json").write_text('{"format": 99}')
    with pytest.raises(ValueError, match="has format 99, but this pychunk reads 1; upgrade"):
        TransformerEncoder(copy)
    with pytest.raises(ValueError, match=r"no model in .*pychunk export"):
        TransformerEncoder(tmp_path)


def test_a_wrong_tokenizer_is_named(copy: Path) -> None:
    (copy / "vocab.txt").write_text("cat\ndog\n")
    with pytest.raises(ValueError, match=r"vocab.txt is damaged"):
        TransformerEncoder(copy)
    facts = json.loads((copy / "pychunk.json").read_text())
    facts["tokenizer_sha256"] = sha256(copy / "vocab.txt")
    (copy / "pychunk.json").write_text(json.dumps(facts))
    with pytest.raises(ValueError, match=r"lacks its unknown token"):
        TransformerEncoder(copy)


def test_a_model_for_something_else_is_named(tiny_encoder: Path, tiny_pairs: Path) -> None:
    with pytest.raises(ValueError, match="holds a model for 'pairs', not for 'vectors'"):
        pychunk.Segmenter("pic", encoder=tiny_pairs)
    with pytest.raises(ValueError, match="holds a model for 'vectors', not for 'pairs'"):
        pychunk.Segmenter("nsp", encoder=tiny_encoder)


def test_absent_models_and_extras_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny_encoder: Path
) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match="get it with: pychunk model get minilm"):
        pychunk.Segmenter(encoder="minilm")
    with pytest.raises(
        ValueError,
        match="unknown encoder 'nope'; choose one of static, multilingual, bge-small, e5-small, minilm, or a directory",
    ):
        pychunk.Segmenter(encoder="nope")
    with pytest.raises(ValueError, match="runtime must be one of auto, onnxruntime, openvino, torch; got 'x'"):
        TransformerEncoder(tiny_encoder, runtime="x")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r'pip install "pychunk-native\[onnx\]"'):
        TransformerEncoder(tiny_encoder)
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(ImportError, match=r'pip install "pychunk-native\[openvino\]"'):
        TransformerEncoder(tiny_encoder, runtime="openvino")


def test_a_name_stands_for_a_model_in_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny_encoder: Path
) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
    shutil.copytree(tiny_encoder, tmp_path / "models" / "tiny")
    assert registry.cached_names() == ["tiny"]
    assert pychunk.segment(TEXTS[0], encoder="tiny").metadata["encoder"].startswith("random-bert")


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
def test_minilm_as_built_here_equals_its_stored_vectors(precision: str, minilm_source: Path, tmp_path: Path) -> None:
    from pychunk.encoders.files import catalogue, convert

    convert.convert(minilm_source, tmp_path / "m", "minilm", precision=precision)
    least = catalogue._least_cosine(tmp_path / "m", catalogue.about("minilm"))
    assert least >= (0.995 if precision == "int8" else 0.9999)


@pytest.mark.slow
def test_a_build_that_fails_leaves_the_cache_as_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, minilm_source: Path, minilm: Path
) -> None:
    from pychunk.encoders.files import catalogue

    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
    monkeypatch.setattr(catalogue, "LEAST_COSINE", 1.5)
    with pytest.raises(ValueError, match=r"the model built from .* is wrong"):
        catalogue.get("minilm", minilm_source)
    assert list((tmp_path / "models").iterdir()) == []
    damaged = Path(shutil.copytree(minilm_source, tmp_path / "damaged"))
    (damaged / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer.json is damaged, or not the file of sentence-transformers"):
        catalogue.get("minilm", damaged)
    (damaged / "tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"tokenizer.json is missing"):
        catalogue.get("minilm", damaged)


def test_a_directory_with_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with (
        pytest.raises(ValueError, match="is not empty and holds no exported model"),
        model_dir.whole_or_nothing(tmp_path),
    ):
        pass
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_threads_that_meet_openvino_first_do_not_wait_for_each_other(tiny_encoder: Path) -> None:
    """The test needs its own process, since only the first look at a tensor can hang, as one in twelve did."""
    pytest.importorskip("openvino")
    code = f"""
        import sys, threading
        from pychunk.encoders.transformer import TransformerEncoder
        sys.setswitchinterval(1e-6)
        encoder = TransformerEncoder({str(tiny_encoder)!r}, runtime="openvino")
        meet = threading.Barrier(8)
        def encode():
            meet.wait()
            encoder.encode(["Cats purr.", "Dogs bark."], threads=1)
        threads = [threading.Thread(target=encode) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    """
    for _ in range(3):
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], timeout=60, check=True)


def test_openvino_is_near_and_as_independent_of_the_batch(tiny_encoder: Path) -> None:
    pytest.importorskip("openvino")
    texts = sentences(TEXTS)
    exact = TransformerEncoder(tiny_encoder).encode(texts)
    encoder = TransformerEncoder(tiny_encoder, runtime="openvino")
    whole = encoder.encode(texts)
    assert (exact * whole).sum(axis=1).min() > 0.999
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_allclose(whole, alone, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(texts[::-1], threads=2)[::-1], whole, atol=1e-6)
    out = pychunk.segment(TEXTS, encoder=tiny_encoder, placement=pychunk.Placement(runtime="openvino"))
    assert out.metadata["runtime"].startswith("openvino")
    assert out.metadata["encoder"].endswith(":openvino")
