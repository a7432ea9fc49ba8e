"""The command `pychunk index`."""

import io
import json
from pathlib import Path

import pytest

pytest.importorskip("faiss")

import pyarrow.parquet as pq
from command_line import invoke
from index_commands import DOCUMENTS, refused, run, written
from rich.console import Console

import pychunk
from pychunk import Index
from pychunk.cli import index as index_command
from pychunk.encoders.files import model_packages
from pychunk.inputs import language_warning
from pychunk.io import listing


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return written(tmp_path / "documents.parquet")


def test_documents_in_hits_out(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "--id-column", "id", "-m", "topic:size=8", "-o", tmp_path / "it.idx")
    shown = run("search", tmp_path / "it.idx", "Where does the Rhine rise?", "-k", "1")
    assert "document rivers, chunk 0" in shown
    assert "The Rhine rises in Switzerland." in shown
    found = [json.loads(line) for line in run("search", tmp_path / "it.idx", "Rhine", "kittens", "--json").splitlines()]
    assert [each["query"] for each in found] == ["Rhine", "kittens"]
    best = found[1]["hits"][0]
    assert DOCUMENTS[best["document_id"]][best["start"] : best["end"]] == best["text"]
    assert set(best["scores"]) == {"dense", "sparse"}


@pytest.mark.parametrize("vectors", [None, "sentence"])
def test_a_file_of_chunks_is_taken_with_or_without_vectors(
    tmp_path: Path, documents: Path, vectors: str | None
) -> None:
    options = [] if vectors is None else ["--vectors", vectors]
    chunks = tmp_path / "chunks.parquet"
    run("segment", documents, "--column", "text", "--id-column", "id", "-m", "sentence", "-o", chunks, *options)
    run("index", chunks, "-o", tmp_path / "it.idx")
    hit = json.loads(run("search", tmp_path / "it.idx", "blind kittens", "-k", "1", "--json"))["hits"][0]
    assert hit["text"] == "Kittens are blind at birth."
    assert (hit["start"], hit["end"]) == tuple(hit["sentence"])


def test_two_documents_of_one_id_are_both_named_whatever_the_batch(tmp_path: Path, documents: Path) -> None:
    twice = tmp_path / "twice.jsonl"
    rows = [{"id": name, "text": "Some text."} for name in ("a", "b", "a")]
    twice.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call = ["index", twice, "--column", "text", "--id-column", "id", "-o", tmp_path / "it.idx"]
    assert "documents 0 and 2 have the same id 'a': give each" in refused(*call)
    again = tmp_path / "again.jsonl"
    again.write_text(json.dumps({"id": "rivers", "text": "Other."}))
    output = refused("index", documents, again, "--column", "text", "-o", tmp_path / "it.idx")
    assert "documents 1 and 2 have the same id 'rivers'" in output
    note = tmp_path / "note.md"
    note.write_text("A note.")
    assert not (tmp_path / "it.idx").exists()
    run("index", note, "-o", tmp_path / "it.idx")  # one run may replace another one's additions
    run("index", note, documents, "--column", "text", "--id-column", "id", "-o", tmp_path / "it.idx")


