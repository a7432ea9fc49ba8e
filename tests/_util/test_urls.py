"""Secrets of URLs appear in no output, and a failed transfer is a dead letter."""

import json
import logging
import pickle
import socket
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest
from command_line import invoke
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")

from pychunk._util.urls import SECRETS, Url, hidden, named, parameters, without_secrets
from pychunk.ingest import ingest
from pychunk.io import DeadLetter, open_source

USER, PASSWORD, TOKEN = "planteduser", "plantedword", "planted%2Btoken"
PLANTED = b"planted"
TEXT = b"The pump moves water. It has a lamp. The lamp is red.\n\nThe second paragraph is about the valve."


class Handler(BaseHTTPRequestHandler):
    """A handler that serves files by the last part of their names; ``/short``, ``/reset`` and ``/moved`` are special.

    ``/short`` breaks off, ``/reset`` sends nothing, and ``/moved`` is a file.
    """

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        name = self.path.partition("?")[0]
        if "reset" in name:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if "moved" in name:
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
            return
        if "no" in name or "broken" in name:
            self.send_response(500 if "broken" in name else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = b"id,text\n1,The pump moves water.\n2,It has a lamp.\n" if name.endswith(".csv") else TEXT
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + (500 if "short" in name else 0)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
        self.close_connection = True


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def secret(host: str, name: str) -> str:
    return f"http://{USER}:{PASSWORD}@{host}/{name}?page=2&Token={TOKEN}&X-Amz-Signature=plantedsig"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://me:a@b:c@host:80/a@b?x=1#top", "http://host:80/a@b?x=1#top"),
        ("HTTPS://host/a?API_KEY=1&api-key=2&x=&Sig=3", "HTTPS://host/a?x="),
        ("https://host/a?token", "https://host/a"),
        ("https://host/a;b?a=1;password=2", "https://host/a;b?a=1"),
        ("https://host/a?%74oken=1", "https://host/a"),
        ("http://me:a/b?c#d@host/a.txt", "http://host/a.txt"),
        ("http://host:80/a@b", "http://host:80/a@b"),
        ("s3://bucket/a@b.csv", "s3://bucket/a@b.csv"),
        ("github://org:repo@main/a.md", "github://org:repo@main/a.md"),
        ("simplecache::http://u:p@[::1]:80/a", "simplecache::http://[::1]:80/a"),
        ("https://host/a?keyword=1&encoding=2&tokens=3", "https://host/a?keyword=1&encoding=2&tokens=3"),
        ("https://host/a;token=1/b;x=2", "https://host/a/b;x=2"),
        ("https://host/a#access_token=1&page=2", "https://host/a#page=2"),
        ("https://host/a#/route?token=1", "https://host/a#/route"),
        ("https://host/a?token=1;2?3=4&x=5#6", "https://host/a?x=5#6"),
        ("https://host/a?token[]=1&to%6Ben=2&api+key=3&x=%26", "https://host/a?x=%26"),
        ("https://host/a?url=https://other/b?token=1&x=2", "https://host/a?url=https://other/b&x=2"),
        ("https://host/a?url=https%3A%2F%2Fme%3Apw%40other%2F&x=2", "https://host/a?x=2"),
        ("https://host/a?next=%2Fb%3Ftoken%3D1", "https://host/a"),
        ("https://host/a?next=%252Fb%253Ftoken%253D1&q=a%26key", "https://host/a?q=a%26key"),
        ("https://proxy/https://me:pw@host/a@b", "https://proxy/https://host/a@b"),
        ("https://host/a?", "https://host/a?"),
        ("http://me:9a/b@host/c", "http://host/c"),
        ("https://host/a?&x=1&&#", "https://host/a?&x=1&&#"),
    ],
)
def test_what_a_url_is_named(url: str, found: str) -> None:
    assert without_secrets(url) == without_secrets(found) == found


_ANY = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12)


@given(_ANY, _ANY, _ANY, st.sampled_from(sorted(SECRETS)), st.booleans())
def test_secrets_of_any_characters_go(front: str, back: str, path: str, name: str, is_last: bool) -> None:
    planted = quote(f"{front}planted{back}", safe="")
    pairs = [f"{name}={planted}", "page=2"]
    query = "&".join(pairs[::-1] if is_last else pairs)
    url = f"http://{planted}:{planted}@host/{quote(path)}?{query}"
    assert without_secrets(url) == f"http://host/{quote(path)}?page=2"
    raw = f"{front}planted{back}"
    assert "planted" not in without_secrets(f"http://me:x{raw}@host/{quote(path)}")
    assert "planted" not in hidden(f"of {raw!r}, {raw} and {url}", url)


