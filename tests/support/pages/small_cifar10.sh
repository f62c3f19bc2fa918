# A set under the name of cifar10, of 360 images that are noise.
# shellcheck shell=bash
mkdir cifar
python3 - <<'END'
import random

draw = random.Random(2)
for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
    with open(f"cifar/{name}.bin", "wb") as out:
        for i in range(60):
            out.write(bytes([i % 10]) + draw.randbytes(3072))
END
sotto data import cifar --name cifar10
