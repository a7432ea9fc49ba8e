"""Wikitext to plain text compared with mwparserfromhell: prose words lost, remnants of markup, and speed.

The seconds are those of one CPU core, so that other work on the machine does not count. The peer's text is strip_code()
after removal of templates, references, tables, galleries, files and categories. Its parser is also timed alone. A prose
line has eight words or more. A word is lost if the peer's prose has it more often than our text.

    python bench/ingestion/wikitext.py ../shared/data/wiki/enwiki-sample-pages-articles.xml.bz2
    python bench/ingestion/wikitext.py dump.xml.bz2 --pages 500 --worst 20
    python bench/ingestion/wikitext.py dump.xml.bz2 --stages
"""

from __future__ import annotations

import argparse
import bz2
import re
import statistics
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pychunk.io.decompression import bzip2, streams
from pychunk.io.document_batches import refuse
from pychunk.io.wiki import mediawiki
from pychunk.io.wiki.mediawiki import PageFilter
from pychunk.io.wiki.wikitext import Cleaner

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

REMNANT = re.compile(r"\{\{|\}\}|\[\[|\]\]|<ref|\{\||\|\}|</?[a-zA-Z][^<>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);|'''")
_WORD = re.compile(r"\w+")
# The peer does not recognise tags if quotes inside are not balanced; their marks stay in its text.
_PEER_LEFT = re.compile(r"<ref\b[^<>]*>.*?</ref>|\[\[(?:File|Image):.*?\]\]", re.DOTALL | re.IGNORECASE)


def peer_text(wikitext: str) -> str:
    """Return the plain text that mwparserfromhell makes."""
    import mwparserfromhell

    code = mwparserfromhell.parse(wikitext)
    hidden = {"ref", "table", "references", "gallery"}
    removed = [
        *code.ifilter_templates(),
        *code.ifilter_tags(matches=lambda tag: str(tag.tag).strip().lower() in hidden),
        *code.ifilter_wikilinks(matches=lambda link: re.match(r"\s*(file|image|category)\s*:", str(link.title), re.I)),
    ]
    for node in removed:
        try:
            code.remove(node)
        except ValueError:  # already removed with the node that held it
            continue
    return _PEER_LEFT.sub("", str(code.strip_code()))


def parse_seconds(texts: list[str]) -> float:
    import mwparserfromhell

    begun = time.process_time()
    for text in texts:
        mwparserfromhell.parse(text)
    return time.process_time() - begun


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def lost_words(peer: str, ours: str) -> tuple[Counter[str], int]:
    """Return the words of the peer's prose that our text lacks, and all words of the peer's prose."""
    prose = [line for line in peer.split("\n") if len(line.split()) >= 8 and line.lstrip()[:1] not in "|!{"]
    theirs = words("\n".join(prose))
    return theirs - words(ours), theirs.total()


def wikitexts(path: str) -> list[tuple[str, str]]:
    """Return the title and wikitext of a dump's articles."""
    with open(path, "rb") as file:
        found = mediawiki.pages(streams.blocks(file, path, refuse), path, refuse, PageFilter())
        pairs = []
        for page in found:
            texts = mediawiki.Parsed(page.data).texts
            pairs.append((texts[("title",)], texts[("revision", "text")]))
    return pairs


def print_stages(path: str, rounds: int = 5) -> None:
    """Print MB of XML a second for each stage from a bzip2 file to documents, and for libbz2: medians of one core."""
    packed = Path(path).read_bytes()

    def plain() -> list[bzip2.Block]:
        with open(path, "rb") as file:
            return list(streams.blocks(file, path, refuse))

    blocks = plain()
    size = sum(len(block.data) for block in blocks)
    found = list(mediawiki.pages(iter(blocks), path, refuse, PageFilter()))
    steps = {
        "libbz2": lambda: [*map(len, libbz2(packed))],
        "decompression": plain,
        "pages": lambda: list(mediawiki.pages(iter(blocks), path, refuse, PageFilter())),
        "XML of the pages": lambda: [mediawiki.Parsed(page.data) for page in found],
        "XML and wikitext": lambda: mediawiki.rendered(found, PageFilter()),
    }
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            begun = time.process_time()
            step()
            seconds[name].append(time.process_time() - begun)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    medians["all"] = sum(medians[name] for name in ("decompression", "pages", "XML and wikitext"))
    for name, each in medians.items():
        print(f"{name:>16}: {size / each / 1e6:7.1f} MB/s a core, {medians['libbz2'] / each:5.2f} times libbz2")


