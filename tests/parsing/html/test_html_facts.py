"""The search for words among the names of a page's elements, which all rules share."""

import pickle
import subprocess
import sys

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")

from pychunk.parsing.html.html_facts import Names
from pychunk.parsing.html.page import parse_html

_PAGE = "<nav class='menu comments'><p id=body>Home</p></nav>"


def test_sets_that_are_made_later_find_their_words_too() -> None:
    facts = parse_html(_PAGE).facts
    names = facts.words
    assert len(Names(["comments"]).find(facts)[0]) == 1
    rows, which = Names(["a word of no page", "menu", "<p", "menu"]).find(facts)
    assert which.tolist() == [1, 2]
    assert [len(names.part(row)) > 0 for row in rows.tolist()] == [True, True]
    assert [len(found) for found in Names([]).find(facts)] == [0, 0]


def test_a_page_whose_names_were_searched_is_the_same_in_another_process() -> None:
    page = parse_html(_PAGE)
    wanted = ["<nav", "comments", "menu", "body", "<p"]
    found = [each.tolist() for each in Names(wanted).find(page.facts)]
    code = f"""
import pickle, sys
from pychunk.parsing.html.html_facts import Names

Names({[f"other {number}" for number in range(99)] + wanted[::-1]})
facts = pickle.load(sys.stdin.buffer)
print([each.tolist() for each in Names({wanted}).find(facts)])
"""
    run = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(page.facts), capture_output=True, check=True)
    assert run.stdout.decode().strip() == str(found)
    assert pickle.loads(pickle.dumps(page.facts))._found == {}
