"""The text of pages compared with other extractors: word F1 on WCXB by domain, 4-gram F1 on articles, and speed."""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from pychunk.evaluation.measures import intervals
from pychunk.parsing.html.noise import find_noise
from pychunk.parsing.html.noise_model import NoiseModel, load
from pychunk.parsing.html.page import HtmlPage, parse_html

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from training import noise as training
from training.noise_pages import FOLDS, domain_of, f1, fold_of, words_of

PACKAGES = ("selectolax", "trafilatura", "readability-lxml", "jusText", "resiliparse")
_TOKEN = re.compile(r"\w+")
#: The separators between a headline and the name of its site in titles.
_TITLE_PARTS = re.compile(r"\s+[-–—:·]+\s+|\s*[|»]\s*")
_models: list[NoiseModel] = []


def kept(page: HtmlPage, model: NoiseModel) -> str:
    """Return the text of the blocks that are not noise."""
    removed, _, _ = find_noise(page.blocks, page.facts, page.text, title=page.title, model=model)
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), removed.tolist())
    return "\n".join(page.text[start:end] for start, end, gone in spans if not gone)


def ruled(html: bytes) -> str:
    """Return the same by rules alone."""
    page = parse_html(html)
    removed, _, _ = find_noise(page.blocks, page.facts, page.text, "rules", title=page.title)
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), removed.tolist())
    return "\n".join(page.text[start:end] for start, end, gone in spans if not gone)


def _everything(html: bytes) -> str:
    return parse_html(html).text


def _trafilatura() -> Callable[[bytes], str]:
    module = importlib.import_module("trafilatura")
    return lambda html: module.extract(html) or ""


def _without_comments() -> Callable[[bytes], str]:
    module = importlib.import_module("trafilatura")
    return lambda html: module.extract(html, include_comments=False) or ""


def _readability() -> Callable[[bytes], str]:
    module = importlib.import_module("readability")
    lxml = importlib.import_module("lxml.html")
    return lambda html: lxml.fromstring(
        module.Document(html.decode("utf-8", "replace")).summary(html_partial=True)
    ).text_content()


def _justext() -> Callable[[bytes], str]:
    module = importlib.import_module("justext")
    stop = module.get_stoplist("English")
    return lambda html: "\n".join(each.text for each in module.justext(html, stop) if not each.is_boilerplate)


def _resiliparse() -> Callable[[bytes], str]:
    module = importlib.import_module("resiliparse.extract.html2text")
    return lambda html: module.extract_plain_text(html.decode("utf-8", "replace"), main_content=True)


def _bare() -> Callable[[bytes], str]:
    module = importlib.import_module("selectolax.lexbor")

    def parse(html: bytes) -> str:
        module.LexborHTMLParser(html)
        return ""

    return parse


#: The extractors compared with our own, whose model depends on the fold.
OTHERS: dict[str, Callable[[], Callable[[bytes], str]]] = {
    "lexbor alone": _bare,
    "trafilatura": _trafilatura,
    "trafilatura, no comments": _without_comments,
    "readability-lxml": _readability,
    "jusText": _justext,
    "resiliparse": _resiliparse,
    "pychunk, rules": lambda: ruled,
    "pychunk, nothing removed": lambda: _everything,
}
MEASURED = ("pychunk", *[name for name in OTHERS if name != "lexbor alone"])


def present() -> list[str]:
    """Return the installed extractors, and print the names of the others."""
    found = []
    for name, make in OTHERS.items():
        try:
            make()
            found.append(name)
        except ImportError as error:
            print(f"left out: {name} ({error})")
    return found


def _one(job: tuple[bytes, int, Sequence[str]]) -> dict[str, tuple[float, str]]:
    """Return (seconds of this CPU, text) of a page for each extractor; a failing extractor gets no text."""
    html, fold, names = job
    began = time.process_time()
    text = kept(parse_html(html), _models[fold])
    found = {"pychunk": (time.process_time() - began, text)}
    for name in names:
        extract = _made(name)
        began = time.process_time()
        try:
            text = extract(html)
        except Exception:  # an error of another extractor counts as no text
            text = ""
        found[name] = (time.process_time() - began, text)
    return found


