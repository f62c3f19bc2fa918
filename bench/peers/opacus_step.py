"""CPU time of a step of DP-SGD by Opacus' own optimizer and by sotto.opacus, in one process and interleaved: ms a step (median of 5 epochs of
20 steps), and of it optimizer.step() alone. One thread. usage: python3 opacus_step.py   (needs torch, opacus, sotto)"""

import os
import statistics
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()

import opacus  # noqa: E402
import torch  # noqa: E402

import sotto  # noqa: E402
import sotto.opacus  # noqa: E402

torch.set_num_threads(1)


def make(kind, width, batch):
    torch.manual_seed(0)
    x, y = torch.randn(20 * batch, 64), torch.randint(0, 10, (20 * batch,))
    net = torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 10))
    options = {"module": net, "optimizer": torch.optim.SGD(net.parameters(), lr=0.1), "noise_multiplier": 4.0, "max_grad_norm": 1.0,
               "data_loader": torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=batch)}
    if kind == "opacus":
        return opacus.PrivacyEngine(accountant="rdp").make_private(**options)
    ledger = sotto.Ledger(tempfile.mktemp(), dataset=f"bench-{width}-{batch}")
    return sotto.opacus.PrivacyEngine(ledger, threads=1).make_private(epochs=6, delta=1e-5, **options)


def epoch(net, optimizer, loader):
    """ms of CPU a step, all and in optimizer.step()."""
    begin, inside, steps = time.process_time(), 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        before = time.process_time()
        optimizer.step()
        inside += time.process_time() - before
        steps += 1
    return (time.process_time() - begin) / steps * 1e3, inside / steps * 1e3


for width, batch in (10, 64), (256, 64), (256, 256), (2000, 64):
    made = {kind: make(kind, width, batch) for kind in ("opacus", "sotto")}
    times = {kind: [] for kind in made}
    for _ in range(6):
        for kind, training in made.items():
            times[kind].append(epoch(*training))
    weights = sum(p.numel() for p in made["sotto"][1].params)
    print(f"{weights} weights, batch {batch}: " + ", ".join(
        f"{kind} {statistics.median(t[0] for t in v[1:]):.2f} ({statistics.median(t[1] for t in v[1:]):.2f})" for kind, v in times.items()), flush=True)
