"""Types: those of option tables are current, mypy accepts package and users, stubs are what runs."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
from headers import module_folders

import sotto
from sotto import _audit, _call, _options

here = pathlib.Path(__file__).parents[1]
package = str(pathlib.Path(sotto.__file__).parent.parent)


def python(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


@pytest.mark.skipif(not (here / "build_options.py").exists(), reason="not in the source tree")
def test_types_of_options_are_current():
    told = python(here / "build_options.py", env={**os.environ, "PYTHONPATH": package})
    assert told.stdout == pathlib.Path(_options.__file__).read_text(), f"build_options.py > src/sotto/_options.py\n{told.stderr}"


@pytest.mark.parametrize("name", module_folders())
def test_types_of_a_module_are_current(name):
    made = module_folders()[name] / f"python/_{name}_options.py"
    if hasattr(getattr(sotto.lab, name), "OPTION_TYPES") or made.exists():
        told = python(here / "build_options.py", name, env={**os.environ, "PYTHONPATH": package})
        assert told.stdout == made.read_text(), f"build_options.py {name} > {made}\n{told.stderr}"


def test_every_typed_array_is_an_argument():
    arrays = {option.name for name in _audit._INPUTS for option in _call.table(name, True) if option.row.shape != _call.ffi.NULL}
    typed = {n for n, t in _options.AuditOptions.__annotations__.items() if str(getattr(t, "__forward_arg__", t)) == "Any"}
    assert typed <= {*arrays, "reference_people"} and arrays - typed <= {"member_logits", "nonmember_logits"}


def skip_unless_asked():
    """mypy reads PyTorch and takes a minute."""
    if "SOTTO_CHECK_PYTHON" not in os.environ:
        pytest.skip("of make check-python")
    pytest.importorskip("mypy")


USER = """
    from typing import Any
    import numpy as np
    import sotto

    x = np.zeros((10, 3), np.float32)
    y = np.zeros(10, np.int64)
    result = sotto.audit(x, x, member_labels=y, nonmember_labels=y, fpr=[0.01], confidence=0.9)
    area: float = result.worst.auc.lower
    name: str = result["loss"].name
    result.check("auc>0.6")
    scores: Any = sotto.attack(lambda rows: rows, "lira", member=(x, y), nonmember=(x, y), shadow={"hidden": [8], "epochs": 3}, shadows=4).scores
    encoder = sotto.pretrain(np.zeros((4, 32, 32), np.uint8), epochs=2, augmentation="simclr")
    width: int = encoder.embed(np.zeros((4, 32, 32), np.uint8)).shape[1]
    upper: float = sotto.account.gaussian(1.0, delta=1e-5).epsilon.upper
    ledger = sotto.Ledger(dataset="a")
    head = sotto.train_head(x, y, classes=2, trainer="dp-sgd", epsilon=3, hidden=[8], batch=5, lr=np.float64(.1), ledger=ledger, purpose="trial")
    net = sotto.train_network(x, y, classes=2, dp_sgd=True, model="mlp", noise_multiplier=2, steps=3, ledger=ledger, insecure_seed=1)
    answers: float = net.score(x, y, repeats=3, average="softmax")
    noisy: Any = sotto.release(x, mechanism="laplace", l1=.1, epsilon=1, ledger=ledger, read_from_data=["l1"])[0]
    index: Any = sotto.select(x[0], l1=1, epsilon=1, ledger=ledger, purpose="best")[0]
    labels = sotto.randomise(y, classes=2, scale=1, ledger=ledger)[0]
    mean = sotto.release_statistic(x, "mean", range=(0, 1), mechanism="laplace", scale=.1, ledger=ledger, purpose="table")[0]
    sotto.release_records(x, "noisy.npy", clip=1, epsilon=3, ledger=ledger, purpose="rows")
    sotto.protect_head(head, "out.safetensors", ledger=ledger, l2=.1, epsilon=2, delta=1e-5)
    sotto.sample_sensitivity(x, y, pairs=2, epochs=1)
