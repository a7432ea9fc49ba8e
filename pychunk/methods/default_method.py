"""The default method, which is the same for `segment`, `ingest` and `index`.

bench/retrieval/defaults.py chose it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..defaults import CHUNKS
from . import METHODS, option_names

METHOD = CHUNKS.method
#: The encoders for whose vectors a network of the default method is shipped.
WITH_TOPICS = ("static", "multilingual", "auto")
OPTIONS: dict[str, Any] = {"size": CHUNKS.size}


def method_for(options: Mapping[str, Any], encoder: Any = None) -> str:
    """Return the name of the method to use if the caller names none.

    If there are no options, and the default method has no network for the encoder, the result is ``pic``, which cuts by
    the vectors of any encoder. If the default method lacks one of the options and exactly one method has all of them,
    the result is that method. In all other cases it is the default method.

    >>> method_for({}), method_for({"size": 300}), method_for({"summary": "lead"}), method_for({}, "minilm")
    ('topic', 'topic', 'pic', 'pic')
    """
    if not options and encoder not in (None, *WITH_TOPICS):
        return CHUNKS.method_for_vectors
    if all(each in option_names(METHOD) for each in options):
        return METHOD
    owners = [method for method in METHODS if all(each in option_names(method) for each in options)]
    return owners[0] if len(owners) == 1 else METHOD
