"""Logits and vectors equal transformers' and sentence-transformers'; skipped if those are not installed."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import invoke

import pychunk

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from pychunk.encoders import static_encoder
from pychunk.encoders.cross_encoder import PairScorer
from pychunk.encoders.files import convert, export, model_packages
from pychunk.encoders.transformer import TransformerEncoder

WORDS = ["the", "river", "rises", "in", "mountains", "and", "crosses", "three", "old", "countries", "before", "it"]


def pairs_of_words(count: int) -> list[tuple[str, str]]:
    """Return pairs from two to some 700 tokens, most of them short."""
    random = np.random.default_rng(5)
    sizes = np.concatenate([random.integers(1, 40, (count - 3, 2)), [[400, 300], [600, 5], [3, 590]]])
    return [tuple(" ".join(random.choice(WORDS, n)) + "." for n in size) for size in sizes]


def our_logits(scorer: PairScorer, pairs: list[tuple[str, str]]) -> np.ndarray:
    data = [text.encode() for pair in pairs for text in pair]
    bounds = np.cumsum([0, *map(len, data)]).astype(np.int64)
    first = np.arange(0, len(data), 2)
    return scorer.logits(np.frombuffer(b"".join(data), np.uint8), bounds, first, first + 1)


def their_logits(model: object, pairs: list[tuple[str, str]], max_length: int) -> np.ndarray:
    tokenizer = transformers.BertTokenizerFast(str(static_encoder.SHIPPED / "vocab.txt"))
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
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", tmp_path / "hf" / "vocab.txt")
    facts = export.export(tmp_path / "hf", tmp_path / "out")
    assert (facts.task, facts.dim, facts.max_length) == ("pairs", 768, 512)
    pairs = pairs_of_words(24)
    ours = our_logits(PairScorer(tmp_path / "out"), pairs)
    np.testing.assert_allclose(ours, their_logits(model, pairs, 512), atol=1e-4)


SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}


def saved(model: object, folder: Path, architecture: str | None = None, **options: str) -> Path:
    """Save the model's directory with a tokenizer, and with another name of the architecture if one is given."""
    model.save_pretrained(folder, **options)
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", folder / "vocab.txt")
    if architecture:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "architectures": [architecture]}))
    return folder


def test_the_task_chooses_the_head_whatever_the_architecture_is_called(tmp_path: Path) -> None:
    torch.manual_seed(4)
    model = transformers.BertForPreTraining(transformers.BertConfig(**SIZES, initializer_range=0.1)).eval()
    folder = saved(model, tmp_path / "hf", "BertForMaskedLM")
    out = invoke(["export", str(folder), "-o", str(tmp_path / "nsp"), "--task", "pairs"])
    assert out.exit_code == 0, out.output
    assert "a model for pairs (fp32)" in out.output
    pairs = pairs_of_words(24)
    next_sentence = transformers.BertForNextSentencePrediction(model.config).eval()
    own = {name: values for name, values in model.state_dict().items() if "predictions" not in name}
    next_sentence.load_state_dict(own)
    ours, theirs = our_logits(PairScorer(tmp_path / "nsp"), pairs), their_logits(next_sentence, pairs, 512)
    assert np.ptp(theirs, axis=0).min() > 0.01
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    # Without a threshold, nsp takes the one stored with the model.
    text = "Cats purr when they are content. Dogs bark at night. The sun is a star."
    even = pychunk.segment(text, "nsp", encoder=tmp_path / "nsp", threshold=0.5)
    (tmp_path / "text.txt").write_text(text)
    out = invoke(["segment", str(tmp_path / "text.txt"), "--method", "nsp", "--encoder", str(tmp_path / "nsp")])
    assert out.exit_code == 0, out.output
    assert PairScorer(tmp_path / "nsp").threshold == 0.5
    assert pychunk.segment(text, "nsp", encoder=tmp_path / "nsp").table.equals(even.table)


@pytest.mark.parametrize("architecture", ["BertForMaskedLM", "BertForPreTraining"])
def test_without_a_task_a_model_for_two_gives_vectors_and_says_so(architecture: str, tmp_path: Path) -> None:
    model = transformers.BertForPreTraining(transformers.BertConfig(**SIZES))
    folder = saved(model, tmp_path / "hf", architecture)
    out = invoke(["export", str(folder), "-o", str(tmp_path / "out")])
    assert out.exit_code == 0, out.output
    assert "could serve vectors and pairs: exporting for vectors; the head is taken with --task pairs" in out.output
    assert "a model for vectors (fp32)" in out.output
    with pytest.raises(
        ValueError, match=r"its weights hold a head for 'pairs'; export it with `pychunk export MODEL .* pairs`"
    ):
        pychunk.segment("Cats purr. Dogs bark.", "nsp", encoder=tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "pychunk.json").read_text())
    # An earlier version wrote them like this, for a model on the hub.
    earlier = {**facts, "notes": {}, "source": "google/bert@v2"}
    (tmp_path / "out" / "pychunk.json").write_text(json.dumps(earlier))
    with pytest.raises(
        ValueError,
        match=r"may hold a head for 'pairs'; if they do, .*google/bert -o DIR --task pairs --revision v2`",
    ):
        pychunk.segment("Cats purr. Dogs bark.", "nsp", encoder=tmp_path / "out")


