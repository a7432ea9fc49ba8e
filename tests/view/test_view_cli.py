"""The command that writes the page, and the listing with scores."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import invoke
from test_view import parts

import pychunk

TEXT = "Cats purr. Cats sleep all day. Stars burn hydrogen. The sun is a star. Bread needs flour."


def page(path: Path, *arguments: str) -> dict[str, Any]:
    output = path / "view.html"
    result = invoke(["view", *arguments, "-o", str(output), "--overwrite"])
    assert result.exit_code == 0, result.output
    assert str(output) in result.stderr
    return parts(output.read_text())[0]


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    lines = [{"id": f"a{i}", "text": TEXT, "headline": "Stars"} for i in range(3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_methods_queries_and_limit(tmp_path: Path, articles: Path) -> None:
    data = page(
        tmp_path,
        *(str(articles), "--column", "text", "--ids", "id", "--limit", "2", "-m", "semantic:threshold=0.2"),
        *("--against", "pic:k=0.5", "--against", "sentence", "-q", "What burns?"),
    )
    assert [each["name"] for each in data["methods"]] == ["semantic", "pic", "sentence"]
    assert [each["name"] for each in data["documents"]] == ["a0", "a1"]
    wanted = [
        pychunk.segment(TEXT, "semantic", threshold=0.2),
        pychunk.segment(TEXT, k=0.5),
        pychunk.segment(TEXT, "sentence"),
    ]
    for layer, chunks in zip(data["documents"][1]["layers"], wanted):
        assert layer["s"] == chunks.table["start"].to_pylist()
        assert len(layer["hits"]) == 1
    hits = [hit for each in data["documents"] for hit in each["layers"][2]["hits"][0]]
    assert [hit[0] for hit in hits][:1] == [2]
    assert sorted(hit[4] for hit in hits) == [1, 2, 3, 4, 5]


def test_columns_that_methods_want(tmp_path: Path, articles: Path) -> None:
    common = (str(articles), "--column", "text", "--column", "titles=headline")
    data = page(tmp_path, *common, "--against", "pic:summary=mean", "--against", "fixed:size=10")
    titled = pychunk.segment(TEXT, summary="title", columns={"titles": ["Stars"]})
    assert data["documents"][2]["layers"][0]["s"] == titled.table["start"].to_pylist()


def test_what_the_command_refuses(tmp_path: Path, articles: Path) -> None:
    (tmp_path / "there.html").write_text("")
    for arguments, told in (
        (["-o", str(tmp_path / "there.html")], "exists already"),
        (["-o", str(articles), "--overwrite"], "is the input"),
        (["-o", "x.html", *["--against", "pic"] * 4], "four methods"),
        (["-o", "-", "--open"], "--open needs a file"),
        (["-o", "x.html", "--against", "nothing"], "unknown method"),
    ):
        result = invoke(["view", str(articles), "--column", "text", *arguments])
        assert result.exit_code == 2, result.output
        assert told in " ".join(result.stderr.split())


def test_standard_input_and_output() -> None:
    result = invoke(["view", "-", "-m", "sentence", "-o", "-"], input=TEXT.encode())
    assert result.exit_code == 0
    assert parts(result.stdout)[0]["documents"][0]["text"] == TEXT


def test_the_listing_shows_scores(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    result = invoke(["segment", str(tmp_path / "a.txt"), "-m", "semantic:threshold=0.2", "--scores"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    scores = pychunk.Segmenter("semantic", threshold=0.2).scores(TEXT)["score"].to_pylist()[:-1]
    assert lines[0] == f"cosine to the next sentence: {min(scores):.3f} to {max(scores):.3f}, threshold 0.200"
    curve = "".join(line for line in lines if line and set(line) <= set("▁▂▃▄▅▆▇█ "))
    assert len(curve) in (len(scores), len(scores) + 1)
    assert curve[scores.index(max(scores))] == "█"
    assert curve[scores.index(min(scores))] == "▁"
    for arguments, told in (
        (["-m", "fixed"], "has no scores"),
        (["-o", "x.jsonl"], "--scores cannot be combined with -o"),
    ):
        result = invoke(["segment", str(tmp_path / "a.txt"), "--scores", *arguments])
        assert result.exit_code == 2
        assert told in " ".join(result.stderr.split())
