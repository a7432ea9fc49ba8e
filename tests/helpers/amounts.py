"""Numbers of cases: few in each run of CI, many in the long form, which ``pytest -m long`` runs."""

from typing import Any

import pytest


def amounts(few: int, many: int) -> list[Any]:
    """Return both as parameters of a test."""
    return [few, pytest.param(many, marks=(pytest.mark.slow, pytest.mark.long))]
