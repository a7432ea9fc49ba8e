"""Collect text in many languages from Debian packages and repositories, for training the multilingual table.

The command takes a folder of ``.deb`` files, one of apt's lists of translated descriptions, and checkouts of other
sources, whichever are there. It writes four files of JSON lines:

- ``documents.jsonl``: a language and consecutive sentences;
- ``pairs.jsonl``: a source, a language, a text and its English translation;
- ``parallel.jsonl``: an article, sentence by sentence, in many languages;
- ``titles.jsonl``: the titles of a Wikipedia article in many languages.

Each source and its licence are in ``SOURCES``.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq

import pychunk

#: What the command reads, by the name in its output: how to get it, and its licence.
SOURCES = {
    "descriptions": ("apt-get update -o Acquire::Languages=...: Translation-* of Debian", "as of each package"),
    "libreoffice": ("libreoffice-help-*, libreoffice-l10n-* of Debian", "MPL-2.0"),
    "gimp": ("gimp-help-* of Debian", "GFDL-1.2"),
    "gnome": ("gnome-user-docs of Debian", "CC-BY-SA-3.0"),
    "handbook": ("debian-handbook of Debian", "CC-BY-SA-3.0 or GPL-2+"),
    "mediawiki": ("mediawiki of Debian: messages", "GPL-2+"),
    "freedict": ("dict-freedict-* of Debian", "GPL-2+ or CC-BY-SA-3.0"),
    "quran": ("github.com/risan/quran-json", "CC-BY-SA-4.0"),
    "leipzig": ("github.com/pemistahl/lingua-py: sentences of the Leipzig Corpora Collection", "CC-BY-4.0"),
    "treebanks": ("github.com/UniversalDependencies: sentences alone", "CC-BY or CC-BY-SA; no others are read"),
    "voice": ("github.com/mozilla/voice-web: sentences to be read aloud, without wiki.*", "CC0-1.0"),
    "wikipedia": ("English Wikipedia; wiki.* of github.com/mozilla/voice-web", "CC-BY-SA-3.0 or 4.0"),
    "thaigov": ("github.com/PyThaiNLP/thaigov-v2-corpus: news", "public domain"),
    "wisesight": ("github.com/PyThaiNLP/wisesight-sentiment: messages", "CC0-1.0"),
    "koziev": ("github.com/Koziev/NLP_Datasets: Russian sentences", "CC0-1.0"),
    "ntrex": ("github.com/MicrosoftTranslator/NTREX: news", "CC-BY-SA-4.0"),
    "tatoeba": ("github.com/facebookresearch/LASER: sentences of Tatoeba", "CC-BY-2.0-FR"),
    "catalogues": ("messages of programs in Debian, such as gnucash-common", "GPL or LGPL, as of each package"),
    "wesnoth": ("wesnoth-1.16-data of Debian: stories and dialogues", "GPL-2+"),
    "titles": ("github.com/open-dict-data/wikidict-*: titles of Wikipedia's articles from Wikidata", "CC0-1.0"),
}
#: Sources of general text; the others are manuals of software, and words.
GENERAL = {"voice", "wikipedia", "treebanks", "leipzig", "thaigov", "wisesight", "koziev"}
#: The packages whose messages are read besides LibreOffice's.
CATALOGUES = {
    "aptitude-common", "darktable", "digikam-data", "evolution-common", "gimp-data", "gnome-control-center-data",
    "gnucash-common", "inkscape", "kalzium-data", "kdenlive-data", "kmymoney-common", "krita-l10n", "kstars-data",
    "okular",
}  # fmt: skip
#: Longer texts are no sentences.
LONGEST = 600
#: The most pages of one language's manual that are read.
PAGES = 300
CODES = {"nb": "no", "nn": "no"}
ISO3 = {
    "ara": "ar", "bul": "bg", "ces": "cs", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "fin": "fi",
    "fra": "fr", "hin": "hi", "hrv": "hr", "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kur": "ku",
    "lat": "la", "lit": "lt", "mkd": "mk", "nld": "nl", "nor": "no", "pol": "pl", "por": "pt", "rom": "ro",
    "rus": "ru", "san": "sa", "slk": "sk", "slv": "sl", "spa": "es", "srp": "sr", "swe": "sv", "swh": "sw",
    "tur": "tr", "cat": "ca", "afr": "af", "cym": "cy", "gle": "ga", "isl": "is", "oci": "oc", "epo": "eo",
    "ukr": "uk", "ron": "ro", "pes": "fa", "fas": "fa", "arb": "ar", "ben": "bn", "cmn": "zh",
    "zho": "zh", "kor": "ko", "tha": "th", "vie": "vi", "heb": "he", "nob": "no", "tam": "ta", "urd": "ur",
    "est": "et", "kat": "ka", "hye": "hy", "zsm": "ms", "msa": "ms", "eus": "eu", "swa": "sw",
}  # fmt: skip


@dataclass
class Texts:
    """The documents and pairs that were read so far."""

    documents: list[tuple[str, str, list[str]]] = field(default_factory=list)
    pairs: dict[tuple[str, str, str], str] = field(default_factory=dict)
    parallel: list[dict[str, list[str]]] = field(default_factory=list)

    def add(self, source: str, language: str, paragraphs: list[str]) -> None:
        """Add a document."""
        self.documents.append((source, code(language), paragraphs))

    def pair(self, source: str, language: str, text: str, english: str) -> None:
        """Add a text with its English translation, if neither is too long or too short."""
        text, english = clean(text), clean(english)
        if 2 < len(text) <= LONGEST and 2 < len(english) <= LONGEST and text != english:
            self.pairs.setdefault((code(language), text, english), source)


def code(language: str) -> str:
    """Return the two letters of a language, for the names that the sources use."""
    low = re.split("[_@-]", language.lower())[0]
    return CODES.get(low, low)


def clean(text: str) -> str:
    """Return a text in one line."""
    return re.sub(r"\s+", " ", text).strip()


def members(deb: Path, pattern: str) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yield the matches and contents of a package's files whose names match a pattern."""
    done = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            if member.isfile() and (match := re.search(pattern, member.name)):
                found = archive.extractfile(member)
                if found is not None:
                    yield match, found.read()


