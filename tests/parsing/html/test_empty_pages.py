"""Pages without text of their own: their JSON-LD, or a dead letter with the reason."""

import json
from pathlib import Path

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from typer.testing import CliRunner

import pychunk
from pychunk.cli.main import app
from pychunk.ingest import ingest
from pychunk.io import DeadLetter, open_source
from pychunk.parsing.html.empty_pages import linked_page, why_textless
from pychunk.parsing.html.page import parse_html

PROSE = "The bridge over the river opened on Monday after two years of work. The town paid nine million for it."
SHELL = (
    '<!DOCTYPE html><html><head><title>Dashboard</title></head><body><div id="app"></div><script src="app.js"></script>'
)
NOSCRIPT = "<noscript>You need to enable JavaScript to run this app.</noscript>"
WALL = (
    "<html><body><h1>Before you continue</h1><p>We use cookies and data to deliver our services. If you choose to "
    "accept, we will also use cookies and data to show personalised ads.</p><div><button>Reject all</button>"
    "<button>Accept all</button></div><a href='/privacy'>Privacy</a> <a href='/terms'>Terms</a></body></html>"
)


def linked(*items: object) -> str:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(item)}</script>' for item in items)
    return f'<html><head><title>T</title>{scripts}</head><body><div id="root"></div>{NOSCRIPT}</body></html>'


def why(page: str) -> str:
    return why_textless(parse_html(page), [], page.encode())


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (SHELL, "no text: the page is made by scripts"),
        ("<SCRIPT>render()</SCRIPT><div hidden></div>", "no text: the page is made by scripts"),
        ("<body><div id=root>Loading…</div><script src=a.js></script>", "no text: the page is made by scripts"),
        ("<body><h2>Bitte warten</h2>", ""),
        ("<frameset><frame src=a.html></frameset><script>x</script>", "no text: the page shows other pages in frames"),
        ("<body><iframe src=a.html></iframe>", "no text: the page shows other pages in frames"),
        ("", "no text: the page is empty"),
        ("<html><body><img src=a.png><p> \n &nbsp;</p></body></html>", "no text: the page is empty"),
        (SHELL + NOSCRIPT, "no text: only a notice to enable JavaScript"),
        (
            "<h1>Tide</h1><p>Please turn JavaScript on and reload the page.</p>",
            "no text: only a notice to enable JavaScript",
        ),
        ("<p>Loading...</p><p>This site requires JavaScript.", "no text: only a notice to enable JavaScript"),
        ("<p>Bitte aktivieren Sie JavaScript in Ihrem Browser.", "no text: only a notice to enable JavaScript"),
        ("<p>Для роботи сайту увімкніть JavaScript.", "no text: only a notice to enable JavaScript"),
        ("<p>このサイトを利用するにはJavaScriptを有効にしてください。", "no text: only a notice to enable JavaScript"),
        (
            "<p>Just a moment... Enable JavaScript and cookies to continue",
            "no text: only a notice to enable JavaScript",
        ),
        (
            "<body><noscript><img src='/count?x'>Turn it on to see us</noscript>",
            "no text: only a notice to enable JavaScript",
        ),
        (WALL, "no text: only a request for consent"),
        (
            "<p>Wir verwenden Cookies und bitten um Ihre Einwilligung.</p><button>Alle akzeptieren</button>",
            "no text: only a request for consent",
        ),
    ],
)
def test_why_a_page_has_no_text(page: str, reason: str) -> None:
    assert why(page) == reason


@pytest.mark.parametrize(
    "page",
    [
        f"<p>{PROSE}</p>{NOSCRIPT}",
        "<p>Short.</p>",
        "<p>JavaScript is a language that browsers run.</p>",
        f"<h1>JavaScript without tears</h1><p>{PROSE} {PROSE}",
        f"<noscript><article>{'<p>' + PROSE * 12}</article></noscript>",
        "<h1>Cookie policy</h1><p>We use cookies to keep you signed in. You can refuse cookies in your browser.</p>",
        f"{WALL}<p>{PROSE * 3}</p>",
        "<h1>Baking cookies</h1><p>Mix flour and sugar, and bake them for ten minutes.</p><button>Accept</button>",
    ],
)
def test_pages_with_text(page: str) -> None:
    assert why(page) == ""


