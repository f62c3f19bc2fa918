#!/usr/bin/env python3
"""Serves a model to `sotto attack NAME --target-command 'python3 serve_numpy.py head.npz'`.

Rows (n, d) f4 come in on stdin, posteriors (n, classes) f4 go out on stdout, one .npy frame each way per batch,
until stdin ends (docs/FORMATS.md, "Target commands"). Everything else the script has to say goes to stderr.
This one serves the layers of an .npz: "0.weight" (out, in), "0.bias" (out), "2.weight", ... with ReLU between
them, the names that `sotto head` and PyTorch's nn.Sequential use. To serve another model, replace predict().
"""
import io
import sys

import numpy as np


def serve(predict):
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a print() must not end up between the frames
    while stdin.peek(1):
        np.lib.format.read_magic(stdin)  # np.load() and np.save() ask a file for its position, which a pipe has not
        shape, _, dtype = np.lib.format.read_array_header_1_0(stdin)
        rows = np.frombuffer(stdin.read(dtype.itemsize * int(np.prod(shape))), dtype).reshape(shape)
        frame = io.BytesIO()
        np.save(frame, np.ascontiguousarray(predict(rows), dtype="<f4"))
        stdout.write(frame.getbuffer())
        stdout.flush()


def softmax(logits):
    logits = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    return p / p.sum(axis=1, keepdims=True)


def load(path):
    layers = np.load(path)
    numbers = sorted(int(name.split(".")[0]) for name in layers if name.endswith(".weight"))

    def predict(x):
        for i in numbers:
            x = x @ layers[f"{i}.weight"].T + layers[f"{i}.bias"]
            if i != numbers[-1]:
                x = np.maximum(x, 0)
        return softmax(x)

    return predict


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: serve_numpy.py head.npz")
    serve(load(sys.argv[1]))