def descriptions(lists: Path, into: Texts) -> None:
    """Read the translated descriptions of packages; equal digests name translations of one description."""
    english: dict[str, list[str]] = {}
    files = sorted(lists.glob("*Translation-*.lz4"), key=lambda file: ("Translation-en" not in file.name, file.name))
    for file in files:
        language = file.name.split("Translation-")[1].removesuffix(".lz4").replace("%5f", "_")
        text = subprocess.run(["lz4cat", str(file)], capture_output=True, check=True).stdout.decode("utf-8", "replace")
        seen: set[str] = set()
        for record in text.split("\n\n"):
            found = re.search(r"^Description-md5: (\w+)\nDescription-[\w@]+: (.*)\n?((?: .*\n?)*)", record, re.M)
            if not found:
                continue
            digest, title, body = found.groups()
            paragraphs = [title, *(clean(part) for part in re.split(r"^ \.$", body, flags=re.M))]
            if language == "en":
                english[digest] = paragraphs
            elif digest in english and len(english[digest]) == len(paragraphs):
                pairs = [(a, b) for a, b in zip(paragraphs, english[digest], strict=True) if a and a != b]
                for text_, english_ in pairs:
                    if text_ not in seen and len(seen) < 40_000:
                        into.pair("descriptions", language, text_, english_)
                paragraphs = [a for a, _ in pairs if a not in seen]
                seen.update(paragraphs)
            if len(seen) < 40_000 and paragraphs and (language != "en" or len(english) < 12_000):
                into.add("descriptions", language, paragraphs)


def html(source: str, deb: Path, pattern: str, language: str | None, into: Texts) -> None:
    """Read the pages of a manual, whose language is given or the first group of the pattern."""
    for at, (name, content) in enumerate(members(deb, pattern)):
        if language and at >= PAGES:
            return
        try:
            parsed = pychunk.parse(content.decode("utf-8", "replace"), markup="html").texts[0][0].as_py()
        except ValueError:  # a page without text
            continue
        own = language or name[1]
        lines = [clean(re.sub(r"^[#>|*\s-]+|[`|*]+", " ", line)) for line in parsed.split("\n")]
        into.add(source, own, [line for line in lines if line])


