"""Errors of the command line name the fault and the option that helps."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_files import TEXTS, inputs
from command_line import invoke

from pychunk.cli.shared.errors import in_flags
from pychunk.cli.shared.other_flags import INSTEAD


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.parquet"], "no such file"),
        (["x.doc"], "unknown kind of file"),
        (["absent.doc"], "no such file"),
        (["in.parquet", "--column", "no"], "column 'no' is not there; the columns are id, text"),
        (["in.parquet", "-m", "best"], "unknown method 'best'"),
        (["in.parquet"], "the string columns are: id, text"),
        (["in.parquet", "--column", "text", "-o", "x.pdf"], "unknown kind of output"),
        (["in.parquet", "--column", "text", "-m", "semantic:threshold=a:b"], "threshold must be a number"),
        (["in.parquet", "--column", "text", "-m", "fixed:size=3,size=4"], "size is given twice"),
        (["in.parquet", "--column", "text", "-m", "pic:overlap=3", "--overlap", "4"], "overlap is given twice"),
        (["in.parquet", "--reader", "encoding=a", "--reader", "encoding=b"], "--reader names encoding twice"),
        (["in.parquet", "--column", "text", "--column", "body"], "--column names text twice: 'text' and 'body'"),
        (["in.parquet", "--column", "text", "--placement", "cuda,device=cpu"], "--placement names device twice"),
        (["in.parquet", "--column", "text", "--placement", "cores=2"], "--placement has no option 'cores'"),
        (["in.parquet", "--reader", "nois=off"], "--reader has no option 'nois'"),
        (["in.parquet", "--noise", "off"], "No such option: --noise; write --reader noise=model"),
        (["in.parquet", "--chunk_size=5"], "No such option: --chunk_size; write --max-tokens N"),
        (
            ["in.parquet", "--column", "text", "-m", "precomputed"],
            "method precomputed needs cuts, which only Python can pass",
        ),
        (["in.parquet", "--column", "text", "--column", "titles=no"], "column 'no' is not there"),
        (["in.parquet", "--column", "text", "-m", "pic:summary=title"], "method 'pic' needs --column titles=..."),
        (["in.parquet", "--column", "text", "--encoder", "best"], "unknown encoder 'best'"),
        (["in.parquet", "--column", "text", "--max-tokens", "many"], "--max-tokens must be a number"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    found = inputs(tmp_path)
    table = pa.table({"id": ["a", "b"], "text": TEXTS, "other": TEXTS}).rename_columns(["id", "text", "other"])
    if message.startswith("the string"):
        pq.write_table(table.rename_columns(["id", "body", "other"]).drop_columns("other"), found["in.parquet"])
        message = "the string columns are: id, body"
    (tmp_path / "x.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    monkeypatch.chdir(tmp_path)
    result = invoke(["segment", *arguments])
    assert result.exit_code == 2
    assert message in result.output.replace("\n", "") or message in result.stderr.replace("\n", "")


def test_advice_names_the_options_of_the_command_line() -> None:
    assert in_flags("needs columns={'page_starts': ...}: a list", {}) == "needs --column page_starts=...: a list"
    text = "pass columns={'text': ...} (column= of read, open_source, parse, embed and split_sentences) to say which"
    assert in_flags(text, {}) == "pass --column to say which"
    assert in_flags("where: language='en' or mode=x", {}) == "where: language='en' or mode=x"
    assert in_flags("pass columns={'text': ...} with the name", {}) == "pass --column with the name"
    assert in_flags("pass placement=pychunk.Placement(device='cuda')", {}) == "pass --placement device=cuda"
    assert in_flags("pass placement=pychunk.Placement(runtime=...)", {}) == "pass --placement runtime=..."
    assert in_flags("runtime='openvino' runs on the CPU", {}) == "--placement runtime=openvino runs on the CPU"
    assert in_flags("pass encoding='utf-16'; or workers", {}) == "pass --reader encoding=utf-16; or workers"
    assert in_flags("do not pass quotes=, which", {}) == "do not pass --reader quotes=..., which"
    assert in_flags("titles='headline' is null", {}) == "--column titles=headline is null"
    text = "pass encoder=, or vectors as columns={'sentence_vectors': ...}"
    assert in_flags(text, {}) == "pass --encoder, or vectors as columns={'sentence_vectors': ...} in Python"
    assert in_flags("pass vectors=pychunk.Vectors('chunk', ...) with the encoder", {}) == (
        "pass --vectors chunk --vector-encoder with the encoder"
    )


def test_every_flag_of_older_versions_and_other_tools_has_a_replacement() -> None:
    for flag, instead in INSTEAD.items():
        command = "ingest" if instead.startswith("--compression") else "segment"
        said = " ".join(invoke([command, "a.txt", flag]).stderr.split())
        assert f"No such option: {flag}; write {instead}" in said
    assert "; write" not in invoke(["search", "a.idx", "b", "--noise"]).stderr  # it has no --reader