BODY = {"@type": "NewsArticle", "headline": "Bridge opens", "articleBody": PROSE}


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([BODY], PROSE),
        ([[{"@type": "Organization", "description": "We print news."}, BODY]], PROSE),
        ([{"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "description": "News"}, BODY]}], PROSE),
        ([{"@type": "WebPage", "description": "Of a page", "mainEntity": BODY}], PROSE),
        ([{"@type": ["Thing", "https://schema.org/BlogPosting"], "description": PROSE}], PROSE),
        ([{"@type": "Product", "description": f"<p>{PROSE}</p><ul><li>Steel</ul>"}], f"{PROSE}\n\n- Steel"),
        ([{"@type": "Article", "articleBody": f"&lt;p&gt;{PROSE}&lt;/p&gt;"}], PROSE),
        ([{"@type": "Article", "articleBody": "One & two.\n\n3 < 4."}], "One & two.\n\n3 < 4."),
        (
            [{"@type": "Recipe", "description": "A soup.", "recipeIngredient": ["1 leek", "salt"],
              "recipeInstructions": [{"@type": "HowToStep", "text": "Cut it."}, "Cook it."]}],
            "A soup.\n\n- 1 leek\n- salt\n\nCut it.\n\nCook it.",
        ),
        (
            [{"@type": "FAQPage", "mainEntity": [
                {"@type": "Question", "name": "When?", "acceptedAnswer": {"text": "On <b>Monday</b>."}},
                {"@type": "Question", "name": "How?", "acceptedAnswer": [{"text": "By ship."}]}]}],
            "## When?\n\nOn Monday.\n\n## How?\n\nBy ship.",
        ),
        ([BODY, BODY], PROSE),
    ],
)  # fmt: skip
def test_json_ld_is_the_text_of_a_page_that_has_none(tmp_path: Path, items: list[object], text: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(linked(*items))
    (batch,) = open_source(path)
    (row,) = batch.table.to_pylist()
    assert (row["text"].strip(), row["title"], row["removed"]) == (text, "T", [])
    assert pychunk.segment(batch.documents(), columns={"blocks": "blocks", "removed": "removed"}).texts


@pytest.mark.parametrize(
    "item",
    [
        {"@type": "Organization", "description": "We print news."},
        {"@type": "WebSite", "name": "News", "description": "All news."},
        {"@type": "Person", "description": "An author."},
        {"@type": "NewsArticle", "articleBody": " \n"},
        {"@type": "NewsArticle", "articleBody": 5, "description": None},
        {"@type": 7},
        "text",
        [[[[[[]]]]]],
    ],
)
def test_json_ld_that_is_not_about_the_page_is_none_of_it(item: object) -> None:
    assert linked_page(linked(item).encode()) is None


def test_json_ld_that_is_broken_or_hostile_ends_nothing() -> None:
    tag = '<script type="application/ld+json">'
    for body in (
        "{",
        "[" * 100_000,
        '{"a": ' * 5000,
        "\ud800".encode("utf-8", "replace").decode(),
        '{"articleBody": "\\ud800"}',
    ):
        assert linked_page(f"{tag}{body}</script>".encode()) is None or "\ud800" in body or "\\ud800" in body
    assert linked_page((tag * 20_000).encode()) is None
    several = (
        f"{tag}{{</script><SCRIPT data-x=1 TYPE='application/LD+JSON'>//<![CDATA[\n{json.dumps(BODY)};\n//]]></SCRIPT >"
    )
    found = linked_page(several.encode("utf-8"))
    assert found is not None
    assert (found.text.strip(), found.title) == (PROSE, "Bridge opens")


def test_a_page_that_shows_text_is_not_read_from_its_json_ld(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        linked({"@type": "NewsArticle", "articleBody": "Other words."}) + f"<p>{PROSE}</p>"
    )
    (batch,) = open_source(tmp_path / "a.html")
    assert PROSE in batch.table["text"][0].as_py()
    assert "Other" not in batch.table["text"][0].as_py()


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "shell.html").write_text(SHELL)
    (folder / "linked.html").write_text(linked(BODY))
    (folder / "wall.html").write_text(WALL)
    (folder / "menus.html").write_text("<nav><a href=/>Home</a></nav><footer><a href=/p>Privacy policy</a></footer>")
    (folder / "river.html").write_text(f"<h1>The river</h1><p>{PROSE}</p>")
    (folder / "note.txt").write_text("A note.")
    return folder


REASONS = {
    "shell.html": "no text: the page is made by scripts",
    "wall.html": "no text: only a request for consent",
    "menus.html": "no text is left: 2 blocks were taken for noise",
}


def test_ingest_counts_pages_without_text_and_names_them(tmp_path: Path, pages: Path) -> None:
    report = ingest(pages, tmp_path / "out", noise="rules")
    assert (report.documents, report.letters, report.blank) == (4, 3, 1)
    letters = [json.loads(line) for line in (tmp_path / "out" / "_dead_letters.jsonl").read_text().splitlines()]
    assert {Path(letter["source"]).name: letter["reason"] for letter in letters} == REASONS


def test_the_commands_say_it(tmp_path: Path, pages: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "300"})
        return done.exit_code, " ".join(done.output.split())

    status, said = run("ingest", str(pages), "-o", str(tmp_path / "out"), "--reader", "noise=rules")
    assert (status, "4 documents (1 without text)" in said, "3 failures" in said) == (0, True, True), said
    assert run("ingest", str(pages), "-o", str(tmp_path / "strict"), "--strict")[0] == 1
    for command, output in (("segment", "out.jsonl"), ("index", "out.idx")):
        options = (str(pages), "-o", str(tmp_path / output), "--reader", "noise=rules")
        status, said = run(command, *options)
        assert (status, "shell.html, whole file: no text: the page is made by scripts" in said) == (2, True), said
        status, said = run(command, *options, "--on-error", "skip")
        assert status == 0, said
        for name, reason in REASONS.items():
            assert f"skipped {pages / name}: {reason}" in said


