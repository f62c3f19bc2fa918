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


@pytest.mark.parametrize("document", ["README.md", "python/README.md"])
def test_readme(document, folder, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / document.replace("/", "-")))
    exec(blocks[0][1], state)
    state["net"] = state["head"]
    page = (root / document).read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.S) or [textwrap.dedent(b) for b in re.findall(r"(?:^    .*\n)+", page, re.M) if "import sotto" in b]
    assert len(code) == 1
    assert document != "README.md" or len(code[0].splitlines()) == 5 and page.splitlines()[39].strip() == code[0].splitlines()[-1]  # the first screen
    exec(compile(code[0], document, "exec"), state)
    made = state["h" if document == "README.md" else "head"].certificate
    assert made.proved and made.statement.startswith(f"({3 if document == 'README.md' else 1}, 1e-05)-differentially private")
