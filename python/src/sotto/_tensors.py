"""Named tensors as bytes of a .safetensors file, and as arrays or tensors of PyTorch."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._call import Array, ffi, invalid, lib, numpy_of, run

_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}
_NAMES = {v: k for k, v in _TYPES.items()}


def bytes_of(function: Any, handle: Any) -> bytes:
    """What a function of the library with outputs `void **bytes, size_t *size` writes."""
    out, size = ffi.new("void **"), ffi.new("size_t *")
    run(function, out, size, handle)
    try:
        return bytes(ffi.buffer(out[0], size[0]))
    finally:
        lib.sotto_bytes_free(out[0])


def _header(data: bytes) -> tuple[int, dict[str, Any]]:
    n = struct.unpack("<Q", data[:8])[0]
    return n, json.loads(data[8:8 + n])


def texts_of(data: bytes) -> dict[str, str]:
    """The metadata."""
    return dict(_header(data)[1].get("__metadata__", {}))


def arrays_of(data: bytes) -> dict[str, Array]:
    """The tensors, in the order of the file."""
    n, header = _header(data)
    header.pop("__metadata__", None)
    found = {}
    for name, t in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        start, end = (8 + n + x for x in t["data_offsets"])
        found[name] = np.frombuffer(data[start:end], _TYPES[t["dtype"]]).reshape(t["shape"]).copy()
    return found


def file_of(tensors: Mapping[str, Any]) -> bytes:
    """The bytes of a file with these arrays or tensors; floats become float32."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name, x in tensors.items():
        a = numpy_of(x, name)
        a = np.ascontiguousarray(a, np.float32 if a.dtype.kind == "f" else a.dtype)
        kind = _NAMES.get(a.dtype.newbyteorder("<").str if a.dtype.itemsize > 1 else a.dtype.str)
        if kind is None:
            raise invalid(f"{name} has dtype {a.dtype}; expected floating-point tensors")
        header[str(name)] = {"dtype": kind, "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        parts.append(a.tobytes())
        at += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def torch_of(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """The same as tensors of PyTorch, which must be installed."""
    import torch
    return {name: torch.from_numpy(a) for name, a in arrays.items()}
