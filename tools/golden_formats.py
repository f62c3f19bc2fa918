#!/usr/bin/env python3
"""Writes tests/golden/known/formats/: small files by NumPy and safetensors that tests/known/io/test_formats_known.c reads.

Needs numpy and safetensors. Values are formulas that the test repeats:
  f*: (i - 5) / 4        i*: 1000 * i - 3000        u1: 7 * i mod 256        b1: i mod 3 == 0
"""
import pathlib
import sys

import numpy as np
from safetensors.numpy import save_file

out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/golden/known/formats")
out.mkdir(parents=True, exist_ok=True)


def values(dtype, shape):
    i = np.arange(int(np.prod(shape)))
    x = {"f": lambda: (i - 5) / 4, "i": lambda: 1000 * i - 3000, "u": lambda: 7 * i % 256, "b": lambda: i % 3 == 0}
    return x[np.dtype(dtype).kind]().astype(dtype).reshape(shape)


arrays = {d: values(d, (3, 4)) for d in ("f2", "f4", "f8", "i4", "i8", "u1", "bool")}
for name, array in arrays.items():
    np.save(out / f"{name}.npy", array)
for version in ((1, 0), (2, 0), (3, 0)):
    with open(out / f"version{version[0]}.npy", "wb") as f:
        np.lib.format.write_array(f, arrays["f4"], version=version)
np.save(out / "scalar.npy", np.float64(2.5))
np.save(out / "empty.npy", np.zeros((0, 7), "f4"))
np.save(out / "fortran.npy", np.asfortranarray(arrays["f4"]))
np.save(out / "object.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
np.save(out / "big_endian.npy", arrays["f4"].astype(">f4"))
np.save(out / "complex.npy", arrays["f4"].astype("c8"))
np.savez(out / "stored.npz", **arrays)
np.savez_compressed(out / "deflated.npz", **arrays, zeros=np.zeros((100, 100)))

try:
    import torch
    from safetensors.torch import save_file as torch_save

    # -3.140625, 1 and the largest bfloat16 below 2^127: exact in bf16
    torch_save({"bf16": torch.tensor([-3.140625, 1.0, 2.0**126 * 1.9921875]).bfloat16(),
                "0.weight": torch.tensor(arrays["f4"])}, out / "torch.safetensors")
except ImportError:
    print("torch is missing: torch.safetensors not written")
save_file({k: v for k, v in arrays.items()}, out / "numpy.safetensors", metadata={"format": "pt", "note": "hello"})

# Half precision: a sample of all patterns widened by NumPy; hard cases of narrowing, halfway and next to it.
bits = np.arange(65536, dtype=np.uint16)
wide = bits.view(np.float16).astype(np.float32)
finite = np.isfinite(wide)
x = np.concatenate([wide[finite].astype(np.float64) * s for s in (1, 1 + 2.0**-11, 1 - 2.0**-12, 1 + 2.0**-11 + 2.0**-40)])
x = np.concatenate([x[::311], [65504, 65519.999, 65520, 1e30, 2.0**-24, 2.0**-25, 2.0**-25 * 1.0000001, 6.1e-5, 0.0, -0.0]])
with np.errstate(over="ignore"):
    narrow = x.astype(np.float16)
np.savez_compressed(out / "half.npz", wide=wide[finite][::37], patterns=bits[finite][::37].astype(np.int32), x=x,
                    narrow=narrow.view(np.uint16).astype(np.int32))