def test_every_documented_parameter_goes() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "corpora.md").read_text(encoding="utf-8")
    for name in SECRETS:
        assert without_secrets(f"http://host/?{name.upper()}=1") == "http://host/"
        assert f"`{name}`" in docs


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("planted%2Fa+b", ["planted/a b", "planted%2fa%20b", "planted%252Fa+b", "planted/a+b"]),
        ("planted%22%27%5C", ["planted\"'\\", repr("planted\"'\\"), json.dumps("planted\"'\\")]),
        (
            "planted%C3%A9",
            [
                "planted\u00e9",
                "planted%c3%a9",
                json.dumps("planted\u00e9"),
                ascii("planted\u00e9"),
                repr("planted\u00e9".encode()),
            ],
        ),
        ("planted%FF", ["planted%FF"]),
        ("planted%FF", ["planted\ufffd", "planted%ff"]),
        ("%70lanted", ["planted", "%70lanted"]),
        ("%24%61planted%21", ["$%61planted!", "%24aplanted%2521", "$aplanted!"]),  # partly decoded
    ],
)
def test_messages_hide_a_secret_however_it_is_written(value: str, said: list[str]) -> None:
    for url in (f"http://h/?token={value}", f"http://me:{value}@h/", f"zip://a::http://{value}:pw@h/b"):
        for each in said:
            found = hidden(f"of {each}.", url)
            assert "lanted" not in found
            assert found.startswith("of ")


def test_messages_hide_what_fsspec_takes_for_a_part_of_a_url() -> None:
    url = "http://h/a;token=,::planted!/b?next=https://o/p"
    assert hidden("Protocol not known: planted!/b?next=https", url) == "Protocol not known: [hidden]/b?next=https"


@pytest.mark.slow
def test_hostile_urls_take_time_in_proportion() -> None:
    for text in ("x" * 300_000, "x:/" * 100_000, "::x" * 100_000, "%25" * 100_000, "://@" * 50_000, "?a=&" * 50_000):
        assert hidden(text, "http://me:planted@host/") == text or "://" in text
        assert without_secrets(f"http://me:planted@host/{text}?next={text}").startswith("http://host/")
    nested = "http://host/?token=planted"
    for depth in range(1, 40):
        nested = f"http://host/?next={quote(nested, safe='')}"
        assert without_secrets(nested) == "http://host/", depth
    assert without_secrets(f"http://host/?a=%{'25' * 5000}") == "http://host/"


def test_passwords_with_marks_are_hidden_whole() -> None:
    for password in ("ab=cd%planted", "ab:cd:planted", "planted=", 'planted"x@planted'):
        url = f"http://me:{password}@host/a.txt"
        assert "planted" not in hidden(f"GET {url}: {password!r} is wrong", url)


def test_parameters_to_hide_are_names() -> None:
    assert parameters("Visitor-ID") == parameters(["visitor_id", "visitorid"]) == {"visitorid"}
    for name in ("token=planted", "a&planted", "", "_"):
        with pytest.raises(ValueError, match="must be named without its value") as raised:
            parameters([name])
        assert "planted" not in str(raised.value)
    assert Url.of("http://h/?GR%C3%96SSE=1", parameters("größe")) == "http://h/"
    url = Url.of("http://h/a?x=1&y=2", parameters("x"))
    assert (url, Url.of(url), url.address) == ("http://h/a?y=2", url, "http://h/a?x=1&y=2")
    both = Url.of(url, parameters("y"))
    assert (both, both.address) == ("http://h/a", url.address)
    again = pickle.loads(pickle.dumps(both))
    assert (again, again.address, again.hides) == (both, both.address, both.hides)
    for value in ("visitor=planted", "visitor,planted", "visitor planted"):
        done = invoke(["segment", "http://h/a", "--reader", f"hide_parameters={value}"])
        assert done.exit_code == 2
        assert "planted" not in done.output


def test_messages_hide_secrets_outside_urls_too() -> None:
    url = secret("host", "a.txt")
    said = f"GET {url} failed: 'planted+token' of {USER}, {PASSWORD}, /a.txt?Token={TOKEN}"
    assert "planted" not in hidden(said, named([url])[0])
    assert "GET http://host/a.txt?page=2 failed" in hidden(said, url)


def test_urls_that_differ_in_secrets_alone_have_names_of_their_own(host: str) -> None:
    urls = [f"http://{host}/a.txt?key=planted{at}" for at in range(3)]
    for _ in range(2):
        ids = [one for batch in open_source(urls) for one in batch.table["id"].to_pylist()]
        assert ids == [f"http://{host}/a.txt", f"http://{host}/a.txt#2", f"http://{host}/a.txt#3"]
    with pytest.raises(ValueError, match="named twice") as raised:
        open_source([urls[0], urls[0]])
    assert "planted" not in str(raised.value)


