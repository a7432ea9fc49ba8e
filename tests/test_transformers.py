"""Logits and vectors equal transformers' and sentence-transformers'; skipped where those are not installed."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import pychunk

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from pychunk.encoders import registry, static
from pychunk.encoders.files import convert, export
from pychunk.encoders.pairs import PairScorer
from pychunk.encoders.transformer import TransformerEncoder

WORDS = ["the", "river", "rises", "in", "mountains", "and", "crosses", "three", "old", "countries", "before", "it"]


def pairs_of_words(count: int) -> list[tuple[str, str]]:
    """Pairs from two to some 700 tokens, most of them short."""
    random = np.random.default_rng(5)
    sizes = np.concatenate([random.integers(1, 40, (count - 3, 2)), [[400, 300], [600, 5], [3, 590]]])
    return [tuple(" ".join(random.choice(WORDS, n)) + "." for n in size) for size in sizes]


def our_logits(scorer: PairScorer, pairs: list[tuple[str, str]]) -> np.ndarray:
    data = [text.encode() for pair in pairs for text in pair]
    bounds = np.cumsum([0, *map(len, data)]).astype(np.int64)
    first = np.arange(0, len(data), 2)
    return scorer.logits(np.frombuffer(b"".join(data), np.uint8), bounds, first, first + 1)


def their_logits(model: object, pairs: list[tuple[str, str]], max_length: int) -> np.ndarray:
    tokenizer = transformers.BertTokenizerFast(str(static.SHIPPED / "vocab.txt"))
    found = []
    with torch.inference_mode():
        for a, b in pairs:
            row = tokenizer(a, b, truncation="longest_first", max_length=max_length, return_tensors="pt")
            found.append(model(**row).logits[0].numpy())
    return np.array(found)


def test_logits_of_a_random_bert_base(tmp_path: Path) -> None:
    torch.manual_seed(3)
    model = transformers.BertForNextSentencePrediction(transformers.BertConfig()).eval()
    model.save_pretrained(tmp_path / "hf")
    shutil.copyfile(static.SHIPPED / "vocab.txt", tmp_path / "hf" / "vocab.txt")
    facts = export.export(tmp_path / "hf", tmp_path / "out")
    assert (facts.task, facts.dim, facts.max_length) == ("pairs", 768, 512)
    pairs = pairs_of_words(24)
    ours = our_logits(PairScorer(tmp_path / "out"), pairs)
    np.testing.assert_allclose(ours, their_logits(model, pairs, 512), atol=1e-4)


def test_logits_of_the_shipped_model() -> None:
    scorer = PairScorer(registry.SHIPPED_PAIRS)
    model = restored(registry.SHIPPED_PAIRS / "model.onnx")
    pairs = pairs_of_words(60)
    expected = their_logits(model, pairs, scorer.facts.max_length)
    np.testing.assert_allclose(our_logits(scorer, pairs), expected, atol=1e-4)


def restored(path: Path) -> object:
    """The graph's 8-bit weights as a model of transformers."""
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}
    weights = {}
    for name, values in stored.items():
        if name.endswith(".int8"):
            plain = name.removesuffix(".int8")
            scale = stored[f"{plain}.scale"]
            table = plain.startswith("embeddings.")
            weights[plain] = values.astype(np.float32) * (scale[:, None] if table else scale[None, :])
        elif values.dtype == np.float32 and not name.endswith(".scale"):
            weights[name] = values
    state = {}
    for name, values in weights.items():
        if ".qkv." in name:
            for part, own in zip(("query", "key", "value"), np.split(values, 3, axis=-1)):
                state[name.replace("qkv", f"attention.self.{part}")] = own.T if own.ndim == 2 else own
        else:
            state[name] = values if values.ndim == 1 or name.startswith("embeddings.") else values.T
    named = {
        f"bert.{name}".replace("bert.pooler.", "bert.pooler.dense.").replace(
            "bert.classifier", "cls.seq_relationship"
        ): v
        for name, v in state.items()
    }
    layers = len({name.split(".")[3] for name in named if ".layer." in name})
    config = transformers.BertConfig(
        hidden_size=384, num_hidden_layers=layers, num_attention_heads=12, intermediate_size=1536
    )
    model = transformers.BertForNextSentencePrediction(config).eval()
    missing, surplus = model.load_state_dict(
        {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in named.items()}, strict=False
    )
    assert set(missing) <= {"bert.embeddings.position_ids"}
    assert not surplus
    return model


