# %% [markdown]
# # A private head on embeddings of a PyTorch encoder
# The encoder was trained on public images (here it is random, so that nothing is downloaded; take one of torchvision in earnest). Only the head sees private
# labels, and only the head is released.

# %%
import numpy as np
import torch

import sotto

rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 3000)
images = rng.normal(size=(3000, 1, 16, 16)).astype("float32") * .5
for k in range(3):
    images[labels == k, :, 4 * k:4 * k + 4] += 1         # a bright band where the class is

# %%
torch.manual_seed(0)
encoder = torch.nn.Sequential(torch.nn.Conv2d(1, 16, 5, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten()).eval()
with torch.inference_mode():
    embeddings = encoder(torch.from_numpy(images))
embeddings = torch.nn.functional.normalize(embeddings)   # record by record, so nothing private decides the scale
train, test = slice(0, 2500), slice(2500, None)

# %% [markdown]
# ## Without protection, for comparison

# %%
plain = sotto.train_head(embeddings[train], labels[train], epochs=30, lr=.05)
print(f"plain:   {plain.score(embeddings[test], labels[test]):.3f}, {plain}")

# %% [markdown]
# ## With noise in every step
# The number of classes is public and stated. The whole run is charged before its first step.

# %%
ledger = sotto.Ledger("scans.jsonl", dataset="scans-2026", budget=(3.0, 1e-5))
private = sotto.train_head(embeddings[train], labels[train], classes=3, trainer="dp-sgd", epsilon=2, delta=1e-5, batch=500, lr=8,
                           max_grad_norm=.1, ledger=ledger, purpose="triage", output="private.safetensors")
print(f"private: {private.score(embeddings[test], labels[test]):.3f}, {private.certificate.statement}")
print(sotto.verify("private.safetensors", ledger=ledger))

# %% [markdown]
# ## What an attacker finds
# Measured, so a lower bound; it may not contradict what is proved.

# %%
result = sotto.attack(private, "ml-leaks-3", member=(embeddings[train], labels[train]), nonmember=(embeddings[test], labels[test]))
print(result.worst)

# %% [markdown]
# ## Back to PyTorch

# %%
head = torch.nn.Sequential(torch.nn.Linear(embeddings.shape[1], 3))
head.load_state_dict(private.state_dict())
released = torch.nn.Sequential(encoder, head)
print(released(torch.from_numpy(images[:2])).shape)
