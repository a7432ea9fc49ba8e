"""A flag of an older version or another tool gets advice that names a present option."""

import pytest
from command_line import invoke

from pychunk.cli.shared.other_flags import INSTEAD


@pytest.mark.parametrize("flag", [flag for flag, said in INSTEAD.items() if not said.startswith("-o")])
def test_the_error_of_an_unknown_flag_says_what_to_write(flag: str) -> None:
    done = invoke(["ingest", "in.jsonl", "-o", "out", flag, "value"])
    assert done.exit_code == 2
    assert INSTEAD[flag] in " ".join(done.output.split())
