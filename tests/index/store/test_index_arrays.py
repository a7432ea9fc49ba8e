"""Arrays of an index: a failure of Python's parser is not reported as damage of their files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pychunk.index.files import arrays


@pytest.mark.parametrize("failures", [1, 3])
def test_a_header_is_read_again_if_the_parser_fails(
    failures: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npy"
    arrays.save_array(path, np.arange(5))
    left, load = [SystemError("AST constructor recursion depth mismatch")] * failures, np.load

    def failing(*given: Any, **options: Any) -> Any:
        if left:
            raise left.pop()
        return load(*given, **options)

    monkeypatch.setattr(np, "load", failing)
    assert arrays.mapped(path).tolist() == [0, 1, 2, 3, 4]
    left += [SystemError("of another kind")] * 100
    with pytest.raises(SystemError, match="of another kind"):
        arrays.mapped(path)


def test_a_file_that_holds_no_array_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i8', ")
    with pytest.raises(ValueError, match=r"a\.npy is damaged"):
        arrays.mapped(path)
