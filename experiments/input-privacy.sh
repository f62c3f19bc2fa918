#!/usr/bin/env bash
# A head on records that were released with noise (protect --records, labels by randomised response) beside the protected head
# (convex trainer, proved sensitivity) at equal (epsilon, delta), both under replace-one. RUNS releases each, every one charged to a
# ledger of its own exercise; clip and lambda are public choices that were not tried out on these records.
# usage: experiments/input-privacy.sh FOLDER
#   EPSILONS ("1 8 64 512 4096"), RUNS (3), RECORDS (10000), SOTTO (sotto), THREADS (1)
# Finished lines of FOLDER/results.csv are not run again.
set -euo pipefail
sotto=${SOTTO:-sotto} epsilons=${EPSILONS:-1 8 64 512 4096} runs=${RUNS:-3} threads=${THREADS:-1} delta=1e-5
out=$1
mkdir -p "$out"
touch "$out/results.csv"
d=$out/d
[ -e "$d/test-rows.npy" ] ||
  "$sotto" data split fashion-mnist --parts "train=${RECORDS:-10000},test=5000" --seed 1 -o "$d" > /dev/null
train=(--features "$d/train-features.npy" --labels "$d/train-labels.npy" --classes 10)

# accuracy HEAD: on the test part
accuracy() {
  "$sotto" predict --head "$1" --features "$d/test-features.npy" --labels "$d/test-labels.npy" --threads "$threads" -o "$out/p.npy" |
    grep -o 'accuracy [0-9.]*' | cut -d' ' -f2
}
# line KEY COMMAND...: "KEY,accuracy" once
line() {
  local key=$1
  shift
  grep -q "^$key," "$out/results.csv" || { "$@"; echo "$key,$(accuracy "$out/h.safetensors")" >> "$out/results.csv"; }
  grep "^$key," "$out/results.csv"
}
head_on() { "$sotto" head --features "$1" --labels "$2" --epochs 20 --threads "$threads" --quiet -o "$out/h.safetensors" > /dev/null; }
# records EPSILON: a fifth of epsilon, at most 3, for the labels
records() {
  local labels
  labels=$(awk -v e="$1" 'BEGIN { print e / 5 < 3 ? e / 5 : 3 }')
  rm -f "$out"/l.jsonl
  "$sotto" protect --records "$d/train-features.npy" --clip 8 --epsilon "$1" --delta "$delta" --labels "$d/train-labels.npy" \
    --label-epsilon "$labels" --classes 10 -o "$out/n.npy" --quiet > /dev/null
  head_on "$out/n.npy" "$out/n.labels.npy"
}
protected() {
  [ -e "$out/c.safetensors" ] ||
    "$sotto" head "${train[@]}" --trainer convex-lbfgs --clip 8 --lambda 0.01 --threads "$threads" --quiet -o "$out/c.safetensors" > /dev/null
  "$sotto" protect --head "$out/c.safetensors" --epsilon "$1" --delta "$delta" --quiet -o "$out/h.safetensors" > /dev/null
}
line clear,0 head_on "$d/train-features.npy" "$d/train-labels.npy"
for epsilon in $epsilons; do
  for run in $(seq "$runs"); do
    line "records,$epsilon,$run" records "$epsilon"
    line "head,$epsilon,$run" protected "$epsilon"
  done
done
