"""The evaluation report: a dictionary as input, a terminal table, JSON and a self-contained page as output."""

import io
import json
from html import escape
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pychunk.evaluation.reports import report, report_plots

HOSTILE = '<b>&"</b><script>alert(1)</script>[red]'
VOID = {"meta", "link", "br", "hr", "img", "input", "col"}


def row(name: str, peer: str | None, hits: float) -> dict[str, Any]:
    words = [50, 100, 500]
    share = [hits - 0.2, hits - 0.1, hits]
    return {
        "name": name,
        "options": {"size": 100, "unit": "words"},
        "peer": peer,
        "mode": "hybrid",
        "encoder": "minilm",
        "measures": {
            "strict hits@1": {"mean": hits, "low": hits - 0.01, "high": hits + 0.01},
            "Pk": {"mean": 1 - hits, "low": 0.9 - hits, "high": 1.1 - hits},
        },
        "within": {
            "words": words,
            "share": share,
            "low": [s - 0.02 for s in share],
            "high": [s + 0.02 for s in share],
        },
        "lengths": {"edges": [0, 50, 100, 200], "counts": [3, 20, 2], "mean": 81.0, "std": 20.5, "chunks": 25},
        "cost": {"chunk seconds": 1.5, "encoder tokens": 123456, "index bytes": 2_500_000, "words in top 5": 431.2},
    }


def results(**changes: Any) -> dict[str, Any]:
    made = {
        "dataset": {"name": "squad", "kind": "answers", "documents": 35, "questions": 5928, "words": 141000},
        "command": "pychunk eval squad --peers",
        "versions": {"pychunk": "0.1.0"},
        "machine": "two cores",
        "rows": [row("pychunk fixed", None, 0.82), row("chonkie semantic", "chonkie 1.7.0", 0.6)],
        "differences": [
            {
                "measure": "strict hits@1",
                "row": "pychunk fixed",
                "against": "chonkie semantic",
                "mean": 0.22,
                "low": 0.2,
                "high": 0.24,
            }
        ],
        "absent": [{"name": "Chroma cluster", "reason": "not installed"}],
    }
    return {**made, **changes}