_ready: dict[str, Callable[[bytes], str]] = {}


def _made(name: str) -> Callable[[bytes], str]:
    if name not in _ready:
        _ready[name] = OTHERS[name]()
        _ready[name](b"<p>first call</p>")
    return _ready[name]


def extracted(jobs: Iterator[Any], processes: int) -> list[dict[str, tuple[float, str]]]:
    if processes < 2:
        return [_one(job) for job in jobs]
    with ProcessPoolExecutor(processes, get_context("fork")) as pool:
        return list(pool.map(_one, jobs, chunksize=4))


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Return the runs of four words that article-extraction-benchmark counts, or one run for a shorter text."""
    words = _TOKEN.findall(text)
    return Counter(tuple(words[at : at + 4]) for at in range(max(1, len(words) - 3)))


def four_gram_shares(texts: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """Return float64[pages, 3]: hits, surplus and misses of each page, as shares of all three."""
    rows = []
    for text, true in zip(texts, wanted):
        own, gold = shingles(text), shingles(true)
        hits = sum((own & gold).values())
        counts = np.array([hits, sum(own.values()) - hits, sum(gold.values()) - hits], float)
        rows.append(counts / max(1.0, counts.sum()))
    return np.array(rows)


def four_grams(texts: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """Return F1, precision and recall of article-extraction-benchmark: the ratios of sums of each page's shares."""
    shares = four_gram_shares(texts, wanted)
    hits, surplus, misses = shares.sum(axis=0)
    mean = intervals.of_sums(shares, lambda sums: 2 * sums[0] / (2 * sums[0] + sums[1] + sums[2]))
    return {
        "4-gram F1": round(float(mean.mean), 4),
        "low": round(float(mean.low), 4),
        "high": round(float(mean.high), 4),
        "precision": round(float(hits / max(1e-9, hits + surplus)), 4),
        "recall": round(float(hits / max(1e-9, hits + misses)), 4),
    }


def headlines(html: bytes) -> set[tuple[str, ...]]:
    """Return the words of a page's possible headlines: its title, the title's parts, the first ``h1``."""
    tree = importlib.import_module("selectolax.lexbor").LexborHTMLParser(html)
    title, heading = (" ".join(found.text().split()) if (found := tree.css_first(at)) else "" for at in ("title", "h1"))
    return {tuple(_TOKEN.findall(each.lower())) for each in (title, heading, *_TITLE_PARTS.split(title))} - {()}


def body(text: str, known: Collection[tuple[str, ...]]) -> str:
    """Return a text without the lines that are only a headline."""
    return "\n".join(line for line in text.split("\n") if tuple(_TOKEN.findall(line.lower())) not in known)


def rate(found: Sequence[dict[str, tuple[float, str]]], name: str) -> float:
    """Return the pages a second of one CPU."""
    return len(found) / sum(each[name][0] for each in found)


def fold_models(pages: Path, processes: int) -> list[NoiseModel]:
    """Return one model for each part, trained on the others: those that training kept, else newly trained ones."""
    folder = training.folds_folder()
    files = [folder / f"fold_{fold}.npz" for fold in range(FOLDS)]
    if not all(file.is_file() for file in files):
        training.main(["--pages", str(pages), "--threads", str(processes), "--out", str(folder)])
    models = []
    for file in files:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        models.append(NoiseModel.of(arrays, {"scale": float(arrays.pop("scale"))}))
    return models


