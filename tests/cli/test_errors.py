"""Errors of the command line: what was wrong, and the option that helps."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_files import TEXTS, inputs
from command_line import invoke

from pychunk.cli.shared.errors import in_flags


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
        (["in.parquet", "--column", "text", "-m", "semantic", "--threshold", "a:b"], "threshold must be a number"),
        (["in.parquet", "--column", "text", "-m", "fixed:size=3", "--size", "4"], "size is given twice"),
        (["in.parquet", "--column", "text", "-m", "given"], "method given takes its cuts from Python"),
        (["in.parquet", "--column", "text", "--titles", "no"], "column 'no' is not there"),
        (["in.parquet", "--column", "text", "-m", "pic:summary=title"], "method 'pic' needs --titles"),
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
    assert in_flags("method 'pic' needs titles=: a title", {}) == "method 'pic' needs --titles: a title"
    assert in_flags("where: language='en' or mode=x", {}) == "where: language='en' or mode=x"