class Page(HTMLParser):
    """A page whose every start tag must have its own end tag; its shown text and its links are kept."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.pointers: list[str] = []
        self.shown = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.pointers += [name for name, _ in attrs if name in {"src", "href", "srcset", "action"} or name[:2] == "on"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown += data


def printed(made: dict[str, Any], width: int = 120) -> str:
    out = io.StringIO()
    report.print_table(made, Console(width=width, file=out))
    return out.getvalue()


def test_the_page_is_whole_and_needs_nothing_else() -> None:
    text = report.html(results())
    page = Page(text)
    assert page.pointers == []
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert "http" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert page.tags.count("polyline") == 2
    assert page.tags.count("polygon") == 2
    for shown in ("pychunk fixed", "chonkie 1.7.0", "Chroma cluster", "5,928 questions", "2.5 MB", "123,456", "+0.220"):
        assert shown in page.shown


def test_the_best_mean_is_marked_and_less_may_be_better() -> None:
    text = report.html(results())
    assert text.count('class="best"') == 2
    assert text.count('class="best"><th scope="row">pychunk fixed') == 2


def test_hostile_names_stay_text() -> None:
    made = results(
        dataset={"name": HOSTILE, "kind": HOSTILE},
        command=HOSTILE,
        machine=HOSTILE,
        versions={HOSTILE: HOSTILE},
        absent=[{"name": HOSTILE, "reason": HOSTILE}],
    )
    made["rows"] = [row(HOSTILE, HOSTILE, 0.5) | {"mode": HOSTILE, "encoder": HOSTILE, "options": {HOSTILE: HOSTILE}}]
    made["rows"][0]["measures"] = {HOSTILE: {"mean": 0.5, "low": 0.4, "high": 0.6}}
    made["differences"] = [{"measure": HOSTILE, "row": HOSTILE, "against": HOSTILE, "mean": 0.1}]
    text = report.html(made)
    page = Page(text)
    assert escape(HOSTILE) in text
    assert HOSTILE not in text
    assert "script" not in page.tags
    assert HOSTILE in page.shown
    assert HOSTILE in printed(made, 400)


@pytest.mark.parametrize("field", ["measures", "within", "lengths", "cost", "options", "mode", "encoder", "peer"])
@pytest.mark.parametrize("how", ["missing", "null"])
def test_a_row_may_lack_a_field(field: str, how: str) -> None:
    made = results()
    if how == "missing":
        del made["rows"][0][field]
    else:
        made["rows"][0][field] = None
    assert "pychunk fixed" in Page(report.html(made)).shown
    assert "pychunk fixed" in printed(made)
    assert json.loads(report.to_json(made)) == made


@pytest.mark.parametrize("made", [{}, {"rows": []}, {"rows": [{}]}, {"rows": [{"name": "one"}], "differences": [{}]}])
def test_almost_nothing_is_shown_as_dashes(made: dict[str, Any]) -> None:
    assert report.DASH in Page(report.html(made)).shown
    assert report.DASH in printed(made)


def test_what_is_not_a_number_is_a_dash_and_null_in_json() -> None:
    made = results()
    made["rows"][0]["measures"]["Pk"] = {"mean": float("nan"), "low": float("nan"), "high": float("inf")}
    made["rows"][0]["within"]["low"][0] = float("nan")
    made["rows"][1]["within"]["share"][1] = float("nan")
    page = Page(report.html(made))
    assert "nan" not in page.shown
    assert page.tags.count("polyline") == 1
    assert "polygon" not in page.tags
    assert json.loads(report.to_json(made))["rows"][0]["measures"]["Pk"] == {"mean": None, "low": None, "high": None}


def test_the_terminal_table_shows_every_measure_at_any_width() -> None:
    made = results()
    made["rows"][0]["measures"] |= {f"measure {i}": {"mean": i / 10} for i in range(8)}
    for width in (60, 120, 300):
        text = printed(made, width)
        assert all(f"measure {i}" in text for i in range(8))
        assert "0.820 0.810–0.830" in text
        assert "absent: Chroma cluster: not installed" in text


def test_the_terminal_table_never_shortens_a_name() -> None:
    for width in (20, 40, 80):
        text = io.StringIO()
        rows = [row("recursive:size=110, hybrid", None, 0.5), row("fixed:size=100, hybrid", None, 0.6)]
        report.print_table(results(rows=rows), Console(file=text, width=width))
        assert "…" not in text.getvalue()
        assert "..." not in text.getvalue()
        assert width < 40 or "recursive:size=110, hybrid" in text.getvalue()


def test_no_line_is_wider_than_the_terminal_and_long_names_become_numbers() -> None:
    long = "recursive:size=110, hybrid, augment=head, document_weight=1, rewrite=feedback, rerank=features"
    rows = [row(long, None, 0.5), row("fixed:size=100, hybrid", None, 0.6)]
    for one in rows:
        one["measures"] |= {f"strict hits in {i} words": {"mean": 0.5, "low": 0.4, "high": 0.6} for i in range(9)}
    difference = {"measure": "strict hits@1", "mean": 0.22, "low": 0.2, "high": 0.24}
    made = results(rows=rows, differences=[{**difference, "row": rows[1]["name"], "against": long}])
    for width in (60, 80, 120):
        lines = printed(made, width).splitlines()
        assert max(map(len, lines)) <= width
        assert " ".join(" ".join(lines).split()).count(long) == 1, "in the legend"
        assert any(line.split() == ["2", "+0.220", "+0.200–+0.240"] for line in lines)
        assert any("Difference from row 1 " in line for line in lines)
    assert max(map(len, printed(results(), 400).splitlines())) < 200


def test_a_single_bin_and_equal_shares_can_be_drawn() -> None:
    made = results()
    made["rows"][0]["lengths"] = {"edges": [0, 10], "counts": [0]}
    for one in made["rows"]:
        one["within"] = {"words": [100], "share": [0.0]}
    assert "polyline" in Page(report.html(made)).tags


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_hold_the_range(low: float, size: float) -> None:
    made = report_plots.ticks(low, low + size)
    slack = 1e-6 * max(abs(low), size)
    assert made[0] <= low + slack
    assert made[-1] >= low + size - slack
    assert 2 <= len(made) <= 14


@given(st.lists(st.floats(0, 300), max_size=30))
def test_labels_stand_apart_in_order(at: list[float]) -> None:
    placed = report_plots.spread(at, 15, 0, 300)
    gap = min(15, 300 / max(1, len(at) - 1))
    order = sorted(range(len(at)), key=lambda i: at[i])
    assert all(-1e-6 <= p <= 300 + 1e-6 for p in placed)
    assert all(placed[b] - placed[a] >= gap - 1e-6 for a, b in zip(order, order[1:]))


def test_labels_that_stand_apart_stay() -> None:
    assert report_plots.spread([100, 10, 40], 15, 0, 300) == [100, 10, 40]
    assert report_plots.spread([50, 50], 20, 0, 300) == [40, 60]
