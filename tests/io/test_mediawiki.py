"""Dumps: the same pages as from an XML parser, any compression, broken parts reported and skipped."""

import bz2
import gzip
import io
import random
import re
import time
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.ingest import ingest
from pychunk.io.decompression import bzip2, streams
from pychunk.io.document_batches import DeadLetter
from pychunk.io.source import Source, open_source
from pychunk.methods import METHODS

HEAD = b"""<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" xml:lang="de">
  <siteinfo><sitename>Test</sitename><namespaces>
    <namespace key="0" case="first-letter" /><namespace key="1">Diskussion</namespace>
    <namespace key="6">Datei</namespace><namespace key="14">Kategorie</namespace>
  </namespaces></siteinfo>
"""
FOOT = b"</mediawiki>\n"


def page(number: int, text: str, *, ns: int = 0, redirect: str = "") -> bytes:
    flag = f'<redirect title="{redirect}" />' if redirect else ""
    return (
        f"  <page>\n    <title>T &amp; {number}</title>\n    <ns>{ns}</ns>\n    <id>{number}</id>\n    {flag}<revision>"
        f"<id>9</id><timestamp>2020-01-01T00:00:00Z</timestamp><model>wikitext</model>"
        f'<text xml:space="preserve">{escape(text)}</text></revision>\n  </page>\n'
    ).encode()


def words(seed: int, count: int) -> str:
    """Return text that bzip2 cannot make small."""
    made = random.Random(seed)
    return " ".join(f"{made.getrandbits(60):x}" for _ in range(count))


def multistream(parts: Iterable[bytes]) -> bytes:
    return b"".join(map(bz2.compress, parts))


def write(folder: Path, data: bytes, name: str = "dump.xml.bz2") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


def read(path: str, **options: object) -> tuple[list[dict], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=letters.append, **options)
    return rows(source), letters


def rows(source: Source) -> list[dict]:
    return [row for batch in source for row in batch.table.to_pylist()]


def ids(found: list[dict]) -> list[str]:
    return [row["id"] for row in found]


@pytest.mark.slow
def test_a_real_dump_gives_its_articles(data: Path) -> None:
    path = str(data / "wiki" / "enwiki-sample-pages-articles.xml.bz2")
    found, letters = read(path)
    assert (len(found), letters) == (106, [])
    everything, _ = read(path, redirects=True, namespaces=None)
    assert len(everything) == 206
    assert sum(row["redirect"] is not None for row in everything) == 100


@pytest.mark.slow
def test_pages_are_those_of_an_xml_parser(data: Path) -> None:
    from xml.etree import ElementTree

    from pychunk.io.document_batches import refuse
    from pychunk.io.wiki import mediawiki

    path = str(data / "wiki" / "enwiki-sample-pages-articles.xml.bz2")
    with bz2.open(path) as file:
        expected = [
            (each.findtext("{*}title"), each.findtext("{*}id"), each.findtext("{*}revision/{*}text"))
            for each in ElementTree.parse(file).getroot().findall("{*}page")
        ]
    wanted = mediawiki.PageFilter(frozenset(), True)
    with open(path, "rb") as file:
        pages = mediawiki.pages(streams.blocks(file, path, refuse), path, refuse, wanted)
        texts = [mediawiki.Parsed(each.data).texts for each in pages]
    assert [(each[("title",)], each[("id",)], each[("revision", "text")]) for each in texts] == expected


def test_kept_pages_columns_and_namespaces_of_the_dump(tmp_path: Path) -> None:
    body = [
        page(1, "A [[Datei:x.png|mini]]b &nbsp; c &lt;d&gt; [[Kategorie:K]]"),
        page(2, "#WEITERLEITUNG [[A]]", redirect="A"),
        page(3, "talk", ns=1),
    ]
    path = write(tmp_path, HEAD + b"".join(body) + FOOT, "dump.xml")
    found, letters = read(path)
    assert letters == []
    assert found == [
        {"id": "1", "text": "A b c <d>", "file": path, "title": "T & 1", "ns": 0, "redirect": None,
         "timestamp": "2020-01-01T00:00:00Z", "blocks": [block("paragraph", 0, 0, 9)], "dropped_templates": 0}
    ]  # fmt: skip
    with_redirects, _ = read(path, redirects=True)
    assert [(row["id"], row["text"]) for row in with_redirects] == [("1", "A b c <d>"), ("2", "WEITERLEITUNG A")]
    assert ids(read(path, namespaces=(0, 1))[0]) == ["1", "3"]
    assert ids(read(path, namespaces=None, redirects=True)[0]) == ["1", "2", "3"]