def wcxb(file: Path, names: Sequence[str], processes: int, limit: int) -> tuple[list[dict[str, Any]], dict[str, float]]:
    table = pq.read_table(file, columns=["html", "main_content", "page_type", "url"])
    rows = range(0, table.num_rows, max(1, table.num_rows // limit) if limit else 1)
    domains = [domain_of(table["url"][row].as_py(), row) for row in rows]
    folds = [fold_of(domain) for domain in domains]
    jobs = ((table["html"][row].as_py(), fold, names) for row, fold in zip(rows, folds))
    found = extracted(jobs, processes)
    wanted = [words_of(table["main_content"][row].as_py() or "") for row in rows]
    kinds = [table["page_type"][row].as_py() for row in rows]
    lines = []
    for name in MEASURED:
        if name not in found[0]:
            continue
        values = [f1(words_of(each[name][1]), gold) for each, gold in zip(found, wanted)]
        by_kind = defaultdict(list)
        for kind, value in zip(kinds, values):
            by_kind[kind].append(value)
        mean = intervals.interval(values)
        lines.append(
            {
                "extractor": name,
                "F1": round(mean.mean, 4),
                "low": round(mean.low, 4),
                "high": round(mean.high, 4),
                **{kind: round(float(np.mean(each)), 4) for kind, each in sorted(by_kind.items())},
            }
        )
    return lines, {name: rate(found, name) for name in found[0]}


def articles(folder: Path, names: Sequence[str], processes: int) -> tuple[list[dict[str, Any]], dict[str, float]]:
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    ids = sorted(name for name in truth if (folder / "html" / f"{name}.html.gz").is_file())
    pages = [gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()) for name in ids]
    found = extracted(((page, FOLDS, names) for page in pages), processes)
    wanted = [truth[name]["articleBody"] for name in ids]
    known = [headlines(page) for page in pages]
    bodies = [body(text, each) for text, each in zip(wanted, known)]
    lines = []
    for name in MEASURED:
        if name not in found[0]:
            continue
        texts = [each[name][1] for each in found]
        without = [body(text, each) for text, each in zip(texts, known)]
        lines.append(
            {
                "extractor": name,
                **four_grams(texts, wanted),
                "without headlines": four_grams(without, bodies)["4-gram F1"],
                "pages with a headline": sum(text != each for text, each in zip(texts, without)),
            }
        )
    return lines, {name: rate(found, name) for name in found[0]}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--processes", type=int, default=1, help="pages at a time; times are CPU times (default: 1)")
    parser.add_argument("--limit", type=int, default=0, help="pages of WCXB; 0: all (default)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/extraction.json")
    return parser.parse_args()


def main() -> None:
    """Print both tables and the rates, and save them."""
    options = arguments()
    global _models
    data = Path(options.data)
    pages = data / "wcxb" / "dev.parquet"
    _models = [*fold_models(pages, options.processes), load()]
    names = present()
    lines, rates = wcxb(pages, names, options.processes, options.limit)
    show("WCXB, word F1, five-fold by domain", lines)
    article_lines, article_rates = articles(data / "article_extraction", names, options.processes)
    show("article_extraction, 4-gram F1, pages that nothing was learned from", article_lines)
    speeds = [
        {
            "extractor": name,
            "WCXB pages/s": round(rates[name], 1),
            "article pages/s": round(article_rates[name], 1),
            **(
                {
                    "times trafilatura": round(rates[name] / rates["trafilatura"], 1),
                    "times, articles": round(article_rates[name] / article_rates["trafilatura"], 1),
                }
                if "trafilatura" in rates
                else {}
            ),
        }
        for name in rates
    ]
    show("pages a second of one CPU, same run", speeds)
    if options.save:
        record.save(
            options.save,
            "The text of pages of HTML",
            {"wcxb": lines, "articles": article_lines, "rates": speeds},
            about=(
                "Each page of WCXB was scored by networks that were not trained on pages of its domain. The articles "
                'were scored by the shipped model, which was trained on none of them. "Low" and "high" are the bounds '
                "of the 95 % interval of F1. Rates are pages per second of CPU time, without the time to load."
            ),
            packages=PACKAGES,
        )


def show(title: str, lines: Sequence[dict[str, Any]]) -> None:
    print(f"\n{title}")
    for line in lines:
        print("  " + "  ".join(f"{name} {value}" for name, value in line.items()))


if __name__ == "__main__":
    main()
