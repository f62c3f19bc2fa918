"""Audit a training by Opacus with canaries: what is proved, and what was found. Needs torch and Opacus 1.6; under a minute."""

# %% Records. Yours are in the place of these.
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader

import sotto
import sotto.opacus

warnings.filterwarnings("ignore", message="Full backward hook is firing")
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(1)
x = rng.normal(size=(2000, 20)).astype(np.float32)
y = (x[:, :5] @ rng.normal(size=(5, 4))).argmax(1)
torch.manual_seed(1)

# %% Canaries: 500 clipped gradients at one weight each, in the training by the toss of a coin. The coins are sealed now.
canaries = sotto.opacus.Canaries(x, y, classes=4, count=500, kind="dirac", output=folder / "net.pt")

# %% The training, as always in Opacus. The ledger is charged before the first batch, and its entry commits to the coins.
ledger = sotto.Ledger(folder / "ledger.jsonl", dataset="opacus-canaries")
engine = sotto.opacus.PrivacyEngine(ledger, canaries=canaries)
net = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
net, optimizer, loader = engine.make_private_with_epsilon(
    module=net, optimizer=torch.optim.SGD(net.parameters(), lr=1.0), data_loader=DataLoader(canaries.dataset, batch_size=100), max_grad_norm=1.0,
    target_epsilon=8, target_delta=1e-5, epochs=4)
for _ in range(4):
    for a, b in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()

# %% What is guaranteed, and under which condition.
torch.save(net.state_dict(), folder / "net.pt")
certificate = engine.certificate()
certificate.save(folder / "net.pt.certificate.json", folder / "net.pt")
print(certificate.statement)

# %% What an observer of all steps finds: 20 guesses "in" and 20 "out", a number chosen before. The coins are opened once.
result = canaries.audit(one_run=20, certificate=certificate)
found = result["scores"].one_run
print(f"{found.right} of {found.guesses} guesses right: epsilon is at least {found.lower_bound:.2f} at delta {found.delta:g} "
      f"({found.confidence:.0%}); certified: {float(certificate.epsilon):.2f}")
print("curve contradicted" if result.curve.contradicted else f"the certificate's curve is not contradicted (p = {result.curve.p_value:.2g})")
result.save(folder / "audit", certificate=folder / "net.pt", ledger=ledger.path)
print(f"page: {folder / 'audit' / 'report.html'}")
