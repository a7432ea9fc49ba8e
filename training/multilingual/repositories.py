"""Read sentences in many languages from git directories, for :mod:`training.multilingual.texts`."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from .texts import ISO3, Texts, clean, code

#: The most sentences that are read of a source in one language.
MOST = 60_000
#: Every so many news of the Thai government are read, of 63,000.
EVERY = 12


def files(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a git directory's newest commit whose names match a pattern, as far as they are there."""
    git = ["git", "-C", str(path), "-c", "core.quotePath=false"]
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, check=True, text=True)
    for name in names.stdout.splitlines():
        if re.search(pattern, name):
            done = subprocess.run([*git, "show", f"HEAD:{name}"], capture_output=True, check=False)
            if done.returncode == 0:
                yield name, done.stdout


def quran(path: Path, into: Texts) -> None:
    """Read the editions of the Quran, each verse with its English translation."""
    verses = {}
    for name, content in files(path, r"^data/editions/[a-z]{2}\.json$"):
        chapters = json.loads(content)
        chapters = list(chapters.values()) if isinstance(chapters, dict) else chapters
        verses[Path(name).stem] = [
            [verse["text"] for verse in (chapter["verses"] if isinstance(chapter, dict) else chapter)]
            for chapter in chapters
        ]
    for language, own in verses.items():
        for at, chapter in enumerate(own):
            into.add("quran", language, chapter)
            for text, english in zip(chapter, verses["en"][at], strict=False) if language != "en" else ():
                into.pair("quran", language, text, english)


def leipzig(path: Path, into: Texts) -> None:
    """Read the sentences with which lingua is tested."""
    for name, content in files(path, r"^language-testdata/sentences/"):
        for line in content.decode().splitlines():
            into.add("leipzig", Path(name).stem, [line])


def treebank(path: Path, into: Texts) -> None:
    """Read the sentences of a treebank, if its licence is CC BY or CC BY-SA."""
    about = b"".join(text for _, text in files(path, r"^README\.(md|txt)$"))
    if not re.search(rb"^License: *CC BY(-SA)? [34]\.0", about, re.M):
        return
    for name, content in files(path, r"^[a-z]{2}_\w+-ud-\w+(-\w+)?\.conllu$"):
        lines = re.findall(r"^# text = (.*)$", content.decode(), re.M)
        for start in range(0, min(len(lines), 12_000), 40):
            into.add("treebanks", Path(name).name[:2], lines[start : start + 40])


