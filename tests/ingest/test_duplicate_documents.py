"""With ``dedupe``, a run leaves out copies of earlier documents and lists them."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from command_line import invoke
from corpora import contents
from shard_rows import rows_of

import pychunk
from pychunk.ingest import Report, ingest, shard_output
from pychunk.ingest.run_folder import DUPLICATES

pytestmark = pytest.mark.usefixtures("small_batches")


def texts_of(count: int) -> list[str]:
    """Return texts of which each fifth is a copy of an earlier one, and each seventh a near-copy."""
    found: list[str] = []
    for number in range(count):
        text = " ".join(f"w{number}x{word}" for word in range(60)) + "."
        if number % 5 == 4:
            text = found[number // 2]
        elif number % 7 == 6:
            text = found[number // 3] + " More."
        found.append(text)
    return found


def write(path: Path, texts: list[str]) -> Path:
    rows = [json.dumps({"id": f"d{number}", "text": text}) + "\n" for number, text in enumerate(texts)]
    path.write_text("".join(rows))
    return path


def run(path: Path, out: Path, **options: Any) -> Report:
    usual: dict[str, Any] = {"columns": {"text": "text"}, "ids": "id", "method": "sentence", "shard_bytes": 9000}
    return ingest(path, out, **{**usual, **options})


def copies_of(texts: list[str]) -> list[tuple[int, int]]:
    """Return (row, first row of the same text) of each exact copy."""
    return [(row, texts.index(text)) for row, text in enumerate(texts) if texts.index(text) < row]


@pytest.mark.parametrize("dedupe", ["exact", "near", 0.9])
def test_copies_are_listed_and_the_first_of_them_is_kept(tmp_path: Path, dedupe: Any) -> None:
    texts = texts_of(90)
    report = run(write(tmp_path / "in.jsonl", texts), tmp_path / "out", dedupe=dedupe)
    if dedupe == "exact":
        pairs = copies_of(texts)
    else:
        found = pychunk.find_duplicates(texts, 0.8 if dedupe == "near" else dedupe)
        pairs = list(zip(found["row"].to_pylist(), found["of"].to_pylist(), strict=True))
        assert len(pairs) > len(copies_of(texts))
    listed = pq.read_table(tmp_path / "out" / DUPLICATES).to_pylist()
    assert [(row["row"], row["of"]) for row in listed] == pairs
    assert [(row["document_id"], row["of_id"]) for row in listed] == [(f"d{row}", f"d{of}") for row, of in pairs]
    assert all(0.8 <= row["share"] <= 1 for row in listed)
    assert (report.duplicates, report.documents) == (len(pairs), 90 - len(pairs))
    gone = {row for row, _ in pairs}
    rest = [text for row, text in enumerate(texts) if row not in gone]
    run(write(tmp_path / "rest.jsonl", rest), tmp_path / "rest")
    kept = {f"d{row}": f"d{place}" for place, row in enumerate(row for row in range(90) if row not in gone)}
    rows = [(kept[row["document_id"]], row["text"]) for row in rows_of(tmp_path / "out")]
    assert sorted(rows) == sorted((row["document_id"], row["text"]) for row in rows_of(tmp_path / "rest"))


def test_a_resumed_run_leaves_out_the_same_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "in.jsonl", texts_of(90))
    run(path, tmp_path / "whole", dedupe="near")
    assert len(list((tmp_path / "whole").glob("part-*"))) >= 3
    settle, calls = shard_output.Output.settle, []

    def stopped(output: Any, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError("no")
        settle(output, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(shard_output.Output, "settle", stopped)
        with pytest.raises(OSError, match="no"):
            run(path, tmp_path / "out", dedupe="near")
    assert len(list((tmp_path / "out").glob("part-*"))) == 1
    run(path, tmp_path / "out", dedupe="near", resume=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    shard = tmp_path / "out" / "part-000001.parquet"
    shard.unlink()
    assert run(path, tmp_path / "out", dedupe="near", resume=True).duplicates > 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    with pytest.raises(ValueError, match=r'dedupe: was 0\.8, is "exact"'):
        run(path, tmp_path / "out", dedupe="exact", resume=True)


def test_copies_are_counted_after_limit_and_sample(tmp_path: Path) -> None:
    texts = texts_of(90)
    path = write(tmp_path / "in.jsonl", texts)
    report = run(path, tmp_path / "first", dedupe="exact", limit=40)
    assert (report.documents, report.duplicates) == (40 - len(copies_of(texts[:40])), len(copies_of(texts[:40])))
    report = run(path, tmp_path / "drawn", dedupe="exact", sample=40)
    assert report.documents + report.duplicates == 40


def test_an_update_and_other_values_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", texts_of(9))
    with pytest.raises(ValueError, match=r"dedupe= cannot be combined with update=: .*Leave out one"):
        run(path, tmp_path / "out", dedupe="exact", update=True)
    for wrong in ("fuzzy", 0.3, True):
        with pytest.raises(ValueError, match=r"dedupe must be 'exact', 'near', or the least share"):
            run(path, tmp_path / "out", dedupe=wrong)
    assert not (tmp_path / "out").exists()


def test_the_command_says_how_many_were_left_out(tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.jsonl", texts_of(90)), tmp_path / "out"
    command = ["ingest", str(path), "--column", "text", "--ids", "id", "-o", str(out)]
    done = invoke([*command, "--dedupe", "near,share=0.9"])
    assert done.exit_code == 0, done.output
    count = pq.read_table(out / DUPLICATES).num_rows
    assert json.loads((out / "_manifest.json").read_text())["duplicates"] == count
    assert f"{count} documents left out as copies of earlier ones, listed in" in " ".join(done.output.split())
    done = invoke([*command, "--dedupe", "fuzzy"])
    assert done.exit_code == 2
    assert "--dedupe must be exact, near, or near with the least share" in " ".join(done.output.split())
