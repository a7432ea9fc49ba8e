"""The limit on the size of answers, because a short request may ask for any number of bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from .request_error import RequestError

#: The most bytes of an answer, as a multiple of those of a request.
TIMES = 16
#: About as many bytes as a chunk takes in an answer, in addition to columns of the request.
_CHUNK_BYTES = 400


def check_size(chunks: int, columns: Sequence[pa.ChunkedArray], most: int) -> None:
    """Check that an answer has at most about ``most`` bytes.

    Args:
        chunks: The number of chunks of the answer.
        columns: The columns of the documents that each chunk repeats.
        most: The most bytes.

    Raises:
        RequestError: The answer would have more.
    """
    longest = 0
    for column in columns:
        if pa.types.is_primitive(column.type):
            longest += 20
        else:
            longest += max((column.slice(row, 1).nbytes for row in range(len(column))), default=0)
    size = chunks * (_CHUNK_BYTES + longest)
    if size > most:
        repeated = ", or leave out the other columns" if columns else ""
        raise RequestError(
            413,
            f"the answer would have about {size} bytes, and at most {most} are sent: ask for larger chunks, send "
            f"fewer documents{repeated}",
            "$.documents",
        )