def voice(path: Path, into: Texts) -> None:
    """Read the sentences of Common Voice, which do not belong together."""
    for name, content in files(path, r"^server/data/[\w-]+/(?!singleword)[\w.-]+\.txt$"):
        lines = content.decode("utf-8", "replace").splitlines()
        source = "wikipedia" if "/wiki" in name else "voice"
        for line in lines[:: 1 + len(lines) // MOST]:
            into.add(source, name.split("/")[2], [line])


def lines_of(source: str, language: str, pattern: str, path: Path, into: Texts) -> None:
    """Read the lines of text files, which do not belong together."""
    for _, content in files(path, pattern):
        for line in content.decode("utf-8", "replace").splitlines():
            into.add(source, language, [line])


def thaigov(path: Path, into: Texts) -> None:
    """Read news of the Thai government without the line that names their page."""
    git = ["git", "-C", str(path)]
    listed = subprocess.run([*git, "ls-tree", "-r", "HEAD", "data"], capture_output=True, check=True, text=True)
    blobs = [line.split()[2] for line in listed.stdout.splitlines()][::EVERY]
    done = subprocess.run(
        [*git, "cat-file", "--batch"], input="\n".join(blobs).encode(), capture_output=True, check=True
    )
    at = 0
    while at < len(done.stdout):
        end = done.stdout.index(b"\n", at)
        head = done.stdout[at:end].split()
        at = end + 1
        if head[1] == b"blob":
            size = int(head[2])
            text = done.stdout[at : at + size].decode("utf-8", "replace")
            into.add("thaigov", "th", [line for line in text.splitlines() if line.strip() and "http" not in line])
            at += size + 1


def ntrex(path: Path, into: Texts) -> None:
    """Read news that people translated from English, sentence by sentence."""
    versions: dict[str, list[str]] = {}
    for name, content in files(path, r"^NTREX-128/newstest2019-(ref|src)\.[\w-]+\.txt$"):
        language = ISO3.get(name.split(".")[1][:3])
        if language and not re.search(r"-(GB|IN|US|MX|CA|TW|BR|Latn)\.", name):
            versions[language] = [clean(line) for line in content.decode().split("\n")]
    ((_, names),) = files(path, r"^DOCUMENT_IDS.tsv$")
    articles: dict[str, list[int]] = defaultdict(list)
    for at, name in enumerate(names.decode().split()):
        articles[name].append(at)
    for rows in articles.values():
        into.parallel.append({language: [lines[at] for at in rows] for language, lines in sorted(versions.items())})


def tatoeba(path: Path, into: Texts) -> None:
    """Read sentences of Tatoeba with their English translations."""
    lines = {name.split("/")[-1]: text.decode() for name, text in files(path, r"^data/tatoeba/v1/tatoeba\..*-eng\.")}
    for name, text in lines.items():
        found = re.fullmatch(r"tatoeba\.(\w{3})-eng\.\1", name)
        if found and found[1] in ISO3:
            english = lines[name.removesuffix(found[1]) + "eng"]
            for own, other in zip(text.split("\n"), english.split("\n"), strict=False):
                into.pair("tatoeba", ISO3[found[1]], own, other)


def pud(mirrors: Path, into: Texts) -> None:
    """Read the sentences of the parallel treebanks with their English translations."""
    versions: dict[str, dict[str, str]] = {}
    for folder in sorted(mirrors.glob("UniversalDependencies+UD_*-PUD")):
        for name, content in files(folder / "repo", r"^[a-z]{2}_pud-ud-test\.conllu$"):
            text = content.decode()
            keys, lines = re.findall(r"^# sent_id = (.*)$", text, re.M), re.findall(r"^# text = (.*)$", text, re.M)
            versions[name[:2]] = dict(zip(keys, lines, strict=True))
    english = versions.pop("en", {})
    for language, sentences in versions.items():
        for key in sorted(sentences.keys() & english.keys()):
            into.pair("treebanks", language, sentences[key], english[key])


def titles(mirrors: Path) -> Iterator[dict[str, str]]:
    """Yield the titles of a Wikipedia article in each of at least six languages.

    A file joins the titles of two languages. Articles with two titles in a language are left out, and so are what is in
    brackets, years and pages of other kinds, whose titles have a colon.
    """
    known = {*ISO3.values()}
    first: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        while first.setdefault(node, node) != node:
            first[node] = node = first[first[node]]
        return node

    for folder in sorted(mirrors.glob("open-dict-data+wikidict-*")):
        for name, content in files(folder / "repo", r"^data/\w+-\w+_wiki\.txt$"):
            one, other = name[len("data/") : -len("_wiki.txt")].split("-")
            if not {one, other} <= known:
                continue
            for line in content.decode("utf-8", "replace").split("\n"):
                pair = [part.strip() for part in line.split("\t")]
                if len(pair) == 2 and all(re.search(r"[^\W\d]", part) and ":" not in part for part in pair):
                    first[root((one, pair[0]))] = root((other, pair[1]))
    joined: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for node in sorted(first):
        joined[root(node)].append(node)
    for nodes in joined.values():
        found = {code(language): re.sub(r"\s*\([^)]*\)$", "", title) for language, title in nodes}
        if 6 <= len(found) == len(nodes):
            yield found


def read_all(mirrors: Path, into: Texts) -> None:
    """Read the git directories ``OWNER+NAME/repo`` of a folder whose names are known."""
    for folder in sorted(mirrors.glob("*")):
        path = folder / "repo"
        if folder.name.endswith("+quran-json"):
            quran(path, into)
        elif folder.name.endswith("+lingua-py"):
            leipzig(path, into)
        elif "+UD_" in folder.name:
            treebank(path, into)
        elif folder.name.endswith("+voice-web"):
            voice(path, into)
        elif folder.name.endswith("+thaigov-v2-corpus"):
            thaigov(path, into)
        elif folder.name.endswith("+wisesight-sentiment"):
            lines_of("wisesight", "th", r"^(neg|neu|pos|q)\.txt$", path, into)
        elif folder.name.endswith("+NLP_Datasets"):
            lines_of("koziev", "ru", r"^Samples/(facts|questions)\w+\.txt$", path, into)
        elif folder.name.endswith("+NTREX"):
            ntrex(path, into)
        elif folder.name.endswith("+LASER"):
            tatoeba(path, into)
    pud(mirrors, into)
