#!/usr/bin/env python3
"""Many small softmax heads on the same embeddings in PyTorch: 20 epochs of Adam (lr 1e-3), each head without a record
or two of its own. One JSON line; heads_per_second counts heads of 20 epochs (300 for --hidden), whatever was measured.

  loop       one head after the other, autograd and the fused Adam
  manual     one head after the other, gradient and Adam written out (no autograd)
  processes  the loop in as many processes as --threads, one thread each
  batched    all heads as one batched product, each with its own shuffle
  product    all heads share shuffle and batches: one product, cross-entropy and gradients by autograd, fused Adam
  shared     the same written out, in place, without autograd; left-out records are masked
  halves     as shared, each head on a random half of the records (shadow models)"""
import argparse
import os
import subprocess
import sys
import time

import peer

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("way", choices=["loop", "manual", "processes", "batched", "product", "shared", "halves"])
parser.add_argument("--heads", type=int, default=1000)
parser.add_argument("--records", type=int, default=10000)
parser.add_argument("--inputs", type=int, default=128)
parser.add_argument("--classes", type=int, default=10)
parser.add_argument("--hidden", type=int, default=0)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--batch", type=int, default=500)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--setting", choices=["installed", "tuned", "tuned-huge"], default="tuned-huge")
args = parser.parse_args()
full = 300 if args.hidden else 20


def report(heads, seconds):
    import json
    print(json.dumps({"what": "heads", **vars(args), "seconds": round(seconds, 3),
                      "heads_per_second": round(heads * args.epochs / full / seconds, 3)}))


if args.way == "processes":
    command = [sys.executable, __file__, "loop"]
    for key, value in vars(args).items():
        if key not in ("way", "threads"):
            command += [f"--{key}", str(value)]
    children = [subprocess.Popen(command + ["--threads", "1"], stdout=subprocess.PIPE, text=True) for _ in range(args.threads)]
    import json
    # Each child times its own training, without the import; they run at the same time.
    slowest = max(json.loads(child.communicate()[0])["seconds"] for child in children)
    report(args.heads * args.threads, slowest)
    sys.exit()

peer.restart_with(args.setting)
import torch
import torch.nn.functional as F

torch.set_num_threads(args.threads)
torch.manual_seed(1)
n, d, K, B, M = args.records, args.inputs, args.classes, args.batch, args.heads
x = torch.relu(torch.randn(n, d))
y = torch.randint(K, (n,))


def network():
    layers = [torch.nn.Linear(d, K)]
    if args.hidden:
        layers = [torch.nn.Linear(d, args.hidden), torch.nn.ReLU(), torch.nn.Linear(args.hidden, K)]
    return torch.nn.Sequential(*layers)


def loop(heads, epochs):
    for head in range(heads):
        net = network()
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
        records = torch.cat([torch.arange(head), torch.arange(head + 1, n)])
        for _ in range(epochs):
            for rows in records[torch.randperm(n - 1)].split(B):
                optimizer.zero_grad(set_to_none=False)
                F.cross_entropy(net(x[rows]), y[rows]).backward()
                optimizer.step()


class Adam:
    """In place, on one tensor."""

    def __init__(self, w):
        self.w, self.m, self.s, self.t = w, torch.zeros_like(w), torch.zeros_like(w), 0
        self.root = torch.empty_like(w)

    def step(self, g):
        self.t += 1
        rate = 1e-3 * (1 - 0.999 ** self.t) ** 0.5 / (1 - 0.9 ** self.t)
        self.m.lerp_(g, 0.1)
        self.s.mul_(0.999).addcmul_(g, g, value=0.001)
        torch.sqrt(self.s, out=self.root)
        self.w.addcdiv_(self.m, self.root.add_(1e-7), value=-rate)


@torch.no_grad()
def manual(heads, epochs):
    one_hot = F.one_hot(y, K).float()
    padded = torch.cat([x, torch.ones(n, 1)], 1)  # the bias as a column
    for head in range(heads):
        adam = Adam(0.1 * torch.randn(d + 1, K))
        records = torch.cat([torch.arange(head), torch.arange(head + 1, n)])
        for _ in range(epochs):
            for rows in records[torch.randperm(n - 1)].split(B):
                xb = padded[rows]
                p = torch.softmax(xb @ adam.w, 1).sub_(one_hot[rows]).div_(len(rows))
                adam.step(xb.t() @ p)


@torch.no_grad()
def batched(heads, epochs):
    adam = Adam(0.1 * torch.randn(heads, d, K))
    one_hot = F.one_hot(y, K).float()
    for _ in range(epochs):
        orders = torch.stack([torch.randperm(n - 1) for _ in range(heads)])
        orders += orders >= torch.arange(heads)[:, None]  # head h leaves out record h
        for rows in orders.split(B, 1):
            xb = x[rows]
            p = torch.softmax(torch.bmm(xb, adam.w), 2).sub_(one_hot[rows]).div_(rows.shape[1])
            adam.step(torch.bmm(xb.transpose(1, 2), p))


def product(heads, epochs):
    w = torch.nn.Parameter(0.1 * torch.randn(d, K * heads))
    bias = torch.nn.Parameter(torch.zeros(K * heads))
    optimizer = torch.optim.Adam([w, bias], lr=1e-3, fused=True)
    left_out = torch.arange(heads) % n
    for _ in range(epochs):
        for rows in torch.randperm(n).split(B):
            weight = (rows[:, None] != left_out).float()  # (rows, heads)
            optimizer.zero_grad(set_to_none=False)
            z = torch.addmm(bias, x[rows], w).view(-1, K, heads)
            target = y[rows][:, None].expand(-1, heads)
            loss = F.cross_entropy(z, target, reduction="none")
            ((loss * weight).sum(0) / weight.sum(0)).sum().backward()
            optimizer.step()


@torch.no_grad()
def shared(heads, epochs, halves):
    adam = Adam(0.1 * torch.randn(d, K * heads))  # heads innermost: the softmax runs along vectors of heads
    one_hot = F.one_hot(y, K).float()[:, :, None]
    logits = torch.empty(B, K * heads)
    p = torch.empty(B, K, heads)
    member = torch.rand(n, heads) < 0.5 if halves else torch.ones(n, heads, dtype=torch.bool)
    if not halves:
        member[torch.arange(heads) % n, torch.arange(heads)] = False
    for _ in range(epochs):
        for rows in torch.randperm(n).split(B):
            xb = x[rows]
            weight = member[rows].float()
            weight /= weight.sum(0)
            z, q = logits[:len(rows)], p[:len(rows)]
            torch.mm(xb, adam.w, out=z)
            torch.softmax(z.view(-1, K, heads), 1, out=q)
            q.sub_(one_hot[rows]).mul_(weight[:, None, :])
            adam.step(xb.t() @ q.view(-1, K * heads))


def run(heads, epochs):
    if args.way == "loop":
        loop(heads, epochs)
    elif args.way == "manual":
        manual(heads, epochs)
    elif args.way == "product":
        product(heads, epochs)
    elif args.way == "batched":
        batched(heads, epochs)
    else:
        shared(heads, epochs, args.way == "halves")


run(min(M, 2), 1)
start = time.perf_counter()
run(M, args.epochs)
report(M, time.perf_counter() - start)