def test_a_head_in_several_files_of_weights_is_found_and_traced(tmp_path: Path) -> None:
    torch.manual_seed(7)
    model = transformers.BertForNextSentencePrediction(transformers.BertConfig(**SIZES, initializer_range=0.1)).eval()
    folder = saved(model, tmp_path / "hf", "BertForMaskedLM", max_shard_size="4MB")
    assert (folder / "model.safetensors.index.json").is_file()
    assert export.export(folder, tmp_path / "out", task="pairs").task == "pairs"
    pairs = pairs_of_words(24)
    np.testing.assert_allclose(
        our_logits(PairScorer(tmp_path / "out"), pairs), their_logits(model, pairs, 512), atol=1e-4
    )
    (folder / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(ValueError, match=r"model.safetensors.index.json is damaged: KeyError\('weight_map'\)"):
        export.export(folder, tmp_path / "damaged")


def test_weights_that_are_pickled_or_damaged_are_refused(tmp_path: Path) -> None:
    folder = saved(transformers.BertModel(transformers.BertConfig(**SIZES)), tmp_path / "hf")
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"model.safetensors is damaged"):
        export.export(folder, tmp_path / "out")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(
        ValueError, match=r"holds no model.safetensors, and pychunk does not load pickled weights; save"
    ):
        export.export(folder, tmp_path / "out")


def test_a_task_overrides_what_the_model_was_trained_for(tmp_path: Path) -> None:
    torch.manual_seed(6)
    folder = saved(transformers.BertForSequenceClassification(transformers.BertConfig(**SIZES)), tmp_path / "hf")
    assert export.export(folder, tmp_path / "relevance").task == "relevance"
    assert export.export(folder, tmp_path / "vectors", task="vectors").task == "vectors"
    assert TransformerEncoder(tmp_path / "vectors").encode(["The river rises."]).shape == (1, 64)


@pytest.mark.parametrize(
    ("kind", "task", "missing"),
    [
        ("BertModel", "pairs", "cls.seq_relationship.weight"),
        ("BertModel", "relevance", "classifier.weight"),
        ("BertForTokenClassification", "relevance", "pooler.dense.weight"),
        ("DistilBertModel", "pairs", "cls.seq_relationship.weight"),
        ("DistilBertModel", "relevance", "classifier.weight"),
        ("MobileBertModel", "pairs", "cls.seq_relationship.weight"),
    ],
)
def test_a_head_that_is_not_in_the_weights_is_named(kind: str, task: str, missing: str, tmp_path: Path) -> None:
    own = {**SIZES, "dim": 64, "hidden_dim": 128, "n_heads": 4, "n_layers": 2} if "Distil" in kind else SIZES
    config = getattr(transformers, kind).config_class(**own)
    folder = saved(getattr(transformers, kind)(config), tmp_path / "hf")
    out = invoke(["export", str(folder), "-o", str(tmp_path / "out"), "--task", task])
    assert out.exit_code == 2
    assert missing in " ".join(out.output.split())
    assert not (tmp_path / "out").exists()


def test_a_head_that_the_weights_lack_is_not_offered(tmp_path: Path) -> None:
    folder = saved(transformers.BertModel(transformers.BertConfig(**SIZES)), tmp_path / "hf")
    out = invoke(["export", str(folder), "-o", str(tmp_path / "out")])
    assert out.exit_code == 0, out.output
    with pytest.raises(ValueError, match="not for 'pairs'") as caught:
        pychunk.segment("Cats purr. Dogs bark.", "nsp", encoder=tmp_path / "out")
    assert "--task" not in out.output + str(caught.value)


def test_logits_of_the_shipped_model() -> None:
    scorer = PairScorer(model_packages.folder(model_packages.NSP))
    model = restored(model_packages.folder(model_packages.NSP) / "model.onnx")
    pairs = pairs_of_words(60)
    expected = their_logits(model, pairs, scorer.facts.max_length)
    np.testing.assert_allclose(our_logits(scorer, pairs), expected, atol=1e-4)


def restored(path: Path) -> object:
    """Return the graph's 8-bit weights as a model of transformers."""
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
    spans = pychunk.split_sentences(texts)
    sentences = [text[a:b].strip() for text, own in zip(texts, spans) for a, b in own]
    sentences = [each for each in sentences if len(each) < 1000][:2000]  # it reads only the first 256 tokens
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
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", tmp_path / "hf" / "vocab.txt")
    export.export(tmp_path / "hf", tmp_path / "out", precision=precision)
    encoder = TransformerEncoder(tmp_path / "out")
    sentences = [a for a, _ in pairs_of_words(12)[:9]]
    found = encoder.encode(sentences)
    tokenizer = transformers.BertTokenizerFast(str(static_encoder.SHIPPED / "vocab.txt"))
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
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", folder / "vocab.txt")
    (folder / "modules.json").write_text(
        '[{"type": "sentence_transformers.models.Transformer", "path": ""},'
        '{"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]'
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    facts = convert.convert(folder, tmp_path / "out", "cls")
    assert (facts.pooling, facts.normalize) == ("cls", False)
    tokenizer = transformers.BertTokenizerFast(str(static_encoder.SHIPPED / "vocab.txt"))
    with torch.inference_mode():
        expected = model(**tokenizer("The river rises.", return_tensors="pt")).last_hidden_state[0, 0].numpy()
    np.testing.assert_allclose(
        TransformerEncoder(tmp_path / "out").encode(["The river rises."])[0], expected, atol=1e-5
    )
    cross = transformers.BertForSequenceClassification(transformers.BertConfig(**sizes, num_labels=1)).eval()
    cross.save_pretrained(tmp_path / "cross")
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", tmp_path / "cross" / "vocab.txt")
    assert convert.convert(tmp_path / "cross", tmp_path / "ranked", "cross").task == "relevance"
