"""The code in docs/PYTHON.md runs, in its order; what needs a package that is not installed is skipped by name."""

import importlib.util
import os
import pathlib
import re
import textwrap

import pytest

root = pathlib.Path(__file__).parents[2]
text = (root / "docs" / "PYTHON.md").read_text()
blocks = re.findall(r"(?:### (\d+)\.[^\n]*\n|)(?:(?!### |```python)[^\n]*\n)*```python\n(.*?)```", text, re.S)
needs = {"torch": r"\btorch\b", "sklearn": r"\bsklearn\b", "opacus": r"\bopacus\b", "sotto.sklearn": r"sotto\.sklearn", "pandas": r"to_dataframe", "matplotlib": r"\.plot\(\)"}
state = {}


def missing(code):
    return [m for m, pattern in needs.items() if re.search(pattern, code) and importlib.util.find_spec(m) is None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder, one home and one namespace for all blocks."""
    there, before, home = tmp_path_factory.mktemp("documents"), os.getcwd(), os.environ.get("XDG_DATA_HOME")
    os.chdir(there)
    yield there
    os.chdir(before)


def test_there_are_twelve():
    assert [n for n, _ in blocks if n] == [str(n) for n in range(1, 13)]
    assert len(blocks) == text.count("```python")


@pytest.mark.parametrize("i", range(len(blocks)), ids=lambda i: f"{i}-{blocks[i][0] or 'more'}")
def test_block(i, folder, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "home"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    code = blocks[i][1]
    if missing(code):
        pytest.skip(f"{', '.join(missing(code))} is not installed")
    exec(compile(code, f"docs/PYTHON.md, block {i}", "exec"), state)
    if "def test_privacy" in code:  # the model leaks, so the gate holds it back
        with pytest.raises(state["sotto"].GateFailed):
            state["test_privacy"]()


def test_what_the_blocks_made(folder):
    if "checked" not in state:
        pytest.skip("the blocks did not run")
    assert (folder / "audit1" / "report.html").exists() and (folder / "certificate.html").read_text().startswith("<!")
    assert state["checked"].proved and state["checked"].signed_by == state["key"]
    assert (1.515361, 1.515364) == tuple(round(e, 6) for e in state["sotto"].account.dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1000, delta=1e-5).epsilon)


def code_of(document):
    page = (root / document).read_text()
    found = re.findall(r"```python\n(.*?)```", page, re.S) or [textwrap.dedent(b) for b in re.findall(r"(?:^    .*\n)+", page, re.M) if "import sotto" in b]
    assert len(found) == 1
    return found[0]


def test_readme(folder):
    code, made = code_of("README.md"), {}
    assert len(code.splitlines()) <= 10
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(root / "examples")
    exec(compile(code, "README.md", "exec"), made)
    assert "AUC 0.667 [0.646, 0.688]" in made["r"].verdict["text"] and 0 < made["r"]["loss"].tpr(0.01).upper < 0.1 and (folder / "audit1" / "report.html").exists()


def test_readme_of_the_package(folder, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "readme"))
    exec(blocks[0][1], state)
    state["net"] = state["head"]
    exec(compile(code_of("python/README.md"), "python/README.md", "exec"), state)
    made = state["head"].certificate
    assert made.proved and made.statement.startswith("(1, 1e-05)-differentially private")
