"""The command line writes a whole file or none, and replaces a file only on request."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from amounts import amounts
from cli_files import rows_of
from command_line import invoke
from fuzz.writes import Case, FailingDisk, unavailable


def test_a_failed_run_leaves_what_was_there(tmp_path: Path) -> None:
    table = pa.table({"text": ["fine.", None]})
    pq.write_table(table, tmp_path / "in.parquet")
    output = tmp_path / "out.jsonl"
    output.write_text("before")
    result = invoke(["segment", str(tmp_path / "in.parquet"), "-o", str(output)])
    assert result.exit_code == 2
    assert output.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["itself", "link", "hard", "dot", "standard input"])
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_an_output_that_is_an_input_is_refused(tmp_path: Path, name: str, overwrite: list[str]) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "Cats purr."}\n')
    output, given = {
        "itself": (source, str(source)),
        "link": (tmp_path / "link.jsonl", str(source)),
        "hard": (tmp_path / "hard.jsonl", str(source)),
        "dot": (tmp_path / "x" / ".." / "in.jsonl", str(source)),
        "standard input": (source, "-"),
    }[name]
    (tmp_path / "x").mkdir()
    if name == "link":
        output.symlink_to(source)
    if name == "hard":
        output.hardlink_to(source)
    before = source.read_bytes()
    (tmp_path / "first.txt").write_text("Dogs bark.")
    arguments = ["segment", str(tmp_path / "first.txt"), given, "-o", str(output), *overwrite]
    if given == "-":
        with source.open("rb") as stdin:
            command = [sys.executable, "-m", "pychunk", *arguments]
            done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, cwd=tmp_path)
        status, told = done.returncode, done.stderr
    else:
        status, _, told, _ = invoke(arguments)
    assert (status, "which would be lost; name another output" in told) == (2, True), told
    assert source.read_bytes() == before
    assert output.is_symlink() == (name == "link")


def test_what_is_there_is_replaced_only_with_overwrite(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Cats purr.")
    target = tmp_path / "target.jsonl"
    target.write_text("mine\n")
    (tmp_path / "out.jsonl").symlink_to(target)
    for output in (target, tmp_path / "out.jsonl"):
        arguments = ["segment", str(tmp_path / "in.txt"), "-o", str(output)]
        done = invoke(arguments)
        assert done.exit_code == 2
        assert "exists already; name another output, or replace it with --overwrite" in done.output
        assert target.read_text() == "mine\n"
        assert invoke([*arguments, "--overwrite"]).exit_code == 0
        assert [row["text"] for row in rows_of(target)] == ["Cats purr."]
        target.write_text("mine\n")
    assert (tmp_path / "out.jsonl").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.jsonl", "target.jsonl"]
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "absent.jsonl")
    for name, message in (("nowhere.jsonl", "is a broken link"), ("folder.jsonl", "is a folder")):
        (tmp_path / "folder.jsonl").mkdir(exist_ok=True)
        done = invoke(["segment", str(tmp_path / "in.txt"), "-o", str(tmp_path / name), "--overwrite"])
        assert done.exit_code == 2
        assert message in done.output


@pytest.mark.parametrize(
    "ending", [".parquet", *(pytest.param(e, marks=pytest.mark.slow) for e in (".jsonl", ".arrow"))]
)
def test_a_full_disk_leaves_the_output_as_it_was(tmp_path: Path, ending: str) -> None:
    (tmp_path / "in.txt").write_text(" ".join(f"Sentence {i} of the cats that purr." for i in range(5000)))
    output = tmp_path / f"out{ending}"
    output.write_text("mine\n")
    code = (
        "import resource, signal, sys; from pychunk.cli.main import app; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); app(sys.argv[1:])"
    )
    arguments = ["segment", str(tmp_path / "in.txt"), "-m", "sentence", "-o", str(output), "--overwrite"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert output.read_text() == "mine\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", output.name]


def test_other_commands_replace_nothing_unasked(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("mine\n")
    (tmp_path / "pychunk.json").write_text("{}")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Cats purr.")
    mine = str(tmp_path / "mine.json")
    for arguments, message in (
        (["eval", "absent.json", "--json", mine], "--overwrite"),
        (["eval", "absent.json", "--html", mine], "--overwrite"),
        (["eval", mine, "--html", mine, "--overwrite"], "which would be lost"),
        (["bench", "--save", mine], "--overwrite"),
        (["bench", "--compare", mine, "--save", mine, "--overwrite"], "which would be lost"),
        (["export", "./absent", "-o", str(tmp_path)], "--overwrite"),
        (["index", str(tmp_path / "notes" / "a.md"), "-o", str(tmp_path / "notes")], "holds other files"),
    ):
        done = invoke(arguments)
        assert done.exit_code == 2, done.output
        assert message in done.output
    assert (tmp_path / "mine.json").read_text() == "mine\n"
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.md"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["kill", "full", "broken", "interrupt"])
@pytest.mark.parametrize("step", amounts(3, 1))
def test_an_output_is_written_whole_or_not_at_all(fault: str, step: int) -> None:
    if why := unavailable():
        pytest.skip(why)
    with FailingDisk() as disk:
        for options in ({"ending": ending, "batches": 1} for ending in (".parquet", ".jsonl", ".arrow")):
            call, calls = 0, 1
            while call < calls:
                calls = disk.check(Case("segment", options, fault, (call + 0.5) / calls, half=call % 2 == 0))
                call += step
            assert calls > 5
