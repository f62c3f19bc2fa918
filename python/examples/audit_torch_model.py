# %% [markdown]
# # Audit a PyTorch model
# What do the answers of a model tell of the records that trained it? Everything here is measured: lower bounds with intervals, never a guarantee.

# %%
import numpy as np
import torch

import sotto

rng = np.random.default_rng(0)
y = rng.integers(0, 5, 2400)
x = (rng.normal(size=(2400, 20)) + 1.2 * np.eye(5, 20)[y]).astype("float32")
train, test, own = slice(0, 400), slice(400, 800), slice(800, None)      # members, others, the attacker's own records

# %%
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(20, 128), torch.nn.ReLU(), torch.nn.Linear(128, 5))
optimizer = torch.optim.Adam(net.parameters(), .005)
for _ in range(150):                                                     # long enough to know the records by heart
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(torch.from_numpy(x[train])), torch.from_numpy(y[train])).backward()
    optimizer.step()
net.eval()

# %% [markdown]
# ## Saved answers
# Logits of members and others are enough for attacks on losses. The tensors are not copied.

# %%
with torch.inference_mode():
    inside, outside = net(torch.from_numpy(x[train])), net(torch.from_numpy(x[test]))
answers = sotto.audit(inside, outside, member_labels=y[train], nonmember_labels=y[test])
print(answers)

# %% [markdown]
# ## An attacker with shadow models
# The model answers in this process; no server, no file. LiRA trains shadow models on the attacker's records.

# %%
lira = sotto.attack(net, "lira", member=(x[train], y[train]), nonmember=(x[test], y[test]), attacker=(x[own], y[own]),
                    shadow={"hidden": [128], "epochs": 40}, shadows=8)
worst = lira.worst
print(f"{worst.name}: AUC {worst.auc.estimate:.3f} [{worst.auc.lower:.3f}, {worst.auc.upper:.3f}], epsilon at least {worst.epsilon_lower_bound:.2f}")
print(lira.save("audit"))                                                # the page; in a notebook: lira.show()

# %% [markdown]
# ## A gate
# In a test suite, a rule that holds raises GateFailed.

# %%
try:
    lira.check("auc>0.55")
except sotto.GateFailed as error:
    print("held back:", error)

# %% [markdown]
# ## Before and after
# The same data, trained with noise: what is proved bounds every attack, and what is measured shows what noise cost.

# %%
private = sotto.train_head(x[train] / 8, y[train], classes=5, trainer="dp-sgd", epsilon=4, delta=1e-4, batch=100, lr=4, ledger=sotto.Ledger(dataset="trial-2026"))
after = sotto.audit(private.logits(x[train] / 8), private.logits(x[test] / 8), member_labels=y[train], nonmember_labels=y[test], claim=private.certificate)
print(private.certificate.statement)
print(sotto.compare({"plain": answers, "private": after}))
