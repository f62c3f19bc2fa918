#!/usr/bin/env python3
"""The least time of a step of each network: its products at the machine's measured peak, and its activations at the
measured speed of memory. usage: bench/floor.py [BUILD]    (runs BUILD/bench_peak, default build/release; SOTTO_ISA as there)

Products: 3x3 of stride 1 by minimal filtering of 4x4 tiles (a quarter of the multiplications, in f32); 3x3 of stride 2
along rows (5 of 6), all else direct, in bf16 where the CPU multiplies it. Three passes in training, two of the first layer.
Memory: each value that a convolution makes goes through memory 12 times in training (reckoned: made, summed, normalised,
read, and the gradients likewise) and 4 times in inference, 2 bytes in bf16, 4 in f32; weights are left out. No transform, no norm and no
waiting is counted: what a step takes beyond its floor is these.
"""
import json
import subprocess
import sys


class Network:
    """Multiplications of one image by kind, and values that convolutions make."""

    def __init__(self, side, channels=3):
        self.side, self.channels = side, channels
        self.filtered = self.rows = self.direct = self.depthwise = self.first = self.values = 0

    def conv(self, width, kernel=3, stride=1, pad=None, groups=1, source=None):
        side, channels = source or (self.side, self.channels)
        pad = kernel // 2 if pad is None else pad
        out = (side + 2 * pad - kernel) // stride + 1
        macs = out * out * width * kernel * kernel * channels // groups
        if channels == 3:
            self.first += macs
        elif groups > 1:
            self.depthwise += macs
        elif kernel == 3 and stride == 1 and channels % 16 == width % 16 == 0 and channels * width <= 512 * 512:
            self.filtered += macs
        elif kernel == 3 and stride == 2:
            self.rows += macs
        else:
            self.direct += macs
        self.values += out * out * width
        if not source:
            self.side, self.channels = out, width
        return self

    def dense(self, width):
        self.direct += self.channels * self.side * self.side * width
        self.side, self.channels = 1, width
        return self

    def pool(self):
        self.side = 1
        return self


def basic(net, width, stride):
    """Two 3x3 convolutions and a shortcut of 1x1 where the shape changes."""
    source, changes = (net.side, net.channels), stride != 1 or net.channels != width
    net.conv(width, 3, stride).conv(width)
    if changes:
        net.conv(width, 1, stride, source=source)


def resnet8():
    net = Network(32).conv(16)
    for width, stride in ((16, 1), (32, 2), (64, 2)):
        basic(net, width, stride)
    return net.pool().dense(10)


def resnet18():
    net = Network(32).conv(64)
    for width, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        basic(net, width, stride)
    return net.pool().dense(10)


def resnet50():
    net = Network(32).conv(64)
    for width, stride, count in ((64, 1, 3), (128, 2, 4), (256, 2, 6), (512, 2, 3)):
        for block in range(count):
            source = net.side, net.channels
            net.conv(width, 1).conv(width, 3, stride if block == 0 else 1).conv(4 * width, 1)
            if block == 0:
                net.conv(4 * width, 1, stride, source=source)
    return net.pool().dense(10)


def mobilenetv2():
    net = Network(32).conv(32)
    for widening, width, count, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(count):
            wide = net.channels * widening
            if widening > 1:
                net.conv(wide, 1)
            net.conv(wide, 3, stride if block == 0 else 1, groups=wide).conv(width, 1)
    return net.conv(1280, 1).pool().dense(10)


def keras_simclr(side):
    net = Network(side)
    for _ in range(4):
        net.conv(128, 3, 2, pad=0)
    return net.dense(128).dense(128).dense(128)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build/release"
    peak = json.loads(subprocess.run([build + "/bench_peak"], check=True, capture_output=True, text=True).stdout)
    f32, memory = peak["f32_gflops"], peak["memory_gbs"]
    narrow = peak["bf16_gflops"] or f32
    print(f"{peak['isa']}, {peak['threads']} threads: f32 {f32} GFLOP/s, bf16 {peak['bf16_gflops']}, memory {memory} GB/s\n")
    print("| work | filtered, depthwise: GFLOP | others: GFLOP | products, ms | memory, ms | floor, ms |\n|---|---|---|---|---|---|")
    for name, net, images, passes in (
            ("SimCLR 32x32, batch 256", keras_simclr(32), 512, 3), ("SimCLR 96x96, batch 256", keras_simclr(96), 512, 3),
            ("ResNet-8, batch 128", resnet8(), 128, 3), ("ResNet-18, batch 128", resnet18(), 128, 3),
            ("ResNet-50, batch 32", resnet50(), 32, 3), ("MobileNetV2, batch 64", mobilenetv2(), 64, 3),
            ("ResNet-8 inference, 128", resnet8(), 128, 1), ("ResNet-18 inference, 128", resnet18(), 128, 1)):
        wide = 2e-9 * images * passes * (net.filtered / 4 + net.depthwise)
        pairs = 2e-9 * images * (passes * (net.rows * 5 / 6 + net.direct) + (2 if passes == 3 else 1) * net.first)
        bytes_of = images * net.values * (2 if peak["bf16_gflops"] else 4) * (12 if passes == 3 else 4)
        products, traffic = 1e3 * (wide / f32 + pairs / narrow), 1e-6 * bytes_of / memory
        print(f"| {name} | {wide:.2f} | {pairs:.2f} | {products:.1f} | {traffic:.1f} | {products + traffic:.1f} |")


if __name__ == "__main__":
    main()