@pytest.mark.slow
def test_templates_that_are_left_out_inside_sentences_are_counted(tmp_path: Path) -> None:
    body = [
        page(
            1,
            "{{Infobox x|a=1}}\nIt has {{mystery|1|2}} of {{riddle|a|b|c}}.{{cn}}<ref>{{cite|a|b}}</ref>\n\n"
            "{{Box|a|b}}",
        ),
        page(2, "None.\n* {{Other|a|b}}"),
        page(3, "One {{mystery|1|2}}."),
    ]
    path = write(tmp_path, HEAD + b"".join(body) + FOOT, "dump.xml")
    for workers in (1, 2):
        found, _ = read(path, workers=workers)
        assert [(row["text"], row["dropped_templates"]) for row in found] == [
            ("It has of.", 2), ("None.", 0), ("One.", 1),
        ]  # fmt: skip
    report = ingest(path, tmp_path / "out")
    assert report.dropped == 3
    assert '"dropped": 3' in (tmp_path / "out" / "_manifest.json").read_text()
    assert ingest(path, tmp_path / "out").dropped == 3
    result = invoke(["ingest", path, "-o", str(tmp_path / "again")])
    assert "3 templates removed inside sentences" in " ".join(result.stderr.split())


def test_ages_are_those_of_the_pages_day(tmp_path: Path) -> None:
    text = "He is {{age|1990|3|4}}, born {{birth date and age|1990|3|4}}, in {{CURRENTYEAR}}."
    found, _ = read(write(tmp_path, HEAD + page(1, text) + FOOT, "dump.xml"))
    assert found[0]["text"] == "He is 29, born 4 March 1990 (age 29), in 2020."


def block(kind: str, level: int, start: int, end: int) -> dict:
    unknown = dict.fromkeys(["source_start", "source_end", "page", "box", "markup"])
    return {"kind": kind, "level": level, "start": start, "end": end, **unknown}


def test_pages_have_blocks_and_those_of_other_models_none(tmp_path: Path) -> None:
    pages = [page(1, "A.\n== B ==\n* c"), page(2, ".a {}\n== b ==").replace(b"<model>wikitext", b"<model>css")]
    found, letters = read(write(tmp_path, HEAD + b"".join(pages) + FOOT, "dump.xml"))
    assert letters == []
    assert [row["text"] for row in found] == ["A.\n\nB\n\n- c", ".a {}\n== b =="]
    assert found[0]["blocks"] == [block("paragraph", 0, 0, 2), block("heading", 2, 4, 5), block("item", 1, 7, 10)]
    assert found[1]["blocks"] is None


@pytest.mark.slow
def test_dumps_are_cut_by_structure_and_by_other_methods_as_plain_text_is(data: Path, tmp_path: Path) -> None:
    path = data / "wiki" / "enwiki-sample-pages-articles.xml.bz2"
    (batch,) = open_source(str(path), batch_bytes=1 << 30)
    texts = batch.table["text"].to_pylist()
    usual = pychunk.segment(batch.table, ids="id")
    assert usual.metadata["method"] == "structure"
    assert usual.table.equals(pychunk.segment(batch.table, "structure", ids="id").table)
    first = next(chunk for chunk in usual if chunk.path)
    assert first.path == ["Etymology and terminology"]
    for method in METHODS:
        if method in ("precomputed", "nsp", "structure", "proposition") or not METHODS[method]().is_native:
            continue
        named = pychunk.segment(batch.documents(), method)
        assert named.table.drop_columns(["document_id", "chunk_id", "text_id"]).equals(
            pychunk.segment(texts, method).table.drop_columns(["chunk_id", "text_id"])
        )
    said = pychunk.segment(batch.table, "sentence", columns={"blocks": "blocks"}, ids="id")  # what is named is taken
    assert said.texts != pychunk.segment(batch.table, "sentence", ids="id").texts
    ingest(path, tmp_path / "usual")
    assert pq.read_table(tmp_path / "usual").drop_columns("relevance").equals(usual.table.drop_columns("relevance"))
    ingest(path, tmp_path / "topic", method="topic")
    topic = pychunk.segment(texts, "topic", ids=batch.table["id"].to_pylist()).table
    assert pq.read_table(tmp_path / "topic").drop_columns("relevance").equals(topic.drop_columns("relevance"))


