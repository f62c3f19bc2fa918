#!/usr/bin/env python3
"""Whether two programs give the same results: audit, account, head, and the weights of pre-training in f32. They may be linked to different
versions of oneDNN and FLINT. (bf16 is rounded as oneDNN sums, and each version sums in an order of its own.)

usage: same.py PROGRAM OTHER     with the interpreter that has the package"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import sotto


def results(program, folder):
    """By name. folder: of the arrays; another one has what the program keeps."""
    own = pathlib.Path(tempfile.mkdtemp(dir=folder))

    def run(*args):
        return subprocess.run([program, *args], cwd=folder, check=True, stdout=subprocess.PIPE,
                              env={**os.environ, "XDG_DATA_HOME": str(own), "SOTTO_CACHE_DIR": str(own)}).stdout

    yield "account", run("account", "--mechanism", "gaussian", "--noise-multiplier", "1.1", "--sample-rate", "0.01", "--steps", "1000", "--delta", "1e-5", "--json")
    yield "audit", json.loads(run("audit", "--member-losses", "member.npy", "--nonmember-losses", "nonmember.npy", "--fpr", "0.1", "--json", "--quiet"))
    run("head", "--features", "x.npy", "--labels", "y.npy", "--hidden", "16", "--epochs", "3", "-o", own / "head.safetensors", "--quiet")
    yield "head", sotto.Head.load(own / "head.safetensors").weights
    run("data", "import", "images.npy:y.npy", "--name", "pictures", "--dataset-id", "pictures", "--quiet")
    run("pretrain", "--data", "pictures", "--epochs", "2", "--batch", "256", "--dtype", "f32", "--backend", "dnnl", "-o", own / "encoder.safetensors", "--quiet")
    yield "pretrain", sotto.Encoder.load(own / "encoder.safetensors").weights


def same(a, b):
    return a == b if not isinstance(a, dict) or not isinstance(next(iter(a.values())), np.ndarray) else all(np.array_equal(a[k], b[k]) for k in a | b)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    g = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        y = np.arange(1024) % 10
        arrays = {"x": (g.normal(size=(1024, 32)) + np.eye(10, 32)[y]).astype("f4"), "y": y, "member": g.exponential(1, 500), "nonmember": g.exponential(2, 500),
                  "images": g.integers(0, 256, (1024, 3, 32, 32), dtype=np.uint8)}
        for name, a in arrays.items():
            np.save(f"{folder}/{name}.npy", a)
        differ = [name for (name, a), (_, b) in zip(*(results(os.path.abspath(p), folder) for p in sys.argv[1:])) if not same(a, b)]
    if differ:
        sys.exit(f"wheel/same: {', '.join(differ)} differ")
    print("wheel/same: account, audit, head and pretrain give the same bits")


if __name__ == "__main__":
    main()
