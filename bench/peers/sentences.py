"""Sentence splitting: F1 over sentence ends on documents with gold sentences, and speed, against other splitters.

An end is the last character of a sentence that is not white space; the document's end is not counted. `inside` counts
only ends that are not at a line break. The table lists splitters that are not installed as such.

If the data folder has a table of cases, a second table counts by kind the cases with all boundaries right. A line of it
is name, tab, language, tab, text, where "¦" marks the ends inside the text. The peers get the language, pychunk does
not.

    python bench/peers/sentences.py --data ../shared/data
    python bench/peers/sentences.py --conllu de_gsd-ud-test.conllu      any treebank of Universal Dependencies
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pychunk._engine import native

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

Splitter = Callable[[str], list[str]]
_BASELINE = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|\n+")


def pychunk_ends(text: str) -> set[int]:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    starts, _ = native.split_texts(data, np.array([0, len(data)]), threads=1)
    characters = [len(bytes(data[:start]).decode()) for start in starts.values.tolist()]
    return ends_of(text, [*characters[1:], len(text)])


def ends_of(text: str, stops: list[int]) -> set[int]:
    return {len(text[:stop].rstrip()) for stop in stops if text[:stop].strip()}


def regex_ends(text: str) -> set[int]:
    return ends_of(text, [match.end() for match in _BASELINE.finditer(text)] + [len(text)])


def aligned(text: str, sentences: list[str]) -> set[int]:
    """Return the ends of sentences that a splitter returned as strings."""
    position, found = 0, set()
    for sentence in sentences:
        for character in sentence:
            if not character.isspace():
                while position < len(text) and text[position] != character:
                    position += 1
                position += 1
        found.add(position)
    return found


def others() -> dict[str, Callable[[str], set[int]] | str]:
    """Return peers by name, or a reason for one that cannot run."""
    found: dict[str, Callable[[str], set[int]] | str] = {}
    try:
        import sentencex

        found["sentencex"] = lambda text: aligned(text, list(sentencex.segment("en", text)))
    except ImportError:
        found["sentencex"] = "not installed"
    try:
        import blingfire

        found["blingfire"] = lambda text: aligned(text, blingfire.text_to_sentences(text).split("\n"))
    except (ImportError, OSError):
        found["blingfire"] = "not installed"
    try:
        import pysbd

        segmenter = pysbd.Segmenter(language="en", clean=False)
        found["pysbd"] = lambda text: aligned(text, segmenter.segment(text))
    except ImportError:
        found["pysbd"] = "not installed"
    try:
        from nltk.tokenize.punkt import PunktSentenceTokenizer

        punkt = PunktSentenceTokenizer()
        found["punkt (untrained)"] = lambda text: aligned(text, punkt.tokenize(text))
    except ImportError:
        found["punkt (untrained)"] = "not installed"
    return found


def peers_by_language() -> dict[str, Callable[[str, str], set[int]] | str]:
    """Return peers that take (language, text), for the table of cases, or a reason for one that cannot run."""
    found: dict[str, Callable[[str, str], set[int]] | str] = {}
    try:
        import sentencex

        found["sentencex"] = lambda language, text: aligned(text, list(sentencex.segment(language, text)))
    except ImportError:
        found["sentencex"] = "not installed"
    try:
        import pysbd

        def split(language: str, text: str) -> set[int]:
            known = language if language in pysbd.languages.LANGUAGE_CODES else "en"
            return aligned(text, pysbd.Segmenter(language=known, clean=False).segment(text))

        found["pysbd"] = split
    except ImportError:
        found["pysbd"] = "not installed"
    return found


def read_cases(file: Path) -> list[tuple[str, str, str, set[int]]]:
    """Return (name, language, text, sentence ends inside it) for each line of a table of cases."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, language, marked = line.split("\t")
        marked = marked.replace("\\n", "\n")
        text, ends, at = marked.replace("¦", ""), set[int](), 0
        for part in marked.split("¦")[:-1]:
            at += len(part)
            ends.add(len(text[:at].rstrip()))
        found.append((name, language, text, ends))
    return found


def case_rows(file: Path, peers: bool) -> list[dict[str, Any]]:
    """Return the number of cases that each splitter has right, and those that it has wrong."""
    cases = read_cases(file)
    rows: dict[str, Callable[[str, str], set[int]] | str] = {"pychunk": lambda _, text: pychunk_ends(text)}
    if peers:
        rows.update(peers_by_language())
    found: list[dict[str, Any]] = []
    for name, ends in rows.items():
        if isinstance(ends, str):
            found.append({"splitter": name, "right": ends})
            continue
        wrong = []
        for case, language, text, wanted in cases:
            if {at for at in ends(language, text) if at < len(text.rstrip())} != wanted:
                wrong.append(case)
        found.append({"splitter": name, "right": len(cases) - len(wrong), "cases": len(cases), "wrong": wrong})
    return found


