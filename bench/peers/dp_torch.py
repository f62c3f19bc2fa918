#!/usr/bin/env python3
"""DP-SGD with Opacus, and the same network's plain SGD step in turns: the networks of bench_dp_sgd. Fixed full batches (no Poisson
loader), sigma 1.1, clip 1.0, learning rate 0.05, as in the specification's table. One JSON line."""
import argparse
import json
import resource
import statistics
import time

import peer

parser = argparse.ArgumentParser()
peer.add_common(parser)
parser.add_argument("--model", choices=["linear", "mlp", "resnet8", "keras"], default="resnet8")
parser.add_argument("--mode", choices=["hooks", "functorch", "ew", "ghost"], default="hooks")
parser.add_argument("--side", choices=["both", "plain", "private"], default="both", help="one alone: the peak of memory is its own")
parser.set_defaults(batch=0, layout="plain")
args = parser.parse_args()
peer.restart_with(args.setting)

import torch
import torch.nn as nn
import torch.nn.functional as F
import warnings

warnings.filterwarnings("ignore")
import opacus
from opacus.grad_sample import GradSampleModule, GradSampleModuleExpandedWeights, GradSampleModuleFastGradientClipping
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

torch.set_num_threads(args.threads)
torch.manual_seed(1)
args.batch = args.batch or {"resnet8": 128}.get(args.model, 256)
SIGMA, CLIP, RATE = 1.1, 1.0, 0.05


def conv(c, k, size, stride):
    return nn.Conv2d(c, k, size, stride, size // 2, bias=False)


class PreActivation(nn.Module):
    def __init__(self, c, k, stride):
        super().__init__()
        self.bn1, self.conv1 = nn.GroupNorm(8, c), conv(c, k, 3, stride)
        self.bn2, self.conv2 = nn.GroupNorm(8, k), conv(k, k, 3, 1)
        self.shortcut = conv(c, k, 1, stride) if stride != 1 or c != k else None

    def forward(self, x):
        a = F.relu(self.bn1(x))
        shortcut = self.shortcut(a) if self.shortcut is not None else x
        return self.conv2(F.relu(self.bn2(self.conv1(a)))) + shortcut


class ResNet8(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = conv(3, 16, 3, 1)
        self.blocks = nn.Sequential(PreActivation(16, 16, 1), PreActivation(16, 32, 2), PreActivation(32, 64, 2))
        self.bn, self.fc = nn.GroupNorm(8, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn(self.blocks(self.conv1(x))))
        return self.fc(x.mean((2, 3)))


def make():
    torch.manual_seed(1)
    if args.model == "linear":
        return nn.Linear(128, 10)
    if args.model == "mlp":
        return nn.Sequential(nn.Linear(600, 256), nn.ReLU(), nn.Linear(256, 100))
    if args.model == "resnet8":
        return ResNet8()
    return nn.Sequential(nn.Conv2d(3, 128, 3, 2), nn.ReLU(), nn.Conv2d(128, 128, 3, 2), nn.ReLU(), nn.Conv2d(128, 128, 3, 2), nn.ReLU(),
                         nn.Conv2d(128, 128, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))


SHAPE = {"linear": (128,), "mlp": (600,)}.get(args.model, (3, 32, 32))
CLASSES = 100 if args.model == "mlp" else 10
memory_format = torch.channels_last if args.layout == "channels_last" and len(SHAPE) == 3 else torch.contiguous_format
x = torch.rand(args.batch, *SHAPE)
if len(SHAPE) == 3:
    x = x.contiguous(memory_format=memory_format)
y = torch.randint(0, CLASSES, (args.batch,))

plain = make().to(memory_format=memory_format)
plain_optimizer = torch.optim.SGD(plain.parameters(), lr=RATE)


def plain_step():
    F.cross_entropy(plain(x), y).backward()
    plain_optimizer.step()
    plain_optimizer.zero_grad(set_to_none=True)


model = make().to(memory_format=memory_format)
parameters = sum(p.numel() for p in model.parameters())
base = torch.optim.SGD(model.parameters(), lr=RATE)
if args.mode == "ghost":
    private = GradSampleModuleFastGradientClipping(model, max_grad_norm=CLIP, use_ghost_clipping=True)
    optimizer = DPOptimizerFastGradientClipping(base, noise_multiplier=SIGMA, max_grad_norm=CLIP, expected_batch_size=args.batch)
    criterion = DPLossFastGradientClipping(private, optimizer, nn.CrossEntropyLoss(), "mean")
elif args.mode == "ew":
    private = GradSampleModuleExpandedWeights(model)
else:
    private = GradSampleModule(model, force_functorch=args.mode == "functorch")
if args.mode != "ghost":
    optimizer = DPOptimizer(base, noise_multiplier=SIGMA, max_grad_norm=CLIP, expected_batch_size=args.batch)
    criterion = nn.CrossEntropyLoss()


def private_step():
    criterion(private(x), y).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


walls, plains = [], []
for step in range(args.warmup + args.steps):
    start = time.perf_counter()
    if args.side != "private":
        plain_step()
    middle = time.perf_counter()
    if args.side != "plain":
        private_step()
    end = time.perf_counter()
    if step >= args.warmup:
        plains.append(middle - start)
        walls.append(end - middle)
seconds, plain_seconds = statistics.median(walls), statistics.median(plains)
print(json.dumps({"what": "dp_" + args.model, "mode": args.mode, "batch": args.batch, "threads": args.threads, "layout": args.layout,
                  "setting": args.setting, "torch": torch.__version__, "opacus": opacus.__version__, "parameters": parameters,
                  "plain_ms": round(1e3 * plain_seconds, 3), "private_ms": round(1e3 * seconds, 3),
                  "ratio": round(seconds / plain_seconds, 2), "images_per_second": round(args.batch / (plain_seconds if args.side == "plain" else seconds), 1),
                  "peak_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}))