def test_a_file_that_is_named_twice_is_said_to_be(
    tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/a.md").write_text("A note.")
    said = "is named twice, by"
    output = refused("index", "notes/a.md", documents, "notes/a.md", "--column", "text", "-o", "it.idx")
    assert "notes/a.md is named twice: name it once" in output
    for first, second in (("./notes/a.md", "notes/a.md"), ("notes", "notes/a.md"), ("notes", tmp_path / "notes")):
        output = refused("index", first, documents, second, "--column", "text", "-o", "it.idx")
        assert f"a.md {said} {first} and by {second}: name it once" in output
    run("segment", documents, "--column", "text", "-o", "chunks.parquet")
    output = refused("index", "chunks.parquet", "./chunks.parquet", "-o", "it.idx")
    assert f"chunks.parquet {said} chunks.parquet and by ./chunks.parquet: name it once" in output
    assert not Path("it.idx").exists()


def test_a_file_has_one_id_with_or_without_a_dot_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.md", "b.md", ".hidden/c.md"):
        (tmp_path / "notes" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "notes" / name).write_text(f"A note called {name}.")
    for inputs in (["notes"], ["./notes"], ["notes/"], ["notes//a.md", "notes/./b.md"], ["./notes/a.md"]):
        run("index", *inputs, "-o", "it.idx")
        with pychunk.Index.open("it.idx") as index:
            assert index.ids() == ["notes/a.md", "notes/b.md"]
    monkeypatch.chdir("notes")
    for inputs in (["."], ["./"], ["a.md", "b.md"], ["./a.md"]):
        run("index", *inputs, "-o", "../other.idx")
        with pychunk.Index.open("../other.idx") as index:
            assert index.ids() == ["a.md", "b.md"]
    monkeypatch.chdir(tmp_path)
    shown = " ".join(invoke(["index", str(tmp_path / "notes"), "-o", "it.idx"]).stderr.split())
    assert f"{tmp_path}/notes/a.md is in the index as notes/a.md, too, and 1 document more; if that is" in shown
    assert "is in the index as" not in invoke(["index", str(tmp_path / "notes"), "-o", "it.idx"]).stderr


def test_an_index_is_not_written_among_documents(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("A note.")
    output = refused("index", tmp_path / "notes" / "a.md", "-o", tmp_path / "notes")
    assert f"{tmp_path / 'notes'} holds other files and no index (a.md): name a folder of the index's own" in output
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.md"]
    (tmp_path / "empty").mkdir()
    run("index", tmp_path / "notes" / "a.md", "-o", tmp_path / "empty")


def test_a_folder_and_the_shards_of_an_ingest_go_into_an_index(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "in" / f"{name}.md").write_text(text)
    (tmp_path / "in" / "broken.md").write_bytes(b"\xff")
    assert "its files would be read as documents" in refused("index", tmp_path / "in", "-o", tmp_path / "in" / "it.idx")
    assert "broken.md, whole file: invalid UTF-8" in refused("index", tmp_path / "in", "-o", tmp_path / "one.idx")
    run("ingest", tmp_path / "in", "-o", tmp_path / "shards", "-m", "sentence")
    assert (tmp_path / "shards" / "_dead_letters.jsonl").stat().st_size  # which are not documents
    (tmp_path / "in" / "broken.md").unlink()
    run("index", tmp_path / "in", "-o", tmp_path / "one.idx")
    run("index", tmp_path / "shards", "-o", tmp_path / "two.idx")
    for name in ("one.idx", "two.idx"):
        with pychunk.Index.open(tmp_path / name) as index:
            assert {hit.document_id for hit in index.search("Rhine", k=9)[0]} == {
                str(tmp_path / "in" / f"{name}.md") for name in DOCUMENTS
            }


def test_a_size_is_refused_where_the_method_has_none(tmp_path: Path, documents: Path) -> None:
    call = ["index", documents, "--column", "text", "-o", tmp_path / "it.idx", "-m"]
    assert "method 'pic' has no option 'size'" in refused(*call, "pic:size=5")
    run(*call, "fixed:size=5")


def test_titles_are_columns_here_too(tmp_path: Path, documents: Path) -> None:
    call = [
        "index",
        documents,
        "--column",
        "text",
        "--id-column",
        "id",
        "-m",
        "pic:summary=title",
        "--column",
        "titles=id",
    ]
    run(*call, "-o", tmp_path / "it.idx")
    assert (
        json.loads(run("search", tmp_path / "it.idx", "Rhine", "-k", "1", "--json"))["hits"][0]["document_id"]
        == "rivers"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--terms none --stemmer english", "--stemmer changes nothing with --terms none"),
        ("--terms none --ngram 3", "--ngram changes nothing with --terms none"),
        ("--terms words --ngram 3", "--ngram changes nothing with --terms words"),
        ("--terms letters", "--terms must be one of words, ngrams, auto, none; got 'letters'"),
        ("--stemmer klingon", "stemmer must be one of arabic, "),
    ],
)
def test_what_means_nothing_is_named_before_anything_is_done(options: str, said: str, tmp_path: Path) -> None:
    pytest.importorskip("Stemmer")
    output = refused("index", tmp_path / "absent.txt", "-o", tmp_path / "new.idx", *options.split())
    assert said in output
    assert not (tmp_path / "new.idx").exists()
    with pytest.raises(TypeError, match=r"no keyword 'stemmer': pass bm25=pychunk.index.Bm25\(stemmer=...\)"):
        pychunk.Index.create(tmp_path / "new.idx", bm25=None, stemmer="english")
    assert not (tmp_path / "new.idx").exists()


def test_options_for_other_kinds_of_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Cats purr.")
    for options in ("--ids id", "--column text"):
        said = f"{options.split()[0]} changes nothing for text: leave it out, or pass --source-kind jsonl, csv, tsv, "
        assert said in refused("index", tmp_path / "a.txt", "-o", tmp_path / "it.idx", *options.split())
        assert said.replace("source-", "") in refused("segment", tmp_path / "a.txt", *options.split())
    vectors = refused("segment", tmp_path / "a.txt", "--vector-encoder", "static")
    assert "--vector-encoder changes nothing without --vectors" in vectors
    for options in ("--reader redirects=yes", "--reader namespaces=4"):
        said = f"{options.partition('=')[0]} changes nothing for text"
        assert said in refused("segment", tmp_path / "a.txt", *options.split())
    (tmp_path / "b.csv").write_text("id,text\nb,Dogs bark.\n")
    assert "Dogs bark." in run("segment", tmp_path, "--ids", "id", "--column", "text")


def test_a_column_is_kept_of_the_inputs_that_have_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,lang\na,Cats purr.,en\n")
    (tmp_path / "b.md").write_text("# Dogs\n\nThey bark.")
    for order in (["a.csv", "b.md"], ["b.md", "a.csv"]):
        inputs = [tmp_path / name for name in order]
        run("index", *inputs, "--column", "text", "--metadata-columns", "lang", "-o", tmp_path / f"{order[0]}.idx")
        with pychunk.Index.open(tmp_path / f"{order[0]}.idx") as made:
            kept = {Path(hit.document_id).name: hit.metadata["lang"] for hit in made.search("x", k=9, mode="dense")[0]}
        assert kept == {"a": "en", "b.md": None}
    output = refused("index", tmp_path / "b.md", "--metadata-columns", "lang", "-o", tmp_path / "x.idx")
    assert "markdown has no column 'lang'" in output
    (tmp_path / "c.txt").write_text("Owls hunt.")
    output = refused(
        "index", tmp_path / "b.md", tmp_path / "c.txt", "--metadata-columns", "lang", "-o", tmp_path / "x.idx"
    )
    assert "--metadata-columns: none of the inputs has a column 'lang'" in output


def test_a_warning_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"key": "a", "text": "Cats purr."}\n')
    done = invoke(["index", str(tmp_path / "a.jsonl"), "--ids", "kye", "-o", str(tmp_path / "it.idx")])
    said = "none of 1 rows has the key 'kye' (did you mean 'key'?); the keys are key, text"
    assert f"warning: {tmp_path / 'a.jsonl'}, from line 1: {said}" in " ".join(done.stderr.split())
    assert "UserWarning" not in done.stderr


