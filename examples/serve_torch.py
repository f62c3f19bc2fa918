#!/usr/bin/env python3
"""Serves a PyTorch model to `sotto attack NAME --target-command 'python3 serve_torch.py model.pt'`.

Rows (n, d) f4 come in on stdin, posteriors (n, classes) f4 go out on stdout, one .npy frame each way per batch,
until stdin ends (docs/FORMATS.md, "Target commands"). Needs PyTorch and nothing of sotto.

    serve_torch.py model.pt                    a TorchScript file (torch.jit.save)
    serve_torch.py model.pt --shape 3,32,32    the same, for a model that takes images: rows are reshaped
    serve_torch.py my_package:make_model       a function that returns an nn.Module, weights loaded

The model must return logits; --probabilities says that it returns probabilities already.
"""
import argparse
import ast
import importlib
import os
import struct
import sys

import torch


def read_rows(stdin):
    """One .npy frame of version 1.0, f4 in C order: what sotto sends. None at the end of the stream."""
    head = stdin.read(10)
    if not head:
        return None
    if head[:8] != b"\x93NUMPY\x01\x00":
        raise SystemExit("serve_torch.py: stdin is not a stream of .npy frames")
    header = ast.literal_eval(stdin.read(struct.unpack("<H", head[8:])[0]).decode("latin-1"))
    if header["descr"] != "<f4" or header["fortran_order"]:
        raise SystemExit(f"serve_torch.py: expected rows of <f4, got {header}")
    n, d = header["shape"]
    return torch.frombuffer(bytearray(stdin.read(4 * n * d)), dtype=torch.float32).reshape(n, d)


def write_posteriors(stdout, p):
    n, classes = p.shape
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {classes}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    stdout.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin-1"))
    stdout.write(bytes(p.contiguous().untyped_storage())[: 4 * n * classes])
    stdout.flush()


def load(name):
    if ":" in name and not os.path.exists(name):
        module, function = name.split(":")
        sys.path.insert(0, os.getcwd())
        return getattr(importlib.import_module(module), function)()
    return torch.jit.load(name, map_location="cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--shape", help="C,H,W of a row")
    parser.add_argument("--probabilities", action="store_true", help="the model returns probabilities")
    options = parser.parse_args()
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a print() inside the model must not end up between the frames
    model = load(options.model).eval()  # dropout off, batch norm frozen: the model as it is deployed
    with torch.inference_mode():
        while (rows := read_rows(stdin)) is not None:
            if options.shape:
                rows = rows.reshape(-1, *map(int, options.shape.split(",")))
            p = model(rows)
            write_posteriors(stdout, p.float() if options.probabilities else torch.softmax(p.double(), 1).float())


if __name__ == "__main__":
    main()
