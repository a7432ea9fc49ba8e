"""Questions, pseudo-labels and traces that an LLM makes from a folder, and a training from them up to a plan."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from llm_server import Server

pytest.importorskip("httpx2")
pytest.importorskip("faiss")

import pychunk
from pychunk.llm import LLMError, Response
from pychunk.training.stitch import traces

BODY = "{name} {verb} by day. It eats {food} in the morning. Nobody knows why {name} likes {food}."
ANIMALS = {"Cats": ("sleep", "mice"), "Dogs": ("bark", "bones"), "Owls": ("rest", "voles"), "Bees": ("fly", "nectar")}


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, (verb, food) in ANIMALS.items():
        parts = [f"# {part} of {name}\n\n{BODY.format(name=name, verb=verb, food=food)}" for part in ("Life", "Food")]
        (folder / f"{name}.md").write_text("\n\n".join(parts), encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    return folder


def oracle(kind: str, units: list[tuple[int, str]], body: dict) -> str:
    told = body["messages"][-1]["content"]
    if kind == "judge_questions":
        return json.dumps({"questions": [f"What says {' '.join(told.partition('Chunk: ')[2].split()[:12])}?"]})
    assert kind == "plan_trace"
    assert "Sections that a first search found:\n- " in told
    assert "\n\nBest levels: " in told
    return 'It asks for one fact. So little text is enough. {"low": "sentence"}'


def test_a_folder_becomes_questions_with_labels_and_traces(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "questions.jsonl"
    arguments = [str(documents), "--out", str(out), "--questions", "24", "--traces", "2", "--words", "60"]
    with Server(answer=oracle) as server:
        arguments += ["--llm-url", server.url, "--llm-model", "test"]
        assert traces.main(arguments) == 0
        assert "left out" in caplog.text
        asked = server.counts["calls"]
        first = out.read_bytes()
        with pytest.raises(ValueError, match="exists: name another file, or replace it with --overwrite"):
            traces.main(arguments)
        arguments.append("--overwrite")
        assert traces.main(arguments) == 0  # from the cache
        assert (server.counts["calls"], out.read_bytes()) == (asked, first)
        monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "other"))
        with pytest.raises(LLMError, match="max_calls"):
            traces.main([*arguments, "--max-calls", "3"])
    assert out.read_bytes() == first
    lines = [json.loads(line) for line in first.splitlines()]
    assert len(lines) >= 15
    for line in lines:
        assert line["levels"] == ["sentence", "group", "paragraph", "section", "document"]
        assert line["nodes"][-1] == len(ANIMALS)
        assert line["label"] in line["answers"]
        assert all(line["levels"].index(low) <= line["levels"].index(high) for low, high in line["answers"])
        assert line["traces"] == ["It asks for one fact. So little text is enough."]  # the second is equal
        assert line["headings"]
    broad = [line for line in lines if line["question"].startswith("What says # Life of")]
    narrow = [line for line in lines if "Nobody knows" in line["question"]]
    assert any(line["label"][1] == "document" for line in broad)
    assert narrow
    assert all(line["label"][1] != "document" for line in narrow), [line["label"] for line in narrow]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--llm-price", "1"], "--llm-price must be two numbers"),
        (["--max-cost", "1"], "--max-cost needs --llm-price"),
        (["--levels", "document,sentence"], "levels must go from fine to coarse"),
        (["--questions", "0"], "--questions"),
        (["--seed", "-1"], "--seed"),
        (["--out", "documents/Cats.md"], "Cats.md exists: name another file"),
        (["--out", "documents/Cats.md", "--overwrite"], "Cats.md is among the documents"),
        (["--out", "nowhere/q.jsonl"], "nowhere is no folder"),
    ],
)
def test_what_is_refused(
    arguments: list[str], told: str, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = [str(documents), "--out", str(tmp_path / "q.jsonl"), "--llm-url", "http://127.0.0.1:9/v1", "--llm-model", "x"]
    before = (documents / "Cats.md").read_bytes()
    with pytest.raises(ValueError, match=told):
        traces.main([*own, *arguments])
    assert (documents / "Cats.md").read_bytes() == before


def test_documents_of_several_kinds_stay_apart(documents: Path, tmp_path: Path) -> None:
    (documents / "Stars.txt").write_text("Stars burn hydrogen in their cores for a very long time.\n", encoding="utf-8")
    index = traces.indexed(documents, tmp_path / "index", ["sentence", "section", "document"], 1)
    table = index.table
    assert len({*table["document_index"].to_pylist()}) == len(ANIMALS) + 1

    class Scripted:
        dry_run = False

        def stream(self, asks: object) -> list:
            return [Response(json.dumps({"questions": [f"What is {row}?"]})) for row, _ in enumerate(asks)]

    nodes = traces.drawn(index, 30, 0)
    assert {kind for kind, _ in nodes} == {"sentence", "section", "document"}
    scripted: Any = Scripted()
    data = traces.questions_about(index, nodes, scripted)
    assert len(data.documents) == len(ANIMALS) + 1
    for question, (_, row) in zip(data.questions, nodes, strict=True):
        ((start, end),) = question.spans
        assert data.documents[question.document][start:end] == table["text"][row].as_py()
    index.close(discard=True)


def test_a_folder_with_nothing_to_ask_about_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / "hi.txt").write_text("Hi.")
    own = [str(tmp_path / "short"), "--out", str(tmp_path / "q.jsonl"), "--llm-url", "http://127.0.0.1:9/v1"]
    with pytest.raises(ValueError, match="gave no question that a search answers"):
        traces.main([*own, "--llm-model", "x"])
    assert not (tmp_path / "q.jsonl").exists()


@pytest.mark.slow
def test_a_killed_run_continues(documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))

    def slowly(kind: str, units: list[tuple[int, str]], body: dict) -> str:
        time.sleep(0.05)
        return oracle(kind, units, body)

    out = tmp_path / "questions.jsonl"
    with Server(answer=slowly) as server:
        arguments = [sys.executable, "-m", "pychunk", "train", "traces", str(documents), "--out", str(out)]
        arguments += ["--questions", "24", "--llm-url", server.url, "--llm-model", "test"]
        killed = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while server.counts["answers"] < 8 and killed.poll() is None:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert not out.exists()
        subprocess.run(arguments, check=True, capture_output=True)
        asked = server.counts["calls"]
        subprocess.run([*arguments, "--overwrite"], check=True, capture_output=True)
        assert server.counts["calls"] == asked
    assert len(out.read_text(encoding="utf-8").splitlines()) >= 15


@pytest.mark.slow
def test_a_model_of_hugging_face_learns_and_plans(documents: Path, tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("yaml")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    from pychunk.training.stitch import command

    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "questions.jsonl"
    with Server(answer=oracle) as server:
        asked = [str(documents), "--out", str(out), "--questions", "24", "--llm-url", server.url, "--llm-model", "test"]
        assert traces.main(asked) == 0

    pieces = {"<end>": 0, **{chr(code): code - 8 for code in range(9, 127)}}
    raw = tokenizers.Tokenizer(tokenizers.models.WordLevel(pieces, unk_token="<end>"))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<end>", unk_token="<end>")
    tokenizer.chat_template = "{% for each in messages %}{{ each.role }}: {{ each.content }}\n{% endfor %}"
    config = transformers.GPT2Config(vocab_size=len(pieces), n_positions=4096, n_embd=8, n_layer=1, n_head=1)
    model = tmp_path / "model"
    transformers.GPT2LMHeadModel(config).save_pretrained(model)
    tokenizer.save_pretrained(model)
    few = "steps: 1\nquestions: 2\nrollouts: 2\nmini_batch: 2\nmax_tokens: 8\nheld_out: 1\nbuffer: 2\npasses: 1\n"
    settings = tmp_path / "tiny.yaml"
    settings.write_text(f"model: {model}\n{few}", encoding="utf-8")
    assert command.main(["--config", str(settings), "--data", str(out), "--work", str(tmp_path / "work")]) == 0
    levels = ["sentence", "paragraph", "section", "document"]
    found = pychunk.segment_levels(["Cats\n\nCats purr. They sleep by day."], levels, vectors="chunk", ids=["cats"])
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk") as index:
        index.add(found.chunks())
        (plan,) = index.plan("Who purrs?", tmp_path / "work" / "model-stitch-0")
        (learned,) = index.plan("Who purrs?", "learned")
        index.save()
    assert plan.failed  # a random model writes no plan
    assert plan[:2] == learned[:2]
    assert "the model must name two levels of the index" in plan.why