def everything_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() + str(file).encode() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("name", ["ok.txt", "ok.csv", "short.txt", "broken.txt", "reset.txt", "moved.txt"])
def test_nothing_that_ingest_writes_has_a_secret(host: str, name: str, tmp_path: Path) -> None:
    urls = [secret(host, name), secret(host, name) + "plantedtoo", f"http://{host}/last.txt"]
    report = ingest(urls, tmp_path / "out", compression="none")
    assert report.documents >= 1
    assert report.letters == (0 if name.startswith("ok") else 2)
    assert PLANTED not in everything_in(tmp_path)
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_bytes())
    assert f"http://{host}/{name}?page=2#2" in json.dumps(manifest)
    again = ingest([url.replace("planted", "another") for url in urls], tmp_path / "out", resume=True)
    assert again.did_nothing, "a new token is no new run"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "jsonl", "-"])
def test_nothing_that_segment_writes_has_a_secret(
    host: str, form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "pychunk")
    to = ["-o", str(tmp_path / f"c.{form}")] if form != "-" else []
    done = invoke(["segment", secret(host, "ok.txt"), secret(host, "reset.txt"), "--on-error", "skip", *to])
    assert done.exit_code == 0, done.output
    assert PLANTED not in everything_in(tmp_path) + done.output.encode() + caplog.text.encode()
    assert "reset.txt?page=2" in done.output
    if form == "parquet":
        assert pq.read_table(tmp_path / "c.parquet")["document_id"].to_pylist()[0] == f"http://{host}/ok.txt?page=2"
    for wrong in ("no.txt", "reset.txt", "short.txt", "broken.txt"):
        done = invoke(["segment", secret(host, wrong)])
        assert done.exit_code == 2
        assert "planted" not in done.output


def test_nothing_that_index_and_view_write_has_a_secret(host: str, tmp_path: Path) -> None:
    for _ in range(2):
        done = invoke(["index", secret(host, "ok.txt"), secret(host, "ok.csv"), "-o", str(tmp_path / "i")])
        assert done.exit_code == 0, done.output
        assert "planted" not in done.output
    done = invoke(["search", str(tmp_path / "i"), "pump"])
    assert f"{host}/ok.txt?page=2" in done.output
    assert "planted" not in done.output
    done = invoke(["view", secret(host, "ok.txt"), "-o", str(tmp_path / "v.html")])
    assert done.exit_code == 0, done.output
    assert PLANTED not in everything_in(tmp_path)


def visited(host: str, name: str, visitor: str = "plantedvisitor") -> str:
    return f"http://{host}/{name}?Visitor-Id={visitor}&page=2"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ok.txt", "ok.csv", "short.txt", "broken.txt", "reset.txt", "moved.txt"])
def test_nothing_that_ingest_writes_has_a_parameter_that_is_hidden_by_name(
    host: str, name: str, tmp_path: Path
) -> None:
    urls = [visited(host, name), visited(host, name, "plantedtoo"), f"http://{host}/last.txt"]
    options = {"hide_parameters": ["visitor_id"], "compression": "none"}
    report = ingest(urls, tmp_path / "out", **options)
    assert report.letters == (0 if name.startswith("ok") else 2)
    assert PLANTED not in everything_in(tmp_path)
    assert f"http://{host}/{name}?page=2#2" in (tmp_path / "out" / "_manifest.json").read_text()
    assert ingest(
        [url.replace("planted", "other") for url in urls], tmp_path / "out", resume=True, **options
    ).did_nothing
    for hides in ([], ["visitor_id", "page"]):
        with pytest.raises(ValueError, match="holds a different run") as raised:
            ingest(urls, tmp_path / "out", resume=True, **options | {"hide_parameters": hides})
        assert hides or "visitorid" in str(raised.value)
    plain = ["notes.txt"]  # whose names are all equal
    (tmp_path / "notes.txt").write_text("The pump moves water.")
    ingest([tmp_path / plain[0]], tmp_path / "plain", **options)
    with pytest.raises(ValueError, match="hide_parameters"):
        ingest([tmp_path / plain[0]], tmp_path / "plain", resume=True)


