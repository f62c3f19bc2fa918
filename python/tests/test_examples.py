"""The examples run, as scripts of another Python, and say what they should."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import sotto

folder = pathlib.Path(__file__).parents[1] / "examples"
NEEDS = {"adult_sklearn": ["sklearn"], "audit_torch_model": ["torch"], "simclr_on_a_folder": ["PIL"], "private_head": ["torch"], "certify_and_verify": []}
SAYS = {"adult_sklearn": "private under replace-one", "audit_torch_model": "held back: ", "simclr_on_a_folder": "scattering 1.0"}


@pytest.mark.skipif(not folder.exists(), reason="not in the source tree")
@pytest.mark.parametrize("name", sorted(p.stem for p in folder.glob("*.py")))
def test_example(name, tmp_path):
    needs = NEEDS.get(name, ["torch", "opacus", "sklearn"])
    missing = [module for module in needs if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} missing")
    package = str(pathlib.Path(sotto.__file__).parent.parent)
    told = subprocess.run([sys.executable, folder / f"{name}.py"], capture_output=True, text=True, check=False, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": package})
    assert told.returncode == 0, told.stderr
    assert SAYS.get(name, "") in told.stdout and (folder / f"{name}.py").read_text().count("\n# %%") > 1
