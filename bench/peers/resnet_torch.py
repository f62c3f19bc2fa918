#!/usr/bin/env python3
"""Convolutional networks for 32x32 in PyTorch: our pre-activation ResNet-8, ResNet-18 and ResNet-50 with the CIFAR stem,
MobileNetV2 without its first two halvings. SGD with momentum 0.9, random images. One JSON line."""
import argparse

import peer

parser = argparse.ArgumentParser()
peer.add_common(parser)
parser.add_argument("--model", choices=["resnet8", "resnet18", "resnet50", "mobilenetv2"], default="resnet8")
parser.add_argument("--norm", choices=["batch", "group"], default="batch")
parser.add_argument("--mode", choices=["train", "infer"], default="train")
parser.set_defaults(batch=128)
args = parser.parse_args()
peer.restart_with(args.setting)

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(args.threads)
torch.manual_seed(1)
memory_format = torch.channels_last if args.layout == "channels_last" else torch.contiguous_format


def norm(channels):
    return nn.BatchNorm2d(channels) if args.norm == "batch" else nn.GroupNorm(8, channels)


def conv(c, k, size, stride):
    return nn.Conv2d(c, k, size, stride, size // 2, bias=False)


class PreActivation(nn.Module):
    def __init__(self, c, k, stride):
        super().__init__()
        self.bn1, self.conv1, self.bn2, self.conv2 = norm(c), conv(c, k, 3, stride), norm(k), conv(k, k, 3, 1)
        self.shortcut = conv(c, k, 1, stride) if stride != 1 or c != k else None

    def forward(self, x):
        a = F.relu(self.bn1(x), inplace=True)
        shortcut = self.shortcut(a) if self.shortcut is not None else x
        return self.conv2(F.relu(self.bn2(self.conv1(a)), inplace=True)) + shortcut


class ResNet8(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = conv(3, 16, 3, 1)
        self.blocks = nn.Sequential(PreActivation(16, 16, 1), PreActivation(16, 32, 2), PreActivation(32, 64, 2))
        self.bn, self.fc = norm(64), nn.Linear(64, classes)

    def forward(self, x):
        x = F.relu(self.bn(self.blocks(self.conv1(x))), inplace=True)
        return self.fc(x.mean((2, 3)))


class Basic(nn.Module):
    def __init__(self, c, k, stride):
        super().__init__()
        self.conv1, self.bn1, self.conv2, self.bn2 = conv(c, k, 3, stride), norm(k), conv(k, k, 3, 1), norm(k)
        self.shortcut = nn.Sequential(conv(c, k, 1, stride), norm(k)) if stride != 1 or c != k else None

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        return F.relu(y + (self.shortcut(x) if self.shortcut is not None else x), inplace=True)


class ResNet18(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 64, 3, 1), norm(64)
        blocks, c = [], 64
        for k, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [Basic(c, k, stride), Basic(k, k, 1)]
            c = k
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(512, classes)

    def forward(self, x):
        return self.fc(self.blocks(F.relu(self.bn1(self.conv1(x)), inplace=True)).mean((2, 3)))


class Bottleneck(nn.Module):
    def __init__(self, c, k, stride):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = conv(c, k, 1, 1), conv(k, k, 3, stride), conv(k, 4 * k, 1, 1)
        self.bn1, self.bn2, self.bn3 = norm(k), norm(k), norm(4 * k)
        self.shortcut = nn.Sequential(conv(c, 4 * k, 1, stride), norm(4 * k)) if stride != 1 or c != 4 * k else None

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)), inplace=True)))
        return F.relu(y + (self.shortcut(x) if self.shortcut is not None else x), inplace=True)


class ResNet50(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 64, 3, 1), norm(64)
        blocks, c = [], 64
        for k, stride, count in ((64, 1, 3), (128, 2, 4), (256, 2, 6), (512, 2, 3)):
            for block in range(count):
                blocks.append(Bottleneck(c, k, stride if block == 0 else 1))
                c = 4 * k
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(2048, classes)

    def forward(self, x):
        return self.fc(self.blocks(F.relu(self.bn1(self.conv1(x)), inplace=True)).mean((2, 3)))


class Inverted(nn.Module):
    def __init__(self, c, k, stride, widening):
        super().__init__()
        wide = c * widening
        layers = [conv(c, wide, 1, 1), norm(wide), nn.ReLU6(True)] if widening > 1 else []
        layers += [nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), norm(wide), nn.ReLU6(True)]
        self.layers = nn.Sequential(*layers, conv(wide, k, 1, 1), norm(k))
        self.joins = stride == 1 and c == k

    def forward(self, x):
        return x + self.layers(x) if self.joins else self.layers(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        blocks, c = [conv(3, 32, 3, 1), norm(32), nn.ReLU6(True)], 32
        for widening, k, count, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)):
            for block in range(count):
                blocks.append(Inverted(c, k, stride if block == 0 else 1, widening))
                c = k
        self.blocks = nn.Sequential(*blocks, conv(c, 1280, 1, 1), norm(1280), nn.ReLU6(True))
        self.fc = nn.Linear(1280, classes)

    def forward(self, x):
        return self.fc(self.blocks(x).mean((2, 3)))


NETWORKS = {"resnet8": (ResNet8, 77850), "resnet18": (ResNet18, 11173962), "resnet50": (ResNet50, 23520842),
            "mobilenetv2": (MobileNetV2, 2236682)}
network, expected = NETWORKS[args.model]
model = network()
parameters = sum(p.numel() for p in model.parameters())
assert parameters == expected, parameters
model = model.to(memory_format=memory_format)
masters = list(model.parameters())
if args.dtype == "bf16":
    masters = [p.detach().clone().requires_grad_() for p in masters]
    model = model.to(torch.bfloat16)
    for m in model.modules():  # statistics and affine of the norms stay f32, as torch.amp users do it
        if isinstance(m, nn.BatchNorm2d):
            m.float()
optimizer = torch.optim.SGD(masters, lr=1e-3, momentum=0.9, fused=args.setting != "installed")
x = torch.rand(args.batch, 3, 32, 32).contiguous(memory_format=memory_format)
y = torch.randint(0, 10, (args.batch,))


def logits_of(x):
    if args.dtype == "autocast":
        with torch.autocast("cpu", torch.bfloat16):
            return model(x)
    return model(x.to(torch.bfloat16) if args.dtype == "bf16" else x)


if args.compile:
    logits_of = torch.compile(logits_of)


def train():
    F.cross_entropy(logits_of(x).float(), y).backward()
    if args.dtype == "bf16":
        for master, p in zip(masters, model.parameters()):
            master.grad = p.grad.float()
    optimizer.step()
    if args.dtype == "bf16":
        with torch.no_grad():
            torch._foreach_copy_(list(model.parameters()), masters)
    model.zero_grad(set_to_none=True)


def infer():
    with torch.inference_mode():
        logits_of(x)


if args.mode == "infer":
    model.eval()
peer.report(args.model, args, peer.measure(train if args.mode == "train" else infer, args))