def test_a_page_that_is_all_noise_is_no_document_lost(pages: Path, tmp_path: Path) -> None:
    for name in ("shell.html", "wall.html"):
        (pages / name).unlink()
    call = ["index", str(pages), "-o", str(tmp_path / "x.idx"), "--reader", "noise=rules", "--prune"]
    for _ in range(2):
        done = CliRunner().invoke(app, call, env={"COLUMNS": "300"})
        assert done.exit_code == 0, done.output
        assert "nothing was dropped" not in done.output


def test_python_readers_raise_or_tell(pages: Path) -> None:
    with pytest.raises(ValueError, match=r"shell\.html, whole file: no text: the page is made by scripts"):
        list(open_source(pages, noise="rules"))
    with pytest.warns(UserWarning, match=r"menus\.html, whole file: no text is left: 2 blocks were taken for noise"):
        (batch,) = open_source(pages / "menus.html", noise="rules")
    assert "Privacy policy" in batch.table["text"][0].as_py()  # for callers who ask for removed text
    letters: list[DeadLetter] = []
    source = open_source(pages, noise="rules", dead_letters=letters.append)
    rows = [row for batch in source for row in batch.table.to_pylist()]
    assert [Path(row["id"]).name for row in rows] == ["linked.html", "menus.html", "river.html", "note.txt"]
    assert len(letters) == 3
