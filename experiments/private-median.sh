#!/usr/bin/env bash
# The private median by smooth sensitivity: mean brightness of 1,000 images of Fashion-MNIST, 40 releases each at several
# epsilons; of the records and of the means of 50 blocks. Prints the true median, and median and largest absolute error; Laplace
# noise of the range's sensitivity would have the median error ln(2) / epsilon. Needs python3 with numpy. Ledgers go to FOLDER.
# usage: experiments/private-median.sh FOLDER   (SOTTO: the program; RUNS 40; IMAGES: the folder of dataset-fashion-mnist)
set -euo pipefail
sotto=${SOTTO:-sotto} runs=${RUNS:-40} images=${IMAGES:-/usr/share/datasets/fashion-mnist}
out=$1
mkdir -p "$out"
[ -e "$out/x.npy" ] || python3 - "$images/train-images-idx3-ubyte.gz" "$out/x.npy" << 'END'
import gzip
import sys

import numpy as np
x = np.frombuffer(gzip.open(sys.argv[1]).read(), np.uint8, offset=16).reshape(60000, -1)
np.save(sys.argv[2], x[np.random.default_rng(1).permutation(60000)[:1000]].mean(1, keepdims=True).astype("<f4") / 255)
END
for blocks in 0 50; do
  for epsilon in 0.1 0.25 0.5 1 2; do
    list=$out/$blocks-$epsilon.txt
    touch "$list"
    while [ "$(wc -l < "$list")" -lt "$runs" ]; do
      rm -rf "$out/ledgers" # each release is one of a world of its own
      XDG_DATA_HOME=$out/ledgers "$sotto" protect --table "$out/x.npy" --statistic median --range 0,1 --mechanism smooth-median --blocks $blocks --epsilon $epsilon \
        --dataset-id brightness --quiet -o "$out/m.npy" > /dev/null
      python3 -c "import numpy, sys; print(numpy.load(sys.argv[1])[0])" "$out/m.npy" >> "$list"
    done
    python3 - "$out/x.npy" "$list" $blocks $epsilon << 'END'
import sys

import numpy as np
x, m = np.sort(np.load(sys.argv[1])[:, 0]), np.loadtxt(sys.argv[2])
e = np.abs(m - x[len(x) // 2 - 1])
print(f"blocks {sys.argv[3]}, epsilon {sys.argv[4]}: median {x[len(x) // 2 - 1]:.4f}, error {np.median(e):.5f}, 90 % below {np.quantile(e, .9):.5f}; "
      f"Laplace by the range {np.log(2) / float(sys.argv[4]):.3f}")
END
  done
done