def test_vectors_equal_sentence_transformers(minilm: Path, minilm_source: Path, articles: list[str]) -> None:
    st = pytest.importorskip("sentence_transformers")
    texts = articles[:40]
    spans = pychunk.sentences(texts)
    sentences = [text[a:b].strip() for text, own in zip(texts, spans) for a, b in own][:2000]
    assert len(sentences) == 2000
    model = st.SentenceTransformer(str(minilm_source), device="cpu")
    model.max_seq_length = 256
    expected = model.encode(sentences, normalize_embeddings=True, show_progress_bar=False)
    encoder = TransformerEncoder(minilm)
    found = encoder.encode(sentences)
    assert (found * expected).sum(axis=1).min() >= 0.9999
    some = np.random.default_rng(0).choice(2000, 50, replace=False)
    np.testing.assert_allclose(np.concatenate([encoder.encode([sentences[i]]) for i in some]), found[some], atol=1e-6)


@pytest.mark.parametrize("kind", ["DistilBert", "Roberta"])
@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
def test_other_architectures_are_traced(kind: str, precision: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    sizes = {
        "DistilBert": {"dim": 64, "hidden_dim": 128, "n_heads": 4, "n_layers": 2},
        "Roberta": {
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "vocab_size": 30522,
            "type_vocab_size": 1,
            "max_position_embeddings": 514,
            "pad_token_id": 1,
        },
    }
    config = getattr(transformers, f"{kind}Config")(**sizes[kind])
    model = getattr(transformers, f"{kind}Model")(config).eval()
    model.save_pretrained(tmp_path / "hf")
    shutil.copyfile(static.SHIPPED / "vocab.txt", tmp_path / "hf" / "vocab.txt")
    export.export(tmp_path / "hf", tmp_path / "out", precision=precision)
    encoder = TransformerEncoder(tmp_path / "out")
    sentences = [a for a, _ in pairs_of_words(12)[:9]]
    found = encoder.encode(sentences)
    tokenizer = transformers.BertTokenizerFast(str(static.SHIPPED / "vocab.txt"))
    with torch.inference_mode():
        for sentence, vector in zip(sentences, found):
            row = tokenizer(sentence, return_tensors="pt")
            row.pop("token_type_ids")
            mean = model(**row).last_hidden_state[0].mean(dim=0).numpy()
            assert float(vector @ mean / np.linalg.norm(mean)) >= (0.995 if precision == "int8" else 0.9999)


def test_cls_pooling_and_relevance_heads(tmp_path: Path) -> None:
    torch.manual_seed(2)
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
    model = transformers.BertModel(transformers.BertConfig(**sizes)).eval()
    folder = tmp_path / "cls"
    model.save_pretrained(folder)
    shutil.copyfile(static.SHIPPED / "vocab.txt", folder / "vocab.txt")
    (folder / "modules.json").write_text(
        '[{"type": "sentence_transformers.models.Transformer", "path": ""},'
        '{"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]'
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    facts = convert.convert(folder, tmp_path / "out", "cls")
    assert (facts.pooling, facts.normalize) == ("cls", False)
    tokenizer = transformers.BertTokenizerFast(str(static.SHIPPED / "vocab.txt"))
    with torch.inference_mode():
        expected = model(**tokenizer("The river rises.", return_tensors="pt")).last_hidden_state[0, 0].numpy()
    np.testing.assert_allclose(
        TransformerEncoder(tmp_path / "out").encode(["The river rises."])[0], expected, atol=1e-5
    )
    cross = transformers.BertForSequenceClassification(transformers.BertConfig(**sizes, num_labels=1)).eval()
    cross.save_pretrained(tmp_path / "cross")
    shutil.copyfile(static.SHIPPED / "vocab.txt", tmp_path / "cross" / "vocab.txt")
    assert convert.convert(tmp_path / "cross", tmp_path / "ranked", "cross").task == "relevance"
