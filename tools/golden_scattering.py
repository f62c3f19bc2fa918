#!/usr/bin/env python3
"""Writes tests/known/ssl/scattering_vectors.h: a scattering transform by the textbook, independent of the C code.

Filters are sampled in space and made periodic there (the C code writes their Fourier transforms down in closed form),
every convolution is one of numpy's transforms in float64 at full resolution; what the coarse wavelets give is then
averaged over every second pixel, all else over every one, at every fourth.        usage: tools/golden_scattering.py > tests/known/ssl/scattering_vectors.h
"""
import numpy as np

H, W, L = 13, 10, 8
ROWS, COLS = 4 * (-(-H // 4) + 2), 4 * (-(-W // 4) + 2)


def periodic(f):
    """f(y, x) sampled on the grid, summed over its shifts by whole periods."""
    y, x = np.meshgrid(np.arange(ROWS), np.arange(COLS), indexing="ij")
    return sum(f(y + a * ROWS, x + b * COLS) for a in range(-4, 5) for b in range(-4, 5))


def morlet(j, t):
    sigma, xi, slant, angle = 0.8 * 2**j, 3 * np.pi / 4 / 2**j, 4 / L, np.pi * t / L

    def envelope(y, x):
        along, beside = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        return np.exp(-(along**2 + slant**2 * beside**2) / (2 * sigma**2)) * slant / (2 * np.pi * sigma**2)

    wave = periodic(lambda y, x: envelope(y, x) * np.exp(1j * xi * (x * np.cos(angle) + y * np.sin(angle))))
    flat = periodic(envelope)
    return wave - wave.sum() / flat.sum() * flat


phi = periodic(lambda y, x: np.exp(-(y**2 + x**2) / (2 * 1.6**2)))
phi_f = np.fft.fft2(phi / phi.sum())
psi_f = [[np.fft.fft2(morlet(j, t)) for t in range(L)] for j in range(2)]
energy = sum(np.abs(f)**2 for scale in psi_f for f in scale)
energy = (energy + np.roll(energy[::-1, ::-1], (1, 1), (0, 1))) / 2
gain = np.sqrt(((1 - np.abs(phi_f)**2).ravel()[1:] / energy.ravel()[1:]).min())
psi_f = [[f * gain for f in scale] for scale in psi_f]

image = np.random.default_rng(7).integers(0, 256, (H, W))
padded = np.pad(image / 255, ((4, ROWS - H - 4), (4, COLS - W - 4)), mode="reflect")


def through(x, f):
    return np.fft.ifft2(np.fft.fft2(x) * f)


def low(x):
    return through(x, phi_f).real[4:ROWS - 4:4, 4:COLS - 4:4]


def low_half(x):
    """The same from every second pixel: the others are left out of the weighted mean."""
    kept = np.zeros((ROWS, COLS))
    kept[::2, ::2] = 1
    return low(x * kept) / low(kept)


fine = [np.abs(through(padded, f)) for f in psi_f[0]]
coarse = [np.abs(through(padded, f)) for f in psi_f[1]]
out = [low(padded)] + [low(u) for u in fine] + [low_half(u) for u in coarse]
out += [low_half(np.abs(through(u, f))) for u in fine for f in psi_f[1]]
out = np.stack(out)


def numbers(a, form):
    values = [form % v for v in a.ravel()]
    return "\n".join("    " + ", ".join(values[i:i + 10]) + "," for i in range(0, len(values), 10))


print("/* Origin: tools/golden_scattering.py, numpy %s in float64. */" % np.__version__)
print("enum { VECTOR_HEIGHT = %d, VECTOR_WIDTH = %d };" % (H, W))
print("static const double vector_gain = %.9g;" % gain)
print("static const uint8_t vector_image[%d] = {\n%s\n};" % (image.size, numbers(image, "%d")))
print("static const float vector_expected[%d] = {\n%s\n};" % (out.size, numbers(out, "%.8gF")))