def read_conllu(file: Path) -> list[dict]:
    """Return documents of a CoNLL-U treebank, with a line break between paragraphs; ten sentences each if unmarked."""
    whole = file.read_text()
    marked = 2 <= 2 * whole.count("\n# newdoc") < whole.count("\n# sent_id")
    documents: list[dict] = []
    text, spans, gap = "", [], ""
    for number, block in enumerate(whole.split("\n\n")):
        lines = block.splitlines()
        sentence = next((line[len("# text = ") :].strip() for line in lines if line.startswith("# text = ")), "")
        if not sentence:
            continue
        if any(line.startswith("# newdoc") for line in lines) if marked else number % 10 == 0:
            documents.append({"text": text, "sentences": spans})
            text, spans, gap = "", [], ""
        elif any(line.startswith("# newpar") for line in lines):
            gap = "\n"
        text += gap if spans else ""
        spans.append([len(text), len(text) + len(sentence)])
        text += sentence
        gap = "" if "SpaceAfter=No" in lines[-1] else " "
    return [document for document in [*documents, {"text": text, "sentences": spans}] if document["sentences"]]


def f1(documents: list[dict], ends: Callable[[str], set[int]], inside: bool) -> float:
    right = found = wanted = 0
    for document in documents:
        text = document["text"]
        last = len(text.rstrip())

        def counted(positions: set[int], text: str = text, last: int = last) -> set[int]:
            kept = {p for p in positions if p < last}
            if inside:
                kept = {p for p in kept if "\n" not in re.match(r"\s*", text[p:]).group()}
            return kept

        gold = counted({len(text[:stop].rstrip()) for _, stop in document["sentences"]})
        mine = counted(ends(text))
        right += len(gold & mine)
        found += len(mine)
        wanted += len(gold)
    return 200 * right / max(1, found + wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("PYCHUNK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder that holds sentences/*.jsonl")
    parser.add_argument("--conllu", type=Path, nargs="+", metavar="FILE", help="treebanks to measure on instead")
    parser.add_argument("--no-peers", action="store_true", help="only pychunk and the regex baseline")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    files = options.conllu or sorted((options.data / "sentences").glob("*.jsonl"))
    if not files:
        raise SystemExit(f"no sentences/*.jsonl under {options.data}: pass --data or set PYCHUNK_DATA")
    corpora = {
        file.stem: read_conllu(file)
        if file.suffix == ".conllu"
        else [json.loads(line) for line in file.read_text().splitlines()]
        for file in files
    }
    rows: dict[str, Callable[[str], set[int]] | str] = {"pychunk": pychunk_ends, "regex": regex_ends}
    if not options.no_peers:
        rows.update(others())
    figures = []
    print(f"{'':20}" + "".join(f"{name:>22}" for name in corpora) + f"{'MB/s (with offsets)':>22}")
    for name, ends in rows.items():
        if isinstance(ends, str):
            print(f"{name:20}  {ends}")
            continue
        cells = []
        begun = time.perf_counter()
        for documents in corpora.values():
            cells.append(f"{f1(documents, ends, False):.1f} / {f1(documents, ends, True):.1f}")
        taken = time.perf_counter() - begun
        size = 2 * sum(len(d["text"].encode()) for documents in corpora.values() for d in documents)
        print(f"{name:20}" + "".join(f"{cell:>22}" for cell in cells) + f"{size / taken / 1e6:>22.2f}")
        figures.append({"row": name, **dict(zip(corpora, cells)), "MB/s": size / taken / 1e6})
    table = options.data.parent / "cases" / "text" / "01-sentences.txt"
    cases = case_rows(table, not options.no_peers) if table.exists() else []
    for row in cases:
        print(f"{row['splitter']:20} {row['right']} of {row.get('cases', '?')} cases right")
    if not cases:
        print(f"cases: skipped, for there is no {table.name} beside the data")
    if options.save:
        about = (
            "F1 over the ends of sentences, in percent: of all ends / of those that are not at a line break. The time "
            'for MB/s includes the offsets of the sentences. "Cases" counts the cases in which a splitter finds all '
            "boundaries and no others. The other packages get the language of each case; pychunk does not."
        )
        packages = ("sentencex", "blingfire", "pysbd", "nltk")
        record.save(
            options.save, "Sentence splitting", {"rows": figures, "Cases": cases}, about=about, packages=packages
        )


if __name__ == "__main__":
    main()
