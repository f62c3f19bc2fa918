#!/usr/bin/env python3
"""Shadow MLPs in PyTorch: 600-128-100 on random halves of 20,000 records of bits, batches of 100. One JSON line;
seconds_64 scales to 64 models of 50 epochs, whatever was measured.

  loop       one model after the other, autograd, fused Adam or foreach SGD
  manual     one model after the other, gradient and update written out (no autograd)
  processes  `loop` in as many processes as --threads, one thread each
  manual-processes  `manual` likewise"""
import argparse
import json
import subprocess
import sys
import time

import peer

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("way", choices=["loop", "manual", "processes", "manual-processes"])
parser.add_argument("--models", type=int, default=2)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--trainer", choices=["adam", "sgd"], default="adam")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--setting", choices=["installed", "tuned", "tuned-huge"], default="tuned-huge")
args = parser.parse_args()
N, D, H, K, B, IN = 20000, 600, 128, 100, 100, 10000


def report(models, seconds, cpu):
    print(json.dumps({"what": "shadow-mlps", **vars(args), "seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3),
                      "seconds_64": round(seconds * 64 / models * 50 / args.epochs, 2),
                      "cpu_seconds_model": round(cpu / models * 50 / args.epochs, 4),
                      "heads_per_second": round(models / seconds * args.epochs / 50, 4)}))


if args.way.endswith("processes"):
    command = [sys.executable, __file__, "manual" if args.way.startswith("manual") else "loop"]
    for key, value in vars(args).items():
        if key not in ("way", "threads"):
            command += [f"--{key}", str(value)]
    children = [subprocess.Popen(command + ["--threads", "1"], stdout=subprocess.PIPE, text=True) for _ in range(args.threads)]
    # Each child times its own training, without the import; they run at the same time.
    answers = [json.loads(child.communicate()[0]) for child in children]
    report(args.models * args.threads, max(a["seconds"] for a in answers), sum(a["cpu_seconds"] for a in answers))
    sys.exit()

peer.restart_with(args.setting)
import torch
import torch.nn.functional as F

torch.set_num_threads(args.threads)
torch.manual_seed(1)
x = (torch.rand(N, D) < 0.2).float()
y = torch.randint(K, (N,))


def loop(epochs):
    net = torch.nn.Sequential(torch.nn.Linear(D, H), torch.nn.ReLU(), torch.nn.Linear(H, K))
    adam = args.trainer == "adam"
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True) if adam else torch.optim.SGD(net.parameters(), lr=0.1, foreach=True)
    rows = torch.randperm(N)[:IN]
    xs, ys = x[rows], y[rows]
    for _ in range(epochs):
        for batch in torch.randperm(IN).split(B):
            optimizer.zero_grad(set_to_none=False)
            F.cross_entropy(net(xs[batch]), ys[batch]).backward()
            optimizer.step()


@torch.no_grad()
def manual(epochs):
    adam = args.trainer == "adam"
    w = [0.1 * torch.randn(D, H), torch.zeros(H), 0.1 * torch.randn(H, K), torch.zeros(K)]
    m = [torch.zeros_like(p) for p in w]
    s = [torch.zeros_like(p) for p in w]
    root = [torch.empty_like(p) for p in w]
    rows = torch.randperm(N)[:IN]
    xs, ys = x[rows], F.one_hot(y[rows], K).float()
    t = 0
    for _ in range(epochs):
        for batch in torch.randperm(IN).split(B):
            xb, yb = xs[batch], ys[batch]
            h = torch.addmm(w[1], xb, w[0]).relu_()
            d = torch.softmax(torch.addmm(w[3], h, w[2]), 1).sub_(yb).div_(len(batch))
            dh = torch.mm(d, w[2].t()).mul_(h > 0)
            gradients = [torch.mm(xb.t(), dh), dh.sum(0), torch.mm(h.t(), d), d.sum(0)]
            t += 1
            rate = 1e-3 * (1 - 0.999 ** t) ** 0.5 / (1 - 0.9 ** t)
            for p, g, a, b, r in zip(w, gradients, m, s, root):
                if not adam:
                    p.add_(g, alpha=-0.1)
                    continue
                a.lerp_(g, 0.1)
                b.mul_(0.999).addcmul_(g, g, value=0.001)
                torch.sqrt(b, out=r)
                p.addcdiv_(a, r.add_(1e-7), value=-rate)


train = manual if args.way == "manual" else loop
train(1)
start, start_cpu = time.perf_counter(), time.process_time()
for _ in range(args.models):
    train(args.epochs)
report(args.models, time.perf_counter() - start, time.process_time() - start_cpu)
