"""Options for noise in pages: in Python, in every command that reads files, and with `--resume`."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command_line import Done, invoke

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from test_html_files import PAGE

import pychunk
from pychunk.ingest import ingest
from pychunk.io import open_source
from pychunk.parsing.html.noise import find_noise
from pychunk.parsing.html.page import parse_html

MENU = "Home News"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "river.html"
    path.write_text(PAGE)
    return path


def removed(path: Path, **options: Any) -> list[dict[str, Any]]:
    (batch,) = open_source(path, **options)
    spans: list[dict[str, Any]] = batch.table["removed"][0].as_py()
    return spans


def test_a_threshold_of_the_model_says_how_much_goes(page: Path) -> None:
    spans = [removed(page, noise_threshold=each) for each in (1.0, None, 0.0)]
    sizes = [sum(span["end"] - span["start"] for span in each) for each in spans]
    assert sizes[0] == 0 < sizes[1] < sizes[2]
    least = min(span["score"] for span in spans[1])
    assert all(span["score"] > least for span in removed(page, noise_threshold=least))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise_threshold": 1.5}, "noise_threshold must be between 0 and 1; got 1.5"),
        ({"noise_threshold": float("nan")}, "noise_threshold must be between 0 and 1; got nan"),
        ({"noise_threshold": "0.5"}, "noise_threshold must be between 0 and 1; got '0.5'"),
        ({"noise_threshold": True}, "noise_threshold must be between 0 and 1; got True"),
        ({"noise_threshold": 0.5, "noise": "rules"}, "noise_threshold needs noise='model'"),
        ({"noise": "none"}, "noise must be 'model', 'rules' or 'off'; got 'none'"),
    ],
)
def test_thresholds_that_are_none_are_refused(page: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_source(page, **options)
    with pytest.raises(ValueError, match=message):
        ingest(page, page.parent / "out", **options)
    assert not (page.parent / "out").exists()
    made = parse_html(page.read_bytes())
    with pytest.raises(ValueError, match=message):
        find_noise(made.blocks, made.facts, made.text, options.get("noise", "model"), options.get("noise_threshold"))


def run(command: str, page: Path, out: Path, *flags: str) -> Done:
    return invoke([command, str(page), "-o", str(out), *flags])


def told(command: str, out: Path) -> str:
    """Return a command's output: the text of chunks, or the page with the removed text struck out."""
    if command == "view":
        return out.read_text()
    if command == "index":
        with pychunk.Index.open(out) as index:
            return "\n".join(index.table["text"].to_pylist())
    return "\n".join(pq.read_table(out)["text"].to_pylist())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["segment", "view", "index", "ingest"])
def test_every_command_takes_it(command: str, page: Path, tmp_path: Path) -> None:
    if command == "index":
        pytest.importorskip("faiss")
    ending = {"segment": ".parquet", "view": ".html"}.get(command, "")
    gone = {}
    for name, flags in {
        "usual": [],
        "rules": ["--reader", "noise=rules"],
        "off": ["--reader", "noise=off"],
        "never": ["--reader", "noise_threshold=1"],
    }.items():
        done = run(command, page, tmp_path / f"{name}{ending}", *flags)
        assert done.exit_code == 0, done.output
        found = told(command, tmp_path / f"{name}{ending}")
        assert "The river rises" in found
        gone[name] = '"navigation"' in found if command == "view" else MENU not in found
    assert gone == {"usual": True, "rules": True, "off": False, "never": False}
    for flags, message in {
        ("--reader", "noise=llm"): "noise must be 'model', 'rules' or 'off'; got 'llm'",
        ("--reader", "noise=rules", "--reader", "noise_threshold=0.5"): "noise_threshold needs noise='model'",
    }.items():
        done = run(command, page, tmp_path / f"wrong{ending}", *flags)
        assert (done.exit_code, message in done.output) == (2, True), done.output
        assert not (tmp_path / f"wrong{ending}").is_file()


@pytest.mark.parametrize(
    "flags", [["--reader", "noise=off"], ["--reader", "noise=rules"], ["--reader", "noise_threshold=0.5"]]
)
def test_a_run_is_not_resumed_with_another_noise(page: Path, tmp_path: Path, flags: list[str]) -> None:
    out = tmp_path / "out"
    assert run("ingest", page, out).exit_code == 0
    said = json.loads((out / "_manifest.json").read_text())["options"]["reader"]
    assert (said["noise"], said["noise_threshold"]) == ("model", None)
    before = (out / "part-000000.parquet").read_bytes()
    other = run("ingest", page, out, "--resume", *flags)
    assert other.exit_code == 2
    assert "holds a different run: noise" in other.stderr
    assert (out / "part-000000.parquet").read_bytes() == before
    assert "nothing to do" in run("ingest", page, out, "--resume").stderr


def test_ingest_writes_what_was_removed_by_what_was_asked_for(page: Path, tmp_path: Path) -> None:
    page.write_text(PAGE.replace("<h2>", "<p class=share-buttons>Share</p><h2>"))  # rules have no doubts
    rows = {}
    for noise in ("model", "rules", "off"):
        ingest(page, tmp_path / noise, noise=noise)
        found = pq.read_table(tmp_path / noise / "_removed")
        rows[noise] = found.drop_columns(["document_index", "document_id"]).to_pylist()
    assert rows["model"] == removed(page)
    assert rows["rules"] == removed(page, noise="rules") != rows["model"]
    assert rows["off"] == []


LINKED = PAGE.replace("The river rises", 'The <a href="/river map">river</a> <a href="#top">rises</a>')


def test_targets_of_links_are_text_on_request(page: Path, tmp_path: Path) -> None:
    page.write_text(LINKED)
    texts, spans = {}, {}
    for links in ("text", "inline"):
        (batch,) = open_source(page, links=links)
        texts[links] = batch.table["text"].to_pylist()[0]
        spans[links] = batch.table["removed"].to_pylist()[0]
        run("segment", page, tmp_path / f"{links}.jsonl", "--reader", f"links={links}")
        assert ("/river%20map" in (tmp_path / f"{links}.jsonl").read_text()) == (links == "inline")
    assert "The river rises" in texts["text"]
    assert "The [river](/river%20map) rises" in texts["inline"]
    for one, other in zip(spans["text"], spans["inline"], strict=True):  # the same blocks, whatever their text
        assert [one[name] for name in ("reason", "score")] == [other[name] for name in ("reason", "score")]
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", texts["inline"][other["start"] : other["end"]])
        assert words == texts["text"][one["start"] : one["end"]]
    with pytest.raises(ValueError, match="links must be 'text' or 'inline'; got 'none'"):
        open_source(page, links="none")
