#!/usr/bin/env python3
"""Prints tests/golden/optimizer.inc: five steps of PyTorch's optimizers in float64 (needs torch; tests never do)."""
import math
import torch

CASES = [
    ('{.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7}', 0.01,
     lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.9, 0.999), eps=1e-7)),
    ('{.name = "adam", .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.1}', 0.02,
     lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1)),
    ('{.name = "sgd"}', 0.1, lambda p: torch.optim.SGD(p, lr=0.1)),
    ('{.name = "sgd", .momentum = 0.9, .weight_decay = 1e-4}', 0.1,
     lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-4)),
    ('{.name = "sgd", .momentum = 0.9, .weight_decay = 5e-4, .nesterov = 1}', 0.05,
     lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)),
]

print(f"/* made by tools/golden_optimizer.py with torch {torch.__version__.split('+')[0]} */")
for config, lr, make in CASES:
    value = torch.tensor([i - 2.0 for i in range(6)], dtype=torch.float64, requires_grad=True)
    optimizer = make([value])
    for t in range(5):
        value.grad = torch.tensor([math.sin(1 + i + 3 * t) * 10.0 ** -(i % 4) for i in range(6)], dtype=torch.float64)
        optimizer.step()
    print(f"{{{config}, {lr}, {{{', '.join(f'{v:.12g}' for v in value.tolist())}}}}},")
