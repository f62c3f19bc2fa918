#!/usr/bin/env python3
"""Writes tests/known/data/augment_vectors.h: views made with PyTorch's grid_sample, independent of the C code.

Flip, zoom and translation are written as the 3x3 output-to-input matrices that Keras's layers use (pixel-index
coordinates, the last layer asked first), multiplied, and sampled once in float64 with reflection padding about the
borders (align_corners=False). Needs numpy and torch.        usage: tools/golden_augment.py > tests/known/data/augment_vectors.h
"""
import numpy as np
import torch

H, W = 9, 12


def translation(shift_y, shift_x):
    return np.array([[1, 0, -shift_x], [0, 1, -shift_y], [0, 0, 1.0]])


def zoom(zoom_y, zoom_x):
    return np.array([[zoom_x, 0, (W - 1) / 2 * (1 - zoom_x)], [0, zoom_y, (H - 1) / 2 * (1 - zoom_y)], [0, 0, 1.0]])


def flip(yes):
    return np.array([[-1, 0, W - 1], [0, 1, 0], [0, 0, 1.0]]) if yes else np.eye(3)


def view(image, case):
    matrix = flip(case["flip"]) @ translation(*case["shift"]) @ zoom(*case["zoom"])
    y, x = np.meshgrid(np.arange(H), np.arange(W), indexing="ij")
    source = np.einsum("ij,jhw->ihw", matrix, np.stack([x, y, np.ones_like(x)]).astype(float))
    grid = np.stack([(2 * source[0] + 1) / W - 1, (2 * source[1] + 1) / H - 1], -1)
    planes = torch.nn.functional.grid_sample(
        torch.from_numpy(image / 255.0)[None], torch.from_numpy(grid)[None],
        mode="bilinear", padding_mode="reflection", align_corners=False)[0]
    rgb = planes.permute(1, 2, 0) @ torch.from_numpy(np.array(case["colour"], np.float32).astype(float).reshape(3, 3))
    return rgb.clamp(0, 1).numpy()


EYE = [1, 0, 0, 0, 1, 0, 0, 0, 1]
CASES = [
    {"flip": 1, "shift": (0, 0), "zoom": (1, 1), "colour": EYE},
    {"flip": 0, "shift": (-2.3, 2.8), "zoom": (1, 1), "colour": EYE},
    {"flip": 0, "shift": (0, 0), "zoom": (0.55, 0.8125), "colour": EYE},
    {"flip": 1, "shift": (2.2, -2.9), "zoom": (0.71, 0.52), "colour": [1.5, .1, -.2, .15, 1.45, .05, -.1, .2, 1.55]},
    {"flip": 0, "shift": (8.5, -11.25), "zoom": (0.9, 1), "colour": [.45, -.2, .1, 0, .4, .2, .2, -.1, .38]},
]


def main():
    image = np.random.default_rng(7).integers(0, 256, (3, H, W)).astype(np.uint8)
    print("/* Origin: tools/golden_augment.py, PyTorch %s grid_sample in float64. */" % torch.__version__.split("+")[0])
    print("enum { VECTOR_HEIGHT = %d, VECTOR_WIDTH = %d, VECTORS = %d };" % (H, W, len(CASES)))
    numbers = lambda a: ",".join("%d" % v for v in a.ravel())
    print("static const uint8_t vector_image[3 * %d] = {%s};" % (H * W, numbers(image)))
    print("static const struct augment_view vector_views[VECTORS] = {")
    for c in CASES:
        print("    {%d, %r, %r, %r, %r, {%s}, 0, 0, 0}," % (c["flip"], *map(float, c["shift"] + c["zoom"]),
                                                    ", ".join("%rf" % float(v) for v in c["colour"])))
    print("};\nstatic const float vector_expected[VECTORS][3 * %d] = {" % (H * W))
    for c in CASES:
        print("    {%s}," % ",".join("%.9g" % v for v in np.float32(view(image, c)).ravel()))
    print("};")


main()
