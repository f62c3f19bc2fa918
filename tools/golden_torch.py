#!/usr/bin/env python3
"""Makes tests/golden/*_step.safetensors: one PyTorch training step per network, in float64 (needs torch, numpy and
safetensors; the tests that read the files need none of them).

Weights and images come from a hash that the C test repeats, so the files stay small: for every tensor they hold the
gradient's and the updated weight's values at SAMPLES places spread over it (PyTorch's layout), and the gradient's norm.
usage: tools/golden_torch.py tests/golden"""
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.numpy import save_file

SAMPLES = 129


def uniform(tensor, count):
    """count numbers in [0, 1): murmur3's finaliser over a counter, upper 24 bits."""
    x = (np.arange(count, dtype=np.uint64) * 2654435761 + tensor) & 0xFFFFFFFF
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = ((x ^ (x >> np.uint64(shift))) * factor) & 0xFFFFFFFF
    x ^= x >> np.uint64(16)
    return (x >> np.uint64(8)).astype(np.float64) / 2**24


def number_of(name):
    """FNV-1a: every tensor's numbers depend on its name only."""
    hash = 2166136261
    for byte in name.encode():
        hash = ((hash ^ byte) * 16777619) & 0xFFFFFFFF
    return hash


def f32(x):
    return np.float32(x).astype(np.float64)


def fill(model):
    """Weights: uniform on +-sqrt(3 / fan in); vectors: around their usual start (norm weights 1, all else 0)."""
    for name, p in model.named_parameters():
        u = 2 * uniform(number_of(name), p.numel()) - 1
        if p.dim() > 1:
            values = u * f32(np.sqrt(3 / (p.numel() // p.shape[0])))
        else:
            values = 0.2 * u + (1 if is_norm_weight(model, name) else 0)
        p.data = torch.from_numpy(f32(values).reshape(tuple(p.shape)))


def is_norm_weight(model, name):
    module = model.get_submodule(name.rpartition(".")[0])
    return isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)) and name.endswith("weight")


def images(count, channels, side):
    return torch.from_numpy(f32(uniform(number_of("images"), count * channels * side * side)).reshape(count, channels, side, side))


def spread(x):
    flat = x.detach().reshape(-1).numpy()
    return flat[np.arange(min(SAMPLES, flat.size)) * flat.size // min(SAMPLES, flat.size)].astype(np.float32)


def gradient_samples(model):
    return np.concatenate([spread(p.grad) for p in model.parameters()]).astype(np.float64)


def record(path, build, step, optimizer, batch):
    """step(model, images) returns the loss and what else to record. The same step is also taken in bf16 by autocast, to
    know how far bf16 takes PyTorch itself from the exact gradient."""
    model = build().double()
    fill(model)
    x = images(batch, 3, 32)
    loss, extra = step(model, x)
    loss.backward()
    exact = gradient_samples(model)
    half = build()
    fill(half)
    half.float()
    with torch.autocast("cpu", torch.bfloat16):
        half_loss, _ = step(half, x.float())
    half_loss.backward()
    rounded = gradient_samples(half)
    cosine = exact @ rounded / np.sqrt((exact @ exact) * (rounded @ rounded))
    out = {"loss": np.array([loss.item()]), "autocast.loss": np.array([half_loss.item()]),
           "autocast.cosine": np.array([cosine]), **extra}
    print(path, "autocast cosine", cosine)
    for name, p in model.named_parameters():
        out["grad." + name] = spread(p.grad)
        out["norm." + name] = np.array([p.grad.norm().item()])
    optimizer(model.parameters()).step()
    for name, p in model.named_parameters():
        out["next." + name] = spread(p)
    for name, b in model.named_buffers():
        if "running" in name:
            out["next." + name] = spread(b)
    save_file(out, path, metadata={"made by": "tools/golden_torch.py", "torch": torch.__version__.split("+")[0]})


class Named(nn.Module):
    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


def simclr(path):
    def build():
        layers = []
        for i in range(4):
            layers += [nn.Conv2d(3 if i == 0 else 128, 128, 3, stride=2), nn.ReLU()]
        return Named(encoder=nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 128), nn.ReLU()),
                     projector=nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128)))

    def step(model, x):
        z = model.projector(model.encoder(x))
        with torch.autocast("cpu", enabled=False):
            p1, p2 = F.normalize(z.to(x.dtype), dim=1).chunk(2)
            logits, target = p1 @ p2.T / 0.1, torch.arange(8)
            loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        hits = ((logits.argmax(1) == target).sum() + (logits.argmax(0) == target).sum()).item() / 16
        return loss, {"accuracy": np.array([hits]), "output": spread(z.float())}

    record(path, build, step, lambda p: torch.optim.Adam(p, lr=1e-3, eps=1e-7), 16)


