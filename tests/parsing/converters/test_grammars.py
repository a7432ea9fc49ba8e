"""Endings of file names have parsers, if the packages are installed."""

import pytest

from pychunk.parsing.converters import grammars

pytest.importorskip("tree_sitter", reason="code is parsed by tree-sitter (extra code)")


@pytest.mark.parametrize("ending", grammars.ENDINGS)
def test_each_ending_has_a_parser_whose_nodes_have_the_names(ending: str) -> None:
    parser = grammars.parser_of(ending)
    assert parser is not None
    assert parser is grammars.parser_of(ending)
    names = {parser.language.node_kind_for_id(number) for number in range(parser.language.node_kind_count)}
    assert names & grammars.DEFINITIONS
    assert names & grammars.LEADING


def test_other_endings_have_none() -> None:
    assert grammars.parser_of(".txt") is None
