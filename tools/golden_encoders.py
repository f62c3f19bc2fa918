#!/usr/bin/env python3
"""Makes tests/known/ssl/encoder_vectors.h: embeddings by torchvision's networks in float64, for test_encoder_import.c, which needs
neither torch nor torchvision. Weights and images come from the hash of tools/golden_torch.py, which the test repeats.
usage: tools/golden_encoders.py > tests/known/ssl/encoder_vectors.h"""
import pathlib
import sys

import numpy as np
import torch
import torch.nn as nn
import torchvision

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from golden_torch import f32, number_of, uniform

IMAGES, PLACES = 2, 16
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def fill(model):
    """Weights: uniform on +-sqrt(6 / fan in), halved where they close a residual branch, so that sums do not grow; vectors around
    their usual start."""
    for name, t in model.state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        u = 2 * uniform(number_of(name), t.numel()) - 1
        if t.dim() > 1:
            values = u * f32(np.sqrt(6 / (t.numel() // t.shape[0])))
        elif name.endswith("running_var"):
            values = 1 + 0.5 * u
        else:
            values = 0.2 * u + (name.endswith("weight") and t.dim() == 1)
        t.copy_(torch.from_numpy(f32(values).reshape(tuple(t.shape))))


def small_stem(model):
    """ResNets for small images: a 3x3 convolution, no pooling."""
    model.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.maxpool = nn.Identity()
    return model


def without_head(model):
    if hasattr(model, "fc"):
        model.fc = nn.Identity()
    else:
        model.classifier = nn.Identity()
    return model


def embeddings(model, side):
    model = without_head(model).double().eval()
    fill(model)
    count = IMAGES * 3 * side * side
    x = np.floor(256 * uniform(number_of("images"), count)).reshape(IMAGES, 3, side, side) / 255
    x = torch.from_numpy((x - np.array(MEAN).reshape(3, 1, 1)) / np.array(DEVIATION).reshape(3, 1, 1))
    with torch.inference_mode():
        return model(x).numpy()


NETWORKS = [("resnet18", lambda: small_stem(torchvision.models.resnet18()), 32),
            ("resnet18-imagenet", torchvision.models.resnet18, 64),
            ("resnet50-imagenet", torchvision.models.resnet50, 64),
            ("mobilenetv2-imagenet", torchvision.models.mobilenet_v2, 64)]

if __name__ == "__main__":
    print(f"/* Made by tools/golden_encoders.py with torch {torch.__version__.split('+')[0]}, torchvision "
          f"{torchvision.__version__.split('+')[0]}. */")
    print(f"enum {{ VECTOR_IMAGES = {IMAGES}, VECTOR_PLACES = {PLACES} }};")
    print("static const struct vector_case {\n    const char *model;\n    size_t side, width;\n"
          "    double norm;                                  /* of all embeddings */\n"
          "    double value[VECTOR_IMAGES * VECTOR_PLACES]; /* at places spread over each */\n} vector_cases[] = {")
    for name, build, side in NETWORKS:
        x = embeddings(build(), side)
        places = np.arange(PLACES) * x.shape[1] // PLACES
        values = ", ".join(f"{v:.9g}" for v in x[:, places].reshape(-1))
        print(f'    {{"{name}", {side}, {x.shape[1]}, {np.linalg.norm(x):.9g},\n     {{{values}}}}},')
    print("};")
