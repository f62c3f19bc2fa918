#!/usr/bin/env python3
"""SimCLR training step in PyTorch: the encoder of Keras's semisupervised_simclr example, NT-Xent (cross-view form),
Adam. One JSON line; an image is two augmented views. --ranks R: DistributedDataParallel over gloo, with --threads in each of R
processes, which share --batch; the line has a hash of the weights."""
import argparse
import hashlib
import os
import subprocess
import sys

import peer

parser = argparse.ArgumentParser()
peer.add_common(parser)
parser.add_argument("--size", type=int, default=32)
parser.add_argument("--augment", choices=["none", "batched", "pil"], default="none",
                    help="batched: on tensors, one grid_sample and one colour matrix per view; pil: torchvision's "
                         "recipe on Pillow images in 2 DataLoader workers")
parser.add_argument("--ranks", type=int, default=1)
args = parser.parse_args()
peer.restart_with(args.setting)
rank = int(os.environ.setdefault("RANK", "0"))
os.environ.update(WORLD_SIZE=str(args.ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("MASTER_PORT", "29511"))
if rank == 0:
    others = [subprocess.Popen([sys.executable] + sys.argv, env={**os.environ, "RANK": str(i)}) for i in range(1, args.ranks)]

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(args.threads)
torch.manual_seed(1)
channels_last = torch.channels_last if args.layout == "channels_last" else torch.contiguous_format


def flat_side(side):
    for _ in range(4):
        side = (side - 3) // 2 + 1
    return side


layers = []
for i in range(4):
    layers += [nn.Conv2d(3 if i == 0 else 128, 128, 3, stride=2), nn.ReLU()]
layers += [nn.Flatten(), nn.Linear(128 * flat_side(args.size) ** 2, 128), nn.ReLU(),
           nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128)]
model = nn.Sequential(*layers).to(memory_format=channels_last)
if args.ranks > 1:
    import torch.distributed.nn as exchange
    torch.distributed.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
masters = list(model.parameters())
if args.dtype == "bf16":
    masters = [p.detach().clone().requires_grad_() for p in masters]
    model = model.to(torch.bfloat16)
optimizer = torch.optim.Adam(masters, lr=1e-3, eps=1e-7, fused=args.setting != "installed")


def nt_xent(z, temperature=0.1):
    p1, p2 = F.normalize(z, dim=1).chunk(2)
    if args.ranks > 1:
        p1, p2 = (torch.cat(exchange.functional.all_gather(p)) for p in (p1, p2)) # its backward sums over ranks
    logits = p1 @ p2.T / temperature
    target = torch.arange(len(p1))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


def loss_of(x):
    if args.dtype == "autocast":
        with torch.autocast("cpu", torch.bfloat16):
            z = model(x)
    else:
        z = model(x.to(torch.bfloat16) if args.dtype == "bf16" else x)
    return nt_xent(z.float())


if args.compile:
    loss_of = torch.compile(loss_of)


def train_step(x):
    loss = loss_of(x.contiguous(memory_format=channels_last))
    loss.backward()
    if args.dtype == "bf16":
        for master, p in zip(masters, model.parameters()):
            master.grad = p.grad.float()
    optimizer.step()
    if args.dtype == "bf16":
        with torch.no_grad():
            torch._foreach_copy_(list(model.parameters()), masters)
    model.zero_grad(set_to_none=True)
    return loss


images = torch.randint(0, 256, (4096, 3, args.size, args.size), dtype=torch.uint8)


def batched_view(x, zoom=0.5, brightness=0.6, jitter=0.2):
    """Keras's recipe: flip, translate by U(-z/2, z/2), zoom each axis by 1 + U(-z, 0), colour matrix, clip."""
    n = len(x)
    scale = 1 - zoom * torch.rand(n, 2)
    theta = torch.zeros(n, 2, 3)
    theta[:, 0, 0] = scale[:, 0] * (1 - 2.0 * (torch.rand(n) < 0.5))
    theta[:, 1, 1] = scale[:, 1]
    theta[:, :, 2] = 2 * zoom * (torch.rand(n, 2) - 0.5)
    grid = F.affine_grid(theta, list(x.shape), align_corners=False)
    x = F.grid_sample(x, grid, mode="bilinear", padding_mode="reflection", align_corners=False)
    colour = torch.eye(3) * (1 + brightness * (2 * torch.rand(n, 1, 1) - 1)) + jitter * (2 * torch.rand(n, 3, 3) - 1)
    return torch.einsum("nchw,ncd->ndhw", x, colour).clamp_(0, 1)


if args.compile and args.augment == "batched":
    batched_view = torch.compile(batched_view)


def pil_view(image, rng):
    """torchvision's SimCLR recipe: RandomResizedCrop(0.25-1), flip, ColorJitter(.8, .8, .8, .2; p=.8), grey (p=.2)."""
    from PIL import Image, ImageEnhance
    side = args.size
    area, ratio = side * side * rng.uniform(0.25, 1), np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
    w, h = (min(side, max(1, round(np.sqrt(a)))) for a in (area * ratio, area / ratio))
    left, top = rng.integers(0, side - w + 1), rng.integers(0, side - h + 1)
    image = image.crop((left, top, left + w, top + h)).resize((side, side), Image.BILINEAR)
    if rng.random() < 0.5:
        image = image.transpose(Image.FLIP_LEFT_RIGHT)
    if rng.random() < 0.8:
        for kind in rng.permutation(4):
            if kind == 3:
                hue, s, v = image.convert("HSV").split()
                shift = np.uint8(int(255 * rng.uniform(-0.2, 0.2)) % 256)
                hue = Image.fromarray(np.asarray(hue) + shift)
                image = Image.merge("HSV", (hue, s, v)).convert("RGB")
            else:
                enhance = (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color)[kind]
                image = enhance(image).enhance(rng.uniform(0.2, 1.8))
    if rng.random() < 0.2:
        image = image.convert("L").convert("RGB")
    return torch.from_numpy(np.asarray(image).transpose(2, 0, 1).astype(np.float32) / 255)


class Views(torch.utils.data.Dataset):
    def __init__(self, count):
        from PIL import Image
        pixels = images.permute(0, 2, 3, 1).numpy()
        self.images = [Image.fromarray(x) for x in pixels]
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        image = self.images[i % len(self.images)]
        return pil_view(image, rng), pil_view(image, rng)


if args.augment == "none":
    fixed = torch.rand(2, args.batch, 3, args.size, args.size)
    share = args.batch // args.ranks
    fixed = fixed[:, rank * share:(rank + 1) * share].flatten(0, 1)
    step = lambda: train_step(fixed)
elif args.augment == "batched":
    def step():
        x = images[torch.randint(0, len(images), (args.batch,))].float() / 255
        train_step(torch.cat([batched_view(x), batched_view(x)]))
else:
    loader = torch.utils.data.DataLoader(Views(args.batch * (args.steps + args.warmup + 5)), batch_size=args.batch,
                                         num_workers=2, drop_last=True)
    batches = iter(loader)
    step = lambda: train_step(torch.cat(next(batches)))

measured = peer.measure(step, args)
weights = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in masters)).hexdigest()[:16]
if args.ranks > 1:
    if rank == 0:
        peer.report("simclr", args, measured, weights=weights)
    torch.distributed.barrier()
    sys.exit()
peer.report("simclr", args, measured, weights=weights, loss=round(train_step(torch.rand(8, 3, args.size, args.size)).item(), 4))
