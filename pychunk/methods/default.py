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


#: What cuts by the vectors of another encoder than the static one, on which the default's model was learned.
ANY_VECTORS = "pic"

#: What cuts documents that come with blocks.
STRUCTURED = "structure"


def method_for(options: Mapping[str, Any], encoder: Any = None) -> str:
    """The default; or the only method that has these options; or for another encoder one that cuts by any vectors.

    >>> method_for({}), method_for({"size": 300}), method_for({"summary": "lead"}), method_for({}, "minilm")
    ('topic', 'topic', 'pic', 'pic')
    """
    if not options and encoder not in (None, "static"):
        return ANY_VECTORS
    if all(each in option_names(METHOD) for each in options):
        return METHOD
    owners = [method for method in METHODS if all(each in option_names(method) for each in options)]
    return owners[0] if len(owners) == 1 else METHOD
