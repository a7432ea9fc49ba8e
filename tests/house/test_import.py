"""The modules that ``import pychunk`` loads are few, and all public names are available on request."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import pychunk

MODULES = ["cuda", "evaluation", "ingest", "integrations", "io", "llm", "index"]


def printed(code: str, *options: str) -> str:
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_importing_pychunk_loads_what_segmenting_takes_and_nothing_more() -> None:
    loaded = printed("import sys, pychunk; print(*sys.modules)").split()
    own = [name for name in loaded if name.startswith("pychunk.")]
    assert len(own) < 86  # bench/regression/instructions.py counts what they cost
    late = {f"pychunk.{name}" for name in MODULES} | {
        f"pychunk.{name}" for name in ("encoders.files.model_dir", "encoders.transformer", "features.gpu_features")
    }
    assert not late & set(own)
    assert not {"pyarrow.compute", "pyarrow.dataset", "tempfile", "urllib.request", "multiprocessing"} & set(loaded)


WITHOUT_PANDAS = """
import sys

class Without:
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ImportError(name)

sys.meta_path.insert(0, Without())
"""


@pytest.mark.slow
def test_segmenting_strings_loads_no_kernels_of_arrow() -> None:
    # At its first array Arrow looks for pandas, which loads all of Arrow.
    code = "import pychunk; pychunk.segment(['A cat. A dog.'] * 3).to_list(); print(*sys.modules)"
    assert "pyarrow.compute" not in printed(WITHOUT_PANDAS + code).split()


@pytest.mark.slow
def test_segmenting_strings_does_without_pandas() -> None:
    # Arrow imports it at the first array that it makes from a list or a NumPy array, which takes 0.25 s.
    code = "import sys, pychunk; seg = pychunk.Segmenter('cluster', vectors='sentence'); "
    code += "seg(['A cat. A dog.', 'Zeus.'], ids=['b', 'c']); pychunk.segment(['A cat.', 'A dog.'], 'pic'); "
    assert printed(code + "print('pandas' in sys.modules)") == "False"


@pytest.mark.slow
def test_commands_that_answer_in_a_moment_load_neither_pandas_nor_threads_of_numpy() -> None:
    pytest.importorskip("pandas")
    code = "import os, sys; sys.argv = ['/bin/pychunk', *sys.argv[1:]]; import pychunk, pyarrow as pa; pa.array([1]); "
    code += "print('pandas' in sys.modules, 'OPENBLAS_NUM_THREADS' in os.environ, len(os.listdir('/proc/self/task')))"

    def state(*arguments: str) -> list[str]:
        own = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=own).stdout.split()

    whole = state("eval")
    assert whole[:2] == state()[:2] == ["True", "False"]
    for command in ("index", "segment", "--help"):
        assert state(command)[:2] == ["False", "False"]
    code += "; import pandas; print(pandas.DataFrame({'a': [1]}).a[0])"  # it can still be loaded
    search = state("search")
    assert [*search[:2], search[-1]] == ["False", "False", "1"]
    if len(os.sched_getaffinity(0)) > 1:
        assert int(search[2]) < int(whole[2])


def test_the_list_of_commands_loads_none_of_them() -> None:
    code = "import sys; sys.argv = ['/bin/pychunk', '--help']; from pychunk.cli.main import app\n"
    code += "app(standalone_mode=False)\nprint(*(name for name in sys.modules if name.startswith('pychunk.cli.')))"
    listed = printed(code)
    assert listed.splitlines()[-1].split() == [
        f"pychunk.cli.{name}"
        for name in ("shared", "shared.other_flags", "shared.value_types", "shared.commands", "main")
    ]


def test_functions_of_arrow_are_loaded_without_what_their_options_mean() -> None:
    code = "import sys; sys.argv = ['/bin/pychunk', 'index']; import pychunk, pyarrow as pa, pyarrow.compute as pc; "
    code += "print(pc.sum(pa.array([1, 2])), 'Compute the sum' in pc.sum.__doc__, 'pydoc' in sys.modules); "
    code += "from pyarrow.vendored import docscrape; print(docscrape.Reader('a').read())"
    assert printed(code).split() == ["3", "True", "False", "a"]


USES = [
    "pychunk.io.open_source",
    "pychunk.io.wikitext.clean",
    "pychunk.ingest.ingest",
    "pychunk.integrations.ray.segment",
    "pychunk.integrations.spark.segment",
    "pychunk.cuda.pic",
    "pychunk.evaluation.datasets.load",
    "pychunk.index.chunk_tables.encode_chunks",
    "pychunk.index.index.Index",
    "pychunk.Index.create",
    "pychunk.Hit",
]
#: Each runs in a process of its own, which has imported pychunk and nothing else.
FIRST_USES = f"""
import os, pychunk
for use in {USES}:
    child = os.fork()
    if child == 0:
        assert eval(use) == eval(use)
        print(use, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_modules_load_on_first_use() -> None:
    assert printed(FIRST_USES).split() == USES


@pytest.mark.slow
def test_dir_shows_public_names_only() -> None:
    assert dir(pychunk) == sorted([*pychunk.__all__, *MODULES])
    assert printed("import pychunk; print(*dir(pychunk))").split() == dir(pychunk)
    for name in dir(pychunk):
        assert getattr(pychunk, name) is not None


@pytest.mark.slow
def test_a_star_brings_the_public_names_and_no_module() -> None:
    code = "import io; old = set(globals()); from pychunk import *; print(*set(globals()) - old - {'old'})"
    names = set(pychunk.__all__)
    assert set(printed(code).split()) == names
    assert printed("import io; from pychunk import *; print(io.__name__, Index.__name__)") == "io Index"


def test_a_name_that_is_not_there_is_an_attribute_error_that_says_which_is_meant() -> None:
    with pytest.raises(AttributeError, match="module 'pychunk' has no attribute 'segmnt'") as error:
        _ = pychunk.segmnt
    assert (error.value.name, error.value.obj) == ("segmnt", pychunk)
    for package in (pychunk, pychunk.integrations, pychunk.evaluation, pychunk.index):
        assert not hasattr(package, "no_such_module")
        assert not hasattr(package, "__no_such_name__")
    assert pychunk.Index is pychunk.index.index.Index


def left(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    own = f"import atexit, sys, threading, time; from pychunk._util.startup import leave\n{code}"
    return subprocess.run([sys.executable, *options, "-c", own], capture_output=True, text=True)


@pytest.mark.slow
def test_a_command_ends_as_python_does_without_freeing_what_it_loaded() -> None:
    code = "class Loud:\n    def __del__(self): print('freed')\nkept = Loud()\n"
    code += "threading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()\n"
    code += "atexit.register(print, 'end')\nsys.stdout.write('out\\n')\n"
    for status in (0, 3, None):
        done = left(f"{code}leave({status})")
        assert (done.returncode, done.stdout, done.stderr) == (status or 0, "out\nthread\nend\n", "")


@pytest.mark.slow
def test_what_python_has_to_say_at_its_end_is_left_to_it() -> None:
    assert left("leave('a message'); print('still here')").stdout == "still here\n"
    assert left("sys.setprofile(lambda *_: None); leave(0); print('still here')").stdout == "still here\n"
    assert left("sys.stdout = open('/dev/full', 'w'); print('x'); leave(0); sys.exit(5)").returncode == 120


SUB_INTERPRETER = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
interpreters.run_string(interpreters.create(), '''
try:
    import pychunk
except ImportError as error:
    print(error)
''')
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 10), reason="sub-interpreters have a module from Python 3.10 on")
def test_a_sub_interpreter_is_refused() -> None:
    assert "interpreter" in printed(SUB_INTERPRETER, "-W", "ignore")
    if sys.version_info < (3, 12):  # later ones refuse NumPy
        assert "WSGIApplicationGroup" in printed(SUB_INTERPRETER, "-W", "ignore")