def test_verify_takes_no_options_of_adding(tmp_path: Path, documents: Path) -> None:
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    for option in (
        "--terms words",
        "--prune",
        "--metadata-columns title",
        "--method fixed:size=5",
        "--ids id",
        "--limit 3",
    ):
        said = f"--verify cannot be combined with {option.split()[0]}, which applies only to adding"
        assert said in refused("index", "--verify", tmp_path / "it.idx", *option.split())


def test_a_first_run_that_fails_leaves_no_index(tmp_path: Path, documents: Path) -> None:
    index = tmp_path / "it.idx"
    refused("index", documents, "--column", "txt", "-o", index)
    assert not index.exists()
    run("index", documents, "--column", "text", "-o", index, "--stemmer", "english")
    refused("index", documents, "--column", "txt", "-o", index)
    assert run("search", index, "Rhine", "-k", "1")
    assert "is a file: name a folder" in refused("index", documents, "--column", "text", "-o", documents)


def test_what_is_broken_is_left_out_where_asked(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"id": "a", "text": "Cats purr."}\n{"id": "b"\n{"id": "c", "text": "Stars burn."}\n')
    call = ["index", file, "--column", "text", "-o", tmp_path / "it.idx"]
    assert "line 2: " in refused(*call)
    assert "skipped" in invoke([str(each) for each in [*call, "--on-error", "skip"]]).stderr
    found = json.loads(run("search", tmp_path / "it.idx", "What do cats do?", "--json"))["hits"]
    assert {hit["document_id"] for hit in found} == {"a", "c"}


def test_advice_is_in_the_commands_words(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\1\2\3")
    assert "pass --source-kind, one of" in refused("index", tmp_path / "data.bin", "-o", tmp_path / "it.idx")


def test_a_folder_with_documents_beside_chunks_holds_documents(tmp_path: Path) -> None:
    chunks = pychunk.segment(list(DOCUMENTS.values()), "sentence", ids=list(DOCUMENTS)).table
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    pq.write_table(chunks, tmp_path / "notes" / "chunks.parquet")
    assert not listing.has_documents(str(tmp_path / "notes"))
    assert index_command._holds_chunks(str(tmp_path / "notes"), index_command.ReaderOptions())
    (tmp_path / "notes" / "deep" / ".emus.txt").write_text("Hidden.")
    assert index_command._holds_chunks(str(tmp_path / "notes"), index_command.ReaderOptions())
    (tmp_path / "notes" / "deep" / "emus.txt").write_text("Emus run.")
    assert listing.has_documents(str(tmp_path / "notes"))
    assert not index_command._holds_chunks(str(tmp_path / "notes"), index_command.ReaderOptions())


@pytest.mark.slow
def test_verify_names_the_file_that_is_damaged(tmp_path: Path, documents: Path) -> None:
    for name in ("a.idx", "b.idx"):
        run("index", documents, "--column", "text", "-o", tmp_path / name)
    shown = run("index", "--verify", tmp_path / "a.idx", tmp_path / "b.idx").splitlines()
    assert [line.split(": ")[0] for line in shown] == [f"{tmp_path / name} is whole" for name in ("a.idx", "b.idx")]
    assert "2 chunks in " in shown[0]
    files = sorted(path for path in (tmp_path / "b.idx").rglob("*") if path.is_file() and path.name != "lock")
    assert len(files) > 5
    for file in files:
        whole = file.read_bytes()
        for place in {0, len(whole) // 2, len(whole) - 2}:
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            output = refused("index", "--verify", tmp_path / "a.idx", tmp_path / "b.idx")
            assert f"{file} is damaged" in output or "upgrade with pip" in output
            assert "a.idx is whole" in output
        file.write_bytes(whole)
    assert "--verify adds nothing" in refused("index", "--verify", tmp_path / "a.idx", "-o", tmp_path / "b.idx")
    assert "-o is missing: name the folder of the index, new or existing, with -o INDEX" in refused("index", documents)


def test_while_an_index_is_saved_the_bar_does_not_stand_at_its_end(
    tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, seen = io.StringIO(), []
    bar = index_command.progress_bar("index", Console(file=screen, force_terminal=True, width=120))
    save = pychunk.Index.save

    def saved(self: pychunk.Index) -> None:
        seen.append([(task.total, task.fields["rate"]) for task in bar.tasks])
        bar.refresh()
        save(self)

    monkeypatch.setattr(index_command, "progress_bar", lambda *_: bar)
    monkeypatch.setattr(pychunk.Index, "save", saved)
    run("index", documents, "--column", "text", "-o", tmp_path / "it.idx")
    assert seen == [[(None, "saving 2 chunks")]]
    assert "saving 2 chunks" in screen.getvalue()
    assert not [line for line in screen.getvalue().splitlines() if "saving" in line and "%" in line]


def test_contexts_are_refused_where_no_words_are_searched(tmp_path: Path, documents: Path) -> None:
    new = ("index", documents, "--column", "text", "-o", tmp_path / "it.idx", "--terms", "none")
    said = "an index with --terms none has none; leave out one of them"
    assert f"--augment needs terms, and {said}" in refused(*new, "--augment", "head")
    assert not (tmp_path / "it.idx").exists()
    run(*new)
    assert said in refused(*new[:-2], "--augment", "head")
    assert f"--method proposition needs terms, and {said}" in refused(
        *new, "-m", "proposition", "--llm-url", "http://127.0.0.1:9/v1", "--llm-model", "test"
    )


def test_auto_takes_the_encoder_for_most_of_the_first_documents(tmp_path: Path) -> None:
    try:
        model_packages.folder(model_packages.MULTILINGUAL)
    except ImportError as error:
        pytest.skip(str(error))
    folder, index = tmp_path / "texts", tmp_path / "it.idx"
    folder.mkdir()
    german = (
        "Die Pumpe der Werkstatt läuft nicht mehr, weil ihr Schalter kaputt ist. Der Meister setzt sie morgen instand. "
    )
    for name, text in {"a": german * 3, "b": "Где находится вокзал этого города?", "c": "Cats purr."}.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    told = invoke(["index", str(folder), "-o", str(index), "--encoder", "auto"]).stderr
    assert "--encoder multilingual: of the first 3 documents, 2 not in English" in told
    assert "warning" not in told  # documents are cut by its vectors, too
    with Index.open(index) as made:
        assert made.info["encoder"]["name"] == "multilingual"
        (hit,) = made.search("a pump that does not run", mode="dense", k=1)[0]
        assert hit.document_id.endswith("a.txt")
    assert "3 kept" in invoke(["index", str(folder), "-o", str(index), "--encoder", "auto"]).stderr
    (folder / "a.txt").write_text("Dogs bark.")
    other = ["index", str(folder), "-o", str(tmp_path / "other.idx"), "--encoder", "auto"]
    assert "--encoder static: of the first 3 documents, 1 not in English" in invoke(other).stderr
    assert "standard input" in refused("index", "-", "-o", str(tmp_path / "third.idx"), "--encoder", "auto")


def test_a_warning_speaks_of_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_warning, "_warned", set())
    path = tmp_path / "cats.txt"
    path.write_text("Кішки муркочуть, коли задоволені. Сонце є зорею. " * 20)
    assert invoke(["segment", str(path), "-m", "page"]).stderr == ""
    told = invoke(["index", str(path), "-m", "page", "-o", str(tmp_path / "it.idx")]).stderr
    assert "warning: " in told
    assert 'Pass "multilingual", or a model of this language as --encoder, or leave such text to BM25' in told
    assert "cut by" not in told
