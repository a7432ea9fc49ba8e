from typing import Any

import numpy as np
import numpy.typing as npt

__version__: str

def isa() -> str: ...
def available_isas() -> list[str]: ...
def default_threads() -> int: ...
def find_invalid_utf8(text: npt.NDArray[np.uint8]) -> int: ...
def count_characters(text: npt.NDArray[np.uint8]) -> int: ...
def hash128(data: bytes) -> str: ...
def normalize_rows(vectors: npt.NDArray[np.float32]) -> None: ...
def dot(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> float: ...
def split_sentences(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], wrap: bool, threads: int = 1
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]: ...
def encode_static(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    tokenizer: WordPiece,
    table: npt.NDArray[np.int8],
    threads: int = 1,
) -> npt.NDArray[np.float32]: ...

class WordPiece:
    def __init__(
        self,
        vocabulary: list[str],
        lowercase: bool = True,
        strip_accents: bool = True,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        unknown: str = "[UNK]",
        prefix: str = "##",
        max_word_characters: int = 100,
    ) -> None: ...
    def encode(
        self, text: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], byte_spans: bool = False
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64] | None]: ...
    @property
    def vocabulary_size(self) -> int: ...
    @property
    def unknown_id(self) -> int: ...

class Arguments:
    def __init__(
        self,
        text: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.int64],
        plan: dict[str, Any],
        **optional: Any,
    ) -> None: ...

def segment(arguments: Arguments) -> dict[str, Any]: ...
def adjacent_sums(arguments: Arguments) -> tuple[int, int]: ...