def gnome(deb: Path, into: Texts) -> None:
    """Read the paragraphs of GNOME's pages; those of translations follow the English ones."""
    pages: dict[tuple[str, str], list[str]] = {}
    for name, content in members(deb, r"/help/([\w@]+)/(.*\.page)$"):
        try:
            root = ElementTree.fromstring(content)
        except ElementTree.ParseError:
            continue
        wanted = [part for part in root.iter() if part.tag.rpartition("}")[2] in {"p", "title"}]
        pages[name[1], name[2]] = [clean("".join(part.itertext())) for part in wanted]
    for (language, page), paragraphs in pages.items():
        english = pages.get(("C", page), [])
        into.add("gnome", "en" if language == "C" else language, [part for part in paragraphs if part])
        if language != "C" and len(english) == len(paragraphs):
            for text, other in zip(paragraphs, english, strict=True):
                into.pair("gnome", language, text, other)


def mediawiki(deb: Path, into: Texts) -> None:
    """Read messages of MediaWiki without their markup."""
    found: dict[str, dict[tuple[str, str], str]] = {}
    for name, content in members(deb, r"/i18n/.*?[a-z-]+\.json$"):
        language = Path(name.string).stem
        if language in {"qqq", "qqx"} or len(language) > 7:
            continue
        for key, value in json.loads(content).items():
            if isinstance(value, str) and not re.search(r"[{<|$]", value):
                text = clean(re.sub(r"[\[\]'*=#:]{2,}|\[\S+ |\]", " ", value))
                found.setdefault(language, {})[str(Path(name.string).parent), key] = text
    for language, messages in found.items():
        for key, text in messages.items():
            if language != "en" and key in found["en"]:
                into.pair("mediawiki", language, text, found["en"][key])


def messages(source: str, deb: Path, into: Texts) -> None:
    """Read the messages of a program without markup. Those with a place for a value are left out."""
    for name, content in members(deb, r"/([\w@.-]+)/LC_MESSAGES/.*\.mo$"):
        language = name[1]
        if "latin" in language.lower() or code(language) == "en":  # another script than usual
            continue
        try:  # gettext has no public list of a file's messages
            catalogue = gettext.GNUTranslations(io.BytesIO(content))._catalog  # type: ignore[attr-defined]
        except (ValueError, LookupError, OSError):  # broken, or a rule for plurals or a charset is not filled in
            continue
        for key, text in catalogue.items():
            if isinstance(key, str) and isinstance(text, str) and key and not re.search(r"%[\w(]|[{$]\w", key):
                english = re.split(r"[\x04|^]", key)[-1]  # what stands before it says where the message is used
                text, english = (re.sub(r"<[^>]*>|&\w+;|[_~&]", "", part) for part in (text, english))
                into.pair(source, language, text, english)


def freedict(deb: Path, into: Texts) -> None:
    """Read headwords with their translations to or from English."""
    first, second = deb.name.partition("_")[0].split("-")[2:4]
    if "eng" not in (first, second) or not {first, second} <= set(ISO3):
        return
    for _, content in members(deb, r"\.dict\.dz$"):
        entries = re.split(r"\n(?=\S)", gzip.decompress(content).decode("utf-8", "replace"))
        for entry in entries:
            head, _, rest = entry.partition("\n")
            word = clean(re.sub(r"/[^/]*/|<[^>]*>|\[[^\]]*\]", " ", head))
            lines = [clean(re.sub(r"^\s*\d+\.|<[^>]*>|\[[^\]]*\]|\([^)]*\)", " ", line)) for line in rest.splitlines()]
            meaning = next((line for line in lines if line and not line.startswith(("Synonym", "see", "See"))), "")
            meaning = meaning.split(";")[0].split(",")[0].strip()
            if word and meaning and len(word) < 60 and len(meaning) < 60:
                pair = (meaning, word) if first == "eng" else (word, meaning)
                into.pair("freedict", ISO3[second if first == "eng" else first], *pair)


