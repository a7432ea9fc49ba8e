"""The option ``--sample`` of `pychunk ingest`: a number, or a number with a seed."""

import pytest

from pychunk.cli.ingest import _sample_of


def test_a_sample_is_a_number_with_or_without_a_seed() -> None:
    assert _sample_of("20") == (20, 0)
    assert _sample_of("20,seed=-7") == (20, -7)


@pytest.mark.parametrize("text", ["", "0", "x", "20,7", "20,seed=", "20,seed=x", "-1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--sample must be a number of at least 1, or a number with a seed"):
        _sample_of(text)