def libbz2(packed: bytes) -> Iterator[bytes]:
    """Yield the plain bytes of each stream, as Python's bz2 decompresses it."""
    while packed:
        decoder = bz2.BZ2Decompressor()
        yield decoder.decompress(packed)
        packed = decoder.unused_data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump")
    parser.add_argument("--pages", type=int, help="only the first articles")
    parser.add_argument("--worst", type=int, default=10, help="articles listed, those that lost most first")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--stages", action="store_true", help="print only the speed of each stage from file to text")
    arguments = parser.parse_args()
    if arguments.stages:
        print_stages(arguments.dump)
        return
    pages = wikitexts(arguments.dump)[: arguments.pages]
    size = sum(len(text.encode()) for _, text in pages)
    clean = Cleaner()
    begun = time.process_time()
    ours = [clean(text) for _, text in pages]
    seconds = time.process_time() - begun
    begun = time.process_time()
    theirs = [peer_text(text) for _, text in pages]
    peer_seconds = time.process_time() - begun

    parser_seconds = parse_seconds([text for _, text in pages])
    rows = []
    for (title, _), mine, peer in zip(pages, ours, theirs):
        lost, count = lost_words(peer, mine)
        rows.append((lost.total() / max(1, count), count, title, " ".join(word for word, _ in lost.most_common(6))))
    rows.sort(reverse=True)
    print(f"{'lost':>7} {'words':>7}  article")
    for share, count, title, examples in rows[: arguments.worst]:
        print(f"{share:7.2%} {count:7,}  {title}: {examples}")
    total = sum(count for _, count, _, _ in rows)
    lost_total = sum(share * count for share, count, _, _ in rows)
    print(f"{len(pages)} articles, {size / 1e6:.1f} MB of wikitext; prose words lost {lost_total / max(1, total):.3%}")
    print(f"articles that lost over 1 %: {sum(share > 0.01 for share, *_ in rows)}")
    remnants = [sum(1 for text in texts for _ in REMNANT.finditer(text)) for texts in (ours, theirs)]
    print(f"remnants of markup: pychunk {remnants[0]}, mwparserfromhell {remnants[1]}")
    for name, each in ("pychunk", seconds), ("mwparserfromhell", peer_seconds), ("its parser alone", parser_seconds):
        print(f"{name:>16}: {size / each / 1e6:6.2f} MB/s a core, {each / seconds:4.0f} times our seconds")
    if arguments.save:
        about = (
            '"Prose words lost" is the share of the words in mwparserfromhell\'s prose that are missing from '
            "pychunk's text. MB/s are for one core."
        )
        rates = [("pychunk", seconds, remnants[0]), ("mwparserfromhell", peer_seconds, remnants[1])]
        figures = {
            "articles": len(pages),
            "MB of wikitext": size / 1e6,
            "prose words lost, %": round(100 * lost_total / max(1, total), 4),
            "rows": [
                *({"row": name, "MB/s": size / each / 1e6, "remnants of markup": left} for name, each, left in rates),
                {"row": "mwparserfromhell, parser alone", "MB/s": size / parser_seconds / 1e6},
            ],
        }
        record.save(arguments.save, "Wikitext to plain text", figures, about=about, packages=["mwparserfromhell"])


if __name__ == "__main__":
    main()