@pytest.mark.parametrize("form", ["parquet", "jsonl", "-", "ingest", "view"])
def test_nothing_that_commands_write_has_a_parameter_that_is_hidden_by_name(
    host: str, form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "pychunk")
    to = {"-": [], "ingest": ["-o", str(tmp_path / "out")], "view": ["-o", str(tmp_path / "c.html")]}
    command = [
        form if form in ("ingest", "view") else "segment",
        "--reader",
        "hide_parameters=x+visitorid",
    ]
    command += to.get(form, ["-o", str(tmp_path / f"c.{form}")])
    skip = [] if form == "ingest" else ["--on-error", "skip"]
    done = invoke([*command, visited(host, "ok.txt"), visited(host, "reset.txt"), *skip])
    assert done.exit_code == 0, done.output
    assert PLANTED not in everything_in(tmp_path) + done.output.encode() + caplog.text.encode()
    for table in tmp_path.rglob("*.parquet"):  # whose bytes may be compressed
        rows = pq.read_table(table).to_pylist()
        assert "planted" not in str(rows)
        assert {row["document_id"] for row in rows} == {f"http://{host}/ok.txt?page=2"}
    for wrong in ("no.txt", "reset.txt", "short.txt", "broken.txt") if form == "-" else ():
        done = invoke([*command, visited(host, wrong)])
        assert done.exit_code == 2
        assert f"{wrong}?page=2" in done.output
        assert "planted" not in done.output


def test_an_index_remembers_the_parameters_that_were_hidden(host: str, tmp_path: Path) -> None:
    to = ["-o", str(tmp_path / "i")]
    for more in (["--reader", "hide_parameters=visitor-id"], []):
        done = invoke(["index", visited(host, "ok.txt"), visited(host, "ok.csv"), *to, *more])
        assert done.exit_code == 0, done.output
        assert PLANTED not in everything_in(tmp_path) + done.output.encode()
    assert "0 documents added, 3 kept" in done.output
    done = invoke(["index", visited(host, "ok.txt"), *to, "--reader", "hide_parameters=page"])
    assert "added before page was hidden keep their names; remove them with --prune" in done.output
    assert "1 document added" in done.output
    done = invoke(["index", visited(host, "ok.txt"), *to, "--prune"])
    assert "1 kept, 0 replaced, 3 removed" in done.output
    done = invoke(["search", str(tmp_path / "i"), "pump"])
    assert f"{host}/ok.txt" in done.output
    assert "page=2" not in done.output


@pytest.mark.parametrize("name", ["reset.csv", "broken.parquet", "reset.jsonl", "short.arrow"])
def test_an_index_goes_on_after_a_table_that_cannot_be_reached(host: str, name: str, tmp_path: Path) -> None:
    inputs = [secret(host, name), f"http://{host}/last.txt"]
    done = invoke(["index", *inputs, "-o", str(tmp_path / "i"), "--on-error", "skip"])
    assert done.exit_code == 0, done.output
    assert f"{name}?page=2" in done.output
    assert "planted" not in done.output
    assert "last.txt" in invoke(["search", str(tmp_path / "i"), "pump"]).output


def letters_of(urls: list[str]) -> tuple[list[str], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    source = open_source(urls, dead_letters=letters.append)
    return [one for batch in source for one in batch.table["id"].to_pylist()], letters


@pytest.mark.parametrize(
    ("name", "told"), [("short.txt", "cannot be read"), ("reset.txt", "isconnect"), ("broken.txt", "500")]
)
def test_a_connection_that_fails_is_a_letter_and_the_next_source_is_read(host: str, name: str, told: str) -> None:
    ids, letters = letters_of([secret(host, name), f"http://{host}/last.txt"])
    assert f"http://{host}/last.txt" in ids
    assert [letter.source for letter in letters] == [f"http://{host}/{name}?page=2"]
    assert told in letters[0].reason
    assert "planted" not in str(letters)
    with pytest.raises(ValueError, match="pass a function as dead_letters=") as raised:
        list(open_source(secret(host, name)))
    assert "planted" not in str(raised.value)


def test_a_refused_connection_is_a_letter(host: str) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://{USER}:{PASSWORD}@127.0.0.1:{held.getsockname()[1]}/a.txt"
        ids, letters = letters_of([url, f"http://{host}/last.txt"])
    assert ids == [f"http://{host}/last.txt"]
    assert len(letters) == 1
    assert "onnect" in letters[0].reason
    assert "planted" not in str(letters)


def test_a_redirect_to_a_file_is_refused_and_a_file_that_is_not_there_is_an_error(host: str) -> None:
    ids, letters = letters_of([f"http://{host}/moved.txt", f"http://{host}/last.txt"])
    assert ids == [f"http://{host}/last.txt"]
    assert [letter.source for letter in letters] == [f"http://{host}/moved.txt"]
    with warnings.catch_warnings(), pytest.raises(FileNotFoundError, match=r"no\.txt\?page=2: no such file") as raised:
        open_source(secret(host, "no.txt"))
    assert "planted" not in str(raised.value)
