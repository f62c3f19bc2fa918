#!/usr/bin/env python3
"""Prints tests/golden/head.inc: 20 steps of a 6-5-3 head in PyTorch, float64 (needs torch; tests never do).

Keras adds epsilon to the square root of the UNCORRECTED second moment; PyTorch adds it to the corrected one. Scaling
PyTorch's eps by 1 / sqrt(1 - beta2^t) before each step makes the two the same rule."""
import math
import numpy as np
import torch

WIDTHS, RECORDS, BATCH, STEPS = [6, 5, 3], 12, 5, 20
rounded = lambda v: float(np.float32(v))
x = torch.tensor([[rounded(math.sin(1 + 6 * i + j)) for j in range(6)] for i in range(RECORDS)], dtype=torch.float64)
y = torch.tensor([i % 3 for i in range(RECORDS)])

print(f"/* made by tools/golden_head.py with torch {torch.__version__.split('+')[0]} */")
for name in ("adam", "sgd"):
    layers = [torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)]
    model = torch.nn.Sequential(*layers).double()
    with torch.no_grad():
        for t, p in enumerate(model.parameters()):
            values = [rounded(0.5 * math.cos(100 * t + k)) for k in range(p.numel())]
            p.copy_(torch.tensor(values, dtype=torch.float64).reshape(p.shape))
    if name == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.999), eps=1e-7)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for t in range(STEPS):
        rows = [(BATCH * t + r) % RECORDS for r in range(BATCH)]
        loss = torch.nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        if name == "adam":
            optimizer.param_groups[0]["eps"] = 1e-7 / math.sqrt(1 - 0.999 ** (t + 1))
        optimizer.step()
        losses.append(loss.item())
    flat = torch.cat([p.detach().reshape(-1) for p in model.parameters()]).tolist()
    text = lambda values: "{" + ", ".join(f"{v:.12g}" for v in values) + "}"
    print(f'{{"{name}", {0.01 if name == "adam" else 0.1}, {text(losses)},\n {text(flat)}}},')