def norm(kind, channels):
    return nn.BatchNorm2d(channels) if kind == "batch" else nn.GroupNorm(8, channels)


def conv(c, k, size, stride):
    return nn.Conv2d(c, k, size, stride, size // 2, bias=False)


class PreActivation(nn.Module):
    def __init__(self, kind, c, k, stride):
        super().__init__()
        self.bn1, self.conv1, self.bn2, self.conv2 = norm(kind, c), conv(c, k, 3, stride), norm(kind, k), conv(k, k, 3, 1)
        if stride != 1 or c != k:
            self.shortcut = conv(c, k, 1, stride)

    def forward(self, x):
        a = F.relu(self.bn1(x))
        shortcut = self.shortcut(a) if hasattr(self, "shortcut") else x
        return self.conv2(F.relu(self.bn2(self.conv1(a)))) + shortcut


class Basic(nn.Module):
    def __init__(self, kind, c, k, stride):
        super().__init__()
        self.conv1, self.bn1, self.conv2, self.bn2 = conv(c, k, 3, stride), norm(kind, k), conv(k, k, 3, 1), norm(kind, k)
        if stride != 1 or c != k:
            self.downsample = nn.Sequential(conv(c, k, 1, stride), norm(kind, k))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if hasattr(self, "downsample") else x))


def resnet(path, build, forward, parameters):
    assert sum(p.numel() for p in build().parameters()) == parameters

    def step(model, x):
        logits = model.classifier(forward(model.encoder, x).mean((2, 3)))
        loss = F.cross_entropy(logits.to(x.dtype), torch.arange(8) * 3 % 10)
        return loss, {"output": spread(logits.float())}

    record(path, build, step, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-4), 8)


def resnet8(path, kind):
    def build():
        return Named(encoder=Named(conv1=conv(3, 16, 3, 1), layer1=nn.Sequential(PreActivation(kind, 16, 16, 1)),
                                   layer2=nn.Sequential(PreActivation(kind, 16, 32, 2)),
                                   layer3=nn.Sequential(PreActivation(kind, 32, 64, 2)), bn=norm(kind, 64)),
                     classifier=nn.Linear(64, 10))
    resnet(path, build, lambda e, x: F.relu(e.bn(e.layer3(e.layer2(e.layer1(e.conv1(x)))))), 77850)


def resnet18(path, kind):
    def build():
        parts, c = {"conv1": conv(3, 64, 3, 1), "bn1": norm(kind, 64)}, 64
        for stage, k in enumerate((64, 128, 256, 512), 1):
            parts[f"layer{stage}"] = nn.Sequential(Basic(kind, c, k, 1 if stage == 1 else 2), Basic(kind, k, k, 1))
            c = k
        return Named(encoder=Named(**parts), classifier=nn.Linear(512, 10))
    resnet(path, build, lambda e, x: e.layer4(e.layer3(e.layer2(e.layer1(F.relu(e.bn1(e.conv1(x))))))), 11173962)


if __name__ == "__main__":
    folder = sys.argv[1]
    simclr(folder + "/simclr_step.safetensors")
    resnet8(folder + "/resnet8_step.safetensors", "batch")
    resnet8(folder + "/resnet8_group_step.safetensors", "group")
    resnet18(folder + "/resnet18_step.safetensors", "batch")