def articles(file: Path, into: Texts) -> None:
    """Read the first 4,000 articles of a Parquet file."""
    for text in pq.read_table(file, columns=["text"])["text"].slice(0, 4000).to_pylist():
        into.add("wikipedia", "en", text.split("\n"))


def sentences(documents: Iterable[tuple[str, str, list[str]]]) -> Iterator[dict[str, object]]:
    """Cut paragraphs into sentences, leave out repeated ones, and yield the documents that are left."""
    seen: set[bytes] = set()
    batch = list(documents)
    for start in range(0, len(batch), 4096):
        part = batch[start : start + 4096]
        cut = pychunk.segment(["\n\n".join(paragraphs) for _, _, paragraphs in part], "sentence").table
        held: list[list[str]] = [[] for _ in part]
        for at, text in zip(cut["document_index"].to_pylist(), cut["text"].to_pylist(), strict=True):
            text = clean(text)
            digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
            if 2 < len(text) <= LONGEST and digest not in seen and re.search(r"\w", text):
                seen.add(digest)
                held[at].append(text)
        for (source, language, _), lines in zip(part, held, strict=True):
            if lines:
                yield {"source": source, "language": language, "sentences": lines}


def main() -> int:
    """Read what is there and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debs", type=Path, help="folder of .deb files")
    parser.add_argument("--lists", type=Path, help="folder of apt's lists")
    parser.add_argument("--repositories", type=Path, help="folder of folders OWNER+NAME with a git directory repo")
    parser.add_argument("--articles", type=Path, help="Parquet file of English articles, with a column text")
    parser.add_argument("--out", type=Path, required=True, help="folder for the four files")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    texts = Texts()
    if options.lists:
        descriptions(options.lists, texts)
    for deb in sorted(options.debs.glob("*.deb")) if options.debs else ():
        print(deb.name, len(texts.documents), len(texts.pairs), file=sys.stderr, flush=True)
        name = deb.name.partition("_")[0]
        language = name.split("-", 2)[-1] if name.count("-") > 1 else ""
        if name.startswith("libreoffice-help-") and language != "common":
            html("libreoffice", deb, r"/help/.*\.html$", "en" if language == "en-us" else language, texts)
        elif name.startswith("gimp-help-") and language != "common":
            html("gimp", deb, r"/help/.*\.html$", language, texts)
        elif name == "debian-handbook":
            html("handbook", deb, r"/html/([a-zA-Z-]+)/.*\.html$", None, texts)
        elif name == "gnome-user-docs":
            gnome(deb, texts)
        elif name == "mediawiki":
            mediawiki(deb, texts)
        elif name.startswith("libreoffice-l10n-"):
            messages("libreoffice", deb, texts)
        elif name.startswith("wesnoth-"):
            messages("wesnoth", deb, texts)
        elif name in CATALOGUES:
            messages("catalogues", deb, texts)
        elif name.startswith("dict-freedict-"):
            freedict(deb, texts)
    if options.repositories:
        from .repositories import read_all, titles

        read_all(options.repositories, texts)
        with (options.out / "titles.jsonl").open("w", encoding="utf-8") as stream:
            for names in titles(options.repositories):
                stream.write(json.dumps(names, ensure_ascii=False) + "\n")
    if options.articles:
        articles(options.articles, texts)
    with (options.out / "documents.jsonl").open("w", encoding="utf-8") as stream:
        for document in sentences(texts.documents):
            stream.write(json.dumps(document, ensure_ascii=False) + "\n")
    with (options.out / "pairs.jsonl").open("w", encoding="utf-8") as stream:
        for (language, text, english), source in texts.pairs.items():
            pair = {"source": source, "language": language, "text": text, "english": english}
            stream.write(json.dumps(pair, ensure_ascii=False) + "\n")
    with (options.out / "parallel.jsonl").open("w", encoding="utf-8") as stream:
        for article in texts.parallel:
            stream.write(json.dumps(article, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