def test_old_dumps_without_ns_and_redirect_flags(tmp_path: Path) -> None:
    body = b"".join([page(1, "text"), page(2, "#REDIRECT [[T]]"), page(3, "talk").replace(b"T &amp;", b"Diskussion:")])
    path = write(tmp_path, HEAD + re.sub(rb"<ns>0</ns>", b"", body) + FOOT, "dump.xml")
    assert ids(read(path)[0]) == ["1"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["xml", "xml.gz", "xml.bz2", "xml.zst", "xml-p1p9.bz2"])
def test_every_compression(tmp_path: Path, ending: str) -> None:
    plain = HEAD + b"".join(page(i, words(i, 50)) for i in range(300)) + FOOT
    packed = {"gz": gzip.compress, "bz2": bz2.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
    pack = packed.get(ending.rpartition(".")[2], bytes)
    found, letters = read(write(tmp_path, pack(plain), f"dump.{ending}"))
    assert (ids(found), letters) == ([str(i) for i in range(300)], [])


def test_a_dump_in_parts_is_read_in_order_and_its_index_is_not(tmp_path: Path) -> None:
    for i in range(3):
        write(tmp_path, bz2.compress(HEAD + page(i, "x") + FOOT), f"w-pages-articles{i}.xml-p{i}p{i}.bz2")
        write(tmp_path, bz2.compress(b"600:1:T\n"), f"w-pages-articles-multistream-index{i}.txt-p{i}p{i}.bz2")
    source = open_source(tmp_path)
    assert [batch["id"] for batch in rows(source)] == ["0", "1", "2"]
    assert (source.kind, len(source.files), len(source.ignored)) == ("mediawiki", 3, 3)
    assert source.total_bytes == sum(file.size for file in source.files)


STREAMS, PAGES = 12, 40


@pytest.fixture(scope="module")
def streams_of_pages() -> list[bytes]:
    """Return a dump of 12 streams of 40 pages, each about 50 kB when compressed."""
    numbers = [range(PAGES * i, PAGES * (i + 1)) for i in range(STREAMS)]
    return [HEAD, *(b"".join(page(i, words(i, 120)) for i in each) for each in numbers), FOOT]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a piece size so small that a dump of a megabyte has as many pieces as a large one."""
    monkeypatch.setattr(bzip2, "_READ", 30_000)
    monkeypatch.setattr(bzip2, "_PIECE", 40_000)
    monkeypatch.setattr(bzip2, "_LONG", 120_000)


@pytest.mark.slow
def test_parallel_is_serial(tmp_path: Path, streams_of_pages: list[bytes]) -> None:
    path = write(tmp_path, multistream(streams_of_pages))
    found = {}
    for threads in (1, 2, 5):
        source = open_source(path, threads=threads, batch_bytes=100_000)
        found[threads] = [(batch.number, batch.bytes_read, batch.table) for batch in source.batches()]
    assert found[1] == found[2] == found[5]
    assert ids([row for _, _, table in found[1] for row in table.to_pylist()]) == [
        str(i) for i in range(STREAMS * PAGES)
    ]
    assert [number for number, _, _ in found[1]] == list(range(len(found[1])))
    read_ = [position for _, position, _ in found[1]]
    assert read_ == sorted(read_)
    assert read_[-1] <= Path(path).stat().st_size
    whole = b"".join(block.data for block in blocks_of(multistream(streams_of_pages), threads=3)[0])
    assert whole == b"".join(streams_of_pages)


@pytest.mark.slow
def test_processes_give_the_same_batches(tmp_path: Path, streams_of_pages: list[bytes]) -> None:
    broken = [*streams_of_pages[:3], page(1, "x").replace(b"</title>", b""), *streams_of_pages[3:6], FOOT]
    path = write(tmp_path, multistream(broken))
    found = {}
    for workers in (1, 2):
        letters: list[DeadLetter] = []
        source = open_source(path, workers=workers, batch_bytes=100_000, dead_letters=letters.append)
        found[workers] = [(batch.number, batch.bytes_read, batch.table) for batch in source], letters
    assert found[1] == found[2]
    assert len(found[1][1]) == 1


def test_skipping_leaves_the_rest_as_it_was(tmp_path: Path, streams_of_pages: list[bytes]) -> None:
    path = write(tmp_path, multistream([HEAD, b"junk", *streams_of_pages[1:4], b"<page>", FOOT]))
    letters: list[DeadLetter] = []
    source = open_source(path, batch_bytes=100_000, dead_letters=letters.append)
    everything, told = list(source), list(letters)
    for skip in (1, 3, len(everything)):
        letters.clear()
        assert list(source.batches(skip)) == everything[skip:]
        assert letters == told[-len(letters) or len(told) :]
    assert "junk" in str(told[0].excerpt)


def blocks_of(
    data: bytes, threads: int = 2, start: re.Pattern[bytes] | None = None
) -> tuple[list[bzip2.Block], list[DeadLetter]]:
    letters: list[DeadLetter] = []
    options = {} if start is None else {"start": start}
    return list(bzip2.blocks(io.BytesIO(data), "f", letters.append, threads=threads, **options)), letters


@settings(max_examples=20, deadline=None)
@given(st.lists(st.binary(max_size=2000), max_size=8), st.integers(1, 3))
def test_any_streams_are_joined(parts: list[bytes], threads: int) -> None:
    found, letters = blocks_of(multistream(parts), threads)
    assert (b"".join(block.data for block in found), letters) == (b"".join(parts), [])


def test_what_only_looks_like_a_stream_start_is_not_one(
    monkeypatch: pytest.MonkeyPatch, streams_of_pages: list[bytes]
) -> None:
    monkeypatch.setattr(bzip2, "_PIECE", 3_000)
    data = multistream(streams_of_pages[:6])
    real = len(re.findall(rb"BZh9", data))
    anything = re.compile(rb"BZh9|[\x00-\x20]")
    assert len(anything.findall(data)) > 100 * real
    found, letters = blocks_of(data, start=anything)
    assert (b"".join(block.data for block in found), letters) == (b"".join(streams_of_pages[:6]), [])


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.55, 0.999])
@pytest.mark.parametrize("single", [True, False])
def test_a_truncated_file_gives_all_complete_pages(
    tmp_path: Path, streams_of_pages: list[bytes], share: float, single: bool
) -> None:
    plain = b"".join(streams_of_pages)
    data = bz2.compress(plain) if single else multistream(streams_of_pages)
    data = data[: int(share * len(data))]
    complete = bytearray()
    rest, decoder = data, bz2.BZ2Decompressor()
    while rest:
        complete += decoder.decompress(rest)
        rest, decoder = (decoder.unused_data, bz2.BZ2Decompressor()) if decoder.eof else (b"", decoder)
    found, letters = read(write(tmp_path, data))
    assert ids(found) == [str(i) for i in range(complete.count(b"</page>"))]
    assert any("cut off" in letter.reason for letter in letters)


@pytest.mark.slow
def test_a_block_is_yielded_in_parts_and_only_after_its_checksum() -> None:
    run = bz2.compress(b"a" * 40_000_000)  # one block, of 40 bytes
    found, letters = blocks_of(run * 3)
    assert [sum(len(block.data) for block in found), letters] == [120_000_000, []]
    assert max(len(block.data) for block in found) <= 1 << 20
    wrong = bytearray(run)
    wrong[10] ^= 1  # the first block's checksum
    found, letters = blocks_of(run + bytes(wrong) + run)
    assert [letter.position for letter in letters] == [f"compressed byte {len(run)}"]
    assert b"".join(block.data for block in found) == b"a" * 80_000_000


def test_a_truncated_gzip_file(tmp_path: Path, streams_of_pages: list[bytes]) -> None:
    data = gzip.compress(b"".join(streams_of_pages[:4]))
    found, letters = read(write(tmp_path, data[: len(data) // 2], "dump.xml.gz"))
    assert PAGES < len(found) < 2 * PAGES
    assert "cut off" in letters[0].reason


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["garbage between", "bits flipped", "zeros", "stream cut"])
def test_damage_in_the_middle_costs_what_it_hit(tmp_path: Path, streams_of_pages: list[bytes], damage: str) -> None:
    packed = [bz2.compress(part) for part in streams_of_pages]
    hit = bytearray(packed[8])
    if damage == "garbage between":
        hit = bytearray(words(1, 5000).encode()) + hit
    elif damage == "bits flipped":
        for i in range(20_000, 20_100):
            hit[i] ^= 0x55
    elif damage == "zeros":
        hit[:] = bytes(len(hit))
    else:
        del hit[len(hit) // 2 :]
    packed[8] = bytes(hit)
    path = write(tmp_path, b"".join(packed))
    found, letters = read(path)
    lost = {str(i) for i in range(7 * PAGES, 8 * PAGES)} if damage != "garbage between" else set()
    kept = set(ids(found))
    assert kept >= {str(i) for i in range(STREAMS * PAGES)} - lost
    assert ids(found) == sorted(kept, key=int)
    assert letters
    assert read(path, threads=1) == (found, letters)


def test_broken_pages_are_letters_of_their_own(tmp_path: Path) -> None:
    bodies = {
        "a title without end": page(1, "x").replace(b"</title>", b""),
        "a null": page(2, "x").replace(b"T &amp;", b"T \0"),
        "invalid UTF-8": page(3, "x").replace(b"T &amp;", b"T \xff"),
        "an entity": page(4, "x").replace(b"T &amp;", b"&bomb;"),
        "a document type": page(5, "x").replace(b"<title>", b'<!DOCTYPE a [<!ENTITY b "c">]><title>'),
        "no end": page(6, "x").replace(b"</page>", b""),
    }
    body = b"".join(broken + page(100 + i, "good") for i, broken in enumerate(bodies.values()))
    path = write(tmp_path, HEAD + body + b"<page><title>cut", "dump.xml")
    found, letters = read(path)
    assert ids(found) == [str(100 + i) for i in range(len(bodies))]
    assert len(letters) == len(bodies) + 1
    assert all(letter.source == path and letter.position.startswith("byte ") for letter in letters)
    plain = (tmp_path / "dump.xml").read_bytes()
    for letter in letters:
        offset = int(letter.position.split()[1])
        assert plain[offset : offset + 200].startswith(letter.excerpt)
    with pytest.raises(ValueError, match="pass a function as dead_letters="):
        rows(open_source(path))


@pytest.mark.parametrize("ns", ["--5", "", "x", "1.5", "9" * 5000, "2147483648", "-2147483649", "٣"])
@pytest.mark.parametrize("namespaces", [(0,), None])
def test_a_namespace_that_is_no_number_is_a_letter(tmp_path: Path, ns: str, namespaces: tuple[int] | None) -> None:
    bad = page(2, "x").replace(b"<ns>0</ns>", f"<ns>{ns}</ns>".encode())
    path = write(tmp_path, HEAD + page(1, "a") + bad + page(3, "b") + FOOT, "dump.xml")
    found, letters = read(path, namespaces=namespaces)
    assert ids(found) == ["1", "3"]
    offset = len(HEAD + page(1, "a")) + 2
    assert [(letter.source, letter.position) for letter in letters] == [(path, f"byte {offset} of the XML")]
    assert "<ns> must be a whole number" in letters[0].reason
    assert len(letters[0].reason) < 200


def test_namespaces_of_the_head_that_cannot_be_read_leave_the_others(tmp_path: Path) -> None:
    wrong = b'<namespace>No key</namespace><namespace key="--5">Odd</namespace><namespace key="%s">L</namespace>'
    head = HEAD.replace(b"<namespaces>", b"<namespaces>" + wrong % (b"9" * 5000))
    path = write(tmp_path, head + page(1, "[[Datei:x.png|mini]]a [[Kategorie:K]]") + FOOT, "dump.xml")
    found, letters = read(path)
    assert [row["text"] for row in found] == ["a"]
    assert [letter.reason.partition("; ")[0] for letter in letters] == [
        f"siteinfo: the key of namespace '{name}' must be a whole number" for name in ("No key", "Odd", "L")
    ]
    assert all(letter.position == "byte 0 of the XML" for letter in letters)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["dump.xml", pytest.param("dump", marks=pytest.mark.slow)])
def test_a_dump_in_utf_16_is_read(tmp_path: Path, encoding: str, name: str) -> None:
    declared = b'<?xml version="1.0" encoding="UTF-16"?>\n'
    plain = declared + HEAD + page(1, "zażółć 🎉") + page(2, words(1, 200_000)) + page(3, "b") + FOOT
    expected, _ = read(write(tmp_path, plain, "plain.xml"))
    found, letters = read(write(tmp_path, plain.decode().encode(encoding), name))
    assert letters == []
    assert [{**row, "file": ""} for row in found] == [{**row, "file": ""} for row in expected]
    half = plain.decode().replace("zażółć", "\ud800x").encode(encoding, "surrogatepass")
    found, letters = read(write(tmp_path, half, name))
    assert ids(found) == ["2", "3"]
    assert ["not well-formed XML" in letter.reason for letter in letters] == [True]


DEEP = 300_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (HEAD + b"<page><title>x</title>" + b"<a>" * DEEP + b"</a>" * DEEP + b"</page>" + FOOT, "nested more than 100"),
        (HEAD + b"<page><title>x</title>" + b"<a>" * DEEP + b"</page>" + FOOT, "nested more than 100"),
        (b"<siteinfo>" + b"<a>" * 100_000 + b"</siteinfo>" + page(1, "x"), "nested more than 100"),
        (b"<siteinfo " * 90_000 + page(1, "x"), "bytes outside pages"),
        (b"<mediawiki " * 90_000 + page(1, "x") + FOOT, "bytes outside pages"),
        (b"<?xml " * DEEP + page(1, "x"), "bytes outside pages"),
        (HEAD + b"<page>" * DEEP + page(1, "x") + FOOT, "has no end before the next one begins"),
        (HEAD + b"<page></page>junk" * 30_000 + FOOT, "bytes outside pages"),
        (gzip.compress(HEAD) + gzip.compress(b"<page>junk") * 20_000, "no end"),
    ],
    ids=["nested", "unclosed", "nested-siteinfo", "siteinfo", "mediawiki", "xml", "page", "pages", "gzip-members"],
)
def test_hostile_tags_take_time_in_proportion(tmp_path: Path, data: bytes, reason: str) -> None:
    begun = time.process_time()
    _, letters = read(write(tmp_path, data, "dump.xml"))
    assert any(reason in letter.reason for letter in letters)
    assert time.process_time() - begun < 5


def test_bytes_outside_pages_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + page(1, "x") + b"what is this" + page(2, "y") + FOOT + b"more", "dump.xml")
    found, letters = read(path)
    assert ids(found) == ["1", "2"]
    assert [letter.excerpt for letter in letters] == [b"what is this", b"more"]


def test_a_dump_cut_between_pages_is_told(tmp_path: Path) -> None:
    found, letters = read(write(tmp_path, HEAD + page(1, "x"), "dump.xml"))
    assert ids(found) == ["1"]
    assert [letter.reason for letter in letters] == ["the dump does not end with </mediawiki>: it is cut off"]


def test_huge_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    huge = "word " * 600_000
    data = HEAD + page(1, "a") + page(2, huge) + page(3, "b") + FOOT
    source = open_source(write(tmp_path, data, "dump.xml"), batch_bytes=1 << 20)
    assert [batch.table["id"].to_pylist() for batch in source] == [["1"], ["2"], ["3"]]
    from pychunk.io.wiki import mediawiki

    monkeypatch.setattr(mediawiki._Scan, "__init__", _limited(mediawiki._Scan.__init__, 1 << 20))
    found, letters = read(write(tmp_path, data, "dump.xml"))
    assert (ids(found), len(letters)) == (["1", "3"], 1)
    assert "longer than 1,048,576 bytes" in letters[0].reason


def _limited(original: object, size: int) -> object:
    return lambda self, file, dead_letters, _: original(self, file, dead_letters, size)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), max_size=6), st.integers(1, 400))
def test_borders_of_blocks_do_not_matter(texts: list[str], size: int) -> None:
    from pychunk.io.document_batches import refuse
    from pychunk.io.wiki import mediawiki

    plain = HEAD + b"".join(page(i, text) for i, text in enumerate(texts)) + FOOT
    blocks = (bzip2.Block(plain[i : i + size], i) for i in range(0, len(plain), size))
    found = mediawiki.pages(blocks, "f", refuse, mediawiki.PageFilter())
    assert [mediawiki.Parsed(each.data).texts[("revision", "text")] for each in found] == texts