"""
WRONG = """
    import numpy as np
    import sotto

    x = np.zeros((10, 3), np.float32)
    ledger = sotto.Ledger(dataset="a")
    head = sotto.Head.load("head.safetensors")
    sotto.audit(x, x, confidense=0.9)
    sotto.audit(x, x, confidence="high")
    sotto.attack(lambda rows: rows, "lira", member=(x, x), nonmember=(x, x), shadow={"widths": 3})
    sotto.pretrain(x, augmentation="strong")
    sotto.account.gaussian(1.0, delta=None)
    sotto.attack(lambda rows: rows, "lira", member=(x, x), nonmember=(x, x), output="softmax")
    sotto.train_head(x, x, epoch=3)
    sotto.train_head(x, x, epochs="three")
    sotto.train_head(x, x, adjacency="replace")
    sotto.train_network(x, x, noise_multipler=2)
    sotto.train_network(x, x, noise_multiplier="2")
    sotto.release(x, mechanism="laplace", ledger=ledger, epsilon="1")
    sotto.release(x, mechanism="laplace", ledger=ledger, purpos="a")
    sotto.select(x, l1=1, ledger=ledger, l2=1)
    sotto.randomise(x, classes=2, ledger=ledger, scale=[1])
    sotto.release_statistic(x, "mean", mechanism="laplace", ledger=ledger, block=3)
    sotto.release_records(x, "a.npy", clip=1, ledger=ledger, purpose=3)
    sotto.protect_head(head, "a.safetensors", ledger=ledger, l3=1)
    sotto.sample_sensitivity(x, x, pairs=2, epsilon=1)
    sotto.sample_sensitivity(x, x, pairs=2, hidden="8")
    head.predict(x, repeat=3)
    head.score(x, x, average="mean")
"""


def mypy(tmp_path, *arguments):
    skip_unless_asked()
    cache = ["--cache-dir", str(tmp_path.parent / "mypy")]
    return python("-m", "mypy", "--strict", "--config-file", str(here / "pyproject.toml"), *cache, *arguments, env={**os.environ, "MYPYPATH": package})


def test_mypy_accepts_the_package(tmp_path):
    told = mypy(tmp_path, "-p", "sotto")
    assert told.returncode == 0, told.stdout


def test_mypy_accepts_a_user(tmp_path):
    (tmp_path / "user.py").write_text(textwrap.dedent(USER))
    told = mypy(tmp_path, tmp_path / "user.py")
    assert told.returncode == 0, told.stdout


def test_mypy_refuses_what_is_wrong(tmp_path):
    source = textwrap.dedent(WRONG)
    (tmp_path / "wrong.py").write_text(source)
    told = mypy(tmp_path, tmp_path / "wrong.py")
    lines = {int(line.split(":")[1]) for line in told.stdout.splitlines() if "wrong.py:" in line and " error: " in line}
    assert lines == {i for i, line in enumerate(source.splitlines(), 1) if line.startswith(("sotto.", "head."))}, told.stdout


@pytest.mark.parametrize("name", module_folders())
def test_mypy_reads_a_module(tmp_path, name):
    """In tests/python/types_of_NAME.py of a module exactly the lines that end in "# wrong" are refused."""
    source = module_folders()[name] / f"tests/python/types_of_{name}.py"
    told = mypy(tmp_path, source)
    lines = {int(line.split(":")[1]) for line in told.stdout.splitlines() if f"{source.name}:" in line and " error: " in line}
    assert lines == {i for i, line in enumerate(source.read_text().splitlines(), 1) if line.endswith("# wrong")}, told.stdout


def test_stubs_are_what_runs(tmp_path):
    skip_unless_asked()
    # What stubtest does not know: names for Literal[...], the metaclass of what has no types of its own, and what scikit-learn adds.
    (tmp_path / "allowed").write_text("sotto._sotto\nsotto._sotto\\..*\nsotto._attack.Output\nsotto.account.(Adjacency|Sampling)\nsotto.opacus.Accountant\nsotto.sklearn.*set_score_request\n")
    told = python("-m", "mypy.stubtest", "sotto", "--mypy-config-file", str(here / "pyproject.toml"), "--allowlist", str(tmp_path / "allowed"),
                  "--ignore-unused-allowlist", env={**os.environ, "PYTHONPATH": package, "MYPYPATH": package}, cwd=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
