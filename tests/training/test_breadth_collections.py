"""Small collections of documents keep every question, and its spans in long documents, too."""

from pychunk.training import breadth_collections
from pychunk.training.breadth import mixed, of_articles

BODY = "She was born in London and wrote about engines. " * 40


def test_collections_of_documents() -> None:
    texts = [f"Ada was an early writer of long programs.\nLife.\n{row} {BODY}\nWork.\n{BODY} {row}" for row in range(9)]
    data = mixed(of_articles([f"Ada {row}" for row in range(9)], texts))
    found = breadth_collections.collections(len(data.documents), 4, seed=3)
    assert sorted(row for own in found for row in own.tolist()) == list(range(len(data.documents)))
    assert all(1 <= len(own) <= 4 for own in found)
    asked = 0
    for rows in found:
        own = breadth_collections.about(data, rows.tolist())
        assert own.documents == [data.documents[row] for row in rows]
        asked += len(own.questions)
        long = breadth_collections.joined(own, 2)
        assert len(long.documents) == min(2, len(rows))
        assert "\n\n".join(long.documents) == "\n\n".join(own.documents)
        assert long.blocks.offsets[-1] == own.blocks.offsets[-1]
        for before, after in zip(own.questions, long.questions, strict=True):
            wanted = [own.documents[before.document][a:b] for a, b in before.spans]
            assert [long.documents[after.document][a:b] for a, b in after.spans] == wanted
        texts_of = [[each.documents[row][a:b] for row in range(len(each.documents))
                     for a, b in zip(each.blocks.rows(row, row + 1).start, each.blocks.rows(row, row + 1).end)]
                    for each in (own, long)]  # fmt: skip
        assert texts_of[0] == texts_of[1]
    assert asked == len(data.questions)
