# %% [markdown]
# # SimCLR on a folder of images
# Any folder with .png or .jpg files of PUBLIC images. Without one, images of coloured bars are written to a temporary folder.

# %%
import pathlib
import sys
import tempfile

import numpy as np
from PIL import Image

import sotto

rng = np.random.default_rng(0)
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
if len(sys.argv) < 2:
    for i in range(512):
        image = rng.integers(0, 60, (32, 32, 3), dtype=np.uint8)
        image[:, 8 * (i % 4):8 * (i % 4) + 8] += 150
        Image.fromarray(image).save(folder / f"{i % 4}-{i:03}.png")

# %%
paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in (".png", ".jpg", ".jpeg"))
images = np.stack([np.asarray(Image.open(p).convert("RGB").resize((32, 32))) for p in paths])
print(len(images), "images")

# %% [markdown]
# ## Pre-train without labels
# With `checkpoint=` an interrupted run continues. `progress=True` shows a bar.

# %%
encoder = sotto.pretrain(images, epochs=3, batch=64, seed=1)
print(encoder, "loss", encoder.pretraining.loss)
encoder.save(folder / "encoder.safetensors")

# %% [markdown]
# ## How good are the embeddings?
# Here the class is the first letter of a file's name. A wavelet scattering transform needs no training at all.

# %%
labels = np.unique([p.name[0] for p in paths], return_inverse=True)[1]
train, test = slice(0, None, 2), slice(1, None, 2)
for name, embed in (("SimCLR", encoder.embed), ("untrained", sotto.Encoder.random(images).embed), ("scattering", sotto.scatter)):
    vectors = embed(images)
    print(name, sotto.knn_accuracy((vectors[train], labels[train]), (vectors[test], labels[test]), k=5))
