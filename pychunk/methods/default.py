"""What cuts where nobody names a method: the same for `segment`, `ingest` and `index`, chosen by bench/defaults.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import METHODS, option_names

#: Sections of one topic in chunks of some 110 English words: strict hits on questions as of runs of that size, section
#: starts found three times as well (docs/evaluation.md).
METHOD = "topic"
OPTIONS: dict[str, Any] = {"size": 150}
#: What "auto" means for it.
MAX_TOKENS, MIN_TOKENS = 200, 64


def method_for(options: Mapping[str, Any]) -> str:
    """The only method that has these options, where they are not the default's; else the default.

    >>> method_for({}), method_for({"size": 300}), method_for({"summary": "lead"})
    ('topic', 'topic', 'pic')
    """
    if all(each in option_names(METHOD) for each in options):
        return METHOD
    owners = [method for method in METHODS if all(each in option_names(method) for each in options)]
    return owners[0] if len(owners) == 1 else METHOD
