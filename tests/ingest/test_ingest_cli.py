"""The command `pychunk ingest`: its messages, its exit statuses, Ctrl-C."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke
from corpora import corpus, sentences

pytestmark = pytest.mark.usefixtures("small_batches")


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    text = sentences(random.Random(2), 2000) * 50
    pq.write_table(pa.table({"id": [str(i) for i in range(20)], "text": [text] * 20}), path)
    command = [sys.executable, "-m", "pychunk", "ingest", str(path), "--column", "text", "-o", "out"]
    command += ["--compression", "none,shard_size=0.01"]  # a shard for each batch of 8 MB

    def heed_interrupts() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored if a shell runs the tests in the background

    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    ) as child:
        while not list(tmp_path.glob("out/part-*")):
            time.sleep(0.005)
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=30)[1]
    if child.returncode == 0:
        pytest.skip("the run ended before the signal came")
    assert child.returncode == 130, errors
    assert "--resume continues" in errors
    done = subprocess.run([*command, "--resume"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_options_of_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Cats purr.")
    for option in ("--ids id", "--column text", "--reader redirects=yes", "--reader namespaces=4"):
        done = invoke(["ingest", str(tmp_path / "a.txt"), *option.split(), "-o", str(tmp_path / "out")])
        assert done.exit_code == 2
        flag = option.partition("=")[0] + "=..." if "=" in option else option.split()[0]
        assert f"do not pass {flag}, which changes nothing for text; or pass --kind" in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()


def test_a_dump_brings_its_titles(tmp_path: Path) -> None:
    pages = "".join(
        f"<page><title>{title}</title><ns>0</ns><id>{i}</id><revision><id>9</id><model>wikitext</model>"
        f"<text>{text}</text></revision></page>"
        for i, (title, text) in enumerate(
            {"Cats": "Cats purr. The sun burns. Cats sleep.", "Stars": "Stars burn. Dogs bark. A star is hot."}.items()
        )
    )
    (tmp_path / "dump.xml").write_text(f"<mediawiki>{pages}</mediawiki>")
    dump, by_title = (
        str(tmp_path / "dump.xml"),
        ["--method", "pic:summary=title", "--no-keep-together", "--min-tokens", "0"],
    )
    done = invoke(["ingest", dump, *by_title, "--metadata-columns", "title", "-o", str(tmp_path / "chunks")])
    assert done.exit_code == 0, done.output
    found = pq.read_table(tmp_path / "chunks")
    titles = set(zip(found["document_id"].to_pylist(), found["title"].to_pylist(), strict=True))
    assert titles == {("0", "Cats"), ("1", "Stars")}
    kinds = dict(zip(found["text"].to_pylist(), found["relevance"].to_pylist(), strict=True))
    assert [text for text, kind in kinds.items() if kind == "irrelevant"] == ["The sun burns.", "Dogs bark."]
    again = invoke(["segment", dump, *by_title, "--metadata-columns", "title", "-o", str(tmp_path / "chunks.parquet")])
    assert again.exit_code == 0, again.output
    assert pq.read_table(tmp_path / "chunks.parquet").equals(found)
    resumed = invoke(
        ["ingest", dump, *by_title, "--metadata-columns", "title", "-o", str(tmp_path / "chunks"), "--resume"]
    )
    assert "nothing to do" in resumed.stderr
    other = invoke(["ingest", dump, *by_title, "--metadata-columns", "ns", "-o", str(tmp_path / "chunks"), "--resume"])
    assert (other.exit_code, "holds a different run" in other.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-"], "standard input cannot be read twice"),
        (["nope.parquet"], "no such file"),
        (
            ["in.parquet", "--compression", "best"],
            "--compression must be one of none, lz4, zstd, or one with the megabytes of a shard",
        ),
        (
            ["in.parquet", "--reader", "namespaces=x"],
            "--reader namespaces=x: write numbers with + between them, or all",
        ),
        (["in.parquet", "--kind", "x"], "unknown kind 'x'"),
        (["in.parquet", "--column", "body"], "column 'body' is not there"),
        (["."], "is inside ., where its shards would be read"),
    ],
)
def test_errors_of_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    corpus(tmp_path / "in.parquet", 5)
    monkeypatch.chdir(tmp_path)
    result = invoke(["ingest", *arguments, "-o", "out"])
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert not (tmp_path / "out" / "_manifest.json").exists()  # the faulty one is no obstacle any more
    assert invoke(["ingest", "in.parquet", "--column", "text", "-o", "out"]).exit_code == 0


def test_several_sources_are_cut_as_segment_cuts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Ants run.")
    sources = ["notes", str(corpus(Path("in.parquet"), 5))]
    done = invoke(["ingest", *sources, "--column", "text", "-o", "out"])
    assert (done.exit_code, "6 documents" in done.output) == (0, True), done.output
    assert invoke(["segment", *sources, "--column", "text", "-o", "all.parquet"]).exit_code == 0
    columns = ["document_index", "document_id", "start", "end", "text"]
    assert pq.read_table("out", columns=columns).equals(pq.read_table("all.parquet", columns=columns))
    other = invoke(["ingest", *sources[::-1], "--column", "text", "-o", "out", "--resume"])
    assert (other.exit_code, "the same sources in the same order" in other.output) == (2, True)
    Path("notes/b.txt").write_text("Bees hum.")
    more = invoke(["ingest", *sources, "--column", "text", "-o", "out", "--resume"])
    assert "a different run: notes/b.txt is new. Pass the same" in more.output


def test_a_table_without_a_text_among_documents_becomes_a_dead_letter(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "questions.csv").write_text("question,answer\nWho?,Ants\n")
    ingest = ["ingest", str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    alone = invoke(ingest)
    assert (alone.exit_code, "pass --column with its name" in alone.output) == (2, True)
    (tmp_path / "in" / "a.txt").write_text("Ants run.")
    done = invoke([*ingest, "--resume"])
    assert (done.exit_code, "1 document" in done.output) == (0, True), done.output
    letter = json.loads((tmp_path / "out" / "_dead_letters.jsonl").read_text())
    assert letter["source"].endswith("questions.csv")
    assert "string columns are: question, answer" in letter["reason"]
    done = invoke(["ingest", str(tmp_path / "in"), "--column", "answer", "-o", str(tmp_path / "both")])
    assert (done.exit_code, "2 documents" in done.output) == (0, True), done.output


def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.parquet")
    arguments = [
        "ingest",
        str(path),
        "--column",
        "text",
        "-o",
        str(tmp_path / "out"),
        "--compression",
        "none,shard_size=0.02",
    ]
    first = invoke(arguments)
    assert first.exit_code == 0, first.output
    assert "60 documents" in first.output
    assert "0 failures" in first.output
    again = invoke(arguments)
    assert again.exit_code == 0
    assert "complete already, nothing to do" in again.output
    assert invoke([*arguments, "--quiet"]).output == ""


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes no such name")
def test_a_file_name_that_is_no_utf8_is_a_letter(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name in (b"a.txt", b"b\xff.txt", b"c.txt", b"d\xff.png"):
        Path(os.fsdecode(bytes(tmp_path / "notes") + b"/" + name)).write_text("Cats purr.")
    for resume in ([], ["--resume"]):
        done = invoke(["ingest", str(tmp_path / "notes"), "-o", str(tmp_path / "out"), *resume])
        assert done.exit_code == 0, done.output
        assert "2 documents" in done.output
    (letter,) = [json.loads(line) for line in (tmp_path / "out" / "_dead_letters.jsonl").read_text().splitlines()]
    assert letter["source"].endswith("b\\xff.txt")
    assert letter["reason"] == "the file's name is not UTF-8: rename it"
    done = invoke(["ingest", os.fsdecode(bytes(tmp_path) + b"/notes/b\xff.txt"), "-o", str(tmp_path / "x")])
    assert done.exit_code == 1
    assert "the file's name is not UTF-8: rename it" in done.output


def test_nothing_that_could_be_read_is_status_1(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for i in range(3):
        (tmp_path / "in" / f"{i}.bin").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    done = invoke(["ingest", str(tmp_path / "in"), "--kind", "text", "-o", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "nothing could be read" in done.output
    assert "0.bin, whole file: a PDF, not text: its kind is pdf" in done.output
    (tmp_path / "in" / "a.bin").write_text("Text after all.")
    done = invoke(["ingest", str(tmp_path / "in"), "--kind", "text", "-o", str(tmp_path / "out2")])
    assert done.exit_code == 0
    assert "3 dead letters" in done.output


@pytest.mark.parametrize("documents", [30, 3000])
def test_ids_that_come_twice_are_named(tmp_path: Path, documents: int) -> None:
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": i % (documents - 10), "text": "Topic " * 5}) for i in range(documents)]
    path.write_text("\n".join(lines))
    done = invoke(["ingest", str(path), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert f"ids come more than once: '0' is the id of document {documents - 10} and of document 0" in done.output
    path.write_text("\n".join(lines[: documents - 10]))
    assert "more than once" not in invoke(["ingest", str(path), "-o", str(tmp_path / "out2")]).output


@pytest.mark.slow
def test_the_sample_of_wikipedia_has_a_title_for_each_article(data: Path, tmp_path: Path) -> None:
    dump = str(data / "wiki" / "enwiki-sample-pages-articles.xml.bz2")
    out = tmp_path / "chunks"
    done = invoke(["ingest", dump, "-m", "pic:summary=title,summaries_out=true", "-o", str(out)])
    assert done.exit_code == 0, done.output
    found = pq.read_table(out / "_summaries")
    assert (found.num_rows, found["text"][0].as_py(), set(found["source"].to_pylist())) == (106, "Anarchism", {"title"})
    assert len(set(found["document_id"].to_pylist())) == 106
