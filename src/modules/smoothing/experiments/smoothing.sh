#!/usr/bin/env bash
# Randomised smoothing of an MLP on Fashion-MNIST, trained without and with noise on its inputs, and with shuffled labels as the
# control: certified accuracy at radii, share of abstentions, and the page of the curve.
# usage: experiments/smoothing.sh FOLDER
#   SEEDS ("1 2 3"), SIGMA (0.25), RECORDS (5000), TESTS (500), SOTTO (sotto), THREADS (1)
# Finished files are not made again.
set -euo pipefail
sotto=${SOTTO:-sotto} seeds=${SEEDS:-1 2 3} sigma=${SIGMA:-0.25} threads=${THREADS:-1}
out=$1
mkdir -p "$out"
[ -e "$out/d/test-rows.npy" ] ||
  "$sotto" data split fashion-mnist --parts "train=${RECORDS:-5000},test=${TESTS:-500}" --seed 1 -o "$out/d" > /dev/null
d=$out/d

# train NAME LABELS OPTIONS...: out/NAME.safetensors
train() {
  local name=$1 labels=$2
  shift 2
  [ -e "$out/$name.safetensors" ] ||
    "$sotto" train --data "$d/train-features.npy:$labels" --model mlp --hidden 256 --epochs 30 --dtype f32 --backend dnnl \
      --threads "$threads" --quiet "$@" -o "$out/$name.safetensors" > /dev/null
}
# certify NAME: out/NAME.json, and one line
certify() {
  [ -e "$out/$1.json" ] ||
    { time -p "$sotto" predict --model "$out/$1.safetensors" --features "$d/test-features.npy" --labels "$d/test-labels.npy" \
      --smooth "$sigma" --certify --compare --radii 0,0.1,0.25,0.4,0.5,0.6 --seed 1 --threads "$threads" --quiet \
      -o "$out/$1.json" > "$out/$1.txt"; } 2> "$out/$1.time"
  [ -e "$out/$1.clear" ] || "$sotto" predict --model "$out/$1.safetensors" --features "$d/test-features.npy" \
    --labels "$d/test-labels.npy" --threads "$threads" -o "$out/p.npy" > "$out/$1.clear"
  "$sotto" report "$out/$1.json" -o "$out/$1.html" > /dev/null
  echo "== $1: $(grep -o 'accuracy [0-9.].*' "$out/$1.clear" | head -n 1)"
  grep -E '^(abstained|certified)' "$out/$1.txt"
  grep user "$out/$1.time"
}
for seed in $seeds; do
  train "plain-$seed" "$d/train-labels.npy" --seed "$seed"
  train "noise-$seed" "$d/train-labels.npy" --seed "$seed" --augment-noise "$sigma"
  certify "plain-$seed"
  certify "noise-$seed"
done
# control: labels of other records, without the note that says so
[ -e "$out/e/train-rows.npy" ] ||
  "$sotto" data split fashion-mnist --parts "train=${RECORDS:-5000},test=${TESTS:-500}" --seed 2 -o "$out/e" > /dev/null
cp "$out/e/train-labels.npy" "$out/other-labels.npy"
train shuffled "$out/other-labels.npy" --augment-noise "$sigma"
certify shuffled
