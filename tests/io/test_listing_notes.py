"""A folder that an ingest wrote is read as its shards alone."""

from pychunk.ingest.run_folder import BESIDE, CHANGES
from pychunk.io.files import _NOTES


def test_all_that_an_ingest_writes_next_to_its_shards_is_left_out() -> None:
    assert {CHANGES, *(f"{name}/" for name in BESIDE)} <= set(_NOTES)
