"""bench/retrieval/defaults.py has on short texts every row, headings that others marked, and requirements."""

import functools
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pychunk.evaluation import datasets
from pychunk.evaluation.measures import intervals
from pychunk.methods import METHODS

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

CATS = "Cats purr when they are content and sleep for most of the day. However, kittens drink milk. "
STARS = "The sun is a star of middling size. It burns hydrogen. Planets move around it in ellipses. "
LEAFLET = "Склад:\nдіюча речовина: парацетамол.\n===== Page 1 =====\nПоказання.\nГоловний біль. Вона минає.\n"
LEAFLET_COLUMNS = "Question,Doc_ID,Page_Num,A,B,C,D,E,F,Correct_Answer"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of data; the scripts can be imported."""
    from bench.retrieval import defaults_texts

    # 2,000 draws of each of some thousand figures would take half a minute.
    monkeypatch.setattr(intervals, "of_sums", functools.partial(intervals.of_sums, resamples=20))

    for folder in ("squad", "chunking_evaluation", "wiki", "wcxb", "unlp2026"):
        (tmp_path / folder).mkdir()
    paragraphs = [(CATS * 5, "What do kittens drink?", "milk"), (STARS * 5, "What does the sun burn?", "hydrogen")]
    articles = [
        {"title": f"T{i}", "paragraphs": [{"context": text, "qas": [{"question": asked, "answers": [answer]}]}]}
        for i, (text, asked, answer) in enumerate(paragraphs)
    ]
    (tmp_path / "squad" / "dev-v2.0.json").write_text(json.dumps({"data": articles}))
    whole = CATS * 4 + "\n" + STARS * 4
    (tmp_path / "chunking_evaluation" / "both.md").write_text(whole)
    at = whole.index("The sun is a")
    reference = json.dumps([{"content": whole[at : at + 35], "start_index": at, "end_index": at + 35}])
    quoted = reference.replace('"', '""')
    table = f'question,references,corpus_id\nWhat is the sun?,"{quoted}",both\n'
    (tmp_path / "chunking_evaluation" / "questions.csv").write_text(table)
    article = f"{CATS * 5}\nStars.\nThe sun.\n{STARS * 5}\nMilk.\n{CATS * 5}"
    held = [number for number in range(100) if defaults_texts.held_out(str(number))][:4]
    pq.write_table(pa.table({"id": held, "text": [article] * len(held)}), tmp_path / "wiki" / "articles.parquet")
    page = {
        "id": ["1", "2"],
        "page_type": ["article", "product"],
        "main_content": [
            f"On stars &amp; more\n\n{STARS * 8}\n\nCats\n\n{CATS * 3}\nMice\nand\nMice".replace("&amp;", "&")
        ]
        * 2,
        # "Mice" is a heading once and a line of the text twice, so that it is unclear which one is the heading.
        "html": [b"<h1 class='a'>On <i>stars</i>\n &amp; more</h1><p>Cats</p><H3>Cats</H3><h2>Mice</h2>"] * 2,
    }
    pq.write_table(pa.table(page), tmp_path / "wcxb" / "dev.parquet")
    (tmp_path / "unlp2026" / "one.txt").write_text(LEAFLET + "===== Page 2 =====\n")
    (tmp_path / "unlp2026" / "questions.csv").write_text(f"{LEAFLET_COLUMNS}\nЩо?,one.pdf,1,a,b,c,d,e,f,A\n")
    return tmp_path


def run(data: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> dict:
    from bench.retrieval import defaults

    save = data / "found.json"
    monkeypatch.setattr(sys, "argv", ["defaults.py", "--data", str(data), "--save", str(save), *more])
    defaults.main()
    return json.loads(save.read_text())


def intervals_in(value: object) -> list[dict[str, float]]:
    if isinstance(value, dict):
        found = [each for cell in value.values() for each in intervals_in(cell)]
        return [value] if set(value) == {"mean", "low", "high"} else found
    return [each for cell in value for each in intervals_in(cell)] if isinstance(value, list) else []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_candidate_has_every_figure(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.retrieval import defaults

    saved = run(data, monkeypatch, "--no-peers")
    printed = capsys.readouterr().out
    corpora = [key for key, value in saved.items() if isinstance(value, list) and value and "words" in value[0]]
    assert len(corpora) == 7
    assert ("topic" in METHODS) == ("topic" in defaults.CANDIDATES)
    for name in corpora:
        assert [row["method"] for row in saved[name]] == list(defaults.CANDIDATES)
        assert f"\n{name}\n" in printed
        for cell in intervals_in(saved[name]):
            assert cell["low"] <= cell["mean"] + 1e-12
            assert cell["mean"] <= cell["high"] + 1e-12
    form = {"words", "scraps", "dangling", "references", "cohesion", "blocks", "sizes"}
    headings = {"headings begin", "headings alone", "headings end"}
    headings |= {"headings behind scraps", "headings begin, the others"}
    asked = {*defaults.HITS, *(f"{name} minus" for name in defaults.HITS[:2])}
    for name, expected in (
        ("SQuAD", form | asked),
        ("chunking evaluation", form | asked),
        ("Wikipedia", form | headings),
        ("web pages", form | headings),
        ("leaflets", form | headings),
        ("Wikipedia, headings hidden", {"words", "F1", "Pk", "WindowDiff"}),
        ("Wikipedia, headings and line breaks hidden", {"words", "F1", "Pk", "WindowDiff"}),
    ):
        assert expected <= set(saved[name][0]), name
        assert bool(headings & set(saved[name][0])) == bool(headings & expected), name
    by_name = {row["method"]: row for row in saved["SQuAD"]}
    assert by_name[defaults.RECURSIVE]["strict hits@5 minus"] == {"mean": 0, "low": 0, "high": 0}
    assert [row["method"] for row in saved["what is asked of a default"]] == list(defaults.CANDIDATES)
    assert all(cell.startswith(("yes: ", "no: ")) for cell in list(saved["what is asked of a default"][0].values())[1:])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_packages_are_as_long_or_named(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.retrieval import defaults
    from pychunk.evaluation import peers

    def halves(text: str) -> list[tuple[str, int | None]]:
        words = text.split()
        return [(" ".join(words[i : i + 9]), None) for i in range(0, len(words), 9)]

    peer = peers.Peer("nines", "numpy", "pip install numpy", False, lambda words, encode: halves)
    gone = peers.MissingPeer("gone", "not installed: pip install gone")
    monkeypatch.setattr(peers, "available", lambda: ([peer], [gone]))
    saved = run(data, monkeypatch, "--beside", defaults.RECURSIVE, "--limit", "1")
    assert "gone: not installed: pip install gone" in capsys.readouterr().out
    assert saved["absent"] == [vars(gone)]
    last = saved["Wikipedia"][-1]
    assert (last["method"], last["as long as"]) == ("nines", defaults.RECURSIVE)
    assert last["words"]["mean"] == pytest.approx(9, abs=0.5)


def test_headings_are_those_that_others_marked(data: Path) -> None:
    from bench.retrieval import defaults_texts

    text = "Ada lived.\nLife.\nYouth.\nAda was born in London, where her mother lived.\nWork.\nShe wrote about engines."
    headings = defaults_texts.wiki_headings(text)
    assert [text[a:b] for a, b in headings] == ["Life.", "Youth.", "Work."]
    bare, starts = defaults_texts.hidden(text, headings)
    assert bare == "Ada lived.\nAda was born in London, where her mother lived.\nShe wrote about engines."
    assert [bare[at:].split()[0] for at in starts] == ["Ada", "She"]
    assert starts[0] == 11
    pages = defaults_texts.web(data, 2)
    named = [[text[a:b] for a, b in own] for text, own in zip(pages.data.documents, pages.headings)]
    assert named == [["On stars & more", "Cats"], []]  # those of a shop are names of its products
    leaflets = defaults_texts.leaflets(data)
    assert [leaflets.data.documents[0][a:b] for a, b in leaflets.headings[0]] == ["Склад:", "Показання."]


def test_articles_are_of_those_that_topic_is_tested_on(data: Path) -> None:
    from bench.retrieval import defaults_texts
    from pychunk.training.corpus import part_of

    for number in map(str, range(300)):
        assert defaults_texts.held_out(number) == (part_of(number) == "test")


def test_headings_count_where_what_follows_is_on_their_page_and_fits() -> None:
    import numpy as np

    from bench.retrieval import defaults_texts

    text = "One\nText.\nTwo\nThree\nMore text. And so on.\nFour\nLast\nEnd"
    headings = [(0, 3), (10, 13), (14, 19), (42, 46), (52, 55)]
    sentences = np.array([[0, 4], [4, 10], [10, 14], [14, 20], [20, 31], [31, 42], [42, 47], [47, 52], [52, 55]])
    asked: list[str] = []

    def fits(piece: str) -> bool:
        asked.append(piece)
        return "More" not in piece

    kept = defaults_texts.with_what_follows(text, headings, [0, 47], sentences, fits)
    assert [piece.strip() for piece in asked] == ["One\nText.", "Two\nThree\nMore text."]
    assert kept == [(0, 3)]  # two do not fit, one's text is on another page, nothing follows the last
    kept = defaults_texts.with_what_follows(text, headings, [0], sentences, lambda piece: True)
    assert kept == headings[:4]


def test_hits_are_strict_and_within_the_words_read(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from bench.retrieval import defaults
    from pychunk.evaluation import runner
    from pychunk.evaluation.systems import SystemChunks, span_table

    document = "milk one two. three four. the milk five six."
    question = datasets.Question("?", 0, answers=("milk",), paragraph=(14, 44))
    set_ = datasets.Dataset("x", "answers", ["d"], [document], [question])
    chunked = SystemChunks("x", span_table(set_, [[(0, 13), (14, 25), (26, 44)]]), 0.0)
    rows = np.array([[0, 1, 2, -1]])
    words = np.array([[3, 2, 4, 0]])
    monkeypatch.setattr(runner, "retrieve", lambda *_: runner.SearchResults(chunked, rows, words, 0, 0))
    found = defaults.hits(chunked, set_, None, None)
    # The first holds the answer in another paragraph; the third is in the question's paragraph.
    assert [found[name].tolist() for name in defaults.HITS] == [[0.0], [1.0], [1.0]]
    monkeypatch.setattr(defaults, "READ", 8)
    assert defaults.hits(chunked, set_, None, None)["strict hits"].tolist() == [0.0]
    whole = datasets.Question("?", 0, spans=((15, 20),))
    cut = datasets.Question("?", 0, spans=((10, 20),))
    set_ = datasets.Dataset("x", "references", ["d"], [document], [whole, cut])
    twice = runner.SearchResults(chunked, np.repeat(rows, 2, axis=0), np.repeat(words, 2, axis=0), 0, 0)
    assert defaults.strict(twice, set_, np.ones((2, 4), bool)).tolist() == [[False, True, False, False], [False] * 4]


def test_what_is_asked_takes_the_worst_text() -> None:
    from bench.retrieval import defaults

    def cell(mean: float) -> dict[str, float]:
        return {"mean": mean, "low": mean - 0.01, "high": mean + 0.01}

    def rows(dangling: float, begin: float, minus: float) -> list[dict]:
        own = {"dangling": cell(dangling), "scraps": cell(0.0), "headings begin": cell(begin)}
        own |= {"headings begin, the others": cell(begin + 0.05)}
        own |= {"headings alone": cell(0.0), "headings end": cell(0.0), "F1": cell(0.3)}
        own |= {f"{name} minus": cell(minus) for name in defaults.HITS[:2]}
        return [{"method": name, **own} for name in defaults.CANDIDATES]

    good, bad = rows(0.1, 0.96, -0.009), rows(0.2, 0.9, -0.02)
    for row in good:
        row["dangling"] = cell(0.1 if row["method"] == defaults.OLD else 0.05)
    asked = {row["method"]: row for row in defaults.requirements({"first": good})}["semantic"]
    assert [value.split(":")[0] for value in list(asked.values())[1:]] == ["yes"] * 9
    asked = {row["method"]: row for row in defaults.requirements({"first": good, "second": bad})}["semantic"]
    assert asked["dangling at most half"] == "no: x 1.00, second"
    assert asked["headings that begin >= 95 %"] == "no: 90.00 %, second"
    assert asked["headings not behind scraps that begin >= 95 %"] == "yes: 95.00 %, second"
    assert asked[f"strict hits@1 not below {defaults.RECURSIVE}"] == "no: -0.020 (-0.030 to -0.010), second"
    assert asked["scraps <= 1 %"] == "yes: 0.00 %, first"
