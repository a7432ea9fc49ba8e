"""Character maps of SentencePiece, written as its files store them."""

import struct


def stored(replacements: dict[str, str]) -> bytes:
    """Return a ``precompiled_charsmap``: the size of a trie, a double-array trie of the keys, and the replacements."""
    strings, values = b"", {}
    for new in replacements.values():
        values.setdefault(new, len(strings))
        if values[new] == len(strings):
            strings += new.encode() + b"\0"
    keys = sorted((key.encode(), values[new]) for key, new in replacements.items())
    units: dict[int, int] = {0: 0}
    taken: set[int] = set()
    nodes = [(0, b"")]
    for place, prefix in nodes:
        below = sorted({key[len(prefix)] for key, _ in keys if key.startswith(prefix) and key != prefix})
        value = next((value for key, value in keys if key == prefix), None)
        labels = [*([0] if value is not None else []), *below]
        base = next(b for b in range(1, 1 << 20) if b not in taken and not any(b ^ label in units for label in labels))
        taken.add(base)
        units[place] |= (place ^ base) << 10 | (value is not None) << 8
        for label in labels:
            units[base ^ label] = label or (1 << 31 | value)  # type: ignore[operator]
            if label:
                nodes.append((base ^ label, prefix + bytes([label])))
    size = (max(max(units), max(taken)) | 255) + 1
    trie = struct.pack(f"<{size}I", *(units.get(at, 0) for at in range(size)))
    return struct.pack("<I", len(trie)) + trie + strings
