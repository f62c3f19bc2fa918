#!/usr/bin/env python3
"""A training step of our DCGAN and variational auto-encoder in PyTorch: latents drawn in the step, records and samples in batches of
their own, Adam on both networks, random images that are padded once beforehand. One JSON line."""
import argparse

import peer

parser = argparse.ArgumentParser()
peer.add_common(parser)
parser.add_argument("--model", choices=["dcgan", "vae"], default="dcgan")
parser.add_argument("--width", type=int, default=32)
parser.set_defaults(batch=64)
args = parser.parse_args()
peer.restart_with(args.setting)

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(args.threads)
torch.manual_seed(1)
layout = torch.channels_last if args.layout == "channels_last" else torch.contiguous_format
w, batch = args.width, args.batch


def up(c, k, stride, pad, bias=False):
    return nn.ConvTranspose2d(c, k, 4, stride, pad, bias=bias)


def down(c, k, stride, pad):
    return nn.Conv2d(c, k, 4, stride, pad, bias=False)


def dcgan():
    generator = nn.Sequential(up(100, 4 * w, 1, 0), nn.BatchNorm2d(4 * w), nn.ReLU(True), up(4 * w, 2 * w, 2, 1), nn.BatchNorm2d(2 * w),
                              nn.ReLU(True), up(2 * w, w, 2, 1), nn.BatchNorm2d(w), nn.ReLU(True), up(w, 1, 2, 1, True), nn.Tanh())
    discriminator = nn.Sequential(down(1, w, 2, 1), nn.LeakyReLU(.2, True), down(w, 2 * w, 2, 1), nn.BatchNorm2d(2 * w),
                                  nn.LeakyReLU(.2, True), down(2 * w, 4 * w, 2, 1), nn.BatchNorm2d(4 * w), nn.LeakyReLU(.2, True),
                                  down(4 * w, 1, 1, 0))
    for m in [*generator, *discriminator]:
        if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.normal_(m.weight, 0, .02)
    generator.to(memory_format=layout), discriminator.to(memory_format=layout)
    of_generator = torch.optim.Adam(generator.parameters(), 2e-4, (.5, .999), fused=True)
    of_discriminator = torch.optim.Adam(discriminator.parameters(), 2e-4, (.5, .999), fused=True)
    x = (2 * torch.rand(batch, 1, 32, 32) - 1).contiguous(memory_format=layout)
    ones, zeros = torch.ones(batch), torch.zeros(batch)
    if args.compile:
        generator, discriminator = torch.compile(generator), torch.compile(discriminator)

    def step():
        of_discriminator.zero_grad(set_to_none=True)
        loss = F.binary_cross_entropy_with_logits(discriminator(x).view(-1), ones)
        made = generator(torch.randn(batch, 100, 1, 1))
        loss = loss + F.binary_cross_entropy_with_logits(discriminator(made.detach()).view(-1), zeros)
        loss.backward()
        of_discriminator.step()
        of_generator.zero_grad(set_to_none=True)
        for p in discriminator.parameters():
            p.requires_grad_(False)
        F.binary_cross_entropy_with_logits(discriminator(made).view(-1), ones).backward()
        for p in discriminator.parameters():
            p.requires_grad_(True)
        of_generator.step()

    return step


def vae():
    hidden = w * 25 // 2
    encoder = nn.Sequential(nn.Linear(1024, hidden), nn.ReLU(True), nn.Linear(hidden, 40))
    decoder = nn.Sequential(nn.Linear(20, hidden), nn.ReLU(True), nn.Linear(hidden, 1024))
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-3, fused=True)
    x = torch.rand(batch, 1024)

    def loss_of(x, noise):
        mean, log_variance = encoder(x).chunk(2, 1)
        log_variance = log_variance.clamp(-12, 12)
        logits = decoder(mean + (log_variance / 2).exp() * noise)
        fit = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        return (fit + .5 * (mean ** 2 + log_variance.exp() - 1 - log_variance).sum()) / batch

    compiled = torch.compile(loss_of) if args.compile else loss_of

    def step():
        optimizer.zero_grad(set_to_none=True)
        compiled(x, torch.randn(batch, 20)).backward()
        optimizer.step()

    return step


peer.report("generate", args, peer.measure({"dcgan": dcgan, "vae": vae}[args.model](), args))
