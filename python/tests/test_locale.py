"""A host whose locale has decimal commas: the same files, and they load again."""

import pathlib
import subprocess
import sys

import pytest

# LC_NUMERIC of a locale with a decimal comma, as the GNU C library reads it; tests/unit/base/test_c_locale.c says what it holds.
COMMA = bytes.fromhex("1411032006000000200000002200000024000000280000002c000000300000002c002e00030300002c0000002e0000005554462d3800")

SCRIPT = """
import locale, sys
import numpy as np
import sotto
if sys.argv[1] != "C":
    locale.setlocale(locale.LC_NUMERIC, sys.argv[1])
    assert locale.localeconv()["decimal_point"] == ","
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 90)
x = (rng.normal(0, .1, (90, 4)) + np.eye(3, 4)[y]).astype("f4")
x /= np.linalg.norm(x, axis=1, keepdims=True) * 1.0000001
head = sotto.train_head(x, y, classes=3, trainer="dp-adam", lr=.001, noise_multiplier=2.5, delta=1e-4, ledger=sotto.Ledger(dataset="a"), insecure_seed=5)
head.save("head.safetensors")
assert (sotto.Head.load("head.safetensors").predict(x) == head.predict(x)).all()
network = sotto.train_network(np.zeros((20, 8, 8, 3), "u1"), [0, 1] * 10, model="mlp", hidden=4, epochs=1, batch=10, lr=.0625, dtype="f32", backend="dnnl")
network.save("network.safetensors")
sotto.Network.load("network.safetensors")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the locale is one of the GNU C library")
def test_decimal_commas_stay_outside(tmp_path, monkeypatch):
    (tmp_path / "comma").mkdir()
    (tmp_path / "comma" / "LC_NUMERIC").write_bytes(COMMA)
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    made = {}
    for locale in ("C", "comma"):
        folder = tmp_path / f"in {locale}"
        folder.mkdir()
        monkeypatch.setenv("XDG_DATA_HOME", str(folder / "home"))
        done = subprocess.run([sys.executable, "-c", SCRIPT, locale], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made[locale] = pathlib.Path(folder)
    text = (made["comma"] / "head.safetensors").read_bytes()
    assert b"0,001" not in text and b'"lr":0.001' in text.replace(b'\\"', b'"')
    assert (made["comma"] / "network.safetensors").read_bytes() == (made["C"] / "network.safetensors").read_bytes()
